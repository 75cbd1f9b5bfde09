"""JSON values of an input, one at a time: the lines of JSONL, the items of a huge array.

A value that does not parse costs only itself. Arrays are cut into items by a scanner that
knows only strings and brackets, so an export of any size needs the memory of its largest
item, each item is parsed at full speed, and a cut file gives every item that is whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memcli.importers.bytestream import Line, lines, rejected, utf8_chunks
from memcli.importers.contract import Event, Input, Rejected
from memcli.importers.mending import mended
from memcli.records.codec import loads

# Everything up to the next bracket (and comma); a string that is not closed yet stops it.
# Loops are unrolled and possessive: linear time, one match however long the text.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TO_BRACKET = re.compile(rb'[^"\[\]{}]*+(?:' + _STRING + rb'[^"\[\]{}]*+)*+', re.DOTALL)
_TO_COMMA = re.compile(rb'[^"\[\]{},]*+(?:' + _STRING + rb'[^"\[\]{},]*+)*+', re.DOTALL)
_IN_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)

_AS_ZEROS, _LONG_NUMBER = bytes.maketrans(b"123456789", b"0" * 9), b"0" * 19
"""Nineteen digits in a row, found by translating: ten times as fast as a pattern."""

_QUOTE, _COMMA, _ARRAY, _BRACE = (ord(mark) for mark in '",[}')
_OPENING, _CLOSING = frozenset(b"[{"), frozenset(b"]}")


@dataclass(frozen=True, slots=True)
class Item:
    """One parsed value and its place: ``file:line`` or ``file#item``, both from 1."""

    where: str
    value: Any
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of one array item; ``problem`` says why they are not a whole item."""

    raw: bytes
    problem: str = ""


def parse(where: str, raw: bytes, line: int | None = None) -> Item | Rejected:
    """Return the value of one JSON document, or why it has none."""
    try:
        is_long = _LONG_NUMBER in raw.translate(_AS_ZEROS)
        return Item(where, _exact(raw) if is_long else loads(raw), line)
    except UnicodeDecodeError as error:
        return rejected(where, f"not UTF-8 at byte {error.start + 1} of the record", raw)
    except RecursionError:
        return rejected(where, "nested too deeply", raw)
    except ValueError as error:
        return rejected(where, f"not JSON ({error})", raw)


def _exact(raw: bytes) -> Any:
    """Return the value of JSON with long numbers, which the fast parser would round."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    return json.loads(raw.decode("utf-8"), parse_constant=refuse)


def as_json(value: Any) -> str:
    """Return a value as JSON with its own characters, not escapes."""
    return json.dumps(value, ensure_ascii=False)


def brief(value: Any) -> str:
    """Return the beginning of a value as JSON, for a message."""
    try:
        return as_json(value)[:60]
    except RecursionError:
        return "a value nested too deeply"


def rejected_value(where: str, reason: str, value: Any) -> Rejected:
    """Return a `Rejected` that shows the beginning of a parsed value."""
    try:
        shown = as_json(value)
    except RecursionError:
        shown = ""
    return rejected(where, reason, shown)


def sheltered(where: str, events: Iterator[Event]) -> list[Event]:
    """Return the events of one record, or its rejection where it is nested too deeply.

    The parser takes about a thousand levels, more than can be walked or written again.
    """
    try:
        return list(events)
    except RecursionError:
        return [rejected(where, "nested too deeply")]


def json_lines(source: Input) -> Iterator[Item | Rejected]:
    """Yield the value of each line that is not blank, in file order."""
    for line in lines(source):
        if line.raw.strip():
            yield from _line_values(source.name, line)


def _line_values(name: str, line: Line) -> Iterator[Item | Rejected]:
    """Yield the value of a line; two whole objects torn onto one line are both kept."""
    where = f"{name}:{line.number}"
    found = parse(where, line.raw, line.number)
    if isinstance(found, Rejected) and b"}{" in line.raw:
        yield from _spliced(where, line) or [found]
    else:
        yield found


def _spliced(where: str, line: Line) -> list[Item | Rejected]:
    """Return the objects that stand one after another on a line, [] if that is not so."""
    try:
        text = line.raw.decode("utf-8").strip()
        values, end, decoder = list[Item | Rejected](), 0, json.JSONDecoder()
        while end < len(text):
            value, end = decoder.raw_decode(text, end)
            values.append(Item(where, value, line.number))
    except (ValueError, RecursionError):
        return []
    return values


def array_values(source: Input, key: str | None = None) -> Iterator[Item | Rejected]:
    """Yield the items of a JSON array in order.

    Args:
        source: What to read.
        key: None for an array at the top, else the member of the top object that holds it.
    """
    series = Series(source.name)
    for piece in split_array(utf8_chunks(source), key):
        yield from series.values(piece.raw, piece.problem)
    yield from series.rest()


class Series:
    """The items of an array, numbered; whole ones behind a damaged one are found again.

    Damage to a quote shows the scanner commas inside of texts and hides brackets, so what
    does not parse and is no object by its ends is held until a record like others comes.
    """

    def __init__(self, name: str) -> None:
        self._name, self._number = name, 0
        self._example: dict[str, Any] | None = None
        self._held: list[bytes] = []
        self._problem = ""

    def values(self, raw: bytes, problem: str = "") -> Iterator[Item | Rejected]:
        """Yield the values that are whole now that the bytes of one more item have come."""
        where = f"{self._name}#{self._number + 1}"
        item = rejected(where, problem, raw) if problem else parse(where, raw)
        is_record = isinstance(item, Item) and isinstance(item.value, dict)
        if isinstance(item, Item) and (is_record or not self._held or self._example is None):
            yield from self.rest()
            self._number += 1
            if is_record and self._example is None:
                self._example = item.value
            yield Item(f"{self._name}#{self._number}", item.value)
            return
        self._held.append(raw)
        self._problem = self._problem or getattr(item, "reason", "")
        is_object = raw[:1] == b"{" and raw[-1:] == b"}" and not problem
        if len(self._held) == 1 and (is_object or b'"' not in raw):  # it tore nothing
            yield from self.rest()

    def rest(self) -> Iterator[Item | Rejected]:
        """Yield what is held: records that are found again, and the damage."""
        if not self._held:
            return
        raw, problem = b",".join(self._held), self._problem
        self._held, self._problem = [], ""
        for each in mended(raw, self._example):
            self._number += 1
            where = f"{self._name}#{self._number}"
            if each.value is None:
                yield rejected(where, problem, each.lost)
            else:
                yield Item(where, each.value)


def document(source: Input) -> Item | Rejected:
    """Return the value of an input that is one JSON document."""
    return parse(source.name, b"".join(utf8_chunks(source)))


def split_array(chunks: Iterator[bytes], key: str | None = None) -> Iterator[Piece]:
    """Yield the items of a JSON array as bytes; see `array_values`."""
    scanner = _Scanner(key)
    for chunk in chunks:
        yield from scanner.feed(chunk)
    yield from scanner.finish()


class _Scanner:
    """Cuts an array into items, chunk by chunk, in one pass.

    Items live at depth ``base``: 1 for an array at the top, 2 for a member of the top object.
    ``buffer`` holds what belongs to the current item (or member name) from earlier chunks.
    """

    def __init__(self, key: str | None) -> None:
        self._base = 1 if key is None else 2
        self._label = re.compile(rb'"%s"\s*:\s*$' % key.encode() if key else rb"^\s*$")
        self._depth = 0
        self._in_string = self._collecting = self._closed = self._trailing = False
        self._carry = b""
        self._buffer: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        """Yield the items that this chunk completes."""
        data, self._carry = self._carry + chunk, b""
        if self._closed and self._base == 1:
            self._buffer.append(data)
            return
        position = start = 0
        while (position := self._next_mark(data, position)) < len(data):
            mark = data[position]
            if mark == _QUOTE:
                self._in_string = not self._in_string
            elif self._in_string:  # a backslash whose other half is in the next chunk
                data, self._carry = data[:position], data[position:]
                break
            elif self._is_boundary(mark):
                segment = b"".join((*self._buffer, data[start:position]))
                self._buffer.clear()
                start = position + 1
                yield from self._cross(mark, segment)
                if self._closed and self._base == 1:
                    break
            elif mark != _COMMA:
                self._depth += 1 if mark in _OPENING else -1
            position += 1
        self._keep(data[start:])

    def _next_mark(self, data: bytes, position: int) -> int:
        """Return where the next quote, bracket or (between items) comma is."""
        between = _TO_COMMA if self._depth <= self._base else _TO_BRACKET
        match = (_IN_STRING if self._in_string else between).match(data, position)
        return match.end() if match else position

    def _is_boundary(self, mark: int) -> bool:
        """Say whether an item or a member of the top object begins or ends here."""
        if mark == _COMMA:
            return self._depth < self._base or self._collecting
        if mark in _OPENING:
            return self._depth < self._base
        return self._depth <= self._base

    def _cross(self, mark: int, segment: bytes) -> Iterator[Piece]:
        """Step over a boundary; ``segment`` is what lies between it and the one before."""
        if mark in _OPENING:
            self._trailing |= self._closed and self._depth == 0
            wanted = mark == _ARRAY and self._depth == self._base - 1 and not self._closed
            self._collecting = wanted and self._label.search(segment) is not None
            self._depth += 1
        elif self._collecting and mark == _BRACE:  # one too many: it costs only its item
            self._buffer.append(segment + b"}")
        elif self._collecting:
            is_last = mark != _COMMA
            if segment.strip() or not is_last:
                yield Piece(segment.strip())
            self._collecting = not is_last
            self._closed = is_last
            self._depth -= is_last
        elif mark in _CLOSING:
            self._depth -= 1

    def _keep(self, rest: bytes) -> None:
        """Keep the end of a chunk where it belongs to an item or a member name."""
        is_behind = self._closed and self._base == 1
        if self._collecting or is_behind or (self._depth < self._base and not self._closed):
            self._buffer.append(rest)
        elif self._closed and self._depth <= 0 and rest.strip():
            self._trailing = True

    def finish(self) -> Iterator[Piece]:
        """Yield what the end of the file leaves over."""
        if self._collecting:
            raw = b"".join((*self._buffer, self._carry)).strip()
            yield Piece(raw, "the file is cut off here: the array is not closed")
            return
        raw = b"".join(self._buffer).strip() if self._closed else b""
        if raw or self._trailing:
            yield Piece(raw, "text after the end of the JSON array")
