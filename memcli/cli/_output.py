"""The only place that prints: data to stdout, everything else to stderr.

Stored text is shown inert: control characters become visible stand-ins, and nothing of it is
ever interpreted as markup. JSON carries it unchanged.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice

from memcli.errors import UsageError
from memcli.records.codec import dumps

JSON_SCHEMA_VERSION = 1
"""Version of every ``--json`` document; within one, keys are only added."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


_MEASURED = 200


def inert(text: str) -> str:
    """Return text that no terminal acts upon: control characters replaced, the rest as is."""
    shown = _CONTROL.sub(_stand_in, text.replace("\r\n", "\n"))
    return shown.encode("utf-8", "backslashreplace").decode("utf-8")


def _stand_in(match: re.Match[str]) -> str:
    code = ord(match.group())
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"


class ReaderGoneError(Exception):
    """Whoever read our output went away, as `head` does: a reason to stop, not a failure."""


def line(text: str = "") -> None:
    """Print one line of data."""
    try:
        sys.stdout.write(text + "\n")
    except BrokenPipeError as error:
        raise ReaderGoneError from error


def note(text: str) -> None:
    """Tell the user something beside the data."""
    sys.stderr.write(text + "\n")


def json_document(data: Mapping[str, object]) -> None:
    """Print one JSON document with its schema version."""
    _bytes(dumps({"schema_version": JSON_SCHEMA_VERSION, **data}))


def json_lines(records: Iterable[Mapping[str, object]]) -> None:
    """Print one JSON record a line."""
    for record in records:
        _bytes(dumps(record))


def _bytes(data: bytes) -> None:
    line(data.decode("utf-8"))


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows as they come: aligned columns on a terminal, tab-separated elsewhere.

    On a terminal the first `_MEASURED` rows decide the widths, and what is wider than the
    screen ends in an ellipsis, with a word on stderr.
    """
    cells = ([inert(_cell(value)).replace("\n", " ") for value in row] for row in rows)
    if not sys.stdout.isatty():
        for row in chain([list(headers)], cells):
            line("\t".join(cell.replace("\t", " ") for cell in row))
        return
    first = [list(headers), *islice(cells, _MEASURED)]
    widths = [max(len(row[i]) for row in first) for i in range(len(headers))]
    width, is_cut = terminal_width(), False
    for row in chain(first, cells):
        padded = [cell.ljust(size) for cell, size in zip(row, widths, strict=True)]
        shown = "  ".join(padded).rstrip()
        is_cut = is_cut or len(shown) > width
        line(shown if len(shown) <= width else shown[: max(width - 1, 0)] + "…")
    if is_cut:
        note(f"cut at {width} columns; piped, or with --json, it is whole")


def records(kind: str, rows: Iterable[Mapping[str, object]], *, json: bool, jsonl: bool) -> None:
    """Print records as one document under ``kind``, as lines, or as a table of their fields."""
    if json:
        json_document({kind: list(rows)})
    elif jsonl:
        json_lines(rows)
    else:
        left = iter(rows)
        first = next(left, {})
        shown = chain([first] if first else [], left)
        listing(kind, list(first), ([_flat(v) for v in row.values()] for row in shown))


def listing(kind: str, headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table as it comes, or a note that there is no ``kind`` where there is no row."""
    left = iter(rows)
    first = next(left, None)
    if first is None:
        note(f"no {kind}")
    else:
        table(headers, chain([first], left))


def print_lines(kind: str, lines: Iterable[str]) -> None:
    """Print lines as they come, or a note that there is no ``kind`` where there is no line."""
    printed = False
    for text in lines:
        line(text)
        printed = True
    if not printed:
        note(f"no {kind}")


def _flat(value: object) -> object:
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def terminal_width() -> int:
    """Return the columns of the terminal, 80 when unknown (some terminals say 0)."""
    try:
        return os.get_terminal_size().columns or 80
    except OSError:
        return 80


def one_format(json: bool, jsonl: bool) -> None:
    """Raise UsageError where two output formats are asked for at once."""
    if json and jsonl:
        raise UsageError("--json and --jsonl contradict each other", hint="give one of them")
