"""Derived JSONL: lines made from a canonical file, how far they reach, and for which version.

One line for each record of the canonical file, in its order, so that line k of the derived file
belongs to record k. Beside the data a small mark file says how much of both is good::

    derived/annotations-4f1c09a2b7d3.0.jsonl   the lines; the number grows with each rebuild
    derived/annotations-4f1c09a2b7d3.json      version, file, bytes, records, tail, covers

The data is synced before the mark is replaced in one step, so what the mark counts is whole; what
lies beyond it was never counted and the next writer cuts it. A mark that no longer fits the store
(an undo, a compaction) or the data (an edit, a lost end) means "make it again": derived data is
never repaired.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from memcli.errors import StoreError
from memcli.records.codec import dumps, loads
from memcli.store.disk import Disk, write_atomically, writing
from memcli.store.jsonl import (
    BUFFER_BYTES,
    Placement,
    Tally,
    file_size,
    read_tail,
    stream,
    tail_hash,
)
from memcli.store.layout import DERIVED, TEMPORARY
from memcli.store.snapshot import Snapshot, Watermark

ANNOTATIONS = "annotations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How much of a derived file counts.

    Attributes:
        version: What made it; another version makes another file.
        file: Name of the data file under ``derived/``.
        bytes: Good bytes of it.
        records: Lines in them.
        tail: `tail_hash` of their end.
        covers: How far of the canonical file they reach.
    """

    version: str
    file: str
    bytes: int
    records: int
    tail: str
    covers: Watermark


@dataclass(frozen=True, slots=True)
class Derived:
    """A derived file that fits a snapshot, maybe not all of it.

    Attributes:
        path: The data file.
        mark: How much of it counts.
    """

    path: Path
    mark: Mark

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield (offset, line without its line break) in order; memory is one line.

        Raises:
            StoreError: If a writer took the file away.
        """
        try:
            file = self.path.open("rb", BUFFER_BYTES)
        except FileNotFoundError as error:
            raise self._gone() from error
        with file:
            for offset, line in stream(file, 0, self.mark.bytes):
                yield offset, line[:-1]

    def read_lines(self, places: Sequence[Placement]) -> list[bytes]:
        """Return the lines at ``places``, in the order given.

        Raises:
            StoreError: If a writer took the file away.
        """
        if not places:
            return []
        try:
            file = self.path.open("rb", 0)
        except FileNotFoundError as error:
            raise self._gone() from error
        lines = []
        with file:
            for place in places:
                file.seek(place.offset)
                lines.append(file.read(place.length)[:-1])
        return lines

    def _gone(self) -> StoreError:
        return StoreError(
            f"{self.path} was replaced by a writer while it was read", hint="run the command again"
        )


def open_derived(snapshot: Snapshot, name: str, version: str | None = None) -> Derived | None:
    """Return the derived file that belongs to a snapshot, or None where there is none that fits.

    Args:
        snapshot: Committed state.
        name: Family of the file, e.g. `ANNOTATIONS`.
        version: Version wanted; None for whichever reaches furthest, the first by file name
            among equals.
    """
    folder = snapshot.path / DERIVED
    names = [_mark_name(name, version)] if version is not None else _mark_names(folder, name)
    found = [mark for each in names if (mark := _read_mark(folder / each)) is not None]
    fitting = [
        mark
        for mark in found
        if (version is None or mark.version == version) and _fits(snapshot, folder, mark)
    ]
    best = max(fitting, key=lambda mark: mark.covers.bytes, default=None)
    return None if best is None else Derived(folder / best.file, best)


def extend(
    disk: Disk,
    snapshot: Snapshot,
    name: str,
    version: str,
    lines: Sequence[bytes],
    *,
    covers: Watermark,
    after: Mark | None,
) -> Mark | None:
    """Add lines to a derived file; the caller holds the store's lock.

    Files of other versions, and what earlier rebuilds left, go with it.

    Args:
        disk: Does the writing.
        snapshot: The state as of the lock.
        name: Family of the file.
        version: What made the lines.
        lines: Whole lines, line breaks included.
        covers: How far of the canonical file the derived file reaches with them.
        after: The mark that the lines follow; None to start a new file.

    Returns:
        The new mark; None, and nothing is written, where the lines no longer fit because
        another writer was faster or the canonical file was cut or rewritten.

    Raises:
        StoreReadOnly: If it cannot be written.
    """
    known = open_derived(snapshot, name, version)
    if (known.mark if known else None) != after or not snapshot.continues("turns", covers):
        return None
    folder = snapshot.path / DERIVED
    with writing(snapshot.path):
        disk.make_folder(folder)
        mark = _append(disk, folder, name, version, lines, covers, after)
        write_atomically(disk, folder / _mark_name(name, version), dumps(asdict(mark)) + b"\n")
        disk.fsync_dir(folder)
        _tidy(disk, folder, name, mark)
    return mark


def _append(
    disk: Disk,
    folder: Path,
    name: str,
    version: str,
    lines: Sequence[bytes],
    covers: Watermark,
    after: Mark | None,
) -> Mark:
    """Write and sync the lines; return the mark that makes them count."""
    file = after.file if after else _next_file(folder, name, version)
    path = folder / file
    tally = Tally(after.bytes, after.records, 0, read_tail(path, after.bytes)) if after else Tally()
    if file_size(path) > tally.length:
        disk.truncate(path, tally.length)  # a batch that was never counted
    data = b"".join(lines)
    descriptor = disk.open(path, fresh=after is None)
    try:
        disk.write(descriptor, data)
        disk.fsync(descriptor)
    finally:
        disk.close(descriptor)
    tally = tally.extend(data, len(lines))
    return Mark(
        version=version,
        file=file,
        bytes=tally.length,
        records=tally.records,
        tail=tail_hash(tally.tail),
        covers=covers,
    )


def _fits(snapshot: Snapshot, folder: Path, mark: Mark) -> bool:
    """Whether the canonical file only grew since, and the data is as the mark left it."""
    path = folder / mark.file
    return (
        snapshot.continues("turns", mark.covers)
        and file_size(path) >= mark.bytes
        and tail_hash(read_tail(path, mark.bytes)) == mark.tail
    )


def _read_mark(path: Path) -> Mark | None:
    try:
        data = loads(path.read_bytes())
        mark = Mark(covers=Watermark(**data.pop("covers")), **data)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None  # derived data: anything odd about it means "make it again"
    is_sound = isinstance(mark.bytes, int) and isinstance(mark.covers.bytes, int)
    return mark if is_sound and mark.file == Path(mark.file).name else None


def _tidy(disk: Disk, folder: Path, name: str, mark: Mark) -> None:
    """Remove every file of the family but the mark's own two."""
    keep = {mark.file, _mark_name(name, mark.version)}
    for path in sorted(folder.glob(f"{name}-*")):
        if path.name not in keep:
            disk.remove(path)


def _mark_names(folder: Path, name: str) -> list[str]:
    files = sorted(folder.glob(f"{name}-*.json"))
    return [path.name for path in files if not path.name.endswith(TEMPORARY)]


def _mark_name(name: str, version: str) -> str:
    return f"{_stem(name, version)}.json"


def _next_file(folder: Path, name: str, version: str) -> str:
    """Return a name no reader may have open: the old data stays until it is replaced."""
    stem = _stem(name, version)
    numbers = [path.name.split(".")[1] for path in folder.glob(f"{stem}.*.jsonl")]
    taken = [int(number) for number in numbers if number.isdigit()]
    return f"{stem}.{max(taken, default=-1) + 1}.jsonl"


def _stem(name: str, version: str) -> str:
    digest = hashlib.blake2b(version.encode("utf-8"), digest_size=6).hexdigest()
    return f"{name}-{digest}"
