"""The graph of lessons in memory, and what a traversal may ask of any graph.

Nodes stand in the order of creation, which is that of their ids. What was removed stays, so
that its id is never given again; views show what is active.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from memcli.records.strategy import IndexLine, Pair, StrategyEdge, StrategyNode

_NO_NODE = 0


class GraphView(Protocol):
    """What a traversal reads: the newest record of each node and edge."""

    def node(self, node_id: str) -> StrategyNode | None:
        """Return the newest record of a node, a removed one too; None for an unknown id."""

    def edge(self, pair: Pair) -> StrategyEdge | None:
        """Return the newest record of an edge, a removed one too; None for an unknown pair."""

    def out_edges(self, source: str) -> Sequence[StrategyEdge]:
        """Return the active edges that leave a node, in any order."""


class Graph:
    """All nodes and edges of a store, held in memory; `absorb` costs what changes."""

    def __init__(self) -> None:
        self._nodes: dict[str, StrategyNode] = {}
        self._edges: dict[Pair, StrategyEdge] = {}
        self._out: dict[str, set[str]] = {}
        self._in: dict[str, set[str]] = {}
        self._contents: dict[str, str] = {}
        self._index: dict[str, IndexLine] = {}
        self._last = _NO_NODE
        self.n_nodes = 0
        self.n_edges = 0

    @classmethod
    def of(cls, nodes: Iterable[StrategyNode], edges: Iterable[StrategyEdge]) -> Graph:
        """Return the graph of records in file order: the newest of equal ids counts."""
        graph = cls()
        graph.absorb(nodes, edges)
        return graph

    def absorb(self, nodes: Iterable[StrategyNode], edges: Iterable[StrategyEdge]) -> None:
        """Take over newer records; a node not seen before counts as created last."""
        for node in nodes:
            self._put_node(node)
        for edge in edges:
            self._put_edge(edge)

    def node(self, node_id: str) -> StrategyNode | None:
        """Return the newest record of a node, a removed one too; None for an unknown id."""
        return self._nodes.get(node_id)

    def edge(self, pair: Pair) -> StrategyEdge | None:
        """Return the newest record of an edge, a removed one too; None for an unknown pair."""
        return self._edges.get(pair)

    def out_edges(self, source: str) -> list[StrategyEdge]:
        """Return the active edges that leave a node, by target id."""
        return [self._edges[source, target] for target in sorted(self._out.get(source, ()))]

    def in_edges(self, target: str) -> list[StrategyEdge]:
        """Return the active edges that reach a node, by source id."""
        return [self._edges[source, target] for source in sorted(self._in.get(target, ()))]

    def nodes(self) -> Iterator[StrategyNode]:
        """Yield the active nodes in order of creation."""
        return (node for node in self._nodes.values() if node.status == "active")

    def edges(self) -> Iterator[StrategyEdge]:
        """Yield the active edges in the order in which they were first added."""
        return (edge for edge in self._edges.values() if edge.status == "active")

    def index_lines(self) -> Iterator[IndexLine]:
        """Yield the routing index: a line for each active node, in order of creation."""
        return (entry for entry in self._index.values() if entry.status == "active")

    def index_line(self, node_id: str) -> IndexLine:
        """Return the index line of a known node."""
        return self._index[node_id]

    def twin(self, content: str) -> str | None:
        """Return the active node that says exactly this, white space and case aside, or None."""
        return self._contents.get(normal_form(content))

    def next_id(self, ahead: int = 0) -> str:
        """Return the id of the next new node, or of the one ``ahead`` places after it."""
        return f"n{self._last + 1 + ahead:05d}"

    def _put_node(self, node: StrategyNode) -> None:
        before = self._nodes.get(node.id)
        if before is not None and before.status == "active":
            self.n_nodes -= 1
            if self._contents.get(normal_form(before.content)) == before.id:
                del self._contents[normal_form(before.content)]
        self._nodes[node.id] = node
        self._index[node.id] = index_entry(node)
        self._last = max(self._last, _number(node.id))
        if node.status == "active":
            self.n_nodes += 1
            self._contents.setdefault(normal_form(node.content), node.id)

    def _put_edge(self, edge: StrategyEdge) -> None:
        before = self._edges.get(edge.pair)
        self.n_edges -= before is not None and before.status == "active"
        self._edges[edge.pair] = edge
        out = self._out.setdefault(edge.source, set())
        into = self._in.setdefault(edge.target, set())
        if edge.status == "active":
            self.n_edges += 1
            out.add(edge.target)
            into.add(edge.source)
        else:
            out.discard(edge.target)
            into.discard(edge.source)


def index_entry(node: StrategyNode) -> IndexLine:
    """Return the index line of a node."""
    return IndexLine(id=node.id, key=node.key, section=node.section, status=node.status)


def normal_form(content: str) -> str:
    """Return what two contents share when they say the same in the same words."""
    return " ".join(content.casefold().split())


def _number(node_id: str) -> int:
    """Return the number in ``n00012``; 0 for an id that another program made."""
    digits = node_id[1:]
    return int(digits) if node_id[:1] == "n" and digits.isascii() and digits.isdigit() else 0
