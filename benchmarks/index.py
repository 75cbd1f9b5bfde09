"""What ingest and search cost as a store grows; writes ``benchmarks/results/index.json``.

For each size: seconds, turns/s and peak memory of a whole ``memcli ingest`` without annotation,
bytes on disk, the whole process that appends a 20-turn session (beside one that reads nothing
new, which is the cost of starting), and searches in this process, cold and warm. A peak is never
below that of this process, from which the other one starts. Run on a quiet
machine: ``python -m benchmarks.index --sizes 10000x12 100000x12 1000000x12 10000x200``.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import orjson

from benchmarks.generate import Talk, questions, write_locomo
from memcli.budgets import count_tokens_batch
from memcli.search.opening import open_index
from memcli.search.tokens import tokens
from memcli.store.store import Store

RESULTS = Path(__file__).parent / "results" / "index.json"
QUERIES = 100
REPEATS = 3


def timed_ingest(store: Path, file: Path) -> dict[str, float]:
    """Run ``memcli ingest`` in a process of its own; return seconds, CPU seconds and peak MB."""
    command = [sys.executable, "-m", "memcli", "ingest", str(file), "--annotator", "none"]
    start = time.perf_counter()
    with subprocess.Popen(
        [*command, "--store", str(store)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return {
        "seconds": round(time.perf_counter() - start, 3),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
        "peak_mb": round(usage.ru_maxrss / 1024),
    }


def measure(turns: int, words: int, keep: Path | None) -> dict[str, object]:
    """Build a store of a size and return its figures."""
    with tempfile.TemporaryDirectory(prefix="memcli-bench-") as folder:
        place = Path(folder)
        store = keep / f"{turns}x{words}" if keep else place / "store"
        export = place / "export.json"
        write_locomo(export, Talk(turns=turns, words=words))
        built = timed_ingest(store, export)
        searched = search(store)
        size = sum(file.stat().st_size for file in (store / "derived").rglob("*"))
        return {
            "turns": turns,
            "words": words,
            "ingest": built | {"turns_per_second": round(turns / built["seconds"])},
            "export_bytes": export.stat().st_size,
            "turns_bytes": (store / "turns.jsonl").stat().st_size,
            "index_bytes_per_turn": round(size / turns),
            "append_20_turns": appends(store, place),
            "search_ms": searched,
        }


def appends(store: Path, place: Path) -> dict[str, object]:
    """Time sessions of 20 turns appended to a conversation, and the same again (nothing new)."""
    more, again = [], []
    for number in range(REPEATS):
        file = place / f"more{number}.json"
        first = 1_000 + number
        write_locomo(file, Talk(turns=20, sessions=1, first=first, seed=first))
        more.append(timed_ingest(store, file))
        again.append(timed_ingest(store, file))
    return {
        "new": min(more, key=lambda run: run["seconds"]),
        "nothing_new": min(again, key=lambda run: run["seconds"]),
    }


def search(store: Path) -> dict[str, float]:
    """Return milliseconds of opening, of the first query and of the median and slowest later."""
    start = time.perf_counter()
    index = open_index(Store.open(store).snapshot(), count=count_tokens_batch).index
    opened = time.perf_counter() - start
    times = []
    for question in questions(QUERIES):
        weights = dict.fromkeys(tokens(question), 1.0)
        start = time.perf_counter()
        index.top(weights, 100)
        times.append(time.perf_counter() - start)
    found = {
        "open": opened,
        "first": times[0],
        "median": statistics.median(times[1:]),
        "slowest": max(times[1:]),
    }
    return {name: round(1_000 * seconds, 2) for name, seconds in found.items()}


def machine() -> dict[str, object]:
    """Return what the figures depend on."""
    ram = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return {
        "cores": os.cpu_count(),
        "ram_gb": round(ram / 1e9),
        "python": platform.python_version(),
        "commit": commit,
        "load_average": round(os.getloadavg()[0], 2),
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python -m benchmarks.index " + " ".join(sys.argv[1:]),
    }


def main() -> None:
    """Measure each size and write the results."""
    parser = argparse.ArgumentParser(description="Measure ingest and search by store size.")
    sizes = ["10000x12", "100000x12", "1000000x12", "10000x200", "100000x200"]
    parser.add_argument("--sizes", nargs="+", default=sizes, metavar="TURNSxWORDS")
    parser.add_argument("--keep", type=Path, help="Keep the stores in this folder.")
    given = parser.parse_args()
    results: dict[str, object] = {"machine": machine()}
    rows = []
    for size in given.sizes:
        turns, words = map(int, size.split("x"))
        rows.append(measure(turns, words, given.keep))
        print(orjson.dumps(rows[-1]).decode())
        results["sizes"] = rows
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_bytes(orjson.dumps(results, option=orjson.OPT_INDENT_2) + b"\n")
    print(f"peak of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB")


if __name__ == "__main__":
    main()
