"""What a training step costs memcli itself at a thousand lessons: CPU and syncs.

The same store is trained twice as a whole process, by a few steps and by many; the difference,
divided by the steps, leaves start and end of the process out. The CPU is all of memcli's own:
prompts, HTTP, search, graph, ledger and commit; the model is another process.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.simulation import VERBOSE, Task, shortened, simulator
from memcli.budgets import ENCODING, count_tokens
from memcli.records.strategy import SECTIONS, IndexLine, Provenance, StrategyEdge, StrategyNode
from memcli.records.strategy_codec import edge_to_line, index_line_to_line, node_to_line
from memcli.store.store import Store
from memcli.strategy.playbook import lesson_line

NODES = 1_000
FEW, MANY = 10, 110
NOW = datetime(2026, 1, 1, tzinfo=UTC)
_WORDS_A_LESSON = 80
_WORDS = 4_000


def populate(path: Path, *, count: int = NODES, seed: int = 1) -> None:
    """Create a store of so many lessons, each with two out-edges."""
    rng = random.Random(seed)
    words = _vocabulary(rng)
    ids = [f"n{number:05}" for number in range(1, count + 1)]
    with Store.create(path, now=NOW).writer(now=NOW) as writer:
        for node in _nodes(ids, words, rng):
            writer.append("nodes", node_to_line(node))
            entry = IndexLine(id=node.id, key=node.key, section=node.section)
            writer.append("index", index_line_to_line(entry))
        for source in ids:
            for target in rng.sample(ids, 2):
                if source != target:
                    edge = StrategyEdge(source=source, target=target, s=rng.randint(0, 4) * 0.9)
                    writer.append("edges", edge_to_line(edge))
        writer.commit(command="train")


def _vocabulary(rng: random.Random) -> list[str]:
    """Return made-up words, all different."""
    syllables = [first + vowel for first in "bdfgklmnprst" for vowel in "aeiou"]
    return sorted({"".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(_WORDS)})


def _nodes(ids: Sequence[str], words: Sequence[str], rng: random.Random) -> Iterator[StrategyNode]:
    shares = [1 / (10 + place) for place in range(len(words))]  # few words are in most texts
    for place, node_id in enumerate(ids):
        content = " ".join(rng.choices(words, shares, k=_WORDS_A_LESSON))
        yield StrategyNode(
            id=node_id,
            section=SECTIONS[place % len(SECTIONS)],
            key=" ".join(rng.choices(words, k=3)),
            content=content,
            provenance=Provenance(origin="hand"),
            tokens=count_tokens(lesson_line(node_id, content)),
            tokenizer=ENCODING,
        )


def step_cost(task: Task, retriever: str, program: Path, folder: Path) -> dict[str, float]:
    """Return CPU milliseconds and syncs a training step at `NODES` lessons."""
    source = folder / "thousand"
    if not source.exists():
        populate(source)
    few, many = (_train(task, retriever, program, folder, source, steps) for steps in (FEW, MANY))
    steps = MANY - FEW
    return {
        "nodes": NODES,
        "steps": steps,
        "cpu_ms": round(1_000 * (many["cpu_s"] - few["cpu_s"]) / steps, 2),
        "http_ms_of_it": round(1_000 * (many["http_s"] - few["http_s"]) / steps, 2),
        "fsyncs": round((many["fsync"] - few["fsync"]) / steps, 2),
        "folder_fsyncs": round((many["fsync_dir"] - few["fsync_dir"]) / steps, 2),
    }


def _train(
    task: Task, retriever: str, program: Path, folder: Path, source: Path, steps: int
) -> dict[str, float]:
    store, counted = folder / f"cost-{retriever}-{steps}", folder / "counted.json"
    shutil.copytree(source, store)
    stream = shortened(task.train, folder, steps)
    with simulator(program, task.data, VERBOSE) as address:
        subprocess.run(
            [
                *(sys.executable, "-m", "benchmarks.counting", str(counted)),
                *("train", str(stream), "--store", str(store), "--retriever", retriever),
                *("--model", "openai/sim", "--api-base", address, "--scorer", task.scorer),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"OPENAI_API_KEY": "none"},
            cwd=Path(__file__).parents[1],
        )
    found: dict[str, float] = json.loads(counted.read_text("utf-8"))
    return found
