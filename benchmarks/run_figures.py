"""What a finished run left behind, as figures: its ledger, its report, the store's log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memcli.app.inspect_runs import run_view
from memcli.app.inspect_strategy import EdgeFilter, edges, nodes, traces
from memcli.records.strategy import Trace
from memcli.store.run_folder import LEDGER, open_run
from memcli.store.store import Store
from memcli.strategy.report import StepRow

SPAN = 25
"""Steps that a mean of prompt tokens covers."""

RUN = "run-0001"
EVERY = 10
"""Steps between two kept points of a curve; the marks of the reference are multiples of 5."""


def figures_of(path: Any) -> dict[str, Any]:
    """Return what the first run of a store cost and reached; keys are those of `Figures`."""
    store = Store.open(path)
    view = run_view(store, RUN)
    if view is None:
        raise SystemExit(f"{path} holds no {RUN}")
    snapshot, report, rows = store.snapshot(), view.report, view.steps
    log = [trace for trace in traces(snapshot) if trace.kind == "train"]
    ledger = list(open_run(store.path, RUN, disk=store.disk).lines(LEDGER))
    return {
        "steps": len(rows),
        "tokens": report["training_tokens"],
        "cumulative": kept(cumulative(rows), len(rows)),
        "prompts": kept(prompts(rows), len(rows)),
        "accuracy": report["accuracy"],
        "last_100": report["accuracy_last_100"],
        "post_curate": report.get("post_curate_accuracy"),
        "validation": validation(report["evaluations"]),
        "nodes": sum(1 for _ in nodes(snapshot)),
        "edges": sum(1 for _ in edges(snapshot, EdgeFilter())),
        "labels": sum(len(trace.labels) for trace in log),
        "most_nodes": max((row.memory_nodes for row in rows), default=0),
        "most_tokens": max((row.memory_tokens for row in rows), default=0),
        "missing_traces": missing_traces(log, view.config["examples"]),
        "calls": len(ledger),
        "outcomes": outcomes(ledger),
        "failures": dict(report["failures"]),
        "unscored": sum(row.total is None for row in rows),
    }


def cumulative(rows: Sequence[StepRow]) -> list[tuple[int, float]]:
    """Return (step, prompt and completion tokens up to there) at every step."""
    points, so_far = [], 0
    for row in rows:
        so_far += row.prompt_tokens + row.completion_tokens
        points.append((row.step, float(so_far)))
    return points


def prompts(rows: Sequence[StepRow]) -> list[tuple[int, float]]:
    """Return (step, mean prompt tokens of the `SPAN` steps up to there) at every step."""
    tokens = [row.prompt_tokens for row in rows]
    return [
        (row.step, sum(tokens[max(0, end - SPAN) : end]) / min(SPAN, end))
        for end, row in enumerate(rows, 1)
    ]


def kept(points: Sequence[tuple[int, float]], last: int) -> list[tuple[int, float]]:
    """Return the points at every tenth step, at 25 and 125 and at the last."""
    marks = {25, 125, 1, last}
    return [(x, round(y, 1)) for x, y in points if x % EVERY == 0 or x in marks]


def validation(evaluations: Iterable[Mapping[str, Any]]) -> list[tuple[int, float]]:
    """Return (step, accuracy) of each validation in which anything was scored."""
    return [
        (each["step"], each["accuracy"])
        for each in evaluations
        if each["phase"] == "validation" and each["accuracy"] is not None
    ]


def missing_traces(log: Iterable[Trace], steps: int) -> int:
    """Return how many steps have no trace, or more than one."""
    found = Counter(trace.step for trace in log)
    return sum(found[step] != 1 for step in range(1, steps + 1))


def outcomes(ledger: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return requests of all phases that gave nothing usable, by outcome."""
    found = Counter(call["outcome"] for call in ledger if call["outcome"] != "ok")
    return dict(sorted(found.items()))
