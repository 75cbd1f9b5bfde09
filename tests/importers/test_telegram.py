"""Telegram exports: one chat or an account, escapes that are no JSON, who, when and what."""

from __future__ import annotations

import json
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from importers.reading import (
    SHARED,
    as_input,
    drafts,
    events,
    iso,
    needs_shared,
    only,
    read_paths,
)

from memcli.importers.contract import Ignored, ReadOptions, Rejected, Repeated, Warned
from memcli.importers.detect import detect, format_named


def message(number, text="hi", **more):
    return {
        "id": number,
        "type": "message",
        "date": "2023-11-05T00:30:00",
        "date_unixtime": "1699133400",
        "from": "Juna",
        "from_id": "user1",
        "text": text,
    } | more


def chat(*messages, **more):
    return {"name": "Boatshed", "type": "private_group", "id": 7, "messages": messages} | more


def read(document, name="result.json"):
    return events(as_input(document, name), name="telegram")


def test_one_chat_and_a_whole_account_give_the_same_turns():
    one = chat(message(1), message(2))
    account = {"about": "", "chats": {"about": "", "list": [one]}, "left_chats": {"list": [one]}}
    alike = [replace(turn, group=0) for turn in drafts(read(account))]
    assert alike[:2] == alike[2:] == drafts(read(one))
    assert detect(as_input(account)).format.name == detect(as_input(one)).format.name == "telegram"
    assert {turn.conversation for turn in drafts(read(account))} == {"telegram-7"}


def test_an_account_keeps_its_chats_apart():
    saved = {"type": "saved_messages", "id": 901, "messages": [message(9)]}
    unnamed = {"messages": [message(3)]}
    found = drafts(read({"chats": {"list": [chat(message(1)), saved, unnamed]}}))
    assert [(t.conversation, t.title) for t in found] == [
        ("telegram-7", "Boatshed"), ("telegram-901", None), (None, None),
    ]  # fmt: skip
    assert len({turn.group for turn in found}) == 3


def test_a_chat_whose_name_stands_behind_its_messages_has_it_all_the_same():
    document = {"messages": [message(1)], "type": "private_group", "name": "Late", "id": 5}
    [turn] = drafts(read(document))
    assert (turn.conversation, turn.title) == ("telegram-5", "Late")


def test_pieces_of_a_text_are_put_together_without_anything_between():
    pieces = ["meet ", {"type": "bold", "text": "late"}, {"type": "link", "text": "x", "href": "u"}]
    [turn] = drafts(read(chat(message(1, pieces))))
    assert (turn.text, turn.caption) == ("meet latex", "link: u")
    entities = [{"type": "plain", "text": "only here"}]
    [turn] = drafts(read(chat(message(1, "", text_entities=entities))))
    assert turn.text == "only here"


@pytest.mark.parametrize(
    ("more", "speaker"),
    [({"from": None}, "user1"), ({"from": None, "from_id": None}, None), ({"from_id": 4}, "Juna")],
)
def test_who_speaks(more, speaker):
    assert drafts(read(chat(message(1, **more))))[0].speaker == speaker


def test_the_time_is_that_of_the_epoch_else_the_local_one():
    document = chat(message(1), message(2, date_unixtime=None), message(3, date_unixtime="soon"))
    source = as_input(document)
    options = ReadOptions(tz=ZoneInfo("Europe/Berlin"))
    found = list(format_named("telegram").read(source, options))
    assert [iso(t)[:16] for t in drafts(found)] == ["2023-11-04T21:30"] + ["2023-11-04T23:30"] * 2
    assert [t.time.zone_assumed for t in drafts(found)] == [False, True, True]
    assert len(only(found, Warned)) == 1


@pytest.mark.parametrize(
    ("more", "caption"),
    [
        ({"photo": "photos/a.jpg"}, "photo: photos/a.jpg"),
        ({"photo": "(File not included. Change settings.)"}, "photo"),
        ({"media_type": "voice_message", "file": "v.ogg"}, "voice_message: v.ogg"),
        ({"media_type": "sticker", "sticker_emoji": "👍"}, "sticker: 👍"),
        ({"forwarded_from": "Tide News"}, "forwarded from Tide News"),
        ({"poll": {"question": "when?"}}, 'poll: {"question": "when?"}'),
        ({"media_type": "animation"}, "animation"),
    ],
)
def test_what_is_attached_is_the_caption(more, caption):
    [turn] = drafts(read(chat(message(1, "", **more))))
    assert (turn.text, turn.caption) == ("", caption)


def test_what_somebody_did_is_a_system_turn():
    service = {"id": 1, "type": "service", "actor": "Juna", "action": "pin_message",
               "message_id": 4, "text": ""}  # fmt: skip
    [turn] = drafts(read(chat(service)))
    assert (turn.role, turn.speaker, turn.text) == (
        "system",
        "Juna",
        'pin_message {"message_id": 4}',
    )


def test_what_is_unsupported_is_counted():
    assert read(chat({"id": 5, "type": "unsupported"})) == [Ignored(kind="unsupported message")]


def test_control_characters_that_are_no_json_are_read_and_told_once():
    text = json.dumps(chat(message(1, "a@Bb"), message(2, r"\x41 stays"), message(3, "c@Cd")))
    text = text.replace("@B", r"\x0B").replace("@C", r"\x0c")
    found = read(text)
    assert [t.text for t in drafts(found)] == ["a\x0bb", r"\x41 stays", "c\x0cd"]
    [told] = only(found, Warned)
    assert told.reason.startswith("2 escapes")


def test_a_damaged_message_costs_only_itself():
    text = json.dumps(chat(message(1), message(2, "BAD"), 3, message(4, 5), message(6)))
    found = read(text.replace('"BAD"', r'"\q"'))
    assert [t.native_id for t in drafts(found)] == ["1", "6"]
    assert [each.where for each in only(found, Rejected)] == [f"result.json#{k}" for k in (2, 3, 4)]


def test_a_message_told_twice_is_told_once_and_another_under_its_id_stays():
    found = read(chat(message(1, "a"), message(1, "a"), message(1, "b")))
    assert [(t.text, t.native_id) for t in drafts(found)] == [("a", "1"), ("b", None)]
    assert (len(only(found, Repeated)), len(only(found, Warned))) == (1, 1)


def test_a_cut_file_gives_what_is_whole_and_says_so():
    text = json.dumps(chat(*(message(k, "x" * 50) for k in range(10))))
    found = read(text[: len(text) // 2])
    assert 3 <= len(drafts(found)) < 6
    assert "cut off" in only(found, Rejected)[-1].reason


def test_it_is_recognised_where_it_does_not_parse():
    text = json.dumps(chat(message(1, "BAD"), message(2))).replace('"BAD"', r'"\x0B"')
    assert detect(as_input(text, "chat.json")).format.name == "telegram"
    account = json.dumps({"about": "", "chats": {"about": "", "list": [chat(message(1))]}})
    assert detect(as_input(account[:-4], "chat.json")).format.name == "telegram"


@pytest.mark.parametrize("document", [{"messages": 5, "id": 1}, {"messages": {"a": 4}}, [], 5, {}])
def test_odd_documents_are_rejected_without_a_fuss(document):
    found = read(document)
    assert only(found, Rejected) or document in ({}, [])
    assert not drafts(found)


@needs_shared
def test_the_samples_are_what_they_should_be():
    folder = SHARED / "samples/telegram"
    expected = json.loads((folder / "expected.json").read_text())
    for name in ("result.json", "result_bad_escape.json"):
        _, found = read_paths(folder / name)[name]
        roles = [turn.role for turn in drafts(found)]
        assert (roles.count("user"), roles.count("system")) == (expected["messages"], 1)
        assert len(only(found, Ignored)) == expected["unsupported"]
        assert drafts(found)[2].text.endswith("\u200d")
        assert drafts(found)[2].speaker == "user902"
    _, found = read_paths(folder / "result_full_account.json")["result_full_account.json"]
    assert len({turn.conversation for turn in drafts(found)}) == expected["full_account_chats"]


@needs_shared
def test_the_reported_fault(memcli):
    path = SHARED / "cases/10-telegram-bad-json/input/result.json"
    done = memcli("ingest", path, "--json", "--annotator", "none")
    assert (done.code, done.json["added"], done.json["rejected"]) == (0, 2, [])
    assert len(done.json["warnings"]) == 1
    turns = memcli("inspect", "turns", "--jsonl").lines
    assert [(t["speaker"], t["text"], t["time"]) for t in turns] == [
        ("Juna", "meet late", "2023-11-04T21:30:00Z"),
        ("user2", "tab\x0bhere", "2023-11-04T21:31:00Z"),
    ]
