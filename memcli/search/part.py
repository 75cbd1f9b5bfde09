"""One opened tantivy index, and how its hits are cut: near ties together, in turn order.

tantivy's scores are 32-bit sums whose last bits depend on the segments. So a cut never
separates hits that differ by less than that: all of them are returned, for the caller to tell
apart by exact scores.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memcli.records.indexed import IndexedTurn
from memcli.search.document import OFFSET, TIE, TIME, from_document

if TYPE_CHECKING:
    import tantivy

_NEAR = 1e-5
"""Relative difference within which two 32-bit scores count as a tie."""

_MOST_TIES = 1 << 16
"""Hits looked at; of more near ties at a cut than that, any may win."""

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


def best(part: Part, query: tantivy.Query, limit: int) -> list[IndexedTurn]:
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


def first(part: Part, query: tantivy.Query, limit: int) -> list[IndexedTurn]:
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
