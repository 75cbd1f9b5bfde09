"""Lines of a store file: tallying what is appended, streaming what is committed."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from memcli.errors import RecordError
from memcli.records.codec import loads, turn_from_line, turn_to_line
from memcli.records.strategy_codec import (
    edge_from_line,
    edge_to_line,
    index_line_from_line,
    index_line_to_line,
    node_from_line,
    node_to_line,
    trace_from_line,
    trace_to_line,
)
from memcli.store.layout import IDENTITY

TAIL_BYTES = 4096
"""The last bytes of what is committed, whose hash a manifest keeps."""

BUFFER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a line is in its file.

    Attributes:
        offset: First byte.
        length: Bytes, line break included.
    """

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Tally:
    """Running figures of a file's content from its first byte on.

    Attributes:
        length: Bytes so far.
        records: Lines so far.
        crc: CRC-32 of every byte so far.
        tail: The last `TAIL_BYTES` bytes, fewer in a short file.
    """

    length: int = 0
    records: int = 0
    crc: int = 0
    tail: bytes = b""

    def extend(self, data: bytes, records: int) -> Tally:
        """Return the figures after ``data``, which holds that many lines."""
        return Tally(
            self.length + len(data),
            self.records + records,
            zlib.crc32(data, self.crc),
            (self.tail + data[-TAIL_BYTES:])[-TAIL_BYTES:],
        )


def tail_hash(tail: bytes) -> str:
    """Return the hex hash of a file's last bytes."""
    return hashlib.blake2b(tail, digest_size=16).hexdigest()


def read_tail(path: Path, end: int) -> bytes:
    """Return the `TAIL_BYTES` bytes before ``end``, fewer at the start of the file.

    A missing file reads as empty: it is a file without a single byte.
    """
    start = max(0, end - TAIL_BYTES)
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(start)
            return file.read(end - start) or b""
    except FileNotFoundError:
        return b""


def file_size(path: Path) -> int:
    """Return the length in bytes; 0 for a missing file."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def stream(file: BinaryIO, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line with its line break) between two line boundaries, in file order.

    Memory is one line. A last line that ``end`` or the end of the file cuts comes as it is.
    """
    file.seek(start)
    offset = start
    while offset < end:
        line = file.readline(end - offset)
        if not line:
            return
        yield offset, line
        offset += len(line)


def identity(kind: str, data: object) -> str | None:
    """Return the name of a parsed record within its kind; None where every record counts.

    Raises:
        ValueError: If the record is no object or a naming field is missing or no string.
    """
    if not isinstance(data, dict):
        raise ValueError("is not a JSON object")
    parts = [data.get(field) for field in IDENTITY[kind]]
    for field, part in zip(IDENTITY[kind], parts, strict=True):
        if not isinstance(part, str) or not part:
            raise ValueError(f"has no {field}")
    return "\x1f".join(map(str, parts)) or None


def parse(kind: str, line: bytes, *, path: str, number: int | None = None) -> str | None:
    """Return the `identity` of a line after checking all of it.

    Raises:
        RecordError: If it is not one whole record of the kind, or would be written otherwise.
    """
    if not line.endswith(b"\n") or line.count(b"\n") != 1:
        raise RecordError(path, number, "", "is not one whole line")
    try:
        name, again = _rewritten(kind, line, path, number)
    except (ValueError, RecursionError) as error:
        raise RecordError(path, number, "", f"is not a record ({error})") from error
    if again != line:
        raise RecordError(path, number, "", "is not as memcli writes it: a field would be lost")
    return name


def _rewritten(kind: str, line: bytes, path: str, number: int | None) -> tuple[str | None, bytes]:
    """Return a record's identity and the line a rewrite would put in its place."""
    if kind == "turns":
        turn = turn_from_line(line, path=path, number=number)
        return turn.id, turn_to_line(turn)
    return identity(kind, loads(line)), _REWRITE[kind](line, path, number)


_REWRITE: Mapping[str, Callable[[bytes, str, int | None], bytes]] = {
    "nodes": lambda line, path, number: node_to_line(
        node_from_line(line, path=path, number=number)
    ),
    "edges": lambda line, path, number: edge_to_line(
        edge_from_line(line, path=path, number=number)
    ),
    "index": lambda line, path, number: index_line_to_line(
        index_line_from_line(line, path=path, number=number)
    ),
    "traces": lambda line, path, number: trace_to_line(
        trace_from_line(line, path=path, number=number)
    ),
}
