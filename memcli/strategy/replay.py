"""S and F from the log alone: what `traces.jsonl` says the edges must be.

Written apart from `operations`, on counters only, so that the two check each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from memcli.records.strategy import AppliedOperation, Label, Pair, StrategyEdge, Trace
from memcli.strategy.posterior import add, take_back, update

Counters = dict[Pair, StrategyEdge]
"""The active edges."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A label by hand that holds now.

    Attributes:
        id: Its log entry.
        labels: Those whose evidence is still in S or F, in order: an edge that was removed
            since lost it, also where one was added again in its place.
    """

    id: str
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class _ByHand:
    at: int
    of: str | None
    labels: tuple[Label, ...]


class Log:
    """The active edges as a log is read, and which labels by hand are in their evidence."""

    def __init__(self) -> None:
        self.edges: Counters = {}
        self._made: dict[Pair, int] = {}
        self._by_hand: dict[str, _ByHand] = {}
        self._read = 0

    def read(self, trace: Trace) -> None:
        """Take in the next trace.

        The label by hand that it replaces is taken back first, then its labels apply, then
        its operations.
        """
        self._read += 1
        if trace.replaces in self._by_hand:
            for label in self._left(self._by_hand.pop(trace.replaces)):
                self._move(label, back=True)
        for label in trace.labels:
            self._move(label)
        for operation in trace.operations:
            self._apply(operation)
        if trace.kind == "feedback":
            self._by_hand[trace.id] = _ByHand(self._read, trace.of, trace.labels)

    def standing(self, about: str) -> Standing | None:
        """Return the label by hand that a trace has now, None without one."""
        given = [name for name, each in self._by_hand.items() if each.of == about]
        return Standing(given[-1], self._left(self._by_hand[given[-1]])) if given else None

    def _left(self, given: _ByHand) -> tuple[Label, ...]:
        """Return the labels whose edges are the ones that were labelled."""
        return tuple(
            label
            for label in given.labels
            if self._made.get((label.source, label.target), given.at) < given.at
        )

    def _move(self, label: Label, *, back: bool = False) -> None:
        pair = (label.source, label.target)
        if pair in self.edges:
            change = take_back if back else update
            self.edges[pair] = change(self.edges[pair], label.label, label.confidence)

    def _apply(self, operation: AppliedOperation) -> None:
        pair = (operation.source or "", operation.target or "")
        match operation.op:
            case "ADD_EDGE":
                self._make(pair)
            case "REMOVE_EDGE":
                self._drop(pair)
            case "REMOVE":
                for touching in self._touching(operation.id or ""):
                    self._drop(touching)
            case "MERGE":
                self._merge(operation.id or "", pair[1])
            case "ADD" | "UPDATE":
                pass

    def _make(self, pair: Pair) -> None:
        self.edges[pair] = StrategyEdge(source=pair[0], target=pair[1])
        self._made[pair] = self._read

    def _drop(self, pair: Pair) -> StrategyEdge | None:
        self._made.pop(pair, None)
        return self.edges.pop(pair, None)

    def _touching(self, node_id: str) -> list[Pair]:
        return sorted(pair for pair in self.edges if node_id in pair)

    def _merge(self, node_id: str, into: str) -> None:
        """Redirect edges and sum their evidence; what moved cannot be taken back any more."""
        for pair in self._touching(node_id):
            gone = self._drop(pair)
            source, target = (into if end == node_id else end for end in pair)
            if gone is None or source == target:
                continue
            if (source, target) not in self.edges:
                self._make((source, target))
            there = self.edges[source, target]
            self.edges[source, target] = replace(
                there, s=add(there.s, gone.s), f=add(there.f, gone.f)
            )


def replay(traces: Iterable[Trace]) -> Counters:
    """Return the active edges that a log leads to, with exactly their S and F."""
    log = Log()
    for trace in traces:
        log.read(trace)
    return log.edges


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
