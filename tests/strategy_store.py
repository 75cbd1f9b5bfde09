"""Stores of lessons for the tests of what looks at them, written through the real writer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from memcli.budgets import ENCODING
from memcli.records.strategy import (
    AppliedOperation,
    IndexLine,
    Label,
    Loaded,
    Provenance,
    Retrieval,
    StrategyEdge,
    StrategyNode,
    Trace,
)
from memcli.records.strategy_codec import (
    edge_to_line,
    index_line_to_line,
    node_to_line,
    trace_to_line,
)
from memcli.store.store import Store

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TIME = "2026-03-01T12:00:00Z"


def a_node(number: int, key: str, content: str | None = None, **fields: object) -> StrategyNode:
    text = content if content is not None else f"Lesson {key} :: what to do."
    known: dict[str, object] = {
        "section": "formulas_and_calculations",
        "provenance": Provenance(origin="train", run="run-0001", step=number, example=f"x{number}"),
        "tokens": 12,
        "tokenizer": ENCODING,
    }
    return StrategyNode(id=f"n{number:05}", key=key, content=text, **(known | fields))


def line_of(node: StrategyNode) -> IndexLine:
    return IndexLine(id=node.id, key=node.key, section=node.section, status=node.status)


NODES = (
    a_node(1, "net present value"),
    a_node(2, "discount rate", "Discount each year.\nThen add."),
    a_node(3, "old advice", status="removed"),
    a_node(4, "rounding", section="common_mistakes_to_avoid"),
    a_node(5, 'quotes "and" \\ slashes', provenance=Provenance(origin="hand")),
)
EDGES = (
    StrategyEdge(source="n00001", target="n00002", s=2.0),
    StrategyEdge(source="n00002", target="n00004", s=0.9, f=1.5),
    StrategyEdge(source="n00001", target="n00003", s=5.0, status="removed"),
    StrategyEdge(source="n00004", target="n00001"),
    StrategyEdge(source="n00005", target="n00004", f=3.0),
)
TRACES = (
    Trace(
        id="run-0001.1",
        kind="train",
        time=TIME,
        run="run-0001",
        epoch=1,
        step=1,
        example="x1",
        retrieval=Retrieval(retriever="llm", outcome="empty_graph"),
        operations=(AppliedOperation(op="ADD", id="n00001"),),
        right=0,
        total=1,
    ),
    Trace(
        id="run-0001.2",
        kind="train",
        time=TIME,
        run="run-0001",
        epoch=1,
        step=2,
        example="x2",
        retrieval=Retrieval(
            retriever="llm",
            outcome="loaded",
            sections=("formulas_and_calculations",),
            entries=("n00001",),
            loaded=(Loaded(id="n00001", depth=0), Loaded(id="n00002", depth=1)),
            considered=(("n00001", "n00002"),),
            traversed=(("n00001", "n00002"),),
            memory_tokens=24,
            discarded={"unknown_entry": 1},
        ),
        influence=("n00001", "n00002"),
        labels=(Label(source="n00001", target="n00002", label="helpful", confidence=0.9),),
        tags={"n00001": "helpful"},
        operations=(AppliedOperation(op="ADD_EDGE", source="n00002", target="n00004"),),
        failures={"curate": "llm_reply_invalid"},
        right=1,
        total=1,
    ),
    Trace(
        id="edit-1",
        kind="edit",
        time=TIME,
        operations=(
            AppliedOperation(op="REMOVE", id="n00003"),
            AppliedOperation(op="MERGE", id="n00003", target="n00001"),
        ),
    ),
)


def write_store(
    path: Path,
    nodes: Iterable[StrategyNode] = NODES,
    edges: Iterable[StrategyEdge] = EDGES,
    traces: Sequence[Trace] = TRACES,
) -> Store:
    """A store of these records in one commit, index lines included."""
    store = Store.create(path, now=NOW)
    append(store, nodes, edges, traces)
    return store


def append(
    store: Store,
    nodes: Iterable[StrategyNode] = (),
    edges: Iterable[StrategyEdge] = (),
    traces: Iterable[Trace] = (),
) -> None:
    with store.writer(now=NOW) as writer:
        for node in nodes:
            writer.append("nodes", node_to_line(node))
            writer.append("index", index_line_to_line(line_of(node)))
        for edge in edges:
            writer.append("edges", edge_to_line(edge))
        for trace in traces:
            writer.append("traces", trace_to_line(trace))
        writer.commit(command="train", batch="run-0001")
