"""Words → windows of days, against a reference time and zone that are parameters.

A small rule set for English that returns the *window* people mean, where libraries return a day.
It reads questions (against the time of asking) and stored turns (against the time of the turn).
No clock is read.

What the words are taken to mean (the reference is "today", ends are inclusive):

==============================  ===============================================================
words                           window
==============================  ===============================================================
last X                          the latest X that was over before today: on a Wednesday, "last
                                Tuesday" is yesterday; "last week" the previous Monday to Sunday;
                                "last summer", "last May" likewise
this X                          the X going on, else the one of this week (weekday, weekend) or
                                this year (month, season, holiday)
next X                          the first X after today; for weekdays, that of the next week
on Friday                       the latest one strictly before today (past preferred)
May, May 8th, Q1, summer        the latest that has begun; alone only after a preposition
N days or weeks ago             that day; weeks carry a slack of 3 days, see `Window`
N months, years ago             the whole month, the whole year; "a couple" is 2
a few, several units ago        what they may mean: 2 to 5, 3 to 7 units
the past N units                from N units ago to today; also "the past year", "the last week"
from X to Y, between X and Y    both included; a missing year is taken from the other end
in May and June                 one window where months or years lie side by side
since X                         from the first day of X to today
before X, until X, by X         open start; to the day before X, else to the last day of X
after X, from X onwards         open end; from the day after X, else from its first day
first week of May               1 to 7 May; the last week is the last seven days
early, mid, late May            1-10, 11-20, 21-31; years and seasons are cut by months
week of May 8                   the Monday to Sunday around it
N days before X                 that day; "the week before X" the seven days before it
winter 2022                     December 2022 to February 2023
5/6/2023, 5.6.2023              month first with slashes, day first with dots and dashes
Christmas, Halloween …          the day itself; those of fixed date, Easter and Thanksgiving
==============================  ===============================================================

What is no date: a month, weekday, season or holiday that may be a name, a verb or an adjective
("may", "May's dog", "sun", "summer job"), a number that counts ("in 2000 steps"), versions, prices,
ratios, clock times, phone numbers, habits ("on Fridays"). Precision wins over recall: a false
window would open the time channel for nothing. Dates of other languages: `date_foreign`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from memcli.evidence.date_composed import STARTS, read_term
from memcli.evidence.date_foreign import foreign_dates
from memcli.evidence.date_line import Line, Term, Unknown
from memcli.evidence.date_periods import DAY, Period
from memcli.evidence.date_tokens import tokens
from memcli.evidence.date_words import MONTHS, may_hold_date, word_set


@dataclass(frozen=True, slots=True)
class Window:
    """Whole days that a text names.

    Attributes:
        start: First day, None when open.
        end: Last day, included, None when open.
        text: The words it came from, verbatim, with their preposition.
        span: Offsets of these words: ``text[span[0]:span[1]]``.
        slack: Days by which the words are loose on either side; a search may widen by as much.
    """

    start: date | None
    end: date | None
    text: str
    span: tuple[int, int]
    slack: int = 0


@dataclass(frozen=True, slots=True)
class DateReading:
    """What a text says about dates, in order of appearance.

    Attributes:
        windows: Spans of days, not overlapping in the text.
        unknown_anchors: Words that need the date of an event: "two weeks before my birthday".
    """

    windows: tuple[Window, ...] = ()
    unknown_anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """A window before it has its words: it ends before token ``stop``."""

    stop: int
    start: date | None
    end: date | None
    slack: int = 0


_NOTHING = DateReading()
_PLACES = word_set("in on at during over for around about throughout within")
_OPEN = word_set("since after before until till by prior up starting")
_TWO_WORDS = {"prior": "to", "up": "to"}
_RANGES = frozenset(["from", "between"])
_JOINS = frozenset(["-", "–", "—", "to", "through", "until", "till"])
_DIGITS = frozenset(["number", "date", "time"])
_BEGINS = STARTS | _PLACES | _OPEN | _RANGES


def read_dates(text: str, *, reference: datetime, tz: tzinfo) -> DateReading:
    """Return the windows of days that a text names, in order of appearance.

    Reading goes from left to right; at each word the longest reading wins and what it covers is
    not read again. A caller that wants to spare the import asks `may_hold_date` first.

    Args:
        text: A question or a stored turn; any Unicode, never raises. Linear in its length.
        reference: The aware moment from which "yesterday" is told.
        tz: The zone in which days begin and end.

    Raises:
        ValueError: When ``reference`` has no zone.
    """
    if reference.tzinfo is None:
        raise ValueError("the reference time needs a zone")
    if not may_hold_date(text):
        return _NOTHING
    try:
        now = reference.astimezone(tz)
    except OverflowError:  # a turn stamped in year 1 or 9999: no day to tell from
        return _NOTHING
    line = Line(tokens(text), now)
    windows, anchors = _scan(line, text)
    foreign = (Window(day, day, text[a:b], (a, b)) for day, (a, b) in foreign_dates(text, now))
    extra = [found for found in foreign if not any(_overlap(found, known) for known in windows)]
    if extra:
        windows = sorted([*windows, *extra], key=lambda window: window.span)
    return DateReading(tuple(windows), tuple(anchors))


def _overlap(one: Window, other: Window) -> bool:
    return one.span[0] < other.span[1] and other.span[0] < one.span[1]


def _scan(line: Line, text: str) -> tuple[list[Window], list[str]]:
    windows: list[Window] = []
    anchors: list[str] = []
    index = 0
    for at, token in enumerate(line.tokens):
        if at < index or (token.word not in _BEGINS and token.kind not in _DIGITS):
            continue
        found = _read_at(line, at)
        if found is None:
            continue
        index = found.stop
        span = (token.start, line.tokens[found.stop - 1].end)
        words = text[span[0] : span[1]]
        if isinstance(found, Unknown):
            anchors.append(words)
        else:
            windows.append(Window(found.start, found.end, words, span, found.slack))
    return windows, anchors


def _read_at(line: Line, index: int) -> _Found | Unknown | None:
    """Return the window that begins at a token; a day that no calendar has is no window."""
    try:
        return _read(line, index, line.word(index))
    except (ValueError, OverflowError):  # 30 February, the year 12000
        return None


def _read(line: Line, index: int, word: str) -> _Found | Unknown | None:
    if word in _RANGES:
        found = _range(line, index + 1, word, "and" if word == "between" else "")
        return found or (_from(line, index + 1) if word == "from" else None)
    if word in _OPEN:
        return _open(line, index, word)
    if word in _PLACES:
        return _plain(line, _after_clock(line, index + 1), word)
    if line.token(index).kind == "time":
        after = _after_clock(line, index)
        return _plain(line, after, "on") if after > index else None
    bare_range = (
        word in MONTHS and line.word(index + 1) in _JOINS and line.word(index + 2) in MONTHS
    )
    if bare_range and line.tokens[index].text[0].isupper():
        return _range(line, index, "from", "")
    return _plain(line, index, "")


def _plain(line: Line, index: int, cue: str) -> _Found | Unknown | None:
    term = read_term(line, index, cue)
    if not isinstance(term, Term):
        return term
    joined = _range(line, index, cue, "") if line.word(term.stop) in _JOINS else None
    if joined is None and cue and line.word(term.stop) in {"and", "or"}:
        joined = _neighbours(line, term)
    if joined is not None:
        return joined
    return _whole(line, term)


def _whole(line: Line, term: Term) -> _Found:
    period = term.at(line.today)
    if line.word(term.stop) in {"onward", "onwards"}:
        return _Found(term.stop + 1, period.start, None)
    return _Found(term.stop, period.start, period.end, term.slack)


def _neighbours(line: Line, term: Term) -> _Found | None:
    """Read "May and June", "2021 or 2022": months or years side by side are one span."""
    other = read_term(line, term.stop + 1, "in")
    if not isinstance(other, Term):
        return None
    second = other.at(line.today)
    first = term.at(second.start)
    beside = first.end + DAY == second.start and first.unit == second.unit
    if not beside or first.unit not in {"month", "year"}:
        return None
    return _Found(other.stop, first.start, second.end)


def _after_clock(line: Line, index: int) -> int:
    """Skip "3pm", "1:56 pm on", "noon" before a date."""
    if line.token(index).kind != "time" and line.word(index) not in {"noon", "midnight"}:
        return index
    return index + 1 + (line.word(index + 1) in {"on", ",", "of"})


def _from(line: Line, index: int) -> _Found | Unknown | None:
    term = read_term(line, index, "from")
    return _whole(line, term) if isinstance(term, Term) else term


def _range(line: Line, index: int, cue: str, join: str) -> _Found | None:
    """Read both ends; one without a year is the latest that begins before the other does."""
    first = read_term(line, index, "between" if cue else "")
    if not isinstance(first, Term):
        return None
    joined = line.word(first.stop) == join if join else line.word(first.stop) in _JOINS
    second = read_term(line, first.stop + 1, "between") if joined else None
    if not isinstance(second, Term):
        whole = first.at(line.today)
        return _Found(first.stop, whole.start, whole.end) if whole.unit == "span" else None
    last = second.at(line.today)
    start = first.at(last.start).start
    return _Found(second.stop, start, last.end) if start <= last.end else None


def _open(line: Line, index: int, word: str) -> _Found | Unknown | None:
    if word in _TWO_WORDS and line.word(index + 1) != _TWO_WORDS[word]:
        return None
    after = index + 1 + (word in _TWO_WORDS)
    if word == "starting":
        after += line.word(after) in {"in", "on", "from"}
    cue = {"prior": "before", "up": "until", "starting": "since"}.get(word, word)
    term = read_term(line, _after_clock(line, after), cue)
    if not isinstance(term, Term):
        return term
    start, end = _opened(term.at(line.today), cue, line.today)
    return None if start and end and start > end else _Found(term.stop, start, end)


def _opened(period: Period, cue: str, today: date) -> tuple[date | None, date | None]:
    if cue == "since":
        return period.start, today
    if cue == "after":
        return period.end + DAY, None
    return None, period.start - DAY if cue == "before" else period.end
