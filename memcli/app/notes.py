"""`memcli add`: a note becomes a turn like any other."""

from __future__ import annotations

from datetime import datetime

from memcli.app.known import KnownTurns
from memcli.app.stores import level_index
from memcli.budgets import count_tokens, count_tokens_batch
from memcli.errors import UsageError
from memcli.records.evidence import Source, Turn, spoken_line
from memcli.records.ids import content_turn_id
from memcli.records.times import rfc3339
from memcli.search.opening import open_index
from memcli.store.store import Store


def add_note(
    store: Store,
    text: str,
    *,
    conversation: str,
    speaker: str | None,
    now: datetime,
    wait_s: float = 0.0,
) -> Turn:
    """Store a note at the end of a conversation and return its turn.

    Args:
        store: Where to.
        text: The note, verbatim.
        conversation: Its conversation, made if new.
        speaker: Who says it, or None.
        now: Its time.
        wait_s: Seconds to wait for another writer.

    Raises:
        UsageError: If the note has no words.
    """
    if not text.strip():
        raise UsageError("the note is empty")
    with store.writer(now=now, wait_s=wait_s, command="add") as writer:
        index = open_index(writer.snapshot, count=count_tokens_batch).index
        turn = _note(text, conversation, speaker, now, KnownTurns(writer.snapshot, index))
        writer.append_turn(turn)
        snapshot = writer.commit(command="add")
        level_index(snapshot, done=f"the note is stored as {turn.id}")
    return turn


def _note(
    text: str, conversation: str, speaker: str | None, now: datetime, known: KnownTurns
) -> Turn:
    time = rfc3339(now.replace(microsecond=0))
    last = known.end(conversation, 1)
    occurrence = 0
    while known.by_id([made := content_turn_id(conversation, time, speaker, text, occurrence)]):
        occurrence += 1
    return Turn(
        id=made,
        conversation=conversation,
        session=time[:10],
        seq=last[-1].seq + 1 if last else 0,
        speaker=speaker,
        role="note",
        text=text,
        time=time,
        time_granularity="second",
        source=Source(format="note", file="memcli add"),
        tokens=count_tokens(spoken_line(speaker, text, None)),
    )
