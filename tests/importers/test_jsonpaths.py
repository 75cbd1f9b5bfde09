"""Parts of a document: whole and in order, however it is cut into chunks or damaged."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.importers.jsonpaths import parts

INTO = frozenset({(), ("a",), ("a", "*"), ("a", "*", "m")})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


def cut(data, size, into=INTO):
    chunks = (data[k : k + size] for k in range(0, len(data), size))
    return list(parts(chunks, into))


def test_containers_are_stepped_into_and_the_rest_comes_whole():
    data = b'{"n": 1, "a": [{"id": 7, "m": [1, {"x": [2]}]}, {"m": []}], "z": {"y": "}"}}'
    found = [(p.path, p.raw) for p in cut(data, 1000) if not p.is_entry]
    assert found == [
        (("n",), b"1"),
        (("a", "*", "id"), b"7"),
        (("a", "*", "m", "*"), b"1"),
        (("a", "*", "m", "*"), b'{"x": [2]}'),
        (("z",), b'{"y": "}"}'),
    ]
    entered = [p.path for p in cut(data, 1000) if p.is_entry]
    assert entered.count(("a", "*")) == 2


@given(value=JSON, size=st.integers(1, 7))
def test_nothing_is_lost_wherever_the_chunks_end(value, size):
    data = json.dumps({"a": [{"m": [value, 'é\\"x']}], "b": value}, ensure_ascii=False)
    found = [p for p in cut(data.encode(), size) if not p.is_entry]
    assert [json.loads(p.raw) for p in found] == [value, 'é\\"x', value]
    assert not any(p.problem for p in found)


@given(value=JSON, data=st.data())
def test_a_cut_document_says_so(value, data):
    whole = json.dumps({"a": [{"m": [value, "x"]}]}).encode()
    end = data.draw(st.integers(1, len(whole) - 1))
    assert cut(whole[:end], 3)[-1].problem


@given(data=st.binary(max_size=60), size=st.integers(1, 9))
def test_arbitrary_bytes_come_to_an_end(data, size):
    list(cut(data, size))


@pytest.mark.parametrize("data", [b"", b"  ", b"[]", b"{}", b'"x"', b"{,}", b"]", b"[1 2]"])
def test_odd_documents(data):
    assert not any(part.problem == "the file is cut off here" for part in cut(data, 2))


def test_text_after_the_end_is_told():
    assert cut(b'{"n": 1} {"n": 2}', 4)[-1].problem.startswith("text after")
