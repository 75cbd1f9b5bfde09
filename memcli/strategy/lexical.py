"""Choosing lessons by words alone.

A memory fills with notes on single cases that repeat the words of their case; by plain BM25
they crowd out the lesson of which they are cases. Two things tell a lesson: its key is wholly
about what the question names (a note's key says more than that), and once one lesson has
covered the question's words, a second one that says them again brings nothing. So entries
are chosen one by one by what they add: the share of the question's word mass not yet covered,
weighted by how much of their own key the question names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

    Cost is that of one search for the pool and of `POOL` small sums for each entry.
    """
    holders = query_terms(text, lessons)
    pool = rank(lessons.candidates(holders, POOL), holders, lessons)[:POOL]
    weights = {term: idf(lessons.n_lessons, count) for term, count in holders.items()}
    left = [_Candidate.of(score, hit, weights, lessons) for score, hit in pool]
    left.sort(key=lambda one: one.id)  # of equal values the first is taken
    best = max((score for score, _ in pool), default=0.0)
    worth = dict.fromkeys(weights, 1.0)
    chosen: list[str] = []
    while left and len(chosen) < limits.max_entries:
        pick = max(left, key=lambda one: one.value(worth, best))
        left.remove(pick)
        chosen.append(pick.id)
        for term in pick.words:
            worth[term] = COVERED
    return chosen


def nearest(text: str, lessons: Lessons, limit: int) -> list[str]:
    """Return the ids of the ``limit`` lessons nearest to a text.

    The first third are chosen as `entries` are, the others follow by BM25.
    """
    first = entries(text, lessons, Limits(max_entries=max(1, limit // 3)))
    holders = query_terms(text, lessons)
    ranked = [hit.id for _, hit in rank(lessons.candidates(holders, limit), holders, lessons)]
    return list(dict.fromkeys([*first, *ranked]))[:limit]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A lesson of the pool, weighed against a question.

    Attributes:
        score: Its BM25 score.
        key_share: Share of the key's word mass that the question names.
        words: The question's words that it holds → their mass.
    """

    id: str
    score: float
    key_share: float
    words: Mapping[str, float]

    @classmethod
    def of(
        cls, score: float, hit: LessonHit, weights: Mapping[str, float], lessons: Lessons
    ) -> _Candidate:
        terms = sorted(set(hit.terms))
        words = {term: weights[term] for term in terms if term in weights}
        mass = {t: idf(lessons.n_lessons, lessons.doc_freq(t)) for t in sorted(set(hit.key))}
        named = sum(value for term, value in mass.items() if term in weights)
        total = sum(mass.values())
        return cls(hit.id, score, named / total if total else 0.0, words)

    def value(self, worth: Mapping[str, float], best: float) -> float:
        """Return what it would add to the entries chosen so far."""
        mass = sum(self.words.values())
        new = sum(value * worth[term] for term, value in self.words.items())
        fresh = new / mass if mass else 0.0
        return fresh * (self.score + KEY_SHARE * best * self.key_share**2)
