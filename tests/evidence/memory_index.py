"""A brute-force index over turns in memory: the oracle of the ranking tests and benchmarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from memcli.evidence.ranking import idf
from memcli.records.indexed import IndexedTurn, Scope


class MemoryIndex:
    """Every turn in a list, every answer by looking at all that hold a term."""

    def __init__(self, turns: Sequence[IndexedTurn]) -> None:
        self._turns = list(turns)
        self._counts = [Counter(turn.terms.split()) for turn in turns]
        self._holders: dict[str, list[int]] = {}
        for i, counts in enumerate(self._counts):
            for term in counts:
                self._holders.setdefault(term, []).append(i)
        self._places = {(t.conversation, t.session, t.seq): t for t in turns}
        self.n_turns = len(self._turns)
        total = sum(counts.total() for counts in self._counts)
        self.mean_terms = max(1.0, total / self.n_turns) if turns else 1.0

    def doc_freq(self, term: str) -> int:
        return len(self._holders.get(term, ()))

    def top(
        self, weights: Mapping[str, float], limit: int, scope: Scope | None = None
    ) -> list[IndexedTurn]:
        found = {i for term in weights for i in self._holders.get(term, ())}
        inside = [i for i in found if _is_inside(self._turns[i], scope)]
        score = {i: self._bm25(i, weights) for i in inside}
        best = sorted(inside, key=lambda i: (-score[i], self._turns[i].order))[:limit]
        return [self._turns[i] for i in best]

    def _bm25(self, i: int, weights: Mapping[str, float]) -> float:
        counts = self._counts[i]
        damping = 1.2 * (0.25 + 0.75 * counts.total() / self.mean_terms)
        return sum(
            weight
            * idf(self.doc_freq(term), self.n_turns)
            * counts[term]
            * 2.2
            / (counts[term] + damping)
            for term, weight in weights.items()
        )

    def around(self, turns: Sequence[IndexedTurn], radius: int) -> list[IndexedTurn]:
        places = {
            (turn.conversation, turn.session, turn.seq + step)
            for turn in turns
            for step in range(-radius, radius + 1)
        }
        found = [self._places[place] for place in places if place in self._places]
        return sorted(found, key=lambda turn: turn.order)

    def within(
        self,
        since: int | None,
        until: int | None,
        weights: Mapping[str, float],
        limit: int,
        scope: Scope | None = None,
    ) -> list[IndexedTurn]:
        span = Scope(since=since, until=until)
        best = [t for t in self.top(weights, self.n_turns, scope) if _is_inside(t, span)]
        seen = {turn.id for turn in best}
        rest = [
            turn
            for turn in sorted(self._turns, key=lambda turn: turn.order)
            if turn.id not in seen and _is_inside(turn, scope) and _is_inside(turn, span)
        ]
        return [*best, *rest][:limit]


def _is_inside(turn: IndexedTurn, scope: Scope | None) -> bool:
    if scope is None:
        return True
    said = datetime.fromisoformat(turn.time).timestamp() if turn.time else None
    return (
        scope.conversation in (None, turn.conversation)
        and scope.session in (None, turn.session)
        and (scope.speaker is None or scope.speaker.lower() == (turn.speaker or "").lower())
        and (scope.since is None or (said is not None and said >= scope.since))
        and (scope.until is None or (said is not None and said <= scope.until))
    )
