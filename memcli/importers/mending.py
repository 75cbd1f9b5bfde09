"""Finds the whole records again behind a damaged one.

A quote or bracket too many or too few makes a scanner take the rest of an array for one item.
Its records all begin with the same member, so the places where the next one may begin are
looked for: what parses from one of them on is a record, what does not is the damage. Pure.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LONGEST_RECORD = 16
"""Beginnings that one record may hold: objects inside it may begin like it."""
KEPT_BYTES = 16_000
"""So much of a stretch of damage is kept to be shown."""

_ENDS = b" \t\r\n,]}"


@dataclass(frozen=True, slots=True)
class Mended:
    """A record that was found again, or a stretch of damage.

    Attributes:
        value: The record, None for damage.
        lost: The beginning of the damage.
    """

    value: dict[str, Any] | None
    lost: bytes = b""


def mended(raw: bytes, example: dict[str, Any] | None) -> Iterator[Mended]:
    """Yield the records in the bytes of an item that does not parse, and the damage between.

    Args:
        raw: All bytes of the item.
        example: A record of the same array that does parse; None takes the one that the bytes
            begin with. What follows the end of the array is no record of it.
    """
    if example is None:
        example = _first_value(raw, whatever_follows=True)[0]
    starts, lost, at = _starts(raw, example or {}), b"", 0
    while at < len(starts) - 1:
        value, rest, used = _record(raw, starts, at)
        if value is None or not example or not _is_alike(value, example):
            lost = (lost + raw[starts[at] : starts[at + used]])[:KEPT_BYTES]
            at += used
            continue
        if lost:
            yield Mended(None, lost)
        yield Mended(value)
        lost, at = b"", at + used
        if rest.startswith(b"]"):
            lost = (rest + raw[starts[at] :])[:KEPT_BYTES].strip(_ENDS)
            break
    if lost or not raw.strip(_ENDS):
        yield Mended(None, lost)


def _starts(raw: bytes, example: dict[str, Any]) -> array[int]:
    """Return where a record may begin, the end of the bytes last."""
    key = re.escape(json.dumps(next(iter(example), ""), ensure_ascii=False).encode())
    begins = re.compile(rb'(?<=[}\]",\s])\{\s*+%s\s*+:' % key)
    found = (match.start() for match in begins.finditer(raw))
    return array("q", [0, *(start for start in found if start), len(raw)])


def _is_alike(value: Any, example: dict[str, Any]) -> bool:
    """Say whether a value has at least half of the members of a record."""
    return isinstance(value, dict) and 2 * len(value.keys() & example.keys()) >= len(example)


def _record(raw: bytes, starts: array[int], at: int) -> tuple[Any, bytes, int]:
    """Return the value that begins at a start, what follows it, and how many starts it takes."""
    for used in range(1, min(LONGEST_RECORD, len(starts) - 1 - at) + 1):
        value, rest = _first_value(raw[starts[at] : starts[at + used]])
        if value is not None:
            return value, rest, used
    return None, b"", 1


def _first_value(raw: bytes, *, whatever_follows: bool = False) -> tuple[Any, bytes]:
    """Return the object that bytes begin with and what follows it, (None, b"") if none does.

    Nothing may follow it but the end of its array, and whatever comes then.
    """
    try:
        text = raw.decode("utf-8")
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None, b""
    rest = text[end:].strip(" \t\r\n,}")
    is_odd = rest and not rest.startswith("]") and not whatever_follows
    return (None, b"") if is_odd or not isinstance(value, dict) else (value, rest.encode())
