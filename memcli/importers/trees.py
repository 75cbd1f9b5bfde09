"""The tree of a branching conversation: which turns are visible, in which order to read them.

Edits and regenerations leave siblings behind. The visible talk is the path to the current
node; what was dropped is told where it forked off, before the path goes on. Damaged links
(missing parents, cycles, two parents) never lose a node. No recursion: chats are long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A node's links and time; ``time`` is in seconds, None when unknown."""

    parent: str | None
    children: Sequence[str]
    time: float | None


def reading_order(nodes: Mapping[str, Node], current: str | None) -> Iterator[tuple[str, bool]]:
    """Yield every node's id once, with whether it is on the visible path.

    Args:
        nodes: All nodes, in file order.
        current: The node the conversation stood at; when it is unknown, and in every part
            that is not connected to it, the newest leaf stands for it (ties: later in file).
    """
    children = _children(nodes)
    visited = set[str]()
    roots = [each for each, node in nodes.items() if node.parent not in nodes]
    for root in (*roots, *nodes):
        if root in visited:
            continue
        tree = _discover(root, children, visited)
        end = current if current in tree else _newest_leaf(tree, nodes)
        yield from _walk(root, tree, _path(tree, end))


def _children(nodes: Mapping[str, Node]) -> dict[str, list[str]]:
    """Return each node's children: those it lists, then those that name it as parent."""
    children = {each: [c for c in node.children if c in nodes] for each, node in nodes.items()}
    listed = {child for found in children.values() for child in found}
    for each, node in nodes.items():
        if node.parent in nodes and node.parent is not None and each not in listed:
            children[node.parent].append(each)
    return children


def _discover(
    root: str, children: Mapping[str, Sequence[str]], visited: set[str]
) -> dict[str, str | None]:
    """Return the nodes below a root, each with the parent it was first found under."""
    tree: dict[str, str | None] = {root: None}
    visited.add(root)
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        for child in children[parent]:
            if child not in visited:
                visited.add(child)
                tree[child] = parent
                waiting.append(child)
    return tree


def _newest_leaf(tree: Mapping[str, str | None], nodes: Mapping[str, Node]) -> str:
    """Return the leaf with the latest time; one without takes its nearest ancestor's."""
    times = dict[str, float]()
    for each, parent in tree.items():
        own = nodes[each].time
        times[each] = own if own is not None else times.get(parent or "", float("-inf"))
    inner = set(tree.values())
    position = {each: number for number, each in enumerate(nodes)}
    leaves = (each for each in tree if each not in inner)
    return max(leaves, key=lambda leaf: (times[leaf], position[leaf]))


def _path(tree: Mapping[str, str | None], end: str | None) -> set[str]:
    """Return the nodes from a node up to the root."""
    path = set[str]()
    while end is not None:
        path.add(end)
        end = tree[end]
    return path


def _walk(
    root: str, tree: Mapping[str, str | None], active: set[str]
) -> Iterator[tuple[str, bool]]:
    """Yield the tree depth first, siblings in order but the visible one last."""
    below = dict[str, list[str]]()
    for each, parent in tree.items():
        if parent is not None:
            below.setdefault(parent, []).append(each)
    waiting = [root]
    while waiting:
        each = waiting.pop()
        yield each, each in active
        siblings = sorted(below.get(each, ()), key=active.__contains__)
        waiting.extend(reversed(siblings))
