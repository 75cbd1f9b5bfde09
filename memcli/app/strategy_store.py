"""Strategy memory on its way to and from the store's files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memcli.budgets import count_tokens
from memcli.records.strategy import IndexLine, StrategyEdge, StrategyNode, Trace
from memcli.records.strategy_codec import (
    edge_from_line,
    edge_to_line,
    index_line_from_line,
    index_line_to_line,
    node_from_line,
    node_to_line,
    trace_from_line,
    trace_to_line,
)
from memcli.store.snapshot import Snapshot, Watermark
from memcli.store.writer import Writer
from memcli.strategy.faults import Fault, faults
from memcli.strategy.graph import Graph
from memcli.strategy.operations import Change
from memcli.strategy.replay import differences, replay

Marks = tuple[Watermark | None, Watermark | None]
"""How far of nodes and edges a graph in memory has read."""


def read_nodes(snapshot: Snapshot, start: int = 0) -> Iterator[StrategyNode]:
    """Yield the nodes in file order from a line on, superseded ones included."""
    path = str(snapshot.file("nodes"))
    for _, line in snapshot.lines("nodes", start=start):
        yield node_from_line(line, path=path)


def read_edges(snapshot: Snapshot, start: int = 0) -> Iterator[StrategyEdge]:
    """Yield the edges in file order from a line on, superseded ones included."""
    path = str(snapshot.file("edges"))
    for _, line in snapshot.lines("edges", start=start):
        yield edge_from_line(line, path=path)


def read_index(snapshot: Snapshot) -> Iterator[IndexLine]:
    """Yield the lines of the routing index in file order, superseded ones included."""
    path = str(snapshot.file("index"))
    for _, line in snapshot.lines("index"):
        yield index_line_from_line(line, path=path)


def read_traces(snapshot: Snapshot) -> Iterator[Trace]:
    """Yield the log in file order."""
    path = str(snapshot.file("traces"))
    for number, (_, line) in enumerate(snapshot.lines("traces"), 1):
        yield trace_from_line(line, path=path, number=number)


def load_graph(snapshot: Snapshot) -> Graph:
    """Return all lessons and edges of a state."""
    return Graph.of(read_nodes(snapshot), read_edges(snapshot))


def marks(snapshot: Snapshot) -> Marks:
    """Return how far a graph has read that was loaded from this state."""
    return snapshot.watermark("nodes"), snapshot.watermark("edges")


def catch_up(graph: Graph, before: Marks, snapshot: Snapshot) -> tuple[Graph, Iterable[str]]:
    """Return the graph level with a newer state, and the ids of nodes that others wrote.

    Reads only what was appended; where a file did not just grow (an undo, a compaction), all
    is read anew and every id is named.
    """
    if marks(snapshot) == before:
        return graph, ()
    grew = [
        mark is None or snapshot.continues(kind, mark)
        for kind, mark in zip(("nodes", "edges"), before, strict=True)
    ]
    if not all(grew):
        fresh = load_graph(snapshot)
        return fresh, tuple(node.id for node in fresh.nodes())
    starts = [mark.bytes if mark else 0 for mark in before]
    nodes = list(read_nodes(snapshot, starts[0]))
    graph.absorb(nodes, read_edges(snapshot, starts[1]))
    return graph, tuple(node.id for node in nodes)


def append_change(writer: Writer, change: Change, trace: Trace) -> None:
    """Append a step's records and its trace; the caller commits them in one."""
    for node in change.nodes:
        writer.append("nodes", node_to_line(node))
    for edge in change.edges:
        writer.append("edges", edge_to_line(edge))
    for entry in change.index:
        writer.append("index", index_line_to_line(entry))
    writer.append("traces", trace_to_line(trace))


def log_differences(snapshot: Snapshot) -> list[str]:
    """Return in words where the edges are not what the log leads to; empty when they are."""
    return _differences(snapshot, load_graph(snapshot))


def strategy_faults(snapshot: Snapshot) -> list[Fault]:
    """Return what is wrong with a state's strategies: S and F against the log, and `faults`.

    Costs a pass over each file and one count of each lesson's tokens.
    """
    if not any(snapshot.records(kind) for kind in ("nodes", "edges", "index", "traces")):
        return []
    graph = load_graph(snapshot)
    found = list(faults(graph, read_index(snapshot), count_tokens))
    return found + [("edges", words) for words in _differences(snapshot, graph)]


def _differences(snapshot: Snapshot, graph: Graph) -> list[str]:
    return list(differences(graph.edges(), replay(read_traces(snapshot))))
