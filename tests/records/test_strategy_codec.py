"""Strategy records survive their way through a line, whatever they hold."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import RecordError
from memcli.records.codec import dumps, loads
from memcli.records.strategy import (
    SECTIONS,
    IndexLine,
    Provenance,
    Retrieval,
    StrategyEdge,
    StrategyNode,
    Trace,
)
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
from memcli.store.jsonl import parse

TEXT = st.text(max_size=30)
WHOLE = st.integers(-(2**63), 2**64 - 1)  # what JSON readers keep whole; see the test of parse
EXTRA = st.dictionaries(TEXT.map("x-".__add__), WHOLE | TEXT, max_size=2)
COUNT = st.floats(0, 1e6).map(lambda x: round(x, 6))
NODES = st.builds(
    StrategyNode,
    id=TEXT,
    section=st.sampled_from(SECTIONS),
    key=TEXT,
    content=TEXT,
    provenance=st.builds(Provenance, origin=st.sampled_from(["train", "hand"]), step=st.none()),
    tokens=st.integers(0, 500),
    tokenizer=TEXT,
    status=st.sampled_from(["active", "removed"]),
    extra=EXTRA,
)
EDGES = st.builds(StrategyEdge, source=TEXT, target=TEXT, s=COUNT, f=COUNT, extra=EXTRA)
LINES = st.builds(IndexLine, id=TEXT, key=TEXT, section=st.sampled_from(SECTIONS), extra=EXTRA)
RETRIEVALS = st.builds(
    Retrieval,
    retriever=st.sampled_from(["llm", "lexical", "hybrid", "all"]),
    outcome=st.sampled_from(["loaded", "failed_call"]),
    considered=st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    milliseconds=st.none() | COUNT,
)
TRACES = st.builds(
    Trace,
    id=TEXT,
    kind=st.sampled_from(["train", "query", "edit"]),
    time=TEXT,
    run=st.none() | TEXT,
    step=st.none() | st.integers(1, 99),
    retrieval=st.none() | RETRIEVALS,
    influence=st.lists(TEXT, max_size=3).map(tuple),
    discarded=st.dictionaries(TEXT, st.integers(0, 9), max_size=2),
    right=st.none() | st.integers(0, 3),
    extra=EXTRA,
)


@given(NODES)
def test_a_node_survives(node):
    assert node_from_line(node_to_line(node)) == node


@given(EDGES)
def test_an_edge_survives(edge):
    assert edge_from_line(edge_to_line(edge)) == edge
    assert {"S", "F"} <= loads(edge_to_line(edge)).keys()


@given(LINES)
def test_an_index_line_survives(entry):
    assert index_line_from_line(index_line_to_line(entry)) == entry


@given(TRACES)
def test_a_trace_survives(trace):
    line = trace_to_line(trace)
    assert trace_from_line(line) == trace
    assert trace_to_line(trace_from_line(line)) == line


LABEL = {"source": "a", "target": "b", "label": "helpful", "confidence": 1}
GOOD = {
    "node": loads(
        node_to_line(
            StrategyNode(
                id="a",
                section="others",
                key="k",
                content="c",
                provenance=Provenance(origin="hand"),
                tokens=3,
                tokenizer="t",
            )
        )
    ),
    "trace": loads(trace_to_line(Trace(id="x", kind="train", time="t"))) | {"labels": [LABEL]},
    "edge": {"source": "a", "target": "b", "S": 0.5, "F": 1, "status": "active"},
    "index": {"id": "a", "key": "k", "section": "others", "status": "active"},
}


@pytest.mark.parametrize(
    ("kind", "change", "field"),
    [
        ("edge", {"S": -1}, "S"),
        ("edge", {"F": "1"}, "F"),
        ("edge", {"S": True}, "S"),
        ("edge", {"S": 10**400}, "S"),
        ("edge", {"S": 1e10}, "S"),
        ("node", {"tokens": -5}, "tokens"),
        ("node", {"tokens": True}, "tokens"),
        ("trace", {"labels": [LABEL | {"confidence": 1.5}]}, "confidence"),
        ("trace", {"labels": [LABEL | {"confidence": "high"}]}, "confidence"),
        ("trace", {"labels": [3]}, ""),
        ("edge", {"status": "gone"}, "status"),
        ("edge", {"source": None}, "source"),
        ("index", {"section": "poetry"}, "section"),
        ("index", {"key": 3}, "key"),
    ],
)
def test_what_does_not_fit_is_named(kind, change, field):
    read = {
        "node": node_from_line,
        "edge": edge_from_line,
        "index": index_line_from_line,
        "trace": trace_from_line,
    }[kind]
    read(dumps(GOOD[kind]))
    with pytest.raises(RecordError, match=f"field '{field}'" if field else "not a JSON object"):
        read(dumps({**GOOD[kind], **change}))


@pytest.mark.parametrize("read", [node_from_line, edge_from_line, trace_from_line])
@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b"{", b"null"])
def test_what_is_no_record_is_refused(read, line):
    with pytest.raises(RecordError):
        read(line)


def test_every_field_is_written():
    line = loads(trace_to_line(Trace(id="x", kind="edit", time="t")))
    assert line.keys() == {f.name for f in fields(Trace)} - {"extra"}


def test_a_number_that_a_rewrite_would_round_is_refused_and_not_rounded():
    line = dumps(GOOD["edge"] | {"F": 1.0, "x-huge": 2**70}) + b"\n"
    with pytest.raises(RecordError, match="a field would be lost"):
        parse("edges", line, path="edges.jsonl")
