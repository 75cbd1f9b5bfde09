"""Searching turns: the best by words, neighbours, days, exact keys.

A `TurnIndex` is one view over the parts that together cover a snapshot: the index on disk
and, where the store has grown since, a small index in memory of the turns beyond the
watermark. Statistics are summed over the parts. Turns that the snapshot does not hold (the
index ran ahead) or that a newer record replaced are left out.

tantivy's scores only choose candidates: they are 32-bit sums whose last bit depends on the
segments, so ties and near ties at the cut are all fetched, then cut in turn order.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memcli.records.indexed import IndexedTurn, Scope
from memcli.search.document import (
    CONVERSATION,
    ID,
    PLACE,
    PRINT,
    SESSION,
    SESSION_NAME,
    SPEAKER,
    TERMS,
    TIE,
    TIME,
    exact_key,
    from_document,
    place_key,
)

if TYPE_CHECKING:
    import tantivy

MAX_QUERY_TERMS = 64
"""Terms of a question that are searched; of a longer one the rarest."""

_NEAR = 1e-5
"""Relative difference within which two 32-bit scores count as a tie."""

_MOST_TIES = 1 << 16


@dataclass(frozen=True, slots=True)
class Part:
    """One opened tantivy index."""

    index: tantivy.Index
    searcher: tantivy.Searcher
    schema: tantivy.Schema

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
            for file in directory.iterdir():
                os.symlink(file.resolve(), Path(folder) / file.name)
            return cls.of(tantivy.Index.open(folder))

    def hits(self, query: tantivy.Query, limit: int) -> list[tuple[float, Any]]:
        """Return up to ``limit`` (score, address) pairs, best first."""
        if self.searcher.num_docs == 0:
            return []
        return self.searcher.search(query, limit, count=False).hits

    def turns(self, addresses: Iterable[Any]) -> list[IndexedTurn]:
        """Return the turns at the addresses, in order."""
        return [from_document(self.searcher.doc(address)) for address in addresses]

    def exact(self, field: str, values: Sequence[str], limit: int) -> list[IndexedTurn]:
        """Return up to ``limit`` turns whose exact key is one of the values, in no order."""
        import tantivy

        if not values:
            return []
        query = tantivy.Query.term_set_query(self.schema, field, list(values))
        wanted = tantivy.Query.const_score_query(query, 1.0)
        return self.turns(address for _, address in self.hits(wanted, limit))


def known_ids(part: Part, ids: Sequence[str]) -> set[str]:
    """Return which of the ids the part holds."""
    return {turn.id for turn in part.exact(ID, ids, len(ids))}


class TurnIndex:
    """The searchable turns of one snapshot.

    Args:
        parts: Opened indexes; a later part's record of an id replaces an earlier part's.
        n_terms: Terms in all documents of all parts.
        committed_bytes: Bytes of the turns file that the snapshot holds.
    """

    def __init__(self, parts: Sequence[Part], *, n_terms: int, committed_bytes: int) -> None:
        self._parts = list(parts)
        self._committed = committed_bytes
        self._replaced = self._replaced_ids() if len(self._parts) > 1 else frozenset()
        self.n_turns = sum(part.searcher.num_docs for part in self._parts)
        self.n_terms = n_terms

    def _replaced_ids(self) -> frozenset[str]:
        """Return the ids in the first part that a later part's record replaces."""
        first, *later = self._parts
        ids: set[str] = set()
        for part in later:
            everything = part.turns(a for _, a in part.hits(_all(), part.searcher.num_docs or 1))
            ids |= {turn.id for turn in everything}
        return frozenset(known_ids(first, sorted(ids)))

    @property
    def mean_terms(self) -> float:
        """Average number of terms of a turn, at least 1."""
        return max(1.0, self.n_terms / self.n_turns) if self.n_turns else 1.0

    def doc_freq(self, term: str) -> int:
        """Return in how many turns a term occurs."""
        return sum(part.searcher.doc_freq(TERMS, term) for part in self._parts)

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
        if not terms:
            return []
        return self._search(lambda schema: _scoped(schema, _any_term(schema, terms), scope), limit)

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
            others = self._search(lambda schema: _scoped(schema, _all(), span), limit)
            best += [turn for turn in others if turn.id not in seen][: limit - len(best)]
        return best

    def session(self, conversation: str, session: str) -> list[IndexedTurn]:
        """Return all turns of a session in turn order."""
        return self._exact(SESSION, [place_key(conversation, session, 0)], self.n_turns)

    def conversation(self, conversation: str) -> list[IndexedTurn]:
        """Return all turns of a conversation, ordered by (seq, time, id)."""
        found = self._exact(CONVERSATION, [exact_key(conversation)], self.n_turns)
        return sorted(found, key=lambda t: (t.seq, t.time or "", t.id))

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
        """Return up to ``limit`` turns with one of these fingerprints, in turn order."""
        return self._exact(PRINT, prints, limit)

    def _exact(
        self, field: str, values: Sequence[str], limit: int | None = None
    ) -> list[IndexedTurn]:
        most = limit if limit is not None else 4 * len(values) + 16
        found: list[IndexedTurn] = []
        for number, part in enumerate(self._parts):
            turns = part.exact(field, values, max(1, most))
            found += [turn for turn in turns if self._is_current(turn, number)]
        return sorted(found, key=lambda t: t.order)

    def _fetch(self, rows: Iterable[tuple[int, Any]], limit: int) -> list[IndexedTurn]:
        turns: list[IndexedTurn] = []
        for number, address in rows:
            (turn,) = self._parts[number].turns([address])
            if self._is_current(turn, number):
                turns.append(turn)
                if len(turns) == limit:
                    break
        return turns

    def _search(
        self, query: Callable[[tantivy.Schema], tantivy.Query], limit: int
    ) -> list[IndexedTurn]:
        """Return the best of all parts, ordered by (-score, time, id)."""
        found: list[tuple[float, int, int, int, Any]] = []
        for number, part in enumerate(self._parts):
            found += _ranked(part, number, query(part.schema), limit)
        found.sort(key=lambda row: row[:3])
        return self._fetch(((number, address) for *_, number, address in found), limit)

    def _is_current(self, turn: IndexedTurn, part: int) -> bool:
        return turn.offset < self._committed and not (part == 0 and turn.id in self._replaced)


def _all() -> tantivy.Query:
    import tantivy

    return tantivy.Query.all_query()


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
        SPEAKER: scope.speaker and exact_key(scope.speaker),
    }
    found = [tantivy.Query.term_query(schema, f, v, "basic") for f, v in keys.items() if v]
    if scope.since is not None or scope.until is not None:
        kind = tantivy.FieldType.Integer
        lower = scope.since if scope.since is not None else -(1 << 62)
        upper = scope.until if scope.until is not None else 1 << 62
        found.append(tantivy.Query.range_query(schema, TIME, kind, lower, upper))
    return found


def _narrow(scope: Scope, since: int | None, until: int | None) -> Scope:
    """Return the scope further limited to a span."""
    from dataclasses import replace

    lows = [s for s in (scope.since, since) if s is not None]
    highs = [u for u in (scope.until, until) if u is not None]
    return replace(scope, since=max(lows, default=None), until=min(highs, default=None))


def _ranked(
    part: Part, number: int, query: tantivy.Query, limit: int
) -> list[tuple[float, int, int, int, Any]]:
    """Return rows (-score, time, tie, part, address) of the best, near ties at the cut included.

    Near-equal scores are made equal, so that the order among them is turn order.
    """
    size = limit + 8
    while True:
        hits = part.hits(query, size)
        if len(hits) < size or hits[-1][0] < hits[limit - 1][0] * (1 - _NEAR) or size > _MOST_TIES:
            break
        size *= 4
    if len(hits) > limit:
        floor = hits[limit - 1][0] * (1 - _NEAR)
        hits = [hit for hit in hits if hit[0] >= floor]
    addresses = [address for _, address in hits]
    times = part.searcher.fast_field_values(TIME, addresses)
    ties = part.searcher.fast_field_values(TIE, addresses)
    return [
        (-_rounded(score), int(time or 0), int(tie or 0), number, address)
        for (score, address), time, tie in zip(hits, times, ties, strict=True)
    ]


def _rounded(score: float) -> float:
    """Return a score to five significant digits: below that it is noise."""
    if score <= 0:
        return 0.0
    return round(score, 4 - math.floor(math.log10(score)))
