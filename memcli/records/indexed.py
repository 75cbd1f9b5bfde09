"""What the search index knows of a turn without opening ``turns.jsonl``."""

from __future__ import annotations

from dataclasses import dataclass

from memcli.records.evidence import Branch, Role
from memcli.records.times import time_key


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedTurn:
    """A turn as the index returns it: enough to rank it and to find its bytes.

    Attributes:
        id: Turn id.
        conversation: Conversation id.
        session: Session id within the conversation.
        seq: Order within the conversation.
        speaker: Name or None.
        role: Kind of speaker.
        branch: Whether it is part of the visible talk.
        time: RFC 3339 UTC or None.
        tokens: cl100k_base tokens of its spoken line.
        offset: Byte offset of its line in the turns file.
        length: Bytes of that line.
        terms: Search terms of the document, space-joined, in text order.
        passages: For long turns, (character offset, tokens) of consecutive passages; else ().
    """

    id: str
    conversation: str
    session: str
    seq: int
    speaker: str | None
    role: Role
    branch: Branch
    time: str | None
    tokens: int
    offset: int
    length: int
    terms: str
    passages: tuple[tuple[int, int], ...] = ()

    @property
    def order(self) -> tuple[str, str, int, str]:
        """Turn order, which breaks every tie: never the position in a file."""
        return (time_key(self.time), self.conversation, self.seq, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which turns a question may draw on; every given condition must hold.

    Attributes:
        conversation: Conversation id.
        session: Session id.
        speaker: Speaker name, compared without case.
        since: First epoch second, inclusive.
        until: Last epoch second, inclusive.
    """

    conversation: str | None = None
    session: str | None = None
    speaker: str | None = None
    since: int | None = None
    until: int | None = None
