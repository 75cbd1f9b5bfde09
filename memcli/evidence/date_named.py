"""Years, decades, quarters, seasons, holidays, weekdays and "yesterday" by their names."""

from __future__ import annotations

from datetime import date, timedelta

from memcli.evidence.date_cycles import HOLIDAYS, named_quarter, named_season
from memcli.evidence.date_days import AFTER_NAME, DASHES, day_first, month_first, numeric
from memcli.evidence.date_line import LOOSE, STRICT, Line, Term, fixed, year_after, year_number
from memcli.evidence.date_periods import DAY, Period, decade, months_from, one_day, week, weekday
from memcli.evidence.date_tokens import Token
from memcli.evidence.date_words import (
    COMPOUNDS,
    DAY_PARTS,
    DAY_WORDS,
    DECADES,
    SEASONS,
    WEEKDAYS,
    word_set,
)

_YEAR_CUES = STRICT | word_set("by from around")
_SEASON_CUES = STRICT | word_set("over for by around from")
_WEEKDAY_CUES = word_set("on since until till before after by from for around between")
_NOT_BEFORE_WEEKDAY = word_set(
    "a an the every each any one my your his her our their called named good black holy of and or"
)


def year_alone(line: Line, index: int, cue: str) -> Term | None:
    """Read "2022", "2019-2021" after a preposition, "2023 Q1" and "the year 2022"."""
    number = year_number(line, index)
    if number is None:
        return None
    if line.word(index + 1) == "q#":
        number_q = line.token(index + 1).value
        return fixed(index + 2, months_from(number, number_q * 3 - 2, "quarter"))
    if cue not in _YEAR_CUES:
        return None
    last = year_number(line, index + 2) if line.word(index + 1) in DASHES else None
    whole = months_from(number, 1, "year")
    if last is None or last <= number:
        return fixed(index + 1, whole)
    return fixed(index + 3, Period(whole.start, date(last, 12, 31)))


def decade_name(line: Line, index: int, cue: str) -> Term | None:
    """Read "the 2010s", "the 90s", "the nineties"; two digits mean 1950 to 1999 only."""
    token, before = line.token(index), line.word(index - 1)
    named = DECADES.get(token.word)
    if named is None and (token.suffix != "s" or token.value % 10):
        return None
    first = named or token.value
    if 1800 <= first <= 2190 and named is None:
        return fixed(index + 1, decade(date(first, 1, 1)))
    first += 1900 if first < 100 else 0
    if not 1950 <= first <= 1990 or cue not in STRICT or before not in {"the", "'", "’"}:
        return None
    return fixed(index + 1, decade(date(first, 1, 1)))


def quarter_name(line: Line, index: int, cue: str) -> Term | None:
    """Read "Q1 2023", or "Q1" after a preposition."""
    number = line.token(index).value
    in_year, stop = year_after(line, index + 1)
    if in_year is not None:
        return fixed(stop, months_from(in_year, number * 3 - 2, "quarter"))
    return Term(index + 1, named_quarter(number).at) if cue in LOOSE else None


def season_name(line: Line, index: int, cue: str) -> Term | None:
    """Read "summer 2022", or "the summer" after a preposition and not as an adjective."""
    word = line.word(index)
    in_year, stop = year_after(line, index + 1)
    if in_year is not None:
        return fixed(stop, months_from(in_year, SEASONS[word], "season"))
    accident = word in {"fall", "spring"} and cue in {"before", "after", "since"}
    if cue not in _SEASON_CUES or accident or line.word(index + 1) in COMPOUNDS:
        return None
    return Term(index + 1, named_season(word).at)


def holiday_length(line: Line, index: int) -> int:
    """Return how many tokens the longest holiday name at a position has, 0 for none."""
    for length in (4, 3, 2, 1):
        if tuple(line.word(index + step) for step in range(length)) in HOLIDAYS:
            return length
    return 0


def holiday(line: Line, index: int, cue: str) -> Term | None:
    """Read "Christmas 2022", or "Christmas" after a preposition and not as an adjective."""
    length = holiday_length(line, index)
    if not length:
        return None
    cycle = HOLIDAYS[tuple(line.word(index + step) for step in range(length))]
    in_year, stop = year_after(line, index + length)
    if in_year is not None:
        return fixed(stop, cycle.at(date(in_year, 12, 31)))
    adjective = line.word(index - 1) == "the" and cue not in {"over", "during"} and length == 1
    if cue not in LOOSE or adjective or line.word(stop) in COMPOUNDS:
        return None
    return Term(stop, cycle.at)


def weekday_name(line: Line, index: int, cue: str) -> Term | None:
    """Read "Saturday, May 20", "Friday last week", "Friday evening" or "on Friday"."""
    name = line.token(index)
    stop = (
        index
        + 1
        + (len(name.word) < 6 and line.word(index + 1) == "." and index + 2 < len(line.tokens))
    )
    full = name.word.endswith("day")
    if not full and not name.text[0].isupper():
        return None
    after = line.token(stop)  # "Saturday Night" may be a title
    part = full and after.word in DAY_PARTS and (after.text.islower() or name.text.isupper())
    dated = _weekday_date(line, stop + (line.word(stop) == ","), name)
    if dated is not None:
        return dated
    if not part and not _weekday_alone(line, index, cue):
        return None
    stop = stop + 1 if part else index + 1
    at = weekday(WEEKDAYS[name.word])
    return Term(stop, lambda day: at(day - DAY))


def _weekday_date(line: Line, index: int, name: Token) -> Term | None:
    index += line.word(index) == "the"
    for rule in (numeric, month_first, day_first):
        term = rule(line, index, "")
        if term is not None:
            return term
    index += line.word(index) == "of"
    shift = {"last": -1, "this": 0, "next": 1}.get(line.word(index))
    if shift is None or line.word(index + 1) != "week":
        return None
    day = week(line.today).start + timedelta(days=WEEKDAYS[name.word], weeks=shift)
    return fixed(index + 2, one_day(day))


def _weekday_alone(line: Line, index: int, cue: str) -> bool:
    name, after, before = line.token(index), line.token(index + 1), line.token(index - 1)
    if after.word == "'s":
        return False
    if not name.word.endswith("day"):
        named = before.word == "the" or (after.kind == "word" and after.word not in AFTER_NAME)
        return cue in _WEEKDAY_CUES and not named
    if cue in _WEEKDAY_CUES and before.word != "the":
        return True
    closes = after.kind == "mark" and after.text not in "-–—/'’&"
    plain = before.kind == "word" and before.text.islower()
    return closes and plain and before.word not in _NOT_BEFORE_WEEKDAY


def day_word(line: Line, index: int, cue: str) -> Term | None:
    """Read "yesterday", "today", "tomorrow evening"; "USA Today" is a name."""
    token, before = line.token(index), line.token(index - 1)
    title = token.text.istitle() and before.kind == "word" and before.text[0].isupper()
    if title and token.word == "today":
        return None
    stop = index + 1 + (line.word(index + 1) in DAY_PARTS)
    return fixed(stop, one_day(line.today + timedelta(days=DAY_WORDS[token.word])))
