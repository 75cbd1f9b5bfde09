"""Whole cold processes: what a shell script or an agent's hook pays for each call.

Times ``memcli --help`` and ``memcli export`` on given stores beside a bare Typer app, in turns
(A B C A B C …), so that a change of the machine's speed meets all of them alike. The ratio is
taken round by round. Run it with an installed memcli, not an editable one:

    python -m benchmarks.cold --memcli .venv/bin/memcli --store 10k=DIR --store 100k=DIR
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BARE = '''
import typer

app = typer.Typer()


@app.command()
def hello(name: str = "you") -> None:
    """Say hello."""
    typer.echo(name)


@app.command()
def other() -> None:
    """Do nothing."""


app()
'''


@dataclass(frozen=True, slots=True)
class Cost:
    """One finished process: seconds on the wall, CPU seconds, peak memory in MiB."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def run_once(command: Sequence[str]) -> Cost:
    """Run a command to its end and return what it cost."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measure(commands: dict[str, list[str]], rounds: int) -> dict[str, list[Cost]]:
    """Run all commands in turns; the first round only warms the caches."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for round_number in range(rounds + 1):
        for name, command in commands.items():
            cost = run_once(command)
            if round_number:
                costs[name].append(cost)
    return costs


def summary(costs: Sequence[Cost], base: Sequence[Cost]) -> dict[str, float]:
    """Return medians, and the median of the round-by-round ratios to the base."""
    walls = [cost.wall_s for cost in costs]
    ratios = [mine.wall_s / other.wall_s for mine, other in zip(costs, base, strict=True)]
    return {
        "wall_s": round(statistics.median(walls), 4),
        "wall_s_min": round(min(walls), 4),
        "wall_s_max": round(max(walls), 4),
        "cpu_s": round(statistics.median(cost.cpu_s for cost in costs), 4),
        "peak_mib": round(max(cost.peak_mib for cost in costs), 1),
        "ratio_to_bare": round(statistics.median(ratios), 3),
    }


def ingest_once(memcli: str, file: Path, annotator: str) -> dict[str, float]:
    """Return what a first ingest of a file into a new store costs, once."""
    with tempfile.TemporaryDirectory() as folder:
        command = [memcli, "ingest", str(file), "-s", f"{folder}/store", "--annotator", annotator]
        cost = run_once(command)
    return {
        "wall_s": round(cost.wall_s, 2),
        "cpu_s": round(cost.cpu_s, 2),
        "peak_mib": round(cost.peak_mib, 1),
    }


def without_folders(argument: str) -> str:
    """Return an argument without its folders: ``100k=/x/y/100k`` → ``100k=100k``."""
    name, mark, path = argument.rpartition("=")
    return name + mark + (Path(path).name if path.startswith("/") else path)


def machine() -> dict[str, object]:
    """Return what the figures depend on."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(pages * size / 2**30),
        "system": platform.system(),
        "processor": platform.machine(),
        "python": platform.python_version(),
    }


def main() -> None:
    """Measure, print a table and write the results file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memcli", default="memcli")
    parser.add_argument("--python", default=sys.executable, help="runs the bare Typer app")
    parser.add_argument("--store", action="append", default=[], metavar="NAME=DIR")
    parser.add_argument("--question", action="append", default=[])
    parser.add_argument("--ingest", action="append", default=[], type=Path, metavar="FILE")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    questions = options.question or ["What did they say about the boat last summer?"]
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE)
        commands = {
            "bare --help": [options.python, str(bare), "--help"],
            "bare command": [options.python, str(bare), "hello"],
            "memcli --help": [options.memcli, "--help"],
        }
        for named in options.store:
            name, _, store = named.partition("=")
            for question in questions:
                commands[f"export {name}: {question}"] = [
                    options.memcli, "export", question, "-s", store, "--as-of", "2024-10-01",
                ]  # fmt: skip
        costs = measure(commands, options.rounds)
    rows = {
        name: summary(each, costs["bare --help" if name.endswith("--help") else "bare command"])
        for name, each in costs.items()
    }
    for file in options.ingest:
        for annotator in ("none", "rules", "spacy"):
            rows[f"ingest {file.name}, annotator {annotator}"] = ingest_once(
                options.memcli, file, annotator
            )
    result = {
        "command": shlex.join(
            ["python", "-m", "benchmarks.cold", *map(without_folders, sys.argv[1:])]
        ),
        "rows": rows,
    }
    result |= {"machine": machine(), "rounds": options.rounds}
    for name, row in rows.items():
        ratio = f"{row['ratio_to_bare']:5.2f} x" if "ratio_to_bare" in row else " " * 7
        print(f"{row['wall_s']:8.3f} s  {ratio}  {row['peak_mib']:6.0f} MiB  {name}")
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
