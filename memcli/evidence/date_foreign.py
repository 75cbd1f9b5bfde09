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
from functools import cache, lru_cache

_MONTHS = {
    "de": "januar jänner februar feber märz mai juni juli oktober dezember",
    "fr": "janvier février fevrier mars avril mai juin juillet août aout septembre octobre"
    " novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre"
    " noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro"
    " dezembro",
    "nl": "januari februari maart mei juni juli augustus oktober",
    "sv": "januari februari mars maj juni juli augusti oktober",
    "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września"
    " października listopada grudnia",
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "uk": "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "tr": "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
}
"""Month names by the code of their language; three letters or more."""

_WEST = (
    r"\d{1,2}(?:\.|º|er)?\ (?:de\ )?(?P<name>[^\W\d_]{3,12})(?!\w)"
    r"(?:\.?,?\ (?:de\ )?\d{4}(?!\w))?"
)
_EAST = r"\d{4}\s?[年년]\s?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일]"
_ENGLISH = frozenset(["mars", "mart", "maja"])
"""These need their year: "3 mars" may be three bars."""


@cache
def _candidate() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w./:-])(?:{_WEST}|{_EAST})")


@lru_cache(maxsize=1024)
def _languages(name: str) -> list[str]:
    """Return the languages in which a word is a month."""
    return [language for language, names in _MONTHS.items() if name in names.split()]


def foreign_dates(text: str, reference: datetime) -> Iterator[tuple[date, tuple[int, int]]]:
    """Yield the days, with their spans, of dates that only dateparser can read.

    Args:
        text: Any text; most hold no candidate, which costs one regular expression.
        reference: Local moment that a date without a year lies before.
    """
    for found in _candidate().finditer(text):
        name = (found["name"] or "").casefold()
        languages = _languages(name) if name else ["zh", "ja", "ko"]
        if not languages or (name in _ENGLISH and not found[0][-4:].isdigit()):
            continue
        day = _parse(found[0], languages, reference)
        if day is not None:
            yield day, found.span()


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
