"""Appending, committing, undoing: all that needs the writer's lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from memcli.errors import NothingFound, StoreDamaged, StoreError, UsageError
from memcli.records.codec import turn_to_line
from memcli.records.evidence import Turn
from memcli.store.checkpoint import (
    Checkpoint,
    copy_broken,
    list_checkpoints,
    remove_checkpoint,
    save_checkpoint,
    tidy_checkpoints,
)
from memcli.store.compact import CompactReport, compact
from memcli.store.disk import Disk, writing
from memcli.store.jsonl import BUFFER_BYTES, Placement, Tally, file_size, parse
from memcli.store.layout import KINDS, generation_name, parse_generation
from memcli.store.manifest import FileEntry, Manifest, save, timestamp
from memcli.store.snapshot import Snapshot, entry_fault, open_snapshot, read_tally


@dataclass(slots=True)
class _Appender:
    """One file that this writer appends to."""

    descriptor: int
    name: str
    epoch: int
    tally: Tally
    buffer: bytearray = field(default_factory=bytearray)
    buffered: int = 0

    @property
    def end(self) -> int:
        """Return the offset of the next line."""
        return self.tally.length + len(self.buffer)

    def flush(self, disk: Disk) -> None:
        """Hand the buffered lines to the system."""
        if self.buffer:
            data = bytes(self.buffer)
            disk.write(self.descriptor, data)
            self.tally = self.tally.extend(data, self.buffered)
            self.buffer.clear()
            self.buffered = 0


class Writer:
    """The one writer of a store; made by `Store.writer`, which holds the lock.

    Attributes:
        snapshot: The committed state, as of the lock, then as of the last commit.
    """

    def __init__(self, path: Path, disk: Disk, now: datetime) -> None:
        self._path, self._disk, self._now = path, disk, now
        self._appenders: dict[str, _Appender] = {}
        self._failed = False
        self.snapshot: Snapshot
        self._settle()

    def append(self, kind: str, line: bytes) -> Placement:
        r"""Add a record after the last one; nobody sees it before `commit`.

        Args:
            kind: One of `layout.KINDS`.
            line: One record as the codec writes it, ending in ``\n``.

        Returns:
            Where the line will be.

        Raises:
            RecordError: If the line is not a whole record of that kind.
            StoreReadOnly: If it cannot be written.
        """
        if kind not in KINDS:
            raise UsageError(f"{kind!r} is not a kind of record: {', '.join(KINDS)}")
        parse(kind, line, path=generation_name(kind, 0))
        return self._append(kind, line)

    def append_turn(self, turn: Turn) -> Placement:
        """Add a turn after the last one; see `append`."""
        return self._append("turns", turn_to_line(turn))

    def commit(
        self,
        *,
        command: str,
        batch: str | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> Snapshot:
        """Make all that was appended, to any number of files, visible in one step.

        Args:
            command: What writes: ``ingest``, ``add`` …
            batch: Commits in a row with the same batch id are one step of undo.
            settings: The new settings, whole; None leaves them.

        Returns:
            The state as read back from the disk; the present one, without a new commit,
            where nothing was appended and no setting changes.

        Raises:
            StoreReadOnly: If it cannot be written; then nothing was committed.
        """
        now = self.snapshot.manifest
        wanted = now.settings if settings is None else settings
        if not self._appenders and wanted == now.settings:
            return self.snapshot
        with self._changing():
            files = {**now.files, **self._sync()}
            self._save(
                now.next(command=command, now=self._now, batch=batch, settings=wanted, files=files)
            )
        return self.snapshot

    def undo(self) -> Manifest:
        """Take back the last batch, settings included, and return the new manifest.

        The records stay in the file, beyond the committed length, until the next writer cuts
        them. Up to `KEPT_MANIFESTS` batches can be taken back one by one; compaction and
        repair draw a line that undo does not cross.

        Raises:
            NothingFound: If there is nothing to take back.
            UsageError: If there are appended records that were not committed.
            StoreDamaged: If the file does not hold the earlier state.
        """
        now = self.snapshot.manifest
        self._refuse_pending("undo")
        if not now.before:
            raise NothingFound(f"{self._path}: there is nothing to undo")
        point, *older = now.before
        commit = now.commit + 1
        files = {
            kind: _shortened(entry, point.files.get(kind), commit)
            for kind, entry in now.files.items()
        }
        for entry in files.values():
            if entry_fault(self._path, entry) is not None:
                raise StoreDamaged(f"{self._path / entry.name} does not hold the earlier state")
        with self._changing():
            self._keep_checkpoints(now, files)
            self._save(
                replace(
                    now,
                    commit=commit,
                    committed_at=timestamp(self._now),
                    command="undo",
                    batch=None,
                    settings=point.settings,
                    files=files,
                    before=tuple(older),
                )
            )
        return self.snapshot.manifest

    def compact(self) -> CompactReport:
        """Write new generations without superseded records; see `compact.compact`."""
        self._refuse_pending("compact")
        with self._changing():
            report, manifest = compact(self._disk, self.snapshot, self._now)
            if manifest is not None:
                self._save(manifest)
        return report

    def checkpoint(self, name: str) -> Checkpoint:
        """Save the last committed state under a name.

        Raises:
            UsageError: If the name is taken or no name, or records wait for their commit.
        """
        self._refuse_pending("a checkpoint")
        if any(taken.name == name for taken in list_checkpoints(self._path)):
            raise UsageError(f"{self._path} already has a checkpoint {name!r}")
        with writing(self._path):
            return save_checkpoint(self._disk, self._path, name, self.snapshot.manifest)

    def drop_checkpoint(self, name: str) -> None:
        """Remove a checkpoint and the files made for it.

        Raises:
            NothingFound: If there is none of that name.
        """
        for checkpoint in list_checkpoints(self._path):
            if checkpoint.name == name:
                with writing(self._path):
                    remove_checkpoint(self._disk, self._path, checkpoint)
                return
        raise NothingFound(f"{self._path} has no checkpoint {name!r}")

    def close(self) -> None:
        """Discard what was not committed.

        After a commit that failed half-way nothing is touched: the new manifest may already
        be in place, and the next writer cuts whatever lies beyond the committed length.
        """
        names = [appender.name for appender in self._appenders.values()]
        self._release()
        if self._failed:
            return
        committed = {entry.name: entry.bytes for entry in self.snapshot.manifest.files.values()}
        with suppress(OSError):  # the next writer cuts it
            for name in names:
                self._cut(name, committed.get(name))

    def _append(self, kind: str, line: bytes) -> Placement:
        appender = self._appenders.get(kind) or self._open(kind)
        place = Placement(appender.end, len(line))
        appender.buffer += line
        appender.buffered += 1
        if len(appender.buffer) >= BUFFER_BYTES:
            with self._changing():
                appender.flush(self._disk)
        return place

    def _open(self, kind: str) -> _Appender:
        """Open a kind's file for appending; first cuts what an undo of this writer left."""
        self._refuse_failed()
        entry = self.snapshot.manifest.files.get(kind)
        name = entry.name if entry else generation_name(kind, 0)
        with self._changing():
            self._cut(name, entry.bytes if entry else None)
            descriptor = self._disk.open(self._path / name, fresh=False)
        tally = read_tally(self._path, entry) if entry else Tally()
        epoch = entry.epoch if entry else self.snapshot.manifest.commit + 1
        self._appenders[kind] = _Appender(descriptor, name, epoch, tally)
        return self._appenders[kind]

    def _sync(self) -> dict[str, FileEntry]:
        """Bring every appended byte to the disk and return the new entries."""
        entries = {}
        for kind, appender in self._appenders.items():
            appender.flush(self._disk)
            self._disk.fsync(appender.descriptor)
            entries[kind] = FileEntry.of(appender.tally, name=appender.name, epoch=appender.epoch)
        if entries.keys() - self.snapshot.manifest.files.keys():
            self._disk.fsync_dir(self._path)  # a new name must be there before the manifest
        return entries

    def _save(self, manifest: Manifest) -> None:
        save(self._disk, self._path, manifest)
        self._release()
        self.snapshot = open_snapshot(self._path, strict=True)

    def _keep_checkpoints(self, now: Manifest, files: Mapping[str, FileEntry]) -> None:
        kept = {entry.name: entry.bytes for entry in files.values()}
        cut = {e.name for e in now.files.values() if e.bytes > kept.get(e.name, 0)}
        copy_broken(self._disk, self._path, lambda e: e.name in cut and e.bytes > kept[e.name])

    def _settle(self) -> None:
        """Read the committed state, and only then remove what was never committed."""
        self.snapshot = open_snapshot(self._path, strict=True)
        with writing(self._path):
            committed = {e.name: e.bytes for e in self.snapshot.manifest.files.values()}
            for file in sorted(self._path.iterdir()):
                if parse_generation(file.name) is not None:
                    self._cut(file.name, committed.get(file.name))
            tidy_checkpoints(self._disk, self._path)

    def _cut(self, name: str, committed: int | None) -> None:
        """Cut a file to its committed length; a file that no manifest names goes."""
        file = self._path / name
        if committed is None:
            if file.exists():
                self._disk.remove(file)
        elif file_size(file) > committed:
            self._disk.truncate(file, committed)

    def _release(self) -> None:
        for appender in self._appenders.values():
            self._disk.close(appender.descriptor)
        self._appenders.clear()

    def _refuse_pending(self, what: str) -> None:
        self._refuse_failed()
        if self._appenders:
            raise UsageError(f"{what} needs the appended records committed first")

    def _refuse_failed(self) -> None:
        if self._failed:
            raise StoreError("this writer failed and cannot go on", hint="open the store again")

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Mark the writer as failed unless the block ends well."""
        self._refuse_failed()
        self._failed = True
        with writing(self._path):
            yield
        self._failed = False


def _shortened(entry: FileEntry, earlier: FileEntry | None, commit: int) -> FileEntry:
    """Return the entry as it was; a file that did not exist stays, empty.

    A new epoch tells derived data that what comes after is not what it has seen.
    """
    if earlier is None:
        return FileEntry.of(Tally(), name=entry.name, epoch=commit)
    unchanged = earlier.bytes == entry.bytes
    return entry if unchanged else replace(earlier, epoch=commit)
