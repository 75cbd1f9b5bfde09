"""The simulated model of the training benchmarks, and the tasks it knows the answers of.

The simulator is a program beside this checkout: deterministic, offline, behind an
OpenAI-compatible address. It never misreads a lesson, so nothing about real models follows
from its figures.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERBOSE = ("--chatter", "1", "--lesson-words", "80")
"""The simulator writes long lessons and a case note each step: the baseline's memory grows."""

TERSE: tuple[str, ...] = ()
"""Its defaults: short lessons, nothing else."""

COUNTER = "tiktoken/cl100k_base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Examples to learn from and to validate on.

    Attributes:
        name: ``formula`` or ``finer``.
        split: Whose split it is, for the table.
        train: Stream of training examples.
        val: Stream of validation examples.
        data: Folder that the simulator reads its answers from.
        scorer: memcli's scorer for it.
    """

    name: str
    split: str
    train: Path
    val: Path
    data: Path
    scorer: str


def formula(data: Path, folder: Path) -> Task:
    """Return the Formula task: ACE's own training and validation subsets."""
    return Task(
        name="formula",
        split="ACE's 500 train / 300 val",
        train=data / "formula_train_subset_500.jsonl",
        val=data / "formula_val_subset_300.jsonl",
        data=data,
        scorer="numeric",
    )


def finer(data: Path, folder: Path) -> Task:
    """Return the FiNER task, split by the script that comes with the data."""
    split = folder / "finer"
    subprocess.run([sys.executable, str(data / "make_finer_split.py"), str(split)], check=True)
    return Task(
        name="finer",
        split="350 / 150 out of ACE's 500 val (not the paper's split)",
        train=split / "finer_train_350.jsonl",
        val=split / "finer_val_150.jsonl",
        data=split,
        scorer="tags",
    )


def shortened(stream: Path, folder: Path, count: int | None) -> Path:
    """Return a stream with the first ``count`` lines of another; the same one for None."""
    if count is None:
        return stream
    lines = stream.read_text("utf-8").splitlines(keepends=True)[:count]
    target = folder / f"{stream.stem}-{count}.jsonl"
    target.write_text("".join(lines), "utf-8")
    return target


@contextmanager
def simulator(program: Path, data: Path, options: Sequence[str]) -> Iterator[str]:
    """Run the simulator on a free port and yield its address; it ends with the block.

    Raises:
        SystemExit: If it does not start, or cannot count cl100k_base tokens.
    """
    command = [sys.executable, str(program), "--data", str(data), "--port", "0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=_with_tokenizer()
    ) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[str]) -> str:
    first = process.stdout.readline() if process.stdout else ""
    words = first.split()
    if len(words) < 3 or f"tokens={COUNTER}" not in words:
        raise SystemExit(f"the simulator did not start as it should: {first or 'no word'}")
    return words[2]


def _with_tokenizer() -> dict[str, str]:
    """Return an environment in which tiktoken finds its file without a network."""
    spec = importlib.util.find_spec("litellm")
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise SystemExit("the litellm package, which carries the tokenizer file, is missing")
    folder = Path(places[0]) / "litellm_core_utils" / "tokenizers"
    return os.environ | {"TIKTOKEN_CACHE_DIR": str(folder)}


def server_totals(address: str) -> dict[str, Any]:
    """Return what the simulator itself counted: calls and tokens by task."""
    with urllib.request.urlopen(address.removesuffix("/v1") + "/stats", timeout=30) as reply:
        found: dict[str, Any] = json.load(reply)
    return found


def known_share(task: Task, train: Path, val: Path) -> float | None:
    """Return the share of validation tags that training shows at all; None where unknowable.

    A tag that no training example has cannot be learned: this is the ceiling of accuracy.
    """
    if task.scorer != "tags":
        return None
    seen = {tag for target in _targets(train) for tag in target}
    asked = [tag for target in _targets(val) for tag in target]
    return sum(tag in seen for tag in asked) / len(asked)


def _targets(stream: Path) -> Iterator[list[str]]:
    for line in stream.read_text("utf-8").splitlines():
        yield [tag.strip() for tag in str(json.loads(line)["target"]).split(",")]
