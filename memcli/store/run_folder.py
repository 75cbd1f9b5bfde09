"""The folder of one run under ``runs/``: what it was told, what it asked, what came out.

Small documents are replaced atomically, logs grow by whole lines handed to the system at
once. A line that a crash cut is left out by readers and removed before the next append.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from memcli.errors import NothingFound, StoreDamaged
from memcli.records.codec import dumps, loads
from memcli.store import lock
from memcli.store.disk import Disk, write_atomically, writing
from memcli.store.layout import RUNS

CONFIG: Final = "config.json"
REPORT: Final = "report.json"
LEDGER: Final = "ledger.jsonl"
EVALUATIONS: Final = "evaluations.jsonl"
TRACES: Final = "evaluation_traces.jsonl"
POST_CURATE: Final = "post_curate.jsonl"
LOGS: Final = (LEDGER, EVALUATIONS, TRACES, POST_CURATE)

_NAME = re.compile(r"run-([0-9]{4,})")
_LOCK = ("train.lock", "trainer.json")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run's files.

    Attributes:
        path: ``<store>/runs/<name>``.
        disk: Does the writing.
    """

    path: Path
    disk: Disk

    @property
    def name(self) -> str:
        """The run's name, e.g. ``run-0001``."""
        return self.path.name

    def save(self, file: str, data: Mapping[str, object]) -> None:
        """Put a JSON document in place, in one step.

        Raises:
            StoreReadOnly: If it cannot be written.
        """
        with writing(self.path):
            write_atomically(self.disk, self.path / file, dumps(data) + b"\n")
            self.disk.fsync_dir(self.path)

    def load(self, file: str) -> dict[str, Any] | None:
        """Return a JSON document, or None where there is none.

        Raises:
            StoreDamaged: If it does not parse.
        """
        try:
            data = loads((self.path / file).read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise StoreDamaged(f"{self.path / file} does not parse ({error})") from error
        return dict(data)

    def append(self, file: str, record: Mapping[str, object]) -> None:
        """Add a line to a log; it outlives the process from then on.

        Raises:
            StoreReadOnly: If it cannot be written.
        """
        with writing(self.path):
            descriptor = self.disk.open(self.path / file, fresh=False)
            try:
                self.disk.write(descriptor, dumps(record) + b"\n")
            finally:
                self.disk.close(descriptor)

    def lines(self, file: str) -> Iterator[dict[str, Any]]:
        """Yield the records of a log in order, a cut last one left out.

        Raises:
            StoreDamaged: At a line that does not parse.
        """
        path = self.path / file
        if not path.is_file():
            return
        with path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield loads(line)
                except ValueError as error:
                    raise StoreDamaged(f"{path}:{number} does not parse ({error})") from error

    def discard(self) -> None:
        """Remove the folder and all in it.

        Raises:
            StoreReadOnly: If it cannot be written.
        """
        with writing(self.path):
            for file in self.path.iterdir():
                self.disk.remove(file)
            self.path.rmdir()

    def mend(self) -> None:
        """Remove what a crash left of a last line, so that the next one starts afresh."""
        for file in LOGS:
            path = self.path / file
            data = path.read_bytes() if path.is_file() else b""
            if data and not data.endswith(b"\n"):
                with writing(self.path):
                    self.disk.truncate(path, data.rfind(b"\n") + 1)


def create_run(store: Path, config: Mapping[str, object], *, disk: Disk) -> RunFolder:
    """Return a new run's folder with its config in it.

    Raises:
        StoreReadOnly: If it cannot be written.
    """
    last = max((_number(name) for name in run_names(store)), default=0)
    folder = RunFolder(store / RUNS / f"run-{last + 1:04d}", disk)
    with writing(store):
        disk.make_folder(store / RUNS)
        disk.make_folder(folder.path)
    folder.save(CONFIG, config)
    return folder


def open_run(store: Path, name: str, *, disk: Disk) -> RunFolder:
    """Return a run's folder.

    Raises:
        NothingFound: If there is none of that name.
    """
    if name not in run_names(store):
        raise NothingFound(f"{store} has no run {name!r}", hint="`memcli inspect runs` lists them")
    return RunFolder(store / RUNS / name, disk)


def run_names(store: Path) -> list[str]:
    """Return the names of all runs, oldest first."""
    folder = store / RUNS
    found = (each.name for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else ()
    return sorted((name for name in found if _NAME.fullmatch(name)), key=_number)


@contextmanager
def training(store: Path, *, now: datetime, wait_s: float, disk: Disk) -> Iterator[None]:
    """Be the one trainer of a store; others may write between its steps.

    Raises:
        StoreLocked: If another process trains it; names its pid and host.
        StoreReadOnly: If it cannot be written.
    """
    with writing(store):
        disk.make_folder(store / RUNS)
    with lock.hold(
        store / RUNS, command="train", now=now, wait_s=wait_s, names=_LOCK, what="training run"
    ):
        yield


def _number(name: str) -> int:
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else 0
