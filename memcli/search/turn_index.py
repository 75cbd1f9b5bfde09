"""Searching turns: the best by words, neighbours, days, exact keys.

A `TurnIndex` is one view over the parts that together cover a snapshot: the index on disk
and, where the store has grown since, a small index in memory of the turns beyond the
watermark. Statistics are summed over the parts. Turns that the snapshot does not hold (the
index ran ahead) or that a newer record replaced are left out.

tantivy's scores only choose candidates: they are 32-bit sums whose last bits depend on the
segments and, between parts, on other statistics. Near ties at the cut are all fetched, scored
again in 64 bits (`bm25`) and cut in that order, so an index that was appended to ranks
exactly like one built at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memcli.records.indexed import IndexedTurn, Scope
from memcli.records.times import time_key
from memcli.search.bm25 import Statistics, bm25, idf
from memcli.search.document import (
    ID,
    PLACE,
    PRINT,
    SEQ,
    SESSION,
    TERMS,
    place_key,
    session_key,
)
from memcli.search.part import Part, best, first
from memcli.search.queries import any_term, at_places, everything, narrowed, scoped

if TYPE_CHECKING:
    import tantivy

MAX_QUERY_TERMS = 64
"""Terms of a question that are searched; of a longer one the rarest."""

_SPARE = 4
"""Candidates of each of two parts for one place."""


class TurnIndex:
    """The searchable turns of one snapshot.

    Args:
        base: The index on disk.
        tail: An index of the turns beyond it; its record of an id replaces the base's.
        n_terms: Terms in all documents of both.
    """

    def __init__(self, base: Part, tail: Part | None = None, *, n_terms: int) -> None:
        self._parts = [base] if tail is None else [_without(base, tail), tail]
        self.n_turns = sum(part.searcher.num_docs for part in self._parts)
        self.n_terms = n_terms

    @property
    def mean_terms(self) -> float:
        """Average number of terms of a turn, at least 1."""
        return max(1.0, self.n_terms / self.n_turns) if self.n_turns else 1.0

    def doc_freq(self, term: str) -> int:
        """Return in how many turns a term occurs."""
        return self._holders(TERMS, term)

    def top(
        self, weights: Mapping[str, float], limit: int, scope: Scope | None = None
    ) -> list[IndexedTurn]:
        """Return the ``limit`` best turns by weighted BM25 over the terms.

        Ordered by (-score, time, id). Every turn returned holds at least one of the terms.

        Args:
            weights: Weight of each term, positive.
            limit: How many.
            scope: Conditions a turn must meet.
        """
        chosen = sorted(weights, key=lambda t: (self.doc_freq(t), t))[:MAX_QUERY_TERMS]
        terms = {term: weights[term] for term in chosen if self.doc_freq(term)}
        if not terms or limit < 1:
            return []
        holders = {term: self.doc_freq(term) for term in terms}
        statistics = Statistics(self.n_turns, self.mean_terms, holders)
        most = limit if len(self._parts) == 1 else _SPARE * limit
        found: list[IndexedTurn] = []
        for part in self._parts:
            query = any_term(part.schema, _as_weighed_there(part, terms, statistics))
            found += best(part, scoped(part.schema, query, scope), most)
        scores = {turn.id: bm25(turn.terms.split(" "), terms, statistics) for turn in found}
        return sorted(found, key=lambda t: (-scores[t.id], time_key(t.time), t.id))[:limit]

    def around(self, turns: Sequence[IndexedTurn], radius: int) -> list[IndexedTurn]:
        """Return the turns within ``radius`` places of the given ones, these included.

        Neighbours are of the same session. In turn order, each once.
        """
        places = {
            place_key(turn.conversation, turn.session, turn.seq + step)
            for turn in turns
            for step in range(-radius, radius + 1)
        }
        return self._exact(PLACE, sorted(places))

    def within(
        self,
        since: int | None,
        until: int | None,
        weights: Mapping[str, float],
        limit: int,
        scope: Scope | None = None,
    ) -> list[IndexedTurn]:
        """Return turns said in a span of epoch seconds, the best by the terms first.

        Turns that hold none of the terms follow those that do, by (time, id).
        """
        span = narrowed(scope or Scope(), since, until)
        found = self.top(weights, limit, span)
        if len(found) < limit:
            seen = {turn.id for turn in found}
            others = self._earliest(lambda schema: scoped(schema, everything(), span), limit)
            found += [turn for turn in others if turn.id not in seen][: limit - len(found)]
        return found

    def session(self, conversation: str, session: str) -> list[IndexedTurn]:
        """Return all turns of a session in turn order."""
        return self._exact(SESSION, [session_key(conversation, session)], self.n_turns)

    def conversation(self, conversation: str, since: int | None = None) -> list[IndexedTurn]:
        """Return a conversation's turns, from a place on if given, by (seq, time, id)."""
        found: list[IndexedTurn] = []
        for part in self._parts:
            query = at_places(part.schema, conversation, since)
            hits = part.counting(part.hits(query, max(1, part.searcher.num_docs)))
            found += part.turns(address for _, address in hits)
        return sorted(found, key=_by_place)

    def conversation_end(self, conversation: str, size: int) -> list[IndexedTurn]:
        """Return the last ``size`` turns of a conversation by (seq, time, id), in order.

        Costs the same for a long conversation as for a short one, but for a scan of numbers.
        """
        import tantivy

        found: list[IndexedTurn] = []
        for part in self._parts:
            query = at_places(part.schema, conversation, None)
            hits = part.ordered(query, size, SEQ, tantivy.Order.Desc)
            while len(part.counting(hits)) < size <= len(hits) < part.searcher.num_docs:
                hits = part.ordered(query, 4 * len(hits), SEQ, tantivy.Order.Desc)
            found += part.turns(address for _, address in part.counting(hits)[:size])
        return sorted(found, key=_by_place)[-size:]

    def conversation_knows(self, conversation: str, prints: Sequence[str]) -> bool:
        """Return whether a turn of the conversation has one of these fingerprints."""
        import tantivy

        must, make = tantivy.Occur.Must, tantivy.Query
        for part in self._parts if prints else ():
            wanted = make.term_set_query(part.schema, PRINT, list(prints))
            there = at_places(part.schema, conversation, None)
            hits = part.hits(make.boolean_query([(must, wanted), (must, there)]), len(prints))
            if part.counting(hits):
                return True
        return False

    def by_id(self, ids: Sequence[str]) -> dict[str, IndexedTurn]:
        """Return the turns with these ids, by id."""
        return {turn.id: turn for turn in self._exact(ID, ids)}

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        """Return up to ``limit`` turn ids that start with a prefix, sorted."""
        found: set[str] = set()
        for part in self._parts:
            found |= {term for term, _ in part.searcher.terms_with_prefix(ID, prefix, limit=limit)}
        return sorted(found & self.by_id(sorted(found)).keys())[:limit]

    def by_print(self, prints: Sequence[str], limit: int = 2_000) -> list[IndexedTurn]:
        """Return turns with one of these fingerprints, at most ``limit``, in turn order.

        Of many, those of the rarest: they say most about which conversation it is. Where even
        the rarest has more holders than that, any of them.
        """
        holders = self.print_holders(prints)
        chosen: list[str] = []
        total = 0
        for each in sorted(holders, key=lambda p: (holders[p], p)):
            if chosen and total + holders[each] > limit:
                break
            chosen.append(each)
            total += holders[each]
        return self._exact(PRINT, chosen, limit)[:limit]

    def print_holders(self, prints: Sequence[str]) -> dict[str, int]:
        """Return how many turns have each of these fingerprints; those that none has left out."""
        counted = {each: self._holders(PRINT, each) for each in set(prints)}
        return {each: count for each, count in counted.items() if count}

    def _holders(self, field: str, term: str) -> int:
        return sum(part.searcher.doc_freq(field, term) for part in self._parts)

    def _exact(
        self, field: str, values: Sequence[str], limit: int | None = None
    ) -> list[IndexedTurn]:
        if not values:
            return []
        most = limit if limit is not None else 4 * len(values) + 16
        found = [turn for part in self._parts for turn in part.exact(field, values, max(1, most))]
        return sorted(found, key=lambda t: t.order)

    def _earliest(
        self, query: Callable[[tantivy.Schema], tantivy.Query], limit: int
    ) -> list[IndexedTurn]:
        """Return the first turns by (time, id)."""
        found = [t for part in self._parts for t in first(part, query(part.schema), limit)]
        return sorted(found, key=lambda t: (time_key(t.time), t.id))[:limit]


def _by_place(turn: IndexedTurn) -> tuple[int, str, str]:
    return (turn.seq, time_key(turn.time), turn.id)


def _without(base: Part, tail: Part) -> Part:
    """Return the base without the turns that the tail replaces."""
    newer = tail.hits(everything(), tail.searcher.num_docs or 1)
    ids = [turn.id for turn in tail.turns(address for _, address in newer)]
    replaced = base.exact(ID, ids, len(ids)) if ids else []
    return replace(base, hidden=frozenset(turn.offset for turn in replaced))


def _as_weighed_there(part: Part, weights: Mapping[str, float], of: Statistics) -> dict[str, float]:
    """Return the weights by which a part of the turns scores as all of them would.

    A part knows only its own idf; what then still differs is the average length, for which
    `_SPARE` candidates are fetched.
    """
    turns = part.searcher.num_docs
    if turns == of.turns:
        return dict(weights)
    return {
        term: weight * idf(of.turns, of.holders[term]) / idf(turns, holders)
        for term, weight in weights.items()
        if (holders := part.searcher.doc_freq(TERMS, term))
    }
