"""A run's figures follow from its log and ledger; what failed is never an accuracy."""

from __future__ import annotations

from memcli.records.strategy import AppliedOperation, Loaded, Retrieval, Trace
from memcli.strategy.report import accuracy, best_step, report, report_lines, step_rows

CONFIG = {
    "run": "run-0001",
    "model": "m",
    "retriever": "llm",
    "max_rounds": 1,
    "examples": 3,
    "epochs": 1,
}


def trace(step, right, *operations, failures=(), loaded=()):
    return Trace(
        id=f"run-0001.{step}",
        kind="train",
        time="t",
        run="run-0001",
        step=step,
        right=right,
        total=None if right is None else 1,
        retrieval=Retrieval(
            retriever="llm",
            outcome="loaded",
            loaded=tuple(Loaded(id=each, depth=0) for each in loaded),
            memory_tokens=10 * len(loaded),
        ),
        operations=tuple(AppliedOperation(op=op, id="n") for op in operations),
        failures=dict.fromkeys(failures, "llm_reply_invalid"),
        discarded={"no_edge": step},
    )


def call(step, role="generate", *, phase="train", prompt=100, cost=0.5, outcome="ok", part=1):
    return {
        "step": step,
        "role": role,
        "phase": phase,
        "prompt_tokens": prompt,
        "index_tokens": 0,
        "memory_tokens": 0,
        "rest_tokens": prompt,
        "completion_tokens": None if prompt is None else 10,
        "cached_tokens": 0,
        "cost_usd": cost,
        "seconds": 0.1,
        "outcome": outcome,
        "part": part,
        "elapsed_s": float(step),
    }


TRACES = [
    trace(1, 0, "ADD", "ADD_EDGE"),
    trace(2, None, failures=("generate",)),
    trace(3, 1, "ADD", "REMOVE", loaded=("n1", "n2")),
]
LEDGER = [
    call(1),
    call(1, "reflect"),
    call(2, prompt=None, cost=None, outcome="status_500"),
    call(2, outcome="misfit", part=2),
    call(3, part=2),
    call(3, phase="validation", part=2),
]


def test_steps_carry_tokens_scores_and_the_growth_of_the_graph():
    rows = step_rows(TRACES, LEDGER)
    assert [(r.step, r.right, r.prompt_tokens, r.completion_tokens) for r in rows] == [
        (1, 0, 200, 20),
        (2, None, 100, 10),
        (3, 1, 100, 10),
    ]
    assert [(r.nodes, r.edges) for r in rows] == [(1, 1), (1, 1), (1, 1)]
    assert (rows[2].memory_nodes, rows[2].memory_tokens) == (2, 20)


def test_a_failed_prediction_is_no_score():
    rows = step_rows(TRACES, LEDGER)
    assert accuracy(rows) == 0.5
    assert accuracy(rows[1:2]) is None
    assert accuracy(rows, last=1) == 1.0


def test_the_report_counts_failures_apart_and_sums_over_parts():
    found = report(CONFIG, TRACES, LEDGER, [])
    assert found["training_tokens"] == 440
    assert found["failures"] == {"generate": 1}
    assert found["outcomes"] == {"misfit": 1, "ok": 4, "status_500": 1}
    assert found["discarded"] == {"no_edge": 6}
    assert found["active_seconds"] == 5.0
    assert found["cost_usd"] == 2.5
    assert found["most_memory_nodes"] == 2
    text = "\n".join(report_lines(found))
    assert "3 of 3 steps" in text
    assert "generate 1" in text


def test_one_unknown_price_makes_the_sum_unknown():
    found = report(CONFIG, TRACES, [*LEDGER, call(3, cost=None)], [])
    assert found["cost_usd"] is None
    assert "cost unknown" in "\n".join(report_lines(found))


def test_the_earliest_best_validation_wins():
    def validated(step, right, phase="validation"):
        return {"phase": phase, "step": step, "right": right, "total": 10}

    found = [validated(0, 1), validated(100, 9), validated(200, 9), validated(300, 8)]
    assert best_step([*found, validated(400, 10, "test")]) == 100
    assert best_step([]) is None
    assert best_step([{"phase": "validation", "step": 0, "right": 0, "total": 0}]) is None
