"""The words of a question: what it asks about, and which of them only tell when.

Words that are dates only from where the speaker stands ("last week", "two days ago") were read
as a window of days. As search terms they would mislead: who says "last Saturday" in a turn of
March means another day. Words that name a date for everyone ("May", "2023", "summer") stay:
turns carry their date in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from memcli.evidence.date_words import (
    DAY_PARTS,
    DAY_WORDS,
    MONTHS,
    NUMBERS,
    ORDINALS,
    PARTS,
    PARTS_OF,
    UNITS,
    VAGUE,
    WEEKDAYS,
    word_set,
)
from memcli.evidence.dates import Window
from memcli.search.tokens import ASKS, Token, stop_words, tokens, tokens_with_spans

_POINTING = word_set("last ago past previous next coming")
"""Words that point from where the speaker stands, beside whatever."""

_EMPTY = word_set(
    "happen happened happening occur occurred new news event events thing things talk talked"
    " discuss discussed speak spoke tell told say said mention mentioned chat chatted anything"
    " something everything remember know conversation conversations"
)
"""Words that ask for whatever there was."""


def asked_words(text: str, windows: Sequence[Window] = ()) -> list[str]:
    """Return the tokens of a question without question marks and relative words of its dates."""
    return [
        token.text
        for token in tokens_with_spans(text)
        if token.text != ASKS
        and not any(_inside(token, window) and _is_relative(token, window) for window in windows)
    ]


def date_words(text: str, windows: Sequence[Window]) -> frozenset[str]:
    """Return the tokens that stand inside the words of a window."""
    spans = tokens_with_spans(text) if windows else ()
    return frozenset(t.text for t in spans if any(_inside(t, window) for window in windows))


def asks_only_when(text: str, windows: Sequence[Window], speakers: Iterable[str]) -> bool:
    """Return whether a question names days and else nothing but speakers and empty words.

    "What happened last summer?", "What did Mara say on 8 May?", "yesterday".
    """
    if not windows:
        return False
    names = {part for speaker in speakers for part in tokens(speaker)}
    empty = stop_words() | _stems(_EMPTY) | date_words(text, windows) | names | {ASKS}
    return empty.issuperset(tokens(text))


def _inside(token: Token, window: Window) -> bool:
    return window.span[0] <= token.start and token.end <= window.span[1]


def _is_relative(token: Token, window: Window) -> bool:
    """Whether a token of a window's words says when only by who asks.

    Beside a month or a year ("the first weekend of May") only a pointing word does.
    """
    if not _names_month_or_year(window.text):
        return token.text in _stems(_RELATIVE) or token.text.isdecimal()
    return token.text in _stems(_POINTING)


def _names_month_or_year(text: str) -> bool:
    words = tokens(text)
    return any(word in _stems(_MONTHS) or (word.isdecimal() and len(word) == 4) for word in words)


_RELATIVE = frozenset().union(
    WEEKDAYS,
    DAY_WORDS,
    DAY_PARTS,
    UNITS,
    NUMBERS,
    VAGUE,
    ORDINALS,
    PARTS,
    PARTS_OF,
    _POINTING,
    ["weekend", "weekends"],
)
_MONTHS = frozenset(MONTHS)


@cache
def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(stem for word in words for stem in tokens(word))
