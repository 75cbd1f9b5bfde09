"""`memcli query`: the strategies for a text, and how they were found."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from memcli.app.strategy_store import append_change
from memcli.app.strategy_view import StoredMemory
from memcli.errors import UsageError
from memcli.records.codec import dumps
from memcli.records.ids import fingerprint
from memcli.records.strategy import RetrieverName, StrategyEdge, Trace
from memcli.records.strategy_codec import trace_to_dict
from memcli.store.snapshot import Snapshot
from memcli.store.store import Store
from memcli.strategy.operations import Change
from memcli.strategy.posterior import Rank, interval, mean
from memcli.strategy.retriever import Retrieved, Settings, retrieve

if TYPE_CHECKING:
    from memcli.llm.client import Client
    from memcli.llm.transport import Schema
    from memcli.strategy.asking import Prompt

RETRIEVERS: Final = get_args(RetrieverName)
RANKS: Final = get_args(Rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """Strategies for a text.

    Attributes:
        text: What was asked.
        retrieved: The lessons, in the order in which they were loaded.
        edges: The considered edges, in order.
        trace: The log entry, recorded or not.
        n_lessons: Lessons in the store.
    """

    text: str
    retrieved: Retrieved
    edges: tuple[StrategyEdge, ...]
    trace: Trace
    n_lessons: int

    def as_dict(self) -> dict[str, object]:
        """Return it as the JSON document that `memcli query --json` prints."""
        return {
            "query": self.text,
            "lessons_in_store": self.n_lessons,
            "nodes": self.nodes(),
            "edges": self.weighed(),
            "trace": trace_to_dict(self.trace),
        }

    def nodes(self) -> list[dict[str, object]]:
        """Return the loaded lessons in order, each with its depth and whether it is an entry."""
        retrieval = self.retrieved.retrieval
        depths = {node.id: node.depth for node in retrieval.loaded}
        return [
            {
                "id": node.id,
                "depth": depths[node.id],
                "entry": node.id in retrieval.entries,
                "section": node.section,
                "key": node.key,
                "content": node.content,
                "tokens": node.tokens,
            }
            for node in self.retrieved.nodes
        ]

    def weighed(self) -> list[dict[str, object]]:
        """Return the considered edges in order, with their posteriors."""
        traversed = set(self.retrieved.retrieval.traversed)
        return [_weighed(edge, edge.pair in traversed) for edge in self.edges]


def _weighed(edge: StrategyEdge, is_traversed: bool) -> dict[str, object]:
    low, high = interval(edge.s, edge.f)
    return {
        "source": edge.source,
        "target": edge.target,
        "S": edge.s,
        "F": edge.f,
        "mean": round(mean(edge.s, edge.f), 6),
        "low": round(low, 6),
        "high": round(high, 6),
        "traversed": is_traversed,
    }


def settings_of(
    retriever: str | None, *, has_model: bool, memory_cap: int | None, rank: str, seed: int
) -> Settings:
    """Return how to retrieve: ``hybrid`` where a model is configured, else ``lexical``.

    Raises:
        UsageError: If a name is unknown or an option makes no sense.
    """
    name = retriever or ("hybrid" if has_model else "lexical")
    if name not in RETRIEVERS:
        raise UsageError(f"no retriever is called {name!r}", hint=f"one of {', '.join(RETRIEVERS)}")
    if rank not in RANKS:
        raise UsageError(f"no rank is called {rank!r}", hint=f"one of {', '.join(RANKS)}")
    if memory_cap is not None and name != "all":
        raise UsageError("--memory-cap is for --retriever all")
    return Settings(
        name=cast(RetrieverName, name), memory_cap=memory_cap, rank=cast(Rank, rank), seed=seed
    )


def run_query(
    snapshot: Snapshot,
    text: str,
    settings: Settings,
    client: Client | None = None,
    *,
    clock: Callable[[], float] | None = None,
) -> QueryResult:
    """Return the strategies for a text; changes nothing.

    The same state, text and settings give the same result, its trace's id included; the
    trace's time is that of the state.

    Args:
        snapshot: The state to ask.
        text: The query.
        settings: How to retrieve.
        client: The model, where one is needed.
        clock: Seconds; None leaves ``milliseconds`` out.

    Raises:
        LLMError: If the model cannot be asked at all.
        UsageError: If the text is empty, or a model is needed and there is none.
    """
    if not text.strip():
        raise UsageError("the query is empty")
    start = clock() if clock else 0.0
    memory = StoredMemory(snapshot)
    asker = ModelAsker(client) if client is not None else None
    retrieved = retrieve(text, memory, memory.lessons, settings, count=_count, ask=asker)
    retrieval = retrieved.retrieval
    if clock is not None:
        own = clock() - start - (asker.seconds if asker else 0.0)
        retrieval = replace(retrieval, milliseconds=round(1_000 * own, 3))
    edges = tuple(filter(None, map(memory.edge, retrieval.considered)))
    manifest = snapshot.manifest
    how = dumps(asdict(settings)).decode()
    trace = Trace(
        id="q" + fingerprint("query", str(manifest.commit), text, how)[:11],
        kind="query",
        time=manifest.committed_at,
        example=fingerprint("example", None, text, None)[1:],
        retrieval=retrieval,
        failures={"retrieve": retrieved.failure} if retrieved.failure else {},
    )
    return QueryResult(
        text=text,
        retrieved=replace(retrieved, retrieval=retrieval),
        edges=edges,
        trace=trace,
        n_lessons=memory.n_nodes,
    )


def record(store: Store, trace: Trace, *, now: datetime, wait_s: float) -> None:
    """Append a query's trace to the log, stamped with the time of the query."""
    stamped = replace(trace, time=now.strftime("%Y-%m-%dT%H:%M:%SZ"))
    with store.writer(now=now, wait_s=wait_s, command="query") as writer:
        append_change(writer, Change(), stamped)
        writer.commit(command="query")


class ModelAsker:
    """A model asked directly, without a ledger; keeps the seconds it took."""

    def __init__(self, client: Client) -> None:
        self._client, self.seconds = client, 0.0

    def ask(self, prompt: Prompt, schema: Schema, *, max_tokens: int) -> Mapping[str, Any]:
        """Return what the model replied; see `asking.Asker`."""
        start = time.monotonic()
        try:
            reply = self._client.complete(
                prompt.messages, schema=schema, max_tokens=max_tokens, role=schema.name
            )
        finally:
            self.seconds += time.monotonic() - start
        return reply.data or {}


def _count(text: str) -> int:
    from memcli.budgets import count_tokens

    return count_tokens(text)


def as_lines(result: QueryResult) -> list[str]:
    """Return a result for people: the lessons, then the edges that were considered."""
    lines: list[str] = []
    for node in result.nodes():
        mark = "entry" if node["depth"] == 0 else f"hop {node['depth']}"
        lines.append(f"[{node['id']}] {mark}: {node['key']} [{node['section']}]")
        lines += [f"    {text}" for text in str(node["content"]).splitlines()]
    if result.edges:
        lines.append("")
    for edge in result.weighed():
        arrow = "→" if edge["traversed"] else "⇢"
        lines.append(
            f"{edge['source']} {arrow} {edge['target']}  S {edge['S']:g}  F {edge['F']:g}  "
            f"mean {edge['mean']:.3f}  90 % {edge['low']:.3f}–{edge['high']:.3f}"
        )
    return lines
