"""The date and time that a phone writes before each message of an exported chat.

``12/24/23, 9:05 PM - ``, ``[24.12.23, 21:05:33] ``, ``2016-06-27, 8:04:08 AM: `` and their kin:
the phone's language decides the order of the numbers, the marks between them, the digits
themselves (any script's), the words for morning and afternoon and on which side of the clock
they stand. Direction marks and no-break blanks may stand anywhere between. Patterns are
anchored and bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time
from functools import lru_cache

MARKS = "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff"
"""Characters that only say in which direction a line is written, for a character class."""
BLANKS = " \\t\u00a0\u2007\u2009\u202f"
"""Characters that stand for a blank, for a character class."""

_M, _S, _ANY = f"[{MARKS}]{{0,3}}", f"[{BLANKS}]", f"[{MARKS}{BLANKS}]{{0,4}}"
_WORD = r"[^\W\d_][^\d\[\]:,\n-]{0,15}?"
_STAMP = re.compile(
    rf"{_M}(?P<open>\[?){_M}"
    rf"(?P<first>\d{{1,4}}){_M}(?P<mark>[./-]|年|년){_ANY}"
    rf"(?P<second>\d{{1,2}}){_M}(?P<other>[./-]|月|월){_ANY}(?P<third>\d{{1,4}}){_M}"
    rf"(?:\.|日|일|{_S}?г\.?)?{_M}[,،]?[{MARKS}{BLANKS}]{{1,4}}(?P<before>{_WORD})??{_ANY}"
    r"(?P<hour>\d{1,2})(?P<colon>[:.])(?P<minute>\d\d)(?:(?P=colon)(?P<seconds>\d\d))?"
    rf"(?P<after>{_ANY}{_WORD})??{_ANY}"
    rf"(?:(?P<end>\])|(?P<dash>[-–—])(?={_S})|(?P<last>:)(?={_S})){_S}?"
)
_MORNINGS = """
    am a vorm πμ дп ص قظ fm de öö sa ap fh pd pg to rano 上午 凌晨 早上 清晨 오전 午前 पूर्वाह्न
    পূর্বাহ্ণ முற்பகல் ಪೂರ್ವಾಹ್ನ मपू לפנהצ ก่อนเที่ยง
    """
_AFTERNOONS = """
    pm p nachm μμ пп م بظ em du ös ch ip eh md ptg tk 下午 晚上 中午 傍晚 오후 午後 अपराह्न অপরাহ্ণ
    பிற்பகல் ಅಪರಾಹ್ನ मउ אחהצ หลังเที่ยง
    """
_MORNING, _AFTERNOON = frozenset(_MORNINGS.split()), frozenset(_AFTERNOONS.split())
_NOT_LETTERS = re.compile(rf"[{MARKS}{BLANKS}.'\"״׳’]")
LONGEST_STAMP = 80
"""Characters within which a stamp must end."""

Layout = tuple[str | bool | None, ...]
"""What all stamps of one export have in common. A known half of the day has no part in it."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """A date and time at the beginning of a line.

    Attributes:
        numbers: The date's three numbers as they stand.
        clock: The time of day; None where the clock is impossible or its half unknown.
        has_seconds: Whether the clock states seconds.
        layout: How the stamp is written; see `Layout`.
        end: Where the text after it begins.
        written: The stamp as it stands.
    """

    numbers: tuple[int, int, int]
    clock: time | None
    has_seconds: bool
    layout: Layout
    end: int
    written: str


def stamp_of(line: str) -> Stamp | None:
    """Return the stamp that a line begins with, or None."""
    match = _STAMP.match(line, 0, LONGEST_STAMP)
    if match is None or bool(match["open"]) != bool(match["end"]):
        return None
    first, third = match["first"], match["third"]
    if max(len(first), len(third)) == 3 or len(first) == len(third) == 4:
        return None
    before, after = _half(match["before"]), _half(match["after"])
    half = before or after
    clock = clock_of(match["hour"], match["minute"], match["seconds"], half)
    is_unknown = half is None and bool(match["after"])
    if is_unknown and match["last"]:
        return None  # a name, in written dialogue: ``2024-05-03 18:20 Ann: hi``
    return Stamp(
        (int(first), int(match["second"]), int(third)),
        None if is_unknown else clock,
        match["seconds"] is not None,
        (
            match["open"], match["mark"], match["other"], len(first) == 4, len(third) == 4,
            match["seconds"] is None, bool(match["before"]) and not before,
            bool(match["after"]) and not after, bool(match["dash"]), match["last"],
        ),
        match.end(),
        match[0].strip(),
    )  # fmt: skip


@lru_cache(maxsize=256)
def _half(word: str | None) -> str | None:
    """Return ``a`` or ``p`` for a word that names a half of the day, in any language."""
    bare = _NOT_LETTERS.sub("", word or "").casefold()
    return "a" if bare in _MORNING else "p" if bare in _AFTERNOON else None


@lru_cache(maxsize=4_096)
def clock_of(hour: str, minute: str, seconds: str | None, half: str | None) -> time | None:
    """Return the time of day, None where there is no such time.

    With a half, twelve is the first hour; an hour above twelve needs no half and ignores it.
    """
    number = int(hour)
    if half and number <= 12:
        number = number % 12 + (12 if half == "p" else 0)
    try:
        return time(number, int(minute), int(seconds or 0))
    except ValueError:
        return None
