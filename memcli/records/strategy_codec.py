"""Strategy records ↔ JSON lines: `nodes`, `edges`, `index` and `traces`.

The same rules as in `codec`: sorted keys, every field present, unknown fields kept in
``extra`` and written again, `RecordError` with file, line and field for what does not fit.
An edge's counters are ``S`` and ``F``, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args

from memcli.errors import RecordError
from memcli.records.codec import Fields, dumps, loads
from memcli.records.strategy import (
    SECTIONS,
    AppliedOperation,
    IndexLine,
    Label,
    LabelName,
    Loaded,
    OperationName,
    Origin,
    Pair,
    Provenance,
    Retrieval,
    RetrievalOutcome,
    RetrieverName,
    Status,
    StrategyEdge,
    StrategyNode,
    Trace,
    TraceKind,
)

_T = TypeVar("_T")
_SECTIONS = frozenset(SECTIONS)
_STATUSES = frozenset(get_args(Status))
_ORIGINS = frozenset(get_args(Origin))
_LABELS = frozenset(get_args(LabelName))
_OPERATIONS = frozenset(get_args(OperationName))
_KINDS = frozenset(get_args(TraceKind))
_RETRIEVERS = frozenset(get_args(RetrieverName))
_OUTCOMES = frozenset(get_args(RetrievalOutcome))
_MAX_COUNTER = 2**53 / 1e6
"""Up to here a float holds every multiple of a millionth, so that sums stay exact."""


def _names(record: type, *also: str) -> frozenset[str]:
    return (frozenset(f.name for f in fields(record)) - {"extra"}) | frozenset(also)


_NODE_FIELDS = _names(StrategyNode)
_EDGE_FIELDS = _names(StrategyEdge, "S", "F") - {"s", "f"}
_INDEX_FIELDS = _names(IndexLine)
_TRACE_FIELDS = _names(Trace)


def node_to_dict(node: StrategyNode) -> dict[str, object]:
    """Return a node as plain JSON values."""
    return _plain(node, _values(node))


def node_to_line(node: StrategyNode) -> bytes:
    """Return a node's line in ``nodes.jsonl``, line break included."""
    return dumps(node_to_dict(node)) + b"\n"


def node_from_line(
    line: bytes, *, path: str = "nodes.jsonl", number: int | None = None
) -> StrategyNode:
    """Return the node a line holds.

    Raises:
        RecordError: If it is none.
    """
    data, reader = _read(line, path, number)
    return StrategyNode(
        id=reader.get("id", str),
        section=reader.choice("section", _SECTIONS),
        key=reader.get("key", str),
        content=reader.get("content", str),
        provenance=_provenance(Fields(reader.get("provenance", dict), path, number)),
        tokens=_count(reader, "tokens"),
        tokenizer=reader.get("tokenizer", str),
        revision=reader.get("revision", int),
        status=reader.choice("status", _STATUSES),
        extra=_unknown(data, _NODE_FIELDS),
    )


def edge_to_dict(edge: StrategyEdge) -> dict[str, object]:
    """Return an edge as plain JSON values; its counters are ``S`` and ``F``."""
    return {
        **edge.extra,
        "source": edge.source,
        "target": edge.target,
        "S": float(edge.s),
        "F": float(edge.f),
        "status": edge.status,
    }


def edge_to_line(edge: StrategyEdge) -> bytes:
    """Return an edge's line in ``edges.jsonl``, line break included."""
    return dumps(edge_to_dict(edge)) + b"\n"


def edge_from_line(
    line: bytes, *, path: str = "edges.jsonl", number: int | None = None
) -> StrategyEdge:
    """Return the edge a line holds.

    Raises:
        RecordError: If it is none, or a counter is negative or too large to stay exact.
    """
    data, reader = _read(line, path, number)
    return StrategyEdge(
        source=reader.get("source", str),
        target=reader.get("target", str),
        s=_number(reader, data, "S", _MAX_COUNTER),
        f=_number(reader, data, "F", _MAX_COUNTER),
        status=reader.choice("status", _STATUSES),
        extra=_unknown(data, _EDGE_FIELDS),
    )


def index_line_to_dict(entry: IndexLine) -> dict[str, object]:
    """Return an index line as plain JSON values."""
    return _plain(entry, _values(entry))


def index_line_to_line(entry: IndexLine) -> bytes:
    """Return an index line's line in ``index.jsonl``, line break included."""
    return dumps(index_line_to_dict(entry)) + b"\n"


def index_line_from_line(
    line: bytes, *, path: str = "index.jsonl", number: int | None = None
) -> IndexLine:
    """Return the index line a line holds.

    Raises:
        RecordError: If it is none.
    """
    data, reader = _read(line, path, number)
    return IndexLine(
        id=reader.get("id", str),
        key=reader.get("key", str),
        section=reader.choice("section", _SECTIONS),
        status=reader.choice("status", _STATUSES),
        extra=_unknown(data, _INDEX_FIELDS),
    )


def trace_to_dict(trace: Trace) -> dict[str, object]:
    """Return a trace as plain JSON values; the derived ``deepest_hop`` is added for readers."""
    plain = _plain(trace, _values(trace))
    if trace.retrieval is not None:
        plain["retrieval"] = retrieval_to_dict(trace.retrieval)
    return plain


def retrieval_to_dict(retrieval: Retrieval) -> dict[str, object]:
    """Return a retrieval as plain JSON values.

    ``fallback`` is always false (a store never answers with all it has), ``deepest_hop`` is
    what `Retrieval.deepest_hop` says.
    """
    return {**_values(retrieval), "deepest_hop": retrieval.deepest_hop, "fallback": False}


def trace_to_line(trace: Trace) -> bytes:
    """Return a trace's line in ``traces.jsonl``, line break included."""
    return dumps(trace_to_dict(trace)) + b"\n"


def trace_from_line(
    line: bytes | str, *, path: str = "traces.jsonl", number: int | None = None
) -> Trace:
    """Return the trace a line holds.

    Raises:
        RecordError: If it is none.
    """
    data, reader = _read(line, path, number)
    labels = _each(reader, "labels", lambda item: _label(Fields(item, path, number), item))
    operations = _each(reader, "operations", lambda item: _operation(Fields(item, path, number)))
    retrieval = reader.optional("retrieval", dict)
    return Trace(
        id=reader.get("id", str),
        kind=reader.choice("kind", _KINDS),
        time=reader.get("time", str),
        run=reader.optional("run", str),
        epoch=reader.optional("epoch", int),
        step=reader.optional("step", int),
        example=reader.optional("example", str),
        retrieval=None if retrieval is None else _retrieval(Fields(retrieval, path, number)),
        influence=_texts(reader, "influence"),
        labels=labels,
        tags=_mapping(reader, "tags", str),
        operations=operations,
        discarded=_mapping(reader, "discarded", int),
        failures=_mapping(reader, "failures", str),
        right=reader.optional("right", int),
        total=reader.optional("total", int),
        of=reader.optional("of", str),
        replaces=reader.optional("replaces", str),
        extra=_unknown(data, _TRACE_FIELDS),
    )


def _values(record: Any) -> dict[str, Any]:
    """Return a record's fields as plain values, like `dataclasses.asdict` without its copies."""
    kind: Any = type(record)
    return {name: _value(getattr(record, name)) for name in _field_names(kind)}


@cache
def _field_names(record: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(record))


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_value, value))
    if isinstance(value, Mapping):
        return dict(value)
    return _values(value) if is_dataclass(value) else value


def _plain(record: Any, values: dict[str, object]) -> dict[str, object]:
    values.pop("extra", None)
    return {**record.extra, **values}


def _read(line: bytes | str, path: str, number: int | None) -> tuple[Mapping[str, Any], Fields]:
    try:
        data = loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(path, number, "", f"is not JSON ({error})") from error
    return data, Fields(data, path, number)


def _unknown(data: Mapping[str, Any], known: frozenset[str]) -> dict[str, object]:
    return {key: value for key, value in data.items() if key not in known}


def _number(reader: Fields, data: object, name: str, most: float) -> float:
    """Return a number from 0 to ``most``; whole ones may be written without a point."""
    written = data.get(name) if isinstance(data, Mapping) else None
    value = reader.get(name, int if isinstance(written, int) else float)
    if not 0 <= value <= most:
        raise reader.bad(name, f"is not a number from 0 to {most:g}")
    return float(value)


def _count(reader: Fields, name: str) -> int:
    value = int(reader.get(name, int))
    if value < 0:
        raise reader.bad(name, "is negative")
    return value


def _provenance(reader: Fields) -> Provenance:
    return Provenance(
        origin=reader.choice("origin", _ORIGINS),
        run=reader.optional("run", str),
        step=reader.optional("step", int),
        example=reader.optional("example", str),
        holds_answer=reader.get("holds_answer", bool),
    )


def _retrieval(reader: Fields) -> Retrieval:
    milliseconds = reader.optional("milliseconds", float)
    return Retrieval(
        retriever=reader.choice("retriever", _RETRIEVERS),
        outcome=reader.choice("outcome", _OUTCOMES),
        sections=_texts(reader, "sections"),
        entries=_texts(reader, "entries"),
        loaded=_each(reader, "loaded", lambda item: _loaded(reader, item)),
        considered=_each(reader, "considered", lambda item: _pair(reader, item)),
        traversed=_each(reader, "traversed", lambda item: _pair(reader, item)),
        memory_tokens=_count(reader, "memory_tokens"),
        discarded=_mapping(reader, "discarded", int),
        milliseconds=milliseconds,
    )


def _loaded(reader: Fields, item: object) -> Loaded:
    if not isinstance(item, Mapping):
        raise reader.bad("loaded", "is not a list of objects")
    node_id, depth = item.get("id"), item.get("depth")
    if not isinstance(node_id, str) or not isinstance(depth, int):
        raise reader.bad("loaded", "needs an id and a depth")
    return Loaded(id=node_id, depth=depth)


def _label(reader: Fields, item: object) -> Label:
    return Label(
        source=reader.get("source", str),
        target=reader.get("target", str),
        label=reader.choice("label", _LABELS),
        confidence=_number(reader, item, "confidence", 1.0),
    )


def _operation(reader: Fields) -> AppliedOperation:
    return AppliedOperation(
        op=reader.choice("op", _OPERATIONS),
        id=reader.optional("id", str),
        source=reader.optional("source", str),
        target=reader.optional("target", str),
    )


def _each(reader: Fields, name: str, read: Callable[[object], _T]) -> tuple[_T, ...]:
    return tuple(read(item) for item in reader.get(name, list))


def _texts(reader: Fields, name: str) -> tuple[str, ...]:
    items = reader.get(name, list)
    if not all(isinstance(item, str) for item in items):
        raise reader.bad(name, "is not a list of texts")
    return tuple(items)


def _pair(reader: Fields, item: object) -> Pair:
    match item:
        case [str(source), str(target)]:
            return source, target
        case _:
            raise reader.bad("edge", "is not a pair of ids")


def _mapping(reader: Fields, name: str, kind: type) -> dict[str, Any]:
    found = reader.get(name, dict)
    if not all(isinstance(value, kind) for value in found.values()):
        raise reader.bad(name, f"holds something that is not of type {kind.__name__}")
    return dict(found)
