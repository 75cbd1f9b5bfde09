"""What an ingest knows: the stored turns and those about to be stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memcli.records.evidence import Turn
from memcli.records.ids import fingerprint
from memcli.search.turn_index import TurnIndex
from memcli.store.jsonl import Placement
from memcli.store.snapshot import Snapshot

_CANDIDATES = 8
"""Conversations looked at when a transcript is matched by its turns."""

_PRINTS_ASKED = 400
"""Fingerprints looked up: the first and the last ones of a long transcript are enough."""


class KnownTurns:
    """Turns by conversation and fingerprint, stored or pending; see `identity.Known`.

    Args:
        snapshot: Committed state.
        index: Its search index.
    """

    def __init__(self, snapshot: Snapshot, index: TurnIndex) -> None:
        self._snapshot, self._index = snapshot, index
        self._pending: dict[str, dict[str, Turn]] = {}
        self._pending_prints: dict[str, set[str]] = {}

    def turns(self, conversation: str) -> list[Turn]:
        """Return the conversation's turns ordered by (seq, time, id)."""
        stored = self._index.conversation(conversation)
        places = [Placement(t.offset, t.length) for t in stored]
        known = {turn.id: turn for turn in self._snapshot.read_turns(places)}
        known.update(self._pending.get(conversation, {}))
        return sorted(known.values(), key=lambda t: (t.seq, t.time or "", t.id))

    def conversations_with(self, prints: Sequence[str]) -> list[str]:
        """Return the conversations that hold most of the fingerprints, the fullest first."""
        asked = [*prints[: _PRINTS_ASKED // 2], *prints[-_PRINTS_ASKED // 2 :]]
        counts = Counter(turn.conversation for turn in self._index.by_print(sorted(set(asked))))
        for each in asked:
            counts.update(self._pending_prints.get(each, ()))
        ranked = sorted(counts, key=lambda name: (-counts[name], name))
        return ranked[:_CANDIDATES]

    def add(self, turns: Sequence[Turn]) -> None:
        """Remember turns that were appended but are not committed yet."""
        for turn in turns:
            self._pending.setdefault(turn.conversation, {})[turn.id] = turn
            key = fingerprint(turn.role, turn.speaker, turn.text, turn.time)
            self._pending_prints.setdefault(key, set()).add(turn.conversation)
