"""Record ↔ JSON line: the only place that knows how records look on disk.

A line is UTF-8 JSON with sorted keys and no raw line break, so a store can be read with any
JSON tool. Text that UTF-8 cannot hold (a lone surrogate, which damaged exports contain) is
written as a JSON escape and read back unchanged. Unknown fields are kept in ``extra`` and
written again; a missing or ill-typed field raises `RecordError` with file, line and field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

import orjson

from memcli.errors import RecordError
from memcli.records.evidence import Branch, Granularity, Role, Source, Turn

_ROLES = frozenset(get_args(Role))
_BRANCHES = frozenset(get_args(Branch))
_GRANULARITIES = frozenset(get_args(Granularity))
_TURN_FIELDS = frozenset(f.name for f in fields(Turn)) - {"extra"}


def dumps(value: object) -> bytes:
    """Return ``value`` as one line of JSON with sorted keys, without the line break."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # orjson refuses lone surrogates and integers beyond 64 bits
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def loads(line: bytes | str) -> Any:
    """Return the value of one JSON document.

    Raises:
        ValueError: If it is not JSON.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:  # a lone surrogate or a huge integer is JSON all the same
        text = line.decode("utf-8", "strict") if isinstance(line, bytes) else line
        return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def turn_to_dict(turn: Turn) -> dict[str, object]:
    """Return the turn as plain JSON values; every field present, nulls included."""
    source = turn.source
    return {
        **turn.extra,
        "id": turn.id,
        "conversation": turn.conversation,
        "session": turn.session,
        "seq": turn.seq,
        "speaker": turn.speaker,
        "role": turn.role,
        "text": turn.text,
        "time": turn.time,
        "time_granularity": turn.time_granularity,
        "source": {
            "format": source.format,
            "file": source.file,
            "native_id": source.native_id,
            "line": source.line,
        },
        "branch": turn.branch,
        "caption": turn.caption,
        "title": turn.title,
        "tokens": turn.tokens,
    }


def turn_to_line(turn: Turn) -> bytes:
    """Return the turn's line in ``turns.jsonl``, line break included."""
    return dumps(turn_to_dict(turn)) + b"\n"


def turn_from_line(line: bytes, *, path: str = "turns.jsonl", number: int | None = None) -> Turn:
    """Return the turn a line holds.

    Args:
        line: One line, with or without its line break.
        path: File name for error messages.
        number: 1-based line for error messages, or None.

    Raises:
        RecordError: If the line is not a turn; it names the file, line and field.
    """
    try:
        data = loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(path, number, "", f"is not JSON ({error})") from error
    reader = Fields(data, path, number)
    source = Fields(reader.get("source", dict), path, number)
    extra = {key: value for key, value in data.items() if key not in _TURN_FIELDS}
    return Turn(
        id=reader.get("id", str),
        conversation=reader.get("conversation", str),
        session=reader.get("session", str),
        seq=reader.get("seq", int),
        speaker=reader.optional("speaker", str),
        role=reader.choice("role", _ROLES),
        text=reader.get("text", str),
        time=reader.optional("time", str),
        time_granularity=reader.optional_choice("time_granularity", _GRANULARITIES),
        source=Source(
            format=source.get("format", str),
            file=source.get("file", str),
            native_id=source.optional("native_id", str),
            line=source.optional("line", int),
        ),
        branch=reader.choice("branch", _BRANCHES),
        caption=reader.optional("caption", str),
        title=reader.optional("title", str),
        tokens=reader.get("tokens", int),
        extra=extra,
    )


class Fields:
    """Typed access to a JSON object; every complaint names file, line and field.

    Args:
        data: What the JSON held.
        path: File for messages.
        number: 1-based line for messages, or None.

    Raises:
        RecordError: From here and every method, for what is missing or ill-typed.
    """

    def __init__(self, data: object, path: str, number: int | None) -> None:
        if not isinstance(data, Mapping):
            raise RecordError(path, number, "", "is not a JSON object")
        self._data, self._path, self._number = data, path, number

    def bad(self, name: str, reason: str) -> RecordError:
        """Return the error to raise about a field."""
        return RecordError(self._path, self._number, name, reason)

    def get(self, name: str, kind: type) -> Any:
        """Return the value of a field that must be there and of that type."""
        if name not in self._data:
            raise self.bad(name, "is missing")
        value = self._data[name]
        if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
            raise self.bad(name, f"is not of type {kind.__name__}")
        return value

    def optional(self, name: str, kind: type) -> Any:
        """Return the field's value, None where it is null or missing."""
        return None if self._data.get(name) is None else self.get(name, kind)

    def choice(self, name: str, allowed: frozenset[str]) -> Any:
        """Return a string that must be one of ``allowed``."""
        value = self.get(name, str)
        if value not in allowed:
            raise self.bad(name, f"is {value!r}, not one of {', '.join(sorted(allowed))}")
        return value

    def optional_choice(self, name: str, allowed: frozenset[str]) -> Any:
        """Return `choice`, None where the field is null or missing."""
        return None if self._data.get(name) is None else self.choice(name, allowed)
