"""Written dialogue: plain text or Markdown with the speaker's name before the words.

Header forms and the rule for names are in `speakers`. Lines without a header belong to the
turn above; fenced code is never looked into; a Markdown heading before the first turn is the
title; other text before it is kept, a turn a paragraph, by an unknown speaker. A bracketed
time belongs to its turn: ``[09:02]`` takes the date of the last dated turn before it and
``(00:03:10)`` counts from an unknown start, so it is no time. An impossible date keeps the
text and loses only the time, with a warning. No ids, no sessions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta, tzinfo
from itertools import islice

from memcli.importers.bytestream import Line, lines, rejected
from memcli.importers.contract import (
    Draft,
    Event,
    Format,
    Input,
    Moment,
    ReadOptions,
    Rejected,
    Warned,
)
from memcli.importers.moments import clock_on, is_clock, stated
from memcli.importers.shape import bounded, shape_of
from memcli.importers.speakers import Cast, Header, header_of, is_label, looks_personal, role_of

_FENCES = ("```", "~~~")
_TITLE = re.compile(r"#{1,6}[ \t]")
_RULES = frozenset({"---", "***", "___"})
_NEVER = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".yaml", ".yml", ".toml", ".xml", ".html")
SAMPLE_BYTES, SAMPLE_LINES = 8 << 20, 2_000
"""How much of a text recognition looks at, whichever ends first."""
FIRST_HEADER_WITHIN = 12
"""Lines that are not blank before the first turn of a recognised dialogue."""
PLAIN_SHARE = 5
"""Of this many lines that are not blank, one must be a header if only plain names mark them."""
ROLLOVER = timedelta(hours=12)
"""A bare clock this much earlier than the turn before it is past midnight."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A line as text, with the header it may be."""

    line: Line
    text: str
    header: Header | None = None


def _rows(found: Iterable[Line], name: str, stray: Container[int]) -> Iterator[_Row | Rejected]:
    """Yield lines with candidate headers outside fenced code; lines that are not UTF-8 fail.

    Args:
        found: The lines.
        name: The input's name, for rejected lines.
        stray: Lines that look like a fence and open none; see `_stray_fences`.
    """
    fence = ""
    for line in found:
        try:
            text = line.raw.decode("utf-8")
        except UnicodeDecodeError as error:
            where = f"{name}:{line.number}"
            yield rejected(where, f"not UTF-8 at byte {error.start + 1} of the line", line.raw)
            continue
        if line.number in stray or not (mark := _fence(text, fence)):
            yield _Row(line, text, None if fence else header_of(text))
        else:
            fence = "" if fence else mark
            yield _Row(line, text)


def _fence(text: str, opened: str) -> str:
    """Return the mark of a line that opens a fence or closes the opened one, else nothing."""
    bare = text.strip()
    mark = bare[:3] if bare.startswith(_FENCES) else ""
    closes = mark == opened and not bare.strip(mark[:1])
    return mark if closes or not opened else ""


def _stray_fences(found: Iterable[Line]) -> frozenset[int]:
    """Return the line of a fence that is never closed: it is a slip, not the end of the talk."""
    opened, number = "", 0
    for line in found:
        if mark := _fence(line.raw[:80].decode("utf-8", "surrogateescape"), opened):
            opened, number = ("", 0) if opened else (mark, line.number)
    return frozenset({number} - {0})


def recognise(source: Input) -> str | None:
    """Return the names that speak, or None where too little of the text is dialogue."""
    shape = shape_of(source)
    if shape.kind != "text" or source.name.lower().endswith(_NEVER):
        return None
    sample = list(islice(bounded(lines(source), SAMPLE_BYTES), SAMPLE_LINES))
    found = _rows(sample, source.name, _stray_fences(sample))
    rows = [row for row in found if isinstance(row, _Row) and row.text.strip()]
    cast = Cast((row.header for row in rows if row.header), len(rows))
    begins = [at for at, row in enumerate(rows) if row.header and cast.includes(row.header)]
    spoken = [header for at in begins if (header := rows[at].header)]
    if len(spoken) < 2 or begins[0] >= FIRST_HEADER_WITHIN or not _is_dialogue(spoken, len(rows)):
        return None
    if _is_form(spoken, [row.header for row in rows if row.header]):
        return None
    names = sorted({header.name for header in spoken})
    return f"{len(spoken)} turns begin with a name: {', '.join(names[:4])}"


def _is_dialogue(spoken: list[Header], row_count: int) -> bool:
    """Say whether headers are marked, name the usual roles, or are dense enough."""
    roles = {role_of(header.name) for header in spoken}
    names = {header.key for header in spoken}
    if "assistant" in roles or all(header.stamp for header in spoken):
        return True
    if all(header.form != "plain" for header in spoken):
        return len(names) >= 2
    if len(names) == 1 and spoken[0].name[0].islower():
        return False
    if len(names) == len(spoken) and not all(looks_personal(each.name) for each in spoken):
        return False
    return PLAIN_SHARE * len(spoken) >= row_count and 2 * len(names) <= len(spoken) + 2


def _is_form(spoken: list[Header], candidates: list[Header]) -> bool:
    """Say whether labels stand more often than names, or as often and first: ``Name: Ida``."""
    labels = Counter(each.key for each in candidates if is_label(each.name))
    names = Counter(header.key for header in spoken)
    is_plain = all(header.form == "plain" and not header.stamp for header in spoken)
    lead = max(labels.values(), default=0) - max(names.values())
    return is_plain and (lead > 0 or (lead == 0 and is_label(candidates[0].name)))


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns in order; fences and names are decided on passes of their own."""
    stray = _stray_fences(lines(source))
    reader = _Reader(source.name, options.tz, _cast(source, stray))
    for row in _rows(lines(source), source.name, stray):
        if isinstance(row, Rejected):
            yield row
        else:
            yield from reader.feed(row)
    yield from reader.close(None)


def _cast(source: Input, stray: Container[int]) -> Cast:
    """Return the speakers of a whole text; nothing of it is kept but names and counts."""
    line_count = sum(1 for line in lines(source) if line.raw.strip())
    rows = _rows(lines(source), source.name, stray)
    return Cast((row.header for row in rows if isinstance(row, _Row) and row.header), line_count)


@dataclass(slots=True)
class _Turn:
    """The turn being read: its header (None before the first) and the lines so far."""

    header: Header | None
    number: int
    time: Moment | None = None
    body: list[str] = field(default_factory=list)


class _Reader:
    """Collects lines into turns; remembers the title and the last date."""

    def __init__(self, name: str, tz: tzinfo, cast: Cast) -> None:
        self._name, self._tz, self._cast = name, tz, cast
        self._title: str | None = None
        self._dated: Moment | None = None
        self._turn: _Turn | None = None

    def feed(self, row: _Row) -> Iterator[Event]:
        """Yield the turn that a line ends, if it does."""
        if row.header and self._cast.includes(row.header):
            yield from self.close(row.header)
            yield from self._begin(row.header, row.line.number)
        elif self._turn is None and self._title is None and _TITLE.match(row.text):
            self._title = row.text.lstrip("#").strip() or None
        elif row.text.strip() or (self._turn and self._turn.header):
            self._turn = self._turn or _Turn(None, row.line.number)
            self._turn.body.append(row.text)
        else:
            yield from self.close(None)

    def _begin(self, header: Header, number: int) -> Iterator[Event]:
        time = self._time(header)
        if time is None and header.stamp and not header.is_offset and self._is_odd(header.stamp):
            where = f"{self._name}:{number}"
            yield Warned(where=where, reason=f"{header.stamp!r} is not understood as a time")
        self._turn = _Turn(header, number, time, [header.said])

    def _is_odd(self, stamp: str) -> bool:
        """Say whether a stamp that gave no time should have given one."""
        return self._dated is not None or not is_clock(stamp)

    def _time(self, header: Header) -> Moment | None:
        """Return the time of a header, and remember it where it has a date."""
        if not header.stamp or header.is_offset:
            return None
        if not is_clock(header.stamp):
            time = stated(header.stamp, self._tz)
        elif self._dated is None:
            return None
        else:
            time = clock_on(self._dated.at, header.stamp, self._tz)
            if time and self._dated.at - time.at > ROLLOVER:
                time = clock_on(self._dated.at + timedelta(days=1), header.stamp, self._tz)
        self._dated = time or self._dated
        return time

    def close(self, following: Header | None) -> Iterator[Event]:
        """Yield the turn read so far; ``following`` is the header that ends it."""
        turn, self._turn = self._turn, None
        if turn is None:
            return
        text = "\n".join(_trimmed(turn.body, following))
        if turn.header is None and (not text or text.strip() in _RULES):
            return
        name = turn.header.name if turn.header else None
        yield Draft(
            role=role_of(name) if name else "user",
            text=text,
            speaker=name,
            time=turn.time,
            title=self._title,
            line=turn.number,
        )


def _trimmed(body: list[str], following: Header | None) -> list[str]:
    """Return a turn's lines without blank ones at either end and the rule before a heading."""
    start, end = 0, len(body)
    while start < end and not body[start].strip():
        start += 1
    end = _last_said(body, start, end)
    if following and following.form != "plain" and end > start and body[end - 1].strip() in _RULES:
        end = _last_said(body, start, end - 1)
    return body[start:end]


def _last_said(body: list[str], start: int, end: int) -> int:
    """Return the end of the lines that are not blank."""
    while end > start and not body[end - 1].strip():
        end -= 1
    return end


FORMAT = Format(
    name="plain_text",
    label="plain text or Markdown dialogue",
    recognise=recognise,
    read=read,
    rank=90,
)
