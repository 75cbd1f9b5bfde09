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

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memcli.records.indexed import IndexedTurn, Scope
from memcli.records.times import time_key
from memcli.search.bm25 import Statistics, bm25, idf
from memcli.search.document import (
    CONVERSATION,
    ID,
    OFFSET,
    PLACE,
    PRINT,
    SEQ,
    SESSION,
    SESSION_NAME,
    SPEAKER,
    TERMS,
    TIE,
    TIME,
    exact_key,
    from_document,
    place_key,
    session_key,
)

if TYPE_CHECKING:
    import tantivy

MAX_QUERY_TERMS = 64
"""Terms of a question that are searched; of a longer one the rarest."""

_NEAR = 1e-5
"""Relative difference within which two 32-bit scores count as a tie."""

_LAST = 1 << 62
"""Beyond every place and every second."""

_MOST_TIES = 1 << 16
"""Hits looked at; of more near ties at a cut than that, any may win."""

_SPARE = 4
"""Candidates of each of two parts for one place."""

_RESCORED_TIES = 512
"""Near ties at a cut that are told apart by their exact scores; of more, by turn order alone."""


@dataclass(frozen=True, slots=True)
class Part:
    """One opened tantivy index, or as much of it as a snapshot holds.

    Attributes:
        end: Byte of the turns file from which on its turns do not count.
        hidden: Offsets of turns that a later part's record replaces.
    """

    index: tantivy.Index
    searcher: tantivy.Searcher
    schema: tantivy.Schema
    end: int = 1 << 62
    hidden: frozenset[int] = frozenset()

    @classmethod
    def of(cls, index: tantivy.Index) -> Part:
        """Return the part over an index in memory or on disk."""
        return cls(index, index.searcher(), index.schema)

    @classmethod
    def open(cls, directory: Path) -> Part:
        """Open the index in a directory, which need not be writable.

        tantivy writes a lock file to open an index. Where it may not, it is given a
        temporary folder of symbolic links to the same files.
        """
        import tantivy

        if os.access(directory, os.W_OK):
            return cls.of(tantivy.Index.open(str(directory)))
        with tempfile.TemporaryDirectory(prefix="memcli-") as folder:
            for file in directory.glob("[!.]*"):  # its lock files are not ours to open
                os.symlink(file.resolve(), Path(folder) / file.name)
            return cls.of(tantivy.Index.open(folder))

    def hits(self, query: tantivy.Query, limit: int) -> list[tuple[float, Any]]:
        """Return up to ``limit`` (score, address) pairs, best first, whether they count or not."""
        if self.searcher.num_docs == 0:
            return []
        return self.searcher.search(query, limit, count=False).hits

    def ordered(
        self, query: tantivy.Query, limit: int, field: str, order: tantivy.Order
    ) -> list[tuple[int, Any]]:
        """Return up to ``limit`` (value, address) pairs by the value of a number field."""
        if self.searcher.num_docs == 0:
            return []
        found = self.searcher.search(query, limit, count=False, order_by_field=field, order=order)
        return found.hits

    def counting(self, hits: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Return the hits that count, in order."""
        offsets = self.searcher.fast_field_values(OFFSET, [address for _, address in hits])
        return [
            hit
            for hit, offset in zip(hits, offsets, strict=True)
            if int(offset or 0) < self.end and offset not in self.hidden
        ]

    def by_order(self, addresses: list[Any]) -> list[Any]:
        """Return the addresses by (time, id)."""
        times = self.searcher.fast_field_values(TIME, addresses)
        ties = self.searcher.fast_field_values(TIE, addresses)
        keys = [(int(time or 0), int(tie or 0)) for time, tie in zip(times, ties, strict=True)]
        return [addresses[i] for i in sorted(range(len(keys)), key=keys.__getitem__)]

    def turns(self, addresses: Iterable[Any]) -> list[IndexedTurn]:
        """Return the turns at the addresses, in order."""
        return [from_document(self.searcher.doc(address)) for address in addresses]

    def exact(self, field: str, values: Iterable[str], limit: int) -> list[IndexedTurn]:
        """Return up to ``limit`` turns whose exact key is one of the values, in no order."""
        hits = self.counting(self.hits(self._keys(field, values), limit))
        return self.turns(address for _, address in hits)

    def holds(self, field: str, values: Iterable[str]) -> bool:
        """Return whether any document has one of the exact keys, also one that does not count."""
        return bool(self.hits(self._keys(field, values), 1))

    def _keys(self, field: str, values: Iterable[str]) -> tantivy.Query:
        import tantivy

        query = tantivy.Query.term_set_query(self.schema, field, list(values))
        return tantivy.Query.const_score_query(query, 1.0)


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
            query = _any_term(part.schema, _as_weighed_there(part, terms, statistics))
            found += _best(part, _scoped(part.schema, query, scope), most)
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
        span = _narrow(scope or Scope(), since, until)
        best = self.top(weights, limit, span)
        if len(best) < limit:
            seen = {turn.id for turn in best}
            others = self._earliest(lambda schema: _scoped(schema, _all(), span), limit)
            best += [turn for turn in others if turn.id not in seen][: limit - len(best)]
        return best

    def session(self, conversation: str, session: str) -> list[IndexedTurn]:
        """Return all turns of a session in turn order."""
        return self._exact(SESSION, [session_key(conversation, session)], self.n_turns)

    def conversation(self, conversation: str, since: int | None = None) -> list[IndexedTurn]:
        """Return a conversation's turns, from a place on if given, by (seq, time, id)."""
        found: list[IndexedTurn] = []
        for part in self._parts:
            query = _at_places(part.schema, conversation, since)
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
            query = _at_places(part.schema, conversation, None)
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
            there = _at_places(part.schema, conversation, None)
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
        """Return turns with one of these fingerprints, about ``limit``, in turn order.

        Of many, those of the rarest: they say most about which conversation it is.
        """
        holders = {each: self._holders(PRINT, each) for each in set(prints)}
        chosen: list[str] = []
        total = 0
        for each in sorted(filter(holders.__getitem__, holders), key=lambda p: (holders[p], p)):
            if chosen and total + holders[each] > limit:
                break
            chosen.append(each)
            total += holders[each]
        return self._exact(PRINT, chosen, max(limit, total))

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
        found = [t for part in self._parts for t in _first(part, query(part.schema), limit)]
        return sorted(found, key=lambda t: (time_key(t.time), t.id))[:limit]


def _by_place(turn: IndexedTurn) -> tuple[int, str, str]:
    return (turn.seq, time_key(turn.time), turn.id)


def _without(base: Part, tail: Part) -> Part:
    """Return the base without the turns that the tail replaces."""
    everything = tail.hits(_all(), tail.searcher.num_docs or 1)
    ids = [turn.id for turn in tail.turns(address for _, address in everything)]
    replaced = base.exact(ID, ids, len(ids)) if ids else []
    return replace(base, hidden=frozenset(turn.offset for turn in replaced))


def _at_places(schema: tantivy.Schema, conversation: str, since: int | None) -> tantivy.Query:
    """Return a query for a conversation's turns, from a place on if given; all score alike."""
    import tantivy

    must, make = tantivy.Occur.Must, tantivy.Query
    wanted = [(must, make.term_query(schema, CONVERSATION, exact_key(conversation), "basic"))]
    if since is not None:
        kind = tantivy.FieldType.Integer
        wanted.append((must, make.range_query(schema, SEQ, kind, since, _LAST)))
    return make.const_score_query(make.boolean_query(wanted), 1.0)


def _all() -> tantivy.Query:
    import tantivy

    return tantivy.Query.all_query()


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


def _any_term(schema: tantivy.Schema, weights: Mapping[str, float]) -> tantivy.Query:
    """Return a query for turns with any of the terms, each with its weight."""
    import tantivy

    make = tantivy.Query
    return make.boolean_query(
        [
            (
                tantivy.Occur.Should,
                make.boost_query(make.term_query(schema, TERMS, term, "freq"), weight),
            )
            for term, weight in weights.items()
        ]
    )


def _scoped(schema: tantivy.Schema, query: tantivy.Query, scope: Scope | None) -> tantivy.Query:
    """Return the query restricted to a scope, its scores unchanged."""
    import tantivy

    conditions = _conditions(schema, scope) if scope is not None else []
    if not conditions:
        return query
    must = tantivy.Occur.Must
    free = [(must, tantivy.Query.const_score_query(one, 0.0)) for one in conditions]
    return tantivy.Query.boolean_query([(must, query), *free])


def _conditions(schema: tantivy.Schema, scope: Scope) -> list[tantivy.Query]:
    import tantivy

    keys = {
        CONVERSATION: scope.conversation and exact_key(scope.conversation),
        SESSION_NAME: scope.session and exact_key(scope.session),
        SPEAKER: scope.speaker and exact_key(scope.speaker.casefold()),
    }
    found = [tantivy.Query.term_query(schema, f, v, "basic") for f, v in keys.items() if v]
    if scope.since is not None or scope.until is not None:
        kind = tantivy.FieldType.Integer
        lower = scope.since if scope.since is not None else -_LAST
        upper = scope.until if scope.until is not None else _LAST
        found.append(tantivy.Query.range_query(schema, TIME, kind, lower, upper))
    return found


def _narrow(scope: Scope, since: int | None, until: int | None) -> Scope:
    """Return the scope further limited to a span."""
    lows = [s for s in (scope.since, since) if s is not None]
    highs = [u for u in (scope.until, until) if u is not None]
    return replace(scope, since=max(lows, default=None), until=min(highs, default=None))


def _best(part: Part, query: tantivy.Query, limit: int) -> list[IndexedTurn]:
    """Return the best turns of a part, near ties at the cut included, in no order."""
    size = limit + 8
    while True:
        hits = part.hits(query, size)
        live = part.counting(hits)
        floor = live[limit - 1][0] * (1 - _NEAR) if len(live) >= limit else 0.0
        if len(hits) < size or hits[-1][0] < floor or size > _MOST_TIES:
            break
        size *= 4
    if len(live) <= limit:
        return part.turns(address for _, address in live)
    ceiling = live[limit - 1][0] * (1 + _NEAR)
    above = [address for score, address in live if score > ceiling]
    ties = [address for score, address in live if floor <= score <= ceiling]
    if len(ties) > _RESCORED_TIES:
        ties = part.by_order(ties)[: limit - len(above)]
    return part.turns([*above, *ties])


def _first(part: Part, query: tantivy.Query, limit: int) -> list[IndexedTurn]:
    """Return the earliest turns of a part, in no order; of one second's, the first by id."""
    import tantivy

    size = limit + 8
    while True:
        hits = part.ordered(query, size, TIME, tantivy.Order.Asc)
        live = part.counting(hits)
        is_enough = len(live) > limit and live[-1][0] > live[limit - 1][0]
        if len(hits) < size or is_enough or size > _MOST_TIES:
            break
        size *= 4
    return part.turns(part.by_order([address for _, address in live])[:limit])
