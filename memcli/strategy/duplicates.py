"""Lessons that nearly say the same: a check before ADD, beyond the paper and off by default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from memcli.search.lessons import Lessons, lesson_hit, query_terms

NEAR: Final = 0.85
"""Share of common terms from which on two contents say the same."""

COMPARED: Final = 5
"""Lessons nearest by words that a new one is compared with."""


def near_duplicate_check(lessons: Lessons) -> Callable[[str], str | None]:
    """Return a function that names an active lesson that nearly says a content, or None.

    Two contents are near when their sets of terms overlap by `NEAR` (Jaccard index); the
    nearest one is named, ties by id.
    """

    def nearest(content: str) -> str | None:
        wanted = set(lesson_hit("", "", content).content)
        if not wanted:
            return None
        candidates = lessons.candidates(query_terms(content, lessons), COMPARED)
        shares = [(_overlap(wanted, set(hit.content)), hit.id) for hit in candidates]
        near = sorted((-share, node_id) for share, node_id in shares if share >= NEAR)
        return near[0][1] if near else None

    return nearest


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other)
