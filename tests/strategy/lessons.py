"""Small lessons and graphs for the tests of strategy memory."""

from __future__ import annotations

from memcli.budgets import ENCODING, count_tokens
from memcli.records.strategy import Provenance, StrategyEdge, StrategyNode
from memcli.strategy.graph import Graph
from memcli.strategy.operations import Rules
from memcli.strategy.playbook import lesson_line

BY_HAND = Provenance(origin="hand")
RULES = Rules(count=count_tokens, provenance=BY_HAND)


def lesson(number: int, content: str = "", *, key: str = "", **more: object) -> StrategyNode:
    """Return a lesson ``n0000<number>``."""
    node_id = f"n{number:05d}"
    text = content or f"Lesson number {number}."
    return StrategyNode(
        id=node_id,
        section="others",
        key=key or f"lesson {number}",
        content=text,
        provenance=BY_HAND,
        tokens=count_tokens(lesson_line(node_id, text)),
        tokenizer=ENCODING,
        **more,
    )


def link(source: int, target: int, s: float = 0.0, f: float = 0.0, **more: object) -> StrategyEdge:
    """Return an edge between two numbered lessons."""
    return StrategyEdge(source=f"n{source:05d}", target=f"n{target:05d}", s=s, f=f, **more)


def graph_of(count: int, *edges: StrategyEdge) -> Graph:
    """Return lessons 1 to ``count`` with these edges."""
    return Graph.of([lesson(n) for n in range(1, count + 1)], edges)
