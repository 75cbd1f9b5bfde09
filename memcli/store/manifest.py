"""The manifest: what is committed, and what undo returns to.

``store.json`` is one line of JSON with a hash of itself, replaced in one step by each commit.
The eight before it are kept as ``store.json.1`` (newest) to ``store.json.8``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType
from typing import Any

from memcli.errors import SchemaVersionError, StoreDamaged, StoreError, StoreMissing
from memcli.records.codec import dumps, loads
from memcli.store.disk import Disk, write_atomically
from memcli.store.jsonl import Tally, tail_hash
from memcli.store.layout import (
    KEPT_MANIFESTS,
    KINDS,
    MANIFEST,
    SCHEMA_VERSION,
    earlier_manifest,
    is_entry_name,
)

_CHECK = "check"
_REPAIR = "run `memcli verify` to see every finding, `memcli verify --repair` to go back"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """What is committed of one file.

    Attributes:
        name: File name, relative to the store.
        bytes: Committed length.
        records: Committed lines, superseded ones included.
        tail: Hex blake2b-128 of the last 4 KiB of the committed bytes.
        crc: CRC-32 of all committed bytes; only `verify` reads that much.
        epoch: The commit that began this content: the first one, or the undo, compaction or
            repair that last took something away. Under one epoch a file only grows, so
            (epoch, bytes) names its content and derived data can be checked against it.
    """

    name: str
    bytes: int
    records: int
    tail: str
    crc: int
    epoch: int

    @classmethod
    def of(cls, tally: Tally, *, name: str, epoch: int) -> FileEntry:
        """Return the entry for a file with this content."""
        return cls(
            name=name,
            bytes=tally.length,
            records=tally.records,
            tail=tail_hash(tally.tail),
            crc=tally.crc,
            epoch=epoch,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The state before a batch: what undo returns to.

    Attributes:
        command: The command that undo takes back.
        committed_at: When its first commit was made, RFC 3339.
        settings: The settings before it.
        files: The file entries before it.
    """

    command: str
    committed_at: str
    settings: Mapping[str, object]
    files: Mapping[str, FileEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One committed state of a store.

    Attributes:
        schema_version: Version of the on-disk format.
        commit: Grows with each commit and is never used twice, undo included.
        committed_at: RFC 3339 in UTC.
        command: What wrote it: ``init``, ``ingest``, ``add``, ``undo`` …
        batch: Commits in a row with the same batch id are one step of undo; None is its own.
        settings: The store's settings.
        files: Entry by kind, in the order of `KINDS`; a kind without one has no record.
        before: What undo returns to, newest first, at most `KEPT_MANIFESTS`.
        extra: Fields of a newer memcli, kept through a rewrite.
    """

    commit: int
    committed_at: str
    command: str
    batch: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    files: Mapping[str, FileEntry] = field(default_factory=dict)
    before: tuple[Before, ...] = ()
    schema_version: int = SCHEMA_VERSION
    extra: Mapping[str, object] = field(default_factory=dict)

    def next(
        self,
        *,
        command: str,
        now: datetime,
        batch: str | None,
        settings: Mapping[str, object],
        files: Mapping[str, FileEntry],
    ) -> Manifest:
        """Return the manifest of the commit after this one, undo point included."""
        stamp = timestamp(now)
        point = Before(
            command=command, committed_at=stamp, settings=self.settings, files=self.files
        )
        goes_on = batch is not None and batch == self.batch
        return replace(
            self,
            commit=self.commit + 1,
            committed_at=stamp,
            command=command,
            batch=batch,
            settings=settings,
            files=files,
            before=self.before if goes_on else (point, *self.before)[:KEPT_MANIFESTS],
        )


_FIELDS = frozenset(f.name for f in fields(Manifest)) - {"extra"}


def timestamp(now: datetime) -> str:
    """Return an aware datetime as RFC 3339 in UTC, to the second."""
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def encode(manifest: Manifest) -> bytes:
    """Return the manifest's line, its hash included."""
    data = {
        **manifest.extra,
        **{name: getattr(manifest, name) for name in _FIELDS - {"files", "before"}},
        "files": _files_to_dict(manifest.files),
        "before": [_before_to_dict(point) for point in manifest.before],
    }
    return dumps({**data, _CHECK: _hash(data)}) + b"\n"


def decode(line: bytes, path: Path, *, is_sealed: bool = True) -> Manifest:
    """Return the manifest of a line that `encode` wrote.

    Args:
        line: The content of a manifest file.
        path: Its name for error messages.
        is_sealed: Whether it must still have the hash it was written with.

    Raises:
        SchemaVersionError: If a newer memcli wrote it.
        StoreDamaged: If it is anything else than what was written.
    """
    try:
        data = loads(line)
        version = data["schema_version"]
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise SchemaVersionError(
                f"{path} has schema version {version}; this memcli reads up to {SCHEMA_VERSION}",
                hint="update memcli: pip install --upgrade memcli",
            )
        if data.pop(_CHECK) != _hash(data) and is_sealed:
            raise StoreDamaged(f"{path} was edited: its content and its hash differ", hint=_REPAIR)
        return _manifest_from_dict(data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreDamaged(f"{path} is not a manifest ({error!r})", hint=_REPAIR) from error


def read_manifest(path: Path) -> Manifest:
    """Return the newest manifest of the store directory ``path``.

    Raises:
        StoreMissing: If there is no store.
        StoreDamaged: If the manifest was edited, or is gone while earlier ones are there.
        SchemaVersionError: If a newer memcli wrote it.
        StoreError: If it cannot be read.
    """
    file = path / MANIFEST
    try:
        return decode(file.read_bytes(), file)
    except (FileNotFoundError, NotADirectoryError):
        raise _no_manifest(path) from None
    except OSError as error:
        raise StoreError(f"cannot read {file}: {error.strerror}") from error


def _no_manifest(path: Path) -> StoreError:
    if earlier_files(path):
        return StoreDamaged(f"{path / MANIFEST} is missing; earlier ones are there", hint=_REPAIR)
    what = "is a file, not a store" if path.is_file() else "holds no store"
    return StoreMissing(f"{path} {what}", hint="`memcli init` or `memcli ingest` creates one")


def earlier_files(path: Path) -> list[Path]:
    """Return the earlier manifests that exist, newest first."""
    names = (path / earlier_manifest(n) for n in range(1, KEPT_MANIFESTS + 1))
    return [file for file in names if file.is_file()]


def save(disk: Disk, path: Path, manifest: Manifest) -> None:
    """Make ``manifest`` the newest one in a single step, keeping the one before.

    At every moment ``store.json`` is a whole manifest, the old or the new one.
    """
    newest = path / MANIFEST
    if newest.is_file():
        _rotate(disk, path, newest.read_bytes())
    write_atomically(disk, newest, encode(manifest))
    disk.fsync_dir(path)


def _rotate(disk: Disk, path: Path, newest: bytes) -> None:
    """Shift the earlier manifests by one, up to the first gap, and copy the newest to 1.

    A crash leaves a gap or a copy already made; the next rotation loses nothing by either.
    """
    kept = [path / earlier_manifest(n) for n in range(1, KEPT_MANIFESTS + 1)]
    if kept[0].is_file() and kept[0].read_bytes() == newest:
        return
    gap = next((n for n, file in enumerate(kept) if not file.exists()), KEPT_MANIFESTS - 1)
    for n in range(gap, 0, -1):
        disk.replace(kept[n - 1], kept[n])
    write_atomically(disk, kept[0], newest)


def _hash(data: Mapping[str, object]) -> str:
    return hashlib.blake2b(dumps(data), digest_size=16).hexdigest()


def _files_to_dict(files: Mapping[str, FileEntry]) -> dict[str, dict[str, object]]:
    names = [f.name for f in fields(FileEntry)]
    return {kind: {name: getattr(entry, name) for name in names} for kind, entry in files.items()}


def _before_to_dict(point: Before) -> dict[str, object]:
    return {
        "command": point.command,
        "committed_at": point.committed_at,
        "settings": point.settings,
        "files": _files_to_dict(point.files),
    }


def _typed(data: Mapping[str, Any], **types: type) -> dict[str, Any]:
    """Return the named fields of a JSON object, or refuse: ValueError, KeyError."""
    for name, wanted in types.items():
        if type(data[name]) is not wanted:
            raise ValueError(f"{name} is not of type {wanted.__name__}")
    return {name: data[name] for name in types}


def _files_from_dict(data: Mapping[str, Any]) -> dict[str, FileEntry]:
    unknown = set(data) - set(KINDS)
    if unknown:
        raise ValueError(f"unknown kinds {sorted(unknown)}")
    for kind, entry in data.items():
        if not is_entry_name(kind, entry["name"]):
            raise ValueError(f"{entry['name']!r} is no file of {kind}")
    types = {"name": str, "bytes": int, "records": int, "tail": str, "crc": int, "epoch": int}
    return {kind: FileEntry(**_typed(data[kind], **types)) for kind in KINDS if kind in data}


def _before_from_dict(data: Mapping[str, Any]) -> Before:
    known = _typed(data, command=str, committed_at=str, settings=dict, files=dict)
    return Before(**{**known, "files": _files_from_dict(known["files"])})


def _manifest_from_dict(data: Mapping[str, Any]) -> Manifest:
    known = _typed(
        data,
        schema_version=int,
        commit=int,
        committed_at=str,
        command=str,
        batch=str if data["batch"] is not None else NoneType,
        settings=dict,
        files=dict,
        before=list,
    )
    known["files"] = _files_from_dict(known["files"])
    known["before"] = tuple(_before_from_dict(point) for point in known["before"])
    extra = {name: value for name, value in data.items() if name not in _FIELDS}
    return Manifest(**known, extra=extra)
