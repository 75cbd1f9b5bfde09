"""A text cut into the tokens that the date rules read."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

Kind = Literal["word", "number", "date", "time", "other", "mark"]


class Token(NamedTuple):
    """A word, number, numeric date, clock time or mark (a tuple: made by the dozen for each turn).

    Attributes:
        kind: ``other`` is anything with digits that is no plain number: versions, prices, phones.
        text: Verbatim.
        word: Lower case for words, ``'s`` for a possessive ending, else the text.
        start: Offset of the first character.
        end: Offset after the last character.
        value: The number, or 0.
        suffix: ``th`` for an ordinal, ``s`` for a decade, else empty.
    """

    kind: Kind
    text: str
    word: str
    start: int
    end: int
    value: int = 0
    suffix: Literal["", "th", "s"] = ""


_CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?"
_TOKEN = rf"""
    (?P<word> [^\W\d_]++(?!\w) )
  | (?P<date> (?<![\w./:$€£\#+-])
        (?: \d{{4}}(?P<by>[-/.])\d{{1,2}}(?P=by)\d{{1,2}}
          | \d{{1,2}}(?P<cut>[-/.])\d{{1,2}}(?P=cut)\d{{4}} )
        (?: \ \([^\W\d_]{{2,9}}\) )?
        (?: (?:[Tt]|,?\ ){_CLOCK} (?:Z|[+-]\d\d:?\d\d)? )?
        (?![\w/-]|[.:]\d) )
  | (?P<time> (?<![\w./:-]) \d{{1,2}}
        (?: :\d\d(?::\d\d)? (?:\s?[aApP]\.?[mM]\b\.?)? | \s?[aApP]\.?[mM]\b\.? ) (?![\w:]) )
  | (?P<number> (?<![\w$€£\#./:+]) (?!(?<=\d,)\d{{3}}(?!\d))
        \d{{1,4}} (?P<suffix>(?i:st|nd|rd|th|s))?
        (?![\w%€£°]|[./:]\d|,\d{{3}}(?!\d)|-\d+-) )
  | (?P<quarter> [Qq][1-4](?!\w) )
  | (?P<poss> ['’][sS](?!\w) )
  | (?P<other> \w++ )
  | (?P<mark> [^\w\s] )
    """
"""Prices, versions, phone numbers and thousands fall through to ``other`` and ``mark``."""


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(_TOKEN, re.VERBOSE)  # milliseconds: only for a text that may hold a date


def tokens(text: str) -> list[Token]:
    """Cut a text into tokens, in order; linear in its length."""
    return [_token(found) for found in _pattern().finditer(text)]


def _token(found: re.Match[str]) -> Token:
    kind, text = found.lastgroup, found[0]
    start, end = found.span()
    if kind == "word":
        return Token("word", text, text.lower(), start, end)
    if kind == "poss":
        return Token("word", text, "'s", start, end)
    if kind == "mark":
        return Token("mark", text, text, start, end)
    if kind == "quarter":
        return Token("word", text, "q#", start, end, int(text[1]))
    if kind == "number":
        return _number(found)
    if kind == "date":
        return Token("date", text, "", start, end)
    return Token("time" if kind == "time" else "other", text, "", start, end)


def _number(found: re.Match[str]) -> Token:
    suffix = (found["suffix"] or "").lower()
    digits = found[0][: len(found[0]) - len(suffix)]
    kind: Literal["", "th", "s"] = "" if not suffix else "s" if suffix == "s" else "th"
    return Token("number", found[0], found[0], *found.span(), value=int(digits), suffix=kind)
