"""Claude Code sessions: duplicates, forks, compaction, subagents, torn lines."""

from __future__ import annotations

import json

import pytest
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

SAMPLE = SHARED / "samples" / "claude_code_session"


def line(uuid, content, *, parent=None, kind="user", session="s", **more):
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": session,
        "timestamp": "2026-01-05T10:00:00.000Z",
        "message": {"role": kind, "content": content},
    } | more


@needs_shared
def test_sample_session():
    found = read_paths(SAMPLE)["5a3f0000-0000-4000-8000-0000000000c8.jsonl"][1]
    assert [(t.native_id[-2:], t.role, t.branch) for t in drafts(found)] == [
        ("c9", "injected", "active"),
        ("ca", "injected", "active"),
        ("cb", "user", "active"),
        ("cc", "reasoning", "active"),
        ("cd", "assistant", "active"),
        ("ce", "tool", "active"),
        ("cf", "tool", "active"),
        ("d0", "assistant", "active"),
        ("d1", "user", "abandoned"),
        ("d2", "user", "active"),
        ("d3", "assistant", "active"),
        ("d5", "injected", "active"),
        ("d6", "user", "active"),
        ("d7", "assistant", "active"),
        ("d8", "user", "active"),
    ]
    by_id = {t.native_id[-2:]: t for t in drafts(found)}
    assert by_id["ce"].text == 'Read({"file_path": "/home/dev/oven/timer.py"})'
    assert by_id["cf"].text == "     1→def left(s):\n     2→    return s % 86400"
    assert by_id["cc"].text == "check rollover"
    assert by_id["d1"].caption == "image: image/png"
    assert iso(by_id["d8"]) == "2025-01-01T10:01:30+00:00"
    assert {t.title for t in drafts(found)} == {"Oven timer fix"}
    assert {t.session for t in drafts(found)} == {"5a3f0000-0000-4000-8000-0000000000c8"}
    assert len(only(found, Repeated)) == 1
    assert sorted(e.kind for e in only(found, Ignored)) == [
        "compact_boundary", "file-history-snapshot", "queue-operation", "summary",
    ]  # fmt: skip


@needs_shared
def test_sample_subagent_is_a_session_of_its_own_in_the_same_conversation():
    found = read_paths(SAMPLE)["agent-a1b2c3d.jsonl"][1]
    assert [(t.role, t.branch, t.session, t.text) for t in drafts(found)] == [
        ("injected", "sidechain", "agent-a1b2c3d", "List the callers of left()"),
        ("assistant", "sidechain", "agent-a1b2c3d", "One caller: panel.py"),
    ]
    assert {t.conversation for t in drafts(found)} == {"5a3f0000-0000-4000-8000-0000000000c8"}


@needs_shared
def test_the_session_is_read_before_its_subagents():
    assert list(read_paths(SAMPLE)) == [
        "5a3f0000-0000-4000-8000-0000000000c8.jsonl",
        "agent-a1b2c3d.jsonl",
    ]


@needs_shared
def test_case_06_lines_written_again_are_repeated():
    [(_, found)] = read_paths(SHARED / "cases" / "06-claude-code-duplicates" / "input").values()
    assert [(t.native_id, t.text) for t in drafts(found)] == [
        ("d1", "Which valve sticks?"),
        ("d2", "Valve three."),
        ("d3", "ok"),
        ("d4", "ok"),
    ]
    assert len(only(found, Repeated)) == 2
    assert {t.branch for t in drafts(found)} == {"active"}


@pytest.mark.parametrize(
    ("content", "more", "role"),
    [
        ("Fix it", {}, "user"),
        ("Fix <b>it</b>", {}, "user"),
        ("<command-name>/clear</command-name>", {}, "injected"),
        ("<local-command-stdout>ok</local-command-stdout>", {}, "injected"),
        ("<system-reminder>be good</system-reminder>\n", {}, "injected"),
        ("<ide_opened_file>a.py</ide_opened_file>", {}, "injected"),
        ("<system-reminder>a</system-reminder> <ide_selection>b</ide_selection>", {}, "injected"),
        ("<system-reminders>are odd</system-reminders>", {}, "user"),
        ("<bash-input>ls</bash-input>", {}, "injected"),
        (
            "This session is being continued from a previous conversation that ran out of context."
            " Summary: x",
            {},
            "injected",
        ),
        ("done", {"origin": {"kind": "task-notification"}}, "injected"),
        ("typed", {"origin": {"kind": "human"}}, "user"),
        ("<system-reminder>never closed", {}, "user"),
        ("[Request interrupted by user]", {}, "injected"),
        ("Summary so far", {"isCompactSummary": True}, "injected"),
        ("Caveat", {"isMeta": True}, "injected"),
        ("Find callers", {"isSidechain": True}, "injected"),
        ("", {}, "user"),
    ],
)
def test_only_typed_words_are_the_users(content, more, role):
    [turn] = drafts(events(as_lines([line("a", content, **more)])))
    assert (turn.role, turn.text) == (role, content)


NOTE = "<system-reminder>be good</system-reminder>"


@pytest.mark.parametrize(
    ("content", "turns"),
    [
        (f"Do it {NOTE}", [("user", "Do it"), ("injected", NOTE)]),
        (f"{NOTE}\n\nDo it", [("user", "Do it"), ("injected", NOTE)]),
        (f"{NOTE}{NOTE}Do it", [("user", "Do it"), ("injected", f"{NOTE}\n{NOTE}")]),
        (
            [{"type": "text", "text": "<ide_opened_file>a</ide_opened_file>"},
             {"type": "text", "text": "Do it"}, {"type": "text", "text": "now"}],
            [("injected", "<ide_opened_file>a</ide_opened_file>"), ("user", "Do it\nnow")],
        ),
        (
            [{"type": "tool_result", "content": f"x {NOTE}"}, {"type": "text", "text": NOTE}],
            [("tool", f"x {NOTE}"), ("injected", NOTE)],
        ),
        (
            f"a <system-reminder> b {NOTE}",
            [("user", "a"), ("injected", f"<system-reminder> b {NOTE}")],
        ),
    ],
)  # fmt: skip
def test_what_a_program_added_to_a_prompt_is_told_apart(content, turns):
    found = drafts(events(as_lines([line("a", content)])))
    assert [(t.role, t.text) for t in found] == turns
    assert len({(t.native_id, t.part) for t in found}) == len(found)


def test_a_picture_stays_with_the_words_it_was_sent_with():
    content = [
        {"type": "text", "text": NOTE},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png"}},
        {"type": "text", "text": "What is this?"},
    ]
    found = drafts(events(as_lines([line("a", content)])))
    assert [(t.role, t.text, t.caption) for t in found] == [
        ("injected", NOTE, None),
        ("user", "What is this?", "image: image/png"),
    ]


def test_blocks_of_one_message_are_turns_in_order():
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        {"type": "thinking", "thinking": "", "signature": "x"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "ä"}},
        {"type": "tool_use", "id": "t2", "name": "Stop", "input": {}},
        {"type": "text", "text": "Done."},
    ]
    found = events(as_lines([line("a", content, kind="assistant")]))
    assert [(t.part, t.role, t.text) for t in drafts(found)] == [
        ("reasoning/0", "reasoning", "hm"),
        ("text", "assistant", "I look."),
        ("call/0", "tool", 'Read({"path": "ä"})'),
        ("call/1", "tool", "Stop({})"),
        ("text/1", "assistant", "Done."),
    ]
    assert [e.kind for e in only(found, Ignored)] == ["thinking without text"]


def test_tool_results_of_every_shape_are_kept():
    content = [
        {"type": "tool_result", "tool_use_id": "t", "content": "plain"},
        {"type": "tool_result", "tool_use_id": "t", "content": [
            {"type": "text", "text": "a"}, {"type": "text", "text": "b"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png"}}]},
        {"type": "tool_result", "tool_use_id": "t", "content": None},
        {"type": "tool_result", "tool_use_id": "t", "content": {"x": 1}},
    ]  # fmt: skip
    turns = drafts(events(as_lines([line("a", content)])))
    assert [(t.role, t.text, t.caption) for t in turns] == [
        ("tool", "plain", None),
        ("tool", "a\nb", "image: image/png"),
        ("tool", "", None),
        ("tool", '{"x": 1}', None),
    ]


def test_an_edited_prompt_leaves_a_branch_with_all_that_followed():
    found = events(as_lines([
        line("p", "start"),
        line("a", "answer", parent="p", kind="assistant"),
        line("old", "first try", parent="a"),
        line("old2", "reply", parent="old", kind="assistant"),
        line("new", "second try", parent="a"),
        line("new2", "reply", parent="new", kind="assistant"),
    ]))  # fmt: skip
    assert [t.native_id for t in drafts(found) if t.branch == "abandoned"] == ["old", "old2"]


def reply(uuid, parent, message, text="words"):
    made = line(uuid, [{"type": "text", "text": text}], parent=parent, kind="assistant")
    made["message"]["id"] = message
    return made


def abandoned(*lines):
    return [t.native_id for t in drafts(events(as_lines(lines))) if t.branch == "abandoned"]


def test_an_edit_is_seen_through_what_stands_before_a_prompt():
    note = {"type": "attachment", "sessionId": "s", "attachment": {"type": "hook"}}
    assert abandoned(
        line("p", "start"),
        reply("a", "p", "m1"),
        note | {"uuid": "n1", "parentUuid": "a"},
        line("old", "first try", parent="n1"),
        reply("old2", "old", "m2"),
        line("n2", "<command-name>/x</command-name>", parent="a"),
        line("new", "second try", parent="n2"),
    ) == ["old", "old2"]


def test_a_second_attempt_leaves_the_first_with_all_its_blocks():
    assert abandoned(
        line("p", "start"),
        reply("a1", "p", "m1"),
        reply("a2", "p", "m1", "more"),
        reply("b1", "p", "m2"),
        line("q", "thanks", parent="b1"),
    ) == ["a1", "a2"]


def test_blocks_of_one_reply_under_one_parent_are_no_fork():
    assert abandoned(line("p", "x"), reply("a", "p", "m"), reply("b", "p", "m", "y")) == []


def test_talk_compacted_on_an_abandoned_branch_is_abandoned_too():
    compacted = {"type": "system", "subtype": "compact_boundary", "uuid": "c", "parentUuid": None,
                 "logicalParentUuid": "old", "sessionId": "s"}  # fmt: skip
    talk = [
        line("p", "start"),
        reply("a", "p", "m1"),
        line("old", "first try", parent="a"),
        compacted,
        line("on", "and so on", parent="c"),
    ]
    assert abandoned(*talk) == []
    assert abandoned(*talk, line("new", "second try", parent="a")) == ["old", "on"]


def test_parallel_tool_calls_are_no_fork():
    def call(key):
        return [{"type": "tool_use", "name": key, "input": {}}]

    def result(key):
        return [{"type": "tool_result", "tool_use_id": key, "content": "x"}]

    found = events(as_lines([
        line("p", "go"),
        line("c1", call("A"), parent="p", kind="assistant"),
        line("c2", call("B"), parent="c1", kind="assistant"),
        line("r1", result("A"), parent="c1"),
        line("r2", result("B"), parent="c2"),
    ]))  # fmt: skip
    assert {t.branch for t in drafts(found)} == {"active"}


def test_cycles_and_missing_parents_lose_nothing():
    found = events(as_lines([
        line("a", "one", parent="b"),
        line("b", "two", parent="a"),
        line("c", "three", parent="gone"),
        line("d", "four", parent="d"),
    ]))  # fmt: skip
    assert len(drafts(found)) == 4


def test_several_sessions_in_one_file():
    found = events(as_lines([
        line("a", "one", session="s1"),
        {k: v for k, v in line("b", "two").items() if k != "sessionId"},
        line("c", "three", session="s2"),
        line("a", "one", session="s2"),
    ]))  # fmt: skip
    assert [(t.native_id, t.conversation) for t in drafts(found)] == [
        ("a", "s1"), ("b", "s1"), ("c", "s2"),
    ]  # fmt: skip
    assert len(only(found, Repeated)) == 1


def test_a_fork_and_a_resumed_session_keep_the_first_session_of_what_they_copy():
    copied = {"forkedFrom": {"sessionId": "s1", "messageUuid": "a"}}
    found = drafts(events(as_lines([
        line("x", "one", session="s2", **copied),
        line("b", "two", session="s1"),
        line("c", "three", session="s2"),
        {"type": "custom-title", "customTitle": "Fork", "sessionId": "s2"},
    ])))  # fmt: skip
    assert [(t.native_id, t.conversation, t.is_copy) for t in found] == [
        ("a", "s1", True), ("b", "s1", False), ("c", "s2", False),
    ]  # fmt: skip
    assert [t.title for t in found] == [None, None, "Fork"]


def test_old_side_talk_amid_the_main_talk_is_a_session_by_its_root():
    found = drafts(events(as_lines([
        line("p", "go"),
        line("s1", "find", isSidechain=True),
        line("s2", "found", parent="s1", kind="assistant", isSidechain=True),
        line("z1", "look", isSidechain=True),
        line("q", "on", parent="p"),
    ])))  # fmt: skip
    assert [t.session for t in found] == ["s", "agent-s1", "agent-s1", "agent-z1", "s"]


def test_a_uuid_with_other_words_is_kept_with_a_warning():
    found = events(as_lines([line("a", "one"), line("a", "another")]))
    assert [(t.native_id, t.text) for t in drafts(found)] == [("a", "one"), (None, "another")]
    assert len(only(found, Warned)) == 1


def test_titles_are_given_or_the_summary_of_own_lines():
    title = {"type": "custom-title", "customTitle": "Named", "sessionId": "s"}
    foreign = {"type": "summary", "summary": "Other", "leafUuid": "zz"}
    own = {"type": "summary", "summary": "Own", "leafUuid": "a"}
    talk = line("a", "hi")
    for extra, expected in (
        ([title, own], "Named"),
        ([foreign, own], "Own"),
        ([foreign], "Other"),
        ([foreign, foreign], None),
    ):
        assert [t.title for t in drafts(events(as_lines([*extra, talk])))] == [expected]


def test_system_lines_with_words_are_kept_and_marked():
    system = {"type": "system", "subtype": "info", "content": "Model changed", "uuid": "y",
              "sessionId": "s"}  # fmt: skip
    failed = line("b", [{"type": "text", "text": "API Error"}], kind="assistant",
                  isApiErrorMessage=True)  # fmt: skip
    found = events(as_lines([line("a", "hi"), system, failed]))
    assert [(t.role, t.text) for t in drafts(found)][1:] == [
        ("system", "Model changed"),
        ("system", "API Error"),
    ]


@pytest.mark.parametrize(
    ("torn", "reason"),
    [
        ('{"type": "user", "uuid": "x", "mess', "not JSON"),
        ('age": {"content": "x"}}', "not JSON"),
        ('["a"]', "no object"),
        ('{"type": "user", "uuid": "x"}', "without text"),
        ('{"type": "user", "uuid": "x", "message": {"content": 3}}', "without text"),
        ('{"uuid": "x"}', "without a type"),
        ('{"type": "user", "message": {"content": NaN}}', "not JSON"),
    ],
)
def test_a_torn_line_costs_only_itself(torn, reason):
    good = [json.dumps(line(key, "good")) for key in "ab"]
    found = events(as_input(f"{good[0]}\n{torn}\n{good[1]}", "s.jsonl"))
    assert [t.native_id for t in drafts(found)] == ["a", "b"]
    [rejected] = only(found, Rejected)
    assert rejected.where == "s.jsonl:2"
    assert reason in rejected.reason
    assert rejected.raw


def test_two_records_on_one_line_are_both_kept():
    both = json.dumps(line("a", "one")) + json.dumps(line("b", "two", parent="a"))
    found = events(as_input(both + "\n" + json.dumps(line("c", "three")), "s.jsonl"))
    assert [(t.native_id, t.line) for t in drafts(found)] == [("a", 1), ("b", 1), ("c", 2)]


@pytest.mark.parametrize(
    ("attachment", "turns"),
    [
        ({"type": "queued_command", "prompt": "use the blue one"}, [("user", "use the blue one")]),
        ({"type": "queued_command", "prompt": [{"type": "text", "text": "a"}]}, [("user", "a")]),
        (
            {"type": "queued_command", "prompt": "done", "commandMode": "task-notification"},
            [("injected", "done")],
        ),
        ({"type": "task_reminder", "content": "x"}, []),
    ],
)
def test_prompts_typed_while_the_model_works_are_kept(attachment, turns):
    queued = {"type": "attachment", "sessionId": "s", "attachment": attachment}
    found = events(as_lines([line("a", "hi"), queued]))
    assert [(t.role, t.text) for t in drafts(found)][1:] == turns
    assert len(only(found, Ignored)) == (not turns)


def test_types_yet_to_be_invented_are_counted():
    found = events(as_lines([line("a", "hi"), {"type": "hologram", "sessionId": "s"}]))
    assert [e.kind for e in only(found, Ignored)] == ["hologram"]
