"""A store: create it, open it, read a committed state, take the writer's turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from memcli.errors import StoreMissing, UsageError
from memcli.store import checkpoint, lock
from memcli.store.checkpoint import Checkpoint
from memcli.store.compact import CompactReport
from memcli.store.disk import Disk, writing
from memcli.store.jsonl import Placement
from memcli.store.layout import HOLDER, LOCK, MANIFEST, TEMPORARY
from memcli.store.manifest import Manifest, earlier_files, read_manifest, save, timestamp
from memcli.store.snapshot import Snapshot, Watermark, open_snapshot
from memcli.store.writer import Writer

__all__ = ["Checkpoint", "CompactReport", "Placement", "Snapshot", "Store", "Watermark", "Writer"]

_NO_SETTINGS: Mapping[str, object] = MappingProxyType({})
_BEFORE_THE_FIRST = frozenset({LOCK, HOLDER, MANIFEST + TEMPORARY})
"""What a creation that a crash stopped may have left."""


@dataclass(frozen=True, slots=True)
class Store:
    """A directory that holds a store.

    Attributes:
        path: The directory.
        disk: Does the writing; a test may put another in its place.
    """

    path: Path
    disk: Disk

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        settings: Mapping[str, object] = _NO_SETTINGS,
        now: datetime,
        disk: Disk | None = None,
    ) -> Store:
        """Create an empty store; the directory becomes 0700, its files 0600.

        Raises:
            UsageError: If there is a store already, or a directory with anything else in it.
            StoreLocked: If another process is creating it.
            StoreReadOnly: If it cannot be written.
        """
        disk = disk or Disk()
        _refuse_taken(path)
        with writing(path):
            disk.make_folder(path)
        with lock.hold(path, command="init", now=now), writing(path):
            _refuse_taken(path)
            first = Manifest(
                commit=1, committed_at=timestamp(now), command="init", settings=dict(settings)
            )
            save(disk, path, first)
            disk.fsync_dir(path.parent)
        return cls.open(path, disk=disk)

    @classmethod
    def open(cls, path: Path, *, disk: Disk | None = None) -> Store:
        """Return the store in ``path``; only its manifest is read.

        Raises:
            StoreMissing: If there is none.
            StoreDamaged: If its manifest was edited.
            SchemaVersionError: If a newer memcli wrote it.
        """
        read_manifest(path)
        return cls(path, disk or Disk())

    def snapshot(self, at: str | None = None) -> Snapshot:
        """Return the newest committed state, or that of the checkpoint ``at``.

        Costs one small JSON read, and a stat and a 4 KiB read a file.

        Raises:
            NothingFound: If there is no such checkpoint.
            StoreDamaged: If a file was edited, or is short and no earlier state is covered.
        """
        if at is not None:
            return checkpoint.open_checkpoint(self.path, at)
        return open_snapshot(self.path)

    def checkpoints(self) -> list[Checkpoint]:
        """Return the checkpoints, oldest commit first, then by name."""
        return checkpoint.list_checkpoints(self.path)

    @contextmanager
    def writer(
        self, *, now: datetime, wait_s: float = 0.0, command: str = "write"
    ) -> Iterator[Writer]:
        """Hold the lock and write; what is not committed at the end is discarded.

        Args:
            now: The time that commits state.
            wait_s: Seconds to wait for another writer.
            command: Shown to whoever waits.

        Raises:
            StoreLocked: If another writer still holds the store; names its pid and host.
            StoreDamaged: If a file is edited or short; nothing is cut then.
            StoreReadOnly: If the store cannot be written.
        """
        if not self.path.is_dir():
            raise StoreMissing(f"{self.path} holds no store")
        with lock.hold(self.path, command=command, now=now, wait_s=wait_s):
            writer = Writer(self.path, self.disk, now)
            try:
                yield writer
            finally:
                writer.close()


def _refuse_taken(path: Path) -> None:
    """Refuse a directory that already holds a store, or anything that is not ours."""
    if (path / MANIFEST).is_file() or (path.is_dir() and earlier_files(path)):
        raise UsageError(f"{path} already holds a store", hint="use it, or name another directory")
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is not a directory")
    foreign = {file.name for file in path.iterdir()} - _BEFORE_THE_FIRST if path.is_dir() else set()
    if foreign:
        raise UsageError(
            f"{path} is not empty: it holds {sorted(foreign)[0]!r}",
            hint="a store needs a directory of its own",
        )
