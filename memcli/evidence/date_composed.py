"""Dates made of dates: "the week before Christmas", "first week of May", "late last month".

`read_term` tries all rules at a position and keeps the longest reading. "two weeks before my
birthday" is a date too, but of an event that only the store can know: `Unknown`.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Literal

from memcli.evidence.date_cycles import CALENDAR, HOLIDAYS
from memcli.evidence.date_days import day_first, month_first, nth_of_month, numeric, worded_day
from memcli.evidence.date_line import Line, Rule, Term, Unknown, fixed
from memcli.evidence.date_named import (
    day_word,
    decade_name,
    holiday,
    quarter_name,
    season_name,
    weekday_name,
    year_alone,
)
from memcli.evidence.date_periods import (
    DAY,
    Period,
    Unit,
    nth_weekday,
    one_day,
    part,
    third,
    week,
    weekend,
)
from memcli.evidence.date_relative import (
    STEPS,
    WHICH,
    WHOLE,
    Amount,
    ago,
    amount_at,
    before_last,
    relative,
    rolling,
    shift,
    stepped,
    weekend_alone,
)
from memcli.evidence.date_words import (
    DAY_WORDS,
    DECADES,
    MONTHS,
    NUMBERS,
    ORDINALS,
    PARTS,
    PARTS_OF,
    SEASONS,
    VAGUE,
    WEEKDAYS,
    word_set,
)

_OWNERS = word_set("my your his her its our their the this that")
_PHRASE_ENDS = word_set(
    "about and or in on at to with for from by of but that did does do was were is when"
    " where while which who what how he she it they we i you"
)


def offset(line: Line, index: int, cue: str) -> Term | Unknown | None:
    """Read "two weeks before Christmas", "the day after tomorrow", "two weeks before my birthday".

    "the week before X" is the seven days up to the day before X, "a week before X" that day.
    """
    amount = amount_at(line, index)
    definite = line.word(index) == "the"
    if definite and line.word(index + 1) in {"day", "week", "month", "year", "weekend"}:
        amount = Amount(1, 1, line.word(index + 1), index + 2)
    side = line.word(amount.stop) if amount else ""
    if amount is None or side not in {"before", "after"} or amount.unit not in STEPS:
        return None
    sign = -1 if side == "before" else 1
    anchor = read_term(line.deeper(), amount.stop + 1, side)
    if not isinstance(anchor, Term):
        stop = anchor.stop if anchor else _phrase_end(line, amount.stop + 1)
        return Unknown(stop) if stop > amount.stop + 1 else None
    return _from_anchor(line, amount, anchor, sign, definite and amount.unit != "day")


def _from_anchor(line: Line, amount: Amount, anchor: Term, sign: int, whole: bool) -> Term:
    period = anchor.at(line.today)
    edge = period.start if sign < 0 else period.end
    if amount.unit == "weekend":
        return fixed(anchor.stop, weekend(edge - DAY if sign < 0 else edge + timedelta(days=7)))
    if period.unit == amount.unit and amount.unit in WHOLE:
        whole = False
    if not whole:
        return stepped(edge, amount, anchor.stop, sign)
    far = shift(edge, amount.unit, sign)
    span = Period(far, edge - DAY) if sign < 0 else Period(edge + DAY, far)
    return fixed(anchor.stop, span)


def _phrase_end(line: Line, index: int) -> int:
    """Return where "my birthday" or "Mara's wedding" ends: at most four words."""
    owner = line.word(index) in _OWNERS or line.word(index + 1) == "'s"
    if not owner:
        return index
    stop = index + 1
    while (
        stop < index + 5 and line.token(stop).kind == "word" and line.word(stop) not in _PHRASE_ENDS
    ):
        stop += 1
    return stop if stop > index + 1 else index


_PART_UNITS: dict[str, Unit | Literal["half"]] = {
    "day": "day",
    "week": "week",
    "weekend": "weekend",
    "month": "month",
    "quarter": "quarter",
    "half": "half",
}


def nth_part(line: Line, index: int, cue: str) -> Term | None:
    """Read "first week of May", "last Friday of 2022", "second half of last year"."""
    token = line.token(index)
    nth = token.value if token.suffix == "th" else ORDINALS.get(token.word)
    word = line.word(index + 1)
    if nth is None or not 0 != nth < 367:
        return None
    if word not in WEEKDAYS and word not in _PART_UNITS:
        return None
    linked = line.word(index + 2) in {"of", "in"}
    whole = read_term(line.deeper(), index + 2 + linked, "in")
    if not isinstance(whole, Term) or not (linked or line.token(index + 2).kind == "number"):
        return None
    return Term(whole.stop, lambda day: _nth(whole.at(day), word, nth))


def _nth(whole: Period, word: str, nth: int) -> Period:
    if word in WEEKDAYS:
        return one_day(nth_weekday(whole, WEEKDAYS[word], nth))
    return part(whole, _PART_UNITS[word], nth)


def part_name(line: Line, index: int, cue: str) -> Term | None:
    """Read "early May", "mid-2022", "late in the summer", "the end of last month"."""
    word = line.word(index)
    if word in PARTS:
        which, after = PARTS[word], index + 1 + (line.word(index + 1) in {"-", "in"})
    elif word in PARTS_OF and line.word(index + 1) == "of":
        which, after = PARTS_OF[word], index + 2
    else:
        return None
    whole = read_term(line.deeper(), after, "in")
    return (
        Term(whole.stop, lambda day: third(whole.at(day), which))
        if isinstance(whole, Term)
        else None
    )


def unit_of(line: Line, index: int, cue: str) -> Term | None:
    """Read "week of May 8", "weekend of 20 May", "month of May", "year 2022"."""
    word = line.word(index)
    linked = line.word(index + 1) == "of"
    if not linked and not (word == "year" and line.token(index + 1).kind == "number"):
        return None
    named = read_term(line.deeper(), index + 1 + linked, "in")
    if not isinstance(named, Term):
        return None
    if word in {"week", "weekend"}:
        round_to = week if word == "week" else weekend
        return Term(named.stop, lambda day: _around(named.at(day), round_to is weekend))
    return named if named.at(line.today).unit == word else None


def _around(period: Period, only_weekend: bool) -> Period:
    if period.unit != "day":
        raise ValueError("only a day has a week around it")
    whole = week(period.start)
    return Period(whole.end - DAY, whole.end, "weekend") if only_weekend else whole


def earlier(line: Line, index: int, cue: str) -> Term | None:
    """Read "earlier this year", "later this week": up to or from today if it is going on."""
    named = read_term(line.deeper(), index + 1 + (line.word(index + 1) == "in"), "in")
    if not isinstance(named, Term):
        return None
    whole, today = named.at(line.today), line.today
    if not whole.start <= today <= whole.end:
        return named
    past = line.word(index) == "earlier"
    return fixed(named.stop, Period(whole.start, today) if past else Period(today, whole.end))


_RULES: tuple[tuple[Collection[str], tuple[Rule, ...]], ...] = (
    (MONTHS, (month_first,)),
    (SEASONS, (season_name, before_last)),
    (WEEKDAYS, (weekday_name, before_last)),
    (DAY_WORDS, (day_word,)),
    (DECADES, (decade_name,)),
    ({words[0] for words in HOLIDAYS}, (holiday,)),
    (["q#"], (quarter_name,)),
    (CALENDAR, (before_last,)),
    (["week", "weekend", "month", "year"], (unit_of,)),
    (["weekend"], (weekend_alone,)),
    (WHICH, (rolling, relative)),
    (ORDINALS, (nth_part, worded_day)),
    ([*PARTS, *PARTS_OF], (part_name,)),
    (["earlier", "later"], (earlier,)),
    ([*NUMBERS, *VAGUE, "half"], (ago,)),
)
_BY_WORD: dict[str, tuple[Rule, ...]] = {
    word: tuple(rule for others, rules in _RULES if word in others for rule in rules)
    for words, _ in _RULES
    for word in words
}
_NUMBER_RULES: tuple[Rule, ...] = (day_first, year_alone, decade_name, nth_of_month, nth_part, ago)
_DEEPEST = 4
"""Dates inside dates that are followed: "the day before the end of the first week of May" is 3."""


def read_term(line: Line, index: int, cue: str) -> Term | Unknown | None:
    """Return the longest date that begins at a position, after "the" or not."""
    if line.depth > _DEEPEST:
        return None
    token = line.token(index)
    unknown = (
        offset(line, index, cue) if token.word in _OFFSET_STARTS or token.kind == "number" else None
    )
    if unknown is not None:
        return unknown
    if token.word == "the":
        index += 1 + (line.word(index + 1) in {"'", "’"})  # the '90s
        token = line.token(index)
    if token.kind == "number":
        rules = _NUMBER_RULES
    else:
        rules = (numeric,) if token.kind == "date" else _BY_WORD.get(token.word, ())
    found = [term for rule in rules if (term := rule(line, index, cue)) is not None]
    return max(found, key=lambda term: term.stop, default=None)


_OFFSET_STARTS = frozenset(NUMBERS) | frozenset(VAGUE) | {"the"}
STARTS = frozenset(_BY_WORD) | _OFFSET_STARTS
"""Words a date can begin with, prepositions apart."""
