"""Spans of whole days and the arithmetic on them: weeks, months, seasons, holidays.

Pure calendar facts, no words and no clock. Weeks start on Monday, ends are inclusive, seasons are
those of the northern hemisphere by whole months (summer: 1 June to 31 August; a winter belongs to
the year of its December).
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Literal

Unit = Literal["day", "week", "weekend", "month", "quarter", "season", "year", "decade", "span"]

MONTHS_IN: dict[str, int] = {"month": 1, "quarter": 3, "season": 3, "year": 12, "decade": 120}
"""Length in months of the units that are made of whole months."""

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days from ``start`` to ``end``, both included, and the unit they make up."""

    start: date
    end: date
    unit: Unit = "span"


At = Callable[[date], Period]
"""A recurring period: the latest occurrence that begins on or before a day."""


def add_months(day: date, months: int) -> date:
    """Return the same day of the month some months later, clipped to that month's last day."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError(f"year {year} is outside the calendar")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def months_from(year: int, month: int, unit: Unit) -> Period:
    """Return the period of ``unit``'s length in whole months that begins in a month."""
    first = date(year, month, 1)
    return Period(first, add_months(first, MONTHS_IN[unit]) - DAY, unit)


def one_day(day: date) -> Period:
    """Return a single day."""
    return Period(day, day, "day")


def week(day: date) -> Period:
    """Return the Monday-to-Sunday week of a day."""
    monday = day - timedelta(days=day.weekday())
    return Period(monday, monday + timedelta(days=6), "week")


def weekend(day: date) -> Period:
    """Return the latest Saturday and Sunday that begin on or before a day."""
    saturday = weekday(5)(day).start
    return Period(saturday, saturday + DAY, "weekend")


def month(day: date) -> Period:
    """Return the calendar month of a day."""
    return months_from(day.year, day.month, "month")


def quarter(day: date) -> Period:
    """Return the calendar quarter of a day."""
    return months_from(day.year, (day.month - 1) // 3 * 3 + 1, "quarter")


def year(day: date) -> Period:
    """Return the calendar year of a day."""
    return months_from(day.year, 1, "year")


def decade(day: date) -> Period:
    """Return the decade of a day, from the year that ends in 0."""
    return months_from(day.year // 10 * 10, 1, "decade")


def weekday(number: int) -> At:
    """Return the recurring weekday; 0 is Monday."""
    return lambda day: one_day(day - timedelta(days=(day.weekday() - number) % 7))


def month_day(number: int) -> At:
    """Return the recurring day of the month, over the months that have it."""

    def at(day: date) -> Period:
        first = day.replace(day=1) if day.day >= number else add_months(day.replace(day=1), -1)
        while monthrange(first.year, first.month)[1] < number:
            first = add_months(first, -1)
        return one_day(first.replace(day=number))

    return at


def yearly(build: Callable[[int], Period]) -> At:
    """Return what recurs each year; years without it (29 February) are passed over."""

    def at(day: date) -> Period:
        for number in range(day.year, day.year - 9, -1):
            try:
                period = build(number)
            except ValueError:  # no such day in that year: look one year further back
                continue
            if period.start <= day:
                return period
        raise ValueError("no such day in any recent year")

    return at


def nth_weekday(period: Period, number: int, nth: int) -> date:
    """Return the nth weekday within a period, counted from 1, or the last one for -1."""
    if nth == -1:
        return weekday(number)(period.end).start
    found = weekday(number)(period.start + timedelta(days=6)).start + timedelta(weeks=nth - 1)
    if found > period.end:
        raise ValueError(f"no weekday number {nth} in this period")
    return found


def easter(number: int) -> date:
    """Return Western Easter Sunday of a year (the Gregorian computus)."""
    century, golden = number // 100, number % 19
    skipped = century - century // 4 - (8 * century + 13) // 25
    epact = (19 * golden + skipped + 15) % 30
    epact -= epact // 28 * (1 - 29 // (epact + 1) * ((21 - golden) // 11))
    to_sunday = (number + number // 4 + epact + 2 - century + century // 4) % 7
    offset = epact - to_sunday
    in_month = 3 + (offset + 40) // 44
    return date(number, in_month, offset + 28 - 31 * (in_month // 4))


def third(period: Period, which: int) -> Period:
    """Return the early (0), middle (1) or late (2) part of a period.

    A month is cut after its 10th and 20th day, longer units by months, a week before Wednesday
    and before Friday.
    """
    if period.unit == "month":
        cuts = [period.start + timedelta(days=days) for days in (0, 10, 20)]
    elif period.unit in MONTHS_IN:
        step = MONTHS_IN[period.unit] // 3
        cuts = [add_months(period.start, step * part) for part in range(3)]
    else:
        days = ((period.end - period.start).days + 1) // 3
        cuts = [period.start + timedelta(days=days * part) for part in range(3)]
    start, stop = list(pairwise([*cuts, period.end + DAY]))[which]
    return Period(start, max(start, stop - DAY))


def part(period: Period, unit: Unit | Literal["half"], nth: int) -> Period:
    """Return the nth day, week, weekend, month, quarter or half of a period; -1 is the last.

    Weeks are counted from the period's first day (the first week of May is 1 to 7 May, the last
    one its last seven days), so that a week never reaches out of its month.

    Raises:
        ValueError: When the period has no such part.
    """
    if unit == "weekend":
        saturday = nth_weekday(period, 5, nth)
        return Period(saturday, saturday + DAY, unit)
    if unit in ("day", "week"):
        found = _days_part(period, 7 if unit == "week" else 1, nth)
    else:
        length = MONTHS_IN.get(period.unit, 0) // 2 if unit == "half" else MONTHS_IN[unit]
        found = _months_part(period, length, nth)
    if not period.start <= found.start <= found.end <= period.end:
        raise ValueError(f"no {unit} number {nth} in this period")
    return Period(found.start, found.end, "span" if unit == "half" else unit)


def _days_part(period: Period, length: int, nth: int) -> Period:
    if nth == -1:
        return Period(period.end - timedelta(days=length - 1), period.end)
    start = period.start + timedelta(days=length * (nth - 1))
    return Period(start, min(start + timedelta(days=length - 1), period.end))


def _months_part(period: Period, length: int, nth: int) -> Period:
    if not length:
        half = period.start + (period.end - period.start) // 2
        return Period(
            half + DAY if nth in (2, -1) else period.start, period.end if nth in (2, -1) else half
        )
    if nth == -1:
        return Period(add_months(period.end + DAY, -length), period.end)
    start = add_months(period.start, length * (nth - 1))
    return Period(start, add_months(start, length) - DAY)
