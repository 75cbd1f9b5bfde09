"""Damaged transcripts of every format: no traceback, nothing lost in silence, the rest kept.

The law: a damaged record costs only itself, and it is told. Every other record's words are
read, and what is read is added, already there, a duplicate or rejected.
"""

from __future__ import annotations

import codecs
import json

import pytest
from importers.damage import DAMAGED, KINDS, TEXTS, damages, document
from importers.reading import Bytes, drafts, events, only

from memcli.errors import SourceFormatError
from memcli.importers.contract import Draft, Ignored, Rejected, Repeated, Warned
from memcli.importers.detect import detect

EVERY = [
    pytest.param(kind, name, id=f"{key}: {name}")
    for key, kind in KINDS.items()
    for name in damages(kind)
]
OTHERS = [text for number, text in enumerate(TEXTS) if number != DAMAGED]


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_damaged_record_costs_only_itself_and_is_told(kind, name):
    damaged, hole = damages(kind)[name]
    source = Bytes(document(kind, damaged, hole, "c1"), "odd.dat")
    assert detect(source).format.name == kind.name
    found = events(source)
    told = [turn.text for turn in drafts(found)]
    counted = [each for each in found if isinstance(each, Rejected | Repeated | Ignored)]
    is_one_record = not hole or _parses(hole) or not kind.is_whole
    if is_one_record:
        assert [text for text in OTHERS if text not in told] == []
        assert all(told.count(text) == 1 for text in OTHERS[1:])
    assert len(told) + len(counted) >= (len(TEXTS) if is_one_record else 1)
    assert all(isinstance(each, Draft | Rejected | Repeated | Ignored | Warned) for each in found)
    ids = [(t.conversation, t.native_id, t.part) for t in drafts(found) if t.native_id]
    assert len(set(ids)) == len(ids)  # a second one would not be stored


def _parses(raw):
    try:
        json.loads(raw, parse_constant=lambda _: 1 / 0)
    except (ValueError, RecursionError, ZeroDivisionError):
        return False
    return b"ud800" not in raw and len(raw) < 4_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_any_number_of_damaged_files_is_ingested_without_a_traceback(kind, tmp_path, memcli):
    for number, (damaged, hole) in enumerate(damages(kind).values()):
        data = document(kind, damaged, hole, f"c{number}")
        path = tmp_path / f"odd/c{number}/2024-03-04.json"  # as in a Slack export
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    first = memcli("ingest", "odd", "--json", "--annotator", "none")
    assert first.code in (0, 6), first.err
    assert "Traceback" not in first.err
    _adds_up(first.json)
    again = memcli("ingest", "odd", "--json", "--annotator", "none")
    assert again.json["added"] == 0
    assert again.json["stored_turns"] == first.json["stored_turns"]
    _adds_up(again.json)
    assert memcli("verify").code == 0


def _adds_up(report):
    parts = ("added", "already_there", "updated", "duplicates")
    files = [each for each in report["rejected"] if ":" not in each["where"][-5:]]
    accounted = sum(report[part] for part in parts) + len(report["rejected"])
    assert report["read"] <= accounted <= report["read"] + len(files)


WHOLE = {
    "cut at a third": lambda data: data[: len(data) // 3],
    "cut at two thirds": lambda data: data[: 2 * len(data) // 3],
    "cut at the end": lambda data: data[:-3],
    "text behind it": lambda data: data + b"\nxyz {",
    "twice": lambda data: data + data,
    "NULs behind it": lambda data: data + b"\x00" * 9,
    "byte order mark": lambda data: codecs.BOM_UTF8 + data,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-16, big end first": lambda data: codecs.BOM_UTF16_BE + data.decode().encode("utf-16-be"),
    "UTF-16, half a unit short": lambda data: data.decode().encode("utf-16")[:-1],
    "carriage returns": lambda data: data.replace(b"\n", b"\r\n"),
    "blank lines": lambda data: b"\n\n" + data.replace(b"\n", b"\n\n"),
    "a bracket too many": lambda data: data.rstrip() + b"]",
    "bytes in front": lambda data: b"\xff\xfe\xff" + data,
    "only its first byte": lambda data: data[:1],
    "blank": lambda data: b" " * len(data),
}
HARMLESS = {"byte order mark", "UTF-16", "UTF-16, big end first", "carriage returns", "blank lines"}


@pytest.mark.parametrize("damage", WHOLE)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_damaged_file_is_read_as_far_as_it_goes_or_refused(kind, damage):
    whole = document(kind, kind.record(DAMAGED, TEXTS[DAMAGED], "c1"), b"", "c1")
    source = Bytes(WHOLE[damage](whole), "odd.dat")
    for name in (None, kind.name):
        found = _events_or_refusal(source, name)
        if isinstance(found, str):
            assert damage not in HARMLESS
            assert "odd.dat" in found
            continue
        told = {turn.text for turn in drafts(found)}
        if damage in HARMLESS:
            assert told == set(TEXTS)
            assert not only(found, Rejected)
        else:
            assert told >= set(TEXTS) or only(found, Rejected) or only(found, Warned)


def _events_or_refusal(source, name=None):
    try:
        return events(source, name=name)
    except SourceFormatError as error:
        return error.message


EMPTY = {
    "chatgpt": ["[]", '[{"mapping": {}}]', '[{"mapping": null}]', '[{"mapping": []}]'],
    "claude_ai": ['[{"uuid": "a", "chat_messages": []}]', '[{"chat_messages": {}}]'],
    "claude_code": ['{"type": "user", "uuid": "a", "message": {}}', "{}", "null"],
    "codex": ['{"timestamp": "", "type": "response_item", "payload": {}}', "{}", "[]"],
    "gemini_cli": ['{"sessionId": "a", "projectHash": "b", "messages": []}', "{}", "[]"],
    "openai_chat": ["[]", '{"messages": []}', '{"messages": {}}', "{}", "5"],
    "openai_finetune": ['{"messages": []}', '{"messages": 5}', "{}"],
    "sharegpt": ['[{"conversations": []}]', '[{"conversations": null}]', "[[]]"],
    "locomo": ['[{"conversation": {}}]', '[{"conversation": {"session_1": {}}}]', "[5]"],
    "longmemeval": ['[{"haystack_sessions": []}]', '[{"haystack_sessions": [5]}]', "[null]"],
    "telegram": ['{"messages": []}', '{"chats": {"list": [5, {}]}}', '{"messages": null}', "[]"],
    "discord": ['{"messages": []}', '{"messages": [[]]}', '{"guild": 5, "channel": []}', "[]"],
    "slack": ["[]", "[[]]", "[null]", "{}", '[{"type": "message"}]'],
}


@pytest.mark.parametrize(("name", "text"), [(n, t) for n, texts in EMPTY.items() for t in texts])
def test_empty_containers_hold_no_turns_and_raise_nothing(name, text):
    assert not drafts(events(Bytes(text.encode(), "odd.dat"), name=name))


TALKS = {
    "whatsapp": [f"2{k}.12.23, 21:0{k} - Ann: {text}" for k, text in enumerate(TEXTS)],
    "plain_text": [f"{('Ann', 'Bo')[k % 2]}: {text}" for k, text in enumerate(TEXTS)],
    "webvtt": ["WEBVTT", *(f"\n00:0{k}:00.000 --> 00:0{k}:09.000\n<v N{k}>{text}</v>"
                           for k, text in enumerate(TEXTS))],
    "srt": [f"{k + 1}\n00:0{k}:00,000 --> 00:0{k}:09,000\n{text}\n"
            for k, text in enumerate(TEXTS)],
    "cursor": ["# T\n_Exported on 4/11/2026 at 10:29:42 PDT from Cursor (1.2.3)_",
               *(f"\n---\n\n**{('User', 'Cursor')[k % 2]}**\n\n{text}\n"
                 for k, text in enumerate(TEXTS))],
}  # fmt: skip
ODD_LINES = {
    "not UTF-8": b"\xff\xfe caf\xe9",
    "NUL": b"a\x00b",
    "control characters": b"\x01\x02\x1b[31m",
    "a mark alone": "\u200e".encode(),
    "line separators": "a\u2028b\u2029c\u0085d".encode(),
    "a million characters": b"x" * 1_000_000,
    "brackets": b"[" * 5_000,
    "a time alone": b"[24.12.23, 21:05:01]",
    "an impossible time": b"31.02.23, 27:61 - Ann: x",
    "an arrow": b"--> -->",
    "an odd cue": b"00:99:99,999 --> xx",
    "a colon": b":",
    "a name alone": b"Ann:",
    "JSON": b'{"a": [1',
    "a lone surrogate": b"\xed\xa0\x80",
}


@pytest.mark.parametrize("odd", ODD_LINES)
@pytest.mark.parametrize("name", TALKS)
def test_an_odd_line_in_a_written_talk_costs_at_most_its_turn(name, odd):
    rows = [row.encode() for row in TALKS[name]]
    data = b"\n".join([*rows, b"", ODD_LINES[odd], b""])
    found = events(Bytes(data, "odd.dat"), name=name)
    told = "\n".join(turn.text for turn in drafts(found))
    assert [text for text in TEXTS[:-1] if text not in told] == []
    assert TEXTS[-1] in told or any(TEXTS[-1] in each.raw for each in only(found, Rejected))
    is_kept = ODD_LINES[odd].decode("utf-8", "replace").strip("\u200e: ") in told
    assert is_kept or only(found, Rejected) or only(found, Ignored) or odd in _TAKEN


_TAKEN = {"a name alone", "an impossible time", "an arrow", "an odd cue", "NUL"}
"""Lines that a format reads as something of its own."""


@pytest.mark.parametrize("name", TALKS)
@pytest.mark.parametrize("damage", [*WHOLE])
def test_a_damaged_talk_is_read_as_far_as_it_goes_or_refused(name, damage):
    source = Bytes(WHOLE[damage]("\n".join(TALKS[name]).encode() + b"\n"), "odd.dat")
    found = _events_or_refusal(source)
    is_harmless = damage in HARMLESS and (damage != "blank lines" or name in _LOOSE)
    if isinstance(found, str):
        assert not is_harmless
        assert "odd.dat" in found
    elif is_harmless:
        told = "\n".join(turn.text for turn in drafts(found))
        assert [text for text in TEXTS if text not in told] == []


_LOOSE = {"whatsapp", "plain_text"}
"""Talks in which a blank line divides nothing; in subtitles it ends a cue."""
