"""A graph of records in file order: the newest counts, ids stay in order and are never reused."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from lessons import graph_of, lesson, link

from memcli.strategy.graph import Graph


def ids(nodes):
    return [node.id for node in nodes]


def test_the_newest_record_of_a_node_counts_and_keeps_its_place():
    graph = Graph.of([lesson(1), lesson(2), lesson(1, "Newer words.", key="newer")], [])
    assert ids(graph.nodes()) == ["n00001", "n00002"]
    assert graph.node("n00001").content == "Newer words."
    assert [entry.key for entry in graph.index_lines()] == ["newer", "lesson 2"]
    assert graph.node("n00009") is None


def test_what_is_removed_is_hidden_and_its_id_stays_taken():
    graph = graph_of(2, link(1, 2))
    graph.absorb([replace(lesson(2), status="removed")], [link(1, 2, status="removed")])
    assert ids(graph.nodes()) == ids(graph.index_lines()) == ["n00001"]
    assert list(graph.edges()) == graph.out_edges("n00001") == graph.in_edges("n00002") == []
    assert graph.edge(("n00001", "n00002")).status == "removed"
    assert (graph.n_nodes, graph.n_edges) == (1, 0)
    assert (graph.next_id(), graph.next_id(2)) == ("n00003", "n00005")


def test_ids_of_another_program_take_no_number():
    graph = Graph.of([replace(lesson(1), id=name) for name in ("lesson-x", "n", "n1x", "n٣")], [])
    assert graph.next_id() == "n00001"
    assert Graph.of([replace(lesson(1), id="n120000")], []).next_id() == "n120001"


def test_edges_of_a_node_come_by_the_other_end():
    graph = graph_of(4, link(1, 4), link(1, 2), link(3, 2), link(1, 3))
    assert [edge.target for edge in graph.out_edges("n00001")] == ["n00002", "n00003", "n00004"]
    assert [edge.source for edge in graph.in_edges("n00002")] == ["n00001", "n00003"]


def test_a_twin_says_the_same_as_it_now_stands():
    graph = graph_of(2)
    assert graph.twin(" LESSON number\n1. ") == "n00001"
    graph.absorb([lesson(1, "Other words.")], [])
    assert graph.twin("Lesson number 1.") is None
    assert graph.twin("other words.") == "n00001"


RECORDS = st.lists(
    st.builds(
        lambda number, words, status: lesson(number, words, status=status),
        st.integers(1, 6),
        st.sampled_from(["One.", "Two.", "Three."]),
        st.sampled_from(["active", "removed"]),
    )
    | st.builds(
        lambda source, target, status: link(source, target, status=status),
        st.integers(1, 6),
        st.integers(1, 6),
        st.sampled_from(["active", "removed"]),
    ),
    max_size=30,
)


@given(RECORDS, st.integers(0, 30))
def test_bit_by_bit_or_at_once_is_the_same_graph(records, cut):
    def split(some):
        edges = [each for each in some if hasattr(each, "target")]
        return [each for each in some if each not in edges], edges

    grown = Graph.of(*split(records[:cut]))
    grown.absorb(*split(records[cut:]))
    whole = Graph.of(*split(records))
    assert list(grown.nodes()) == list(whole.nodes())
    assert sorted(edge.pair for edge in grown.edges()) == sorted(e.pair for e in whole.edges())
    assert list(grown.index_lines()) == list(whole.index_lines())
    assert (grown.n_nodes, grown.n_edges) == (len(list(whole.nodes())), len(list(whole.edges())))
