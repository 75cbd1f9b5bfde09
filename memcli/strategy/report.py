"""What a run came to, from its log, its ledger and its evaluations: all of it recomputed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memcli.records.strategy import Trace

ROLES = ("retrieve", "generate", "reflect", "curate")
LAST = 100
"""Training predictions that the final accuracy is taken over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """One training step in figures.

    Attributes:
        step: 1-based.
        right: Parts of the prediction that were right; None where nothing was scored.
        total: Parts there were.
        prompt_tokens: Of all requests of the step.
        completion_tokens: Likewise.
        generator_tokens: Prompt tokens of the first prediction.
        memory_nodes: Lessons that the generator saw.
        memory_tokens: Their tokens.
        nodes: Active lessons after the step, of this run's making.
        edges: Active edges after the step, likewise.
    """

    step: int
    right: int | None
    total: int | None
    prompt_tokens: int
    completion_tokens: int
    generator_tokens: int
    memory_nodes: int
    memory_tokens: int
    nodes: int
    edges: int


def step_rows(traces: Iterable[Trace], ledger: Iterable[Mapping[str, Any]]) -> list[StepRow]:
    """Return the steps of a run in order, from its training traces and its ledger."""
    calls: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for call in ledger:
        if call["phase"] == "train":
            calls[call["step"]].append(call)
    rows, nodes, edges = [], 0, 0
    for trace in traces:
        did = Counter(operation.op for operation in trace.operations)
        nodes += did["ADD"] - did["REMOVE"] - did["MERGE"]
        edges += did["ADD_EDGE"] - did["REMOVE_EDGE"]
        rows.append(_row(trace, calls[trace.step or 0], nodes, edges))
    return rows


def _row(trace: Trace, calls: Sequence[Mapping[str, Any]], nodes: int, edges: int) -> StepRow:
    generated = [call["prompt_tokens"] or 0 for call in calls if call["role"] == "generate"]
    retrieval = trace.retrieval
    return StepRow(
        step=trace.step or 0,
        right=trace.right,
        total=trace.total,
        prompt_tokens=sum(call["prompt_tokens"] or 0 for call in calls),
        completion_tokens=sum(call["completion_tokens"] or 0 for call in calls),
        generator_tokens=generated[0] if generated else 0,
        memory_nodes=len(retrieval.loaded) if retrieval else 0,
        memory_tokens=retrieval.memory_tokens if retrieval else 0,
        nodes=nodes,
        edges=edges,
    )


def accuracy(rows: Sequence[StepRow], last: int | None = None) -> float | None:
    """Return the share of right parts among the scored of the last rows; None without one."""
    scored = [row for row in (rows if last is None else rows[-last:]) if row.total]
    total = sum(row.total or 0 for row in scored)
    return sum(row.right or 0 for row in scored) / total if total else None


def best_step(evaluations: Iterable[Mapping[str, Any]]) -> int | None:
    """Return the step of the earliest best validation; None without one."""
    scored = [
        (each["right"] / each["total"], -each["step"])
        for each in evaluations
        if each["phase"] == "validation" and each["total"]
    ]
    return -max(scored)[1] if scored else None


def report(
    config: Mapping[str, Any],
    traces: Sequence[Trace],
    ledger: Sequence[Mapping[str, Any]],
    evaluations: Sequence[Mapping[str, Any]],
) -> dict[str, object]:
    """Return a run's figures as JSON values.

    Tokens are prompt and completion together, failed requests included. A failed call is
    counted under ``failures``, never in an accuracy.
    """
    rows = step_rows(traces, ledger)
    spent = [call["cost_usd"] for call in ledger if call["prompt_tokens"] is not None]
    return {
        "run": config["run"],
        "model": config["model"],
        "retriever": config["retriever"],
        "max_rounds": config["max_rounds"],
        "steps": len(rows),
        "examples": config["examples"] * config["epochs"],
        "accuracy": accuracy(rows),
        "accuracy_last_100": accuracy(rows, LAST),
        "tokens": {phase: _tokens(ledger, phase) for phase in ("train", "validation", "test")},
        "training_tokens": sum(row.prompt_tokens + row.completion_tokens for row in rows),
        "roles": {role: _role(ledger, role) for role in ROLES},
        "cost_usd": None if None in spent else sum(spent),
        "active_seconds": _active(ledger),
        "nodes": rows[-1].nodes if rows else 0,
        "edges": rows[-1].edges if rows else 0,
        "most_memory_nodes": max((row.memory_nodes for row in rows), default=0),
        "most_memory_tokens": max((row.memory_tokens for row in rows), default=0),
        "evaluations": [dict(each) for each in evaluations],
        "best_step": best_step(evaluations),
        "failures": _failures(traces),
        "outcomes": dict(sorted(Counter(call["outcome"] for call in ledger).items())),
        "discarded": _summed(trace.discarded for trace in traces),
        "retrievals": dict(
            sorted(Counter(t.retrieval.outcome for t in traces if t.retrieval).items())
        ),
        "lessons_with_answer": config.get("lessons_with_answer", 0),
    }


def report_lines(figures: Mapping[str, Any]) -> list[str]:
    """Return a run's figures for people."""
    tokens, cost = figures["training_tokens"], figures["cost_usd"]
    lines = [
        f"run        {figures['run']}: {figures['steps']:,} of {figures['examples']:,} steps, "
        f"{figures['retriever']} retriever, rounds {figures['max_rounds']}",
        f"accuracy   {percent(figures['accuracy'])} of all training predictions, "
        f"{percent(figures['accuracy_last_100'])} of the last {LAST}",
        f"memory     {figures['nodes']:,} lessons and {figures['edges']:,} edges learnt; at most "
        f"{figures['most_memory_nodes']} lessons, {figures['most_memory_tokens']:,} tokens shown",
        f"tokens     {tokens:,} for training; "
        + ("cost unknown" if cost is None else f"${cost:.4f} in all"),
    ]
    for each in figures["evaluations"]:
        where = "the empty memory" if each["memory"] == "empty" else f"step {each['step']}"
        failed = f", {each['failed']} failed" if each["failed"] else ""
        lines.append(f"{each['phase']:10} {percent(each['accuracy'])} at {where}{failed}")
    if figures["failures"]:
        lines.append(f"failures   {_counts(figures['failures'])}")
    if figures["discarded"]:
        lines.append(f"discarded  {_counts(figures['discarded'])}")
    return lines


def percent(share: float | None) -> str:
    """Return a share for people; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f} %"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _tokens(ledger: Iterable[Mapping[str, Any]], phase: str) -> dict[str, int]:
    calls = [call for call in ledger if call["phase"] == phase]
    kinds = (
        "prompt_tokens",
        "index_tokens",
        "memory_tokens",
        "rest_tokens",
        "completion_tokens",
        "cached_tokens",
    )
    return {kind: sum(call[kind] or 0 for call in calls) for kind in kinds} | {
        "requests": len(calls)
    }


def _role(ledger: Iterable[Mapping[str, Any]], role: str) -> dict[str, object]:
    calls = [call for call in ledger if call["role"] == role and call["phase"] == "train"]
    return {
        "requests": len(calls),
        "prompt_tokens": sum(call["prompt_tokens"] or 0 for call in calls),
        "completion_tokens": sum(call["completion_tokens"] or 0 for call in calls),
        "failed_requests": sum(call["outcome"] != "ok" for call in calls),
        "seconds": round(sum(call["seconds"] for call in calls), 3),
    }


def _active(ledger: Iterable[Mapping[str, Any]]) -> float:
    """Return the wall-clock seconds of all parts of a run, up to each one's last reply."""
    ends: dict[int, float] = {}
    for call in ledger:
        ends[call["part"]] = max(ends.get(call["part"], 0.0), call["elapsed_s"])
    return round(sum(ends.values()), 1)


def _failures(traces: Iterable[Trace]) -> dict[str, int]:
    failed = Counter(role for trace in traces for role in trace.failures)
    return dict(sorted(failed.items()))


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return dict(sorted(total.items()))
