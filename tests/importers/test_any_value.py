"""Laws of every importer under made-up damage: it never raises, and its turns are well formed."""

from __future__ import annotations

import time
from datetime import UTC

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from importers.damage import DAMAGED, KINDS, TEXTS
from importers.reading import Bytes, drafts, events

from memcli.errors import SourceFormatError
from memcli.importers.contract import (
    RAW_CHARS,
    Draft,
    Ignored,
    ReadOptions,
    Rejected,
    Repeated,
    Warned,
)
from memcli.importers.detect import format_named, formats

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["2024-05-03T18:20:00Z", "1709540000.000100", "user", "tool", "\x00", "~"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def places(value, path=()):
    """Return the path of every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [path] if path else []
    for key, each in inner:
        found += places(each, (*path, key)) if isinstance(each, dict | list) else [(*path, key)]
    return found


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_value_in_any_place_costs_at_most_its_record(kind, data):
    records = [kind.record(number, text, "c1") for number, text in enumerate(TEXTS)]
    path = data.draw(st.sampled_from(places(records[DAMAGED])))
    holder = records[DAMAGED]
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = data.draw(JSON)
    found = events(Bytes(kind.pack(records, "c1").encode(), "odd.dat"), name=kind.name)
    assert all(isinstance(e, Draft | Rejected | Repeated | Ignored | Warned) for e in found)
    told = [turn.text for turn in drafts(found)]
    for number in (0, 1, 3, 4):
        assert TEXTS[number] in told
    for turn in drafts(found):
        assert turn.time is None or turn.time.at.tzinfo is UTC
        for field in ("conversation", "session", "native_id", "speaker", "caption", "title"):
            assert getattr(turn, field) is None or isinstance(getattr(turn, field), str)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_bytes_put_anywhere_raise_nothing(kind, data):
    records = [kind.record(number, text, "c1") for number, text in enumerate(TEXTS)]
    whole = kind.pack(records, "c1").encode()
    at = data.draw(st.integers(0, len(whole)))
    put = data.draw(st.binary(max_size=9) | st.sampled_from([b'"', b"{", b"]", b"\\", b"\n"]))
    found = events(Bytes(whole[:at] + put + whole[at:], "odd.dat"), name=kind.name)
    assert not [each for each in found if isinstance(each, Rejected) and len(each.raw) > RAW_CHARS]


@pytest.mark.parametrize("name", [each.name for each in formats()])
@settings(max_examples=40, deadline=None)
@given(data=st.binary(max_size=300))
def test_arbitrary_bytes_raise_nothing_but_a_refusal(name, data):
    try:
        list(format_named(name).read(Bytes(data, "odd.dat"), ReadOptions(tz=UTC)))
    except SourceFormatError as error:
        assert "odd.dat" in error.message  # noqa: PT017 - most inputs are read


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_reading_twice_gives_the_same_events(kind):
    records = [kind.record(number, text, "c1") for number, text in enumerate(TEXTS)]
    source = Bytes(kind.pack(records, "c1").encode(), "odd.dat")
    assert events(source) == events(source)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize(
    "text", ["[" * 20_000, "\\" * 20_000, "<v " * 9_000, "&lt;" * 9_000, "\u200e" * 20_000]
)
def test_no_text_makes_reading_slow_and_every_text_is_kept(kind, text):
    records = [kind.record(number, each, "c1") for number, each in enumerate(TEXTS)]
    records[DAMAGED] = kind.record(DAMAGED, text, "c1")
    started = time.process_time()
    found = events(Bytes(kind.pack(records, "c1").encode(), "odd.dat"))
    assert time.process_time() - started < 2
    kept = text.replace("&lt;", "<") if kind.name == "slack" else text
    assert kept in [turn.text for turn in drafts(found)]
