"""What training costs and reaches with each retriever, against the given simulator.

Each configuration is a ``memcli train`` process of its own against a fresh simulator; figures
come from the run's folder, the store's traces and the process's own account. Results are kept
after each run, so configurations can be measured one by one:

    python -m benchmarks.training --simllm SIMLLM.py --data DIR --only llm hybrid lexical all

``--steps 100`` makes a short run of the same; its files are named after it. ``--draw`` writes
table and curves anew from what is kept. The simulator never misreads a lesson: the figures
say what memcli sends and loads, nothing about real models.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cold import machine, without_folders
from benchmarks.run_figures import figures_of
from benchmarks.simulation import (
    TERSE,
    VERBOSE,
    Task,
    finer,
    formula,
    known_share,
    shortened,
    simulator,
)
from benchmarks.step_cost import NODES, step_cost
from benchmarks.training_report import COLUMNS, Figures, curves, markdown_table, row

RESULTS = Path(__file__).parent / "results"
FAULTS = "bad_json=0.10,fence=0.10,empty=0.05,ghost_id=0.05,http500=0.02"
TASKS = {"formula": formula, "finer": finer}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """One configuration.

    Attributes:
        name: Names it in the table and on the command line.
        retriever: memcli's retriever.
        task: Of `TASKS`.
        rounds: As the table says it.
        simulator: Options of the simulator.
        setting: Its setting as the table says it.
        options: Further options of ``memcli train``.
        eval_every: Training steps between validations; None leaves only those at both ends.
    """

    name: str
    retriever: str
    task: str = "formula"
    rounds: str = "1"
    simulator: tuple[str, ...] = VERBOSE
    setting: str = "verbose"
    options: tuple[str, ...] = ()
    eval_every: int | None = 100


SETUPS = (
    Setup(name="llm", retriever="llm"),
    Setup(name="hybrid", retriever="hybrid"),
    Setup(name="lexical", retriever="lexical"),
    Setup(name="all", retriever="all", eval_every=None),
    Setup(name="parity", retriever="llm", rounds="3 +", options=("--parity", "ace")),
    Setup(name="terse", retriever="llm", simulator=TERSE, setting="terse"),
    Setup(
        name="faults",
        retriever="llm",
        simulator=(*VERBOSE, "--faults", FAULTS),
        setting="verbose, faults",
    ),
    Setup(name="finer-llm", retriever="llm", task="finer"),
    Setup(name="finer-hybrid", retriever="hybrid", task="finer"),
    Setup(name="finer-lexical", retriever="lexical", task="finer"),
)


def prepared(name: str, options: argparse.Namespace, folder: Path) -> Task:
    """Return a task with its streams at the length asked for."""
    task = TASKS[name](options.data, folder)
    return Task(
        name=task.name,
        split=task.split,
        train=shortened(task.train, folder, options.steps),
        val=shortened(task.val, folder, options.val),
        data=task.data,
        scorer=task.scorer,
    )


def train_command(setup: Setup, task: Task, store: Path, address: str) -> list[str]:
    """Return the ``memcli train`` of a configuration."""
    every = setup.eval_every or 1_000_000
    return [
        *(sys.executable, "-m", "memcli", "train", str(task.train), "--store", str(store)),
        *("--model", "openai/sim", "--api-base", address, "--retriever", setup.retriever),
        *("--val", str(task.val), "--eval-every", str(every), "--scorer", task.scorer),
        *setup.options,
    ]


def run(setup: Setup, task: Task, program: Path, folder: Path) -> Figures:
    """Train one configuration in a new store and return its figures."""
    store = folder / f"store-{setup.name}"
    with simulator(program, task.data, setup.simulator) as address:
        cost = spent(train_command(setup, task, store, address))
    found = figures_of(store)
    return Figures(
        name=setup.name,
        task=task.name,
        split=task.split,
        retriever=setup.retriever,
        rounds=setup.rounds,
        setting=setup.setting,
        options=shlex.join(setup.options),
        ceiling=known_share(task, task.train, task.val),
        seconds=round(cost.wall_s, 1),
        cpu_ms=round(1_000 * cost.cpu_s / found["calls"], 2),
        **found,
    )


@dataclass(frozen=True, slots=True)
class Spent:
    """Wall-clock and CPU seconds of a finished process."""

    wall_s: float
    cpu_s: float


def spent(command: Sequence[str]) -> Spent:
    """Run a command to its end and return what it took.

    Raises:
        SystemExit: If it fails; its own words are on stderr.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MEMCLI_")}
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, env=environment | {"OPENAI_API_KEY": "none"}
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{shlex.join(command)} ended with {process.returncode}")
    return Spent(time.perf_counter() - start, used.ru_utime + used.ru_stime)


def document(kept: Mapping[str, Any], *, title: str) -> str:
    """Return the results as Markdown: the runs, then what a step costs memcli itself."""
    runs = [Figures.from_dict(each) for each in kept["runs"].values()]
    splits = sorted({f"{run.task}: {run.split}" for run in runs})
    parts = [
        f"# {title}\n",
        "Simulated model: it never misreads a lesson, so nothing about real models follows. "
        "Tokens are prompt and completion tokens of training calls, failed ones included. "
        "The reference is ACE's own code with 3 rounds, given. A `+` behind the rounds means "
        "one more prediction after each step. `growth`: prompt tokens a step at the end over "
        "those at step 125. `ceiling`: validation parts that training shows at all.\n",
        "Splits: " + "; ".join(splits) + ".\n",
        markdown_table(COLUMNS, map(row, runs)),
    ]
    if kept["step_cost"]:
        names = tuple(next(iter(kept["step_cost"].values())))
        cells = [
            (name, *(str(cost[each]) for each in names)) for name, cost in kept["step_cost"].items()
        ]
        parts.append(f"\n## A step at {NODES:,} lessons\n")
        parts.append(markdown_table(("retriever", *names), cells))
    return "\n".join(parts)


def load(path: Path) -> dict[str, Any]:
    """Return the results kept so far; empty ones where there are none."""
    if path.exists():
        kept: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return kept
    return {"runs": {}, "step_cost": {}}


def save(path: Path, kept: dict[str, Any]) -> None:
    """Write the results as JSON, as Markdown and as a picture."""
    command = shlex.join(map(without_folders, sys.argv[1:]))
    kept |= {"command": f"python -m benchmarks.training {command}", "machine": machine()}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    runs = {name: Figures.from_dict(each) for name, each in kept["runs"].items()}
    path.with_suffix(".md").write_text(document(kept, title="Training"), "utf-8")
    longest = max((run.steps for run in runs.values() if run.task == "formula"), default=0)
    path.with_suffix(".svg").write_text(curves(runs, steps=longest), "utf-8")


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simllm", type=Path, required=True, help="The simulator's program.")
    parser.add_argument("--data", type=Path, required=True, help="The finance data's folder.")
    names = [setup.name for setup in SETUPS]
    parser.add_argument("--only", nargs="*", choices=[*names, "step"], default=[*names, "step"])
    parser.add_argument("--steps", type=int, help="Training examples; all by default.")
    parser.add_argument("--val", type=int, help="Validation examples; all by default.")
    parser.add_argument("--out", type=Path, default=RESULTS / "training.json")
    parser.add_argument("--draw", action="store_true", help="Only table and curves, anew.")
    return parser.parse_args()


def main() -> None:
    """Measure what is asked for, keeping the results after each part."""
    options = arguments()
    kept = load(options.out)
    for setup in () if options.draw else SETUPS:
        if setup.name in options.only:
            with tempfile.TemporaryDirectory(prefix="memcli-training-") as name:
                task = prepared(setup.task, options, Path(name))
                figures = run(setup, task, options.simllm, Path(name))
            kept["runs"][setup.name] = figures.as_dict()
            save(options.out, kept)
            print(" ".join(f"{c}={v}" for c, v in zip(COLUMNS, row(figures), strict=True)))
    if "step" in options.only and not options.draw:
        with tempfile.TemporaryDirectory(prefix="memcli-training-") as name:
            task = formula(options.data, Path(name))
            for retriever in ("llm", "hybrid", "lexical"):
                cost = step_cost(task, retriever, options.simllm, Path(name))
                kept["step_cost"][retriever] = cost
                print(retriever, cost)
        save(options.out, kept)
    save(options.out, kept)


if __name__ == "__main__":
    main()
