"""Going back to the newest whole state, and saying what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path

from memcli.errors import StoreDamaged
from memcli.store import lock
from memcli.store.checkpoint import copy_broken, copy_bytes
from memcli.store.disk import Disk, writing
from memcli.store.jsonl import Tally, file_size
from memcli.store.layout import MANIFEST, RECOVERED, parse_generation
from memcli.store.manifest import (
    FileEntry,
    Manifest,
    decode,
    earlier_files,
    read_manifest,
    save,
    timestamp,
)
from memcli.store.snapshot import cover, faults
from memcli.store.verify import check_file


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairReport:
    """What a repair did.

    Attributes:
        commit: The commit that stands now.
        accepted: The commit whose state it is.
        missing: What is gone, a line each, e.g. ``turns: 12 of 40 records``; empty where
            nothing is.
        kept: Copies of the bytes that were cut, relative to the store.
    """

    commit: int
    accepted: int
    missing: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def repair(path: Path, *, now: datetime, disk: Disk | None = None) -> RepairReport:
    """Make the newest state that the files cover the committed one.

    - Files whole, only uncommitted bytes behind them: these are cut.
    - A file lost its end: the newest earlier manifest that all files cover stands.
    - The manifest was edited: its content stands if every file is exactly as it says, else
      the newest earlier manifest that is covered.

    Bytes are cut only after a copy of them is in ``recovered/``.

    Raises:
        StoreDamaged: If committed bytes were edited, or no earlier state is whole: going back
            would lose records that nobody asked to lose. Nothing is changed then.
        StoreMissing, SchemaVersionError, StoreLocked, StoreReadOnly: As in `Store.writer`.
    """
    disk = disk or Disk()
    _newest(path)
    with lock.hold(path, command="verify --repair", now=now):
        newest, is_sealed = _newest(path)
        accepted = _accepted(path, newest, is_sealed)
        is_whole = is_sealed and accepted == newest
        after = accepted if is_whole else _after(path, newest, accepted, now)
        committed = {entry.name: entry.bytes for entry in after.files.values()}
        with writing(path):
            kept = _keep(disk, path, committed, with_unnamed=not is_whole)
            if not is_whole:
                copy_broken(disk, path, lambda entry: committed.get(entry.name, 0) < entry.bytes)
                save(disk, path, after)
            _cut(disk, path, committed)
    missing = tuple(_missing(newest, accepted))
    return RepairReport(commit=after.commit, accepted=accepted.commit, missing=missing, kept=kept)


def _newest(path: Path) -> tuple[Manifest | None, bool]:
    """Return the newest manifest, and whether it is as memcli wrote it."""
    try:
        return read_manifest(path), True
    except StoreDamaged:
        file = path / MANIFEST
        try:
            return decode(file.read_bytes(), file, is_sealed=False), False
        except (StoreDamaged, FileNotFoundError):
            return None, False


def _accepted(path: Path, newest: Manifest | None, is_sealed: bool) -> Manifest:
    """Return the newest state that the files hold, or refuse."""
    if newest and is_sealed:
        found = faults(path, newest)
        if not found:
            return newest
        edited = [newest.files[kind].name for kind, fault in found.items() if fault == "edited"]
        if edited:
            raise StoreDamaged(
                f"{path}: {', '.join(edited)} was edited; going back would lose committed records",
                hint="put the file back from a copy; `memcli verify` names what differs",
            )
    elif newest and _is_exact(path, newest):
        return newest
    earlier = cover(path, below=newest.commit if newest and is_sealed else None)
    if earlier is None:
        raise StoreDamaged(
            f"{path}: the files cover none of the kept manifests",
            hint="put the store back from a copy; `memcli verify` names what is missing",
        )
    return earlier


def _is_exact(path: Path, edited: Manifest) -> bool:
    """Return whether an edited manifest still says of every file exactly what is there."""
    known = cover(path)
    if known and known.files.keys() - edited.files.keys():
        return False
    reports = (check_file(path, kind, entry) for kind, entry in edited.files.items())
    return not any(finding.severity == "damage" for _, found in reports for finding in found)


def _after(path: Path, newest: Manifest | None, accepted: Manifest, now: datetime) -> Manifest:
    """Return the manifest of the accepted state; its epochs tell derived data to start anew."""
    commit = _next_commit(path, newest)
    lost = newest.files if newest else {}
    empty = {
        kind: FileEntry.of(Tally(), name=entry.name, epoch=commit) for kind, entry in lost.items()
    }
    files = {kind: replace(entry, epoch=commit) for kind, entry in accepted.files.items()}
    return replace(
        accepted,
        commit=commit,
        committed_at=timestamp(now),
        command="repair",
        batch=None,
        files={**empty, **files},
        before=(),
    )


def _next_commit(path: Path, newest: Manifest | None) -> int:
    """Return a commit number that no manifest had, the unreadable newest one included."""
    known = [newest.commit] if newest else []
    for file in earlier_files(path):
        with suppress(StoreDamaged):  # `verify` has named it
            known.append(decode(file.read_bytes(), file).commit + 1)
    return max(known) + 1


def _keep(
    disk: Disk, path: Path, committed: Mapping[str, int], *, with_unnamed: bool
) -> tuple[str, ...]:
    """Copy what lies beyond the committed bytes; return the copies' names."""
    copies = []
    for file in sorted(path.iterdir()):
        is_canonical = parse_generation(file.name) is not None
        if not is_canonical or not (with_unnamed or file.name in committed):
            continue
        start, end = committed.get(file.name, 0), file_size(file)
        if end > start:
            disk.make_folder(path / RECOVERED)
            target = _free_name(path / RECOVERED, f"{file.name}.from-{start}")
            copy_bytes(disk, file, target, start, end)
            disk.fsync_dir(target.parent)
            copies.append(f"{RECOVERED}/{target.name}")
    return tuple(copies)


def _free_name(folder: Path, name: str) -> Path:
    names = (folder / (f"{name}.{n}" if n else name) for n in count())
    return next(file for file in names if not file.exists())


def _cut(disk: Disk, path: Path, committed: Mapping[str, int]) -> None:
    for name, length in committed.items():
        if file_size(path / name) > length:
            disk.truncate(path / name, length)


def _missing(newest: Manifest | None, accepted: Manifest) -> Iterator[str]:
    """Yield what the accepted state lacks, a line each."""
    if newest is None:
        yield f"whatever was committed after commit {accepted.commit} ({accepted.committed_at})"
        return
    for kind, entry in newest.files.items():
        had = entry.records
        has = accepted.files[kind].records if kind in accepted.files else 0
        if has < had:
            yield (
                f"{kind}: {had - has} of {had} records, written by `memcli {newest.command}` at "
                f"{newest.committed_at} or in a commit before it"
            )
    if newest.settings != accepted.settings:
        yield f"the settings of commit {newest.commit}"
