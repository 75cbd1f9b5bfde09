"""From what a user names (files, folders, zips, ``-``) to inputs that importers can read.

One bad file never stops the good ones: it becomes an `Unreadable` in its place. Zips are
found by content and read in place, nothing is unpacked to disk; their size is limited.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import stat
import sys
import tempfile
import weakref
import zipfile
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, cast

from memcli.errors import SourceFormatError
from memcli.importers.bytestream import READ_ERRORS
from memcli.importers.contract import HEAD_BYTES

STDIN = "-"
MAX_MEMBERS = 100_000
MAX_RATIO = 250
"""Expansion above which a large zip member is taken for a bomb: chats reach 10 to 60."""
RATIO_FREE_BYTES = 64 << 20
MAX_MEMBER_BYTES = 16 << 30

_ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
_MEDIA_WORDS = """
    .png .jpg .jpeg .gif .webp .heic .svg .mp3 .m4a .wav .ogg .opus .oga .mp4 .mov .webm .avi .pdf
    .docx .xlsx .pptx .dat .bin .css .js .ico .woff .woff2 .ttf
    """
_MEDIA = frozenset(_MEDIA_WORDS.split())


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An input that cannot be read, and why; the others go on."""

    name: str
    error: SourceFormatError


class FileInput:
    """A file on disk; inputs compare by identity.

    Attributes:
        name: Base name, or ``stdin``.
        path: Where it is.
        container: The folder the user named above it; None for a file named itself.
    """

    def __init__(self, path: Path, *, name: str = "", container: str | None = None) -> None:
        self.path = path
        self.name = name or path.name
        self.container = container
        _beginning(self)

    @property
    def head(self) -> bytes:
        """The first `HEAD_BYTES` bytes."""
        return _beginning(self)[:HEAD_BYTES]

    @property
    def is_whole(self) -> bool:
        """True when ``head`` is the whole file."""
        return len(_beginning(self)) <= HEAD_BYTES

    @property
    def inner(self) -> str:
        """Path for matching companions, ``/`` between folders."""
        return self.path.as_posix()

    def open(self) -> BinaryIO:
        """Return a fresh binary stream from the start."""
        return self.path.open("rb")

    @property
    def stamp(self) -> Hashable:
        """What changes when the file does."""
        state = self.path.stat()
        return (str(self.path), state.st_size, state.st_mtime_ns)

    def beside(self, path: str) -> FileInput | None:
        """Return the file at a path relative to this file's folder, or None."""
        there = Path(os.path.normpath(self.path.absolute().parent / path))
        return FileInput(there, container=self.container) if there.is_file() else None


class _Archive:
    """A zip that stays open while an input of it is in use: its table is read only once."""

    def __init__(self, file: FileInput) -> None:
        self.file = file
        self.opened = zipfile.ZipFile(file.path)
        weakref.finalize(self, self.opened.close)


class ZipMember:
    """A file inside a zip, read in place; inputs compare by identity.

    Attributes:
        name: ``archive.zip!member``.
        inner: The member's name.
        container: The archive.
    """

    def __init__(self, archive: _Archive, info: zipfile.ZipInfo) -> None:
        self._archive, self._info = archive, info
        self.inner = info.filename
        self.name = f"{archive.file.name}!{info.filename}"
        self.container: str | None = str(archive.file.path)
        _beginning(self)

    @property
    def head(self) -> bytes:
        """The first `HEAD_BYTES` bytes."""
        return _beginning(self)[:HEAD_BYTES]

    @property
    def is_whole(self) -> bool:
        """True when ``head`` is the whole member."""
        return len(_beginning(self)) <= HEAD_BYTES

    def open(self) -> BinaryIO:
        """Return a fresh binary stream from the start."""
        return cast(BinaryIO, self._archive.opened.open(self._info))

    @property
    def stamp(self) -> Hashable:
        """What changes when the file does."""
        return (self.container, self.inner, self._info.CRC, self._info.file_size)

    def beside(self, path: str) -> ZipMember | None:
        """Return the member at a path relative to this one's folder, or None."""
        there = posixpath.normpath(posixpath.join(posixpath.dirname(self.inner), path))
        try:
            info = self._archive.opened.getinfo(there)
        except KeyError:
            return None
        return None if info.is_dir() or _danger(info) else ZipMember(self._archive, info)


FoundInput = FileInput | ZipMember


@lru_cache(maxsize=2)
def _beginning(source: FoundInput) -> bytes:
    """Return one byte more than the head; kept for the last inputs only, a folder has many."""
    with source.open() as stream:
        return stream.read(HEAD_BYTES + 1)


def expand(paths: Iterable[str | Path]) -> Iterator[FoundInput | Unreadable]:
    """Yield the inputs that paths stand for, in the order given.

    Args:
        paths: Files; folders (walked, sorted, hidden entries and media skipped); zips,
            recognised by content; ``-`` for standard input.

    Yields:
        Inputs, and an `Unreadable` for whatever is missing, forbidden or damaged.
    """
    for path in paths:
        if str(path) == STDIN:
            yield from _standard_input()
        elif os.path.isdir(path):  # unlike Path.is_dir, no error where it may not look
            yield from _folder(Path(path))
        else:
            yield from _file(Path(path))


def _unreadable(name: str, problem: str, hint: str) -> Unreadable:
    return Unreadable(name, SourceFormatError(f"{name}: {problem}", hint=hint))


def _folder(folder: Path) -> Iterator[FoundInput | Unreadable]:
    """Yield the files below a folder: sorted by path, entries with a leading dot skipped."""
    failed = list[OSError]()
    found = list[Path]()
    for here, folders, files in os.walk(folder, onerror=failed.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(here, name) for name in files if not name.startswith(".")]
    for error in failed:
        yield _unreadable(str(error.filename), _reason(error), "check its permissions")
    ordered = sorted(found, key=Path.as_posix)  # x.jsonl before x/subagents/…
    wanted = [path for path in ordered if path.suffix.lower() not in _MEDIA]
    if not wanted and not failed:
        yield _unreadable(str(folder), "the folder holds no files to read", "name another one")
    for path in wanted:
        yield from _file(path, container=str(folder))


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _file(path: Path, *, container: str | None = None) -> Iterator[FoundInput | Unreadable]:
    try:
        kind = path.stat().st_mode
        if stat.S_ISFIFO(kind) and container is not None:
            # Opening it would wait for a writer that may never come; nobody named it.
            yield _unreadable(str(path), "is a pipe, not a file", "name it itself to read it")
            return
        if stat.S_ISFIFO(kind):
            with path.open("rb") as stream:
                found = _spool(stream, path.name)
        elif stat.S_ISREG(kind):
            found = FileInput(path, container=container)
        else:
            yield _unreadable(str(path), "is a device, not a file", "name a transcript file")
            return
    except FileNotFoundError:
        yield _unreadable(str(path), "no such file or folder", "check the path")
    except OSError as error:
        yield _unreadable(str(path), _reason(error), "check its permissions")
    else:
        yield from _members(found) if found.head.startswith(_ZIP_MARKS) else [found]


def _standard_input() -> Iterator[FoundInput | Unreadable]:
    try:
        found = _spool(sys.stdin.buffer, "stdin")
    except OSError as error:
        yield _unreadable("stdin", _reason(error), "save it as a file first")
        return
    yield from _members(found) if found.head.startswith(_ZIP_MARKS) else [found]


def _spool(stream: BinaryIO, name: str) -> FileInput:
    """Copy a stream that can be read once into a temporary file, gone with the input."""
    descriptor, path = tempfile.mkstemp(prefix="memcli-", suffix=".input")
    try:
        with os.fdopen(descriptor, "wb") as copy:
            shutil.copyfileobj(stream, copy)
        found = FileInput(Path(path), name=name)
    except BaseException:
        Path(path).unlink(missing_ok=True)
        raise
    weakref.finalize(found, Path(path).unlink, missing_ok=True)
    return found


def _members(file: FileInput) -> Iterator[FoundInput | Unreadable]:
    """Yield the members of a zip sorted by name; hidden ones, folders and media skipped."""
    try:
        archive = _Archive(file)
    except READ_ERRORS as error:
        yield _unreadable(
            file.name, f"is a damaged zip ({error})", "download it again; it may be cut off"
        )
        return
    members = archive.opened.infolist()
    if len(members) > MAX_MEMBERS:
        yield _unreadable(
            file.name, f"holds more than {MAX_MEMBERS:,} entries", "unpack what you need"
        )
        return
    for info in sorted(members, key=lambda member: member.filename):
        if not _is_skipped(info):
            yield _member(archive, info)


def _is_skipped(info: zipfile.ZipInfo) -> bool:
    parts = info.filename.split("/")
    hidden = any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts)
    return info.is_dir() or hidden or Path(parts[-1]).suffix.lower() in _MEDIA


def _member(archive: _Archive, info: zipfile.ZipInfo) -> FoundInput | Unreadable:
    name = f"{archive.file.name}!{info.filename}"
    if problem := _danger(info):
        return _unreadable(name, problem, "unpack the archive and name the file itself")
    try:
        member = ZipMember(archive, info)
    except READ_ERRORS as error:
        return _unreadable(name, f"cannot be read ({error})", "download the archive again")
    if member.head.startswith(_ZIP_MARKS):
        return _unreadable(name, "is a zip inside a zip", "unpack the outer archive first")
    return member


def _danger(info: zipfile.ZipInfo) -> str:
    """Return why a member must not be read, or nothing."""
    if info.flag_bits & 0x1:
        return "is encrypted"
    if ".." in info.filename.split("/") or info.filename.startswith("/"):
        return "names a path outside the archive"
    ratio = info.file_size / max(info.compress_size, 1)
    bomb = info.file_size > RATIO_FREE_BYTES and ratio > MAX_RATIO
    if bomb or info.file_size > MAX_MEMBER_BYTES:
        return f"would expand {ratio:,.0f}-fold to {info.file_size:,} bytes"
    return ""
