"""What verify says of lessons, edges and index lines that no writer would have left so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lessons import graph_of, lesson, link

from memcli.budgets import count_tokens
from memcli.records.strategy import IndexLine
from memcli.strategy.faults import faults
from memcli.strategy.graph import Graph


def index_of(graph):
    return list(graph.index_lines())


def found(graph, index=None):
    return list(faults(graph, index_of(graph) if index is None else index, count_tokens))


def test_a_sound_graph_has_none():
    graph = graph_of(3, link(1, 2), link(2, 1), link(1, 3, status="removed"))
    older = IndexLine(id="n00001", key="older key", section="others")
    assert found(graph) == found(graph, [older, *index_of(graph)]) == []


@pytest.mark.parametrize("tokens", [0, 499])
def test_a_wrong_count_of_tokens_is_told_where_it_would_be_trusted(tokens):
    node = replace(lesson(1), tokens=tokens)
    right = lesson(1).tokens
    assert found(Graph.of([node], [])) == [("nodes", f"n00001 has {right} tokens, not {tokens}")]
    assert found(Graph.of([replace(node, tokenizer="other")], [])) == []


def test_an_edge_needs_two_active_ends():
    graph = Graph.of([lesson(1), lesson(2, status="removed")], [link(1, 2), link(3, 1)])
    assert found(graph) == [
        ("edges", "edge n00001 → n00002 touches n00002, which is removed"),
        ("edges", "edge n00003 → n00001 touches n00003, which is unknown"),
    ]


def test_the_index_says_what_the_lessons_say():
    graph = Graph.of([lesson(1), lesson(2), lesson(3, status="removed")], [])
    stale = IndexLine(id="n00002", key="stale", section="others")
    left = IndexLine(id="n00003", key="lesson 3", section="others")
    assert found(graph, [stale, left]) == [
        ("index", "n00001 has no line in the index"),
        ("index", "the index line of n00002 is not what its lesson says"),
        ("index", "the index line of n00003 has no lesson"),
    ]
