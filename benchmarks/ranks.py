"""What each option beyond the paper changes, against the default: the same examples, one run each.

Ranking of out-edges by UCB and by Thompson sampling, the near-duplicate check before ADD and
the whole graph while it fits; all are off by default. A shorter Formula run in the simulator's
verbose setting, where case notes crowd the memory:

    python -m benchmarks.ranks --simllm SIMLLM.py --data DIR

Writes ``results/ranks.json`` and ``results/ranks.md``.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cold import machine, without_folders
from benchmarks.training import RESULTS, Setup, prepared, run
from benchmarks.training_report import Figures, markdown_table

RETRIEVER = "lexical"
"""It loads the most edges of all, so ranking has the most to decide."""

VARIANTS = (
    Setup(name="default", retriever=RETRIEVER, eval_every=None),
    Setup(name="ucb", retriever=RETRIEVER, eval_every=None, options=("--rank", "ucb")),
    Setup(name="thompson", retriever=RETRIEVER, eval_every=None, options=("--rank", "thompson")),
    Setup(
        name="thompson, other seed",
        retriever=RETRIEVER,
        eval_every=None,
        options=("--rank", "thompson", "--seed", "1"),
    ),
    Setup(
        name="near duplicates", retriever=RETRIEVER, eval_every=None, options=("--near-duplicates",)
    ),
    Setup(name="whole graph", retriever=RETRIEVER, eval_every=None, options=("--whole-graph",)),
    Setup(name="whole index", retriever=RETRIEVER, eval_every=None, options=("--whole-index",)),
)

COLUMNS = (
    *("variant", "options", "steps", "tokens", "to default", "accuracy", "last 100"),
    *("validation", "nodes", "edges", "labels", "mem. nodes", "mem. tokens"),
)


def row(figures: Figures, default: Figures) -> tuple[str, ...]:
    """Return the cells of a variant; fits `COLUMNS`."""
    last = figures.validation[-1][1] if figures.validation else None
    return (
        figures.name,
        figures.options,
        str(figures.steps),
        f"{figures.tokens:,}",
        f"{100 * (figures.tokens / default.tokens - 1):+.1f} %",
        f"{100 * figures.accuracy:.1f} %",
        f"{100 * figures.last_100:.1f} %",
        "–" if last is None else f"{100 * last:.1f} %",
        str(figures.nodes),
        str(figures.edges),
        str(figures.labels),
        str(figures.most_nodes),
        f"{figures.most_tokens:,}",
    )


def document(runs: Sequence[Figures]) -> str:
    """Return the results as Markdown; the first run is the default."""
    first = runs[0]
    return (
        "# Options beyond the paper\n\n"
        f"Formula, {first.steps} training examples, {first.setting} setting, {first.retriever} "
        "retriever, one round, simulated model. All are off by default.\n\n"
        + markdown_table(COLUMNS, (row(each, first) for each in runs))
    )


def main() -> None:
    """Run every variant and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simllm", type=Path, required=True, help="The simulator's program.")
    parser.add_argument("--data", type=Path, required=True, help="The finance data's folder.")
    parser.add_argument("--steps", type=int, default=200, help="Training examples.")
    parser.add_argument("--val", type=int, default=100, help="Validation examples.")
    parser.add_argument("--out", type=Path, default=RESULTS / "ranks.json")
    options = parser.parse_args()
    runs = []
    for setup in VARIANTS:
        with tempfile.TemporaryDirectory(prefix="memcli-ranks-") as name:
            task = prepared(setup.task, options, Path(name))
            runs.append(run(setup, task, options.simllm, Path(name)))
        print(dict(zip(COLUMNS, row(runs[-1], runs[0]), strict=True)))
    command = shlex.join(map(without_folders, sys.argv[1:]))
    kept = {
        "command": f"python -m benchmarks.ranks {command}",
        "machine": machine(),
        "runs": {each.name: each.as_dict() for each in runs},
    }
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    options.out.with_suffix(".md").write_text(document(runs), "utf-8")


if __name__ == "__main__":
    main()
