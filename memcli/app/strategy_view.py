"""A store's strategies for one query: only what it touches is read.

Lessons come one by one, found through the index; edges by one pass over the edges file for
the lines that leave a lesson at hand. So the cost of a query does not grow with the lessons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from memcli.records.strategy import IndexLine, Pair, StrategyEdge, StrategyNode
from memcli.records.strategy_codec import (
    edge_from_line,
    index_line_from_line,
    node_from_line,
)
from memcli.search.lesson_index import StoredLessons, open_lessons
from memcli.store.snapshot import Snapshot

_SOURCE: Final = re.compile(rb'"source":"((?:[^"\\]|\\.)*)"')


class StoredMemory:
    """The strategies of a snapshot; a `retriever.Memory`.

    Args:
        snapshot: The state.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.lessons: StoredLessons = open_lessons(snapshot)
        self._read: dict[str, StrategyNode | None] = {}

    @property
    def n_nodes(self) -> int:
        """How many active lessons there are."""
        return self.lessons.n_lessons

    def node(self, node_id: str) -> StrategyNode | None:
        """Return the newest record of a lesson; None for an unknown one."""
        if node_id not in self._read:
            place = self.lessons.place(node_id)
            line = None if place is None else self._snapshot.read_line("nodes", place)
            self._read[node_id] = None if line is None else node_from_line(line)
        return self._read[node_id]

    def edge(self, pair: Pair) -> StrategyEdge | None:
        """Return the newest record of an edge; None for an unknown pair."""
        return self._newest(pair[0]).get(pair[1])

    def out_edges(self, source: str) -> list[StrategyEdge]:
        """Return the active edges that leave a lesson, by target id."""
        found = sorted(self._newest(source).items())
        return [edge for _, edge in found if edge.status == "active"]

    def nodes(self) -> Iterator[StrategyNode]:
        """Yield the active lessons in order of creation; reads them all."""
        newest: dict[str, StrategyNode] = {}
        for _, line in self._snapshot.lines("nodes"):
            node = node_from_line(line)
            newest[node.id] = node
        return (node for node in newest.values() if node.status == "active")

    def index_lines(self) -> Iterator[IndexLine]:
        """Yield the routing index in order of creation; reads the index file only."""
        newest: dict[str, IndexLine] = {}
        for _, line in self._snapshot.lines("index"):
            entry = index_line_from_line(line)
            newest[entry.id] = entry
        return (entry for entry in newest.values() if entry.status == "active")

    def _newest(self, source: str) -> dict[str, StrategyEdge]:
        """Return target → newest record of the edges that leave a lesson."""
        lines = self._lines_by_source.get(source.encode(), ())
        edges = (edge_from_line(line) for line in lines)
        return {edge.target: edge for edge in edges}

    @cached_property
    def _lines_by_source(self) -> dict[bytes, list[bytes]]:
        """The edge lines by their source, in file order, unparsed."""
        found: dict[bytes, list[bytes]] = {}
        for _, line in self._snapshot.lines("edges"):
            if match := _SOURCE.search(line):
                found.setdefault(match[1], []).append(line)
        return found
