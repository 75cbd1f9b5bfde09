"""Cursor's "Export chat": Markdown with a heading, an export line, and messages below rules.

The first line is ``# title``, the second ``_Exported on … from Cursor (x.y.z)_``. A message
begins with the lines ``---``, nothing, ``**User**`` or ``**Cursor**``, nothing. The same lines
stand within messages, too: a rule or such a name alone begins nothing, and nothing begins
within a fenced block of code. A fence that is never closed is none. There are no times: the
one of the export is in the words of whatever language, and no turn's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memcli.importers.bytestream import lines, rejected
from memcli.importers.contract import (
    Draft,
    Event,
    Ignored,
    Input,
    ReadOptions,
    Rejected,
)
from memcli.importers.shape import shape_of
from memcli.records.evidence import Role

_SPEAKERS: Final[dict[str, Role]] = {"User": "user", "Cursor": "assistant"}
_NAME = re.compile(r"\*\*(User|Cursor)\*\*[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_EXPORTED = re.compile(r"_Exported on .*\bCursor \(")


def recognise(source: Input) -> str | None:
    """Return the evidence that the second line says what exported it, or None."""
    shape = shape_of(source)
    second = shape.text.lstrip("\ufeff\r\n").split("\n", 2)[1:2] if shape.kind == "text" else []
    if any(_EXPORTED.match(line) for line in second):
        return "second line says it was exported from Cursor"
    return None


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the messages in order; one export is one conversation, and held whole."""
    told, damaged = _decoded(source)
    yield from damaged
    starts = _starts(told)
    title = _title(told)
    yield from _before(source, told[: starts[0] - 2] if starts else told)
    ends = [*(start - 2 for start in starts[1:]), len(told)][: len(starts)]
    for start, end in zip(starts, ends, strict=True):
        text = _message(told[start + 1 : end], is_last=end == len(told))
        name = _NAME.fullmatch(told[start])
        if not text.strip() or name is None:
            yield Ignored(kind="empty message")
            continue
        yield Draft(
            role=_SPEAKERS[name[1]],
            speaker=name[1],
            text=text,
            title=title,
            line=start + 1,
        )


def _decoded(source: Input) -> tuple[list[str], list[Rejected]]:
    """Return the lines, and those that are not UTF-8, which are left empty in their place."""
    told, damaged = list[str](), list[Rejected]()
    for line in lines(source):
        try:
            told.append(line.raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            where = f"{source.name}:{line.number}"
            damaged.append(rejected(where, f"not UTF-8 at byte {error.start + 1}", line.raw))
            told.append("")
    return told, damaged


def _title(told: Sequence[str]) -> str | None:
    heads = [line[2:].strip() for line in told[:1] if line.startswith("# ")]
    return (heads or [""])[0] or None


def _before(source: Input, head: Sequence[str]) -> Iterator[Event]:
    """Yield the rejection of what stands above the first message besides heading and rule."""
    words = [line for line in head if line.strip(" \t-") and not line.startswith("# ")]
    rest = [line for line in words if not _EXPORTED.match(line)]
    if rest:
        yield rejected(f"{source.name}:1", "text before the first message", "\n".join(rest))


def _starts(told: Sequence[str]) -> list[int]:
    """Return the indexes of the lines that name who speaks in the message that they begin."""
    fenced = _fenced(told)
    return [
        i
        for i, line in enumerate(told)
        if i >= 2
        and _NAME.fullmatch(line)
        and told[i - 2].rstrip() == "---"
        and not told[i - 1].strip()
        and not fenced[i]
    ]


def _fenced(told: Sequence[str]) -> list[bool]:
    """Return for each line whether it stands within a fenced block that is closed."""
    within, position = [False] * len(told), 0
    unclosed: dict[str, int] = {}
    while position < len(told):
        opened = _FENCE.match(told[position])
        end = _closing(told, position, opened, unclosed) if opened else None
        if end is not None:
            within[position : end + 1] = [True] * (end + 1 - position)
            position = end
        position += 1
    return within


def _closing(
    told: Sequence[str], start: int, opened: re.Match[str], unclosed: dict[str, int]
) -> int | None:
    """Return the line that closes a fence, or None.

    Args:
        told: All lines.
        start: The line that opens it.
        opened: How it does.
        unclosed: Shortest fence of each sort that nothing further down closes; kept up to
            date, so that many of them are not looked for again.
    """
    mark, info = opened.groups()
    sort = mark[0]
    if (sort == "`" and "`" in info) or len(mark) >= unclosed.get(sort, len(mark) + 1):
        return None
    for i in range(start + 1, len(told)):
        closed = _FENCE.match(told[i])
        if closed and closed[1][0] == sort and _closes(closed, len(mark)):
            return i
    unclosed[sort] = len(mark)
    return None


def _closes(fence: re.Match[str], length: int) -> bool:
    return len(fence[1]) >= length and not fence[2].strip()


def _message(body: Sequence[str], *, is_last: bool) -> str:
    """Return a message without the empty lines that set it apart."""
    told = list(body[1:] if body and not body[0].strip() else body)
    if told and not told[-1].strip() and not is_last:
        told.pop()
    return "\n".join(told).rstrip("\n") if is_last else "\n".join(told)
