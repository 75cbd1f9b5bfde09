"""Records of the evidence memory: turns as they were said, packs, answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Role = Literal["user", "assistant", "system", "developer", "tool", "reasoning", "injected", "note"]
"""Who speaks, by kind.

``user``: human words, also of every person in a chat between people. ``assistant``: what the
model said to the user. ``tool``: a tool call or its result. ``reasoning``: thoughts the model
did not say. ``system``, ``developer``: instructions. ``injected``: text a program put in the
user's place (wrappers, compaction summaries, custom instructions). ``note``: `memcli add`.
"""

Branch = Literal["active", "abandoned", "sidechain"]
"""``active``: the visible talk. ``abandoned``: replaced by an edit or a regeneration.
``sidechain``: a subagent's own talk."""

Granularity = Literal["microsecond", "second", "minute", "day"]
"""The finest unit the source states; a shown time never says more than this."""

SPOKEN: frozenset[Role] = frozenset({"user", "assistant", "note"})
"""Roles whose words count in full when ranking; the others are findable but weigh less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a turn came from.

    Attributes:
        format: Importer name, e.g. ``chatgpt``.
        file: Base name of the input as given, ``archive.zip!member`` for a zip's member.
        native_id: The source's own id of the message, or None.
        line: 1-based line of line-based formats, else None.
    """

    format: str
    file: str
    native_id: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One utterance, verbatim.

    Attributes:
        id: Stable id; see ``records/ids.py``.
        conversation: The source's conversation id, or one found or made at ingest.
        session: Sitting within the conversation; unique only together with it.
        seq: Order within the conversation; may be negative and may have gaps.
        speaker: Name as the source gives it, or None.
        role: See `Role`.
        text: The words, unchanged but for the transport's escapes.
        time: RFC 3339 in UTC (``2024-04-30T18:00:01.5Z``), or None when unknown.
        time_granularity: Finest unit the source states, None with ``time``.
        source: Where it came from.
        branch: See `Branch`.
        caption: Description of an attached picture, or None.
        title: Title of the conversation as the source gives it, or None.
        tokens: cl100k_base tokens of `spoken_line`.
        extra: Fields of a newer memcli, kept through a rewrite.
    """

    id: str
    conversation: str
    session: str
    seq: int
    speaker: str | None
    role: Role
    text: str
    time: str | None
    time_granularity: Granularity | None
    source: Source
    branch: Branch = "active"
    caption: str | None = None
    title: str | None = None
    tokens: int = 0
    extra: Mapping[str, object] = field(default_factory=dict)


def spoken_line(speaker: str | None, text: str, caption: str | None) -> str:
    """Return the part of an evidence line that a turn's ``tokens`` count covers."""
    said = f"{speaker}: {text}" if speaker else text
    return f"{said} [image: {caption}]" if caption else said
