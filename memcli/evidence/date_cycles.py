"""What recurs: weeks, weekdays, months, seasons, holidays, and their last, this and next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from memcli.evidence.date_periods import (
    DAY,
    MONTHS_IN,
    At,
    Period,
    Unit,
    add_months,
    decade,
    easter,
    month,
    months_from,
    nth_weekday,
    one_day,
    quarter,
    week,
    weekday,
    weekend,
    year,
    yearly,
)
from memcli.evidence.date_words import SEASONS, WEEKDAYS


@dataclass(frozen=True, slots=True)
class Cycle:
    """A recurring period with what "last", "this" and "next" make of it.

    Attributes:
        at: The latest occurrence that begins on or before a day.
        within: The unit inside which "this" looks: the week for weekdays and weekends, the year
            for months, seasons and holidays, itself for calendar units.
    """

    at: At
    within: Unit

    def last(self, today: date, nth: int = 1) -> Period:
        """Return the nth latest occurrence that was over before today."""
        period = self.at(today)
        while period.end >= today:
            period = self.at(period.start - DAY)
        for _ in range(min(nth, 10_000) - 1):
            period = self.at(period.start - DAY)
        return period

    def this(self, today: date) -> Period:
        """Return the occurrence that is going on, else that of the current week or year."""
        current = self.at(today)
        if current.end >= today:
            return current
        return self.at(week(today).end if self.within == "week" else year(today).end)

    def coming(self, today: date) -> Period:
        """Return the first occurrence after today, of weekdays too."""
        if self.within == "week":
            return self.at(today + timedelta(weeks=1))
        return self.next(today)

    def next(self, today: date) -> Period:
        """Return the first occurrence after today; for weekdays, that of the next week."""
        if self.within == "week":
            return self.at(week(today).end + timedelta(weeks=1))
        return self.at(add_months(today, MONTHS_IN[self.within]))


def _holiday(build: Callable[[int], date]) -> Cycle:
    return Cycle(yearly(lambda number: one_day(build(number))), "year")


def _fixed(in_month: int, day: int) -> Cycle:
    return _holiday(lambda number: date(number, in_month, day))


def _thanksgiving(number: int) -> date:
    return nth_weekday(months_from(number, 11, "month"), 3, 4)


HOLIDAYS: dict[tuple[str, ...], Cycle] = {
    ("christmas",): _fixed(12, 25),
    ("xmas",): _fixed(12, 25),
    ("christmas", "day"): _fixed(12, 25),
    ("christmas", "eve"): _fixed(12, 24),
    ("boxing", "day"): _fixed(12, 26),
    ("new", "year", "'s", "eve"): _fixed(12, 31),
    ("new", "years", "eve"): _fixed(12, 31),
    ("new", "year", "'s"): _fixed(1, 1),
    ("new", "year", "'s", "day"): _fixed(1, 1),
    ("new", "years", "day"): _fixed(1, 1),
    ("valentine", "'s", "day"): _fixed(2, 14),
    ("valentines", "day"): _fixed(2, 14),
    ("st", "patrick", "'s", "day"): _fixed(3, 17),
    ("fourth", "of", "july"): _fixed(7, 4),
    ("halloween",): _fixed(10, 31),
    ("easter",): _holiday(easter),
    ("easter", "sunday"): _holiday(easter),
    ("easter", "monday"): _holiday(lambda number: easter(number) + timedelta(days=1)),
    ("good", "friday"): _holiday(lambda number: easter(number) - timedelta(days=2)),
    ("thanksgiving",): _holiday(_thanksgiving),
    ("thanksgiving", "day"): _holiday(_thanksgiving),
}

CALENDAR: dict[str, Cycle] = {
    "week": Cycle(week, "week"),
    "weekend": Cycle(weekend, "week"),
    "month": Cycle(month, "month"),
    "quarter": Cycle(quarter, "quarter"),
    "year": Cycle(year, "year"),
    "decade": Cycle(decade, "decade"),
}


def named_month(number: int) -> Cycle:
    """Return the month that recurs each year."""
    return Cycle(yearly(lambda in_year: months_from(in_year, number, "month")), "year")


def named_season(word: str) -> Cycle:
    """Return the season that recurs each year."""
    return Cycle(yearly(lambda in_year: months_from(in_year, SEASONS[word], "season")), "year")


def named_weekday(word: str) -> Cycle:
    """Return the weekday that recurs each week."""
    return Cycle(weekday(WEEKDAYS[word]), "week")


def named_quarter(number: int) -> Cycle:
    """Return the quarter of that number, which recurs each year."""
    return Cycle(yearly(lambda in_year: months_from(in_year, number * 3 - 2, "quarter")), "year")
