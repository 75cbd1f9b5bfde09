"""A graph and its search index, kept level: what a training run holds in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from memcli.records.strategy import IndexLine, Pair, StrategyEdge, StrategyNode
from memcli.search.lessons import MemoryLessons, query_terms
from memcli.search.tokens import tokens
from memcli.strategy.graph import Graph

NEAR: Final = 0.8
"""Share of words in common from which on two lessons say nearly the same."""

_LIKELY: Final = 3


class StrategyMemory:
    """All lessons of a store, to be walked and searched; `absorb` costs what changes."""

    def __init__(self, graph: Graph | None = None) -> None:
        self.graph = Graph()
        self.lessons = MemoryLessons()
        if graph is not None:
            self.renew(graph)

    @property
    def n_nodes(self) -> int:
        """How many active lessons there are."""
        return self.graph.n_nodes

    def node(self, node_id: str) -> StrategyNode | None:
        """Return the newest record of a node; see `Graph.node`."""
        return self.graph.node(node_id)

    def edge(self, pair: Pair) -> StrategyEdge | None:
        """Return the newest record of an edge; see `Graph.edge`."""
        return self.graph.edge(pair)

    def out_edges(self, source: str) -> list[StrategyEdge]:
        """Return the active edges that leave a node."""
        return self.graph.out_edges(source)

    def nodes(self) -> Iterator[StrategyNode]:
        """Yield the active nodes in order of creation."""
        return self.graph.nodes()

    def index_lines(self) -> Iterator[IndexLine]:
        """Yield the routing index in order of creation."""
        return self.graph.index_lines()

    def absorb(self, nodes: Iterable[StrategyNode], edges: Iterable[StrategyEdge]) -> None:
        """Take over newer records."""
        changed = list(nodes)
        self.graph.absorb(changed, edges)
        self.reindex(node.id for node in changed)

    def renew(self, graph: Graph) -> None:
        """Take over a whole graph."""
        self.graph, self.lessons = graph, MemoryLessons()
        self.reindex(node.id for node in graph.nodes())

    def reindex(self, ids: Iterable[str]) -> None:
        """Bring these lessons of the index level with the graph."""
        for node_id in ids:
            node = self.graph.node(node_id)
            if node is None or node.status != "active":
                self.lessons.drop(node_id)
            else:
                self.lessons.put(node_id, node.key, node.content)


def near_duplicate(lessons: MemoryLessons) -> Callable[[str], str | None]:
    """Return a check that names an active lesson which nearly says a content, or None.

    A departure from the paper, off by default: of the lessons nearest by BM25 the first that
    shares at least `NEAR` of all words of the two (Jaccard).
    """

    def check(content: str) -> str | None:
        words = set(tokens(content))
        holders = query_terms(content, lessons)
        hits = lessons.ranked(holders, _LIKELY)
        for _, hit in hits:
            both = words | set(hit.content)
            if both and len(words & set(hit.content)) / len(both) >= NEAR:
                return hit.id
        return None

    return check
