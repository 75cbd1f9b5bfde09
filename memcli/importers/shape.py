"""What an input is made of, looked at once, before anyone asks which format it is.

Only content counts. A shape holds the first few JSON values, so that recognisers compare
keys; text that begins like JSON is never of kind ``text``.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Literal

from memcli.importers.bytestream import CHUNK_BYTES, Line, lines, raw_chunks, utf8_chunks
from memcli.importers.contract import Event, Input, Rejected
from memcli.importers.jsonpaths import ITEM, Path, parts
from memcli.importers.jsonvalues import (
    Item,
    array_values,
    document,
    json_lines,
    parse,
    rejected_value,
)

Kind = Literal["empty", "binary", "array", "object", "lines", "json", "text"]
"""``lines``: JSONL of two lines or more. ``json``: begins like JSON but does not parse."""

SAMPLE_ITEMS = 5
SAMPLE_LINES = 20
DOCUMENT_BYTES = 16 << 20
"""A single JSON object larger than this is only sampled, not parsed as a whole."""
LOOKED_AT_BYTES = 64 << 20
"""So much of a large object is looked at."""
SAMPLE_BYTES = 256 << 10
"""So much of a member of a large object is parsed: all of a small one, the first of many items."""

_JSON_START = re.compile(r'\{\s*["}]|\[\s*(?:[{"\]]|\[\s*[\[{"\d])')
_KEY = re.compile(rb'"((?:[^"\\]|\\.){1,60}+)"\s*:')
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Shape:
    """The kind of an input and a sample of its JSON values.

    Attributes:
        kind: See `Kind`.
        items: First parsed items of an array, lines of JSONL, or the one object; in order.
        keys: Keys of the object, or those seen in the head where nothing could be parsed.
        text: The decoded head of a text, undecodable bytes as surrogates; for looking only.
    """

    kind: Kind
    items: tuple[Any, ...] = ()
    keys: frozenset[str] = frozenset()
    text: str = ""

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The sampled values that are JSON objects, in order."""
        return [item for item in self.items if isinstance(item, dict)]


@lru_cache(maxsize=1)
def shape_of(source: Input) -> Shape:
    """Return the shape of an input; inputs compare by identity, so the cache is never stale."""
    head = source.head
    if not head.strip(b" \t\r\n\x00\xef\xbb\xbf"):
        return Shape("empty")
    if b"\x00" in head and not head.startswith(_MARKS):
        return Shape("binary")
    text = head_text(source)
    start = text.lstrip("\ufeff \t\r\n")
    sampled = _sampled_lines(source, only_head=start.startswith("["))
    if _is_jsonl(sampled):
        return Shape("lines", _values(sampled), text=text)
    if start.startswith("[") and _is_json_start(source, start):
        items = _values(islice(array_values(source), SAMPLE_ITEMS))
        return Shape("array", items, frozenset() if items else _head_keys(source))
    if _is_json_start(source, start):
        return _object_shape(source)
    return Shape("text", text=text)


def records(source: Input, *keys: str) -> Iterator[Item | Rejected]:
    """Yield the records of a JSON input one at a time.

    Args:
        source: An array, JSONL, or one object.
        keys: Members that hold the records of an object; without one of them the object
            itself is the record.
    """
    shape = shape_of(source)
    if shape.kind == "array":
        return array_values(source)
    if shape.kind == "lines":
        return json_lines(source)
    held = next((key for key in keys if key in shape.keys), None)
    return iter([document(source)]) if held is None else array_values(source, held)


def from_objects(
    source: Input, what: str, read: Callable[[Item, int], Iterator[Event]]
) -> Iterator[Event]:
    """Yield what ``read`` makes of each record; one that is no object costs only itself.

    Args:
        source: As for `records`.
        what: What a record should be, for the refusal: ``a LoCoMo sample``.
        read: Takes a record and its ordinal.
    """
    for group, item in enumerate(records(source)):
        if isinstance(item, Rejected):
            yield item
        elif not isinstance(item.value, dict):
            yield rejected_value(item.where, f"not {what}: no object", item.value)
        else:
            yield from read(item, group)


def head_text(source: Input) -> str:
    """Return the head as text; what is not UTF-8 shows as lone surrogates."""
    for mark, encoding in zip(_MARKS, ("utf-16-le", "utf-16-be"), strict=True):
        if source.head.startswith(mark):
            decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
            return decoder.decode(source.head[2:])
    return source.head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


def _is_json_start(source: Input, start: str) -> bool:
    """Say whether a text begins like JSON, not like ``[2024-02-11 09:00] Ana: hi``."""
    if _JSON_START.match(start):
        return True
    if not (start.startswith("[") and source.is_whole):
        return False
    try:
        json.loads(start)
    except (ValueError, RecursionError):
        return False
    return True


def _values(found: Iterable[Item | Rejected]) -> tuple[Any, ...]:
    return tuple(item.value for item in found if isinstance(item, Item))


def _sampled_lines(source: Input, *, only_head: bool) -> list[Item | Rejected]:
    """Return the first lines that are not blank, parsed; none of an unbroken giant.

    With ``only_head`` a line that the head does not hold whole is left out: what begins like
    an array may be one item of any size a line.
    """
    limit = source.head.rfind(b"\n") if only_head else DOCUMENT_BYTES
    parsed = list[Item | Rejected]()
    for line in bounded(lines(source), limit) if _has_short_line(source, limit) else ():
        if line.raw.strip():
            parsed.append(parse(source.name, line.raw))
        if len(parsed) == SAMPLE_LINES:
            break
    return parsed


def _has_short_line(source: Input, limit: int) -> bool:
    """Say whether the first line ends within a number of bytes."""
    if b"\n" in source.head or source.is_whole:
        return limit > 0
    with closing(raw_chunks(source)) as chunks:
        return any(b"\n" in chunk for chunk in islice(chunks, max(limit, 0) // CHUNK_BYTES))


def bounded(found: Iterator[Line], limit: int) -> Iterator[Line]:
    """Yield lines until a number of bytes has gone by."""
    for line in found:
        yield line
        limit -= len(line.raw) + 1
        if limit <= 0:
            return


def _is_jsonl(sampled: list[Item | Rejected]) -> bool:
    """Say whether at least half of two or more lines are JSON objects, each on its own."""
    good = sum(isinstance(i, Item) and isinstance(i.value, dict) for i in sampled)
    return len(sampled) >= 2 and 2 * good >= len(sampled)


def _object_shape(source: Input) -> Shape:
    if source.is_whole or _size_within(source, DOCUMENT_BYTES):
        whole = document(source)
        found = whole.value if isinstance(whole, Item) else None
    else:
        found = _sampled_object(source)
    if isinstance(found, dict):
        return Shape("object", (found,), frozenset(found))
    return Shape("json", keys=_head_keys(source))


class _TopAndMembers:
    """The paths of an object and of its members."""

    def __contains__(self, path: object) -> bool:
        return isinstance(path, tuple) and len(path) <= 1


def _sampled_object(source: Input) -> dict[str, Any] | None:
    """Return a large object with the beginnings of its members, None where it is damaged."""
    found: dict[str, Any] = {}
    left: dict[str, int] = {}
    chunks = islice(utf8_chunks(source), LOOKED_AT_BYTES // CHUNK_BYTES)
    for part in parts(chunks, _TopAndMembers()):
        if part.path in ((), (ITEM,)):
            continue
        name = part.path[0]
        if part.is_entry:
            found.setdefault(name, [])
            continue
        left[name] = left.get(name, SAMPLE_BYTES) - len(part.raw)
        is_first = part.path[-1] == ITEM and not found.get(name)
        wanted = (left[name] >= 0 or is_first) and not part.problem
        item = parse(source.name, part.raw) if wanted else None
        if isinstance(item, Item) or part.path[-1] != ITEM:
            _hold(found, part.path, item.value if isinstance(item, Item) else None)
        if part.problem and _size_within(source, LOOKED_AT_BYTES):
            return None
    return found


def members_of(source: Input, *keys: str) -> dict[str, Any]:
    """Return members of the top object by name, also where the object is damaged elsewhere.

    Args:
        source: What to read.
        keys: The members wanted; of a damaged object only texts and numbers.
    """
    shape = shape_of(source)
    if shape.kind == "object":
        return {key: shape.objects[0][key] for key in keys if key in shape.objects[0]}
    found: dict[str, Any] = {}
    for part in parts(utf8_chunks(source), _TopAndMembers()):
        if len(part.path) == 1 and part.path[0] in keys and not part.is_entry:
            item = parse(source.name, part.raw)
            found |= {part.path[0]: item.value} if isinstance(item, Item) else {}
    return found


def _hold(found: dict[str, Any], path: Path, value: Any) -> None:
    """Put a member, or the item or member of one, where it belongs."""
    name, *inner = path
    if not inner:
        found[name] = value
    elif inner == [ITEM] and isinstance(found[name], list):
        found[name].append(value)
    else:
        held = found[name] if isinstance(found[name], dict) else {}
        found[name] = {**held, inner[0]: value}


def _head_keys(source: Input) -> frozenset[str]:
    """Return the keys, at any depth, of JSON that does not parse as a whole."""
    keys = _KEY.findall(source.head)
    return frozenset(key.decode("utf-8", "backslashreplace") for key in keys)


def _size_within(source: Input, limit: int) -> bool:
    with closing(raw_chunks(source)) as chunks:
        return sum(map(len, islice(chunks, limit // CHUNK_BYTES + 1))) <= limit
