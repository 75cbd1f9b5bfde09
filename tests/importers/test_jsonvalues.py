"""Cutting JSON arrays and lines."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importers.reading import as_input

from memcli.importers.contract import Rejected
from memcli.importers.jsonvalues import array_values, document, json_lines, split_array

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def chunked(data, size):
    return iter([data[at : at + size] for at in range(0, len(data), size)])


@given(st.lists(JSON, max_size=5), st.integers(1, 40), st.booleans(), st.sampled_from([None, 1]))
def test_the_pieces_of_an_array_are_its_items(values, size, escaped, indent):
    data = json.dumps(values, ensure_ascii=escaped, indent=indent).encode("utf-8", "surrogatepass")
    pieces = list(split_array(chunked(data, size)))
    assert [piece.problem for piece in pieces] == [""] * len(values)
    assert [json.loads(piece.raw.decode("utf-8", "surrogatepass")) for piece in pieces] == values


@given(JSON, st.lists(JSON, max_size=4), JSON, st.integers(1, 40))
def test_the_pieces_of_a_member_are_its_items(before, values, after, size):
    whole = {"before": before, "in": {"items": [1]}, "items": values, "after": after}
    data = json.dumps(whole).encode()
    pieces = list(split_array(chunked(data, size), "items"))
    assert [json.loads(piece.raw) for piece in pieces] == values


@given(st.lists(JSON, min_size=1, max_size=4), st.integers(1, 40), st.data())
def test_a_cut_array_gives_its_whole_items_and_one_problem(values, size, data):
    text = json.dumps(values).encode()
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    *whole, last = split_array(chunked(cut, size))
    assert "cut off" in last.problem
    assert [json.loads(piece.raw) for piece in whole] == values[: len(whole)]


@pytest.mark.parametrize(
    ("text", "values", "reasons"),
    [
        ("[1,,2]", [1, 2], ["not JSON"]),
        ("[1,]", [1], []),
        ("[1] x", [1], ["text after the end"]),
        ("[1][2]", [1], ["text after the end"]),
        ("[NaN, 1]", [1], ["NaN is not JSON"]),
        ('["\\ud800"]', ["\ud800"], []),
        ("[123456789012345678901234567890]", [123456789012345678901234567890], []),
        ("[" + "[" * 5000 + "]" * 5000 + ", 1]", [1], ["nested too deeply"]),
        ("[" + "9" * 5000 + ", 1]", [1], ["not JSON"]),
    ],
)
def test_damaged_items_cost_only_themselves(text, values, reasons):
    found = list(array_values(as_input(text)))
    assert [each.value for each in found if not isinstance(each, Rejected)] == values
    told = [each.reason for each in found if isinstance(each, Rejected)]
    assert len(told) == len(reasons)
    assert all(reason in each for reason, each in zip(reasons, told, strict=True))


def test_bytes_that_are_not_utf8_cost_their_item():
    first, second = array_values(as_input(b'["caf\xe9", "ok"]', "x"))
    assert isinstance(first, Rejected)
    assert (first.where, first.raw) == ("x#1", '"caf\\xe9"')
    assert "not UTF-8 at byte 5" in first.reason
    assert second.value == "ok"


def test_lines_count_blank_ones_and_end_only_at_a_line_feed():
    found = list(json_lines(as_input('\n{"a": "\u2028\u0085"}\r\n\n[2]', "x")))
    assert [(each.line, each.value) for each in found] == [(2, {"a": "\u2028\x85"}), (4, [2])]


def test_a_document_is_whole_or_rejected():
    assert document(as_input('{"a": 1}')).value == {"a": 1}
    assert isinstance(document(as_input("{")), Rejected)
