"""What `memcli inspect` and `memcli show` tell about strategy memory: read, never written.

Records come in the order of their creation, each in its newest state. Memory is one small entry
a record; the records themselves are read as they are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import chain, islice
from typing import Literal, get_args

from memcli.errors import NothingFound, UsageError
from memcli.records.codec import loads
from memcli.records.strategy import (
    AppliedOperation,
    IndexLine,
    Label,
    Provenance,
    StrategyEdge,
    StrategyNode,
    Trace,
)
from memcli.records.strategy_codec import (
    edge_from_line,
    edge_to_dict,
    index_line_from_line,
    node_from_line,
    node_to_dict,
    trace_from_line,
)
from memcli.store.snapshot import Snapshot
from memcli.strategy.posterior import interval, mean

EdgeOrder = Literal["mean", "low", "high", "s", "f", "evidence", "source", "target"]
"""By what edges are sorted: figures from high to low, ids from low to high."""

EDGE_ORDERS: tuple[EdgeOrder, ...] = get_args(EdgeOrder)
_READ_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class WeighedEdge:
    """An edge with what its evidence says.

    Attributes:
        edge: The edge.
        mean: (S + 1) / (S + F + 2), the weight that ranks (Eq. 19 of arXiv 2610.02687).
        low: 5 % quantile of Beta(1 + S, 1 + F).
        high: 95 % quantile.
    """

    edge: StrategyEdge
    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, edge: StrategyEdge) -> WeighedEdge:
        """Return the edge with the figures of its counters."""
        return cls(edge, *_figures(edge.s, edge.f))

    def as_dict(self) -> dict[str, object]:
        """Return the stored fields and the figures as JSON values, the figures to 6 decimals."""
        figures = {"mean": self.mean, "low90": self.low, "high90": self.high}
        return edge_to_dict(self.edge) | {k: round(v, 6) for k, v in figures.items()}


def posterior_words(weighed: WeighedEdge) -> str:
    """Return an edge's figures as a person reads them: ``0.75 (S 2, F 0; 90 % 0.37–0.98)``."""
    edge = weighed.edge
    span = f"{weighed.low:.2f}–{weighed.high:.2f}"
    return f"{weighed.mean:.2f} (S {edge.s:g}, F {edge.f:g}; 90 % {span})"


@lru_cache(maxsize=1 << 16)
def _figures(s: float, f: float) -> tuple[float, float, float]:
    """Return mean and 90 % interval; edges share few pairs of counters."""
    return mean(s, f), *interval(s, f)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeFilter:
    """Which edges, and in which order.

    Attributes:
        node: Only edges that leave or enter this node.
        with_removed: Removed ones too.
        order: None keeps the order of creation.
        limit: At most so many.
    """

    node: str | None = None
    with_removed: bool = False
    order: EdgeOrder | None = None
    limit: int | None = None


def nodes(snapshot: Snapshot, *, with_removed: bool = False) -> Iterator[StrategyNode]:
    """Yield the nodes in order of creation."""
    path = str(snapshot.file("nodes"))
    for line in _newest_lines(snapshot, "nodes"):
        node = node_from_line(line, path=path)
        if with_removed or node.status == "active":
            yield node


def index(snapshot: Snapshot, *, with_removed: bool = False) -> Iterator[IndexLine]:
    """Yield the lines of the routing index as an LLM retriever reads them, in order."""
    path = str(snapshot.file("index"))
    for line in _newest_lines(snapshot, "index"):
        entry = index_line_from_line(line, path=path)
        if with_removed or entry.status == "active":
            yield entry


def edges(snapshot: Snapshot, wanted: EdgeFilter) -> Iterator[WeighedEdge]:
    """Yield edges with their figures; ties of an order go by source, then target.

    Raises:
        NothingFound: If an edge of a node is asked for and there is no such node.
    """
    if wanted.node is not None:
        _refuse_unknown_node(snapshot, wanted.node)
    found = map(WeighedEdge.of, _edges(snapshot, wanted))
    order = wanted.order
    if order is None:
        return islice(found, wanted.limit)
    key = lambda weighed: _rank(weighed, order)  # noqa: E731
    if wanted.limit is not None:
        return iter(nsmallest(wanted.limit, found, key=key))
    return iter(sorted(found, key=key))


def _edges(snapshot: Snapshot, wanted: EdgeFilter) -> Iterator[StrategyEdge]:
    path = str(snapshot.file("edges"))
    for line in _newest_lines(snapshot, "edges"):
        edge = edge_from_line(line, path=path)
        shown = wanted.with_removed or edge.status == "active"
        if shown and (wanted.node is None or wanted.node in edge.pair):
            yield edge


def _rank(weighed: WeighedEdge, order: EdgeOrder) -> tuple[object, ...]:
    edge = weighed.edge
    match order:
        case "source":
            return edge.pair
        case "target":
            return edge.target, edge.source
        case "mean" | "low" | "high":
            return -getattr(weighed, order), *edge.pair
        case "s" | "f":
            return -getattr(edge, order), *edge.pair
        case "evidence":
            return -(edge.s + edge.f), *edge.pair


def traces(snapshot: Snapshot, name: str | None = None) -> Iterator[Trace]:
    """Return the log in order: all of it, the trace of that id, or those of that run.

    Raises:
        NothingFound: If a name is given that no trace has.
    """
    found = (trace for trace in _traces(snapshot) if name in (None, trace.id, trace.run))
    if name is None:
        return found
    first = next(found, None)
    if first is None:
        raise NothingFound(
            f"no trace and no run in the log is called {name!r}",
            hint="`memcli inspect traces` lists them",
        )
    return chain([first], found)


def _traces(snapshot: Snapshot) -> Iterator[Trace]:
    path = str(snapshot.file("traces"))
    for number, (_, line) in enumerate(snapshot.lines("traces"), 1):
        yield trace_from_line(line, path=path, number=number)


def label_words(labels: Sequence[Label]) -> str:
    """Return labels as one line: ``n00001>n00002 +0.9, n00002>n00003 -0.5``; neutral is ``0``."""
    signs = {"helpful": "+", "harmful": "-", "neutral": "0·"}
    return ", ".join(
        f"{each.source}>{each.target} {signs[each.label]}{each.confidence:g}" for each in labels
    )


def operation_words(operations: Sequence[AppliedOperation]) -> str:
    """Return applied operations as one line: ``ADD n00004, ADD_EDGE n00001>n00004``."""
    return ", ".join(f"{each.op} {_operand(each)}" for each in operations)


def _operand(applied: AppliedOperation) -> str:
    if applied.op == "MERGE":
        return f"{applied.id} into {applied.target}"
    return applied.id or f"{applied.source}>{applied.target}"


def origin_words(provenance: Provenance) -> str:
    """Return where a lesson comes from: ``written by hand`` or ``learned in run-0001, step 3``."""
    if provenance.origin == "hand":
        return "written by hand"
    step = f", step {provenance.step}" if provenance.step is not None else ""
    answer = ", holds its example's answer" if provenance.holds_answer else ""
    return f"learned in {provenance.run or 'training'}{step}{answer}"


@dataclass(frozen=True, slots=True)
class ShownNode:
    """A node and the edges around it, best first; removed edges only for a removed node."""

    node: StrategyNode
    leaving: tuple[WeighedEdge, ...]
    entering: tuple[WeighedEdge, ...]
    keys: Mapping[str, str]
    """Key of each node at the other end."""

    def as_dict(self) -> dict[str, object]:
        """Return the node and its edges as JSON values."""
        return {
            "node": node_to_dict(self.node),
            "leaving": [edge.as_dict() for edge in self.leaving],
            "entering": [edge.as_dict() for edge in self.entering],
        }


def show_node(snapshot: Snapshot, prefix: str) -> ShownNode:
    """Return the node whose id starts with a prefix, removed ones included.

    Raises:
        NothingFound: If there is no such node.
        UsageError: If the prefix fits several; names some.
    """
    places = snapshot.newest("nodes")
    name = _only(prefix, [name for name in places if name.startswith(prefix)])
    node = node_from_line(snapshot.read_line("nodes", places[name]))
    wanted = EdgeFilter(node=name, with_removed=node.status == "removed", order="mean")
    around = list(edges(snapshot, wanted))
    others = list(dict.fromkeys(end for each in around for end in each.edge.pair if end in places))
    lines = snapshot.read_lines("nodes", [places[other] for other in others])
    return ShownNode(
        node,
        tuple(each for each in around if each.edge.source == name),
        tuple(each for each in around if each.edge.target == name),
        {other.id: other.key for other in map(node_from_line, lines)},
    )


def _only(prefix: str, names: list[str]) -> str:
    """Return the one name that is the prefix or that alone starts with it."""
    if prefix in names:
        return prefix
    if not names:
        raise NothingFound(
            f"no node has an id that starts with {prefix!r}",
            hint="`memcli inspect nodes` lists them",
        )
    if len(names) > 1:
        some = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
        raise UsageError(f"{prefix!r} fits several ids: {some}", hint="give more of it")
    return names[0]


def _refuse_unknown_node(snapshot: Snapshot, name: str) -> None:
    if name not in snapshot.newest("nodes"):
        raise NothingFound(f"no node is called {name!r}", hint="`memcli inspect nodes` lists them")


def strategy_stats(snapshot: Snapshot) -> dict[str, object]:
    """Return counts of what strategy memory holds: active and removed records, evidence, log."""
    sections, node_states, edge_states = Counter[str](), Counter[str](), Counter[str]()
    tokens, s, f, labelled = 0, 0.0, 0.0, 0
    for node in nodes(snapshot, with_removed=True):
        node_states[node.status] += 1
        if node.status == "active":
            tokens += node.tokens
            sections[node.section] += 1
    for edge in _edges(snapshot, EdgeFilter(with_removed=True)):
        edge_states[edge.status] += 1
        if edge.status == "active":
            s, f, labelled = s + edge.s, f + edge.f, labelled + (edge.s + edge.f > 0)
    kinds = Counter(str(loads(line).get("kind")) for _, line in snapshot.lines("traces"))
    return {
        "nodes": node_states["active"],
        "removed_nodes": node_states["removed"],
        "node_tokens": tokens,
        "sections": dict(sorted(sections.items())),
        "edges": edge_states["active"],
        "removed_edges": edge_states["removed"],
        "edges_with_evidence": labelled,
        "S": round(s, 6),
        "F": round(f, 6),
        "traces": kinds.total(),
        "trace_kinds": dict(sorted(kinds.items())),
    }


def _newest_lines(snapshot: Snapshot, kind: str) -> Iterator[bytes]:
    """Yield the newest line of each record, in order of creation."""
    places = iter(snapshot.newest(kind).values())
    while some := list(islice(places, _READ_AT_ONCE)):
        yield from snapshot.read_lines(kind, some)
