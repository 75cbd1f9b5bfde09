"""Choosing lessons by words alone.

A memory fills with notes on single cases that repeat the words of their case; by plain BM25
they crowd out the lesson of which they are cases. Two things tell a lesson: its key is wholly
about what the question names (a note's key says more than that), and once one lesson has
covered the question's words, a second one that says them again brings nothing. So entries
are chosen one by one by what they add: the share of the question's word mass not yet covered,
weighted by how much of their own key the question names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final

from memcli.search.bm25 import idf
from memcli.search.lessons import LessonHit, Lessons, query_terms, rank
from memcli.strategy.limits import Limits

POOL: Final = 60
"""Lessons by BM25 among which entries are chosen."""

KEY_SHARE: Final = 1.0
"""What naming the whole key counts, beside the best BM25 score of the pool."""

COVERED: Final = 0.25
"""What a word counts once an entry has covered it."""


def entries(text: str, lessons: Lessons, limits: Limits) -> list[str]:
    """Return at most ``max_entries`` ids, best first; deterministic, ties by id.

    Cost is that of one search for the pool and of a few small sums for each entry.
    """
    found = _Search.of(text, lessons, POOL)
    return _chosen(found, lessons, limits.max_entries)


def nearest(text: str, lessons: Lessons, limit: int) -> list[str]:
    """Return the ids of the ``limit`` lessons nearest to a text.

    The first third are chosen as `entries` are, the others follow by BM25.
    """
    found = _Search.of(text, lessons, max(POOL, limit))
    first = _chosen(found, lessons, max(1, limit // 3))
    return list(dict.fromkeys([*first, *(hit.id for _, hit in found.ranked)]))[:limit]


@dataclass(frozen=True, slots=True)
class _Search:
    """What words find.

    Attributes:
        holders: The question's terms, each with its number of holders.
        ranked: (BM25 score, lesson), best first.
    """

    holders: Mapping[str, int]
    ranked: Sequence[tuple[float, LessonHit]]

    @classmethod
    def of(cls, text: str, lessons: Lessons, limit: int) -> _Search:
        holders = query_terms(text, lessons)
        ranked = rank(lessons.candidates(holders, limit), holders, lessons)
        return cls(holders, ranked[:limit])


def _chosen(found: _Search, lessons: Lessons, most: int) -> list[str]:
    """Return the ids that add most, one after the other.

    What a lesson adds only falls while others are chosen. So an earlier value is an upper
    bound, and only the lesson that leads by it has to be weighed again.
    """
    pool = found.ranked[:POOL]
    best = max((score for score, _ in pool), default=0.0)
    weights = {term: idf(lessons.n_lessons, count) for term, count in found.holders.items()}
    masses = dict(weights)
    worth = dict.fromkeys(weights, 1.0)
    left = []
    for score, hit in pool:
        one = _Candidate.of(hit, weights, masses, lessons)
        strength = score + KEY_SHARE * best * one.key_share**2
        left.append((-one.fresh(worth) * strength, one.id, one, strength))
    heapify(left)
    chosen: list[str] = []
    while left and len(chosen) < most:
        _, _, one, strength = heappop(left)
        again = (-one.fresh(worth) * strength, one.id, one, strength)
        if left and left[0][:2] < again[:2]:
            heappush(left, again)
            continue
        chosen.append(one.id)
        worth |= dict.fromkeys(one.words, COVERED)
    return chosen


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A lesson of the pool, weighed against a question.

    Attributes:
        key_share: Share of the key's word mass that the question names.
        words: The question's words that it holds → their mass.
        mass: Their sum.
    """

    id: str
    key_share: float
    words: Mapping[str, float]
    mass: float

    @classmethod
    def of(
        cls,
        hit: LessonHit,
        weights: Mapping[str, float],
        masses: dict[str, float],
        lessons: Lessons,
    ) -> _Candidate:
        """Return a lesson weighed; ``masses`` keeps the mass of each word met."""
        held = sorted(weights.keys() & {*hit.key, *hit.content})
        words = {term: weights[term] for term in held}
        named = total = 0.0
        for term in sorted(set(hit.key)):
            mass = masses.get(term)
            if mass is None:
                mass = masses[term] = idf(lessons.n_lessons, lessons.doc_freq(term))
            total += mass
            named += mass if term in weights else 0.0
        return cls(hit.id, named / total if total else 0.0, words, sum(words.values()))

    def fresh(self, worth: Mapping[str, float]) -> float:
        """Return the share of its word mass that the entries chosen so far leave open."""
        new = sum([mass * worth[term] for term, mass in self.words.items()])
        return new / self.mass if self.mass else 0.0
