"""Lessons and index lines as prompts show them.

A lesson is ``[id] content``; its further lines are indented, so that no lesson can pass for
two. Each line ends with a line break and is counted with it. No cl100k_base token reaches over
a line break into a next line's bracket, so the counts of the lines add up to that of the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memcli.budgets import ENCODING
from memcli.records.strategy import IndexLine, StrategyNode

INDENT = "  "


def lesson_line(node_id: str, content: str) -> str:
    """Return a lesson as the generator reads it, its line break included."""
    return f"[{node_id}] {f'{chr(10)}{INDENT}'.join(content.splitlines())}\n"


def node_line(node: StrategyNode) -> str:
    """Return `lesson_line` of a node."""
    return lesson_line(node.id, node.content)


def node_tokens(node: StrategyNode, count: Callable[[str], int]) -> int:
    """Return the tokens of a node's line; a count by another tokenizer is made anew."""
    return node.tokens if node.tokenizer == ENCODING else count(node_line(node))


def memory_block(nodes: Iterable[StrategyNode]) -> str:
    """Return the lessons one after the other, in the order of loading; empty without one."""
    return "".join(map(node_line, nodes))


def index_line(entry: IndexLine) -> str:
    """Return one line of the routing index: ``id | key [section]``, without a line break."""
    return f"{entry.id} | {entry.key} [{entry.section}]"


def index_block(entries: Iterable[IndexLine]) -> str:
    """Return the routing index, a line an entry, in the order given."""
    return "\n".join(map(index_line, entries))
