"""`memcli inspect nodes|edges|index|traces|graph`: strategy memory."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from memcli.cli._output import inert, json_document, json_lines, line, listing, print_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memcli.app.inspect_strategy import ShownNode, WeighedEdge
    from memcli.cli._view import View
    from memcli.records.strategy import StrategyNode, Trace
    from memcli.store.snapshot import Snapshot
    from memcli.store.store import Store

EDGE_HEADERS = ("source", "target", "S", "F", "mean", "90 % from", "to")
TRACE_HEADERS = (
    *("id", "kind", "step", "right", "retriever", "outcome", "loaded", "tokens"),
    *("influence", "labels", "operations"),
)


def nodes(_store: Store, snapshot: Snapshot, view: View) -> None:
    """Print the lessons, or one with its edges."""
    from memcli.app import inspect_strategy as app
    from memcli.records.strategy_codec import node_to_dict

    if view.name is not None:
        print_node(app.show_node(snapshot, view.name), view.json or view.jsonl)
        return
    found = app.nodes(snapshot, with_removed=view.removed)
    if view.json or view.jsonl:
        view.records("nodes", map(node_to_dict, found))
        return
    headers = ("id", "section", "revision", "tokens", "key", "content")
    listing("nodes", headers, map(_node_row, islice(found, view.limit)))


def _node_row(node: StrategyNode) -> tuple[object, ...]:
    mark = "(removed) " if node.status == "removed" else ""
    return (node.id, node.section, node.revision, node.tokens, mark + node.key, node.content)


def edges(_store: Store, snapshot: Snapshot, view: View) -> None:
    """Print the edges with their posteriors, or those around one node."""
    from memcli.app import inspect_strategy as app

    wanted = app.EdgeFilter(
        node=view.name,
        with_removed=view.removed,
        order=view.sort.value if view.sort else None,
        limit=view.limit,
    )
    found = app.edges(snapshot, wanted)
    if view.json or view.jsonl:
        view.records("edges", (each.as_dict() for each in found))
    else:
        listing("edges", EDGE_HEADERS, map(edge_row, found))


def edge_row(weighed: WeighedEdge) -> tuple[object, ...]:
    """Return an edge as a table's row; fits `EDGE_HEADERS`."""
    edge = weighed.edge
    figures = (f"{value:.3f}" for value in (weighed.mean, weighed.low, weighed.high))
    return (
        edge.source,
        edge.target + _removed(edge.status),
        f"{edge.s:g}",
        f"{edge.f:g}",
        *figures,
    )


def _removed(status: str) -> str:
    return " (removed)" if status == "removed" else ""


def index(_store: Store, snapshot: Snapshot, view: View) -> None:
    """Print the routing index exactly as an LLM retriever reads it."""
    from memcli.app import inspect_strategy as app
    from memcli.records.strategy_codec import index_line_to_dict
    from memcli.strategy.playbook import index_line

    found = app.index(snapshot, with_removed=view.removed)
    if view.json or view.jsonl:
        view.records("index", map(index_line_to_dict, found))
        return
    shown = (index_line(entry) + _removed(entry.status) for entry in islice(found, view.limit))
    print_lines("index", map(inert, shown))


def traces(_store: Store, snapshot: Snapshot, view: View) -> None:
    """Print the log, the part of one run, or one trace in full."""
    from memcli.app import inspect_strategy as app
    from memcli.records.strategy_codec import trace_to_dict

    found = app.traces(snapshot, view.name)
    if view.json or view.jsonl:
        view.records("traces", map(trace_to_dict, found))
        return
    listing("traces", TRACE_HEADERS, map(_trace_row, islice(found, view.limit)))


def _trace_row(trace: Trace) -> tuple[object, ...]:
    from memcli.app.inspect_strategy import label_words, operation_words

    seen = trace.retrieval
    return (
        trace.id,
        trace.kind,
        trace.step,
        None if trace.total is None else f"{trace.right}/{trace.total}",
        seen.retriever if seen else None,
        seen.outcome if seen else None,
        len(seen.loaded) if seen else None,
        seen.memory_tokens if seen else None,
        " > ".join(trace.influence),
        label_words(trace.labels),
        operation_words(trace.operations),
    )


def graph(_store: Store, snapshot: Snapshot, view: View) -> None:
    """Print the graph, or the surroundings of a node: as text, records or Graphviz input."""
    from memcli.app import inspect_graph as app

    found = app.graph(snapshot, around=view.name, limit=view.limit)
    if view.json:
        json_document(found.as_dict())
    elif view.jsonl:
        json_lines(found.as_records())
    else:
        lines = app.dot_lines(found) if view.dot else app.text_lines(found)
        print_lines("nodes", map(inert, lines))


def print_node(shown: ShownNode, as_json: bool) -> None:
    """Print a lesson in full, where it comes from and the edges around it."""
    if as_json:
        json_document(shown.as_dict())
        return
    for each in _node_lines(shown):
        line(inert(each))


def _node_lines(shown: ShownNode) -> Iterator[str]:
    from memcli.app.inspect_strategy import origin_words, posterior_words

    node = shown.node
    state = "" if node.status == "active" else ", removed"
    yield f"{node.id} | {node.key} [{node.section}]{state}"
    yield f"revision {node.revision}, {node.tokens} tokens, {origin_words(node.provenance)}"
    yield ""
    yield node.content
    if shown.leaving or shown.entering:
        yield ""
    for title, around, end in (("→", shown.leaving, 1), ("←", shown.entering, 0)):
        for each in around:
            other = each.edge.pair[end]
            yield f"{title} {other}  {posterior_words(each)}  {shown.keys.get(other, '')}"
