"""Checking every byte and every name of a store. Reads only; takes no lock."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from memcli.errors import RecordError, StoreDamaged, StoreError
from memcli.store.jsonl import BUFFER_BYTES, Tally, file_size, parse, stream, tail_hash
from memcli.store.layout import (
    CHECKPOINTS,
    MANIFEST,
    RECOVERED,
    TEMPORARY,
    is_ours,
    parse_generation,
)
from memcli.store.manifest import FileEntry, Manifest, decode, earlier_files, read_manifest

Severity = Literal["damage", "warning", "note"]
"""``damage``: committed records are not as committed. ``warning``: safe, but not as memcli
leaves it. ``note``: a trace of an interrupted write, which the next writer tidies."""

MAX_LINE_FINDINGS = 20
"""Bad lines named one by one in each file; the rest is counted."""

_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be.

    Attributes:
        severity: See `Severity`.
        where: File or ``file:line``, relative to the store.
        what: What is wrong, for a person.
    """

    severity: Severity
    where: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """Figures of one canonical file, counted from its bytes.

    Attributes:
        name: File name.
        bytes: Committed bytes that are there.
        records: Lines in them.
        superseded: Lines that a newer record of the same id replaces.
    """

    name: str
    bytes: int
    records: int
    superseded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a verification found.

    Attributes:
        path: The store.
        commit: The newest commit, or None where the manifest is unreadable.
        files: Figures by kind.
        findings: Damage first, then warnings, then notes; within each as found.
    """

    path: Path
    commit: int | None
    files: Mapping[str, FileReport] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Return whether every committed record is there as it was committed."""
        return all(finding.severity != "damage" for finding in self.findings)


def verify(path: Path) -> Report:
    """Check the store directory ``path``: manifests, records, checkpoints, names, modes.

    Every committed line is parsed and written again in memory; length, count, tail hash and
    CRC-32 are compared with the manifest. Memory is one id a record. Derived data is not
    looked at.

    Raises:
        StoreMissing: If there is no store.
        SchemaVersionError: If a newer memcli wrote it.
    """
    report = _verify(path)
    for _ in range(_ATTEMPTS):
        if report.is_sound or _commit(path) == report.commit:
            break
        report = _verify(path)  # a writer took away what was being read
    return report


def _commit(path: Path) -> int | None:
    try:
        return read_manifest(path).commit
    except StoreDamaged:
        return None


def _verify(path: Path) -> Report:
    findings: list[Finding] = []
    files: dict[str, FileReport] = {}
    manifest: Manifest | None = None
    try:
        manifest = read_manifest(path)
    except StoreDamaged as error:
        findings.append(Finding("damage", MANIFEST, error.message))
    for kind, entry in manifest.files.items() if manifest else ():
        files[kind], found = check_file(path, kind, entry)
        findings += found
    findings += _earlier(path)
    findings += _checkpoints(path)
    findings += _names(path, manifest)
    findings += _modes(path)
    order = ("damage", "warning", "note")
    findings.sort(key=lambda finding: order.index(finding.severity))
    commit = manifest.commit if manifest else None
    return Report(path=path, commit=commit, files=files, findings=tuple(findings))


def check_file(path: Path, kind: str, entry: FileEntry) -> tuple[FileReport, list[Finding]]:
    """Return the figures and findings of one committed file."""
    lines = _Lines(kind, entry.name)
    size = file_size(path / entry.name)
    if size:
        with (path / entry.name).open("rb", BUFFER_BYTES) as file:
            for _, line in stream(file, 0, entry.bytes):
                lines.add(line)
    findings = [*_against(entry, size, lines.tally), *lines.findings()]
    return (
        FileReport(
            name=entry.name,
            bytes=lines.tally.length,
            records=lines.tally.records,
            superseded=lines.superseded,
        ),
        findings,
    )


class _Lines:
    """Checks the lines of one file as they stream by."""

    def __init__(self, kind: str, name: str) -> None:
        self._kind, self._name = kind, name
        self._ids: set[str] = set()
        self._bad: list[Finding] = []
        self._more = 0
        self.tally = Tally()
        self.superseded = 0

    def add(self, line: bytes) -> None:
        self.tally = self.tally.extend(line, 1)
        try:
            name = parse(self._kind, line, path=self._name, number=self.tally.records)
        except RecordError as error:
            self._add_bad(error)
            return
        if name is not None:
            self.superseded += name in self._ids
            self._ids.add(name)

    def _add_bad(self, error: RecordError) -> None:
        if len(self._bad) == MAX_LINE_FINDINGS:
            self._more += 1
            return
        where, _, what = error.message.partition(": ")
        self._bad.append(Finding("damage", where, what))

    def findings(self) -> list[Finding]:
        if not self._more:
            return self._bad
        more = f"{self._more} more lines that are no records"
        return [*self._bad, Finding("damage", self._name, more)]


def _against(entry: FileEntry, size: int, tally: Tally) -> Iterator[Finding]:
    """Yield how a file's content differs from its entry in the manifest."""
    if size < entry.bytes:
        what = f"has {size} of the {entry.bytes} committed bytes: its end is missing"
        yield Finding("damage", entry.name, what)
        return
    if size > entry.bytes:
        what = f"{size - entry.bytes} uncommitted bytes at the end; the next writer cuts them"
        yield Finding("note", entry.name, what)
    if tail_hash(tally.tail) != entry.tail:
        yield Finding("damage", entry.name, "its last committed 4 KiB were edited")
    elif tally.crc != entry.crc:
        yield Finding("damage", entry.name, "was edited before its last 4 KiB")
    if tally.records != entry.records:
        what = f"has {tally.records} lines where {entry.records} were committed"
        yield Finding("damage", entry.name, what)


def _earlier(path: Path) -> Iterator[Finding]:
    for file in earlier_files(path):
        try:
            decode(file.read_bytes(), file)
        except StoreError as error:
            yield Finding("warning", file.name, error.message)


def _checkpoints(path: Path) -> Iterator[Finding]:
    """Yield what is wrong with checkpoints, and files that belong to none."""
    named: set[str] = set()
    for file in sorted((path / CHECKPOINTS).glob("*.json")):
        where = f"{CHECKPOINTS}/{file.name}"
        try:
            files = decode(file.read_bytes(), file).files
        except StoreError as error:
            yield Finding("damage", where, error.message)
            continue
        named |= {where, *(entry.name for entry in files.values())}
        for kind, entry in files.items():
            _, found = check_file(path, kind, entry)
            serious = [finding for finding in found if finding.severity == "damage"]
            yield from (Finding("damage", where, f"{f.where}: {f.what}") for f in serious)
    for file in sorted((path / CHECKPOINTS).glob("*")):
        where = f"{CHECKPOINTS}/{file.name}"
        if where not in named and file.suffix != ".json":
            yield Finding("note", where, "belongs to no checkpoint")


def _names(path: Path, manifest: Manifest | None) -> Iterator[Finding]:
    """Yield files that no manifest names and files that memcli does not make."""
    named = {entry.name for entry in manifest.files.values()} if manifest else None
    for name in sorted(entry.name for entry in path.iterdir()):
        if not is_ours(name):
            yield Finding("warning", name, "is not part of a store")
        elif name.endswith(TEMPORARY):
            yield Finding("note", name, "is left of an interrupted write")
        elif parse_generation(name) and named is not None and name not in named:
            yield Finding("note", name, "is no longer named; it goes with the next write")


def _modes(path: Path) -> Iterator[Finding]:
    """Yield what others than the owner may open; only where the system has such modes."""
    if os.name == "nt":  # pragma: no cover - no such modes there
        return
    inside = sorted(file for file in path.iterdir() if is_ours(file.name))
    deeper = [file for name in (CHECKPOINTS, RECOVERED) for file in sorted(path.glob(f"{name}/*"))]
    for file in (path, *inside, *deeper):
        try:
            mode = stat.S_IMODE(file.stat().st_mode)
        except FileNotFoundError:  # a writer's note of itself comes and goes
            continue
        wanted = 0o700 if file.is_dir() else 0o600
        if mode & ~wanted:
            where = "." if file == path else str(file.relative_to(path))
            yield Finding("warning", where, f"has mode {mode:04o}; {wanted:04o} keeps it private")
