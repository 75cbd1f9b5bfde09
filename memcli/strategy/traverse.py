"""Bounded breadth-first retrieval: from entry nodes to the loaded subgraph (Algorithm 1)."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memcli.records.strategy import Loaded, Pair, StrategyEdge, StrategyNode
from memcli.strategy.graph import GraphView
from memcli.strategy.limits import Limits
from memcli.strategy.playbook import node_tokens
from memcli.strategy.posterior import Rank, weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Traversal:
    """What a traversal loaded, and by which way.

    Attributes:
        nodes: Loaded nodes in order of loading.
        loaded: Their ids with depth, in the same order; 0 is an entry.
        considered: Edges in the top of a loaded node above the depth limit, in order.
        traversed: Those through which their target was first loaded.
    """

    nodes: tuple[StrategyNode, ...]
    loaded: tuple[Loaded, ...]
    considered: tuple[Pair, ...]
    traversed: tuple[Pair, ...]


def traverse(
    view: GraphView,
    entries: Sequence[str],
    limits: Limits,
    *,
    count: Callable[[str], int],
    rank: Rank = "mean",
    seed: int = 0,
) -> Traversal:
    """Return the subgraph that breadth-first search loads from the entries (Algorithm 1).

    The queue holds (node, depth), entries first in their order. A node taken from it is
    loaded when it is active, not loaded yet and within the token budget; one that is over the
    budget is skipped and not expanded. Of a loaded node above the depth limit the top
    out-edges by weight are followed, edge and target both active, ties by target id. The
    search ends with the queue or at the node limit.

    Args:
        view: The graph.
        entries: Valid entry ids in the retriever's order.
        limits: The bounds.
        count: Counts tokens of a node that another tokenizer counted.
        rank: What orders out-edges; all but ``mean`` are departures from the paper.
        seed: Of the draws of ``thompson``; the same seed gives the same walk.
    """
    search = _Search(view, limits, count, rank, random.Random(seed))
    return search.run(entries)


class _Search:
    """The state of one search."""

    def __init__(
        self,
        view: GraphView,
        limits: Limits,
        count: Callable[[str], int],
        rank: Rank,
        rng: random.Random,
    ) -> None:
        self._view, self._limits, self._count = view, limits, count
        self._rank, self._rng = rank, rng
        self._nodes: dict[str, StrategyNode] = {}
        self._loaded: list[Loaded] = []
        self._considered: list[Pair] = []
        self._traversed: list[Pair] = []
        self._tokens = 0

    def run(self, entries: Sequence[str]) -> Traversal:
        queue = deque[tuple[str, int, Pair | None]]((entry, 0, None) for entry in entries)
        while queue and len(self._nodes) < self._limits.max_nodes:
            node_id, depth, through = queue.popleft()
            if not self._load(node_id, depth):
                continue
            if through is not None:
                self._traversed.append(through)
            if depth < self._limits.max_hops:
                for edge in self._best_edges(node_id):
                    self._considered.append(edge.pair)
                    queue.append((edge.target, depth + 1, edge.pair))
        return Traversal(
            nodes=tuple(self._nodes.values()),
            loaded=tuple(self._loaded),
            considered=tuple(self._considered),
            traversed=tuple(self._traversed),
        )

    def _load(self, node_id: str, depth: int) -> bool:
        """Load a node if it is new, active and within the budget; return whether it was."""
        node = self._view.node(node_id)
        if node is None or node.status != "active" or node_id in self._nodes:
            return False
        tokens = self._tokens + node_tokens(node, self._count)
        if tokens > self._limits.memory_tokens:
            return False
        self._tokens = tokens
        self._nodes[node_id] = node
        self._loaded.append(Loaded(id=node_id, depth=depth))
        return True

    def _best_edges(self, source: str) -> list[StrategyEdge]:
        """Return the top out-edges of a node; drawn in order of target id, so seeds repeat."""
        edges = sorted(self._view.out_edges(source), key=lambda edge: edge.target)
        live = [edge for edge in edges if self._is_active(edge.target)]
        weights = {edge.target: weight(edge, self._rank, self._rng) for edge in live}
        ordered = sorted(live, key=lambda edge: (-weights[edge.target], edge.target))
        return ordered[: self._limits.fan_out]

    def _is_active(self, node_id: str) -> bool:
        node = self._view.node(node_id)
        return node is not None and node.status == "active"
