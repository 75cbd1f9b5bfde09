"""Choosing lessons by words alone.

A memory fills with notes on single cases that repeat the words of their case; by plain BM25
they crowd out the lesson of which they are cases. And a long task holds much that says nothing
about it: instructions, lists of options. Three things tell the lessons that are wanted:

- A task is asked part by part (lines and sentences), and each part counts alike. A lesson that
  answers a part covers much of it; of a long list each covers next to nothing.
- The key of a lesson is wholly about what a part names; a note's key says more than that.
- Once a part has its lesson, a second one that says the same adds little.

So entries are chosen one by one by what they add: greedy facility location over the parts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memcli.search.bm25 import K1, idf
from memcli.search.lessons import LessonHit, Lessons, query_terms
from memcli.strategy.limits import Limits

POOL: Final = 60
"""Lessons by BM25 among which the best for a part are."""

MAX_PARTS: Final = 16
"""Parts of a longer text that count: those of the largest word mass."""

PART_TERMS: Final = 24
"""Terms of a part that are searched; of a longer one the rarest."""

KEY_SHARE: Final = 0.5
"""What naming the whole key counts, beside covering all words of the part once."""

COVERED: Final = 0.6
"""What fitting a part counts up to the fit of an entry that was chosen before."""

_BREAK: Final = re.compile(r"""(?<=[.!?。！？])["'”’)\]]*\s+|(?<=[。！？])|\n+""")
_BULLET: Final = re.compile(r"^\s*(?:\d{1,3}|[A-Za-z])[.)]\s+", re.MULTILINE)
"""The number of a list's item: nothing that a lesson could be about."""


def entries(text: str, lessons: Lessons, limits: Limits) -> list[str]:
    """Return at most ``max_entries`` ids, best first; deterministic, ties by id.

    Costs one search a part and small sums for the lessons found.
    """
    return _greedy(_parts(text, lessons), limits.max_entries)


def nearest_of(chosen: Sequence[str], text: str, lessons: Lessons, limit: int) -> list[str]:
    """Return ids chosen before and, up to ``limit``, the best for a text as a whole.

    Costs one search; for texts so long that asking them part by part would not pay.
    """
    holders = query_terms(text, lessons)
    ranked = lessons.ranked(holders, limit)
    return list(dict.fromkeys([*chosen, *(hit.id for _, hit in ranked)]))[:limit]


def nearest(text: str, lessons: Lessons, limit: int) -> list[str]:
    """Return the ids of the ``limit`` lessons nearest to a text.

    The first half are chosen as `entries` are; the others are the best of the parts in turn,
    and, where these run out, the best for the whole text.
    """
    parts = _parts(text, lessons)
    first = _greedy(parts, max(1, limit // 2))
    ranked = [sorted(part.fit, key=lambda each: (-part.fit[each], each)) for part in parts]
    longest = max(map(len, ranked), default=0)
    turns = (ids[place] for place in range(longest) for ids in ranked if place < len(ids))
    found = list(dict.fromkeys([*first, *turns]))
    if len(found) < limit:
        holders = query_terms(text, lessons)
        whole = lessons.ranked(holders, limit)
        found = list(dict.fromkeys([*found, *(hit.id for _, hit in whole)]))
    return found[:limit]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a text, weighed against the lessons.

    Attributes:
        times: How often the text has a part with these terms.
        fit: Lesson → how well it fits; 1 + `KEY_SHARE` at most, or little more.
    """

    times: int
    fit: Mapping[str, float]


def _parts(text: str, lessons: Lessons) -> list[_Part]:
    """Return the parts of a text that can find anything, in order."""
    asked: Counter[tuple[tuple[str, int], ...]] = Counter()
    for piece in _BREAK.split(_BULLET.sub("", text)):
        held = query_terms(piece, lessons, PART_TERMS)
        if held:
            asked[tuple(sorted(held.items()))] += 1
    kept = {terms for terms, _ in _heaviest(asked, lessons.n_lessons)}
    return [
        _weighed(dict(terms), times, lessons) for terms, times in asked.items() if terms in kept
    ]


def _heaviest(
    asked: Mapping[tuple[tuple[str, int], ...], int], n_lessons: int
) -> list[tuple[tuple[tuple[str, int], ...], float]]:
    """Return the `MAX_PARTS` parts of the largest word mass, ties by their terms."""
    mass = {terms: sum(idf(n_lessons, holders) for _, holders in terms) for terms in asked}
    return sorted(mass.items(), key=lambda each: (-each[1], each[0]))[:MAX_PARTS]


def _weighed(holders: Mapping[str, int], times: int, lessons: Lessons) -> _Part:
    """Return a part with the fit of the `POOL` best lessons for it.

    Fit is the share of the best possible BM25 that a lesson reaches, plus what naming its key
    counts: the square of the share of the key's word mass that the part names.
    """
    ranked = lessons.ranked(holders, POOL)
    most = (K1 + 1) * sum(idf(lessons.n_lessons, holders[term]) for term in sorted(holders))
    fit = {
        hit.id: score / most + KEY_SHARE * _named(hit, holders, lessons) ** 2
        for score, hit in ranked
    }
    return _Part(times, fit)


def _named(hit: LessonHit, holders: Mapping[str, int], lessons: Lessons) -> float:
    """Return the share of a key's word mass that is among the terms of a part."""
    key = set(hit.key)
    if key.isdisjoint(holders):
        return 0.0
    n = lessons.n_lessons
    mass = {t: idf(n, holders.get(t) or lessons.doc_freq(t)) for t in sorted(key)}
    return sum(value for term, value in mass.items() if term in holders) / sum(mass.values())


def _greedy(parts: Sequence[_Part], limit: int) -> list[str]:
    """Return at most ``limit`` ids, each the one that adds most to those before it."""
    fits: dict[str, list[tuple[int, float]]] = {}
    for number, part in enumerate(parts):
        for node_id, fit in part.fit.items():
            fits.setdefault(node_id, []).append((number, fit))
    times = [part.times for part in parts]
    reached = [0.0] * len(parts)
    left = sorted(fits)  # of equal values the first
    chosen: list[str] = []
    while left and len(chosen) < limit:
        pick = max(left, key=lambda each: _gain(fits[each], times, reached))
        left.remove(pick)
        chosen.append(pick)
        for number, fit in fits[pick]:
            reached[number] = max(reached[number], fit)
    return chosen


def _gain(
    fits: Sequence[tuple[int, float]], times: Sequence[int], reached: Sequence[float]
) -> float:
    """Return what a lesson adds: fit beyond what is reached in full, the rest in part."""
    total = 0.0
    for number, fit in fits:
        before = reached[number]
        worth = fit - before + COVERED * before if fit > before else COVERED * fit
        total += times[number] * worth
    return total
