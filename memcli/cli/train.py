"""`memcli train`: learn strategies from a stream of examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli._options import JsonOption, StoreOption
from memcli.cli._output import inert, json_document, line, note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memcli.app.train_request import Examples
    from memcli.app.training import Estimate, Prepared

REJECTED = 6


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(train)


def train(
    stream: Annotated[
        str | None,
        typer.Argument(help='JSONL of {"question": …, "answer": …} lines, or -.', metavar="STREAM"),
    ] = None,
    store: StoreOption = None,
    val: Annotated[
        str | None, typer.Option("--val", help="Validation examples.", metavar="FILE")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            "--test", help="Measured on the empty memory and on the best one.", metavar="FILE"
        ),
    ] = None,
    eval_every: Annotated[
        int, typer.Option("--eval-every", help="Steps between validations.", min=1, metavar="N")
    ] = 100,
    epochs: Annotated[int, typer.Option("--epochs", help="Passes.", min=1, metavar="N")] = 1,
    model: Annotated[str | None, typer.Option("--model", help="Model.", metavar="NAME")] = None,
    api_base: Annotated[
        str | None,
        typer.Option("--api-base", help="URL of an OpenAI-compatible server.", metavar="URL"),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="Passed to the model, e.g. temperature=0.2.", metavar="K=V"),
    ] = None,
    retriever: Annotated[
        str, typer.Option("--retriever", help="hybrid, llm, lexical or all.", metavar="NAME")
    ] = "hybrid",
    memory_cap: Annotated[
        int | None,
        typer.Option("--memory-cap", help="Most tokens that `all` loads.", min=1, metavar="N"),
    ] = None,
    max_rounds: Annotated[
        int, typer.Option("--max-rounds", help="Attempts at one example.", min=1, metavar="N")
    ] = 1,
    post_curate: Annotated[
        bool, typer.Option("--post-curate", help="Predict again after each step.")
    ] = False,
    parity: Annotated[
        str | None,
        typer.Option("--parity", help="ace: three rounds and --post-curate.", metavar="ace"),
    ] = None,
    scorer: Annotated[
        str,
        typer.Option(
            "--scorer",
            help="exact, numeric, tags, contains, or module:function.",
            metavar="NAME",
        ),
    ] = "exact",
    tolerance: Annotated[
        float, typer.Option("--tolerance", help="How far `numeric` may be off.", metavar="X")
    ] = 0.0,
    seed: Annotated[int, typer.Option("--seed", help="Of orders and draws.", metavar="N")] = 0,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", help="Stop at this sum.", metavar="USD")
    ] = None,
    rank: Annotated[
        str,
        typer.Option("--rank", help="Out-edges by mean, ucb or thompson.", metavar="NAME"),
    ] = "mean",
    near_duplicates: Annotated[
        bool, typer.Option("--near-duplicates", help="Refuse lessons that nearly repeat one.")
    ] = False,
    whole_graph: Annotated[
        bool, typer.Option("--whole-graph", help="Load all lessons while they fit.")
    ] = False,
    whole_index: Annotated[
        bool, typer.Option("--whole-index", help="Show the curator the whole index.")
    ] = False,
    merge: Annotated[bool, typer.Option("--merge", help="Let the curator merge lessons.")] = False,
    workers: Annotated[
        int, typer.Option("--workers", help="Threads of an evaluation.", min=1, max=64)
    ] = 4,
    wait: Annotated[
        float, typer.Option("--wait", help="Seconds to wait for other writers.", metavar="SECONDS")
    ] = 60.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Estimate tokens and price; ask nobody.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest unfinished run.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Learn strategies from examples: predict, compare, reflect, keep what helps.

    The prediction on each example is made before its answer is looked at. A run that is
    stopped goes on with --resume at the next example.

    Example: memcli train stream.jsonl --model openai/gpt-5-mini --scorer numeric
    """
    from memcli.app.train_request import TrainRequest
    from memcli.app.training import Options, estimate, prepare

    request = TrainRequest(
        stream=stream or "",
        val=val,
        test=test,
        eval_every=eval_every,
        epochs=epochs,
        seed=seed,
        retriever=retriever,
        memory_cap=memory_cap,
        max_rounds=max_rounds,
        post_curate=post_curate,
        scorer=scorer,
        tolerance=tolerance,
        max_cost=max_cost,
        rank=rank,
        near_duplicates=near_duplicates,
        whole_graph=whole_graph,
        whole_index=whole_index,
        merge=merge,
        workers=workers,
    ).with_parity(parity)
    options = Options(
        store=store, model=model, api_base=api_base, options=tuple(option or ()), wait_s=wait
    )
    with prepare(request, options, resume=resume, dry_run=dry_run) as prepared:
        for each in prepared.files:
            _tell_rejected(each)
        if dry_run:
            _show_estimate(estimate(prepared), json)
            return 0
        report = _run(prepared)
    _show(report, json)
    return REJECTED if any(each.rejected for each in prepared.files) else 0


def _run(prepared: Prepared) -> Mapping[str, object]:
    """Train; say how to go on where that is cut short."""
    from memcli.app.train import RunUndone
    from memcli.cli._train_progress import watching
    from memcli.errors import MemcliError

    try:
        with watching() as tell:
            return prepared.run(tell, warn=lambda text: note(inert(text)))
    except RunUndone:
        raise
    except (KeyboardInterrupt, MemcliError) as error:
        if isinstance(error, MemcliError) and prepared.discard_if_idle():
            raise  # nothing was heard from the model: no run to go on with
        note(f"{prepared.name} stopped; `memcli train --resume` goes on at the next example")
        raise


def _tell_rejected(examples: Examples) -> None:
    for each in examples.rejected:
        note(inert(f"{examples.path}:{each.line}: {each.reason}"))
    if examples.rejected:
        note(f"{len(examples.rejected):,} lines rejected, {len(examples.examples):,} examples")


def _show_estimate(found: Estimate, as_json: bool) -> None:
    from dataclasses import asdict

    if as_json:
        json_document({"estimate": asdict(found)})
        return
    for text in found.lines():
        line(text)


def _show(report: Mapping[str, object], as_json: bool) -> None:
    from memcli.strategy.report import report_lines

    if as_json:
        json_document(report)
        return
    for text in report_lines(report):
        line(inert(text))
