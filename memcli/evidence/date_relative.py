"""Dates told from the reference day: "last week", "3 days ago", "the past 10 days"."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from memcli.evidence.date_cycles import (
    CALENDAR,
    HOLIDAYS,
    Cycle,
    named_month,
    named_season,
    named_weekday,
)
from memcli.evidence.date_days import month_alone
from memcli.evidence.date_line import Line, Term, fixed
from memcli.evidence.date_named import holiday_length
from memcli.evidence.date_periods import (
    DAY,
    Period,
    add_months,
    decade,
    month,
    one_day,
    quarter,
    year,
)
from memcli.evidence.date_words import (
    DAY_PARTS,
    MONTHS,
    NUMBERS,
    SEASONS,
    UNITS,
    VAGUE,
    VERBLIKE,
    WEEKDAYS,
    word_set,
)

_LAST = word_set("last past previous")
_NEXT = word_set("next coming upcoming")
WHICH = _LAST | _NEXT | {"this", "current"}
_MONTH_STEPS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAY_STEPS = {"day": 1, "week": 7, "fortnight": 14}
WHOLE = {"month": month, "quarter": quarter, "year": year, "decade": decade}
_WEEK_SLACK = 3
"""Days on either side that "two weeks ago" also covers in people's mouths."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How many of which unit, at least and at most; ends before token ``stop``."""

    low: int
    high: int
    unit: str
    stop: int


def _number(line: Line, index: int) -> tuple[int, int, int] | None:
    """Return the lowest and highest number meant at a position, and where it ends."""
    token = line.token(index)
    if token.kind == "number":
        return None if token.suffix else (token.value, token.value, index + 1)
    index += token.word in {"a", "the"} and line.word(index + 1) in VAGUE
    vague = VAGUE.get(line.word(index))
    if vague is not None:
        return *vague, index + 1 + (line.word(index + 1) == "of")
    number = NUMBERS.get(token.word)
    return None if number is None else (number, number, index + 1)


def amount_at(line: Line, index: int) -> Amount | None:
    """Read "3 days", "a couple of months", "two Fridays"."""
    if [line.word(index + step) for step in range(3)] == ["half", "a", "year"]:
        return Amount(6, 6, "month", index + 3)
    number = _number(line, index)
    if number is None:
        return None
    low, high, stop = number
    word = line.word(stop)
    unit = UNITS.get(word) or (word if _named_cycle(word.removesuffix("s")) else None)
    return None if unit is None else Amount(low, high, unit, stop + 1)


def _named_cycle(word: str) -> Cycle | None:
    if word in SEASONS:
        return named_season(word)
    return named_weekday(word) if word in WEEKDAYS else CALENDAR.get(word)


def shift(day: date, unit: str, count: int) -> date:
    """Return a day so many units later; negative counts go back."""
    if unit in _MONTH_STEPS:
        return add_months(day, _MONTH_STEPS[unit] * count)
    return day + timedelta(days=_DAY_STEPS[unit] * count)


def ago(line: Line, index: int, cue: str) -> Term | None:
    """Read "3 days ago", "a couple of months ago", "two weeks from now".

    Days and weeks give the day (weeks with slack), months and longer the whole unit that many
    units back; "a few" gives the span of what it may mean.
    """
    amount = amount_at(line, index)
    if amount is None:
        return None
    back = line.word(amount.stop) == "ago"
    ahead = line.word(amount.stop) == "from" and line.word(amount.stop + 1) in {"now", "today"}
    if not (back or ahead):
        return None
    stop = amount.stop + (1 if back else 2)
    if amount.unit == "hour":
        return _hours(line, index, amount, stop, -1 if back else 1)
    if amount.unit not in _MONTH_STEPS and amount.unit not in _DAY_STEPS:
        cycle = _named_cycle(amount.unit.removesuffix("s"))
        return fixed(stop, cycle.last(line.today, amount.low)) if cycle and back else None
    sign = -1 if back else 1
    if back and line.word(stop) == "today":
        return fixed(stop + 1, one_day(shift(line.today, amount.unit, -amount.low)))
    return stepped(line.today, amount, stop, sign)


def _hours(line: Line, index: int, amount: Amount, stop: int, sign: int) -> Term:
    word = line.word(amount.stop - 1).removesuffix("s")
    delta = timedelta(**{f"{word}s": amount.low})
    return fixed(stop, one_day((line.now + sign * delta).date()))


def stepped(origin: date, amount: Amount, stop: int, sign: int) -> Term:
    """Return what lies an amount before (sign -1) or after (1) a day, rounded as `ago` says."""
    ends = [shift(origin, amount.unit, sign * count) for count in (amount.low, amount.high)]
    start, end = min(ends), max(ends)
    whole = WHOLE.get(amount.unit)
    if whole is not None:
        one = whole(start)
        return fixed(stop, one if start == end else Period(one.start, whole(end).end))
    slack = _WEEK_SLACK if amount.unit != "day" and start == end else 0
    return fixed(stop, Period(start, end, "day" if start == end else "span"), slack)


STEPS = frozenset(_MONTH_STEPS) | frozenset(_DAY_STEPS) | {"weekend"}


def rolling(line: Line, index: int, cue: str) -> Term | None:
    """Read "the past 10 days", "the last few weeks", "the next two months", "the past year".

    The span ends (or, ahead, begins) with the reference day. Without a number it takes "past", or
    "the last": "last month" itself is the calendar month.
    """
    which = line.word(index)
    amount = amount_at(line, index + 1)
    unit = UNITS.get(line.word(index + 1))
    if amount is None and unit in STEPS and not line.word(index + 1).endswith("s"):
        bare = which == "past" or (which == "last" and line.word(index - 1) == "the")
        usable = bare and unit != "day" and line.word(index + 2) != "of"
        amount = Amount(1, 1, str(unit), index + 2) if usable else None
    if amount is None or which not in _LAST | _NEXT or amount.unit not in STEPS | {"hour"}:
        return None
    if amount.unit == "weekend" or line.word(amount.stop) == "of":
        return None
    sign = 1 if which in _NEXT else -1
    if amount.unit == "hour":
        edge = _hours(line, index, amount, amount.stop, sign).at(line.today).start
    else:
        edge = shift(line.today, amount.unit, sign * amount.high)
    return fixed(amount.stop, Period(min(edge, line.today), max(edge, line.today)))


def relative(line: Line, index: int, cue: str) -> Term | None:
    """Read "last week", "this May", "next Friday", "last night", "this past weekend"."""
    which = line.word(index)
    if which not in WHICH:
        return None
    after = index + 1
    if which == "this" and line.word(after) in _LAST | _NEXT:
        which, after = line.word(after), after + 1
    if line.word(after) in DAY_PARTS:
        shift = {"this": 0, "last": -1}.get(which)
        return None if shift is None else fixed(after + 1, one_day(line.today + DAY * shift))
    found = _cycle(line, after)
    if found is None or line.word(found[1]) == "of":
        return None
    cycle, stop = found
    if which in {"next", "previous"} and line.word(index - 1) == "the":
        return None  # "the next week" is told from the story, not from today
    return _weekday_of_week(line, which, stop) or fixed(stop, _pick(cycle, which, line.today))


def _pick(cycle: Cycle, which: str, today: date) -> Period:
    if which in _LAST:
        return cycle.last(today)
    if which in {"coming", "upcoming"}:
        return cycle.coming(today)
    return cycle.next(today) if which in _NEXT else cycle.this(today)


def _weekday_of_week(line: Line, which: str, stop: int) -> Term | None:
    """Read the rest of "last week's Friday"."""
    day = stop + (line.word(stop) == "'s")
    if line.word(stop - 1) != "week" or line.word(day) not in WEEKDAYS:
        return None
    if not line.word(day).endswith("day"):
        return None
    monday = _pick(CALENDAR["week"], which, line.today).start
    return fixed(day + 1, one_day(monday + timedelta(days=WEEKDAYS[line.word(day)])))


def _cycle(line: Line, index: int) -> tuple[Cycle, int] | None:
    """Return what recurs under the name at a position, and where the name ends."""
    token = line.token(index)
    length = holiday_length(line, index)
    if length:
        words = tuple(line.word(index + step) for step in range(length))
        return HOLIDAYS[words], index + length
    if token.word in MONTHS:
        plain = (
            token.word in VERBLIKE and token.text.islower() and line.token(index + 1).kind != "mark"
        )
        meant = not plain and month_alone(line, index, "in")
        return (named_month(MONTHS[token.word]), index + 1) if meant else None
    if token.word in WEEKDAYS and not token.word.endswith("day") and not token.text[0].isupper():
        return None
    cycle = _named_cycle(token.word)
    if cycle is None:
        return None
    daypart = token.word in WEEKDAYS and line.word(index + 1) in DAY_PARTS
    return cycle, index + 1 + daypart


def before_last(line: Line, index: int, cue: str) -> Term | None:
    """Read "week before last", "Friday before last", "month after next"."""
    cycle = _named_cycle(line.word(index))
    if cycle is None:
        return None
    rest = (line.word(index + 1), line.word(index + 2))
    if rest == ("before", "last"):
        return fixed(index + 3, cycle.last(line.today, 2))
    if rest == ("after", "next"):
        return fixed(index + 3, cycle.next(cycle.next(line.today).end))
    return None


def weekend_alone(line: Line, index: int, cue: str) -> Term | None:
    """Read "over the weekend": the latest that has begun."""
    told = cue in {"over", "during", "at"} and line.word(index - 1) == "the"
    return Term(index + 1, CALENDAR["weekend"].at) if told else None
