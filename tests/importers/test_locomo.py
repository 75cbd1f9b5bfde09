"""LoCoMo samples."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from importers.reading import SHARED, as_input, drafts, events, iso, needs_shared, only, read_paths

from memcli.importers.contract import Ignored, Rejected, Repeated, Warned


def sample(**changes):
    talk = {
        "speaker_a": "Orla",
        "session_2_date_time": "9:05 am on 2 June, 2024",
        "session_2": [{"speaker": "Teo", "dia_id": "D2:1", "text": "Second"}],
        "session_10_date_time": "12:30 pm on 3 June, 2024",
        "session_10": [{"speaker": "Orla", "dia_id": "D10:1", "text": "Tenth"}],
    }
    return {"sample_id": "s-1", "conversation": talk | changes, "qa": [{"question": "?"}]}


@needs_shared
def test_sample_gives_four_turns_with_the_session_time():
    _, found = read_paths(SHARED / "samples" / "locomo" / "locomo_mini.json")["locomo_mini.json"]
    turns = drafts(found)
    assert [(t.session, t.native_id, t.speaker, iso(t)) for t in turns] == [
        ("session_1", "D1:1", "Orla", "2023-05-08T13:56:00+00:00"),
        ("session_1", "D1:2", "Teo", "2023-05-08T13:56:00+00:00"),
        ("session_2", "D2:1", "Teo", "2023-09-13T00:09:00+00:00"),
        ("session_2", "D2:2", "Orla", "2023-09-13T00:09:00+00:00"),
    ]
    assert {t.conversation for t in turns} == {"conv-901"}
    assert turns[1].caption == "a photo of a brown dog on a sofa"
    assert {t.time.granularity for t in turns} == {"minute"}
    assert sum(e.kind == "question" for e in only(found, Ignored)) == 8


@needs_shared
def test_the_five_conversations_are_read_whole():
    [(name, found)] = read_paths(SHARED / "data" / "locomo").values()
    turns = drafts(found)
    assert name == "locomo"
    assert len(turns) == 2760
    assert len({t.conversation for t in turns}) == 5
    assert all(t.time for t in turns)
    assert not only(found, Rejected)


def test_sessions_come_by_number_and_questions_are_counted():
    found = events(as_input([sample()]))
    assert [t.text for t in drafts(found)] == ["Second", "Tenth"]
    assert [e.kind for e in only(found, Ignored)] == ["question"]


def test_the_older_release_has_its_sessions_at_the_top():
    found = events(as_input(sample()["conversation"]))
    assert [(t.text, t.conversation) for t in drafts(found)] == [("Second", None), ("Tenth", None)]


def test_a_time_without_zone_is_read_in_the_zone_asked_for():
    turns = drafts(events(as_input([sample()]), tz=ZoneInfo("America/New_York")))
    assert iso(turns[0]) == "2024-06-02T13:05:00+00:00"
    assert turns[0].time.zone_assumed


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"session_2": "x"}, "session is no list of turns"),
        ({"session_2": [{"speaker": "Teo", "dia_id": "D2:1"}]}, "record without text"),
        ({"session_2": [None]}, "record without text"),
        ({"session_2": [{"text": ["x"]}]}, "record without text"),
    ],
)
def test_a_damaged_turn_costs_only_itself(changes, reason):
    found = events(as_input([sample(**changes)]))
    assert [t.text for t in drafts(found)] == ["Tenth"]
    assert [r.reason for r in only(found, Rejected)] == [reason]


@pytest.mark.parametrize("date", [None, "30 February", 7])
def test_an_unknown_session_date_warns_and_keeps_the_turns(date):
    found = events(as_input([sample(session_2_date_time=date)]))
    assert [iso(t) for t in drafts(found)] == [None, "2024-06-03T12:30:00+00:00"]
    assert len(only(found, Warned)) == 1


def test_a_turn_listed_twice_is_repeated_and_a_stolen_id_is_not_lost():
    turn = {"speaker": "Teo", "dia_id": "D2:1", "text": "Second"}
    found = events(as_input([sample(session_2=[turn, turn, turn | {"text": "Other"}])]))
    assert [(t.text, t.native_id) for t in drafts(found)] == [
        ("Second", "D2:1"),
        ("Other", None),
        ("Tenth", "D10:1"),
    ]
    assert len(only(found, Repeated)) == 1
    assert len(only(found, Warned)) == 1
