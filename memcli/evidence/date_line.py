"""What the date rules share: the line they read, the term they return, cues and years.

A rule looks at the tokens from one position on and returns a `Term` or None. Its ``cue`` is the
preposition that stands before ("" for none): many names of dates are plain words or people
without one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo

from memcli.evidence.date_periods import At, Period
from memcli.evidence.date_tokens import Token
from memcli.evidence.date_words import COUNTED, word_set

STRICT = word_set("in since during throughout until till before after between")
"""Prepositions that people's names rarely follow; what namelike months need when alone."""
LOOSE = STRICT | word_set("by from around over for at on")
_END = Token("mark", "", "", 0, 0)


@dataclass(frozen=True, slots=True)
class Line:
    """The tokens of a text, the local moment it is read from, and how deep the reading is."""

    tokens: Sequence[Token]
    now: datetime
    depth: int = 0

    @property
    def today(self) -> date:
        """The reference day."""
        return self.now.date()

    @property
    def zone(self) -> tzinfo | None:
        """The zone in which days are cut."""
        return self.now.tzinfo

    def deeper(self) -> Line:
        """Return the line as a date inside a date sees it."""
        return replace(self, depth=self.depth + 1)

    def token(self, index: int) -> Token:
        """Return a token, or an empty mark outside the text."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else _END

    def word(self, index: int) -> str:
        """Return a token's lower-case word, "" outside the text."""
        return self.token(index).word


@dataclass(frozen=True, slots=True)
class Term:
    """A date as written: where it ends, and what it means as seen from a day.

    Attributes:
        stop: Index of the first token after it.
        at: The latest occurrence that begins on or before a day; the same for every day when the
            words leave no choice.
        slack: Days by which the words are loose on either side.
    """

    stop: int
    at: At
    slack: int = 0


@dataclass(frozen=True, slots=True)
class Unknown:
    """A date that hangs on an event whose date the words do not give; ends before ``stop``."""

    stop: int


Rule = Callable[[Line, int, str], "Term | None"]


def fixed(stop: int, period: Period, slack: int = 0) -> Term:
    """Return a term that means the same from every day."""
    return Term(stop, lambda _: period, slack)


def year_number(line: Line, index: int) -> int | None:
    """Return the four-digit year at a position, unless it counts something."""
    token = line.token(index)
    if token.kind != "number" or token.suffix or not 1800 <= token.value <= 2199:
        return None
    return None if line.word(index + 1) in COUNTED else token.value


def year_after(line: Line, index: int) -> tuple[int | None, int]:
    """Return the year that completes a date, written or as "last year", and where it ends."""
    skip = index + (line.word(index) in {",", "of", "in", "-"})
    number = year_number(line, skip)
    if number is not None:
        return number, skip + 1
    short = line.token(skip + 1)
    if line.word(skip) in {"'", "’"} and short.kind == "number" and len(short.text) == 2:
        return short.value + (2000 if short.value < 50 else 1900), skip + 2  # summer of '22
    if line.word(skip + 1) == "year" and line.word(skip) in {"last", "this", "next"}:
        return line.today.year + {"last": -1, "this": 0, "next": 1}[line.word(skip)], skip + 2
    return None, index
