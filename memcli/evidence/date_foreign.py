"""Absolute dates in other languages, through dateparser.

Only a day beside a month name of another language, or a date in Han or Hangul units, is handed
over, alone and with strict settings: dateparser finds dates in plain prose where there are none,
and its import takes half a second that the common question must not pay. Only the locales in
which the month exists are tried: all of them take 0.15 s a date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime

from memcli.evidence.date_words import FOREIGN_MONTHS

_WEST = (
    r"\d{1,2}(?:\.|º|er)?\ (?:de\ )?(?P<name>[^\W\d_]{3,12})(?!\w)"
    r"(?:\.?,?\ (?:de\ )?\d{4}(?!\w))?"
)
_EAST = r"\d{4}\s?[年년]\s?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일]"
_ENGLISH = frozenset(["mars", "mart", "maja"])
_CANDIDATE = re.compile(rf"(?<![\w./:-])(?:{_WEST}|{_EAST})")


def foreign_dates(text: str, reference: datetime) -> Iterator[tuple[date, tuple[int, int]]]:
    """Yield the days, with their spans, of dates that only dateparser can read.

    Args:
        text: Any text; most hold no candidate, which costs one regular expression.
        reference: Local moment that a date without a year lies before.
    """
    for found in _CANDIDATE.finditer(text):
        name = found["name"]
        if name is not None and not _is_month(name.casefold(), found[0]):
            continue
        languages = FOREIGN_MONTHS[name.casefold()] if name else ["zh", "ja", "ko"]
        day = _parse(found[0], languages, reference)
        if day is not None:
            yield day, found.span()


def _is_month(name: str, words: str) -> bool:
    """Say whether a name is a month; "3 mars" needs its year, it may be three bars."""
    return name in FOREIGN_MONTHS and (name not in _ENGLISH or words[-4:].isdigit())


def _parse(words: str, languages: list[str], reference: datetime) -> date | None:
    import dateparser  # half a second: only for a text that holds such a date

    parsed = dateparser.parse(
        words,
        languages=languages,
        settings={
            "REQUIRE_PARTS": ["day", "month"],
            "RELATIVE_BASE": reference.replace(tzinfo=None),
            "PREFER_DATES_FROM": "past",
            "PARSERS": ["absolute-time"],
            "DATE_ORDER": "YMD" if words[:4].isdigit() else "DMY",
        },
    )
    return None if parsed is None else parsed.date()
