"""Searching lessons by words: what any index of lessons answers, and one held in memory.

`rank` decides the order for every index: candidates may come from anywhere, their scores are
computed here, in 64 bits and a fixed order, from the terms of key and content.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from memcli.search.bm25 import K1, B, Statistics, bm25, idf, stored_length
from memcli.search.tokens import stop_words, tokens

MAX_QUERY_TERMS: Final = 48
"""Terms of a question that are searched; of a longer one the rarest."""

COMMON_SHARE: Final = 0.5
"""Terms that a larger share of the lessons holds say nothing, once there are `FEW` lessons."""

FEW: Final = 20
KEY_REPEATS: Final = 2
"""How often a term of the key counts in a lesson, beside its occurrences in the content."""


@dataclass(frozen=True, slots=True)
class LessonHit:
    """A lesson as the index knows it.

    Attributes:
        id: Its node id.
        key: Terms of the key, in order.
        content: Terms of the content, in order.
    """

    id: str
    key: tuple[str, ...]
    content: tuple[str, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """All terms that count, those of the key repeated."""
        return self.key * KEY_REPEATS + self.content


class Lessons(Protocol):
    """An index of the active lessons of one state."""

    @property
    def n_lessons(self) -> int:
        """How many there are."""

    @property
    def mean_terms(self) -> float:
        """Average number of terms of a lesson, at least 1."""

    def doc_freq(self, term: str) -> int:
        """Return how many lessons hold a term, in key or content."""

    def ranked(self, holders: Mapping[str, int], limit: int) -> list[tuple[float, LessonHit]]:
        """Return the ``limit`` best lessons as (score, hit), in the order of `rank`.

        Args:
            holders: The terms asked for, each with its `doc_freq`.
            limit: How many.
        """


def query_terms(text: str, lessons: Lessons, limit: int = MAX_QUERY_TERMS) -> dict[str, int]:
    """Return the terms of a question that can find anything, each with its number of holders.

    Stop words are out, and words that most lessons hold; of many the ``limit`` rarest.
    """
    found = {term: lessons.doc_freq(term) for term in set(tokens(text)) - stop_words()}
    most = COMMON_SHARE * lessons.n_lessons if lessons.n_lessons >= FEW else lessons.n_lessons
    held = {term: holders for term, holders in found.items() if 0 < holders <= most}
    kept = sorted(held, key=lambda term: (held[term], term))[:limit]
    return {term: held[term] for term in kept}


def rank(
    hits: Iterable[LessonHit], holders: Mapping[str, int], lessons: Lessons
) -> list[tuple[float, LessonHit]]:
    """Return (score, hit) by weighted BM25 over the terms, best first, ties by id."""
    of = Statistics(lessons.n_lessons, lessons.mean_terms, holders)
    weights = dict.fromkeys(holders, 1.0)
    scored = [(bm25(hit.terms, weights, of), hit) for hit in hits]
    return sorted(scored, key=lambda pair: (-pair[0], pair[1].id))


def lesson_hit(node_id: str, key: str, content: str) -> LessonHit:
    """Return a lesson's terms as every index keeps them."""
    return LessonHit(node_id, tuple(tokens(key)), tuple(tokens(content)))


class MemoryLessons:
    """An index in memory that is kept level with a graph, lesson by lesson."""

    def __init__(self) -> None:
        self._hits: dict[str, LessonHit] = {}
        self._holders: dict[str, dict[str, int]] = {}
        self._lengths: dict[str, int] = {}
        self._n_terms = 0

    @property
    def n_lessons(self) -> int:
        """How many lessons there are."""
        return len(self._hits)

    @property
    def mean_terms(self) -> float:
        """Average number of terms of a lesson, at least 1."""
        return max(1.0, self._n_terms / len(self._hits)) if self._hits else 1.0

    @property
    def n_terms(self) -> int:
        """Terms in all lessons."""
        return self._n_terms

    def put(self, node_id: str, key: str, content: str) -> None:
        """Take in a lesson, in the place of an earlier state of it."""
        self.drop(node_id)
        hit = lesson_hit(node_id, key, content)
        self._hits[node_id] = hit
        self._n_terms += len(hit.terms)
        self._lengths[node_id] = stored_length(len(hit.terms))
        for term, count in Counter(hit.terms).items():
            self._holders.setdefault(term, {})[node_id] = count

    def drop(self, node_id: str) -> None:
        """Forget a lesson, if it is there."""
        hit = self._hits.pop(node_id, None)
        if hit is None:
            return
        self._n_terms -= len(hit.terms)
        for term in set(hit.terms):
            del self._holders[term][node_id]

    def doc_freq(self, term: str) -> int:
        """Return how many lessons hold a term, in key or content."""
        return len(self._holders.get(term, ()))

    def ranked(self, holders: Mapping[str, int], limit: int) -> list[tuple[float, LessonHit]]:
        """Return the ``limit`` best lessons as (score, hit), in the order of `rank`.

        Scores are added up term by term, in the order in which `bm25` adds them: the same
        numbers, without looking at a lesson that holds none of the terms.
        """
        scores: dict[str, float] = {}
        n, mean = self.n_lessons, self.mean_terms
        for term in sorted(holders):
            weight = idf(n, holders[term])
            for node_id, count in self._holders.get(term, {}).items():
                damping = K1 * (1 - B + B * self._lengths[node_id] / mean)
                gain = weight * count * (K1 + 1) / (count + damping)
                scores[node_id] = scores.get(node_id, 0.0) + gain
        best = heapq.nsmallest(limit, scores, key=lambda node_id: (-scores[node_id], node_id))
        return [(scores[node_id], self._hits[node_id]) for node_id in best]
