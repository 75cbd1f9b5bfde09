"""One writer at a time: an operating-system lock, and who holds it.

A dead holder's lock frees itself, because the system drops it with the process. Readers
never take it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from memcli.errors import StoreLocked
from memcli.records.codec import dumps, loads
from memcli.store.disk import writing
from memcli.store.layout import HOLDER, LOCK
from memcli.store.manifest import timestamp

POLL_S = 0.05


@contextmanager
def hold(
    path: Path,
    *,
    command: str,
    now: datetime,
    wait_s: float = 0.0,
    names: tuple[str, str] = (LOCK, HOLDER),
    what: str = "writer",
) -> Iterator[None]:
    """Hold the writer lock of the store directory ``path``, or another lock in a directory.

    Args:
        path: The store.
        command: Shown to whoever waits.
        now: Shown to whoever waits.
        wait_s: Seconds to wait for another writer; 0 gives up at once.
        names: File of the lock, and of its holder's name.
        what: What the holder is, in words.

    Raises:
        StoreLocked: If another writer still holds it; names its pid and host.
        StoreReadOnly: If the lock file cannot be written.
    """
    import filelock  # not needed by a reader

    lock = filelock.FileLock(path / names[0], timeout=wait_s, mode=0o600, poll_interval=POLL_S)
    with writing(path):
        try:
            lock.acquire()
        except filelock.Timeout as error:
            raise StoreLocked(
                f"{path} is locked by another {what}: {_holder(path / names[1])}",
                hint="wait for it to finish, or give it time with --wait SECONDS",
            ) from error
    try:
        with writing(path):
            _sign(path / names[1], command, now)
        yield
    finally:
        with suppress(OSError):  # only a name for others to read; the lock itself is what counts
            (path / names[1]).unlink(missing_ok=True)
        lock.release()


def _sign(file: Path, command: str, now: datetime) -> None:
    """Leave pid, host and command where a waiting process can read them."""
    import socket  # a reader has no use for it

    data = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "command": command,
        "since": timestamp(now),
    }
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT, 0o600)
    with open(descriptor, "wb") as stream:
        stream.write(dumps(data))


def _holder(file: Path) -> str:
    """Return who holds the lock, in words."""
    try:
        data = loads(file.read_bytes())
        return (
            f"pid {data['pid']} on {data['host']}, `memcli {data['command']}` since {data['since']}"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "it has not said who it is"
