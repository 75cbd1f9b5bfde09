"""What huge exports cost to read; writes ``benchmarks/results/importers.json``.

Invents a ChatGPT export, a Claude Code log and a WhatsApp chat of the sizes asked for, runs
``memcli ingest --annotator none`` on each as a process of its own, and records peak memory,
MB/s and turns/s; then a second ingest of the same file, which must add nothing. The files are
removed. Run on a quiet machine: ``python -m benchmarks.importers --only chatgpt``.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count, islice
from pathlib import Path

import orjson

from benchmarks.generate import vocabulary
from benchmarks.index import machine, timed_ingest
from memcli.store.store import Store

RESULTS = Path(__file__).parent / "results" / "importers.json"
_START = datetime(2024, 1, 2, 9, tzinfo=UTC)
_MESSAGES = 40
_POOL = 20_000


def sentences(seed: int = 1) -> Iterator[str]:
    """Yield invented texts of 10 to 60 words without end, drawn from a pool."""
    rng = random.Random(seed)
    words, weights = vocabulary()
    pool = [
        " ".join(rng.choices(words, cum_weights=weights, k=rng.randint(5, 30)))
        for _ in range(_POOL)
    ]
    while True:
        yield f"{rng.choice(pool)}. {rng.choice(pool)}."


def _ids(seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    while True:
        yield str(uuid.UUID(int=rng.getrandbits(128), version=4))


def write_chatgpt(path: Path, size: int) -> None:
    """Write an export of at least ``size`` bytes: conversations of 40 messages, one branch each."""
    texts, ids = sentences(), _ids(2)
    with path.open("wb") as file:
        file.write(b"[")
        for number in count():
            file.write(b",\n" if number else b"")
            file.write(orjson.dumps(_conversation(number, texts, ids)))
            if file.tell() >= size:
                break
        file.write(b"]\n")


def _conversation(number: int, texts: Iterator[str], ids: Iterator[str]) -> dict[str, object]:
    keys = list(islice(ids, _MESSAGES))
    start = (_START + timedelta(hours=number)).timestamp()
    nodes: dict[str, object] = {}
    for place, key in enumerate(keys):
        parent = keys[max(0, place - 1)] if place != 5 else keys[3]  # message 4 was regenerated
        nodes[key] = {
            "id": key,
            "parent": parent if place else None,
            "children": [keys[n] for n in range(place + 1, min(place + 2, _MESSAGES))],
            "message": {
                "id": key,
                "author": {"role": "assistant" if place % 2 else "user"},
                "create_time": start + 60 * place,
                "content": {"content_type": "text", "parts": [next(texts)]},
            },
        }
    return {
        "conversation_id": next(ids),
        "title": f"Talk {number}",
        "create_time": start,
        "current_node": keys[-1],
        "mapping": nodes,
    }


def write_claude_code(path: Path, size: int) -> None:
    """Write one session's log of at least ``size`` bytes: words, calls and long results."""
    texts, ids = sentences(), _ids(3)
    session, parent = next(ids), None
    with path.open("wb") as file:
        for number in count():
            key = next(ids)
            file.write(orjson.dumps(_record(number, key, parent, session, texts)) + b"\n")
            parent = key
            if file.tell() >= size:
                return


def _record(
    number: int, key: str, parent: str | None, session: str, texts: Iterator[str]
) -> dict[str, object]:
    kind = "user" if number % 4 in (0, 3) else "assistant"
    content: object = next(texts)
    if number % 4 == 2:
        content = [{"type": "tool_use", "id": key, "name": "Bash", "input": {"cmd": next(texts)}}]
    if number % 4 == 3:
        output = "\n".join(islice(texts, 20))
        content = [{"type": "tool_result", "tool_use_id": parent, "content": output}]
    at = _START + timedelta(seconds=7 * number)
    return {
        "type": kind,
        "uuid": key,
        "parentUuid": parent,
        "sessionId": session,
        "timestamp": at.isoformat().replace("+00:00", "Z"),
        "cwd": "/home/dev/kiln",
        "version": "2.0.1",
        "message": {"role": kind, "content": content},
    }


def write_whatsapp(path: Path, lines: int) -> None:
    """Write one chat of that many lines, as Android writes it."""
    texts, people = sentences(), ("Ana Lund", "Bo", "~ Carla", "+47 900 00 000")
    rng = random.Random(4)
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            at = _START + timedelta(seconds=97 * number)
            stamp = f"{at:%d/%m/%Y, %H:%M}"
            file.write(f"{stamp} - {rng.choice(people)}: {next(texts)}\n")


SOURCES: Mapping[str, tuple[str, Callable[[Path], None]]] = {
    "chatgpt": ("conversations.json", partial(write_chatgpt, size=500_000_000)),
    "claude_code": ("session.jsonl", partial(write_claude_code, size=1_000_000_000)),
    "whatsapp": ("chat.txt", partial(write_whatsapp, lines=1_000_000)),
}


def measure(name: str) -> dict[str, object]:
    """Write a source, ingest it twice, and return the figures."""
    file_name, write = SOURCES[name]
    with tempfile.TemporaryDirectory(prefix="memcli-bench-") as folder:
        file, store = Path(folder) / file_name, Path(folder) / "store"
        write(file)
        size = file.stat().st_size
        first = timed_ingest(store, file)
        turns = Store.open(store).snapshot().records("turns")
        again = timed_ingest(store, file)
        added = Store.open(store).snapshot().records("turns") - turns
    return {
        "format": name,
        "bytes": size,
        "turns": turns,
        "first": first
        | {
            "mb_per_second": round(size / 1e6 / first["seconds"], 1),
            "turns_per_second": round(turns / first["seconds"]),
        },
        "again": again | {"added": added},
    }


def main() -> None:
    """Measure each source and keep its figures beside the others'."""
    parser = argparse.ArgumentParser(description="Measure reading huge exports.")
    parser.add_argument("--only", nargs="+", choices=SOURCES, default=list(SOURCES))
    given = parser.parse_args()
    kept = orjson.loads(RESULTS.read_bytes()) if RESULTS.is_file() else {}
    for name in given.only:
        found = measure(name)
        print(orjson.dumps(found).decode(), flush=True)
        kept[name] = found | {"machine": machine()}
        RESULTS.write_bytes(orjson.dumps(kept, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    main()
