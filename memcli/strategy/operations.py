"""From proposals to a change of the graph: validated, counted, never half-applied.

`plan` is pure: it reads a graph and returns the records to append. The labels of a step apply
before its operations; an operation sees what those before it did. Whatever does not fit is
dropped and counted by reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from memcli.budgets import ENCODING
from memcli.records.strategy import (
    SECTIONS,
    AppliedOperation,
    IndexLine,
    Label,
    Pair,
    Provenance,
    StrategyEdge,
    StrategyNode,
)
from memcli.strategy.graph import Graph, index_entry, normal_form
from memcli.strategy.playbook import lesson_line
from memcli.strategy.posterior import add, update
from memcli.strategy.proposals import (
    Add,
    AddEdge,
    Merge,
    Proposal,
    Remove,
    RemoveEdge,
    Update,
)

MAX_NODE_TOKENS: Final = 500
MAX_KEY_WORDS: Final = 12
MAX_KEY_CHARS: Final = 160
"""For languages without spaces, where twelve words are no limit."""

_LONGEST_TOKEN: Final = 128
"""Characters that one cl100k_base token covers at most: 128 spaces. Letters of a word: fewer."""

OTHERS: Final = "others"
LINK_DIRECTION: Final[Literal["to_new", "from_new", "both"]] = "both"
"""Which edges a link of a new lesson makes: from the linked one, to it, or both."""

_SHORTEST_ANSWER: Final = 3
"""Characters from which on an answer inside a lesson is more than chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How proposals are judged.

    Attributes:
        count: Counts the tokens of a lesson's line.
        provenance: Where new lessons come from.
        answer: The example's answer; a new lesson that holds it verbatim is marked.
        near_duplicate: Names an active lesson that nearly says a content; None: no check.
    """

    count: Callable[[str], int]
    provenance: Provenance
    answer: str | None = None
    near_duplicate: Callable[[str], str | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One step's records, to be appended in one commit, and what the log says of it.

    Attributes:
        nodes: New state of each changed node, by id.
        edges: New state of each changed edge, in order of first change.
        index: New state of each changed index line.
        labels: Labels that were applied, in order.
        operations: Operations that were applied, in order.
        discarded: What was refused, counted by reason.
        added: Ids of new lessons, in order.
    """

    nodes: tuple[StrategyNode, ...] = ()
    edges: tuple[StrategyEdge, ...] = ()
    index: tuple[IndexLine, ...] = ()
    labels: tuple[Label, ...] = ()
    operations: tuple[AppliedOperation, ...] = ()
    discarded: Mapping[str, int] = field(default_factory=dict)
    added: tuple[str, ...] = ()


def plan(
    graph: Graph, rules: Rules, *, labels: Iterable[Label] = (), proposals: Iterable[Proposal] = ()
) -> Change:
    """Return the change that labels, then proposals, make to a graph; the graph stays.

    A label moves its edge once (Eq. 21), whatever else is said of the same pair
    (``label_repeated``); one for a pair without an active edge is dropped as
    ``no_edge``: an observed transition never creates an edge.
    """
    draft = _Draft(graph, rules)
    for label in labels:
        draft.label(label)
    for proposal in proposals:
        draft.propose(proposal)
    return draft.change()


def normal_key(key: str, content: str) -> str:
    """Return a key as it is stored: one line of at most 12 words, never empty."""
    words = key.split() or content.split()
    return " ".join(words[:MAX_KEY_WORDS])[:MAX_KEY_CHARS]


def holds_answer(content: str, answer: str | None) -> bool:
    """Return whether a lesson holds an answer verbatim; one or two characters are chance."""
    wanted = (answer or "").strip()
    return len(wanted) >= _SHORTEST_ANSWER and wanted in content


class _Draft:
    """A graph with changes laid over it."""

    def __init__(self, graph: Graph, rules: Rules) -> None:
        self._graph, self._rules = graph, rules
        self._nodes: dict[str, StrategyNode] = {}
        self._edges: dict[Pair, StrategyEdge] = {}
        self._index: dict[str, IndexLine] = {}
        self._handles: dict[str, str] = {}
        self._contents: dict[str, str] = {}
        self._labels: list[Label] = []
        self._labelled: set[Pair] = set()
        self._operations: list[AppliedOperation] = []
        self._discarded: Counter[str] = Counter()
        self._added: list[str] = []

    def change(self) -> Change:
        return Change(
            nodes=tuple(self._nodes.values()),
            edges=tuple(self._edges.values()),
            index=tuple(self._index.values()),
            labels=tuple(self._labels),
            operations=tuple(self._operations),
            discarded=dict(sorted(self._discarded.items())),
            added=tuple(self._added),
        )

    def label(self, label: Label) -> None:
        edge = self._edge((label.source, label.target))
        if edge is None:
            self._discarded["no_edge"] += 1
            return
        if edge.pair in self._labelled:
            self._discarded["label_repeated"] += 1
            return
        self._labelled.add(edge.pair)
        self._labels.append(label)
        changed = update(edge, label.label, label.confidence)
        if changed != edge:
            self._edges[edge.pair] = changed

    def propose(self, proposal: Proposal) -> None:
        reason = self._apply(proposal)
        if reason:
            self._discarded[reason] += 1

    def _apply(self, proposal: Proposal) -> str:
        """Apply one proposal; return why it was refused, or nothing."""
        match proposal:
            case Add():
                return self._add(proposal)
            case Update():
                return self._update(proposal)
            case Remove():
                return self._remove(self._id(proposal.id))
            case AddEdge():
                return self._add_edge(self._id(proposal.source), self._id(proposal.target))
            case RemoveEdge():
                return self._remove_edge((self._id(proposal.source), self._id(proposal.target)))
            case Merge():
                return self._merge(self._id(proposal.id), self._id(proposal.target))

    def _add(self, proposal: Add) -> str:
        content = proposal.content.strip()
        node_id = self._graph.next_id(len(self._added))
        tokens = self._tokens(node_id, content)
        twin = self._twin(content)
        if twin is not None and proposal.handle:
            self._handles[proposal.handle] = twin  # what refers to it means the one there is
        if reason := self._refusal(content, tokens, twin):
            return reason
        node = StrategyNode(
            id=node_id,
            section=self._section(proposal.section),
            key=normal_key(proposal.key, content),
            content=content,
            provenance=replace(
                self._rules.provenance, holds_answer=holds_answer(content, self._rules.answer)
            ),
            tokens=tokens,
            tokenizer=ENCODING,
        )
        self._added.append(node_id)
        self._handles[proposal.handle] = node_id
        self._put(node)
        self._operations.append(AppliedOperation(op="ADD", id=node_id))
        self._link(node_id, proposal.links)
        return ""

    def _refusal(self, content: str, tokens: int, twin: str | None) -> str:
        if not content:
            return "empty_content"
        if tokens > MAX_NODE_TOKENS:
            return "node_too_long"
        if twin is not None:
            return "duplicate_node"
        check = self._rules.near_duplicate
        return "near_duplicate" if check is not None and check(content) is not None else ""

    def _link(self, node_id: str, links: Iterable[str]) -> None:
        for link in dict.fromkeys(map(self._id, links)):
            pairs = {
                "to_new": [(link, node_id)],
                "from_new": [(node_id, link)],
                "both": [(link, node_id), (node_id, link)],
            }[LINK_DIRECTION]
            for source, target in pairs:
                if reason := self._add_edge(source, target):
                    self._discarded[f"link_{reason}"] += 1
                    break

    def _update(self, proposal: Update) -> str:
        node = self._node(self._id(proposal.id))
        if node is None:
            return "unknown_node"
        content = node.content if proposal.content is None else proposal.content.strip()
        key = node.key if proposal.key is None else normal_key(proposal.key, content)
        section = self._section(proposal.section, node.section)
        if (content, key, section) == (node.content, node.key, node.section):
            return "unchanged"
        tokens = self._tokens(node.id, content)
        twin = self._twin(content)
        if not content:
            return "empty_content"
        if tokens > MAX_NODE_TOKENS:
            return "node_too_long"
        if twin not in (None, node.id):
            return "duplicate_node"
        told = node.provenance.holds_answer or holds_answer(content, self._rules.answer)
        self._put(
            replace(
                node,
                content=content,
                key=key,
                section=section,
                tokens=tokens,
                tokenizer=ENCODING,
                revision=node.revision + 1,
                provenance=replace(node.provenance, holds_answer=told),
            )
        )
        self._operations.append(AppliedOperation(op="UPDATE", id=node.id))
        return ""

    def _remove(self, node_id: str) -> str:
        node = self._node(node_id)
        if node is None:
            return "unknown_node"
        for edge in self._touching(node_id):
            self._edges[edge.pair] = replace(edge, status="removed")
        self._put(replace(node, status="removed", revision=node.revision + 1))
        self._operations.append(AppliedOperation(op="REMOVE", id=node_id))
        return ""

    def _add_edge(self, source: str, target: str) -> str:
        if source == target and source:
            return "self_loop"
        if self._node(source) is None or self._node(target) is None:
            return "unknown_node"
        if self._edge((source, target)) is not None:
            return "duplicate_edge"
        self._edges[source, target] = StrategyEdge(source=source, target=target)
        self._operations.append(AppliedOperation(op="ADD_EDGE", source=source, target=target))
        return ""

    def _remove_edge(self, pair: Pair) -> str:
        edge = self._edge(pair)
        if edge is None:
            return "unknown_edge"
        self._edges[pair] = replace(edge, status="removed")
        self._operations.append(AppliedOperation(op="REMOVE_EDGE", source=pair[0], target=pair[1]))
        return ""

    def _merge(self, node_id: str, target_id: str) -> str:
        """Redirect a node's edges to another, sum the counters, remove the node."""
        node = self._node(node_id)
        if node is None or self._node(target_id) is None:
            return "unknown_node"
        if node_id == target_id:
            return "self_loop"
        for edge in self._touching(node_id):
            self._edges[edge.pair] = replace(edge, status="removed")
            source, target = (target_id if end == node_id else end for end in edge.pair)
            if source != target:
                there = self._edge((source, target)) or StrategyEdge(source=source, target=target)
                self._edges[source, target] = replace(
                    there, s=add(there.s, edge.s), f=add(there.f, edge.f)
                )
        self._put(replace(node, status="removed", revision=node.revision + 1))
        self._operations.append(AppliedOperation(op="MERGE", id=node_id, target=target_id))
        return ""

    def _put(self, node: StrategyNode) -> None:
        self._nodes[node.id] = node
        before = self._graph.node(node.id)
        entry = index_entry(node)
        if before is None or index_entry(before) != entry or node.id in self._index:
            self._index[node.id] = entry
        if node.status == "active":
            self._contents[normal_form(node.content)] = node.id

    def _node(self, node_id: str) -> StrategyNode | None:
        """Return an active node."""
        node = self._nodes.get(node_id) or self._graph.node(node_id)
        return node if node is not None and node.status == "active" else None

    def _edge(self, pair: Pair) -> StrategyEdge | None:
        """Return an active edge."""
        edge = self._edges.get(pair) or self._graph.edge(pair)
        return edge if edge is not None and edge.status == "active" else None

    def _touching(self, node_id: str) -> list[StrategyEdge]:
        """Return the active edges of a node in both directions, by pair."""
        stored = self._graph.out_edges(node_id) + self._graph.in_edges(node_id)
        pairs = {edge.pair for edge in stored} | {p for p in self._edges if node_id in p}
        found = (self._edge(pair) for pair in sorted(pairs))
        return [edge for edge in found if edge is not None]

    def _twin(self, content: str) -> str | None:
        """Return the active node that says exactly this, as it now stands."""
        form = normal_form(content)
        for node_id in (self._contents.get(form), self._graph.twin(content)):
            node = self._node(node_id) if node_id is not None else None
            if node is not None and normal_form(node.content) == form:
                return node.id
        return None

    def _id(self, name: str) -> str:
        """Return the id that a handle of this reply stands for; any other name as it is."""
        return self._handles.get(name, name) if name.startswith("$") else name

    def _tokens(self, node_id: str, content: str) -> int:
        """Return the tokens of a lesson's line; of one that is far too long, a lower bound.

        So a reply, or a pipe, of megabytes costs no tokenizing.
        """
        least = len(content) // _LONGEST_TOKEN
        if least > MAX_NODE_TOKENS:
            return least
        return self._rules.count(lesson_line(node_id, content))

    def _section(self, name: str | None, otherwise: str = OTHERS) -> str:
        """Return a section of the playbook; for none, or an unknown one, what else it is."""
        if name is None:
            return otherwise
        wanted = "_".join(name.casefold().replace("&", "and").split())
        if wanted in SECTIONS:
            return wanted
        self._discarded["unknown_section"] += 1
        return otherwise
