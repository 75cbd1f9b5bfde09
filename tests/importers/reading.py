"""Helpers of the importer tests: an input from bytes, the events of an input, the samples."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from datetime import UTC, tzinfo
from pathlib import Path

import pytest

from memcli.importers.contract import HEAD_BYTES, Draft, Event, ReadOptions
from memcli.importers.detect import Source, detect, gather
from memcli.importers.inputs import Unreadable

SHARED = Path(__file__).resolve().parents[3] / "shared"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared samples are not here")


class Bytes:
    """An input held in memory."""

    def __init__(self, data: bytes, name: str = "file") -> None:
        self.name, self.head, self.is_whole = name, data[:HEAD_BYTES], len(data) <= HEAD_BYTES
        self._data = data

    def open(self) -> io.BytesIO:
        return io.BytesIO(self._data)


def as_input(value: object, name: str = "file.json") -> Bytes:
    """Return bytes or text as they are, anything else as one JSON document."""
    if isinstance(value, bytes):
        return Bytes(value, name)
    text = value if isinstance(value, str) else json.dumps(value)
    return Bytes(text.encode("utf-8"), name)


def as_lines(values: Iterable[object], name: str = "file.jsonl") -> Bytes:
    """Return values as JSONL."""
    return as_input("".join(json.dumps(value) + "\n" for value in values), name)


def events(source: Bytes, *, name: str | None = None, tz: tzinfo = UTC) -> list[Event]:
    """Return the events of an input, its format recognised or named."""
    return list(detect(source, name=name).format.read(source, ReadOptions(tz=tz)))


def drafts(found: Iterable[Event]) -> list[Draft]:
    """Return the turns among events."""
    return [event for event in found if isinstance(event, Draft)]


def only(found: Iterable[Event], kind: type) -> list:
    """Return the events of one class."""
    return [event for event in found if isinstance(event, kind)]


def read_paths(*paths: Path, tz: tzinfo = UTC) -> dict[str, tuple[str, list[Event]]]:
    """Return format and events of every readable source behind paths, by input name."""
    found = dict[str, tuple[str, list[Event]]]()
    for source in gather(paths):
        if isinstance(source, Source):
            read = source.format.read(source.input, ReadOptions(tz=tz))
            found[source.input.name] = (source.format.name, list(read))
    return found


def refusals(*paths: Path) -> dict[str, str]:
    """Return the message of every unreadable input behind paths, by name."""
    return {each.name: each.error.message for each in gather(paths) if isinstance(each, Unreadable)}


def iso(draft: Draft) -> str | None:
    """Return a turn's time as text, or None."""
    return draft.time.at.isoformat() if draft.time else None
