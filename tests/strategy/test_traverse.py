"""Algorithm 1 on graphs drawn by hand, the order written out; and its laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lessons import graph_of, lesson, link

from memcli.budgets import count_tokens
from memcli.strategy.graph import Graph
from memcli.strategy.limits import Limits
from memcli.strategy.playbook import memory_block
from memcli.strategy.traverse import traverse


def walk(graph, *entries, limits=None, **more):
    ids = [f"n{number:05d}" for number in entries]
    return traverse(graph, ids, limits or Limits(), count=count_tokens, **more)


def numbers(found):
    return [(int(node.id[1:]), node.depth) for node in found.loaded]


def pairs(found):
    return [(int(a[1:]), int(b[1:])) for a, b in found]


def test_breadth_comes_before_depth_and_entries_keep_their_order():
    #   5 ─▶ 1 ─▶ 2        3 ─▶ 4
    graph = graph_of(5, link(5, 1), link(1, 2), link(3, 4))
    found = walk(graph, 5, 3)
    assert numbers(found) == [(5, 0), (3, 0), (1, 1), (4, 1), (2, 2)]
    assert pairs(found.considered) == [(5, 1), (3, 4), (1, 2)]
    assert found.traversed == found.considered


def test_only_the_two_best_edges_are_followed_and_ties_go_to_the_smaller_id():
    graph = graph_of(5, link(1, 5), link(1, 4, f=1), link(1, 3), link(1, 2, f=2))
    found = walk(graph, 1)
    assert numbers(found) == [(1, 0), (3, 1), (5, 1)]
    better = graph_of(5, link(1, 5), link(1, 4, s=0.5), link(1, 3), link(1, 2, s=2))
    assert numbers(walk(better, 1)) == [(1, 0), (2, 1), (4, 1)]


def test_a_node_at_the_last_hop_is_loaded_and_not_expanded():
    graph = graph_of(4, link(1, 2), link(2, 3), link(3, 4))
    found = walk(graph, 1)
    assert numbers(found) == [(1, 0), (2, 1), (3, 2)]
    assert pairs(found.considered) == [(1, 2), (2, 3)]


def test_cycles_end_and_an_edge_to_a_loaded_node_is_considered_but_not_traversed():
    graph = graph_of(2, link(1, 2), link(2, 1))
    found = walk(graph, 1)
    assert numbers(found) == [(1, 0), (2, 1)]
    assert pairs(found.considered) == [(1, 2), (2, 1)]
    assert pairs(found.traversed) == [(1, 2)]


def test_a_node_reached_twice_is_traversed_by_the_edge_that_came_first():
    graph = graph_of(3, link(1, 3), link(2, 3))
    assert pairs(walk(graph, 1, 2).traversed) == [(1, 3)]


def test_a_node_over_the_budget_is_skipped_and_not_expanded():
    big = lesson(2, "word " * 300)
    graph = Graph.of([lesson(1), big, lesson(3), lesson(4)], [link(1, 2), link(1, 3), link(2, 4)])
    found = walk(graph, 1, limits=Limits(memory_tokens=100))
    assert numbers(found) == [(1, 0), (3, 1)]
    assert pairs(found.considered) == [(1, 2), (1, 3)]
    assert pairs(found.traversed) == [(1, 3)]


def test_removed_nodes_and_edges_lead_nowhere_and_take_no_place_among_the_two():
    nodes = [lesson(1), lesson(2, status="removed"), lesson(3), lesson(4), lesson(5)]
    edges = [link(1, 2, s=9), link(1, 3, s=8, status="removed"), link(1, 4), link(1, 5)]
    assert numbers(walk(Graph.of(nodes, edges), 1)) == [(1, 0), (4, 1), (5, 1)]
    assert numbers(walk(Graph.of(nodes, edges), 2)) == []


def test_twelve_nodes_are_the_most():
    graph = graph_of(40, *[link(a, b) for a in range(1, 7) for b in (a * 3 + 5, a * 3 + 6)])
    assert len(walk(graph, 1, 2, 3, 4, 5, 6).loaded) == 12


def test_a_node_counted_by_another_tokenizer_is_counted_anew():
    other = lesson(
        1,
        "word " * 300,
    )
    lying = Graph.of([lesson(2)], [])
    from dataclasses import replace

    lying.absorb([replace(other, tokens=1, tokenizer="other")], [])
    assert numbers(walk(lying, 1, limits=Limits(memory_tokens=100))) == []


def test_thompson_repeats_with_its_seed():
    graph = graph_of(9, *[link(1, n) for n in range(2, 10)])
    walks = {seed: numbers(walk(graph, 1, rank="thompson", seed=seed)) for seed in range(20)}
    assert walks[3] == numbers(walk(graph, 1, rank="thompson", seed=3))
    assert len({tuple(found) for found in walks.values()}) > 1


EDGES = st.lists(
    st.tuples(st.integers(1, 20), st.integers(1, 20), st.floats(0, 5), st.floats(0, 5)),
    max_size=60,
)


@given(EDGES, st.lists(st.integers(1, 22), max_size=6, unique=True), st.integers(5, 300))
def test_no_walk_exceeds_a_limit(edges, entries, budget):
    graph = graph_of(20, *[link(a, b, s=s, f=f) for a, b, s, f in edges if a != b])
    limits = Limits(memory_tokens=budget, max_nodes=7)
    found = walk(graph, *entries, limits=limits)
    ids = [node.id for node in found.loaded]
    assert len(ids) == len(set(ids)) <= 7
    assert count_tokens(memory_block(found.nodes)) <= budget
    assert all(node.depth <= 2 for node in found.loaded)
    assert set(found.traversed) <= set(found.considered)
    assert {target for _, target in found.traversed} <= set(ids)


@pytest.mark.parametrize("entries", [(), (99,)])
def test_no_valid_entry_loads_nothing(entries):
    assert walk(graph_of(3, link(1, 2)), *entries).nodes == ()
