"""WhatsApp: the text file of an exported chat, alone or in the zip beside its pictures.

Every message begins on a line of its own with a stamp (`phone_stamps`), then ``Name: words``,
or a notice without a name; further lines belong to it. The file is read twice. The first pass
decides for the whole file: which layout its stamps have (a pasted line with another layout is
text), whether a carriage return ends its messages (then a line after a bare line feed is
text, whatever it begins with), which number of a date is the day (`day_orders`; where nothing
proves it the file is refused until ``--date-order`` says), and who says anything at all: on
some phones a group's name stands before notices. Local times without a zone; no ids, no
sessions. An unreadable time costs the time, with a warning; bytes that are no text cost their
message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import islice

from memcli.errors import SourceFormatError
from memcli.importers.bytestream import Line, lines, rejected
from memcli.importers.contract import (
    DateOrder,
    Draft,
    Event,
    Format,
    Input,
    Moment,
    ReadOptions,
    Warned,
)
from memcli.importers.day_orders import Numbers, day_of, order_of_days, possible_orders
from memcli.importers.phone_messages import (
    PHONE_MARK,
    Said,
    attachment,
    is_encryption_notice,
    is_marked,
    is_media,
    is_notice,
    said_of,
    unmarked,
)
from memcli.importers.phone_stamps import BLANKS, MARKS, Layout, Stamp, stamp_of
from memcli.importers.shape import shape_of
from memcli.records.evidence import Granularity

SAMPLE_LINES = 400
"""Lines that recognition looks at."""
STAMPED_SHARE = 20
"""Of this many lines, one must begin a message: long messages have many lines."""
MOST_WARNINGS = 20
"""Warnings about times in one file; the rest are counted."""
RETURN_SHARE = 4
"""So many times more messages must follow a carriage return than a bare line feed."""
_LOG_LEVELS = "DEBUG INFO NOTICE WARN WARNING ERROR FATAL CRITICAL TRACE"
_LEVELS = frozenset(_LOG_LEVELS.split())


def recognise(source: Input) -> str | None:
    """Return that lines begin with a phone's stamp and somebody speaks, or None."""
    shape = shape_of(source)
    if shape.kind != "text":
        return None
    said = [line for line in islice(shape.text.split("\n"), SAMPLE_LINES) if line.strip()]
    stamped = [(stamp, line) for line in said if (stamp := stamp_of(line)) and not _is_other(stamp)]
    if not said or not stamped or not stamp_of(said[0]) or _is_other(stamped[0][0]):
        return None
    names = {said_of(line[stamp.end :]).name for stamp, line in stamped}
    if STAMPED_SHARE * len(stamped) < len(said) or names - {None} <= _LEVELS:
        return None
    return f"{len(stamped)} lines begin with a date, a time and a dash, bracket or colon"


def _is_other(stamp: Stamp) -> bool:
    """Say whether a stamp is that of a written dialogue: ``[2024-05-31 18:20]``."""
    is_iso = stamp.written.startswith("[") and stamp.numbers[0] > 999 and "-" in stamp.written
    return is_iso and "," not in stamp.written


@dataclass(slots=True)
class _Sheet:
    """What the lines with one layout of stamps tell.

    Attributes:
        count: How many there are.
        after_return: How many follow a line that ends with a carriage return.
        dates: Their distinct dates, in the order in which they first stand.
        speakers: Names that say something of their own.
        quoted: How often each name that holds quotation marks stands.
        group: The name before the notice with which the chat begins.
    """

    count: int = 0
    after_return: int = 0
    dates: dict[Numbers, None] = field(default_factory=dict)
    speakers: set[str] = field(default_factory=set)
    quoted: Counter[str] = field(default_factory=Counter)
    group: str | None = None

    def note(self, stamp: Stamp, line: str, *, after_return: bool) -> None:
        """Take in one line that begins with a stamp."""
        self.count += 1
        self.after_return += after_return
        self.dates[stamp.numbers] = None
        said = said_of(line[stamp.end :])
        if said.name is None:
            return
        if said.is_quoted:
            self.quoted[said.name] += 1
        if not is_marked(said.text) or is_media(said.text):
            self.speakers.add(said.name)
        elif self.group is None and (self.count == 1 or is_encryption_notice(said.text)):
            self.group = said.name if said.text.startswith(PHONE_MARK) else None


@dataclass(frozen=True, slots=True)
class _Survey:
    """What the first pass decides for a whole file."""

    layout: Layout
    ends_with_return: bool
    order: DateOrder | None
    sheet: _Sheet

    @property
    def title(self) -> str | None:
        """The group's name where notices carry it and nobody of that name speaks."""
        return None if self.sheet.group in self.sheet.speakers else self.sheet.group


def _survey(source: Input, options: ReadOptions) -> _Survey:
    """Return the survey of a file; kept are only its distinct dates and names.

    Raises:
        SourceFormatError: If no line begins with a stamp, or its dates leave open which
            number is the day and ``options`` does not say.
    """
    sheets: dict[Layout, _Sheet] = {}
    after_return = True
    for line in lines(source, ends=b""):
        text = _text(line)
        if stamp := stamp_of(text):
            sheet = sheets.setdefault(stamp.layout, _Sheet())
            sheet.note(stamp, text.removesuffix("\r"), after_return=after_return)
        after_return = line.raw.endswith(b"\r")
    if not sheets:
        raise SourceFormatError(
            f"{source.name}: no line begins with a date and a time",
            hint='whatsapp reads "31/12/2022, 11:40 - Ann: hello", "[31.12.22, 11:40:26] Ann: …"',
        )
    layout, sheet = max(sheets.items(), key=lambda entry: entry[1].count)
    ends_with_return = RETURN_SHARE * (sheet.count - sheet.after_return) < sheet.after_return
    return _Survey(layout, ends_with_return, _order(source.name, sheet, options), sheet)


def _order(name: str, sheet: _Sheet, options: ReadOptions) -> DateOrder | None:
    """Return the order of the dates: proven, else the one the user states."""
    proven = order_of_days(sheet.dates)
    left = possible_orders(sheet.dates)
    if proven is not None or not left:
        return proven
    if options.date_order in left:
        return options.date_order
    first = "/".join(map(str, next(iter(sheet.dates))))
    raise SourceFormatError(
        f"{name}: dates such as {first} leave open which number is the day",
        hint=f"say it: --date-order {' or '.join(left)} (d day, m month, y year)",
    )


def _text(line: Line) -> str:
    return line.raw.decode("utf-8", "surrogateescape")


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the messages in order.

    Raises:
        SourceFormatError: Before the first event, if no line begins with a stamp or the order
            of day and month is open.
    """
    survey = _survey(source, options)
    reader = _Reader(source.name, survey, options)
    yield from reader.settled()
    after_return = True
    for line in lines(source, ends=b""):
        yield from reader.feed(line, may_begin=after_return or not survey.ends_with_return)
        after_return = line.raw.endswith(b"\r")
    yield from reader.close()
    yield from reader.more_warnings()


@dataclass(slots=True)
class _Message:
    """The message being read: its stamp (None before the first one) and its lines so far."""

    stamp: Stamp | None
    number: int
    said: Said
    body: list[str]
    raw: list[bytes]


class _Reader:
    """The second pass: collects lines into messages."""

    def __init__(self, name: str, survey: _Survey, options: ReadOptions) -> None:
        self._name, self._survey, self._options = name, survey, options
        self._message: _Message | None = None
        self._days: dict[Numbers, date | None] = {}
        self._warning_count = 0

    def settled(self) -> Iterator[Event]:
        """Yield a warning where the file proves another order than the user states."""
        stated, order = self._options.date_order, self._survey.order
        if stated and order and stated != order:
            reason = f"its dates prove the order {order}, so --date-order {stated} is not used"
            yield Warned(where=self._name, reason=reason)

    def feed(self, line: Line, *, may_begin: bool) -> Iterator[Event]:
        """Yield the message that a line ends, if it does."""
        text = _text(line).removesuffix("\r")
        stamp = stamp_of(text) if may_begin else None
        if stamp and stamp.layout == self._survey.layout:
            yield from self.close()
            said = self._said(text[stamp.end :])
            self._message = _Message(stamp, line.number, said, [said.text], [line.raw])
        elif self._message is not None:
            self._message.body.append(text)
            self._message.raw.append(line.raw)
        elif text.strip(f"{MARKS}{BLANKS}"):
            self._message = _Message(None, line.number, Said(None, text), [text], [line.raw])

    def _said(self, line: str) -> Said:
        """Return name and words; a name with quotation marks that stands once is a notice."""
        said = said_of(line)
        is_notice_of_group = said.is_quoted and self._survey.sheet.quoted[said.name or ""] < 2
        return Said(None, line) if is_notice_of_group else said

    def close(self) -> Iterator[Event]:
        """Yield the message read so far."""
        message, self._message = self._message, None
        if message is None:
            return
        while len(message.body) > 1 and not message.body[-1].strip():
            message.body.pop()
        text, where = "\n".join(message.body), f"{self._name}:{message.number}"
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raw = b"\n".join(message.raw)
            yield rejected(where, "the message holds bytes that are not UTF-8", raw)
            return
        if message.stamp is None:
            yield Warned(where=where, reason="stands before the first message: nobody's words")
            yield Draft(role="user", text=text, title=self._survey.title, line=message.number)
            return
        time, problem = self._time(message.stamp)
        if problem:
            yield from self._warn(where, problem)
        yield self._draft(message, text, time)

    def _draft(self, message: _Message, text: str, time: Moment | None) -> Draft:
        said, title = message.said, self._survey.title
        is_by_phone = is_notice(said, text, group=title)
        has_mark = is_by_phone or (is_marked(text) and is_media(text))
        return Draft(
            role="system" if is_by_phone else "user",
            text=unmarked(text) if has_mark else text,
            speaker=None if is_by_phone else said.name,
            time=time,
            caption=None if is_by_phone else attachment(text),
            title=title,
            line=message.number,
        )

    def _time(self, stamp: Stamp) -> tuple[Moment | None, str]:
        """Return the time of a stamp, or what is odd about it."""
        numbers, order = stamp.numbers, self._survey.order
        if numbers not in self._days:
            self._days[numbers] = day_of(numbers, order) if order else None
        day = self._days[numbers]
        if day is None or stamp.clock is None:
            what = "date" if day is None else "time of day"
            return None, f"no {what} that is known: {stamp.written}"
        local = datetime.combine(day, stamp.clock, tzinfo=self._options.tz)
        granularity: Granularity = "second" if stamp.has_seconds else "minute"
        return Moment(at=local.astimezone(UTC), granularity=granularity, zone_assumed=True), ""

    def _warn(self, where: str, reason: str) -> Iterator[Event]:
        self._warning_count += 1
        if self._warning_count <= MOST_WARNINGS:
            yield Warned(where=where, reason=reason)

    def more_warnings(self) -> Iterator[Event]:
        """Yield how many times could not be read beyond those that were named."""
        if (more := self._warning_count - MOST_WARNINGS) > 0:
            yield Warned(where=self._name, reason=f"{more} more times are not understood")


FORMAT = Format(
    name="whatsapp",
    label="WhatsApp export",
    recognise=recognise,
    read=read,
    rank=50,
    companions=frozenset({"*.vcf", "*.3gp", "*.aac", "*.amr", "*.mkv", "*.heif", "*.thumb"}),
)
