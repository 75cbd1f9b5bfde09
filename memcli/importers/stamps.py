"""Where times stand in written dialogue: before a name, in brackets, on a line of their own.

This module finds the text of a time; `moments` reads it. A date on a line of its own may be
bare, a heading, bold, in brackets or between rules, with a weekday beside it:
``## 2024-05-03``, ``Sunday 19 May 2024``, ``--- 2024-05-19 ---``, ``**3 May 2024**``. The
whole line must be the date, with a year. Patterns are anchored and bounded.
"""

from __future__ import annotations

import re
from calendar import month_name
from dataclasses import dataclass

_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?:[ \u00a0\u202f]?[AaPp]\.?[Mm]\.?)?"
_ISO_DATE = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}"
_ZONE = r"(?:[ ]?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
_WORDED_DATE = (
    r"(?:\d{1,2}(?:st|nd|rd|th)?[ ](?:of[ ])?[A-Za-z]{3,9},?[ ]\d{4}"
    r"|[A-Za-z]{3,9}[ ]\d{1,2}(?:st|nd|rd|th)?,?[ ]\d{4}"
    r"|\d{1,2}(?P<mark>[-/.])\d{1,2}(?P=mark)\d{4})"
)
_LEAD = re.compile(
    rf"(?P<stamp>{_ISO_DATE}(?:[ ]?T|,?[ ]){_CLOCK}(?:[.,]\d{{1,9}})?{_ZONE}"
    rf"|(?:{_WORDED_DATE},?[ ](?:at[ ])?)?{_CLOCK})[ \t]{{1,4}}(?=[^\W\d_])"
)
_TIME_LIKE = re.compile(
    r"\d:\d\d|\d{4}[-/.]\d{1,2}[-/.]\d|\d[./-]\d{1,2}[./-]\d{2}"
    r"|\d[ ][A-Za-z]{3,9},?[ ]\d{4}|[A-Za-z]{3,9}[ ]\d{1,2},?[ ]\d{4}"
)
_WEEKDAY = r"(?:[Mm]on|[Tt]ue|[Ww]ed|[Tt]hu|[Ff]ri|[Ss]at|[Ss]un)(?:s|nes|rs|ur)?(?:day)?"
_DAY = re.compile(
    rf"(?:{_WEEKDAY}[.,]{{0,2}}[ ])?(?P<date>{_ISO_DATE}|{_WORDED_DATE})"
    rf"(?:,?[ ]\(?{_WEEKDAY}\)?)?:?"
)
_RULE = r"[-=*_~\u2013\u2014]{2,40}"
_FRAMES = (
    re.compile(r"#{1,6}[ \t]{1,4}(?P<in>.*)"),
    re.compile(rf"{_RULE}[ \t]{{1,4}}(?P<in>.*?)[ \t]{{1,4}}{_RULE}"),
)
_SOFT_FRAMES = (
    re.compile(r"(?P<mark>\*\*|__)(?P<in>[^*_]*)(?P=mark):?"),
    re.compile(r"\[(?P<in>[^\[\]]*)\]"),
)
_YEAR = re.compile(r"[0-9]{4}")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)(?: of)?\b")
_MONTHS = frozenset(month[:3].lower() for month in month_name[1:])
LONGEST_DAY = 100
"""Characters beyond which a line is no date."""


@dataclass(frozen=True, slots=True)
class Day:
    """A line that is a date and nothing else.

    Attributes:
        date: The text of the date, for `moments`.
        is_framed: True for a heading or a date between rules: a division of the text.
        has_weekday: True where a weekday stands beside the date.
    """

    date: str
    is_framed: bool
    has_weekday: bool


def lead_of(line: str) -> tuple[str, int]:
    """Return the time that a line begins with and where the name after it begins."""
    match = _LEAD.match(line) if _may_lead(line) else None
    return (match["stamp"], match.end()) if match else ("", 0)


def _may_lead(line: str) -> bool:
    """Say whether a line begins with a digit or the name of a month: cheap."""
    return line[:1].isdigit() or line[:3].lower() in _MONTHS


def is_time_like(text: str) -> bool:
    """Say whether the text of a bracket holds a clock or a whole date."""
    return _TIME_LIKE.search(text) is not None


def day_of(line: str) -> Day | None:
    """Return the date that a line is, or None."""
    if len(line) > LONGEST_DAY or not _YEAR.search(line):
        return None
    text = line.strip()
    framed = next((m["in"] for form in _FRAMES if (m := form.fullmatch(text))), None)
    soft = next((m["in"] for form in _SOFT_FRAMES if (m := form.fullmatch(text))), None)
    inner = (framed or soft or text).strip().strip("*_ ")
    match = _DAY.fullmatch(inner)
    if match is None:
        return None
    date = _ORDINAL.sub("", match["date"])
    return Day(date, framed is not None, inner.rstrip(":") != match["date"])
