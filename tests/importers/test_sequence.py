"""The laws of merging, numbering and sessions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.importers.contract import Draft, Moment
from memcli.importers.sequence import SILENCE, Slot, merge, number, place_by_time, sessions
from memcli.records.evidence import Source, Turn
from memcli.records.times import rfc3339

START = datetime(2025, 1, 1, 9, tzinfo=UTC)
increasing = st.lists(st.integers(-50, 50), unique=True, max_size=12).map(sorted)


def a_draft(minutes: float | None, session: str | None = None) -> Draft:
    at = None if minutes is None else START + timedelta(minutes=minutes)
    time = None if at is None else Moment(at=at, granularity="second", zone_assumed=False)
    return Draft(role="user", text="x", session=session, time=time)


def a_turn(minutes: float | None, session: str = "s", seq: int = 0) -> Turn:
    time = None if minutes is None else rfc3339(START + timedelta(minutes=minutes))
    return Turn(
        id=f"t{seq}",
        conversation="c",
        session=session,
        seq=seq,
        speaker=None,
        role="user",
        text="x",
        time=time,
        time_granularity=None if time is None else "second",
        source=Source(format="test", file="f"),
    )


@given(st.lists(st.one_of(st.none(), st.integers(-99, 99))))
def test_numbers_increase_and_only_move_up(known: list[int | None]) -> None:
    places = number(known)
    assert len(places) == len(known)
    assert all(a < b for a, b in pairwise(places))
    moved = [(k, p) for k, p in zip(known, places, strict=True) if k is not None and k != p]
    assert all(place > old for old, place in moved)


@given(increasing, st.integers(0, 9), st.integers(0, 9))
def test_what_comes_before_or_after_moves_nothing(
    known: list[int], before: int, after: int
) -> None:
    places = number([None] * before + known + [None] * after)
    assert places[before : before + len(known)] == known


@given(st.integers(0, 20))
def test_a_new_conversation_counts_from_zero(size: int) -> None:
    assert number([None] * size) == list(range(size))


@st.composite
def matches(draw: st.DrawFn) -> tuple[dict[int, int], list[int], int, int]:
    drafts, known = draw(st.integers(0, 10)), draw(st.integers(0, 10))
    unique = sorted(draw(st.sets(st.integers(0, 12), min_size=drafts, max_size=drafts)))
    size = draw(st.integers(0, min(drafts, known)))
    matched = draw(st.permutations(unique))[:size]
    partners = draw(st.permutations(range(known)))[:size]
    place = draw(st.integers(0, known))
    return dict(zip(matched, partners, strict=True)), unique, known, place


@given(matches())
def test_merging_loses_and_doubles_nothing(case: tuple[dict[int, int], list[int], int, int]):
    match, unique, known, place = case
    slots = merge(match, unique, known, place)
    assert [s.known for s in slots if s.known is not None] == list(range(known))
    assert sorted(s.draft for s in slots if s.draft is not None) == unique
    assert {s.draft: s.known for s in slots if s.draft in match} == match


@given(matches())
def test_a_new_draft_follows_the_one_before_it(case: tuple[dict[int, int], list[int], int, int]):
    match, unique, known, place = case
    order = [slot.draft for slot in merge(match, unique, known, place) if slot.draft is not None]
    for earlier, later in pairwise(unique):
        if later not in match and not match.keys().isdisjoint(unique[: unique.index(later)]):
            assert order.index(earlier) + 1 == order.index(later)


@pytest.mark.parametrize(
    ("time", "place"),
    [(None, 4), (-5, 0), (0, 1), (5, 1), (10, 3), (15, 3), (20, 4), (99, 4)],
)
def test_a_stretch_goes_where_its_time_is(time: float | None, place: int) -> None:
    before = [a_turn(0), a_turn(10), a_turn(None), a_turn(20)]
    given_time = None if time is None else rfc3339(START + timedelta(minutes=time))
    assert place_by_time(given_time, before) == place


def test_a_sub_second_is_later_than_its_second() -> None:
    assert place_by_time("2025-01-01T09:00:00.5Z", [a_turn(0)]) == 1


def stretch(*drafts: Draft) -> list[str]:
    return sessions([Slot(i, None) for i in range(len(drafts))], drafts, [])


def test_silence_starts_a_session_named_after_its_first_time() -> None:
    hours = SILENCE.total_seconds() / 60
    found = stretch(a_draft(0), a_draft(hours), a_draft(None), a_draft(2 * hours + 1))
    assert found == ["2025-01-01T09:00Z"] * 3 + ["2025-01-01T21:01Z"]


def test_turns_without_any_time_are_one_session() -> None:
    assert stretch(a_draft(None), a_draft(None)) == ["undated", "undated"]


def test_the_sources_sessions_stand_whatever_the_silence() -> None:
    found = stretch(a_draft(0, "one"), a_draft(9999, "one"), a_draft(9999, "two"))
    assert found == ["one", "one", "two"]


def test_a_known_session_takes_in_what_follows_soon() -> None:
    before = [a_turn(0, "lunch")]
    slots = [Slot(None, 0), Slot(0, None), Slot(1, None)]
    found = sessions(slots, [a_draft(30), a_draft(3000)], before)
    assert found == ["lunch", "lunch", "2025-01-03T11:00Z"]
