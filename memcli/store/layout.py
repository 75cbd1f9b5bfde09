"""Names inside a store directory, and the schema version they belong to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

SCHEMA_VERSION: Final = 1
MANIFEST: Final = "store.json"
KEPT_MANIFESTS: Final = 8
"""Earlier manifests kept beside the newest one, and steps of undo."""

TEMPORARY: Final = ".tmp"
"""Suffix of a file that is being written; never named by a manifest."""

LOCK: Final = "store.lock"
HOLDER: Final = "writer.json"
DERIVED: Final = "derived"
RUNS: Final = "runs"
CHECKPOINTS: Final = "checkpoints"
RECOVERED: Final = "recovered"
FOLDERS: Final = (DERIVED, RUNS, CHECKPOINTS, RECOVERED)

KINDS: Final = ("turns", "nodes", "edges", "traces", "index")
IDENTITY: Final[Mapping[str, tuple[str, ...]]] = {
    "turns": ("id",),
    "nodes": ("id",),
    "edges": ("source", "target"),
    "traces": (),
    "index": ("id",),
}
"""Fields that name a record: the newest of equal ones counts. Traces are a log: all count."""

_GENERATION = re.compile(rf"({'|'.join(KINDS)})(?:\.g([1-9][0-9]*))?\.jsonl")
_CHECKPOINT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def earlier_manifest(number: int) -> str:
    """Return the name of the manifest ``number`` commits before the newest (1 to 8)."""
    return f"{MANIFEST}.{number}"


def generation_name(kind: str, generation: int) -> str:
    """Return the file name of a kind's generation: ``turns.jsonl``, then ``turns.g1.jsonl``."""
    return f"{kind}.jsonl" if generation == 0 else f"{kind}.g{generation}.jsonl"


def parse_generation(name: str) -> tuple[str, int] | None:
    """Return (kind, generation) of a canonical file name, or None for any other name."""
    match = _GENERATION.fullmatch(name)
    return (match[1], int(match[2] or 0)) if match else None


def is_checkpoint_name(name: str) -> bool:
    """Return whether a checkpoint may be called so: it becomes a file name."""
    return _CHECKPOINT_NAME.fullmatch(name) is not None


def is_entry_name(kind: str, name: str) -> bool:
    """Return whether a manifest may name this file for a kind: nothing outside the store."""
    parsed = parse_generation(name)
    if parsed is not None:
        return parsed[0] == kind
    owner = name.removeprefix(f"{CHECKPOINTS}/").removesuffix(f".{kind}.jsonl")
    return name == f"{CHECKPOINTS}/{owner}.{kind}.jsonl" and is_checkpoint_name(owner)


def is_ours(name: str) -> bool:
    """Return whether an entry of the directory is one that memcli makes."""
    fixed = {MANIFEST, LOCK, HOLDER, *FOLDERS}
    fixed |= {earlier_manifest(n) for n in range(1, KEPT_MANIFESTS + 1)}
    plain = name.removesuffix(TEMPORARY)
    return plain in fixed or parse_generation(plain) is not None
