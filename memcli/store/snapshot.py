"""One committed state, read without a lock and without writing.

A writer may go on meanwhile: what it appends lies beyond the committed length, and what an
undo, a compaction or a repair takes away is noticed after reading and reported, never mixed in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from memcli.errors import RecordError, StoreDamaged, StoreError
from memcli.records.codec import loads, turn_from_line
from memcli.records.evidence import Turn
from memcli.store.jsonl import (
    BUFFER_BYTES,
    Placement,
    Tally,
    file_size,
    identity,
    read_tail,
    stream,
    tail_hash,
)
from memcli.store.manifest import (
    FileEntry,
    Manifest,
    decode,
    earlier_files,
    read_manifest,
)

_ATTEMPTS = 20
_REPAIR = "run `memcli verify --repair` to go back to the newest state that is whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """How far derived data has come.

    Attributes:
        name: File it was made from.
        epoch: See `FileEntry.epoch`.
        bytes: Committed bytes it covers.
    """

    name: str
    epoch: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A committed state of a store.

    Attributes:
        path: The store directory.
        manifest: What is committed.
        warnings: Lines for a person, e.g. that an earlier state is read because a file lost
            its end.
    """

    path: Path
    manifest: Manifest
    warnings: tuple[str, ...] = ()

    def file(self, kind: str) -> Path | None:
        """Return the kind's file, or None where the kind has no record yet."""
        entry = self.manifest.files.get(kind)
        return self.path / entry.name if entry else None

    def committed_bytes(self, kind: str) -> int:
        """Return the committed length of the kind's file."""
        entry = self.manifest.files.get(kind)
        return entry.bytes if entry else 0

    def records(self, kind: str) -> int:
        """Return the committed lines of the kind, superseded ones included."""
        entry = self.manifest.files.get(kind)
        return entry.records if entry else 0

    def watermark(self, kind: str) -> Watermark | None:
        """Return what derived data made from this state has to remember; None without a file."""
        entry = self.manifest.files.get(kind)
        if entry is None:
            return None
        return Watermark(name=entry.name, epoch=entry.epoch, bytes=entry.bytes)

    def continues(self, kind: str, mark: Watermark) -> bool:
        """Return whether the kind's file only grew since ``mark``.

        If so, the uncovered tail starts at byte ``mark.bytes``. No file is read.
        """
        entry = self.manifest.files.get(kind)
        return entry is not None and (
            (entry.name, entry.epoch) == (mark.name, mark.epoch) and mark.bytes <= entry.bytes
        )

    def lines(self, kind: str, *, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield (offset, line without its line break) of the committed part, in file order.

        Args:
            kind: One of `layout.KINDS`.
            start: Byte offset of a line's first byte, e.g. of a watermark.

        Raises:
            ValueError: If ``start`` is within a line or beyond the committed bytes.
            StoreError: If a writer took these bytes away while they were read.
        """
        entry = self.manifest.files.get(kind)
        if entry is None or start == entry.bytes:
            return
        is_boundary = read_tail(self.path / entry.name, start)[-1:] in (b"\n", b"")
        if start > entry.bytes or not is_boundary:
            raise ValueError(f"no line of {entry.name} starts at byte {start}")
        with self.reading(kind, BUFFER_BYTES) as file:
            for offset, line in stream(file, start, entry.bytes):
                yield offset, line[:-1]

    def turns(self, *, start: int = 0) -> Iterator[tuple[Placement, Turn]]:
        """Yield every committed turn with its placement, in file order, superseded included.

        Raises:
            RecordError: At a line that is no turn.
        """
        name = str(self.file("turns"))
        for number, (offset, line) in enumerate(self.lines("turns", start=start), 1):
            try:
                turn = turn_from_line(line, path=name, number=None if start else number)
            except RecordError:
                self._check_there(self.manifest.files["turns"])
                raise
            yield Placement(offset, len(line) + 1), turn

    def read_line(self, kind: str, place: Placement) -> bytes:
        """Return one line without its line break, reading no other byte."""
        return self.read_lines(kind, [place])[0]

    def read_lines(self, kind: str, places: Sequence[Placement]) -> list[bytes]:
        """Return the lines at ``places``, without line breaks, in the order given.

        Raises:
            StoreDamaged: If a placement is not exactly one committed line's length.
            StoreError: If a writer took these bytes away while they were read.
        """
        if not places:
            return []
        lines = []
        with self.reading(kind) as file:
            for place in places:
                file.seek(place.offset)
                lines.append(file.read(place.length))
        entry = self.manifest.files[kind]
        for place, line in zip(places, lines, strict=True):
            if place.offset + place.length > entry.bytes or line.find(b"\n") != place.length - 1:
                raise StoreDamaged(f"no line of {entry.name} is at byte {place.offset}")
        return [line[:-1] for line in lines]

    def read_turn(self, place: Placement) -> Turn:
        """Return the turn at ``place``, reading no other byte of its file's body."""
        return self.read_turns([place])[0]

    def read_turns(self, places: Sequence[Placement]) -> list[Turn]:
        """Return the turns at ``places``, in the order given, with the file opened once."""
        name = str(self.file("turns"))
        return [turn_from_line(line, path=name) for line in self.read_lines("turns", places)]

    def newest(self, kind: str) -> dict[str, Placement]:
        """Return the newest record of each identity, in order of first appearance.

        Memory is one entry an identity. Kinds in which every record counts (traces) have no
        identities and give an empty dict.

        Raises:
            StoreDamaged: At a line that has no identity.
        """
        places: dict[str, Placement] = {}
        for offset, line in self.lines(kind):
            try:
                name = identity(kind, loads(line))
            except ValueError as error:
                self._check_there(self.manifest.files[kind])
                raise StoreDamaged(f"{self.file(kind)} at byte {offset}: {error}") from error
            if name is not None:
                places[name] = Placement(offset, len(line) + 1)
        return places

    @contextmanager
    def reading(self, kind: str, buffering: int = 0) -> Iterator[BinaryIO]:
        """Open the kind's file; at the end, check that no writer took its bytes away.

        Raises:
            StoreDamaged: If the kind has no file.
            StoreError: If a writer did.
        """
        entry = self.manifest.files.get(kind)
        if entry is None:
            raise StoreDamaged(f"{self.path} holds no {kind}")
        try:
            file = (self.path / entry.name).open("rb", buffering)
        except FileNotFoundError:
            self._check_there(entry)
            raise
        with file:
            yield file
        self._check_there(entry)

    def _check_there(self, entry: FileEntry) -> None:
        if entry_fault(self.path, entry) is not None:
            raise StoreError(
                f"{self.path / entry.name} was changed by a writer while it was read",
                hint="run the command again",
            )


def entry_fault(path: Path, entry: FileEntry) -> str | None:
    """Return ``short`` or ``edited`` where the file does not hold what was committed.

    Costs one stat and one 4 KiB read.
    """
    file = path / entry.name
    if file_size(file) < entry.bytes:
        return "short"
    return None if tail_hash(read_tail(file, entry.bytes)) == entry.tail else "edited"


def read_tally(path: Path, entry: FileEntry) -> Tally:
    """Return the figures from which appending to an entry goes on."""
    tail = read_tail(path / entry.name, entry.bytes)
    return Tally(entry.bytes, entry.records, entry.crc, tail)


def faults(path: Path, manifest: Manifest) -> dict[str, str]:
    """Return the `entry_fault` of each kind that has one."""
    found = {kind: entry_fault(path, entry) for kind, entry in manifest.files.items()}
    return {kind: fault for kind, fault in found.items() if fault is not None}


def cover(path: Path, *, below: int | None = None) -> Manifest | None:
    """Return the newest earlier manifest that the files cover with matching tails, or None.

    Args:
        path: The store.
        below: Only manifests of an earlier commit than this; None for all.
    """
    candidates = []
    for file in earlier_files(path):
        try:
            manifest = decode(file.read_bytes(), file)
        except (StoreError, OSError):  # an earlier manifest may be torn or rotated away by now
            continue
        if below is None or manifest.commit < below:
            candidates.append(manifest)
    candidates.sort(key=lambda manifest: -manifest.commit)
    return next((manifest for manifest in candidates if not faults(path, manifest)), None)


def open_snapshot(path: Path, *, strict: bool = False) -> Snapshot:
    """Return the newest committed state that can be read.

    Where a file is shorter than the newest manifest says (a copy made during a write, a lost
    end), the newest earlier state that the files cover, with a warning.

    Args:
        path: The store directory.
        strict: Refuse an earlier state: what a writer needs.

    Raises:
        StoreMissing, SchemaVersionError: See `read_manifest`.
        StoreDamaged: If a file was edited, or is short and nothing earlier is covered.
    """
    manifest = read_manifest(path)
    for _ in range(_ATTEMPTS):
        found = _faults(path, manifest)
        if not found:
            return Snapshot(path=path, manifest=manifest)
        again = read_manifest(path)  # a writer may have committed between the two reads
        if again == manifest:
            return _fall_back(path, manifest, found, strict)
        manifest = again
    raise StoreError(f"{path} changes faster than it can be read", hint="run the command again")


def _faults(path: Path, manifest: Manifest) -> dict[str, str]:
    try:
        return faults(path, manifest)
    except OSError as error:
        raise StoreError(f"cannot read the store {path}: {error.strerror}") from error


def _fall_back(path: Path, manifest: Manifest, found: dict[str, str], strict: bool) -> Snapshot:
    kind, fault = min(found.items(), key=lambda item: (item[1] != "edited", item[0]))
    entry = manifest.files[kind]
    if fault == "edited":
        raise StoreDamaged(
            f"{path / entry.name} was edited: its committed bytes are not those of commit "
            f"{manifest.commit}",
            hint="put the file back from a copy; `memcli verify` names what differs",
        )
    short = (
        f"{path / entry.name} has {file_size(path / entry.name)} of the {entry.bytes} bytes of "
        f"commit {manifest.commit}"
    )
    earlier = None if strict else cover(path, below=manifest.commit)
    if earlier is None:
        raise StoreDamaged(f"{short}: its end is missing", hint=_REPAIR)
    state = f"the state of commit {earlier.commit} ({earlier.committed_at}) is read"
    return Snapshot(path=path, manifest=earlier, warnings=(f"{short}: {state}. {_REPAIR}",))
