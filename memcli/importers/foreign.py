"""Transcripts of tools that have no importer here yet: named and refused, never misread.

Each entry recognises by content. An entry is silent as soon as an importer of the same name
exists, so a new importer needs no change here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from memcli.importers.contract import Input
from memcli.importers.shape import Shape, shape_of


@dataclass(frozen=True, slots=True)
class Foreign:
    """One such format: its importer's future name, what people call it, how it shows."""

    name: str
    label: str
    evidence: Callable[[Shape, Input], str | None]


def _items_with(*keys: str, kinds: tuple[str, ...]) -> Callable[[Shape, Input], str | None]:
    """Return a recogniser: at least half of the sampled objects have all the keys."""

    def evidence(shape: Shape, _: Input) -> str | None:
        having = [item for item in shape.objects if all(key in item for key in keys)]
        if shape.kind not in kinds or not having or 2 * len(having) < len(shape.objects):
            return None
        return "has " + ", ".join(repr(key) for key in keys)

    return evidence


def _sharegpt(shape: Shape, _: Input) -> str | None:
    if any(isinstance(item.get("conversations"), list) for item in shape.objects):
        return "has lists named 'conversations'"
    return None


def _gemini(shape: Shape, _: Input) -> str | None:
    if any({"sessionId", "projectHash"} <= item.keys() for item in shape.objects[:1]):
        return "begins with 'sessionId' and 'projectHash'"
    return None


def _codex(shape: Shape, _: Input) -> str | None:
    objects = shape.objects
    if shape.kind not in ("lines", "object") or not objects:
        return None
    if any(item.get("type") == "session_meta" or item.keys() == _ROLLOUT for item in objects):
        return "lines have 'timestamp', 'type', 'payload'"
    first = objects[0]
    if "instructions" in first and "role" not in first:
        return "begins with a session record that has 'instructions'"
    return None


_ROLLOUT = {"timestamp", "type", "payload"}


_SRT = re.compile(r"\d+\r?\n\d\d?:\d\d:\d\d[,.]\d{1,3} --> ")


def _subtitles(shape: Shape, _: Input) -> str | None:
    start = shape.text.lstrip("\ufeff \t\r\n")
    if re.match(r"WEBVTT(?:[ \t\r\n]|$)", start):
        return "begins with WEBVTT"
    if _SRT.match(start):
        return "begins with a numbered cue"
    return None


def _cursor_markdown(shape: Shape, _: Input) -> str | None:
    second = shape.text.split("\n")[1:2] if shape.kind == "text" else []
    if any(line.startswith("_Exported on ") and "Cursor (" in line for line in second):
        return "second line says it was exported from Cursor"
    return None


def _cursor_database(_: Shape, source: Input) -> str | None:
    if source.head.startswith(b"SQLite format 3\x00") and b"cursorDiskKV" in source.head:
        return "is an SQLite database with table 'cursorDiskKV'"
    return None


FOREIGN = (
    Foreign(
        "claude_ai", "Claude.ai export", _items_with("chat_messages", kinds=("array", "object"))
    ),
    Foreign("sharegpt", "ShareGPT data", _sharegpt),
    Foreign(
        "openai_finetune", "OpenAI fine-tuning JSONL", _items_with("messages", kinds=("lines",))
    ),
    Foreign("gemini_cli", "Gemini CLI session", _gemini),
    Foreign("codex", "Codex rollout", _codex),
    Foreign("subtitles", "WebVTT or SubRip subtitles", _subtitles),
    Foreign("cursor", "Cursor chat export", _cursor_markdown),
    Foreign("cursor", "Cursor database", _cursor_database),
)


def foreign(source: Input, known: frozenset[str]) -> tuple[Foreign, str] | None:
    """Return the foreign format an input is of and why, or None.

    Args:
        source: The input.
        known: Names of the importers that exist; their entries are skipped.
    """
    shape = shape_of(source)
    for entry in FOREIGN:
        if entry.name not in known and (evidence := entry.evidence(shape, source)):
            return entry, evidence
    return None
