"""What a curator, or a person, may propose; raw replies become proposals or counted reasons.

A reply of a model is untrusted: nothing in it raises, everything unusable is dropped and
counted. Whether a proposal fits the graph is decided in `operations`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from memcli.records.strategy import OperationName

CURATOR: Final[frozenset[OperationName]] = frozenset({"ADD", "UPDATE", "ADD_EDGE", "REMOVE_EDGE"})
"""What a curator may propose, as in the paper; MERGE on request."""

MAX_PROPOSALS: Final = 64
"""Operations of one reply that are looked at; the rest is counted as ``too_many``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """A new lesson.

    Attributes:
        section: One of `SECTIONS`; another one becomes ``others`` and is counted.
        key: What the index shows; empty: the first words of the content.
        links: Ids or handles of lessons that it belongs with.
        handle: Name by which other proposals of the same reply refer to it: ``$1`` …
    """

    section: str
    key: str
    content: str
    links: tuple[str, ...] = ()
    handle: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """New words for a lesson; None leaves a part as it is."""

    id: str
    content: str | None = None
    key: str | None = None
    section: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """The soft removal of a lesson and its edges; by hand only."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddEdge:
    """A new edge, with counters at 0 even where an earlier one was removed."""

    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveEdge:
    """The soft removal of an edge."""

    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A departure from the paper: ``id``'s edges go to ``target``, then ``id`` goes."""

    id: str
    target: str


Proposal = Add | Update | Remove | AddEdge | RemoveEdge | Merge


def parse_proposals(
    raw: object, *, allowed: Collection[OperationName] = CURATOR
) -> tuple[list[Proposal], Counter[str]]:
    """Return the proposals in a curator's reply, in order, and what was dropped by reason.

    New lessons get the handles ``$1``, ``$2`` … in order. Reasons: ``bad_field`` (not of the
    expected type, or missing), ``unknown_operation``, ``too_many``.

    Args:
        raw: The value of ``operations``.
        allowed: Operations that count as known.
    """
    dropped: Counter[str] = Counter()
    proposals: list[Proposal] = []
    if not isinstance(raw, list):
        return proposals, Counter(bad_field=1)
    dropped["too_many"] += max(0, len(raw) - MAX_PROPOSALS)
    adds = 0
    for item in raw[:MAX_PROPOSALS]:
        parsed = _parse(item, allowed, adds + 1)
        if isinstance(parsed, str):
            dropped[parsed] += 1
        else:
            proposals.append(parsed)
        adds += isinstance(item, Mapping) and _operation(item) == "ADD"
    return proposals, +dropped


def _operation(item: Mapping[str, object]) -> str:
    return str(item.get("type") or item.get("op") or "").strip().upper()


def _parse(item: object, allowed: Collection[OperationName], number: int) -> Proposal | str:
    """Return a proposal, or the reason why there is none."""
    if not isinstance(item, Mapping):
        return "bad_field"
    name = _operation(item)
    if name not in allowed:
        return "unknown_operation"
    match name:
        case "ADD":
            return _add(item, number)
        case "UPDATE":
            return _update(item)
        case "REMOVE":
            return _named(item, lambda node_id: Remove(id=node_id))
        case "ADD_EDGE" | "REMOVE_EDGE":
            source, target = _id(item.get("source")), _id(item.get("target"))
            if not source or not target:
                return "bad_field"
            make = AddEdge if name == "ADD_EDGE" else RemoveEdge
            return make(source=source, target=target)
        case _:
            target = _id(item.get("target"))
            return (
                _named(item, lambda node_id: Merge(id=node_id, target=target))
                if target
                else "bad_field"
            )


def _add(item: Mapping[str, object], number: int) -> Proposal | str:
    content, key, section = (_text(item.get(name)) for name in ("content", "key", "section"))
    links = item.get("links")
    if content is None:
        return "bad_field"
    named = [_id(link) for link in links] if isinstance(links, list) else []
    return Add(
        section=section or "",
        key=key or "",
        content=content,
        links=tuple(filter(None, named)),
        handle=f"${number}",
    )


def _update(item: Mapping[str, object]) -> Proposal | str:
    content, key, section = (_text(item.get(name)) for name in ("content", "key", "section"))
    return _named(
        item,
        lambda node_id: Update(
            id=node_id, content=content or None, key=key or None, section=section or None
        ),
    )


def _named(item: Mapping[str, object], make: Callable[[str], Proposal]) -> Proposal | str:
    node_id = _id(item.get("id"))
    return make(node_id) if node_id else "bad_field"


def _id(value: object) -> str:
    """Return an id as a model may write it: with brackets or white space around it, or not."""
    return value.strip().strip("[]").strip() if isinstance(value, str) else ""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
