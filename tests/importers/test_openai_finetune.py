"""OpenAI fine-tuning data: a conversation a line, tool calls, preference data, damage."""

from __future__ import annotations

import pytest
from reading import SHARED, as_lines, drafts, events, needs_shared, only, read_paths

from memcli.importers.contract import Ignored, Rejected


def said(role, content, **more):
    return {"role": role, "content": content, **more}


def line(*messages, **more):
    return {"messages": list(messages), **more}


HELLO = line(said("user", "hi"), said("assistant", "hello", weight=0))


def test_each_line_is_a_conversation_of_its_own():
    found = drafts(events(as_lines([HELLO, HELLO])))
    assert [(d.group, d.role, d.text, d.line) for d in found] == [
        (0, "user", "hi", 1),
        (0, "assistant", "hello", 1),
        (1, "user", "hi", 2),
        (1, "assistant", "hello", 2),
    ]


def test_tool_calls_and_results_are_turns():
    call = {"function": {"name": "weather", "arguments": '{"place":"Brom"}'}}
    talk = line(
        said("user", "?"), {"role": "assistant", "tool_calls": [call]}, said("tool", "rain")
    )
    found = drafts(events(as_lines([talk, HELLO])))
    assert [(d.role, d.text) for d in found[:3]] == [
        ("user", "?"),
        ("tool", 'weather({"place":"Brom"})'),
        ("tool", "rain"),
    ]


def test_the_output_that_was_not_preferred_is_an_abandoned_branch():
    pair = {
        "input": line(said("user", "?")),
        "preferred_output": [said("assistant", "good")],
        "non_preferred_output": [said("assistant", "bad")],
    }
    found = drafts(events(as_lines([pair, pair])))
    assert [(d.text, d.branch) for d in found[:3]] == [
        ("?", "active"),
        ("bad", "abandoned"),
        ("good", "active"),
    ]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"messages": 3}, "without a list of messages"),
        (line("x"), "no object"),
        (line(said("robot", "x")), "no known role"),
        (7, "no object"),
    ],
)
def test_a_damaged_line_costs_only_itself(value, reason):
    found = events(as_lines([HELLO, value, HELLO]))
    assert len(drafts(found)) == 4
    assert [reason in each.reason for each in only(found, Rejected)] == [True]


def test_an_empty_list_is_told():
    assert only(events(as_lines([HELLO, line()])), Ignored) == [Ignored(kind="empty conversation")]


@needs_shared
def test_the_sample_reads_whole():
    (name, found), *_ = read_paths(SHARED / "samples" / "openai_finetune_jsonl").values()
    assert (name, len(drafts(found)), only(found, Rejected)) == ("openai_finetune", 11, [])


def test_twice_the_same_question_in_two_conversations_stays_two(memcli, tmp_path):
    import json

    talks = [line(said("user", "Capital?"), said("assistant", f"Answer {n}.")) for n in (1, 2)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(talk) + "\n" for talk in talks))
    assert memcli("ingest", "t.jsonl", "--json").json["added"] == 4
    assert memcli("ingest", "t.jsonl", "--json").json["added"] == 0
