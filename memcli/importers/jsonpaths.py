"""Cuts one JSON document into its parts without ever holding it: for exports in an object.

The caller names the containers to step into; every other value comes whole, as bytes, with the
path to it. So a document needs the memory of its largest part however deep its records lie.
The scanner knows only strings, brackets, commas and colons: parts are parsed by whoever wants
them, and a damaged one costs only itself.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass

Path = tuple[str, ...]
"""Names of members from the top down; `ITEM` for any item of an array."""
ITEM = "*"
CUT_OFF = "the file is cut off here"

# Loops are unrolled and possessive: linear time, one match however long the text.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TO_BRACKET = re.compile(rb'[^"\[\]{}]*+(?:' + _STRING + rb'[^"\[\]{}]*+)*+', re.DOTALL)
_IN_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_BLANK = re.compile(rb"[\s]*+")
_SCALAR = re.compile(rb'[^\s"\[\]{},:]*+')

_QUOTE, _BACKSLASH, _COMMA, _COLON = (ord(sign) for sign in '"\\,:')
_OPENING, _CLOSING = frozenset(b"[{"), frozenset(b"]}")
_ARRAY = ord("[")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document.

    Attributes:
        path: Where it stands.
        raw: Its bytes; empty where a container is stepped into.
        is_entry: True where a container is stepped into: its parts follow.
        problem: Why it is not whole, or nothing.
    """

    path: Path
    raw: bytes = b""
    is_entry: bool = False
    problem: str = ""


def parts(chunks: Iterator[bytes], into: Container[Path]) -> Iterator[Part]:
    """Yield the parts of a document in order.

    Args:
        chunks: The document as UTF-8.
        into: Paths of the arrays and objects to step into; ``()`` is the top.
    """
    feed = _Feed(chunks)
    stack: list[tuple[Path, bool]] = []
    path: Path = ()
    while True:
        yield from _value(feed, path, into, stack)
        mark = feed.mark()
        while stack and mark in _CLOSING:
            stack.pop()
            mark = feed.step()
        if not stack:
            break
        if mark is None:
            yield Part(stack[-1][0], problem=CUT_OFF)
            return
        if mark == _COMMA:
            feed.step()
        path = _next_path(feed, stack[-1])
    if feed.mark() is not None:
        yield Part((), problem="text after the end of the JSON document")


def _value(
    feed: _Feed, path: Path, into: Container[Path], stack: list[tuple[Path, bool]]
) -> Iterator[Part]:
    """Yield the value that begins here, or step into it as far as its first part."""
    while True:
        mark = feed.mark()
        if mark in _OPENING and path in into:
            feed.step()
            stack.append((path, mark == _ARRAY))
            yield Part(path, is_entry=True)
            if feed.mark() is None or feed.mark() in _CLOSING:
                return
            path = _next_path(feed, stack[-1])
        elif mark is None or mark in _CLOSING or mark == _COMMA:
            return
        else:
            raw, is_whole = feed.value()
            yield Part(path, raw, problem="" if is_whole else CUT_OFF)
            return


def _next_path(feed: _Feed, container: tuple[Path, bool]) -> Path:
    """Return the path of the next part of a container; a member's name is stepped over."""
    path, is_array = container
    if is_array or feed.mark() != _QUOTE:
        return (*path, ITEM)
    raw, _ = feed.value()
    if feed.mark() == _COLON:
        feed.step()
    return (*path, raw[1:-1].decode("utf-8", "backslashreplace"))


class _Feed:
    """The bytes of a document: a window that moves on."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._data, self._at = chunks, b"", 0

    def mark(self) -> int | None:
        """Return the next byte that is no blank, None at the end; it is not stepped over."""
        while True:
            match = _BLANK.match(self._data, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._data):
                return self._data[self._at]
            if not self._load():
                return None

    def step(self) -> int | None:
        """Step over one byte and return the next mark."""
        self._at += 1
        return self.mark()

    def _load(self, keep: bytes = b"") -> bool:
        """Go on to the next bytes, ``keep`` before them; False at the end."""
        chunk = next((each for each in self._chunks if each), b"")
        self._data, self._at = keep + chunk, 0
        return bool(chunk)

    def value(self) -> tuple[bytes, bool]:
        """Return the bytes of the value that begins here and whether it is whole."""
        first = self._data[self._at]
        if first == _QUOTE:
            self._at += 1
            raw, is_whole = self._through(depth=0)
            return b'"' + raw, is_whole
        if first in _OPENING:
            return self._through(depth=None)
        return self._scalar(), True

    def _through(self, depth: int | None) -> tuple[bytes, bool]:
        """Return the bytes up to the end of a string (``depth`` 0: inside it) or container."""
        held = list[bytes]()
        start, level, in_string = self._at, 0, depth == 0
        while True:
            match = (_IN_STRING if in_string else _TO_BRACKET).match(self._data, self._at)
            self._at = match.end() if match else self._at
            if self._at >= len(self._data) or self._data[self._at] == _BACKSLASH:
                rest = self._data[self._at :]  # a backslash without its other half
                held.append(self._data[start : self._at])
                start = 0
                if not self._load(rest):
                    return b"".join((*held, rest)), False
                continue
            sign = self._data[self._at]
            self._at += 1
            if sign == _QUOTE:
                in_string = not in_string
            elif sign in _OPENING:
                level += 1
            else:
                level -= 1
            if level == 0 and not in_string:
                return b"".join((*held, self._data[start : self._at])), True

    def _scalar(self) -> bytes:
        held = list[bytes]()
        while True:
            match = _SCALAR.match(self._data, self._at)
            end = match.end() if match else self._at
            held.append(self._data[self._at : end])
            self._at = end
            if end < len(self._data) or not self._load():
                if not any(held):  # a stray colon or quote: stepped over, never stood still
                    self._at += 1
                return b"".join(held)
