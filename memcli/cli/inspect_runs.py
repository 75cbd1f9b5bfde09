"""`memcli inspect runs|checkpoints`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from memcli.cli._output import (
    inert,
    json_document,
    json_lines,
    line,
    note,
    records,
    table,
    terminal_width,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memcli.app.inspect_runs import RunView
    from memcli.cli._view import View
    from memcli.store.snapshot import Snapshot
    from memcli.store.store import Store

_SPAN = 25
"""Predictions that a point of the accuracy curve is the mean of."""

_HEIGHT = 8
_FACTS = (
    *("accuracy", "accuracy_last_100", "post_curate_accuracy", "training_tokens", "cost_usd"),
    *("active_seconds", "nodes", "edges", "most_memory_nodes", "most_memory_tokens"),
    *("lessons_with_answer", "best_step"),
)
_COUNTS = ("retrievals", "outcomes", "failures", "discarded")


def runs(store: Store, _snapshot: Snapshot, view: View) -> None:
    """Print the training runs, or one of them with its phases, rounds and curves."""
    from memcli.app.inspect_runs import run_view, run_views

    if view.name is None:
        view.records("runs", (each.summary() for each in run_views(store)))
        return
    found = run_view(store, view.name)
    if found is None:
        note(f"{view.name} has not begun")
    elif view.json:
        json_document(found.as_dict())
    elif view.jsonl:
        json_lines(asdict(step) for step in found.steps[: view.limit])
    else:
        _print_run(found)


def _print_run(run: RunView) -> None:
    from memcli.app.inspect_runs import TOKEN_KINDS

    figures, options = run.report, run.config
    state = "finished" if run.is_finished else "unfinished, `memcli train --resume` goes on"
    rounds = f"at most {figures['max_rounds']} rounds" if figures["max_rounds"] > 1 else "1 round"
    line(inert(f"{run.name}: {figures['model']}, retriever {figures['retriever']}, {rounds}"))
    line(inert(f"{figures['steps']} of {figures['examples']} steps, {state}"))
    line(inert(f"stream {options.get('stream')}, scorer {options.get('scorer')}"))
    line()
    table(("phase", "requests", *(f"{kind} tokens" for kind in TOKEN_KINDS)), run.phases())
    line()
    headers = ("role", "requests", "failed", "prompt tokens", "completion tokens", "seconds")
    table(headers, run.roles())
    line()
    if figures["evaluations"]:
        records("evaluations", figures["evaluations"], json=False, jsonl=False)
        line()
    for name, value in _facts(figures):
        line(inert(f"{name:24} {value}"))
    if sys.stdout.isatty():
        for each in _curves(run, min(terminal_width(), 100)):
            line(each)


def _facts(figures: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name in _FACTS:
        value = figures.get(name)
        shown = f"{value:.4g}" if isinstance(value, float) and value < 1 else value
        yield name, "unknown" if value is None else str(shown)
    for name in _COUNTS:
        counts = figures.get(name)
        if isinstance(counts, dict) and counts:
            yield name, ", ".join(f"{key} {count}" for key, count in counts.items())


def _curves(run: RunView, width: int) -> Iterator[str]:
    """Yield accuracy and prompt tokens over the steps as charts."""
    from memcli.cli._chart import chart, moving_mean

    scored = [row for row in run.steps if row.total]
    shares = moving_mean([(row.right or 0) / (row.total or 1) for row in scored], _SPAN)
    prompts = [(row.step, float(row.prompt_tokens)) for row in run.steps]
    right = [(row.step, share) for row, share in zip(scored, shares, strict=True)]
    most = max((tokens for _, tokens in prompts), default=1.0) or 1.0
    for title, points, top in (
        (f"accuracy of the last {_SPAN} predictions", right, 1.0),
        ("prompt tokens a step", prompts, most),
    ):
        if points:
            yield ""
            yield title
            yield from chart(points, width=width, height=_HEIGHT, bounds=(0.0, top))


def checkpoints(store: Store, _snapshot: Snapshot, view: View) -> None:
    """Print the states one can go back to."""
    from memcli.app.inspect import checkpoints as find

    view.records("checkpoints", find(store))
