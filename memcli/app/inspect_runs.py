"""What `memcli inspect runs` tells: each run's options, figures and steps, never written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memcli.app.strategy_store import read_traces
from memcli.records.strategy import Trace
from memcli.store.run_folder import (
    CONFIG,
    EVALUATIONS,
    LEDGER,
    REPORT,
    RunFolder,
    open_run,
    run_names,
)
from memcli.store.store import Store
from memcli.strategy.report import StepRow, report, step_rows

PHASES = ("train", "validation", "test")
TOKEN_KINDS = ("prompt", "index", "memory", "rest", "completion", "cached")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One run as it can be looked at.

    Attributes:
        name: ``run-0001`` …
        is_finished: Whether it came to its end; an unfinished one can be resumed.
        config: Its options.
        report: Its figures: those written at its end, else of what is done so far.
        steps: Its steps as the log holds them; none where they were undone.
    """

    name: str
    is_finished: bool
    config: Mapping[str, Any]
    report: Mapping[str, Any]
    steps: Sequence[StepRow]

    def summary(self) -> dict[str, object]:
        """Return the run as one row."""
        figures, best = self.report, self.best_validation
        return {
            "run": self.name,
            "status": "finished" if self.is_finished else "unfinished",
            "model": figures["model"],
            "retriever": figures["retriever"],
            "max_rounds": figures["max_rounds"],
            "steps": figures["steps"],
            "examples": figures["examples"],
            "training_tokens": figures["training_tokens"],
            "cost_usd": figures["cost_usd"],
            "accuracy_last_100": _rounded(figures["accuracy_last_100"]),
            "best_step": figures["best_step"],
            "best_validation": _rounded(best),
            "nodes": figures["nodes"],
            "edges": figures["edges"],
        }

    @property
    def best_validation(self) -> float | None:
        """Accuracy of the earliest best validation; None without one."""
        step = self.report["best_step"]
        found = (
            each["accuracy"]
            for each in self.report["evaluations"]
            if (each["phase"], each["step"]) == ("validation", step)
        )
        return next(found, None)

    def as_dict(self) -> dict[str, object]:
        """Return all of it as JSON values."""
        return {
            "status": "finished" if self.is_finished else "unfinished",
            "config": dict(self.config),
            "report": dict(self.report),
            "steps": [asdict(step) for step in self.steps],
        }

    def phases(self) -> Iterator[tuple[object, ...]]:
        """Yield the tokens of each phase that had a call: name, requests, then `TOKEN_KINDS`."""
        for phase in PHASES:
            tokens = self.report["tokens"][phase]
            if tokens["requests"]:
                counts = (tokens[f"{kind}_tokens"] for kind in TOKEN_KINDS)
                yield phase, tokens["requests"], *counts

    def roles(self) -> Iterator[tuple[object, ...]]:
        """Yield each role's training calls: requests, failed ones, tokens, seconds."""
        for role, counts in self.report["roles"].items():
            if counts["requests"]:
                yield (
                    role,
                    counts["requests"],
                    counts["failed_requests"],
                    counts["prompt_tokens"],
                    counts["completion_tokens"],
                    counts["seconds"],
                )


def run_views(store: Store) -> Iterator[RunView]:
    """Yield the runs of a store, oldest first."""
    names = run_names(store.path)
    log: dict[str, list[Trace]] = {name: [] for name in names}
    for trace in read_traces(store.snapshot()) if names else ():
        if trace.kind == "train" and trace.run in log:
            log[trace.run].append(trace)
    for name in names:
        view = _view(open_run(store.path, name, disk=store.disk), log[name])
        if view is not None:
            yield view


def run_view(store: Store, name: str) -> RunView | None:
    """Return one run; None while it has no config yet.

    Raises:
        NothingFound: If there is none of that name.
    """
    folder = open_run(store.path, name, disk=store.disk)
    traces = read_traces(store.snapshot())
    return _view(folder, [t for t in traces if t.kind == "train" and t.run == name])


def _view(folder: RunFolder, traces: Sequence[Trace]) -> RunView | None:
    """Return a run from its folder and its part of the log."""
    config, written = folder.load(CONFIG), folder.load(REPORT)
    if config is None:
        return None
    ledger = list(folder.lines(LEDGER))
    figures = written or report(
        {**config, "run": folder.name}, traces, ledger, list(folder.lines(EVALUATIONS))
    )
    return RunView(
        name=folder.name,
        is_finished=written is not None,
        config=config,
        report=figures,
        steps=step_rows(traces, ledger),
    )


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
