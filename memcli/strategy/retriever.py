"""Retrievers: from a query to entry nodes, then to the loaded subgraph (Algorithm 1).

``llm`` reads the whole routing index (the paper), ``hybrid`` the lines nearest by words,
``lexical`` needs no model. ``all`` loads every lesson up to a cap: the baseline for growth.
Whatever fails, nothing else is loaded in its place: there is no fallback to full memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from memcli.errors import LLMReplyCut, LLMReplyInvalid, UsageError
from memcli.records.strategy import (
    IndexLine,
    Loaded,
    Retrieval,
    RetrievalOutcome,
    RetrieverName,
    StrategyNode,
)
from memcli.search.lessons import Lessons
from memcli.strategy.asking import TEXT, Asker, list_of, object_schema, prompt_for
from memcli.strategy.graph import GraphView
from memcli.strategy.lexical import entries as lexical_entries
from memcli.strategy.lexical import nearest
from memcli.strategy.limits import Limits
from memcli.strategy.playbook import index_block, memory_block, node_tokens
from memcli.strategy.posterior import Rank
from memcli.strategy.traverse import Traversal, traverse

SCHEMA: Final = object_schema("retrieve", sections=list_of(TEXT), entry_ids=list_of(TEXT))
MAX_TOKENS: Final = 256
PREFILTER: Final = 30
"""Index lines that ``hybrid`` shows the model."""


class Memory(GraphView, Protocol):
    """A graph whose active nodes can also be listed."""

    @property
    def n_nodes(self) -> int:
        """How many active nodes there are."""

    def nodes(self) -> Iterator[StrategyNode]:
        """Yield the active nodes in order of creation."""

    def index_lines(self) -> Iterator[IndexLine]:
        """Yield the routing index in order of creation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to retrieve.

    Attributes:
        name: The retriever.
        limits: The bounds.
        memory_cap: Tokens that ``all`` loads at most; None: everything.
        whole_graph: Loads the whole graph, without a call, while it fits the limits
            (a departure from the paper, off by default).
        rank: What orders out-edges.
        seed: Of ``thompson``'s draws.
    """

    name: RetrieverName
    limits: Limits = field(default_factory=Limits)
    memory_cap: int | None = None
    whole_graph: bool = False
    rank: Rank = "mean"
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """What a retrieval gives the generator.

    Attributes:
        retrieval: What happened, for the trace; without milliseconds.
        nodes: The loaded lessons, in order.
        memory: Them as text; empty when there are none.
        failure: Code of the error where the retriever's call failed, else None.
    """

    retrieval: Retrieval
    nodes: tuple[StrategyNode, ...] = ()
    memory: str = ""
    failure: str | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the loaded lessons, in order."""
        return tuple(node.id for node in self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """Where to start.

    Attributes:
        failure: Code of the error that left nothing to start from.
    """

    sections: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    discarded: Counter[str] = field(default_factory=Counter)
    failure: str | None = None


def retrieve(
    query: str,
    memory: Memory,
    lessons: Lessons,
    settings: Settings,
    *,
    count: Callable[[str], int],
    ask: Asker | None = None,
) -> Retrieved:
    """Return the lessons for a query.

    Args:
        query: The task.
        memory: The graph.
        lessons: The same lessons, searchable.
        settings: How to retrieve.
        count: Counts tokens.
        ask: The model; ``llm`` and ``hybrid`` need one.

    Raises:
        LLMUnavailable, LLMRejected: If the model cannot be asked at all; an unusable reply
            is an outcome instead.
        UsageError: If a model is needed and there is none.
    """
    if memory.n_nodes == 0:
        return _nothing(settings, "empty_graph")
    if settings.name == "all":
        return _exposed(memory, settings, count)
    if settings.whole_graph and (nodes := _if_it_fits(memory, settings, count)):
        return _loaded_whole(nodes, settings, count)
    choice = _choose(query, memory, lessons, settings, ask)
    if choice.failure is not None:
        return replace(_nothing(settings, "failed_call"), failure=choice.failure)
    found = traverse(
        memory,
        choice.entries,
        settings.limits,
        count=count,
        rank=settings.rank,
        seed=settings.seed,
    )
    return _retrieved(choice, found, settings, count)


def _nothing(settings: Settings, outcome: RetrievalOutcome) -> Retrieved:
    return Retrieved(retrieval=Retrieval(retriever=settings.name, outcome=outcome))


def _retrieved(
    choice: _Choice, found: Traversal, settings: Settings, count: Callable[[str], int]
) -> Retrieved:
    retrieval = Retrieval(
        retriever=settings.name,
        outcome="loaded" if found.nodes else "no_valid_entry",
        sections=choice.sections,
        entries=choice.entries,
        loaded=found.loaded,
        considered=found.considered,
        traversed=found.traversed,
        memory_tokens=sum(node_tokens(node, count) for node in found.nodes),
        discarded=dict(sorted(choice.discarded.items())),
    )
    return Retrieved(retrieval=retrieval, nodes=found.nodes, memory=memory_block(found.nodes))


def _choose(
    query: str, memory: Memory, lessons: Lessons, settings: Settings, ask: Asker | None
) -> _Choice:
    """Return entry nodes, validated."""
    if settings.name == "lexical":
        found = lexical_entries(query, lessons, settings.limits)
        return _Choice(sections=_sections_of(found, memory, settings.limits), entries=tuple(found))
    if ask is None:
        raise UsageError(f"the retriever {settings.name} needs a model", hint="give --model")
    lines = list(memory.index_lines())
    if settings.name == "hybrid" and len(lines) > PREFILTER:
        near = set(nearest(query, lessons, PREFILTER))
        lines = [line for line in lines if line.id in near]
    if not lines:
        return _Choice()
    return _ask_for_entries(query, lines, settings.limits, ask)


def _ask_for_entries(query: str, lines: Sequence[IndexLine], limits: Limits, ask: Asker) -> _Choice:
    prompt = prompt_for(
        "retrieve",
        {"index": index_block(lines), "question": query},
        max_entries=str(limits.max_entries),
        max_sections=str(limits.max_sections),
    )
    try:
        reply = ask.ask(prompt, SCHEMA, max_tokens=MAX_TOKENS)
    except (LLMReplyInvalid, LLMReplyCut) as error:
        return _Choice(failure=error.code)
    sections, odd = _valid(
        reply["sections"], {line.section for line in lines}, limits.max_sections, "section"
    )
    entries, ghosts = _valid(
        reply["entry_ids"], {line.id for line in lines}, limits.max_entries, "entry"
    )
    return _Choice(sections=sections, entries=entries, discarded=odd + ghosts)


def _valid(
    named: Sequence[Any], known: set[str], most: int, what: str
) -> tuple[tuple[str, ...], Counter[str]]:
    """Return what a model named validly, in order, and the rest by reason."""
    names = [str(name).strip().strip("[]").strip() for name in named]
    valid = list(dict.fromkeys(name for name in names if name in known))
    unknown = sum(name not in known for name in names)
    dropped = {
        f"{what}_unknown": unknown,
        f"{what}_repeated": len(names) - unknown - len(valid),
        f"{what}_too_many": max(0, len(valid) - most),
    }
    return tuple(valid[:most]), +Counter(dropped)


def _sections_of(found: Sequence[str], memory: Memory, limits: Limits) -> tuple[str, ...]:
    """Return the sections of entries chosen without a model, in their order."""
    nodes = filter(None, map(memory.node, found))
    return tuple(dict.fromkeys(node.section for node in nodes))[: limits.max_sections]


def _exposed(memory: Memory, settings: Settings, count: Callable[[str], int]) -> Retrieved:
    """Return every lesson in order of creation, up to the cap: S(x) = V."""
    nodes, total = [], 0
    for node in memory.nodes():
        total += node_tokens(node, count)
        if settings.memory_cap is not None and total > settings.memory_cap:
            break
        nodes.append(node)
    return _loaded_whole(nodes, settings, count)


def _if_it_fits(
    memory: Memory, settings: Settings, count: Callable[[str], int]
) -> list[StrategyNode]:
    """Return all lessons while they fit the limits, else none."""
    if memory.n_nodes > settings.limits.max_nodes:
        return []
    nodes = list(memory.nodes())
    total = sum(node_tokens(node, count) for node in nodes)
    return nodes if total <= settings.limits.memory_tokens else []


def _loaded_whole(
    nodes: Sequence[StrategyNode], settings: Settings, count: Callable[[str], int]
) -> Retrieved:
    retrieval = Retrieval(
        retriever=settings.name,
        outcome="loaded" if nodes else "no_valid_entry",
        loaded=tuple(Loaded(id=node.id, depth=0) for node in nodes),
        memory_tokens=sum(node_tokens(node, count) for node in nodes),
    )
    return Retrieved(retrieval=retrieval, nodes=tuple(nodes), memory=memory_block(nodes))
