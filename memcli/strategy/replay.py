"""S and F from the log alone: what `traces.jsonl` says the edges must be.

Written apart from `operations`, on counters only, so that the two check each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from memcli.records.strategy import AppliedOperation, Label, Pair, StrategyEdge, Trace
from memcli.strategy.posterior import add, take_back, update

Counters = dict[Pair, StrategyEdge]
"""The active edges."""


def replay(traces: Iterable[Trace]) -> Counters:
    """Return the active edges that a log leads to, with exactly their S and F.

    Within a trace an earlier label by hand that it replaces is taken back first, then its
    labels apply, then its operations.
    """
    edges: Counters = {}
    by_hand: dict[str, tuple[Label, ...]] = {}
    for trace in traces:
        for label in by_hand.get(trace.replaces or "", ()):
            _move(edges, label, back=True)
        for label in trace.labels:
            _move(edges, label)
        for operation in trace.operations:
            _apply(edges, operation)
        if trace.kind == "feedback":
            by_hand[trace.id] = trace.labels
    return edges


def differences(edges: Iterable[StrategyEdge], replayed: Counters) -> Iterator[str]:
    """Yield in words where stored edges are not what the log leads to."""
    left = dict(replayed)
    for edge in edges:
        name = f"edge {edge.source} → {edge.target}"
        told = left.pop(edge.pair, None)
        if told is None:
            yield f"{name} is stored, the log knows nothing of it"
        elif (told.s, told.f) != (edge.s, edge.f):
            yield f"{name} has S {edge.s}, F {edge.f}; the log leads to S {told.s}, F {told.f}"
    for source, target in sorted(left):
        yield f"edge {source} → {target} is in the log and not stored"


def _move(edges: Counters, label: Label, *, back: bool = False) -> None:
    pair = (label.source, label.target)
    if pair in edges:
        change = take_back if back else update
        edges[pair] = change(edges[pair], label.label, label.confidence)


def _apply(edges: Counters, operation: AppliedOperation) -> None:
    source, target, node_id = operation.source or "", operation.target or "", operation.id or ""
    match operation.op:
        case "ADD_EDGE":
            edges[source, target] = StrategyEdge(source=source, target=target)
        case "REMOVE_EDGE":
            edges.pop((source, target), None)
        case "REMOVE":
            for pair in [pair for pair in edges if node_id in pair]:
                del edges[pair]
        case "MERGE":
            _merge(edges, node_id, target)
        case "ADD" | "UPDATE":
            pass


def _merge(edges: Counters, node_id: str, into: str) -> None:
    for pair in sorted(pair for pair in edges if node_id in pair):
        gone = edges.pop(pair)
        source, target = (into if end == node_id else end for end in pair)
        if source != target:
            there = edges.get((source, target)) or StrategyEdge(source=source, target=target)
            edges[source, target] = replace(there, s=add(there.s, gone.s), f=add(there.f, gone.f))
