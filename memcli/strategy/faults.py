"""What is wrong with a graph on disk beside S and F: its counts, its edges' ends, its index.

Pure; `replay` says what is wrong with S and F.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from memcli.budgets import ENCODING
from memcli.records.strategy import IndexLine, StrategyNode
from memcli.strategy.graph import Graph
from memcli.strategy.playbook import node_line

Fault = tuple[str, str]
"""Kind of the record (``nodes``, ``edges``, ``index``), and what is wrong, in words."""


def faults(
    graph: Graph, index: Iterable[IndexLine], count: Callable[[str], int]
) -> Iterator[Fault]:
    """Yield what a writer of memcli would not have left, by kind, in file order.

    Args:
        graph: The newest nodes and edges.
        index: All index lines in file order; the newest of an id counts.
        count: Counts the tokens of a lesson's line; retrieval trusts the stored counts.
    """
    for node in graph.nodes():
        if words := _miscounted(node, count):
            yield "nodes", words
    for edge in graph.edges():
        for end in edge.pair:
            there = graph.node(end)
            if there is None or there.status != "active":
                state = "unknown" if there is None else "removed"
                yield "edges", f"edge {edge.source} → {edge.target} touches {end}, which is {state}"
    yield from _index_faults(graph, index)


def _miscounted(node: StrategyNode, count: Callable[[str], int]) -> str:
    if node.tokenizer != ENCODING:  # counted anew where it is used
        return ""
    tokens = count(node_line(node))
    return "" if tokens == node.tokens else f"{node.id} has {tokens} tokens, not {node.tokens}"


def _index_faults(graph: Graph, index: Iterable[IndexLine]) -> Iterator[Fault]:
    newest = {entry.id: entry for entry in index}
    for node in graph.nodes():
        entry = newest.pop(node.id, None)
        if entry is None:
            yield "index", f"{node.id} has no line in the index"
        elif (entry.key, entry.section, entry.status) != (node.key, node.section, "active"):
            yield "index", f"the index line of {node.id} is not what its lesson says"
    for entry in newest.values():
        if entry.status == "active":
            yield "index", f"the index line of {entry.id} has no lesson"
