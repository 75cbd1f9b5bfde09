"""The words that dates are made of.

Only English is listed; other languages are in `date_foreign`. Every English date expression has
at least one word of `CORE` or a digit, which makes the fast refusal of `may_hold_date` safe.
"""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """Return the words of a space-separated list."""
    return frozenset(words.split())


MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
ABBREVIATIONS = word_set("jan feb mar apr jun jul aug sept sep oct nov dec")
NAMELIKE = word_set("may march april june august jan mar")
"""Months that are also names or words: alone they need a preposition that no name takes."""
VERBLIKE = word_set("may march mar")
"""Months whose lower case is a plain word: a bare number beside them is not enough."""

WEEKDAYS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "monday mon",
            "tuesday tue tues",
            "wednesday wed",
            "thursday thu thur thurs",
            "friday fri",
            "saturday sat",
            "sunday sun",
        )
    )
    for name in names.split()
}

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each season, three months long."""

DAY_WORDS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
DAY_PARTS = word_set("morning afternoon evening night")
DECADES = {"fifties": 1950, "sixties": 1960, "seventies": 1970, "eighties": 1980, "nineties": 1990}

_UNIT_NAMES = {
    "hour": "second minute min hour hr",
    "day": "day night",
    "week": "week wk",
    "fortnight": "fortnight",
    "month": "month",
    "quarter": "quarter",
    "year": "year yr",
    "decade": "decade",
}
UNITS: dict[str, str] = {
    form: unit
    for unit, names in _UNIT_NAMES.items()
    for name in names.split()
    for form in (name, f"{name}s")
}
"""Unit by its names; ``hour`` stands for all clock units, which are read from the word."""

NUMBERS = {
    name: number
    for number, name in enumerate(
        [
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ],
        start=1,
    )
} | {"a": 1, "an": 1, "fifteen": 15, "twenty": 20, "thirty": 30}
VAGUE = {"couple": (2, 2), "few": (2, 5), "several": (3, 7)}
"""Lowest and highest number meant."""

ORDINALS = {
    name: number
    for number, name in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
        ],
        start=1,
    )
} | {"last": -1, "final": -1}

PARTS = {"early": 0, "mid": 1, "late": 2}
PARTS_OF = {"beginning": 0, "start": 0, "middle": 1, "end": 2}

COUNTED = word_set(
    "people users persons men women kids steps words lines files rows records tokens items"
    " pages cases calories miles km kilometres kilometers metres meters m cm mm kg g grams"
    " dollars euros pounds percent times units pieces points votes copies messages tests"
    " hours minutes seconds degrees watts feet inches tons litres liters gb mb kb ms widgets"
    " soldiers books cars"
)
"""What numbers count: "in 2000 steps" is no year, "March 5 miles" no day."""

COMPOUNDS = word_set(
    "job jobs camp camps school schools house houses dress dresses coat coats jacket"
    " jackets onion onions roll rolls tire tires tyres garden gardens boots clothes water"
    " mattress tree trees present presents gift gifts card cards costume costumes candy"
    " decorations decoration lights song songs movie movies carol carols sale sales shopping"
    " market markets guys guy cleaning rush chicken"
)
"""After a season or a holiday these make it an adjective."""

CORE = (
    frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | frozenset(SEASONS)
    | frozenset(DAY_WORDS)
    | frozenset(DECADES)
    | (frozenset(UNITS) - {"second", "seconds", "minute", "hour", "min"})
    | DAY_PARTS
    | word_set("weekend weekends ago xmas christmas halloween easter thanksgiving eve")
)

_CORE_BYTES = frozenset(word.encode() for word in CORE)
_PLAIN = bytes(
    ord("0") if chr(byte).isdigit() else ord(chr(byte).lower()) if chr(byte).isalpha() else ord(" ")
    for byte in range(128)
).ljust(256)
"""Letters in lower case, every digit as 0, all else a space."""


def may_hold_date(text: str) -> bool:
    """Say whether a text is worth reading at all: it has a word of `CORE` or an ASCII digit.

    Works on bytes: half the time of a regular expression, about 2 µs for a turn of 90 characters.
    """
    plain = text.encode("utf-8", "replace").translate(_PLAIN)
    return b"0" in plain or not _CORE_BYTES.isdisjoint(plain.split())
