"""The evidence pack: what a question brought to light, bounded, with reasons."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from memcli.records.evidence import Turn
from memcli.records.indexed import IndexedTurn

Channel = Literal["episode", "cooccurrence", "time"]
"""Which hyperedges brought a turn; see `evidence.route`."""

Tier = Literal["match", "weak", "none"]
"""``match``: a turn's own words answer a good part of the question's. ``weak``: only some
common ones do. ``none``: nothing stored matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateWindow:
    """A date span the question names, in whole days, inclusive; None at an open end.

    Attributes:
        text: The words it came from.
    """

    start: date | None
    end: date | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A turn that routing chose, before its bytes are read.

    Attributes:
        turn: What the index knows of it.
        rank: 1 for the most relevant.
        channel: What brought it.
        score: Its relevance; comparable within one question only.
        why: A short reason for people.
    """

    turn: IndexedTurn
    rank: int
    channel: Channel
    score: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One turn of a pack.

    Attributes:
        turn: The turn, verbatim.
        rank: 1 for the most relevant.
        channel: What brought it.
        score: Its relevance; comparable within one pack only.
        why: A short reason for people.
        text: What is shown: the turn's text, or an excerpt of it.
        is_excerpt: Whether ``text`` leaves something out.
    """

    turn: Turn
    rank: int
    channel: Channel
    score: float
    why: str
    text: str
    is_excerpt: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePack:
    """The evidence for a question, in chronological order, within a token budget.

    Attributes:
        question: As asked.
        as_of: Reference time, RFC 3339 in UTC.
        tz: Name of the zone in which days are counted and times are shown.
        tier: How well anything matched.
        windows: Date spans the question names; not empty exactly when the time gate is open.
        notes: What the user should know, e.g. a date anchor that is unknown.
        tokens: Upper bound of the cl100k_base tokens of the pack as text.
        budget: The limit, or None for none.
        dropped: Turns that were found but did not fit.
        evidence: The turns.
    """

    question: str
    as_of: str
    tz: str
    tier: Tier
    windows: tuple[GateWindow, ...]
    notes: tuple[str, ...]
    tokens: int
    budget: int | None
    dropped: int
    evidence: tuple[Evidence, ...]
