"""Strategies changed by hand: labels for a trace, lessons added, edited and removed.

All of it goes the way a training step goes: through the curator's validated operations, in
one commit, with a trace in the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from memcli.app.stores import create_store, level_index
from memcli.app.strategy_store import append_change, load_graph, read_traces
from memcli.budgets import count_tokens
from memcli.errors import MemcliError, NothingFound, StoreMissing, UsageError
from memcli.records.codec import loads
from memcli.records.ids import fingerprint
from memcli.records.strategy import (
    Label,
    Pair,
    Provenance,
    StrategyEdge,
    StrategyNode,
    Trace,
    TraceKind,
)
from memcli.store.store import Store
from memcli.strategy.generator import influence_of, transitions
from memcli.strategy.graph import Graph
from memcli.strategy.operations import Change, Rules, plan
from memcli.strategy.posterior import take_back
from memcli.strategy.proposals import Proposal
from memcli.strategy.replay import Log, Standing

Verdict = Literal["helpful", "harmful"]

_REASONS: Final[Mapping[str, str]] = {
    "empty_content": "the lesson is empty",
    "node_too_long": "the lesson is longer than 500 tokens",
    "duplicate_node": "a lesson already says exactly this",
    "unknown_node": "there is no such lesson",
    "unchanged": "nothing would change",
    "link_unknown_node": "a --link names no lesson of this store",
    "link_self_loop": "a lesson cannot be linked with itself",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a label by hand did.

    Attributes:
        trace: Id of the log entry.
        labels: Labels that were applied.
        without_edge: Transitions that have no edge and so move nothing.
        replaced: Id of the earlier label that was taken back, or None.
        edges: The moved edges as they are now.
    """

    trace: str
    labels: tuple[Label, ...]
    without_edge: tuple[Pair, ...]
    replaced: str | None
    edges: tuple[StrategyEdge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFile:
    """What a label needs of a saved trace.

    Attributes:
        id: The trace's id.
        influence: Lessons in the order of their use.
    """

    id: str
    influence: tuple[str, ...]


def read_trace_file(path: Path, influence: Sequence[str] | None) -> TraceFile:
    """Return the id and influence trace of a saved trace.

    Args:
        path: JSON as `query --trace` or `inspect traces --json` give it.
        influence: Ids in order of use, where the file names none.

    Raises:
        UsageError: If it is no trace, holds no influence, or names lessons it did not load.
    """
    try:
        data = loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise UsageError(f"{path}: is not JSON ({error})") from error
    trace = _only_trace(data, path)
    retrieval = trace.get("retrieval")
    if not isinstance(trace.get("id"), str) or not isinstance(retrieval, Mapping):
        raise UsageError(f"{path}: is no trace of a retrieval", hint="see `memcli query --trace`")
    listed = retrieval.get("loaded")
    nodes = listed if isinstance(listed, list) else []
    loaded = [node.get("id") for node in nodes if isinstance(node, Mapping)]
    named = list(influence) if influence is not None else trace.get("influence") or []
    if not isinstance(named, list) or not named:
        raise UsageError(
            f"{path}: names no lessons that were used",
            hint="say which, in order: --influence n00003,n00001",
        )
    known, dropped = influence_of(named, [str(each) for each in loaded])
    if dropped:
        raise UsageError(
            f"{path}: {dropped.total()} of the named lessons were not loaded",
            hint="only loaded lessons can have had influence",
        )
    return TraceFile(id=trace["id"], influence=known)


def _only_trace(data: Any, path: Path) -> Mapping[str, Any]:
    """Return the trace of a document that holds one: bare, under ``trace`` or in a list."""
    if isinstance(data, Mapping) and isinstance(data.get("trace"), Mapping):
        data = data["trace"]
    if isinstance(data, Mapping) and isinstance(data.get("traces"), list):
        if len(data["traces"]) != 1:
            raise UsageError(f"{path}: holds {len(data['traces'])} traces, not one")
        data = data["traces"][0]
    if not isinstance(data, Mapping):
        raise UsageError(f"{path}: is no trace")
    return data


def give_feedback(
    store: Store,
    saved: TraceFile,
    verdict: Verdict,
    *,
    confidence: float,
    replace: bool,
    now: datetime,
    wait_s: float,
) -> Given:
    """Label the transitions of a trace, by the rule of training (Eq. 20, 21), in one commit.

    Raises:
        UsageError: If the confidence is not within [0, 1], the trace has no transition with an
            edge, or it was labelled before and ``replace`` is not set.
    """
    if not 0 <= confidence <= 1:
        raise UsageError(f"--confidence {confidence} is not between 0 and 1")
    pairs = transitions(saved.influence)
    labels = [
        Label(source=a, target=b, label=verdict, confidence=round(confidence, 6)) for a, b in pairs
    ]
    with store.writer(now=now, wait_s=wait_s, command="feedback") as writer:
        graph = load_graph(writer.snapshot)
        earlier = _standing(read_traces(writer.snapshot), saved.id)
        if earlier is not None and not replace:
            raise UsageError(
                f"trace {saved.id} was labelled before ({earlier.id})",
                hint="--replace takes the earlier label back first",
            )
        change = _relabelled(graph, labels, earlier)
        if not change.labels:
            raise UsageError(
                f"none of the {len(pairs)} transitions of {saved.id} has an edge",
                hint="a label moves edges, it never makes one",
            )
        trace = Trace(
            id=_trace_id("feedback", saved.id, str(writer.snapshot.manifest.commit)),
            kind="feedback",
            time=_stamp(now),
            influence=saved.influence,
            labels=change.labels,
            discarded=change.discarded,
            of=saved.id,
            replaces=earlier.id if earlier else None,
        )
        append_change(writer, change, trace)
        writer.commit(command="feedback")
    moved = {(label.source, label.target) for label in change.labels}
    return Given(
        trace=trace.id,
        labels=change.labels,
        without_edge=tuple(pair for pair in pairs if pair not in moved),
        replaced=trace.replaces,
        edges=change.edges,
    )


def _standing(traces: Iterable[Trace], trace_id: str) -> Standing | None:
    """Return the label by hand that a trace has now, None without one."""
    log = Log()
    for trace in traces:
        log.read(trace)
    return log.standing(trace_id)


def _relabelled(graph: Graph, labels: Sequence[Label], earlier: Standing | None) -> Change:
    """Return the change that labels make once an earlier one is taken back; moves the graph."""
    taken: dict[Pair, StrategyEdge] = {}
    for label in earlier.labels if earlier else ():
        edge = graph.edge((label.source, label.target))
        if edge is not None and edge.status == "active":
            taken[edge.pair] = take_back(edge, label.label, label.confidence)
    graph.absorb((), taken.values())
    change = plan(graph, _rules(), labels=labels)
    edges = taken | {edge.pair: edge for edge in change.edges}
    return Change(edges=tuple(edges.values()), labels=change.labels, discarded=change.discarded)


def store_for(path: Path, proposal: Proposal, *, now: datetime) -> Store:
    """Return the store in a directory, made if there is none and the proposal may begin it.

    Raises:
        UsageError: If an empty store refuses the proposal; none is made then.
    """
    try:
        return Store.open(path)
    except StoreMissing:
        _planned(Graph(), proposal)
        return create_store(path, tz=None, now=now)


def apply_by_hand(
    store: Store,
    proposal: Proposal,
    *,
    now: datetime,
    wait_s: float,
    kind: TraceKind = "edit",
    dry_run: bool = False,
) -> tuple[StrategyNode, Change]:
    """Apply one proposal of a person; return the lesson as it is then, and the change.

    A dry run reads only: no lock is taken and a store that cannot be written will do.

    Raises:
        UsageError, NothingFound: If it is refused; nothing is written then.
    """
    if dry_run:
        change = _planned(load_graph(store.snapshot()), proposal)
        return change.nodes[0], change
    with store.writer(now=now, wait_s=wait_s, command="node") as writer:
        change = _planned(load_graph(writer.snapshot), proposal)
        commit = str(writer.snapshot.manifest.commit)
        trace = Trace(
            id=_trace_id(kind, change.nodes[0].id, commit),
            kind=kind,
            time=_stamp(now),
            operations=change.operations,
        )
        append_change(writer, change, trace)
        level_index(writer.commit(command="node"), done="the lesson is stored")
    return change.nodes[0], change


def _planned(graph: Graph, proposal: Proposal) -> Change:
    """Return the change that a proposal makes.

    Raises:
        UsageError, NothingFound: If it is refused, in part too.
    """
    change = plan(graph, _rules(), proposals=[proposal])
    refused = sorted(set(change.discarded) - {"unknown_section"})
    if refused:
        raise _refusal(refused[0], proposal)
    return change


def _refusal(reason: str, proposal: Proposal) -> MemcliError:
    words = _REASONS.get(reason, reason.replace("_", " "))
    if reason == "unknown_node":
        name = getattr(proposal, "id", "")
        return NothingFound(
            f"there is no lesson {name!r}", hint="`memcli inspect nodes` lists them"
        )
    return UsageError(words)


def _rules() -> Rules:
    return Rules(count=count_tokens, provenance=Provenance(origin="hand"))


def _trace_id(kind: str, about: str, commit: str) -> str:
    """Return an id for a log entry: what it is about, and after which commit it was made."""
    return "x" + fingerprint(kind, about, commit, None)[:11]


def _stamp(now: datetime) -> str:
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")
