"""How a turn reads as a line of evidence.

    [3] t3f9k2ab Mon 8 May 2023 13:56 Caroline: I went to the group yesterday. [image: a flag]

The number cites it, the id finds it (``memcli show t3f9k2ab``), the day is the turn's own.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

from memcli.records.evidence import Turn, spoken_line

SHORT_ID = 8
"""Characters of a shown id: 35 bits, enough to find a turn again."""

_ABANDONED = {"abandoned": "(abandoned branch) ", "sidechain": "(side task) "}

# Upper bounds in cl100k_base tokens, for the hard budget: see tests/evidence/test_lines.py.
_NUMBER_TOKENS = 4
_ID_TOKENS = 8
_TIME_TOKENS = 12
_ROLE_TOKENS = 3
_BRANCH_TOKENS = 5
_BREAK_TOKENS = 1


def shown_time(turn: Turn, tz: tzinfo) -> str:
    """Return the turn's day and time in a zone, no finer than the source states it."""
    if turn.time is None:
        return "undated"
    local = datetime.fromisoformat(turn.time).astimezone(tz)
    clock = "" if turn.time_granularity == "day" else f" {local:%H:%M}"
    return f"{local:%a} {local.day} {local:%b %Y}{clock}"


def label(turn: Turn) -> str:
    """Return what stands before a turn's words besides its speaker: branch, and role."""
    role = "" if turn.speaker else f"{turn.role}: "
    return _ABANDONED.get(turn.branch, "") + role


def evidence_line(number: int, turn: Turn, text: str, tz: tzinfo, *, with_id: bool) -> str:
    """Return one line of evidence; the text may hold line breaks of its own.

    Args:
        number: Its place in the pack, from 1.
        turn: The turn.
        text: Its text, or the excerpt shown.
        tz: Zone of the shown time.
        with_id: Whether to show the id (people want it; prompts do without).
    """
    shown_id = f"{turn.id[:SHORT_ID]} " if with_id else ""
    said = spoken_line(turn.speaker, text, turn.caption)
    return f"[{number}] {shown_id}{shown_time(turn, tz)} {label(turn)}{said}"


def line_overhead_tokens(turn: Turn) -> int:
    """Return an upper bound of the tokens of a line beyond its `spoken_line`."""
    tokens = _NUMBER_TOKENS + _ID_TOKENS + _TIME_TOKENS + _BREAK_TOKENS
    tokens += 0 if turn.speaker else _ROLE_TOKENS
    return tokens + (_BRANCH_TOKENS if turn.branch != "active" else 0)
