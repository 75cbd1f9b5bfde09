"""`memcli query`: the strategies for a text."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli._input import text_or_stdin
from memcli.cli._options import AtOption, JsonlOption, JsonOption, StoreOption, WaitOption
from memcli.cli._output import inert, json_document, json_lines, line, note, one_format

if TYPE_CHECKING:
    from memcli.app.query import QueryResult
    from memcli.records.strategy import Trace

NOTHING = 3


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(query)


def query(
    text: Annotated[
        str | None, typer.Argument(help="In quotes; - or nothing reads a pipe.", metavar="TEXT")
    ] = None,
    store: StoreOption = None,
    retriever: Annotated[
        str | None,
        typer.Option(
            "--retriever",
            help="hybrid (default with a model), llm, lexical (default without) or all.",
            metavar="NAME",
        ),
    ] = None,
    memory_cap: Annotated[
        int | None,
        typer.Option("--memory-cap", help="Most tokens that `all` loads.", min=1, metavar="N"),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="Model.", metavar="NAME")] = None,
    api_base: Annotated[
        str | None,
        typer.Option("--api-base", help="URL of an OpenAI-compatible server.", metavar="URL"),
    ] = None,
    at: AtOption = None,
    rank: Annotated[
        str,
        typer.Option("--rank", help="Out-edges by mean, ucb or thompson.", metavar="NAME"),
    ] = "mean",
    seed: Annotated[int, typer.Option("--seed", help="Of thompson's draws.", metavar="N")] = 0,
    trace: Annotated[
        Path | None, typer.Option("--trace", help="Save the trace there.", metavar="FILE")
    ] = None,
    keep: Annotated[bool, typer.Option("--record", help="Append the trace to the log.")] = False,
    wait: WaitOption = 0.0,
    json: JsonOption = False,
    jsonl: JsonlOption = False,
    timing: Annotated[bool, typer.Option("--timing", help="Report milliseconds.")] = False,
    exit_status: Annotated[
        bool, typer.Option("--exit-status", help="Exit 3 when nothing was found.")
    ] = False,
) -> None:
    """Find the lessons for a text and the edges between them; changes nothing.

    Edges carry helpful evidence S and harmful evidence F, with the mean (S+1)/(S+F+2) and its
    90 % interval. → was followed, ⇢ was considered.

    Example: memcli query "net present value of uneven cash flows" --json | jq .nodes
    """
    from memcli.app.checkpoints import state_at
    from memcli.app.query import as_lines, record, run_query, settings_of
    from memcli.app.stores import open_store
    from memcli.app.wiring import load_config, now, store_path

    one_format(json, jsonl)
    config = load_config()
    asked = text_or_stdin(text)
    has_model = config.resolve("model", model).value is not None
    settings = settings_of(
        retriever, has_model=has_model, memory_cap=memory_cap, rank=rank, seed=seed
    )
    client = None
    if settings.name in ("hybrid", "llm"):
        from memcli.app.answer import connect_model

        client = connect_model(config, model, api_base)
    opened = open_store(store_path(config, store))
    snapshot = state_at(opened, at)
    clock = time.perf_counter if timing else None
    found = run_query(snapshot, asked, settings, client, clock=clock)
    if trace is not None:
        _save(trace, found.trace)
    if keep:
        record(opened, found.trace, now=now(), wait_s=wait)
    if json:
        json_document(found.as_dict())
    elif jsonl:
        json_lines(found.nodes())
    else:
        for each in as_lines(found):
            line(inert(each))
    _summary(found)
    if exit_status and not found.retrieved.nodes:
        raise typer.Exit(NOTHING)


def _save(path: Path, trace: Trace) -> None:
    from memcli.errors import UsageError
    from memcli.records.strategy_codec import trace_to_line

    try:
        path.write_bytes(trace_to_line(trace))
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error


_OUTCOMES = {
    "empty_graph": "the store has no lessons: `memcli train` and `memcli node add` make them",
    "no_valid_entry": "no lesson fits",
    "failed_call": "the model's choice was unusable, so nothing was loaded",
}


def _summary(found: QueryResult) -> None:
    """Say on stderr what the lines on stdout are."""
    retrieval = found.retrieved.retrieval
    if retrieval.outcome in _OUTCOMES:
        note(_OUTCOMES[retrieval.outcome])
        return
    spent = "" if retrieval.milliseconds is None else f", {retrieval.milliseconds:.1f} ms"
    note(
        f"{len(found.retrieved.nodes)} of {found.n_lessons:,} lessons, "
        f"{retrieval.memory_tokens:,} tokens, {retrieval.retriever}{spent}"
    )
