"""The disk operations a commit is made of, behind one object.

A test hands the store another `Disk` and stops a commit at any single operation. Everything
that must survive a power cut goes through here; reading does not.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memcli.errors import StoreReadOnly
from memcli.store.layout import TEMPORARY

_BINARY = getattr(os, "O_BINARY", 0)
_REASONS = {
    errno.EACCES: ("permission denied", "use a store of your own, or change its owner"),
    errno.EPERM: ("permission denied", "use a store of your own, or change its owner"),
    errno.EROFS: ("read-only file system", "copy the store to a disk that can be written"),
    errno.ENOSPC: ("the disk is full", "free some space and run the command again"),
    errno.EDQUOT: ("the disk quota is used up", "free some space and run the command again"),
}


class Disk:
    """Writes to the real disk; each method is one operation that a crash can precede."""

    def make_folder(self, folder: Path) -> None:
        """Create a folder for the owner alone, or make an existing one so."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)

    def open(self, path: Path, *, fresh: bool) -> int:
        """Return a descriptor that appends to ``path``, created 0600; emptied if ``fresh``."""
        start = os.O_TRUNC if fresh else os.O_APPEND
        return os.open(path, os.O_WRONLY | os.O_CREAT | start | _BINARY, 0o600)

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all of ``data``."""
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    def fsync(self, descriptor: int) -> None:
        """Return when the file's bytes are on the disk itself."""
        os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        """Close a descriptor of `open`."""
        os.close(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        """Rename ``source`` over ``target`` in one step."""
        source.replace(target)

    def fsync_dir(self, folder: Path) -> None:
        """Return when the folder's names are on the disk itself (no such thing on Windows)."""
        if os.name == "nt":  # pragma: no cover - Windows cannot open a folder
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def truncate(self, path: Path, length: int) -> None:
        """Cut ``path`` to ``length`` bytes."""
        os.truncate(path, length)

    def remove(self, path: Path) -> None:
        """Remove a file."""
        path.unlink(missing_ok=True)


def write_atomically(disk: Disk, path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step; the caller syncs the folder."""
    temporary = path.with_name(path.name + TEMPORARY)
    descriptor = disk.open(temporary, fresh=True)
    try:
        disk.write(descriptor, data)
        disk.fsync(descriptor)
    finally:
        disk.close(descriptor)
    disk.replace(temporary, path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an operating-system refusal into words.

    Raises:
        StoreReadOnly: In place of any `OSError` of the block.
    """
    try:
        yield
    except OSError as error:
        reason, hint = _REASONS.get(error.errno or 0, (error.strerror or str(error), ""))
        raise StoreReadOnly(f"cannot write to the store {path}: {reason}", hint=hint) from error
