"""Codex rollouts: both kinds of records, once; older generations; what a program put in."""

from __future__ import annotations

import json

import pytest
from reading import as_input, as_lines, drafts, events, iso, only

from memcli.importers.contract import Ignored, Rejected, Repeated, Warned

AT = "2026-02-01T08:00:0{}.250Z"


def line(kind, payload, second=0, **more):
    return {"timestamp": AT.format(second), "type": kind, "payload": payload, **more}


def meta(**more):
    return line("session_meta", {"id": "s1", "cwd": "/w", "instructions": None, **more})


def said(role, *texts, second=0):
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return line("response_item", {"type": "message", "role": role, "content": content}, second)


def shown(kind, message, second=0):
    return line("event_msg", {"type": kind, "message": message}, second)


def told(*lines):
    return [(d.role, d.text) for d in drafts(events(as_lines([meta(), *lines])))]


def test_a_turn_has_the_session_the_time_and_the_line():
    (turn,) = drafts(events(as_lines([meta(), said("user", "Glaze?", second=3)])))
    assert (turn.conversation, turn.session, turn.line) == ("s1", "s1", 2)
    assert iso(turn) == "2026-02-01T08:00:03.250000+00:00"


@pytest.mark.parametrize("swap", [False, True])
def test_words_of_both_kinds_are_kept_once(swap):
    pair = [said("user", "Glaze?"), shown("user_message", "Glaze?")]
    found = events(as_lines([meta(), *(pair[::-1] if swap else pair)]))
    assert [d.text for d in drafts(found)] == ["Glaze?"]
    assert len(only(found, Repeated)) == 1


def test_what_was_said_twice_stays_two():
    twice = [said("user", "yes"), shown("user_message", "yes")] * 2
    assert told(*twice) == [("user", "yes")] * 2
    assert told(said("user", "yes"), said("user", "yes")) == [("user", "yes")] * 2


@pytest.mark.parametrize("kind", ["item", "event"])
def test_either_kind_alone_is_enough(kind):
    made = {
        "item": [said("user", "Cone?"), said("assistant", "Six.")],
        "event": [shown("user_message", "Cone?"), shown("agent_message", "Six.")],
    }
    assert told(*made[kind]) == [("user", "Cone?"), ("assistant", "Six.")]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n<cwd>/w</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>be kind</INSTRUCTIONS>",
        "<user_instructions>\nbe kind\n</user_instructions>",
    ],
)
def test_a_programs_words_are_injected(text):
    assert told(said("user", text)) == [("injected", text)]
    quoted = f"What does {text[:20]} mean?"
    assert told(said("user", quoted)) == [("user", quoted)]


def test_a_prompt_beside_injected_words_is_the_persons():
    context = "<environment_context>\n</environment_context>"
    assert told(said("user", context, "Fix it.")) == [("injected", context), ("user", "Fix it.")]


def test_developer_words_are_marked():
    assert told(said("developer", "Be brief.")) == [("developer", "Be brief.")]


CALLS = [
    ({"type": "function_call", "name": "shell", "arguments": '{"c": "ls"}'}, 'shell({"c": "ls"})'),
    ({"type": "custom_tool_call", "name": "patch", "input": "*** Begin"}, "patch(*** Begin)"),
    ({"type": "local_shell_call", "action": {"c": ["ls"]}}, 'local_shell({"c": ["ls"]})'),
]


@pytest.mark.parametrize(("call", "text"), CALLS)
def test_calls_and_results_are_turns_of_their_own(call, text):
    kind = "custom_tool_call_output" if "input" in call else "function_call_output"
    result = {"type": kind, "call_id": "k1", "output": '{"output":"a.py","metadata":{"e":0}}'}
    made = [line("response_item", {**call, "call_id": "k1"}), line("response_item", result)]
    found = drafts(events(as_lines([meta(), *made])))
    assert [(d.role, d.text, d.native_id, d.part) for d in found] == [
        ("tool", text, "k1", "call/0"),
        ("tool", "a.py", "k1", "result/0"),
    ]


@pytest.mark.parametrize("output", ["plain", '{"output": "x", "other": 1}', "{", '{"a": 1}'])
def test_a_result_that_only_looks_wrapped_is_verbatim(output):
    result = {"type": "function_call_output", "call_id": "k", "output": output}
    assert told(line("response_item", result)) == [("tool", output)]


def test_reasoning_is_told_once_and_secret_reasoning_is_no_talk():
    summary = [{"type": "summary_text", "text": "**Plan**"}]
    open_ = line("response_item", {"type": "reasoning", "summary": summary})
    event = line("event_msg", {"type": "agent_reasoning", "text": "**Plan**"})
    closed = line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "Zz"})
    found = events(as_lines([meta(), event, open_, closed]))
    assert [(d.role, d.text) for d in drafts(found)] == [("reasoning", "**Plan**")]
    assert "reasoning without text" in {each.kind for each in only(found, Ignored)}


def test_the_summary_of_a_compaction_is_no_human_word():
    assert told(said("user", "a"), line("compacted", {"message": "So far: a."})) == [
        ("user", "a"),
        ("injected", "So far: a."),
    ]


def test_a_fork_is_the_session_its_file_begins_with():
    copied = line("session_meta", {"id": "s0"})
    fork = meta(forked_from_id="s0")
    found = drafts(events(as_lines([fork, copied, said("user", "a")])))
    assert [d.conversation for d in found] == ["s1"]


def test_a_subagents_rollout_is_a_side_chain():
    head = meta(source={"subagent": {"thread_spawn": {"parent_thread_id": "s0"}}})
    assert [d.branch for d in drafts(events(as_lines([head, said("user", "a")])))] == ["sidechain"]


def test_bare_lines_of_the_older_generation():
    head = {"id": "old1", "timestamp": AT.format(0), "instructions": None}
    words = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"record_type": "state"},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "k"},
    ]
    found = events(as_lines([head, *words]))
    turns = drafts(found)
    assert [(d.role, d.text, d.conversation) for d in turns] == [
        ("user", "hi", "old1"),
        ("tool", "shell({})", "old1"),
    ]
    assert [d.time for d in turns] == [None, None]
    assert {each.kind for each in only(found, Ignored)} == {"session_meta", "state"}


def test_the_single_object_of_the_oldest_generation():
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    whole = {"session": {"id": "o", "timestamp": AT.format(0)}, "items": [item, 7]}
    found = events(as_input(json.dumps(whole, indent=2)))
    assert [(d.text, d.conversation) for d in drafts(found)] == [("hi", "o")]
    assert [each.reason for each in only(found, Rejected)] == ["record is no object"]


def test_damage_costs_only_itself():
    odd = line("response_item", {"type": "message", "role": "user", "content": 5})
    late = {**said("user", "b"), "timestamp": "soon"}
    call = {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "k"}
    called = {**line("response_item", call), "timestamp": "soon"}
    text = "\n".join(json.dumps(each) for each in (meta(), said("user", "a"), odd, late, called))
    found = events(as_input(text + '\n{"timestamp": "2026-02\n[1]\n', "x.jsonl"))
    assert [d.text for d in drafts(found)] == ["a", "b", "f({})"]
    assert len(only(found, Rejected)) == 3
    assert [each.where for each in only(found, Warned)] == ["x.jsonl:4", "x.jsonl:5"]


def test_what_the_terminal_counts_is_no_talk():
    found = events(
        as_lines([meta(), line("event_msg", {"type": "token_count"}), said("user", "a")])
    )
    assert "event token_count" in {each.kind for each in only(found, Ignored)}
