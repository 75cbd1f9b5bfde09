"""Lines of written dialogue: what each may be, before it is decided who speaks.

A line may be a header (`headers`) or a date (`stamps`); inside fenced code it is neither.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace

from memcli.importers.bytestream import Line, rejected
from memcli.importers.contract import Rejected
from memcli.importers.headers import Header, header_of
from memcli.importers.labels import is_label
from memcli.importers.moments import is_clock
from memcli.importers.stamps import Day, day_of

_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Row:
    """A line as text, with the header it may be, or the date that it is.

    Attributes:
        is_division: True for a date that a turn or another date follows, or that no turn
            precedes; other dates divide only a text that is not between user and assistant.
    """

    line: Line
    text: str
    header: Header | None = None
    day: Day | None = None
    is_division: bool = False


def read_rows(found: Iterable[Line], name: str, stray: Container[int]) -> Iterator[Row | Rejected]:
    """Yield lines with the header or the date that each may be.

    Args:
        found: The lines.
        name: The input's name, for rejected lines.
        stray: Lines that look like a fence and open none; see `stray_fences`.
    """
    return _divided(_rows(found, name, stray))


def _rows(found: Iterable[Line], name: str, stray: Container[int]) -> Iterator[Row | Rejected]:
    """Yield lines with candidates outside fenced code; lines that are not UTF-8 fail."""
    fence = ""
    for line in found:
        try:
            text = line.raw.decode("utf-8")
        except UnicodeDecodeError as error:
            where = f"{name}:{line.number}"
            yield rejected(where, f"not UTF-8 at byte {error.start + 1} of the line", line.raw)
            continue
        if line.number in stray or not (mark := _fence(text, fence)):
            day = None if fence else day_of(text)
            yield Row(line, text, None if fence or day else header_of(text), day)
        else:
            fence = "" if fence else mark
            yield Row(line, text)


def _divided(rows: Iterable[Row | Rejected]) -> Iterator[Row | Rejected]:
    """Yield rows; a date keeps its `Day` only where it stands like a date of what follows.

    A bare or bold date is words unless nobody has spoken yet, or a header follows and a blank
    line, a weekday or a clock without date shows that it is not an answer.
    """
    held, last = list[Row | Rejected](), Row(Line(0, b""), "")
    has_spoken = is_apart = False
    for row in rows:
        if isinstance(row, Rejected) and not held:
            yield row
            continue
        if isinstance(row, Rejected) or (held and not row.text.strip()):
            held.append(row)
            continue
        if held and isinstance(dated := held[0], Row):
            yield _decided(dated, row, last, is_apart=is_apart, has_spoken=has_spoken)
            yield from held[1:]
            last, held = dated, []
            is_apart = False
        if row.day:
            held = [row]
            continue
        yield row
        is_apart = not row.text.strip()
        last = last if is_apart else row
        has_spoken = has_spoken or (row.header is not None and not is_label(row.header.name))
    yield from (replace(row, day=None) if isinstance(row, Row) else row for row in held)


def _decided(row: Row, after: Row, last: Row, *, is_apart: bool, has_spoken: bool) -> Row:
    """Return a row that is a date, without its date where it is somebody's words."""
    if not row.day or not has_spoken:
        return replace(row, is_division=True)
    header = after.header
    is_followed = bool(after.day) or (header is not None and not is_label(header.name))
    if row.day.is_framed:
        return replace(row, is_division=is_followed)
    is_answer = last.header is not None and not last.header.said.strip()
    clocked = header is not None and bool(header.stamp) and is_clock(header.stamp)
    is_set_off = is_apart or row.day.has_weekday or clocked or last.day is not None
    if is_followed and is_set_off and not is_answer:
        return replace(row, is_division=True)
    return replace(row, day=None)


def _fence(text: str, opened: str) -> str:
    """Return the mark of a line that opens a fence or closes the opened one, else nothing."""
    if "```" not in text and "~~~" not in text:
        return ""
    bare = text.strip()
    mark = bare[:3] if bare.startswith(_FENCES) else ""
    closes = mark == opened and not bare.strip(mark[:1])
    return mark if closes or not opened else ""


def stray_fences(found: Iterable[Line]) -> frozenset[int]:
    """Return the line of a fence that is never closed: it is a slip, not the end of the talk."""
    opened, number = "", 0
    for line in found:
        if b"```" not in line.raw and b"~~~" not in line.raw:
            continue
        if mark := _fence(line.raw[:80].decode("utf-8", "surrogateescape"), opened):
            opened, number = ("", 0) if opened else (mark, line.number)
    return frozenset({number} - {0})
