"""The strategy graph as a whole, or around one node: as records, as text, as Graphviz input."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from memcli.app.inspect_strategy import EdgeFilter, WeighedEdge, edges, nodes, posterior_words
from memcli.errors import NothingFound
from memcli.records.strategy import SECTIONS, StrategyNode
from memcli.store.snapshot import Snapshot

HOPS = 2
"""How far a node's surroundings reach, along edges either way; retrieval goes as far."""

_COLOURS = dict(
    zip(
        SECTIONS,
        ("#cfe8f3", "#fce8b2", "#d5e8d4", "#f8cecc", "#e1d5e7", "#ffe6cc", "#eeeeee"),
        strict=True,
    )
)


@dataclass(frozen=True, slots=True)
class ShownGraph:
    """Active nodes in order of creation, and the active edges between them."""

    nodes: tuple[StrategyNode, ...]
    edges: tuple[WeighedEdge, ...]

    def as_dict(self) -> dict[str, object]:
        """Return both lists as JSON values; of a node what the routing index shows."""
        return {
            "nodes": [_shown(node) for node in self.nodes],
            "edges": [edge.as_dict() for edge in self.edges],
        }

    def as_records(self) -> Iterator[dict[str, object]]:
        """Yield the nodes, then the edges, each with its ``kind``."""
        yield from ({"kind": "node"} | _shown(node) for node in self.nodes)
        yield from ({"kind": "edge"} | edge.as_dict() for edge in self.edges)


def _shown(node: StrategyNode) -> dict[str, object]:
    return {"id": node.id, "key": node.key, "section": node.section}


def graph(snapshot: Snapshot, *, around: str | None = None, limit: int | None = None) -> ShownGraph:
    """Return the graph, or what lies within `HOPS` of one node.

    Args:
        snapshot: The state.
        around: Id of the node in the middle; None for all.
        limit: At most so many nodes, in order of creation.

    Raises:
        NothingFound: If there is no such active node.
    """
    active = {node.id: node for node in nodes(snapshot)}
    between = [e for e in edges(snapshot, EdgeFilter()) if active.keys() >= set(e.edge.pair)]
    if around is not None:
        if around not in active:
            raise NothingFound(
                f"no node is called {around!r}", hint="`memcli inspect nodes` lists them"
            )
        near = _surroundings(around, between)
        active = {name: node for name, node in active.items() if name in near}
    kept = dict(islice(active.items(), limit))
    return ShownGraph(
        tuple(kept.values()), tuple(e for e in between if kept.keys() >= set(e.edge.pair))
    )


def _surroundings(middle: str, between: Collection[WeighedEdge]) -> set[str]:
    near = {middle}
    for _ in range(HOPS):
        touching = [each.edge.pair for each in between if near & set(each.edge.pair)]
        near.update(name for pair in touching for name in pair)
    return near


def text_lines(shown: ShownGraph) -> Iterator[str]:
    """Yield each node as the routing index shows it, its out-edges below it, best first."""
    leaving: dict[str, list[WeighedEdge]] = {}
    for each in shown.edges:
        leaving.setdefault(each.edge.source, []).append(each)
    for node in shown.nodes:
        yield f"{node.id} | {node.key} [{node.section}]"
        for each in sorted(leaving.get(node.id, ()), key=lambda e: (-e.mean, e.edge.target)):
            yield f"  → {each.edge.target}  {posterior_words(each)}"


def dot_lines(shown: ShownGraph) -> Iterator[str]:
    """Yield the graph in the language of Graphviz; an edge is the thicker, the higher its mean."""
    yield "digraph strategies {"
    yield "  node [shape=box, style=filled, fontname=sans, fontsize=10];"
    yield "  edge [fontname=sans, fontsize=9];"
    for node in shown.nodes:
        label = _quoted(f"{node.id}\n{node.key}")
        colour = _COLOURS.get(node.section, _COLOURS["others"])
        yield (
            f"  {_quoted(node.id)} [label={label}, fillcolor={_quoted(colour)}, "
            f"tooltip={_quoted(node.section)}];"
        )
    for each in shown.edges:
        ends = f"{_quoted(each.edge.source)} -> {_quoted(each.edge.target)}"
        width = f"{0.5 + 3 * each.mean:.2f}"
        tooltip = _quoted(posterior_words(each))
        yield f'  {ends} [label="{each.mean:.2f}", penwidth={width}, tooltip={tooltip}];'
    yield "}"


def _quoted(text: str) -> str:
    r"""Return a quoted DOT string in which a line break is ``\n`` and nothing else is special."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "\\n".join(escaped.splitlines()) + '"'
