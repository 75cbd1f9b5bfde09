"""Small documents of every JSON format, and ways to damage one record or the whole file."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TEXTS = ("a walnut boat", "the tide at dawn", "blue paint dries", "ropes to mend", "lamp is lit")
DAMAGED = 2
"""Which of the five records is damaged."""
HOLE = "@HOLE@"
"""Stands in a document where raw bytes are put in its place."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """One format: how its records look and how they are packed.

    Attributes:
        name: The format's name.
        record: Makes a record from its number, its text and a mark that keeps files apart.
        pack: Makes a document of records.
        text: Path of the words in a record.
        id: Path of the record's own id, None where there is none.
        time: Path of its time.
        parent: Path of the id of the record before it.
        is_rewritten: Whether a record with the id of an earlier one takes its place.
        is_whole: Whether JSON that does not parse costs the whole document by its nature.
    """

    name: str
    record: Callable[[int, str, str], Record]
    pack: Callable[[list[Any], str], str]
    text: tuple[str | int, ...]
    id: tuple[str | int, ...] | None = None
    time: tuple[str | int, ...] | None = None
    parent: tuple[str | int, ...] | None = None
    is_whole: bool = False
    is_rewritten: bool = False


def lines(records: list[Any], _: str) -> str:
    return "".join(json.dumps(each) + "\n" for each in records)


def array(records: list[Any], _: str) -> str:
    return json.dumps(records)


def _who(number: int) -> str:
    return ("user", "assistant")[number % 2]


def _stamp(number: int) -> str:
    return f"2026-01-05T10:00:0{number}.000Z"


def chatgpt_node(number: int, text: str, mark: str) -> Record:
    return {
        "id": f"{mark}n{number}",
        "parent": f"{mark}n{number - 1}" if number else None,
        "children": [f"{mark}n{number + 1}"] if number < len(TEXTS) - 1 else [],
        "message": {
            "id": f"{mark}m{number}",
            "author": {"role": _who(number)},
            "create_time": 1714500001.5 + number,
            "content": {"content_type": "text", "parts": [text]},
        },
    }


def chatgpt_pack(records: list[Any], mark: str) -> str:
    mapping = {f"{mark}n{number}": each for number, each in enumerate(records)}
    last = f"{mark}n{len(records) - 1}"
    return json.dumps([{"id": mark, "title": "T", "current_node": last, "mapping": mapping}])


def claude_ai_message(number: int, text: str, mark: str) -> Record:
    return {
        "uuid": f"{mark}m{number}",
        "text": text,
        "content": [{"type": "text", "text": text}],
        "sender": ("human", "assistant")[number % 2],
        "created_at": f"2026-01-05T10:00:0{number}.000000Z",
        "attachments": [],
        "files": [],
        "parent_message_uuid": f"{mark}m{number - 1}" if number else None,
    }


def claude_ai_pack(records: list[Any], mark: str) -> str:
    head = {"uuid": mark, "name": "N", "created_at": "2026-01-05T10:00:00.000000Z"}
    return json.dumps([{**head, "account": {"uuid": "a"}, "chat_messages": records}])


def claude_code_line(number: int, text: str, mark: str) -> Record:
    return {
        "type": _who(number),
        "uuid": f"{mark}u{number}",
        "parentUuid": f"{mark}u{number - 1}" if number else None,
        "sessionId": mark,
        "timestamp": _stamp(number),
        "message": {"role": _who(number), "content": [{"type": "text", "text": text}]},
    }


def codex_line(number: int, text: str, _: str) -> Record:
    kind = ("input_text", "output_text")[number % 2]
    message = {"type": "message", "role": _who(number), "content": [{"type": kind, "text": text}]}
    return {"timestamp": _stamp(number), "type": "response_item", "payload": message}


def codex_pack(records: list[Any], mark: str) -> str:
    meta = {"timestamp": _stamp(0), "type": "session_meta", "payload": {"id": mark, "cwd": "/"}}
    return lines([meta, *records], mark)


def gemini_message(number: int, text: str, mark: str) -> Record:
    return {
        "id": f"{mark}g{number}",
        "timestamp": _stamp(number),
        "type": ("user", "gemini")[number % 2],
        "content": text,
    }


def gemini_head(mark: str) -> Record:
    return {"sessionId": mark, "projectHash": "h", "startTime": _stamp(0), "lastUpdated": _stamp(9)}


def openai_message(number: int, text: str, _: str) -> Record:
    return {"role": _who(number), "content": text, "timestamp": 1714665800 + number}


def sharegpt_turn(number: int, text: str, _: str) -> Record:
    return {"from": ("human", "gpt")[number % 2], "value": text}


def locomo_turn(number: int, text: str, _: str) -> Record:
    return {"speaker": ("Ann", "Bo")[number % 2], "dia_id": f"D1:{number + 1}", "text": text}


def locomo_pack(records: list[Any], mark: str) -> str:
    session = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": records}
    talk = {"speaker_a": "Ann", "speaker_b": "Bo", **session}
    return json.dumps([{"sample_id": mark, "conversation": talk, "qa": []}])


def longmemeval_pack(records: list[Any], mark: str) -> str:
    asked = {"question_id": mark, "question_type": "t", "question": "?", "answer": "a"}
    dates = {
        "question_date": "2023/06/20 (Tue) 02:21",
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
    }
    held = {"haystack_session_ids": [f"{mark}s"], "haystack_sessions": [records]}
    return json.dumps([{**asked, **dates, **held}])


def longmemeval_turn(number: int, text: str, _: str) -> Record:
    return {"role": _who(number), "content": text}


def telegram_message(number: int, text: str, _: str) -> Record:
    return {
        "id": number + 1,
        "type": "message",
        "date": f"2023-11-05T00:30:0{number}",
        "date_unixtime": str(1699133400 + number),
        "from": "Juna",
        "from_id": "user1",
        "text": text,
    }


def telegram_chat(records: list[Any], mark: str) -> Record:
    return {"name": "Boatshed", "type": "private_group", "id": mark, "messages": records}


def telegram_account(records: list[Any], mark: str) -> str:
    return json.dumps({"about": "", "chats": {"about": "", "list": [telegram_chat(records, mark)]}})


def discord_message(number: int, text: str, _: str) -> Record:
    return {
        "id": str(1000 + number),
        "type": "Default",
        "timestamp": f"2024-01-31T23:50:0{number}.379+02:00",
        "content": text,
        "author": {"id": "11", "name": "moth"},
    }


def discord_pack(records: list[Any], mark: str) -> str:
    return json.dumps(
        {
            "guild": {"id": "7", "name": "G"},
            "channel": {"id": mark, "name": "general"},
            "messages": records,
            "messageCount": len(records),
        }
    )


def slack_message(number: int, text: str, _: str) -> Record:
    return {"type": "message", "user": "U1", "text": text, "ts": f"{1709540000 + number}.000100"}


KINDS = {
    "chatgpt": Kind(
        "chatgpt", chatgpt_node, chatgpt_pack,
        text=("message", "content", "parts", 0), id=("message", "id"),
        time=("message", "create_time"), parent=("parent",), is_whole=True,
    ),
    "claude_ai": Kind(
        "claude_ai", claude_ai_message, claude_ai_pack,
        text=("content", 0, "text"), id=("uuid",), time=("created_at",),
        parent=("parent_message_uuid",), is_whole=True,
    ),
    "claude_code": Kind(
        "claude_code", claude_code_line, lines, text=("message", "content", 0, "text"),
        id=("uuid",), time=("timestamp",), parent=("parentUuid",),
    ),
    "codex": Kind(
        "codex", codex_line, codex_pack, text=("payload", "content", 0, "text"),
        time=("timestamp",),
    ),
    "gemini_lines": Kind(
        "gemini_cli", gemini_message, lambda found, mark: lines([gemini_head(mark), *found], mark),
        text=("content",), id=("id",), time=("timestamp",), is_rewritten=True,
    ),
    "gemini_object": Kind(
        "gemini_cli", gemini_message,
        lambda found, mark: json.dumps({**gemini_head(mark), "messages": found}),
        text=("content",), id=("id",), time=("timestamp",), is_whole=True,
    ),
    "openai_array": Kind(
        "openai_chat", openai_message, array, text=("content",), time=("timestamp",)
    ),
    "openai_lines": Kind(
        "openai_chat", openai_message, lines, text=("content",), time=("timestamp",)
    ),
    "openai_finetune": Kind(
        "openai_finetune", longmemeval_turn,
        lambda found, mark: lines([{"messages": [each]} for each in found], mark),
        text=("content",),
    ),
    "sharegpt": Kind(
        "sharegpt", sharegpt_turn,
        lambda found, mark: json.dumps([{"id": mark, "conversations": found}]),
        text=("value",), is_whole=True,
    ),
    "locomo": Kind(
        "locomo", locomo_turn, locomo_pack, text=("text",), id=("dia_id",), is_whole=True
    ),
    "longmemeval": Kind(
        "longmemeval", longmemeval_turn, longmemeval_pack, text=("content",), is_whole=True
    ),
    "telegram_chat": Kind(
        "telegram", telegram_message,
        lambda found, mark: json.dumps(telegram_chat(found, mark)),
        text=("text",), id=("id",), time=("date_unixtime",),
    ),
    "telegram_account": Kind(
        "telegram", telegram_message, telegram_account,
        text=("text",), id=("id",), time=("date_unixtime",),
    ),
    "discord": Kind(
        "discord", discord_message, discord_pack,
        text=("content",), id=("id",), time=("timestamp",),
    ),
    "slack": Kind("slack", slack_message, array, text=("text",), id=("ts",)),
}  # fmt: skip


def _put(record: Record, path: tuple[str | int, ...], value: object) -> Record:
    changed = copy.deepcopy(record)
    holder: Any = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return changed


def _without(record: Record, path: tuple[str | int, ...]) -> Record:
    changed = copy.deepcopy(record)
    holder: Any = changed
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    return changed


DEEP = b"[" * 100 + b"]" * 100
DEEPEST = b"[" * 50_000 + b"]" * 50_000
RAW_TEXTS = {
    "lone surrogate": rb'"\ud800x"',
    "NUL": rb'"a\u0000b"',
    "deep": DEEP,
    "deepest": DEEPEST,
    "bad escape": rb'"a\q"',
    "not UTF-8": b'"caf\xe9"',
    "control character": b'"a\x01b"',
    "huge number": b"9" * 5_000,
    "not a number": b"NaN",
}
TEXTS_OF_WRONG_TYPE = (5, None, True, {}, [], [1, [2]], {"a": 1}, {"text": {"text": {}}}, 1e300, "")
ODD_IDS = (None, True, {}, [], "", 1.5, -1, "x" * 5_000, "\u0000", "\u2028", 10**400)
ODD_TIMES = ("soon", -1, 0, 10**400, 1e300, [], {}, True, "", "2026-13-45T99:99:99Z", "9" * 400)
ODD_RECORDS = (7, None, "x", [], {}, True, [[]], 1e300)


def damages(kind: Kind) -> dict[str, tuple[Any, bytes]]:
    """Return damaged records by what is wrong, and the bytes that belong in their hole."""
    record = kind.record(DAMAGED, TEXTS[DAMAGED], "@MARK@")
    first = kind.record(0, TEXTS[0], "@MARK@")
    found: dict[str, tuple[Any, bytes]] = {
        f"text {name}": (_put(record, kind.text, HOLE), raw) for name, raw in RAW_TEXTS.items()
    }
    for value in TEXTS_OF_WRONG_TYPE:
        found[f"text {value!r}"] = (_put(record, kind.text, value), b"")
    found["text missing"] = (_without(record, kind.text), b"")
    for value in ODD_RECORDS:
        found[f"record {value!r}"] = (value, b"")
    found["record repeated"] = (first, b"")
    for place, values in ((kind.id, ODD_IDS), (kind.time, ODD_TIMES)):
        for value in values if place else ():
            found[f"{place} {str(value)[:20]!r}"] = (_put(record, place, value), b"")
        if place:
            found[f"{place} missing"] = (_without(record, place), b"")
            found[f"{place} NaN"] = (_put(record, place, HOLE), b"NaN")
            found[f"{place} huge"] = (_put(record, place, HOLE), b"1" * 5_000)
    if kind.id:
        own = _at(first, kind.id)
        if not kind.is_rewritten:
            found["id of another"] = (_put(record, kind.id, own), b"")
    if kind.parent:
        for name, number in (("itself", 2), ("a later one", 4), ("nothing", 99)):
            other = str(_at(record, kind.parent))[:-1] + str(number)
            found[f"parent is {name}"] = (_put(record, kind.parent, other), b"")
        found["parent 5"] = (_put(record, kind.parent, 5), b"")
    return found


def _at(record: Record, path: tuple[str | int, ...]) -> Any:
    for key in path:
        record = record[key]  # type: ignore[index]
    return record


def document(kind: Kind, damaged: Any, hole: bytes, mark: str) -> bytes:
    """Return a document of five records, the third one damaged."""
    records = [kind.record(number, text, mark) for number, text in enumerate(TEXTS)]
    records[DAMAGED] = json.loads(json.dumps(damaged).replace("@MARK@", mark))
    return kind.pack(records, mark).encode().replace(json.dumps(HOLE).encode(), hole)
