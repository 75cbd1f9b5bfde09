"""Records and a disk that fails on purpose, for the tests of the store."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

from memcli.records.evidence import Source, Turn
from memcli.records.strategy import Provenance, StrategyEdge, StrategyNode, Trace
from memcli.records.strategy_codec import edge_to_line, node_to_line, trace_to_line
from memcli.store.disk import Disk
from memcli.store.snapshot import Snapshot

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def a_turn(number: int, text: str | None = None) -> Turn:
    return Turn(
        id=f"t{number:04}",
        conversation="c",
        session="s1",
        seq=number,
        speaker="Mara",
        role="user",
        text=text if text is not None else f"utterance number {number} ☃",
        time="2026-02-28T09:00:00Z",
        time_granularity="second",
        source=Source(format="test", file="talk.txt", line=number),
        tokens=7,
    )


def a_trace(number: int) -> bytes:
    """Return a line of the log."""
    return trace_to_line(Trace(id=f"x{number}", kind="edit", time="2026-02-28T09:00:00Z"))


def a_node(number: int) -> bytes:
    """Return a line of a lesson."""
    return node_to_line(
        StrategyNode(
            id=f"n{number:05}",
            section="others",
            key="k",
            content="c",
            provenance=Provenance(origin="hand"),
            tokens=1,
            tokenizer="cl100k_base",
        )
    )


def an_edge(source: str, target: str, s: float = 0.0) -> bytes:
    """Return a line of an edge."""
    return edge_to_line(StrategyEdge(source=source, target=target, s=s))


def texts(snapshot: Snapshot) -> list[str]:
    return [turn.text for _, turn in snapshot.turns()]


def content(snapshot: Snapshot) -> dict[str, object]:
    """All that a reader can see of a state."""
    seen: dict[str, object] = {
        kind: [line for _, line in snapshot.lines(kind)] for kind in snapshot.manifest.files
    }
    seen = {kind: lines for kind, lines in seen.items() if lines}
    return {**seen, "settings": dict(snapshot.manifest.settings)}


class Crash(BaseException):
    """The machine stops here: nothing catches it but the test."""


def _put(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0o600)


class FailingDisk(Disk):
    """A disk that stops at one operation and then loses what a power cut may lose.

    Modes:
        kill: the operation does not happen; what the system has is kept (a killed process).
        torn: half of the operation's bytes are written first.
        lose: bytes never synced are gone.
        half: half of the bytes never synced are gone.
        unrename: the same as lose, and names never synced are as they were.
        uncreate: the same as lose, and files created whose names were never synced are gone,
            though renames made after them are kept: a disk may order them so.
        full: the operation fails once with ENOSPC, and the process goes on.
    """

    MODES = ("kill", "torn", "lose", "half", "unrename", "uncreate", "full")

    def __init__(self, stop_at: int | None = None, mode: str = "kill") -> None:
        self.stop_at, self.mode = stop_at, mode
        self.count = 0
        self.operations: list[str] = []
        self.dead = False
        self._paths: dict[int, Path] = {}
        self._synced: dict[Path, int] = {}
        self._names: list[tuple[Path, Path, bytes | None, bytes]] = []

    def _step(self, name: str) -> None:
        if self.dead:
            raise Crash
        self.count += 1
        self.operations.append(name)
        if self.count == self.stop_at:
            self._stop()

    def _stop(self) -> None:
        if self.mode == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.dead = True
        if self.mode in ("lose", "half", "unrename", "uncreate"):
            self._lose_bytes()
        if self.mode == "unrename":
            self._lose_names()
        if self.mode == "uncreate":
            self._lose_created()
        raise Crash

    def _lose_bytes(self) -> None:
        for path, synced in self._synced.items():
            size = path.stat().st_size if path.exists() else 0
            if size > synced:
                os.truncate(path, (synced + size) // 2 if self.mode == "half" else synced)

    def _lose_names(self) -> None:
        for source, target, old, new in reversed(self._names):
            if source != target:
                _put(source, new)
            if old is None:
                target.unlink(missing_ok=True)
            else:
                _put(target, old)

    def _lose_created(self) -> None:
        for source, target, old, _ in self._names:
            if source == target and old is None:
                target.unlink(missing_ok=True)

    def make_folder(self, folder: Path) -> None:
        self._step(f"make_folder {folder.name}")
        super().make_folder(folder)

    def open(self, path: Path, *, fresh: bool) -> int:
        self._step(f"open {path.name}")
        if not path.exists():
            self._names.append((path, path, None, b""))
        descriptor = super().open(path, fresh=fresh)
        self._paths[descriptor] = path
        size = path.stat().st_size
        self._synced[path] = min(size, self._synced.get(path, size))
        return descriptor

    def write(self, descriptor: int, data: bytes) -> None:
        if not self.dead and self.mode == "torn" and self.count + 1 == self.stop_at:
            super().write(descriptor, data[: len(data) // 2])
        self._step(f"write {self._paths[descriptor].name}")
        super().write(descriptor, data)

    def fsync(self, descriptor: int) -> None:
        path = self._paths[descriptor]
        self._step(f"fsync {path.name}")
        self._synced[path] = path.stat().st_size

    def close(self, descriptor: int) -> None:
        super().close(descriptor)
        self._paths.pop(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        self._step(f"replace {source.name} {target.name}")
        old = target.read_bytes() if target.exists() else None
        self._names.append((source, target, old, source.read_bytes()))
        super().replace(source, target)
        self._synced[target] = self._synced.pop(source, target.stat().st_size)

    def fsync_dir(self, folder: Path) -> None:
        self._step(f"fsync_dir {folder.name}")
        self._names = [entry for entry in self._names if entry[1].parent != folder]

    def truncate(self, path: Path, length: int) -> None:
        self._step(f"truncate {path.name}")
        super().truncate(path, length)
        self._synced[path] = min(length, self._synced.get(path, length))

    def remove(self, path: Path) -> None:
        self._step(f"remove {path.name}")
        if path.exists():
            data = path.read_bytes()
            self._names.append((path, path, data, data))
        super().remove(path)
        self._synced.pop(path, None)
