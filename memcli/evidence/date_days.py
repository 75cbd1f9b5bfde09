"""Days and months by name or number: "May 8th, 2023", "1-15 May", "in May", "2023-05-08".

Without a year they mean their latest occurrence that begins on or before a given day.
"""

from __future__ import annotations

from datetime import date, datetime, tzinfo

from memcli.evidence.date_cycles import CALENDAR, named_month
from memcli.evidence.date_line import STRICT, Line, Term, fixed, year_after, year_number
from memcli.evidence.date_periods import At, Period, month_day, months_from, one_day, yearly
from memcli.evidence.date_tokens import Token
from memcli.evidence.date_words import (
    ABBREVIATIONS,
    COUNTED,
    MONTHS,
    NAMELIKE,
    ORDINALS,
    VERBLIKE,
    word_set,
)

_MONTH_CUES = STRICT | {"by", "from", "around", "for"}
DASHES = frozenset("-–—")
_TO = DASHES | {"to", "through", "until", "till"}
AFTER_NAME = word_set(
    "about and or in on at to with for of but that did does do when where while which who"
)
_AFTER_MAY = word_set(
    "be have not also well seem look need help sound just i you we they he she it never"
    " even still only require cause mean make come go get contain include vary differ"
    " want"
)


def _day_number(token: Token) -> int | None:
    plain = token.kind == "number" and token.suffix != "s"
    return token.value if plain and 1 <= token.value <= 31 else None


def _days(number: int, first: int, last: int) -> At:
    return yearly(lambda in_year: Period(date(in_year, number, first), date(in_year, number, last)))


def _day_of_month(line: Line, stop: int, number: int, first: int, last: int) -> Term | None:
    """Complete a day or days of a month with the year that may follow."""
    if last < first:
        return None
    in_year, stop = year_after(line, stop)
    if in_year is None:
        if first == last:
            return Term(stop, yearly(lambda year: one_day(date(year, number, first))))
        return Term(stop, _days(number, first, last))
    try:
        start, end = date(in_year, number, first), date(in_year, number, last)
    except ValueError:
        return None
    return fixed(stop, one_day(start) if first == last else Period(start, end))


def _second_day(line: Line, index: int, cue: str) -> tuple[int | None, int]:
    """Return the day that closes "1-15" or, after "between", "1 and 15"."""
    joined = line.word(index) in _TO or (cue == "between" and line.word(index) == "and")
    index += joined and line.word(index + 1) == "the"
    return (_day_number(line.token(index + 1)), index + 2) if joined else (None, index)


def month_first(line: Line, index: int, cue: str) -> Term | None:
    """Read "May 8th, 2023", "May 1-15", "May 2023" or, after a preposition, "May"."""
    name = line.token(index)
    number = MONTHS.get(name.word)
    if number is None or line.word(index + 1) == "'s":
        return None
    after = index + 1
    if line.token(after + 1).kind == "number" and (
        line.word(after) == "-" or (name.word in ABBREVIATIONS and line.word(after) == ".")
    ):
        after += 1
    first = _day_number(line.token(after))
    if first is not None and line.token(after).text != "":
        return _month_then_day(line, after, number, cue)
    in_year, stop = year_after(line, after)
    if in_year is not None and (cue or not _plain_word(name)):
        return fixed(stop, months_from(in_year, number, "month"))
    return Term(index + 1, named_month(number).at) if month_alone(line, index, cue) else None


def _month_then_day(line: Line, index: int, number: int, cue: str) -> Term | None:
    day = line.token(index)
    last, stop = _second_day(line, index + 1, cue)
    if last is None or line.word(stop) in MONTHS:
        last, stop = day.value, index + 1
    if not day.suffix and line.word(stop) in COUNTED:
        return None
    weak = not cue and _plain_word(line.token(index - 1)) and not day.suffix
    if weak and year_after(line, stop)[0] is None:
        return None
    return _day_of_month(line, stop, number, day.value, last)


def _plain_word(name: Token) -> bool:
    return name.word in VERBLIKE and name.text.islower()


def month_alone(line: Line, index: int, cue: str) -> bool:
    """Say whether a month without day and year is meant as one."""
    name, after = line.token(index), line.token(index + 1)
    if (
        line.word(index - 1) == "the"
        or after.word == "'s"
        or (name.word == "may" and after.word in _AFTER_MAY)
    ):
        return False
    if name.word not in NAMELIKE or (name.word == "march" and not _plain_word(name)):
        return cue in _MONTH_CUES
    if cue in {"before", "after"} or _plain_word(name):
        return cue in STRICT and (after.kind == "mark" or after.word in AFTER_NAME)
    return cue in STRICT


def day_first(line: Line, index: int, cue: str) -> Term | None:
    """Read "8 May 2023", "the 8th of May", "1-15 May" and, after "between", "1 and 15 May"."""
    day = line.token(index)
    first = _day_number(day)
    if first is None:
        return None
    last, after = _second_day(line, index + 1, cue)
    if last is None:
        last, after = first, index + 1
    linked = line.word(after) == "of"
    after += linked or line.word(after) == "-"
    name = line.token(after)
    number = MONTHS.get(name.word)
    if number is None:
        return None
    dot = line.word(after + 1) == "." and year_number(line, after + 2) is not None
    stop = after + 1 + dot
    sure = (
        cue
        or linked
        or day.suffix
        or not _plain_word(name)
        or year_after(line, stop)[0] is not None
    )
    return _day_of_month(line, stop, number, first, last) if sure else None


def worded_day(line: Line, index: int, cue: str) -> Term | None:
    """Read "the second of January"."""
    number, month = ORDINALS.get(line.word(index), 0), MONTHS.get(line.word(index + 2))
    if number < 1 or month is None or line.word(index + 1) != "of":
        return None
    return _day_of_month(line, index + 3, month, number, number)


def nth_of_month(line: Line, index: int, cue: str) -> Term | None:
    """Read "on the 8th", when nothing follows that it could count."""
    day, after = line.token(index), line.token(index + 1)
    number = _day_number(day)
    if number is None or day.suffix != "th" or cue != "on" or line.word(index - 1) != "the":
        return None
    if line.word(index + 1) == "of" and line.word(index + 3) == "month":
        cycle, which = CALENDAR["month"], line.word(index + 2)
        if which in {"last", "this"}:
            period = cycle.last(line.today) if which == "last" else cycle.this(line.today)
            return fixed(index + 4, one_day(period.start.replace(day=number)))
    closes = after.kind == "mark" and after.text not in {"-", "–", "'", "’"}
    return Term(index + 1, month_day(number)) if closes else None


def numeric(line: Line, index: int, cue: str) -> Term | None:
    """Read a numeric date token: year first, day first with dots, month first with slashes.

    A number above 12 decides against that order. A stated UTC offset moves the day into the zone.
    """
    token = line.token(index)
    if token.kind != "date":
        return None
    try:
        return fixed(index + 1, one_day(_numeric_day(token.text, line.zone)))
    except ValueError:  # 2023-13-45 and the like are no dates
        return None


def _numeric_day(text: str, zone: tzinfo | None) -> date:
    if "T" in text and (text.endswith("Z") or (text[-3] == ":" and text[-6] in "+-")):
        return datetime.fromisoformat(text).astimezone(zone).date()
    mark = next(char for char in text if char in "-/.")
    one, two, three = (int(part[:4]) for part in _leading(text).split(mark))
    if one > 31:
        return _plausible(one, two, three)
    month_leads = (mark == "/" and one <= 12) or two > 12
    return _plausible(three, one, two) if month_leads else _plausible(three, two, one)


def _leading(text: str) -> str:
    stop = next((at for at, char in enumerate(text) if not (char.isdigit() or char in "-/.")), None)
    return text[:stop]


def _plausible(year: int, month: int, day: int) -> date:
    if not 1800 <= year <= 2199:
        raise ValueError(f"year {year} is not one people talk about")
    return date(year, month, day)
