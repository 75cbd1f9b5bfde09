"""Written dialogue: plain text or Markdown with the speaker's name before the words.

Header forms are in `headers`, the rule for names in `speakers`, forms of times in `stamps`. Lines
without a header belong to the turn above; fenced code is never looked into; a Markdown heading
before the first turn is the title; other text before it is kept, a turn a paragraph, by an
unknown speaker. A time belongs to its turn: a clock alone takes the date of the last dated
turn or date line before it and ``(00:03:10)`` counts from an unknown start, so it is no time.
A date on a line of its own is nobody's words: it dates the turns below it. An impossible date
keeps the text and loses only the time, with a warning; so do numeric dates whose order of day
and month nothing in the file proves. No ids, no sessions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, timedelta, tzinfo
from itertools import islice

from memcli.errors import SourceFormatError
from memcli.importers.bytestream import lines
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
from memcli.importers.headers import Header
from memcli.importers.labels import is_label
from memcli.importers.moments import (
    Order,
    clock_on,
    is_clock,
    numeric,
    numeric_pair,
    order_of,
    stated,
)
from memcli.importers.rows import Row, read_rows, stray_fences
from memcli.importers.shape import bounded, shape_of
from memcli.importers.speakers import Cast, is_value, looks_personal, role_of
from memcli.importers.stamps import Day

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
SHAPES = (
    'plain_text reads "[2024-05-31 18:20] Ann: hello", "2024-05-31 18:20 Ann: hello", '
    '"Ann: hello", "**Ann:** hello"'
)
"""The hint of a refusal: what a line must look like."""
MOST_DOUBTS = 20
"""Warnings about names that were taken for words, in one file; the rest are counted."""
_ORDERS: dict[str, Order] = {"dmy": "day first", "mdy": "month first"}
_OPEN_ENDS = (":", ",", "：", "，", ";", "(")
_FULL_ENDS = tuple(".!?…\"')]»”’。！？")
_ITEMS = re.compile(r"[ \t]|[-*+>|•][ \t]|\d{1,3}[.)][ \t]")


def recognise(source: Input) -> str | None:
    """Return the names that speak, or None where too little of the text is dialogue."""
    shape = shape_of(source)
    if shape.kind != "text" or source.name.lower().endswith(_NEVER):
        return None
    sample = list(islice(bounded(lines(source), SAMPLE_BYTES), SAMPLE_LINES))
    found = read_rows(sample, source.name, stray_fences(sample))
    rows = [row for row in found if isinstance(row, Row) and row.text.strip() and not row.day]
    cast = Cast(row.header for row in rows)
    begins = [at for at, row in enumerate(rows) if row.header and cast.includes(row.header)]
    spoken = [header for at in begins if (header := rows[at].header)]
    if len(spoken) < 2 or begins[0] >= FIRST_HEADER_WITHIN or not _is_dialogue(spoken, len(rows)):
        return None
    if _is_form(spoken, [row.header for row in rows if row.header]) or _is_table(spoken):
        return None
    names = sorted({header.name for header in spoken})
    return f"{len(spoken)} turns begin with a name: {', '.join(names[:4])}"


def _is_dialogue(spoken: list[Header], row_count: int) -> bool:
    """Say whether headers are marked, name the usual roles, or are dense enough."""
    roles = {role_of(header.name) for header in spoken}
    names = {header.key for header in spoken}
    if "assistant" in roles:
        return True
    if all(header.stamp for header in spoken):
        return not any(header.is_bare for header in spoken) or _is_chat(spoken)
    if all(header.form != "plain" for header in spoken):
        return len(names) >= 2
    if len(names) == 1 and spoken[0].name[0].islower():
        return False
    if len(names) == len(spoken) and not all(looks_personal(each.name) for each in spoken):
        return False
    return PLAIN_SHARE * len(spoken) >= row_count and 2 * len(names) <= len(spoken) + 2


def _is_chat(spoken: list[Header]) -> bool:
    """Say whether names after times without brackets come back as names in a talk do.

    With clocks alone it could be a programme of a day: then two must speak, one of them twice.
    """
    names = {header.key for header in spoken}
    if 2 * len(names) > len(spoken) + 2:
        return False
    return not all(is_clock(each.stamp) for each in spoken) or 2 <= len(names) < len(spoken)


def _is_table(spoken: list[Header]) -> bool:
    """Say whether four of five lines say a quantity: ``Flour: 200 g``."""
    plain = [header for header in spoken if header.form == "plain"]
    return bool(plain) and 5 * sum(is_value(each.said) for each in plain) >= 4 * len(plain)


def _is_form(spoken: list[Header], candidates: list[Header]) -> bool:
    """Say whether labels stand more often than names, or as often and first: ``Name: Ida``."""
    labels = Counter(each.key for each in candidates if is_label(each.name))
    names = Counter(header.key for header in spoken)
    is_plain = all(header.form == "plain" and not header.stamp for header in spoken)
    lead = max(labels.values(), default=0) - max(names.values())
    return is_plain and (lead > 0 or (lead == 0 and is_label(candidates[0].name)))


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns in order; fences, names and dates are decided on passes of their own.

    Raises:
        SourceFormatError: Before the first event, if nobody speaks in the text.
    """
    stray = stray_fences(lines(source))
    survey = _survey(source, stray)
    if not any(_spoken(row, survey.cast) for row in _all_rows(source, stray)):
        raise SourceFormatError(f"{source.name}: no line begins with a speaker", hint=SHAPES)
    stated = _ORDERS.get(options.date_order or "")
    reader = _Reader(source.name, options.tz, replace(survey, order=survey.order or stated))
    for row in _all_rows(source, stray):
        if isinstance(row, Rejected):
            yield row
        else:
            yield from reader.feed(row)
    yield from reader.close()
    yield from reader.doubts()


def _all_rows(source: Input, stray: Container[int]) -> Iterator[Row | Rejected]:
    return read_rows(lines(source), source.name, stray)


def _spoken(row: Row | Rejected, cast: Cast) -> bool:
    return isinstance(row, Row) and row.header is not None and cast.includes(row.header)


@dataclass(frozen=True, slots=True)
class _Survey:
    """What is decided over a whole text: who speaks, and what numeric dates mean."""

    cast: Cast
    order: Order | None


def _survey(source: Input, stray: Container[int]) -> _Survey:
    """Return the survey of a whole text; nothing of it is kept but names and counts."""
    pairs = set[tuple[int, int]]()

    def candidates() -> Iterator[Header | None]:
        for row in _all_rows(source, stray):
            if isinstance(row, Rejected) or not row.text.strip():
                continue
            stamp = row.day.date if row.day else row.header.stamp if row.header else ""
            if stamp and (pair := numeric_pair(stamp)):
                pairs.add(pair)
            if not row.day:
                yield row.header

    cast = Cast(candidates())
    return _Survey(cast, order_of(pairs))


@dataclass(slots=True)
class _Turn:
    """The turn being read: its header (None before the first) and the lines so far."""

    header: Header | None
    number: int
    time: Moment | None = None
    body: list[str] = field(default_factory=list)


class _Reader:
    """Collects lines into turns; remembers the title and the last date."""

    def __init__(self, name: str, tz: tzinfo, survey: _Survey) -> None:
        self._name, self._tz, self._cast = name, tz, survey.cast
        self._order = survey.order
        self._title: str | None = None
        self._dated: Moment | None = None
        self._day: Moment | None = None
        self._turn: _Turn | None = None
        self._last = ""
        self._is_passed_over = self._is_ambiguous = False
        self._doubt_count = 0

    def feed(self, row: Row) -> Iterator[Event]:
        """Yield the turn that a line ends, if it does, and what is odd about the line."""
        if row.day and (row.is_division or not self._cast.is_between_roles):
            yield from self.close(is_division=True)
            yield from self._divide(row.day, row.line.number)
        elif row.header and (self._cast.includes(row.header) or self._joins(row.header)):
            yield from self.close(is_division=row.header.form != "plain")
            yield from self._begin(row.header, row.line.number)
        elif self._turn is None and self._title is None and _TITLE.match(row.text):
            self._title = row.text.lstrip("#").strip() or None
        elif row.text.strip() or (self._turn and self._turn.header):
            yield from self._doubt(row)
            self._turn = self._turn or _Turn(None, row.line.number, self._day)
            self._turn.body.append(row.text)
            self._last = row.text
        else:
            yield from self.close()

    def _joins(self, header: Header) -> bool:
        """Say whether a name seen once speaks: after a complete line, not among passed ones."""
        if not self._cast.may_join(header):
            return False
        if self._turn is None or self._turn.header is None:
            return True
        said = self._turn.body
        if not any(line.strip() for line in said):
            return False
        if not self._last.strip():
            return True
        last = self._last.rstrip()
        if self._is_passed_over or last.endswith(_OPEN_ENDS):
            return False
        return len(said) == 1 or (last.endswith(_FULL_ENDS) and not _ITEMS.match(last))

    def _doubt(self, row: Row) -> Iterator[Event]:
        """Warn of a name that was taken for somebody's words; the first few are named."""
        is_doubtful = row.header is not None and self._cast.may_join(row.header)
        self._is_passed_over = is_doubtful
        if row.header and is_doubtful:
            self._doubt_count += 1
            if self._doubt_count <= MOST_DOUBTS:
                who = self._turn.header.name if self._turn and self._turn.header else "nobody"
                reason = f"{row.header.name + ':'!r} is taken for words of {who}, not a speaker"
                yield Warned(where=f"{self._name}:{row.line.number}", reason=reason)

    def doubts(self) -> Iterator[Event]:
        """Yield how many more names were taken for words than were named."""
        if (more := self._doubt_count - MOST_DOUBTS) > 0:
            reason = f"{more} more names seen once are taken for words, not speakers"
            yield Warned(where=self._name, reason=reason)

    def _begin(self, header: Header, number: int) -> Iterator[Event]:
        time = self._time(header)
        is_odd = time is None and header.stamp and not header.is_offset
        if is_odd and (self._dated is not None or not is_clock(header.stamp)):
            yield from self._not_understood(header.stamp, number)
        self._turn = _Turn(header, number, time, [header.said])
        self._last, self._is_passed_over = header.said, False

    def _divide(self, day: Day, number: int) -> Iterator[Event]:
        """Take the date of a line of its own; one that is not understood dates nothing."""
        self._day = self._dated = self._date(day.date)
        if self._day is None:
            yield from self._not_understood(day.date, number)

    def _not_understood(self, stamp: str, number: int) -> Iterator[Event]:
        """Warn of a time; of numeric dates without a known order only once."""
        where, reason = f"{self._name}:{number}", f"{stamp!r} is not understood as a time"
        if self._order is None and numeric_pair(stamp):
            if self._is_ambiguous:
                return
            self._is_ambiguous = True
            reason = (
                f"{stamp!r}: no date of the file tells day from month; such times are left out "
                "(--date-order dmy or mdy says it)"
            )
        yield Warned(where=where, reason=reason)

    def _date(self, stamp: str) -> Moment | None:
        """Return the moment of a text that has a date."""
        if numeric_pair(stamp):
            return numeric(stamp, self._order, self._tz) if self._order else None
        return stated(stamp, self._tz)

    def _time(self, header: Header) -> Moment | None:
        """Return the time of a header, and remember it where it has a date."""
        if not header.stamp or header.is_offset:
            return self._day
        if is_clock(header.stamp):
            return self._clock(header.stamp)
        time = self._date(header.stamp)
        is_unknown = time is None and numeric_pair(header.stamp) is not None
        if is_unknown or (time and self._day and self._local(time) != self._local(self._day)):
            self._day = None
        self._dated = None if is_unknown else time or self._dated
        return time

    def _local(self, time: Moment) -> date:
        return time.at.astimezone(self._tz).date()

    def _clock(self, stamp: str) -> Moment | None:
        """Return a clock on the last date, or on the next day where it is past midnight."""
        if self._dated is None:
            return None
        time = clock_on(self._dated.at, stamp, self._tz)
        if time and self._dated.at - time.at > ROLLOVER:
            time = clock_on(self._dated.at + timedelta(days=1), stamp, self._tz)
        self._dated = time or self._dated
        return time

    def close(self, *, is_division: bool = False) -> Iterator[Event]:
        """Yield the turn read so far.

        Args:
            is_division: True where a heading, a bold name or a date ends it: a rule before
                that is layout.
        """
        turn, self._turn = self._turn, None
        if turn is None:
            return
        text = "\n".join(_trimmed(turn.body, is_division=is_division))
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


def _trimmed(body: list[str], *, is_division: bool) -> list[str]:
    """Return a turn's lines without blank ones at either end and the rule before a heading."""
    start, end = 0, len(body)
    while start < end and not body[start].strip():
        start += 1
    end = _last_said(body, start, end)
    if is_division and end > start and body[end - 1].strip() in _RULES:
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
