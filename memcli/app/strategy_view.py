"""A store's strategies for one query: only what it touches is read.

Lessons come one by one, found through the index; of the edges file only the lines that leave a
lesson at hand are parsed. What grows with the store is a search of that file's bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from memcli.records.codec import dumps
from memcli.records.strategy import IndexLine, Pair, StrategyEdge, StrategyNode
from memcli.records.strategy_codec import (
    edge_from_line,
    index_line_from_line,
    node_from_line,
)
from memcli.search.lesson_index import StoredLessons, open_lessons
from memcli.store.jsonl import BUFFER_BYTES
from memcli.store.snapshot import Snapshot


class StoredMemory:
    """The strategies of a snapshot; a `retriever.Memory`.

    Args:
        snapshot: The state.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.lessons: StoredLessons = open_lessons(snapshot)
        self._read: dict[str, StrategyNode | None] = {}
        self._leaving: dict[str, dict[str, StrategyEdge]] = {}

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
        if source not in self._leaving:
            edges = map(edge_from_line, self._lines_of(source))
            found = {edge.target: edge for edge in edges if edge.source == source}
            self._leaving[source] = found
        return self._leaving[source]

    def _lines_of(self, source: str) -> Iterator[bytes]:
        """Yield the edge lines that name a source, in file order."""
        data = self._edge_bytes
        needle = b'"source":' + dumps(source)
        at = data.find(needle)
        while at >= 0:
            end = data.find(b"\n", at)
            yield data[data.rfind(b"\n", 0, at) + 1 : end]
            at = data.find(needle, end)

    @cached_property
    def _edge_bytes(self) -> bytes:
        """The edges file as far as it is committed: searched, not parsed."""
        size = self._snapshot.committed_bytes("edges")
        if not size:
            return b""
        with self._snapshot.reading("edges", BUFFER_BYTES) as file:
            return file.read(size)
