"""A store's strategies read one by one are those that a whole graph holds."""

from __future__ import annotations

import json

import pytest
from strategy_store import EDGES, NODES, a_node, append, write_store

from memcli.app.care import verify_store
from memcli.app.stores import level_index
from memcli.app.strategy_store import load_graph
from memcli.app.strategy_view import StoredMemory
from memcli.records.strategy import StrategyEdge
from memcli.store.layout import DERIVED


@pytest.fixture
def store(tmp_path):
    made = write_store(tmp_path / "store")
    level_index(made.snapshot(), done="test")
    return made


def test_edges_and_lessons_are_those_of_the_whole_graph(store):
    odd = 'n"1\\'
    newer = [
        StrategyEdge(source="n00001", target="n00002", s=2.5, f=0.5),
        StrategyEdge(source="n00002", target="n00004", status="removed"),
        StrategyEdge(source="n00001", target="n00005", extra={"note": {"source": "n00002"}}),
        StrategyEdge(source=odd, target="n00001"),
    ]
    append(store, [a_node(6, "new"), a_node(1, "npv", revision=2)], newer)
    snapshot = store.snapshot()
    view, graph = StoredMemory(snapshot), load_graph(snapshot)
    assert view.n_nodes == graph.n_nodes
    for node in (*graph.nodes(), NODES[1]):
        assert view.node(node.id) == graph.node(node.id)
        assert list(view.out_edges(node.id)) == graph.out_edges(node.id)
    assert [edge.target for edge in view.out_edges(odd)] == ["n00001"]
    for edge in (*EDGES, *newer):
        assert view.edge(edge.pair) == graph.edge(edge.pair)
    assert view.out_edges("n99999") == []
    assert view.edge(("n00001", "n99999")) is None
    assert [line.id for line in view.index_lines()] == [line.id for line in graph.index_lines()]


def test_a_state_without_edges_has_none(tmp_path):
    store = write_store(tmp_path / "store", edges=())
    assert StoredMemory(store.snapshot()).out_edges("n00001") == []


def index_faults(store):
    found = verify_store(store.path).findings
    return [each.what for each in found if each.where == DERIVED and "lessons" in each.what]


def test_verify_has_nothing_against_an_index_that_is_level_or_behind(store):
    assert index_faults(store) == []
    append(store, [a_node(7, "later"), a_node(1, "edited", revision=2)])
    assert index_faults(store) == []


def test_verify_names_an_index_that_holds_other_lessons(store):
    mark = store.path / DERIVED / "lessons.json"
    data = json.loads(mark.read_bytes())
    mark.write_text(json.dumps(data | {"documents": data["documents"] + 1}))
    assert len(index_faults(store)) == 1
