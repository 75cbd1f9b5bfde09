"""Discord exports: who and when, words of embeds and forwards, cut files."""

from __future__ import annotations

import json

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

from memcli.importers.contract import Rejected, Repeated, Warned
from memcli.importers.detect import detect


def message(number, content="hi", **more):
    return {
        "id": str(number),
        "type": "Default",
        "timestamp": "2024-01-31T23:50:10.379+02:00",
        "content": content,
        "author": {"id": "11", "name": "moth_w", "nickname": "Wren"},
    } | more


def export(*messages, **more):
    return {
        "guild": {"id": "700", "name": "Boatshed"},
        "channel": {"id": "777", "name": "general"},
        "messages": messages,
        "messageCount": len(messages),
    } | more


def read(document, name="export.json"):
    return events(as_input(document, name), name="discord")


def test_a_message():
    source = as_input(export(message(1, "**hi** <@5>")))
    assert detect(source).format.name == "discord"
    [turn] = events(source)
    assert (turn.role, turn.speaker, turn.text) == ("user", "Wren", "**hi** <@5>")
    assert (turn.conversation, turn.native_id, turn.title) == (
        "discord-777", "1", "Boatshed / general",
    )  # fmt: skip
    assert iso(turn) == "2024-01-31T21:50:10.379000+00:00"
    assert not turn.time.zone_assumed


@pytest.mark.parametrize("digits", ["", ".1", ".12", ".379", ".1234567"])
@pytest.mark.parametrize("zone", ["Z", "+00:00", "+05:30"])
def test_fractions_and_offsets_of_every_kind(digits, zone):
    [turn] = read(export(message(1, timestamp=f"2024-01-31T23:50:10{digits}{zone}")))
    assert iso(turn)


@pytest.mark.parametrize(
    ("author", "speaker"),
    [
        ({"id": "1", "name": "n", "nickname": "Nick"}, "Nick"),
        ({"id": "1", "name": "n", "nickname": ""}, "n"),
        ({"id": "1"}, "1"),
        ({}, None),
        (None, None),
    ],
)
def test_who_speaks(author, speaker):
    assert read(export(message(1, author=author)))[0].speaker == speaker


@pytest.mark.parametrize(
    ("kind", "role"),
    [("Default", "user"), ("Reply", "user"), ("20", "user"), ("GuildMemberJoin", "system"),
     ("ChannelPinnedMessage", "system"), ("8", "system"), (None, "user")],
)  # fmt: skip
def test_what_somebody_wrote_and_what_happened(kind, role):
    assert read(export(message(1, type=kind)))[0].role == role


EMBED = {"title": "High water", "description": "14:05", "fields": [{"name": "a", "value": "b"}]}


def test_an_empty_content_is_that_of_the_embed_or_the_forwarded_message():
    forwarded = {"timestamp": "2024-01-30T10:00:00Z", "content": "Fog warning",
                 "attachments": [{"fileName": "f.png"}]}  # fmt: skip
    first, second, third, fourth = read(
        export(
            message(1, "", embeds=[EMBED]),
            message(2, "", forwardedMessage=forwarded),
            message(3, "look", embeds=[EMBED], attachments=[{"fileName": "a.pdf"}]),
            message(4, "", stickers=[{"name": "wave"}]),
        )
    )
    assert first.text == "High water\n14:05\na: b"
    assert second.text == "Fog warning"
    assert second.caption == "forwarded, first sent 2024-01-30T10:00:00Z; attachment: f.png"
    assert third.caption == "attachment: a.pdf; embed: High water\n14:05\na: b"
    assert (fourth.text, fourth.caption) == ("", "sticker: wave")


def test_a_damaged_message_costs_only_itself():
    found = read(export(message(1), 5, {"id": "3"}, message(4, 7), message(5)))
    assert [turn.native_id for turn in drafts(found)] == ["1", "5"]
    assert [each.where for each in only(found, Rejected)] == [f"export.json#{k}" for k in (2, 3, 4)]


def test_an_odd_time_costs_only_the_time():
    found = read(export(message(1, timestamp="soon")))
    assert drafts(found)[0].time is None
    assert len(only(found, Warned)) == 1


def test_a_message_told_twice():
    found = read(export(message(1), message(1), message(1, "other")))
    assert [turn.native_id for turn in drafts(found)] == ["1", None]
    assert len(only(found, Repeated)) == 1


def test_a_cut_file_says_so():
    whole = json.dumps(export(*(message(k) for k in range(9))))
    found = read(whole[: len(whole) // 2])
    assert drafts(found)
    assert "cut off" in only(found, Rejected)[0].reason
    missing = export(message(1))
    del missing["messageCount"]
    assert "messageCount" in only(read(missing), Warned)[0].reason
    assert "says it holds 9" in only(read(export(message(1), messageCount=9)), Warned)[0].reason


def test_a_channel_that_stands_behind_its_messages():
    document = {"messages": [message(1)], "messageCount": 1, "guild": {}, "channel": {"id": 5}}
    assert read(document)[0].conversation == "discord-5"


@pytest.mark.parametrize("document", [{"messages": 5}, {"messages": {"a": 1}}, [1], {}, 7])
def test_odd_documents_are_rejected_without_a_fuss(document):
    found = read(document)
    assert only(found, Rejected) or document in ({}, [])
    assert not drafts(found)


@needs_shared
def test_the_sample_is_what_it_should_be():
    folder = SHARED / "samples/discord"
    expected = json.loads((folder / "expected.json").read_text())
    [(format_name, found)] = read_paths(*folder.glob("Boat*.json")).values()
    assert format_name == "discord"
    assert len(found) == expected["messages"]
    assert sum(turn.role == "system" for turn in found) == expected["of_which_system"]
    assert {iso(turn)[:10] for turn in found} == {"2024-01-31"}
    assert found[5].text == "Fog warning"
