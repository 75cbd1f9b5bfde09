"""Gemini CLI sessions: the object, the log with rewrites, ``$set`` and ``$rewindTo``."""

from __future__ import annotations

import json

import pytest
from reading import as_input, as_lines, drafts, events, iso, only

from memcli.importers.contract import Ignored, Rejected, Repeated, Warned

HEADER = {"sessionId": "s1", "projectHash": "ab", "startTime": "2026-03-01T09:00:00.000Z"}


def message(ident, content, kind="user", **more):
    at = f"2026-03-01T09:0{ident[-1]}:00.000Z"
    return {"id": ident, "timestamp": at, "type": kind, "content": content, **more}


def log(*lines, **header):
    return events(as_lines([{**HEADER, **header}, *lines]))


def whole(*messages, **header):
    return events(as_input({**HEADER, **header, "messages": list(messages)}))


def told(found):
    return [(d.role, d.text) for d in drafts(found)]


BOTH = pytest.mark.parametrize("read", [log, whole])


@BOTH
def test_messages_are_turns(read):
    words = [
        message("m1", "Tide?"),
        message("m2", [{"text": "Half "}, {"text": "past."}], "gemini"),
    ]
    found = drafts(
        read(*words, message("m3", "Over quota.", "error"), message("m4", "Hm", "model"))
    )
    assert [(d.role, d.text) for d in found] == [
        ("user", "Tide?"),
        ("assistant", "Half past."),
        ("system", "Over quota."),
        ("assistant", "Hm"),
    ]
    assert (found[0].conversation, found[0].native_id) == ("s1", "m1")
    assert iso(found[0]) == "2026-03-01T09:01:00+00:00"


@BOTH
def test_thoughts_calls_and_results_are_turns_of_their_own(read):
    call = {"name": "read", "args": {"p": "a"}}
    call["result"] = [{"functionResponse": {"response": {"output": "21:10"}}}]
    thought = {"subject": "Look", "description": "Read the table."}
    found = drafts(read(message("m1", "Done.", "gemini", thoughts=[thought], toolCalls=[call])))
    assert [(d.role, d.text, d.part) for d in found] == [
        ("reasoning", "Look\nRead the table.", "reasoning/0"),
        ("tool", 'read({"p": "a"})', "call/0"),
        ("tool", "21:10", "result/0"),
        ("assistant", "Done.", "text"),
    ]


@BOTH
def test_the_context_a_program_put_in_is_marked(read):
    text = "<session_context>\nToday is Sunday\n</session_context>"
    assert told(read(message("m1", text), message("m2", "Hi"))) == [
        ("injected", text),
        ("user", "Hi"),
    ]


@BOTH
def test_a_subagents_session_is_a_side_chain(read):
    assert [d.branch for d in drafts(read(message("m1", "a"), kind="subagent"))] == ["sidechain"]


def test_the_last_form_of_a_streamed_message_counts_in_its_first_place():
    found = log(
        message("m1", "Q"),
        message("m2", "A", "gemini"),
        message("m3", "R"),
        message("m2", "AB", "gemini"),
    )
    assert told(found) == [("user", "Q"), ("assistant", "AB"), ("user", "R")]
    assert len(only(found, Repeated)) == 1


def test_messages_inside_set_and_bare_are_told_once():
    first, second = message("m1", "Q"), message("m2", "A", "gemini")
    found = log(first, {"$set": {"messages": [first, second]}}, second, {"$set": {"summary": "x"}})
    assert told(found) == [("user", "Q"), ("assistant", "A")]
    assert [each.kind for each in only(found, Ignored)] == ["header", "$set"]


def test_what_was_rewound_is_an_abandoned_branch():
    lines = [message("m1", "Q"), message("m2", "A", "gemini"), message("m3", "No")]
    found = drafts(log(*lines, {"$rewindTo": "m2"}, message("m4", "B", "gemini")))
    assert [(d.text, d.branch) for d in found] == [
        ("Q", "active"),
        ("A", "abandoned"),
        ("No", "abandoned"),
        ("B", "active"),
    ]


@pytest.mark.parametrize("to", ["gone", None, 5, ["m1"], {"id": "m1"}])
def test_a_rewind_to_nowhere_is_reported(to):
    found = log(message("m1", "Q"), {"$rewindTo": to})
    assert told(found) == [("user", "Q")]
    assert [each.reason for each in only(found, Rejected)] == [
        "rewinds to a message that is not there"
    ]


def test_damage_costs_only_itself():
    lines = [HEADER, message("m1", "Q"), message("m2", "x", "ghost"), message("m3", None)]
    late = {**message("m4", "R"), "timestamp": "soon"}
    text = "\n".join(json.dumps(each) for each in [*lines, late, {"$set": {"messages": [3]}}])
    found = events(as_input(text + '\n{"id": "m5\n', "x.jsonl"))
    assert told(found) == [("user", "Q"), ("user", "R")]
    assert len(only(found, Rejected)) == 4
    assert [each.where for each in only(found, Warned)] == ["x.jsonl:5"]
