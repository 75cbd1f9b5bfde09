"""`memcli inspect`: looking at what is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli import inspect_evidence, inspect_runs, inspect_strategy
from memcli.cli._options import (
    AtOption,
    ConversationOption,
    JsonlOption,
    JsonOption,
    SessionOption,
    StoreOption,
    TzOption,
)
from memcli.cli._output import note
from memcli.cli._view import EdgeSort, View, What

if TYPE_CHECKING:
    from memcli.store.snapshot import Snapshot
    from memcli.store.store import Store

_VIEWS: Mapping[What, Callable[[Store, Snapshot, View], None]] = {
    What.stats: inspect_evidence.stats,
    What.turns: inspect_evidence.turns,
    What.sessions: inspect_evidence.sessions,
    What.anchors: inspect_evidence.anchors,
    What.nodes: inspect_strategy.nodes,
    What.edges: inspect_strategy.edges,
    What.index_line: inspect_strategy.index,
    What.traces: inspect_strategy.traces,
    What.graph: inspect_strategy.graph,
    What.runs: inspect_runs.runs,
    What.checkpoints: inspect_runs.checkpoints,
}

_NAME_HELP = (
    "Which one: a conversation (turns, sessions), an anchor, a node (nodes, graph), the node an "
    "edge touches (edges), a trace or a run (traces), a run."
)


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(inspect)


def inspect(
    what: Annotated[What, typer.Argument(help="What to look at.")] = What.stats,
    name: Annotated[str | None, typer.Argument(help=_NAME_HELP, metavar="[ID]")] = None,
    store: StoreOption = None,
    conversation: ConversationOption = None,
    session: SessionOption = None,
    tz: TzOption = None,
    at: AtOption = None,
    sort: Annotated[
        EdgeSort | None,
        typer.Option("--sort", help="Order of edges: figures high to low, ids low to high."),
    ] = None,
    removed: Annotated[
        bool, typer.Option("--removed", help="Show removed nodes, edges, index lines too.")
    ] = False,
    dot: Annotated[bool, typer.Option("--dot", help="The graph as Graphviz input.")] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", help="At most so many.", metavar="N", min=1)
    ] = None,
    json: JsonOption = False,
    jsonl: JsonlOption = False,
) -> None:
    """Look at evidence, strategies, runs, checkpoints or counts; changes nothing.

    Edges show S and F, the helpful and harmful evidence of an edge, with the mean
    (S+1)/(S+F+2) and the 90 % interval of the posterior Beta(1+S, 1+F). That is a smoothed
    estimate under the policy that trained: not a causal measure, not a calibrated probability.

    Example: memcli inspect edges --sort mean | head
    """
    from memcli.app.checkpoints import state_at
    from memcli.app.stores import open_store
    from memcli.app.wiring import load_config, store_path

    view = View(
        name=name,
        conversation=conversation,
        session=session,
        tz=tz,
        at=at,
        sort=sort,
        removed=removed,
        dot=dot,
        limit=limit,
        json=json,
        jsonl=jsonl,
    )
    view.check(what)
    opened = open_store(store_path(load_config(), store))
    snapshot = state_at(opened, at)
    for warning in snapshot.warnings:
        note(warning)
    _VIEWS[what](opened, snapshot, view)
