"""Slack exports: folders and zips, names, words, threads over days, odd times."""

from __future__ import annotations

import json
import shutil
import zipfile
from datetime import UTC

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
    refusals,
)

from memcli.importers.contract import Ignored, ReadOptions, Rejected, Repeated, Warned
from memcli.importers.detect import detect, gather
from memcli.importers.slack_words import words

USERS = [
    {"id": "U1", "name": "pim", "real_name": "Pim Oster", "profile": {"display_name": "pimmy"}},
    {"id": "U2", "name": "rosa", "profile": {"real_name": "Rosa Quill", "display_name": ""}},
    {"id": "U3", "name": "bare"},
]


def message(number, text="hi", **more):
    return {
        "type": "message",
        "user": "U1",
        "text": text,
        "ts": f"17095400{number:02}.000100",
    } | more


def read(*messages):
    return events(as_input(list(messages)), name="slack")


def export(folder, days, **registers):
    """Write an export: days by channel and date, registers by name."""
    for path, messages in days.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(json.dumps(messages))
    for name, value in registers.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder


def test_a_message():
    source = as_input([message(1, "Price &lt;= 40 &amp;amp; <@U2> *bold*")])
    assert detect(source).format.name == "slack"
    [turn] = events(source)
    assert turn.text == "Price <= 40 &amp; <@U2> *bold*"
    assert (turn.role, turn.speaker, turn.native_id) == ("user", "U1", "1709540001.000100")
    assert iso(turn) == "2024-03-04T08:13:21+00:00"
    assert (turn.time.granularity, turn.conversation) == ("second", None)


def test_names_and_channels_come_from_the_files_beside_the_days(tmp_path):
    days = {
        "general/2024-03-04.json": [message(1), message(2, user="U2"), message(3, user="U3")],
        "D77/2024-03-04.json": [message(4, user="U9")],
        "odd/2024-03-04.json": [message(5, user="W1")],
    }
    export(
        tmp_path, days, users=USERS, org_users=[{"id": "W1", "real_name": "Wim"}],
        channels=[{"id": "C1", "name": "general"}], dms=[{"id": "D77", "members": ["U1"]}],
        integration_logs=[], canvases=[],
    )  # fmt: skip
    assert refusals(tmp_path) == {}
    options = ReadOptions(tz=UTC)
    told = [t for each in gather([tmp_path]) for t in each.format.read(each.input, options)]
    assert {(t.conversation, t.title, t.speaker) for t in told} == {
        ("slack-C1", "general", "pimmy"), ("slack-C1", "general", "Rosa Quill"),
        ("slack-C1", "general", "bare"), ("slack-D77", "D77", "U9"),
        ("slack-odd", "odd", "Wim"),
    }  # fmt: skip


def test_a_zip_is_read_like_its_folder(tmp_path, memcli):
    folder = export(
        tmp_path / "export",
        {"general/2024-03-04.json": [message(1)], "general/2024-03-05.json": [message(2)]},
        users=USERS, channels=[{"id": "C1", "name": "general"}],
    )  # fmt: skip
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for path in folder.rglob("*.json"):
            archive.write(path, path.relative_to(folder))
    first = memcli("ingest", "export.zip", "--json", "--annotator", "none")
    assert (first.code, first.json["added"], first.json["new_conversations"]) == (0, 2, 1)
    again = memcli("ingest", folder, "--json", "--annotator", "none")
    assert (again.code, again.json["added"], again.json["already_there"]) == (0, 0, 2)
    turns = memcli("inspect", "turns", "--jsonl").lines
    assert [(turn["speaker"], turn["conversation"]) for turn in turns] == [
        ("pimmy", "slack-C1")
    ] * 2


def test_a_changed_register_is_read_anew(tmp_path):
    for name in ("Ann", "Bob the second"):
        export(tmp_path, {"a/2024-03-04.json": [message(1)]}, users=[{"id": "U1", "name": name}])
        [(_, [turn])] = read_paths(tmp_path / "a/2024-03-04.json").values()
        assert turn.speaker == name


@pytest.mark.parametrize(
    ("more", "speaker"),
    [
        ({"user": "U1", "user_profile": {"display_name": "Pim"}}, "Pim"),
        ({"user": None, "bot_id": "B1", "username": "tide-bot"}, "tide-bot"),
        ({"user": None, "bot_id": "B1", "bot_profile": {"name": "Tide"}}, "Tide"),
        ({"user": None, "bot_id": "B1"}, "B1"),
        ({"user": None, "comment": {"user": "U5", "comment": "x"}}, "U5"),
        ({"user": None}, None),
    ],
)
def test_who_speaks(more, speaker):
    assert read(message(1, **more))[0].speaker == speaker


@pytest.mark.parametrize(
    ("subtype", "role"),
    [(None, "user"), ("thread_broadcast", "user"), ("bot_message", "user"),
     ("me_message", "user"), ("channel_join", "system"), ("tombstone", "system"),
     ("something_new", "system")],
)  # fmt: skip
def test_what_somebody_wrote_and_what_happened(subtype, role):
    assert read(message(1, subtype=subtype))[0].role == role


def rich(*elements):
    return [{"type": "rich_text", "elements": [
        {"type": "rich_text_section", "elements": list(elements)}]}]  # fmt: skip


def plain(text):
    return {"type": "text", "text": text}


SECTIONS = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "*x* &amp;"}},
    {"type": "divider"},
    {"type": "section", "fields": [{"type": "plain_text", "text": "y"}]},
]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"text": "a &gt; b"}, "a > b"),
        ({"text": "", "attachments": [{"fallback": "f", "text": "a &lt; b"}]}, "a < b"),
        ({"attachments": [{"fallback": "f"}, {"title": "t", "text": "u"}]}, "f\nt\nu"),
        ({"text": "", "blocks": rich(plain("a < "), {"type": "user", "user_id": "U"})}, "a < <@U>"),
        ({"text": "the beginn…", "blocks": rich(plain("the beginning and end"))},
         "the beginning and end"),
        ({"text": "see <u|x>", "blocks": rich(plain("see x"))}, "see <u|x>"),
        ({"text": "", "blocks": SECTIONS}, "*x* &\ny"),
        ({"comment": {"comment": "said of a file"}}, "said of a file"),
        ({"text": ""}, ""),
        ({"files": [{"name": "f"}]}, ""),
        ({}, None),
        ({"text": 5}, None),
    ],
)  # fmt: skip
def test_the_words_of_a_message(given, text):
    assert words(given) == text


def test_files_and_what_links_show_are_the_caption():
    first, second = read(
        message(1, files=[{"name": "quay.jpg"}, {"id": "F2"}]),
        message(2, "see", attachments=[{"title": "A page", "text": "about"}]),
    )
    assert first.caption == "file: quay.jpg; file: F2"
    assert second.caption == "attachment: A page\nabout"


def test_messages_out_of_order_are_put_in_the_order_of_time():
    found = read(message(5), message(2), {"type": "message", "text": "no time"}, message(9))
    assert [turn.native_id and turn.native_id[8:10] for turn in drafts(found)] == [
        "02", None, "05", "09",
    ]  # fmt: skip


@pytest.mark.parametrize("ts", [None, "soon", "", 5, [], True, "9" * 40, float("1e300")])
def test_an_odd_time_costs_only_the_time(ts):
    found = read(message(1), message(2, ts=ts))
    assert [turn.time is None for turn in drafts(found)] == [False, True]
    assert len(only(found, Warned)) == 1
    assert not only(found, Rejected)


def test_a_number_for_a_time_is_read():
    assert iso(read(message(1, ts=1709540001.0001))[0]) == "2024-03-04T08:13:21+00:00"


def test_a_damaged_record_costs_only_itself():
    found = read(message(1), 5, {"type": "message", "user": "U1", "ts": "1709540002.1"},
                 {"type": "presence"}, message(3))  # fmt: skip
    assert len(drafts(found)) == 2
    assert len(only(found, Rejected)) == 2
    assert only(found, Ignored) == [Ignored(kind="presence")]


def test_a_message_told_twice():
    found = read(message(1), message(1), message(1, "other"))
    assert [turn.text for turn in drafts(found)] == ["hi", "other"]
    assert len(only(found, Repeated)) == 1


def test_a_reply_on_another_day_is_in_its_channel(tmp_path, memcli):
    export(
        tmp_path / "x",
        {
            "general/2024-03-04.json": [message(1, thread_ts="1709540001.000100")],
            "general/2024-03-05.json": [
                message(1, "late", ts="1709625600.000700", thread_ts="1709540001.000100")
            ],
        },
        channels=[{"id": "C1", "name": "general"}],
    )
    memcli("ingest", "x/general/2024-03-05.json", "--annotator", "none")
    memcli("ingest", "x", "--annotator", "none")
    turns = memcli("inspect", "turns", "--jsonl").lines
    assert [turn["text"] for turn in sorted(turns, key=lambda t: t["seq"])] == ["hi", "late"]
    assert {turn["conversation"] for turn in turns} == {"slack-C1"}


@needs_shared
def test_the_sample_is_what_it_should_be(tmp_path):
    expected = json.loads((SHARED / "samples/slack/expected.json").read_text())
    shutil.copytree(SHARED / "samples/slack", tmp_path / "slack")
    (tmp_path / "slack/expected.json").unlink()
    found = read_paths(tmp_path / "slack")
    assert refusals(tmp_path / "slack") == {}
    turns = [turn for _, each in found.values() for turn in drafts(each)]
    assert (len(found), len(turns)) == (expected["files"], expected["records"])
    assert [turn.speaker for turn in turns] == [
        "Rosa Quill", "pim", "Rosa Quill", "tide-bot", "U0GONE", "pim",
        "Rosa Quill", "USLACKBOT", "pim",
    ]  # fmt: skip
    assert turns[3].text == "High water 14:05"
    assert turns[1].text.startswith("Price <= 40 & rising, ask <@U0AAA2>")
