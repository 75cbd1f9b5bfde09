"""BM25 as tantivy computes it, in 64 bits and in a fixed order.

The same turn has the same score in every index that holds the same turns, whatever its
segments: what breaks ties between candidates must not depend on how an index came about.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class Statistics:
    """Figures of all turns.

    Attributes:
        turns: How many there are.
        mean_terms: Average number of terms of a turn.
        holders: For each term of the query, in how many turns it occurs.
    """

    turns: int
    mean_terms: float
    holders: Mapping[str, int]


def bm25(text: Sequence[str], weights: Mapping[str, float], of: Statistics) -> float:
    """Return the weighted BM25 of a text.

    Robertson and Zaragoza 2009 with Lucene's idf, ln(1 + (N - n + 0.5) / (n + 0.5)), k1 1.2,
    b 0.75 and lengths rounded down as `stored_length` does. Summed in order of the terms.

    Args:
        text: Terms of the text.
        weights: Weight of each term of the query.
        of: Figures of all turns.
    """
    counts = Counter(text)
    damping = K1 * (1 - B + B * stored_length(len(text)) / of.mean_terms)
    score = 0.0
    for term in sorted(weights):
        if count := counts[term]:
            weight = weights[term] * idf(of.turns, of.holders[term])
            score += weight * count * (K1 + 1) / (count + damping)
    return score


def idf(turns: int, holders: int) -> float:
    """Return the weight of a term that so many of the turns hold; always positive."""
    return math.log1p((turns - holders + 0.5) / (holders + 0.5))


def stored_length(terms: int) -> int:
    """Return the length that an index keeps in one byte for a text of so many terms.

    Exact up to 40, then rounded down to a multiple of 2 up to 56, of 4 up to 88, of 8 up to
    152, and so on: eight values for each step.
    """
    if terms < 40:
        return terms
    exponent = ((terms - 24) // 16).bit_length() - 1
    step = 2 << exponent
    start = 24 + (16 << exponent)
    return start + (terms - start) // step * step
