"""Cursor: the Markdown export, split only where a message begins; the database, read only."""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
from contextlib import closing

import pytest
from reading import Bytes, as_input, drafts, events, iso, only, read_paths, refusals

from memcli.errors import SourceFormatError
from memcli.importers.contract import Ignored, Rejected, Repeated, Warned
from memcli.importers.detect import detect

HEAD = "# Ferry\n_Exported on 4/11/2026 at 10:29:42 PDT from Cursor (3.0.16)_\n"


def export(*messages, head=HEAD):
    parts = [f"\n---\n\n**{name}**\n\n{text}\n" for name, text in messages]
    return as_input(head + "".join(parts), "chat.md")


def told(found):
    return [(d.role, d.text) for d in drafts(found)]


def test_messages_are_turns_without_a_time():
    found = events(
        export(("User", "Which boat?"), ("Cursor", "The last.\n\nAt nine."), ("User", "谢谢"))
    )
    assert told(found) == [
        ("user", "Which boat?"),
        ("assistant", "The last.\n\nAt nine."),
        ("user", "谢谢"),
    ]
    first = drafts(found)[0]
    assert (first.time, first.title, first.line, first.speaker) == (None, "Ferry", 6, "User")
    assert len(found) == 3


@pytest.mark.parametrize(
    "text",
    [
        "a\n\n---\n\nb",
        "a\n\n**User**\n\nb",
        "a\n\n---\n**User**\n\nb",
        "a\n\n---\n\n**User** guide\n\nb",
        "```\n\n---\n\n**User**\n\nx\n```\nb",
        "~~~~md\n```\n\n---\n\n**Cursor**\n\nx\n~~~\n~~~~\nb",
        "# Title\n\n## More\n\n\nb",
        "  indented\n\ttext  \n\nb",
    ],
)
def test_what_only_resembles_a_message_begins_none(text):
    assert told(events(export(("User", text), ("Cursor", "ok")))) == [
        ("user", text),
        ("assistant", "ok"),
    ]


def test_a_fence_that_is_never_closed_swallows_nothing():
    assert told(events(export(("User", "```py\nx = 1"), ("Cursor", "ok")))) == [
        ("user", "```py\nx = 1"),
        ("assistant", "ok"),
    ]


def test_the_language_of_the_export_line_does_not_matter():
    head = "# 시간표\n_Exported on 2025. 7. 6. at 18시 15분 42초 GMT+9 from Cursor (1.2.1)_\n"
    assert told(events(export(("User", "네"), head=head))) == [("user", "네")]


def test_windows_line_ends_are_understood():
    data = export(("User", "a"), ("Cursor", "b")).open().read().replace(b"\n", b"\r\n")
    assert told(events(Bytes(data, "chat.md"))) == [("user", "a"), ("assistant", "b")]


def test_a_damaged_line_and_text_before_the_talk_are_reported():
    data = (HEAD + "stray\n\n---\n\n**User**\n\na\n@\nb\n").encode().replace(b"@", b"\xff")
    found = events(Bytes(data, "chat.md"))
    assert told(found) == [("user", "a\n\nb")]
    assert {each.reason for each in only(found, Rejected)} == {
        "not UTF-8 at byte 1",
        "text before the first message",
    }


def test_an_empty_message_is_counted():
    found = events(export(("User", "a"), ("Cursor", "")))
    assert told(found) == [("user", "a")]
    assert [each.kind for each in only(found, Ignored)] == ["empty message"]


def test_many_unclosed_fences_take_linear_time():
    assert len(drafts(events(export(("User", "```x\n~~~y z\n" * 30_000), ("Cursor", "b"))))) == 2


def bubble(ident, kind, text="", **more):
    return {"type": kind, "bubbleId": ident, "text": text, **more}


def composer(*idents, **more):
    return {"fullConversationHeadersOnly": [{"bubbleId": each} for each in idents], **more}


@pytest.fixture
def database(tmp_path):
    """Make a database: ``database(disk={key: value}, items={key: value})``."""

    def make(disk=None, items=None, name="state.vscdb"):
        path = tmp_path / name
        with closing(sqlite3.connect(path)) as opened, opened:
            for table, rows in (("ItemTable", items), ("cursorDiskKV", disk)):
                if rows is not None:
                    opened.execute(f"CREATE TABLE {table} (key TEXT UNIQUE, value BLOB)")
                    kept = [
                        (k, v if isinstance(v, bytes) else json.dumps(v)) for k, v in rows.items()
                    ]
                    opened.executemany(f"INSERT INTO {table} VALUES (?, ?)", kept)
        return path

    return make


def read_one(path):
    [(name, found)] = read_paths(path).values()
    assert name == "cursor"
    return found


def test_bubbles_are_turns_in_the_order_of_their_conversation(database):
    disk = {
        "composerData:c1": composer("z", "y", name="Ferry"),
        "bubbleId:c1:y": bubble("y", 2, "Nine.", timingInfo={"clientRpcSendTime": 1759305605000}),
        "bubbleId:c1:z": bubble("z", 1, "Last boat?", createdAt="2025-10-01T08:00:00.000Z"),
    }
    found = drafts(read_one(database(disk)))
    assert [(d.role, d.text, d.native_id, d.title) for d in found] == [
        ("user", "Last boat?", "z", "Ferry"),
        ("assistant", "Nine.", "y", "Ferry"),
    ]
    assert [iso(d) for d in found] == ["2025-10-01T08:00:00+00:00", "2025-10-01T08:00:05+00:00"]
    assert {d.conversation for d in found} == {"c1"}


def test_an_unknown_time_stays_unknown(database):
    disk = {"composerData:c": composer("b"), "bubbleId:c:b": bubble("b", 1, "a")}
    assert [d.time for d in drafts(read_one(database(disk)))] == [None]


def test_thoughts_and_tools_are_turns_of_their_own(database):
    tool = {"name": "read_file", "params": '{"p":1}', "result": "21:10"}
    made = bubble("b", 2, "Done.", thinking={"text": "Look."}, toolFormerData=tool)
    found = drafts(read_one(database({"composerData:c": composer("b"), "bubbleId:c:b": made})))
    assert [(d.role, d.text, d.part) for d in found] == [
        ("reasoning", "Look.", "reasoning/0"),
        ("assistant", "Done.", "text"),
        ("tool", 'read_file({"p":1})', "call/0"),
        ("tool", "21:10", "result/0"),
    ]


def test_a_conversation_that_holds_its_bubbles_itself(database):
    talk = [bubble("a", 1, "Hi"), bubble("b", 2, "Ho")]
    found = read_one(database({"composerData:c": {"conversation": talk}}))
    assert told(found) == [("user", "Hi"), ("assistant", "Ho")]


def test_what_no_conversation_names_is_kept(database):
    disk = {
        "composerData:c": composer("a"),
        "bubbleId:c:a": bubble("a", 1, "kept"),
        "bubbleId:c:b": bubble("b", 2, "later", createdAt="2025-10-01T09:00:00Z"),
        "bubbleId:c:d": bubble("d", 2, "sooner", createdAt="2025-10-01T08:00:00Z"),
        "bubbleId:lost:e": bubble("e", 1, "alone"),
    }
    found = drafts(read_one(database(disk)))
    assert [(d.text, d.branch, d.conversation) for d in found] == [
        ("kept", "active", "c"),
        ("sooner", "abandoned", "c"),
        ("later", "abandoned", "c"),
        ("alone", "active", "lost"),
    ]


def test_damage_costs_only_itself(database):
    disk = {
        "composerData:a": b"{torn",
        "bubbleId:a:1": bubble("1", 1, "of a torn conversation"),
        "composerData:b": composer("1", "2", "3", "gone", "1", "4", "5"),
        "bubbleId:b:1": bubble("1", 1, "good", createdAt="soon"),
        "bubbleId:b:2": b"\xff\xfe",
        "bubbleId:b:3": bubble("3", 9, "strange"),
        "bubbleId:b:4": bubble("4", 2, ""),
        "bubbleId:b:5": 7,
        "composerData:c": [1],
    }
    found = read_one(database(disk))
    assert [d.text for d in drafts(found)] == ["of a torn conversation", "good"]
    assert len(only(found, Rejected)) == 6
    assert len(only(found, Repeated)) == 1
    assert [each.where for each in only(found, Warned)] == ["state.vscdb#bubbleId:b:1"]
    assert [each.kind for each in only(found, Ignored)] == ["bubble without words"]


CHATS = {
    "tabs": [
        {
            "tabId": "t",
            "chatTitle": "T",
            "bubbles": [
                {"type": "user", "id": "1", "text": "Hi"},
                {"type": "ai", "id": "2", "rawText": "Ho"},
            ],
        }
    ]
}


def test_the_oldest_generation_has_tabs_and_prompts(database):
    key, prompts = "workbench.panel.aichat.view.aichat.chatdata", "aiService.prompts"
    found = read_one(database(items={key: CHATS, prompts: [{"text": "Hi"}]}))
    assert told(found) == [("user", "Hi"), ("assistant", "Ho")]
    assert [each.kind for each in only(found, Ignored)] == ["typed prompt beside its chat"]


def test_prompts_are_read_where_there_is_nothing_else(database):
    found = read_one(database(items={"aiService.prompts": [{"text": "Hi"}, {"x": 1}]}, disk={}))
    assert told(found) == [("user", "Hi")]
    assert [each.reason for each in only(found, Rejected)] == ["prompt without text"]


def test_another_programs_database_is_refused(database):
    path = database(items={"workbench.view": {"a": 1}})
    assert "binary data" in refusals(path)["state.vscdb"]


def test_what_is_only_in_the_journal_is_read_and_nothing_is_changed(database, tmp_path):
    path = database({"composerData:c": composer("a")})
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("PRAGMA journal_mode = WAL")
        value = json.dumps(bubble("a", 1, "fresh"))
        opened.execute("INSERT INTO cursorDiskKV VALUES ('bubbleId:c:a', ?)", (value,))
        opened.commit()
        before = path.read_bytes()
        assert told(read_one(path)) == [("user", "fresh")]
        assert path.read_bytes() == before


def test_nothing_is_left_beside_the_database(database, tmp_path):
    path = database({"composerData:c": composer("a"), "bubbleId:c:a": bubble("a", 1, "x")})
    path.chmod(0o444)
    assert told(read_one(path)) == [("user", "x")]
    assert os.listdir(tmp_path) == ["state.vscdb"]


def test_a_database_inside_a_zip_is_read(database, tmp_path):
    path = database({"composerData:c": composer("a"), "bubbleId:c:a": bubble("a", 1, "x")})
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(path, "x/state.vscdb")
    assert told(read_one(tmp_path / "all.zip")) == [("user", "x")]


def test_a_cut_off_database_is_told_in_words(database):
    disk = {f"bubbleId:c:{n}": bubble(str(n), 1, "x" * 3000) for n in range(50)}
    path = database(disk)
    path.write_bytes(path.read_bytes()[:40_000])
    with pytest.raises(SourceFormatError, match="cannot be read"):
        read_paths(path)


def test_an_odd_file_can_be_forced_without_a_traceback():
    data = b"SQLite format 3\x00" + b"\x00" * 100
    found = detect(Bytes(data), name="cursor").format
    assert found.name == "cursor"
    with pytest.raises(SourceFormatError):
        events(Bytes(data), name="cursor")
