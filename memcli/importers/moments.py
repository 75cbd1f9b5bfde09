"""Times as sources state them, read strictly: a time that is not understood stays unknown.

Forms: RFC 3339 and ISO dates with or without a clock or zone; Unix epochs in seconds,
milliseconds or microseconds, as numbers or digits; LoCoMo's ``1:56 pm on 8 May, 2023``;
LongMemEval's ``2023/05/20 (Sat) 02:21``; ``8 May 2023`` and ``May 8, 2023`` with an optional
clock. Numeric dates whose order of day and month is a matter of country (``03.05.2024``) are
read only by a caller that knows the order; see `order_of`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Literal

from memcli.importers.contract import Moment
from memcli.records.evidence import Granularity

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTH_NAMES = """
    january february march april may june july august september october november december
    """
_MONTHS = _MONTH_NAMES.split()
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?:\s?(?P<half>[ap])\.?m\.?)?"

_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?\s?(?:Z|UTC|GMT|[+-][\d:]+)?)?"
)
_DIGITS = re.compile(r"\d{9,19}(?:\.\d{1,9})?")
_YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})"
    rf"(?:,?\s(?:\([A-Za-z]{{2,9}}\)\s)?{_CLOCK})?",
    re.IGNORECASE,
)
_CLOCK_THEN_DATE = re.compile(
    rf"{_CLOCK}\son\s(?P<day>\d{{1,2}})\s(?P<name>[A-Za-z]{{3,9}}),?\s(?P<year>\d{{4}})",
    re.IGNORECASE,
)
_DAY_FIRST = re.compile(
    r"(?P<day>\d{1,2})\s(?P<name>[A-Za-z]{3,9}),?\s(?P<year>\d{4})"
    rf"(?:,?\s(?:at\s)?{_CLOCK})?",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    r"(?P<name>[A-Za-z]{3,9})\s(?P<day>\d{1,2}),?\s(?P<year>\d{4})"
    rf"(?:,?\s(?:at\s)?{_CLOCK})?",
    re.IGNORECASE,
)
_NUMERIC = re.compile(
    r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<other>\d{1,2})(?P=mark)(?P<year>\d{4})"
    rf"(?:,?\s(?:at\s)?{_CLOCK})?",
    re.IGNORECASE,
)
_WORDED = (_YEAR_FIRST, _CLOCK_THEN_DATE, _DAY_FIRST, _MONTH_FIRST)
_BARE_CLOCK = re.compile(_CLOCK, re.IGNORECASE)

Order = Literal["day first", "month first"]
"""Which of the two leading numbers of ``03.05.2024`` is the day."""

LONGEST_TIME = 64
"""Characters beyond which a text is no time."""


def stated(value: object, tz: tzinfo) -> Moment | None:
    """Return the moment that a JSON value of a time field states, or None.

    Args:
        value: A number (epoch) or a text in any form of this module.
        tz: Zone of a text that states none.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return from_epoch(value)
    if not isinstance(value, str) or len(value) > LONGEST_TIME:
        return None
    text = value.strip()
    if _DIGITS.fullmatch(text):
        return from_epoch(float(text) if "." in text else int(text))
    return _from_iso(text, tz) or _from_words(text, tz)


def from_epoch(value: float) -> Moment | None:
    """Return the moment of a Unix epoch; None for numbers that are hardly one.

    Seconds, milliseconds and microseconds are told apart by size: for the years 1973 to 5138
    no number fits two scales. Smaller ones are counters, not times.
    """
    for limit, per_second in ((1e11, 1), (1e14, 1_000), (1e17, 1_000_000)):
        if 1e8 <= value < limit:
            at = _EPOCH + timedelta(seconds=value / per_second)
            return Moment(at=at, granularity=_fineness(at), zone_assumed=False)
    return None


def _fineness(at: datetime) -> Granularity:
    return "microsecond" if at.microsecond else "second"


def _from_iso(text: str, tz: tzinfo) -> Moment | None:
    if not _ISO.fullmatch(text):
        return None
    try:
        at = datetime.fromisoformat(_plain_iso(text))
    except ValueError:
        return None
    if len(text) == len("2024-05-02"):
        return _zoned(at, "day", tz)
    has_seconds = text.count(":", 0, 19) == 2
    return _zoned(at, _fineness(at) if has_seconds else "minute", tz)


def _plain_iso(text: str) -> str:
    """Return an ISO time as the standard library reads it: a point, no blank before a zone."""
    named = text.replace(",", ".").replace("UTC", "Z").replace("GMT", "Z")
    return re.sub(r"\s(?=[Z+-])", "", named)


def _from_words(text: str, tz: tzinfo) -> Moment | None:
    for form in _WORDED:
        if match := form.fullmatch(text):
            return _from_parts(match.groupdict(), tz)
    return None


def _from_parts(parts: Mapping[str, str | None], tz: tzinfo) -> Moment | None:
    """Return the moment of named groups, None for an impossible date or clock."""
    try:
        day = datetime(int(parts["year"] or 0), _month(parts), int(parts["day"] or 0))
        clock = _clock(parts)
    except ValueError:
        return None
    if clock is None:
        return _zoned(day, "day", tz)
    return _zoned(datetime.combine(day, clock), "second" if parts["second"] else "minute", tz)


def _month(parts: Mapping[str, str | None]) -> int:
    """Return the month's number; raises ValueError for a word that names none."""
    name = parts.get("name")
    if not name:
        return int(parts["month"] or 0)
    for number, month in enumerate(_MONTHS, start=1):
        if month.startswith(name.lower()):
            return number
    raise ValueError("no such month")


def _clock(parts: Mapping[str, str | None]) -> time | None:
    """Return the time of day, None when none is stated; raises ValueError if impossible."""
    if parts["hour"] is None:
        return None
    hour, half = int(parts["hour"]), (parts["half"] or "").lower()
    if half and not 1 <= hour <= 12:
        raise ValueError("no such hour on a twelve-hour clock")
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return time(hour, int(parts["minute"] or 0), int(parts["second"] or 0))


def _zoned(at: datetime, granularity: Granularity, tz: tzinfo) -> Moment | None:
    """Return the moment in UTC; None where the calendar ends."""
    assumed = at.tzinfo is None
    try:
        utc = (at.replace(tzinfo=tz) if assumed else at).astimezone(UTC)
    except (OverflowError, ValueError):
        return None
    return Moment(at=utc, granularity=granularity, zone_assumed=assumed)


def numeric_pair(text: str) -> tuple[int, int] | None:
    """Return the two leading numbers of a date such as ``03.05.2024 18:20``, or None."""
    match = _NUMERIC.fullmatch(text.strip())
    return (int(match["first"]), int(match["other"])) if match else None


def order_of(pairs: Iterable[tuple[int, int]]) -> Order | None:
    """Return the order of day and month that a text's numeric dates prove.

    A number above twelve is a day. None where no date proves one order or two dates
    contradict each other.
    """
    proofs = {(first > 12, second > 12) for first, second in pairs} - {(False, False)}
    if proofs == {(True, False)}:
        return "day first"
    return "month first" if proofs == {(False, True)} else None


def numeric(text: str, order: Order, tz: tzinfo) -> Moment | None:
    """Return the moment of a numeric date with an optional clock, its order being known."""
    match = _NUMERIC.fullmatch(text.strip())
    if match is None:
        return None
    day, month = ("first", "other") if order == "day first" else ("other", "first")
    return _from_parts({**match.groupdict(), "day": match[day], "month": match[month]}, tz)


def clock_on(day: datetime, text: str, tz: tzinfo) -> Moment | None:
    """Return the moment of a bare clock (``09:02``) on the local date of ``day``, or None.

    Args:
        day: The last dated moment before it, aware.
        text: The clock.
        tz: Zone of the clock.
    """
    match = _BARE_CLOCK.fullmatch(text.strip())
    local = day.astimezone(tz)
    date = {"year": str(local.year), "month": str(local.month), "day": str(local.day)}
    return _from_parts({**match.groupdict(), **date}, tz) if match else None


def is_clock(text: str) -> bool:
    """Say whether a text is a time of day without a date."""
    return _BARE_CLOCK.fullmatch(text.strip()) is not None
