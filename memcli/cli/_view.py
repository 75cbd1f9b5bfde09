"""What a person asked `memcli inspect` for, the same for everything that can be looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from memcli.cli._output import records
from memcli.errors import UsageError


class What(StrEnum):
    """What can be inspected."""

    stats = "stats"
    turns = "turns"
    sessions = "sessions"
    anchors = "anchors"
    nodes = "nodes"
    edges = "edges"
    index_line = "index"
    traces = "traces"
    runs = "runs"
    checkpoints = "checkpoints"
    graph = "graph"


class EdgeSort(StrEnum):
    """By what edges can be sorted; as `app.inspect_strategy.EdgeOrder`."""

    mean = "mean"
    low = "low"
    high = "high"
    s = "s"
    f = "f"
    evidence = "evidence"
    source = "source"
    target = "target"


_EVIDENCE: Final = frozenset({What.turns, What.sessions})
_NOT_A_STATE: Final = frozenset({What.runs, What.checkpoints})
_TAKEN_BY: Final[Mapping[str, frozenset[What]]] = {
    "ID": frozenset(What) - {What.stats, What.index_line, What.checkpoints},
    "--conversation": _EVIDENCE,
    "--session": _EVIDENCE,
    "--sort": frozenset({What.edges}),
    "--removed": frozenset({What.nodes, What.edges, What.index_line}),
    "--dot": frozenset({What.graph}),
    "--at": frozenset(What) - _NOT_A_STATE,
}
"""Options that make sense for some things only; elsewhere they would be ignored in silence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The options of one `memcli inspect`; see its help."""

    name: str | None
    conversation: str | None
    session: str | None
    tz: str | None
    at: str | None
    sort: EdgeSort | None
    removed: bool
    dot: bool
    limit: int | None
    json: bool
    jsonl: bool

    def check(self, what: What) -> None:
        """Refuse options that contradict each other or that ``what`` does not take.

        Raises:
            UsageError: Names the option and what takes it.
        """
        formats = {"--json": self.json, "--jsonl": self.jsonl, "--dot": self.dot}
        chosen = [name for name, wanted in formats.items() if wanted]
        if len(chosen) > 1:
            raise UsageError(
                f"{chosen[0]} and {chosen[1]} contradict each other", hint="give one of them"
            )
        given = {
            "ID": self.name,
            "--conversation": self.conversation,
            "--session": self.session,
            "--sort": self.sort,
            "--removed": self.removed,
            "--dot": self.dot,
            "--at": self.at,
        }
        for option, value in given.items():
            if value and what not in _TAKEN_BY[option]:
                takers = ", ".join(each for each in What if each in _TAKEN_BY[option])
                raise UsageError(f"inspect {what} takes no {option}", hint=f"these do: {takers}")

    def records(self, kind: str, rows: Iterable[Mapping[str, object]]) -> None:
        """Print at most ``limit`` records in the form asked for."""
        records(kind, islice(rows, self.limit), json=self.json, jsonl=self.jsonl)
