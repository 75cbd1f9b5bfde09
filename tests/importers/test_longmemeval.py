"""LongMemEval histories."""

from __future__ import annotations

from importers.reading import (
    SHARED,
    as_input,
    as_lines,
    drafts,
    events,
    iso,
    needs_shared,
    only,
    read_paths,
)

from memcli.importers.contract import Ignored, Rejected, Repeated, Warned


def question(**changes):
    return {
        "question_id": "q1",
        "question": "?",
        "answer": 3,
        "haystack_session_ids": ["a", "b"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "one", "has_answer": True}],
            [{"role": "assistant", "content": "two"}],
        ],
    } | changes


@needs_shared
def test_sample():
    folder = SHARED / "samples" / "longmemeval"
    name, found = read_paths(folder / "longmemeval_mini.json")["longmemeval_mini.json"]
    turns = drafts(found)
    assert name == "longmemeval"
    assert len(turns) == 12
    assert [t.session for t in turns[:8:2]] == [
        "filler_a", "answer_m1_1", "answer_m1_2", "filler_a@2023/05/22 (Mon) 10:00",
    ]  # fmt: skip
    assert iso(turns[0]) == "2023-05-20T02:21:00+00:00"
    assert turns[0].time.zone_assumed
    assert turns[0].time.granularity == "minute"
    assert [t.conversation for t in turns] == ["mini_01"] * 8 + ["mini_02_abs"] * 2 + [
        "mini_03"
    ] * 2
    assert (turns[8].role, turns[8].text) == ("assistant", "Welcome back")
    assert len(only(found, Ignored)) == 3


def test_jsonl_and_single_objects_are_read_too():
    for source in (as_lines([question()] * 2), as_input(question())):
        assert drafts(events(source))[0].text == "one"


def test_parallel_lists_out_of_step_lose_no_turn():
    found = events(as_input([question(haystack_dates=["2023/05/20 (Sat) 02:21"])]))
    assert [(t.text, iso(t)) for t in drafts(found)] == [
        ("one", "2023-05-20T02:21:00+00:00"),
        ("two", None),
    ]
    assert len(only(found, Warned)) == 1
    found = events(as_input([question(haystack_session_ids=["a", "b", "c"])]))
    assert [r.reason for r in only(found, Rejected)] == ["an id or a date without a session"]


def test_a_session_given_twice_with_the_same_date_is_repeated():
    sessions = [[{"role": "user", "content": "one"}]] * 2
    dates = ["2023/05/20 (Sat) 02:21"] * 2
    found = events(as_input([question(
        haystack_sessions=sessions, haystack_dates=dates, haystack_session_ids=["a", "a"]
    )]))  # fmt: skip
    assert len(drafts(found)) == 1
    assert len(only(found, Repeated)) == 1


def test_damaged_turns_and_sessions_cost_only_themselves():
    found = events(as_input([question(haystack_sessions=[
        [{"role": "user"}, None, {"role": "wizard", "content": "x"}, 
         {"role": "user", "content": "k"}],
        "broken",
    ]), 7, {"haystack_sessions": 3}]))  # fmt: skip
    assert [t.text for t in drafts(found)] == ["k"]
    assert [r.where for r in only(found, Rejected)] == [
        "file.json#1/session 1/turn 1",
        "file.json#1/session 1/turn 2",
        "file.json#1/session 1/turn 3",
        "file.json#1/session 2",
        "file.json#2",
        "file.json#3",
    ]
