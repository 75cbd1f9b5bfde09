"""What proposals do to a graph, what is refused, and that the log tells it all again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lessons import BY_HAND, RULES, graph_of, lesson, link

from memcli.budgets import count_tokens
from memcli.records.strategy import Label, Trace
from memcli.strategy.graph import Graph
from memcli.strategy.operations import Rules, plan
from memcli.strategy.proposals import (
    Add,
    AddEdge,
    Merge,
    Remove,
    RemoveEdge,
    Update,
    parse_proposals,
)
from memcli.strategy.replay import differences, replay

ALL = frozenset({"ADD", "UPDATE", "REMOVE", "ADD_EDGE", "REMOVE_EDGE", "MERGE"})


def add(content="Check units first.", **more):
    return Add(**{"section": "others", "key": "units", "content": content, **more})


def apply(graph, *proposals, labels=(), rules=RULES):
    change = plan(graph, rules, proposals=proposals, labels=labels)
    graph.absorb(change.nodes, change.edges)
    return change


def helpful(source, target, confidence=0.5):
    return Label(
        source=f"n{source:05d}",
        target=f"n{target:05d}",
        label="helpful",
        confidence=confidence,
    )


def active_pairs(graph):
    return [(int(e.source[1:]), int(e.target[1:])) for e in graph.edges()]


class TestAdd:
    def test_ids_go_up_and_are_never_used_again(self):
        graph = graph_of(2)
        assert apply(graph, Remove(id="n00002"), add()).added == ("n00003",)
        assert apply(graph, add("Another one.")).added == ("n00004",)

    def test_links_join_it_with_what_is_there_and_with_its_reply(self):
        graph = graph_of(1)
        apply(
            graph,
            add("One.", handle="$1", links=("n00001",)),
            add("Two.", handle="$2", links=("$1",)),
        )
        assert sorted(active_pairs(graph)) == [(1, 2), (2, 1), (2, 3), (3, 2)]

    def test_a_handle_of_a_duplicate_means_the_lesson_that_is_there(self):
        graph = graph_of(1)
        change = apply(
            graph, add("lesson NUMBER 1. ", handle="$1"), add("Two.", links=("$1",), handle="$2")
        )
        assert change.discarded == {"duplicate_node": 1}
        assert sorted(active_pairs(graph)) == [(1, 2), (2, 1)]

    @pytest.mark.parametrize(
        ("proposal", "reason"),
        [
            (add("  \n"), "empty_content"),
            (add("word " * 600), "node_too_long"),
            (add("Lesson  number 1."), "duplicate_node"),
        ],
    )
    def test_what_is_refused(self, proposal, reason):
        change = plan(graph_of(1), RULES, proposals=[proposal])
        assert change.discarded == {reason: 1}
        assert change.nodes == ()

    def test_a_key_is_one_line_of_twelve_words(self):
        long = "one two\nthree four five six seven eight nine ten eleven twelve thirteen"
        first, second = apply(graph_of(0), add("A.", key=long), add("Some words.", key=" \n")).index
        assert first.key == "one two three four five six seven eight nine ten eleven twelve"
        assert second.key == "Some words."

    def test_sections_are_those_of_the_playbook(self):
        change = plan(
            graph_of(0),
            RULES,
            proposals=[
                add("A.", section="Formulas and Calculations"),
                add("B.", section="my own"),
            ],
        )
        assert [n.section for n in change.nodes] == ["formulas_and_calculations", "others"]
        assert change.discarded == {"unknown_section": 1}

    def test_megabytes_are_refused_without_being_counted(self):
        def count(text):
            raise AssertionError(f"{len(text)} characters were counted")

        rules = replace(RULES, count=count)
        huge = [add("x" * 3_000_000), Update(id="n00001", content="y" * 3_000_000)]
        assert plan(graph_of(1), rules, proposals=huge).discarded == {"node_too_long": 2}

    def test_an_update_with_an_unknown_section_leaves_the_lesson_in_its_own(self):
        node = replace(lesson(1), section="common_mistakes_to_avoid")
        update = Update(id="n00001", key="new", section="poetry")
        change = plan(Graph.of([node], []), RULES, proposals=[update])
        assert [(n.key, n.section) for n in change.nodes] == [("new", "common_mistakes_to_avoid")]
        assert change.discarded == {"unknown_section": 1}

    def test_one_that_holds_the_answer_is_marked(self):
        rules = replace(RULES, answer="16.62")
        told, silent = apply(graph_of(0), add("It is 16.62."), add("Divide."), rules=rules).nodes
        assert told.provenance.holds_answer
        assert not silent.provenance.holds_answer

    def test_near_duplicates_are_refused_where_asked_for(self):
        rules = replace(RULES, near_duplicate=lambda content: "n00001")
        assert plan(graph_of(1), rules, proposals=[add()]).discarded == {"near_duplicate": 1}


class TestEdges:
    @pytest.mark.parametrize(
        ("proposal", "reason"),
        [
            (AddEdge(source="n00001", target="n00001"), "self_loop"),
            (AddEdge(source="n00001", target="n00002"), "duplicate_edge"),
            (AddEdge(source="n00001", target="n00009"), "unknown_node"),
            (RemoveEdge(source="n00002", target="n00001"), "unknown_edge"),
            (Merge(id="n00001", target="n00001"), "self_loop"),
            (Update(id="n00007", content="x"), "unknown_node"),
            (Update(id="n00001", content="Lesson number 1."), "unchanged"),
            (Update(id="n00001", content="lesson number 2."), "duplicate_node"),
            (Remove(id="$1"), "unknown_node"),
        ],
    )
    def test_what_is_refused(self, proposal, reason):
        change = plan(graph_of(2, link(1, 2)), RULES, proposals=[proposal])
        assert change.discarded == {reason: 1}
        assert (change.nodes, change.edges, change.operations) == ((), (), ())

    def test_cycles_are_allowed(self):
        graph = graph_of(2, link(1, 2))
        apply(graph, AddEdge(source="n00002", target="n00001"))
        assert active_pairs(graph) == [(1, 2), (2, 1)]

    def test_an_edge_added_again_starts_without_evidence(self):
        graph = graph_of(2, link(1, 2, s=3))
        again = AddEdge(source="n00001", target="n00002")
        apply(graph, RemoveEdge(source="n00001", target="n00002"), again)
        assert [(e.s, e.f) for e in graph.edges()] == [(0, 0)]

    def test_a_label_never_makes_an_edge(self):
        change = plan(graph_of(2), RULES, labels=[helpful(1, 2)])
        assert change.edges == ()
        assert change.discarded == {"no_edge": 1}

    def test_a_transition_moves_once_whatever_is_said_of_it_again(self):
        change = plan(
            graph_of(2, link(1, 2)), RULES, labels=[helpful(1, 2, 0.5), helpful(1, 2, 0.9)]
        )
        assert [edge.s for edge in change.edges] == [0.5]
        assert len(change.labels) == 1
        assert change.discarded == {"label_repeated": 1}

    def test_labels_apply_before_operations(self):
        graph = graph_of(2, link(1, 2))
        change = apply(graph, RemoveEdge(source="n00001", target="n00002"), labels=[helpful(1, 2)])
        assert [(e.s, e.status) for e in change.edges] == [(0.5, "removed")]

    def test_removal_takes_the_edges_along_and_merge_sums_them(self):
        graph = graph_of(3, link(1, 2, s=1), link(3, 2, s=2, f=1), link(2, 1, f=4))
        apply(graph, Merge(id="n00001", target="n00003"))
        assert [(e.pair, e.s, e.f) for e in graph.edges()] == [
            (("n00003", "n00002"), 3, 1),
            (("n00002", "n00003"), 0, 4),
        ]
        apply(graph, Remove(id="n00002"))
        assert active_pairs(graph) == []


class TestParse:
    def test_a_curators_reply(self):
        raw = [
            {"type": "ADD", "section": "others", "content": "A", "key": "k", "links": ["[n00001]"]},
            {"type": "update", "id": "n00001", "content": "B", "key": "", "section": ""},
            {"type": "ADD_EDGE", "source": "$1", "target": " n00001 "},
            {"type": "DELETE", "id": "n00001"},
            {"type": "REMOVE", "id": "n00001"},
            {"type": "ADD", "content": 7},
            {"type": "ADD_EDGE", "source": "n00001"},
            "ADD",
        ]
        proposals, dropped = parse_proposals(raw)
        assert proposals == [
            Add(section="others", key="k", content="A", links=("n00001",), handle="$1"),
            Update(id="n00001", content="B"),
            AddEdge(source="$1", target="n00001"),
        ]
        assert dropped == {"unknown_operation": 2, "bad_field": 3}

    @pytest.mark.parametrize("raw", [None, {}, "ADD", 3])
    def test_no_list_is_no_proposal(self, raw):
        assert parse_proposals(raw) == ([], {"bad_field": 1})

    def test_handles_count_broken_adds_too(self):
        raw = [{"type": "ADD"}, {"type": "ADD", "content": "A"}]
        assert parse_proposals(raw)[0][0].handle == "$2"

    def test_no_reply_is_without_end(self):
        raw = [{"type": "ADD_EDGE", "source": "a", "target": "b"}] * 100
        proposals, dropped = parse_proposals(raw)
        assert (len(proposals), dropped) == (64, {"too_many": 36})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=10,
)
IDS = st.sampled_from([f"n{n:05d}" for n in range(1, 8)] + ["$1", "$2", "ghost", ""])
OPERATION = st.fixed_dictionaries(
    {"type": st.sampled_from(sorted(ALL)) | st.text(max_size=5)},
    optional={
        "id": IDS,
        "source": IDS,
        "target": IDS,
        "section": st.sampled_from(["others", "odd"]),
        "key": st.text(max_size=20),
        "content": st.text(max_size=30),
        "links": st.lists(IDS, max_size=3),
    },
)
STEP = st.tuples(
    st.lists(
        st.builds(
            Label,
            source=IDS,
            target=IDS,
            label=st.sampled_from(["helpful", "harmful", "neutral"]),
            confidence=st.integers(0, 10**6).map(lambda n: n / 10**6),
        ),
        max_size=4,
    ),
    st.lists(OPERATION, max_size=6),
)


@given(JSON)
def test_no_reply_raises(raw):
    proposals, _ = parse_proposals(raw, allowed=ALL)
    plan(graph_of(2), RULES, proposals=proposals)
    json.dumps(raw, default=str)


@settings(max_examples=150, deadline=None)
@given(st.lists(STEP, max_size=8))
def test_the_log_alone_gives_the_same_s_and_f(steps):
    graph, log = Graph(), []
    rules = Rules(count=count_tokens, provenance=BY_HAND)
    for number, (labels, raw) in enumerate(steps):
        proposals, _ = parse_proposals(raw, allowed=ALL)
        change = plan(graph, rules, labels=labels, proposals=proposals)
        graph.absorb(change.nodes, change.edges)
        log.append(
            Trace(
                id=f"x{number}",
                kind="train",
                time="t",
                labels=change.labels,
                operations=change.operations,
            )
        )
    assert list(differences(graph.edges(), replay(log))) == []
    assert all(edge.s >= 0 and edge.f >= 0 for edge in graph.edges())
    assert all(graph.node(e.source).status == "active" for e in graph.edges())
    assert all(e.source != e.target for e in graph.edges())
    again = Graph.of(graph.nodes(), graph.edges())
    assert (again.n_nodes, again.n_edges) == (graph.n_nodes, graph.n_edges)


def test_a_difference_between_log_and_edges_is_told():
    stored = [link(1, 2, s=1), link(2, 3)]
    told = list(differences(stored, replay([])))
    assert told[0] == "edge n00001 → n00002 is stored, the log knows nothing of it"
    assert len(told) == 2
    assert lesson(1).id == "n00001"
