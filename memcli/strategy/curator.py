"""The curator: turns a reflection into proposed changes of the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memcli.records.strategy import SECTIONS, OperationName, Pair
from memcli.strategy.asking import TEXT, Asker, flat, list_of, object_schema, prompt_for
from memcli.strategy.proposals import CURATOR, Proposal, parse_proposals

MAX_TOKENS: Final = 3_072
NEAREST: Final = 20
"""Index lines that the curator sees, those nearest to the task."""

_MERGE: Final = """
- MERGE ("id" into "target") two lessons that say the same; the edges of "id" go to "target"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What the curator sees.

    Attributes:
        question: The task.
        reflection: The reflector's words, verbatim.
        memory: The loaded lessons.
        transitions: Steps of the attempt that have no edge.
        index: Index lines, nearest first, or all.
    """

    question: str
    reflection: str
    memory: str
    transitions: Sequence[Pair]
    index: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curated:
    """What the curator proposed, and what of it was unusable, by reason."""

    proposals: tuple[Proposal, ...]
    discarded: Mapping[str, int]


def curate(ask: Asker, case: Case, *, may_merge: bool = False) -> Curated:
    """Return the proposed operations; whether they fit the graph is decided in `plan`.

    Args:
        ask: The model.
        case: What it sees.
        may_merge: Whether MERGE is offered and accepted (a departure from the paper).

    Raises:
        LLMError: If no usable reply came.
    """
    blocks = {
        "index": case.index,
        "memory": case.memory,
        "transitions": "\n".join(f"{a} -> {b}" for a, b in case.transitions),
        "question": case.question,
        "reflection": case.reflection,
    }
    allowed: frozenset[OperationName] = CURATOR | {"MERGE"} if may_merge else CURATOR
    prompt = prompt_for(
        "curate", blocks, sections=", ".join(SECTIONS), merge=_MERGE if may_merge else ""
    )
    reply = ask.ask(prompt, _schema(allowed), max_tokens=MAX_TOKENS)
    proposals, dropped = parse_proposals(reply["operations"], allowed=allowed)
    return Curated(proposals=tuple(proposals), discarded=dropped)


def _schema(allowed: frozenset[OperationName]) -> Any:
    operation = flat(
        type={"type": "string", "enum": sorted(allowed)},
        section=TEXT,
        content=TEXT,
        key=TEXT,
        links=list_of(TEXT),
        id=TEXT,
        source=TEXT,
        target=TEXT,
    )
    return object_schema("curate", reasoning=TEXT, operations=list_of(operation))
