"""Cuts a long turn into passages whose token counts are known.

A pack shows only the matching passages of a turn that is longer than its share. Counting
tokens at question time would mean loading the tokenizer, so the counts are taken once, when
the turn is indexed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

LONG_TURN_TOKENS = 72
"""Turns up to this length are always shown whole; no passages are kept for them."""

PASSAGE_CHARS = 140
"""Aim of a passage's length: about one sentence."""

_SENTENCE_END = re.compile(r"(?<=[.!?。！？\n])\s+|\n+")
_SPACE = re.compile(r"\s+")


def split_passages(text: str) -> list[int]:
    """Return the start offsets of consecutive passages, the first 0; they cover the text.

    Sentence and line ends are preferred; a longer stretch is cut at white space, and one
    without white space hard, so that no passage exceeds twice `PASSAGE_CHARS`.
    """
    starts = [0]
    for end in _sentence_ends(text):
        while end - starts[-1] > 2 * PASSAGE_CHARS:
            starts.append(_cut(text, starts[-1]))
        if end - starts[-1] > PASSAGE_CHARS // 2 and end < len(text):
            starts.append(end)
    return starts


def _sentence_ends(text: str) -> Iterator[int]:
    """Yield where a passage may end: before the white space that follows a sentence."""
    for match in _SENTENCE_END.finditer(text):
        yield match.start()
    yield len(text)


def _cut(text: str, start: int) -> int:
    """Return where to cut a stretch without sentence ends: a space near the aim, or the aim."""
    limit = start + 2 * PASSAGE_CHARS
    spaces = [m.start() for m in _SPACE.finditer(text, start + PASSAGE_CHARS // 2, limit)]
    return spaces[-1] if spaces else start + PASSAGE_CHARS


def measured_passages(
    text: str, tokens: int, count: Callable[[Sequence[str]], list[int]]
) -> tuple[tuple[int, int], ...]:
    """Return (offset, tokens) of each passage of a long turn, () for a short one.

    Args:
        text: The turn's text.
        tokens: The turn's stored token count.
        count: Counts the tokens of several texts.
    """
    if tokens <= LONG_TURN_TOKENS:
        return ()
    starts = split_passages(text)
    pieces = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    return tuple(zip(starts, count(pieces), strict=True))
