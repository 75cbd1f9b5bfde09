"""Claude.ai exports: blocks, tools without words, branches, attachments, damage."""

from __future__ import annotations

import pytest
from reading import SHARED, as_input, drafts, events, iso, needs_shared, only, read_paths

from memcli.importers.contract import Ignored, Rejected, Repeated, Warned


def message(uuid, text="", content=(), *, sender="human", parent=None, **more):
    value = {
        "uuid": uuid,
        "text": text,
        "content": list(content),
        "sender": sender,
        "created_at": f"2025-03-02T09:{int(uuid[1:]):02}:00.5Z",
        **more,
    }
    return value if parent is None else {**value, "parent_message_uuid": parent}


def chat(*messages, **more):
    return {"uuid": "c1", "name": "Kayak", "chat_messages": list(messages), **more}


def block(kind, **more):
    return {"type": kind, **more}


def test_text_blocks_are_one_turn_and_not_told_twice():
    content = [block("text", text="Use vinylester."), block("text", text=" It sets.")]
    found = drafts(events(as_input([chat(message("m1", "Use vinylester. It sets.", content))])))
    assert [(d.role, d.text, d.part, d.title) for d in found] == [
        ("user", "Use vinylester. It sets.", "text", "Kayak")
    ]
    assert (found[0].conversation, found[0].native_id) == ("c1", "m1")
    assert iso(found[0]) == "2025-03-02T09:01:00.500000+00:00"


def test_a_turn_that_only_uses_tools_is_kept():
    content = [
        block("thinking", thinking="Look it up."),
        block("tool_use", name="tide_table", input={"port": "Ayr"}),
        block("tool_result", content=[{"type": "text", "text": "High water 14:05"}]),
    ]
    found = drafts(events(as_input([chat(message("m1", "", content, sender="assistant"))])))
    assert [(d.role, d.text, d.part) for d in found] == [
        ("reasoning", "Look it up.", "reasoning/0"),
        ("tool", 'tide_table({"port": "Ayr"})', "call/0"),
        ("tool", "High water 14:05", "result/0"),
    ]
    assert {d.native_id for d in found} == {"m1"}


def test_text_stands_in_where_content_is_empty():
    found = drafts(events(as_input([chat(message("m1", "Hi."), message("m2", ""))])))
    assert [d.text for d in found] == ["Hi.", ""]


def test_siblings_are_branches_and_the_newest_leaf_is_live():
    talk = chat(
        message("m1", "root", parent="00000000-0000-4000-8000-000000000000"),
        message("m2", "old", parent="m1"),
        message("m3", "old answer", sender="assistant", parent="m2"),
        message("m4", "new", parent="m1"),
        message("m5", "new answer", sender="assistant", parent="m4"),
    )
    found = drafts(events(as_input([talk])))
    assert [(d.text, d.branch) for d in found] == [
        ("root", "active"),
        ("old", "abandoned"),
        ("old answer", "abandoned"),
        ("new", "active"),
        ("new answer", "active"),
    ]


def test_a_list_without_parents_is_one_talk():
    found = drafts(events(as_input([chat(message("m2", "b"), message("m1", "a"))])))
    assert [(d.text, d.branch) for d in found] == [("b", "active"), ("a", "active")]


def test_attachments_bring_their_text_and_files_their_name():
    talk = message(
        "m1",
        "See both.",
        attachments=[{"file_name": "hull.txt", "extracted_content": "4.2 cm"}, {"odd": 1}, "x"],
        files=[{"file_name": "crack.jpg"}],
    )
    words, attached = drafts(events(as_input([chat(talk)])))
    assert (words.text, words.caption) == ("See both.", "crack.jpg")
    assert (attached.role, attached.text, attached.caption) == ("injected", "4.2 cm", "hull.txt")


def test_older_exports_say_messages_and_role():
    older = {
        "uuid": "c1",
        "name": "",
        "created_at": "2024-01-01T00:00:00Z",
        "messages": [{"uuid": "m1", "role": "assistant", "text": "Hi."}],
    }
    (found,) = drafts(events(as_input([older])))
    assert (found.role, found.text, found.time, found.title) == ("assistant", "Hi.", None, None)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (chat("nope"), "message is no object"),
        (chat(message("m1", "x", sender="robot")), "no known sender"),
        (chat(message("m1", None, None or [])), "record without text"),
        ({"uuid": "c2", "chat_messages": 3}, "without a list of messages"),
        (7, "no object"),
    ],
)
def test_a_damaged_record_costs_only_itself(value, reason):
    good = chat(message("m9", "fine"), uuid="c9")
    found = events(as_input([good, value]))
    assert [d.text for d in drafts(found)] == ["fine"]
    assert [reason in each.reason for each in only(found, Rejected)] == [True]


def test_empty_talks_repeats_and_odd_times_are_told():
    odd = message("m3", "later") | {"created_at": "soon"}
    talk = chat(message("m1", "a"), message("m1", "a"), odd)
    found = events(as_input([talk, chat(uuid="c2")]))
    assert [d.text for d in drafts(found)] == ["a", "later"]
    assert len(only(found, Repeated)) == len(only(found, Warned)) == 1
    assert only(found, Ignored) == [Ignored(kind="empty conversation")]


@needs_shared
def test_the_sample_reads_whole():
    (name, found), *_ = read_paths(SHARED / "samples" / "claude_ai_export").values()
    assert name == "claude_ai"
    assert len({d.native_id for d in drafts(found)}) == 6
    assert only(found, Rejected) == []
