"""Records of strategy memory: nodes, edges, index lines and traces (arXiv 2610.02687).

`nodes.jsonl`, `edges.jsonl` and `index.jsonl` hold the newest state of each record; the log
`traces.jsonl` holds what led to it: replaying its operations and labels in file order gives
exactly the S and F of the edges. A trace carries no lesson and no question text, so what is
forgotten leaves it whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

SECTIONS: Final = (
    "strategies_and_insights",
    "formulas_and_calculations",
    "code_snippets_and_templates",
    "common_mistakes_to_avoid",
    "problem_solving_heuristics",
    "context_clues_and_indicators",
    "others",
)
"""The sections of a playbook, as ACE has them."""

Status = Literal["active", "removed"]
Origin = Literal["train", "hand"]
LabelName = Literal["helpful", "harmful", "neutral"]
OperationName = Literal["ADD", "UPDATE", "REMOVE", "ADD_EDGE", "REMOVE_EDGE", "MERGE"]
TraceKind = Literal["train", "evaluation", "query", "feedback", "edit"]
RetrieverName = Literal["llm", "lexical", "hybrid", "all"]
RetrievalOutcome = Literal["loaded", "empty_graph", "no_valid_entry", "failed_call"]
"""Why memory was given to the generator or left out; there is no fallback to full memory."""

Pair = tuple[str, str]
"""(source id, target id) of a transition or an edge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a node comes from.

    Attributes:
        origin: Learned in training or written by hand.
        run: Id of the training run, or None.
        step: 1-based training step within the run, or None.
        example: Fingerprint of the training example, or None.
        holds_answer: True where the content held the example's answer verbatim.
    """

    origin: Origin
    run: str | None = None
    step: int | None = None
    example: str | None = None
    holds_answer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyNode:
    """One lesson.

    Attributes:
        id: ``n00001`` …, in order of creation, never reused.
        section: One of `SECTIONS`.
        key: One line of at most 12 words: what the routing index shows.
        content: What the generator reads; at most 500 tokens when written.
        revision: 1, then one more with each update.
        status: A removal is soft: the record stays.
        tokens: Tokens of the serialised line ``[id] content``, its line break included.
        tokenizer: What counted them; another one's count is never trusted.
        extra: Fields of a newer memcli, kept through a rewrite.
    """

    id: str
    section: str
    key: str
    content: str
    provenance: Provenance
    tokens: int
    tokenizer: str
    revision: int = 1
    status: Status = "active"
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyEdge:
    """``target`` may be useful after ``source``; its posterior is Beta(1 + s, 1 + f).

    Attributes:
        s: Helpful evidence S ≥ 0, a sum of confidences to 6 decimals (Eq. 21).
        f: Harmful evidence F ≥ 0, likewise.
    """

    source: str
    target: str
    s: float = 0.0
    f: float = 0.0
    status: Status = "active"
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def pair(self) -> Pair:
        """(source, target)."""
        return self.source, self.target


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLine:
    """One line of the compact routing index, shown as ``id | key [section]``."""

    id: str
    key: str
    section: str
    status: Status = "active"
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A reflector's or a person's verdict on one transition.

    Attributes:
        confidence: In [0, 1], to 6 decimals; what Eq. 21 adds to S or F.
    """

    source: str
    target: str
    label: LabelName
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedOperation:
    """A change of the graph as it was applied, without text, so that it can be replayed.

    Attributes:
        op: ADD, UPDATE, REMOVE name a node in ``id``; ADD_EDGE, REMOVE_EDGE an edge; MERGE
            redirects the edges of ``id`` to ``target`` and removes ``id``.
    """

    op: OperationName
    id: str | None = None
    source: str | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A node that retrieval loaded, and how many hops from an entry (0 = an entry)."""

    id: str
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """What one retrieval did (Algorithm 1).

    Attributes:
        sections: At most 2 sections that the retriever named.
        entries: At most 6 valid entry ids, in the retriever's order.
        loaded: In the order of loading, which is that of the memory block.
        considered: Edges in the top 2 of a loaded node above the depth limit, in order.
        traversed: Those through which a node was first loaded.
        memory_tokens: cl100k_base tokens of the serialised block.
        discarded: What the retriever named in vain, counted by reason.
        milliseconds: Time without the model's, or None where bytes must be reproducible.
    """

    retriever: RetrieverName
    outcome: RetrievalOutcome
    sections: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    loaded: tuple[Loaded, ...] = ()
    considered: tuple[Pair, ...] = ()
    traversed: tuple[Pair, ...] = ()
    memory_tokens: int = 0
    discarded: Mapping[str, int] = field(default_factory=dict)
    milliseconds: float | None = None

    @property
    def deepest_hop(self) -> int:
        """Depth of the deepest loaded node; 0 without one."""
        return max((node.depth for node in self.loaded), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One entry of the log: a training step, a recorded query, a label by hand, an edit.

    Attributes:
        id: Names the trace; a label by hand refers to it.
        time: RFC 3339 in UTC.
        run: Training or evaluation run, or None.
        epoch: 1-based, or None.
        step: 1-based over the whole run, or None.
        example: Fingerprint of the example or query.
        retrieval: None where nothing was retrieved (edits, labels by hand).
        influence: M_t: loaded ids in the order of use, repeats collapsed.
        labels: Labels that were applied, in order; neutral ones move nothing.
        tags: ACE's verdict on nodes (id → helpful, harmful, neutral): kept, not used.
        operations: Changes of the graph, in order; labels apply before them.
        discarded: What roles proposed in vain, counted by reason.
        failures: Roles whose call failed → the error's code.
        right: Parts of the prediction that were right, None where nothing was scored.
        total: Parts there are.
        of: The trace that a label by hand is about.
        replaces: Id of the earlier label by hand that this one takes back first.
    """

    id: str
    kind: TraceKind
    time: str
    run: str | None = None
    epoch: int | None = None
    step: int | None = None
    example: str | None = None
    retrieval: Retrieval | None = None
    influence: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    operations: tuple[AppliedOperation, ...] = ()
    discarded: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    right: int | None = None
    total: int | None = None
    of: str | None = None
    replaces: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
