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
_TO_COMMA = re.compile(rb'[^"\[\]{},]*+(?:' + _STRING + rb'[^"\[\]{},]*+)*+', re.DOTALL)
_IN_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_BLANK = re.compile(rb"[\s]*+")

_QUOTE, _BACKSLASH, _COMMA, _COLON = (ord(sign) for sign in '"\\,:')
_OPENING, _CLOSING = frozenset(b"[{"), frozenset(b"]}")
_ARRAY, _END = ord("["), ord("]")


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
        yield from _close(feed, stack)
        mark = feed.mark()
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


def _close(feed: _Feed, stack: list[tuple[Path, bool]]) -> Iterator[Part]:
    """Step out of the containers that end here; a bracket that ends none is told."""
    while stack and (mark := feed.mark()) in _CLOSING:
        path, is_array = stack[-1]
        if (mark == _END) == is_array:
            stack.pop()
            feed.step()
        elif is_array:  # a brace too many: the array goes on
            feed.step()
            yield Part(path, b"}", problem="a bracket too many")
        else:
            stack.pop()
            yield Part(path, problem="a bracket is missing")


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
    raw = feed.name()
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

    def name(self) -> bytes:
        """Step over the string that begins here and return it with its quotes."""
        held, start = list[bytes](), self._at
        self._at += 1
        while True:
            match = _IN_STRING.match(self._data, self._at)
            self._at = match.end() if match else self._at
            if self._data[self._at : self._at + 1] == b'"':
                self._at += 1
                return b"".join((*held, self._data[start : self._at]))
            rest = self._data[self._at :]  # nothing, or a backslash without its other half
            held.append(self._data[start : self._at])
            start = 0
            if not self._load(rest):
                return b"".join((*held, rest))

    def value(self) -> tuple[bytes, bool]:
        """Return the bytes up to the comma or bracket behind a value, and if they are whole."""
        held, start = list[bytes](), self._at
        level, in_string = 0, False
        while True:
            between = _TO_BRACKET if level else _TO_COMMA
            match = (_IN_STRING if in_string else between).match(self._data, self._at)
            self._at = match.end() if match else self._at
            sign = self._data[self._at] if self._at < len(self._data) else None
            if sign is None or (in_string and sign == _BACKSLASH):
                rest = self._data[self._at :]
                held.append(self._data[start : self._at])
                start = 0
                if not self._load(rest):
                    return b"".join((*held, rest)).rstrip(), not level and not in_string
                continue
            if sign == _QUOTE:
                in_string = not in_string
            elif not level and sign not in _OPENING:
                return b"".join((*held, self._data[start : self._at])).rstrip(), True
            else:
                level += 1 if sign in _OPENING else -1
            self._at += 1
