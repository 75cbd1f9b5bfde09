"""Hubs: what joins turns, how it is counted, what is too common to join anything."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date
from itertools import groupby
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.evidence.hyperedges import (
    AnnotatedTurn,
    Hyperedge,
    anchors,
    carries,
    day_keys,
    fold,
    hyperedges,
    time_keys,
)
from memcli.records.annotations import Annotation, Entity, Mention
from memcli.records.evidence import Role, Source, Turn


def said(
    session: int, text: str, *found: str, role: Role = "user", time: str | None = None, **more
) -> AnnotatedTurn:
    turn = Turn(
        id=f"{session}:{text}",
        conversation="c",
        session=f"s{session}",
        seq=0,
        speaker="Mara",
        role=role,
        text=text,
        time=time,
        time_granularity="minute" if time else None,
        source=Source(format="test", file="talk.txt"),
        caption=more.get("caption"),
        title=more.get("title"),
    )
    entities = tuple(Entity(name, "PERSON", 0, len(name)) for name in found)
    return turn, Annotation(turn.id, entities, more.get("windows", ()))


def hubs(turns: Iterable[AnnotatedTurn], kind: str, tz=UTC) -> dict[str, Hyperedge]:
    return {e.anchor: e for e in hyperedges(turns, tz=tz) if e.kind == kind}


def test_a_name_joins_sessions_whatever_its_spelling():
    found = hubs(
        [said(1, "Priya's boat", "Priya's"), said(2, "ask priya"), said(2, "PRIYA!")],
        "cooccurrence",
    )
    hub = found["priya"]
    assert (hub.turns, hub.sessions, hub.label) == (3, 2, "Priya's")


def test_a_word_of_one_session_is_no_hub():
    assert hubs([said(1, "the boat"), said(1, "a boat")], "cooccurrence") == {}


def test_a_content_word_is_labelled_as_written():
    found = hubs([said(1, "new curtains"), said(2, "The Curtains came")], "cooccurrence")
    assert {hub.label for hub in found.values()} == {"Curtains"}


@pytest.mark.parametrize(
    ("first", "second", "keys"),
    [
        ("is it on?", "it is on", set()),
        ("room 12", "bus 12", set()),
        ("port 8080", "8080 again", {"8080"}),
        ("東京駅", "東京湾", {"東京"}),
        ("New York trip", "York New", {"new", "york"}),
    ],
)
def test_what_counts_as_content(first, second, keys):
    assert set(hubs([said(1, first), said(2, second)], "cooccurrence")) == keys


def test_common_words_join_nothing_but_names_do():
    turns = [
        said(n, "Well, great day with Priya", *(["Priya"] if n % 2 else [])) for n in range(12)
    ]
    turns += [said(n, "rope") for n in (20, 21)] + [said(30 + n, "filler") for n in range(4)]
    assert set(hubs(turns, "cooccurrence")) == {"priya", "rope", "filler"}


def test_a_word_taken_for_a_name_once_stays_a_word():
    turns = [said(n, "awesome", *(["Awesome"] if n == 0 else [])) for n in range(12)]
    assert hubs(turns, "cooccurrence") == {}


def test_what_nobody_said_is_in_episodes_and_days_only():
    turns = [said(n, "boat boat", role="tool", time="2024-05-08T10:00:00Z") for n in (1, 2)]
    assert {edge.kind for edge in hyperedges(turns, tz=UTC)} == {"episode", "time"}


def test_words_of_a_picture_count():
    turns = [said(1, "look", caption="a lighthouse"), said(2, "the lighthouse")]
    assert "lighthous" in hubs(turns, "cooccurrence")


def test_time_hubs_hold_what_was_said_and_what_was_named():
    yesterday = Mention(date(2024, 5, 7), date(2024, 5, 7), "yesterday")
    april = Mention(date(2024, 4, 1), date(2024, 4, 30), "in April")
    since = Mention(date(2024, 1, 1), None, "since January")
    turns = [
        said(1, "a", time="2024-05-08T10:00:00Z", windows=(yesterday, april, since)),
        said(2, "b", time="2024-05-07T10:00:00Z"),
        said(3, "c"),
    ]
    found = hubs(turns, "time")
    assert {key: hub.turns for key, hub in found.items()} == {
        "2024-04": 1,
        "2024-05": 2,
        "2024-05-07": 2,
        "2024-05-08": 1,
        "2024-W19": 2,
    }
    assert found["2024-05-07"].first == "2024-05-07T10:00:00Z"
    assert found["2024-05-07"].last == "2024-05-08T10:00:00Z"


def test_days_begin_where_the_zone_says():
    (turn, note) = said(1, "late", time="2024-12-31T23:30:00Z")
    assert "2024-12-31" in time_keys(turn, note, UTC)
    assert time_keys(turn, note, ZoneInfo("Asia/Tokyo")) == {"2025-01-01", "2025-W01", "2025-01"}


@pytest.mark.parametrize(
    ("day", "week"), [(date(2021, 1, 3), "2020-W53"), (date(2024, 12, 30), "2025-W01")]
)
def test_weeks_are_iso_weeks(day, week):
    assert day_keys(day)[1] == week


def test_an_episode_is_its_session():
    turns = [
        said(1, "a", time="2024-05-08T10:00:00Z", title="Harbour"),
        said(1, "b", time="2024-05-08T09:00:00Z"),
        said(2, "c"),
    ]
    found = hubs(turns, "episode")
    assert [(h.anchor, h.label, h.turns) for h in found.values()] == [
        ("c/s1", "Harbour", 2),
        ("c/s2", "s2", 1),
    ]
    assert (found["c/s1"].first, found["c/s1"].last) == (
        "2024-05-08T09:00:00Z",
        "2024-05-08T10:00:00Z",
    )
    assert found["c/s2"].first is None


@pytest.mark.parametrize(
    ("name", "key"),
    [("the Louvre", "louvr"), ("Mara's", "mara"), ("MARA", "mara"), ("the of", ""), ("🙂", "🙂")],
)
def test_fold(name, key):
    assert fold(name) == key


def test_each_anchor_comes_once_and_without_annotation_too():
    turn, note = said(1, "Priya and Priya's boat, New York", "Priya", "New York")
    assert [anchor.key for anchor in anchors(turn, note)] == [
        "priya", "new york", "boat", "new", "york"
    ]  # fmt: skip
    assert {anchor.name for anchor in anchors(turn, None)} == {None}


words = st.sampled_from(["Priya", "Lisbon", "boats", "rope", "the", "8080", "day"])
talk = st.lists(
    st.tuples(st.integers(1, 4), st.lists(words, min_size=1, max_size=4)), min_size=1, max_size=20
)


@settings(max_examples=80)
@given(talk)
def test_a_hub_counts_exactly_the_turns_that_carry_it(drawn):
    turns = [
        said(n, " ".join(text), *[w for w in text if w.istitle()], time=f"2024-05-0{n}T10:00:00Z")
        for n, text in sorted(drawn)
    ]
    for edge in hyperedges(turns, tz=UTC):
        members = [turn for turn, note in turns if carries(turn, note, edge.anchor, tz=UTC)]
        sittings = [key for key, _ in groupby(members, key=lambda t: t.session)]
        assert (edge.turns, edge.sessions) == (len(members), len(sittings))
        assert edge.first == min(turn.time for turn in members)
        assert edge.last == max(turn.time for turn in members)
