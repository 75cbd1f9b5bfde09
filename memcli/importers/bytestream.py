"""Bytes of an input as clean UTF-8: byte order marks removed, UTF-16 converted, lines split.

Only a line feed ends a line: U+2028, U+2029 and U+0085 are ordinary characters of a JSON string or
a sentence. Nothing is ever replaced: bytes that are not UTF-8 stay as they are, so that the
line or record that holds them can be rejected with its place.
"""

from __future__ import annotations

import codecs
import lzma
import zipfile
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from memcli.errors import SourceFormatError
from memcli.importers.contract import RAW_CHARS, Input, Rejected

CHUNK_BYTES = 1 << 20

READ_ERRORS = (OSError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError)
"""What reading a damaged, encrypted or vanished file raises (zipfile uses RuntimeError and
its subclass NotImplementedError for encryption and unknown compression)."""

_UTF16_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_NOT_UTF8 = b"\xff"


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its line end; ``number`` counts from 1."""

    number: int
    raw: bytes


def raw_chunks(source: Input) -> Generator[bytes]:
    """Yield the bytes of an input as they are.

    Raises:
        SourceFormatError: If the file cannot be read to its end.
    """
    try:
        with source.open() as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk
    except READ_ERRORS as error:
        raise SourceFormatError(
            f"{source.name}: cannot be read to its end ({error})",
            hint="copy or download the file again",
        ) from error


def utf8_chunks(source: Input) -> Iterator[bytes]:
    """Yield the bytes of an input without byte order mark, UTF-16 converted to UTF-8."""
    for mark, encoding in _UTF16_MARKS.items():
        if source.head.startswith(mark):
            return _from_utf16(source, encoding)
    return _without_mark(source)


def _without_mark(source: Input) -> Iterator[bytes]:
    chunks = raw_chunks(source)
    first = next(chunks, b"")
    yield first.removeprefix(codecs.BOM_UTF8)
    yield from chunks


def _from_utf16(source: Input, encoding: str) -> Iterator[bytes]:
    """Yield UTF-8; a lone surrogate or half a unit becomes bytes that are not UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
    for number, chunk in enumerate(raw_chunks(source)):
        body = chunk[2:] if number == 0 else chunk
        yield decoder.decode(body).encode("utf-8", "surrogatepass")
    pending, _ = decoder.getstate()
    if pending:
        yield _NOT_UTF8


def lines(source: Input, *, ends: bytes = b"\r") -> Iterator[Line]:
    """Yield the lines of an input.

    Args:
        source: What to read.
        ends: Dropped before a line feed; nothing where the line end itself tells something.
    """
    number, pending = 0, list[bytes]()
    for chunk in utf8_chunks(source):
        head, *rest = chunk.split(b"\n")
        pending.append(head)
        for part in rest:
            number += 1
            yield Line(number, b"".join(pending).removesuffix(ends))
            pending = [part]
    last = b"".join(pending)
    if last:
        yield Line(number + 1, last.removesuffix(ends))


def rejected(where: str, reason: str, raw: bytes | str = b"") -> Rejected:
    """Return a `Rejected` whose raw text is cut to length; odd bytes show as escapes."""
    if isinstance(raw, bytes):
        raw = raw[: RAW_CHARS * 4].decode("utf-8", "backslashreplace")
    return Rejected(where=where, reason=reason, raw=raw[:RAW_CHARS])
