"""What an ingest knows: the stored turns and those about to be stored."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from itertools import islice

from memcli.importers.contract import Draft
from memcli.importers.identity import print_of
from memcli.records.evidence import Turn
from memcli.records.ids import fingerprint, native_turn_id
from memcli.records.indexed import IndexedTurn
from memcli.records.times import time_key
from memcli.search.turn_index import TurnIndex
from memcli.store.jsonl import Placement
from memcli.store.snapshot import Snapshot

_CANDIDATES = 8
"""Conversations looked at when a transcript is matched by its turns."""

_PRINTS_ASKED = 400
"""Fingerprints looked up of a long transcript: half of them its ends, half spread over it."""

_HOLDERS = 400
"""Turns with these fingerprints that are looked at, those of the rarest first."""

_LOOKED_UP = 1_000
"""Keys of one look-up in the index."""


class KnownTurns:
    """Turns by conversation, id and fingerprint, stored or pending; see `identity.Known`.

    Args:
        snapshot: Committed state.
        index: Its search index.
    """

    def __init__(self, snapshot: Snapshot, index: TurnIndex) -> None:
        self._snapshot, self._index = snapshot, index
        self._pending: dict[str, dict[str, Turn]] = {}
        self._pending_ids: dict[str, Turn] = {}
        self._prints: dict[str, dict[str, None]] = {}
        self._unprinted: list[Turn] = []

    @property
    def stored(self) -> int:
        """How many turns are committed, superseded records left out."""
        return self._index.n_turns

    def turns(self, conversation: str, since: int | None = None) -> list[Turn]:
        """Return the conversation's turns by (seq, time, id), from a place on if given."""
        known = self._with_pending(self._index.conversation(conversation, since), conversation)
        return [turn for turn in known if since is None or turn.seq >= since]

    def end(self, conversation: str, size: int) -> list[Turn]:
        """Return the last ``size`` turns of the conversation by (seq, time, id)."""
        stored = self._index.conversation_end(conversation, size)
        return self._with_pending(stored, conversation)[-size:]

    def by_id(self, ids: Sequence[str]) -> list[Turn]:
        """Return the turns with these ids, by (seq, time, id)."""
        stored: list[IndexedTurn] = []
        for part in _portions(ids):
            stored += self._index.by_id(part).values()
        known = {turn.id: turn for turn in self._read(stored)}
        known.update((name, self._pending_ids[name]) for name in ids if name in self._pending_ids)
        return sorted(known.values(), key=_by_place)

    def conversations_with(
        self, prints: Sequence[str], but: AbstractSet[str] = frozenset()
    ) -> list[str]:
        """Return the conversations that hold most of the fingerprints, the fullest first.

        None where fewer than two of several turns are known at all: one shared greeting or
        system prompt makes no conversation.
        """
        asked = _spread(prints)
        pending = self._pending_prints()
        stored = self._index.print_holders(asked)
        if sum(each in stored or each in pending for each in asked) < min(2, len(asked)):
            return []
        counts = Counter(turn.conversation for turn in self._index.by_print(asked, _HOLDERS))
        waiting = sorted((each for each in set(asked) if each in pending), key=_rarest(pending))
        held = (name for each in waiting for name in pending[each])
        counts.update(islice(held, _HOLDERS))
        ranked = ((-count, name) for name, count in counts.items() if name not in but)
        return [name for _, name in heapq.nsmallest(_CANDIDATES, ranked)]

    def prints_in_order(self, conversation: str) -> Iterator[str] | None:
        """Return the fingerprints of a conversation's turns in order, none of them held.

        None where the file does not have them in order, each once, or some are not committed
        yet: then only `turns` can tell.
        """
        if self._pending.get(conversation):
            return None
        last: int | None = None
        for _, turn in self._snapshot.turns():
            if turn.conversation == conversation:
                if last is not None and turn.seq <= last:
                    return None
                last = turn.seq
        return self._prints_of(conversation)

    def _prints_of(self, conversation: str) -> Iterator[str]:
        for _, turn in self._snapshot.turns():
            if turn.conversation == conversation:
                yield fingerprint(turn.role, turn.speaker, turn.text, turn.time)

    def knows(self, conversation: str, prints: Sequence[str]) -> bool:
        """Return whether a turn of the conversation has one of these fingerprints."""
        pending = self._pending_prints()
        return any(conversation in pending.get(each, ()) for each in prints) or any(
            self._index.conversation_knows(conversation, part) for part in _portions(prints)
        )

    def told_elsewhere(self, conversation: str, drafts: Sequence[Draft]) -> set[int]:
        """Return the indexes of drafts that another conversation holds already.

        That is: a turn with the draft's message id, role, words and time. What the draft's own
        conversation holds is not looked for elsewhere.
        """
        prints, pending = [print_of(draft) for draft in drafts], self._pending_prints()
        stored = [turn for part in _portions(prints) for turn in self._index.by_print(part)]
        names = {turn.conversation for turn in stored}.union(
            *(pending.get(each, ()) for each in prints)
        )
        if not names - {conversation}:
            return set()
        ids = self._pending_ids.keys() | {turn.id for turn in stored}
        return {
            number
            for number, draft in enumerate(drafts)
            if draft.native_id is not None
            and native_turn_id(conversation, draft.native_id, draft.part) not in ids
            and any(native_turn_id(each, draft.native_id, draft.part) in ids for each in names)
        }

    def add(self, turns: Iterable[Turn]) -> None:
        """Remember turns that were appended but are not committed yet."""
        for turn in turns:
            self._pending.setdefault(turn.conversation, {})[turn.id] = turn
            self._pending_ids[turn.id] = turn
            self._unprinted.append(turn)

    def _pending_prints(self) -> dict[str, dict[str, None]]:
        """Return fingerprint → conversations of the pending turns; made only when asked for."""
        for turn in self._unprinted:
            key = fingerprint(turn.role, turn.speaker, turn.text, turn.time)
            self._prints.setdefault(key, {})[turn.conversation] = None
        self._unprinted.clear()
        return self._prints

    def _with_pending(self, stored: Sequence[IndexedTurn], conversation: str) -> list[Turn]:
        known = {turn.id: turn for turn in self._read(stored)}
        known.update(self._pending.get(conversation, {}))
        return sorted(known.values(), key=_by_place)

    def _read(self, stored: Sequence[IndexedTurn]) -> list[Turn]:
        return self._snapshot.read_turns([Placement(t.offset, t.length) for t in stored])


def _by_place(turn: Turn) -> tuple[int, str, str]:
    return (turn.seq, time_key(turn.time), turn.id)


def _rarest(holders: Mapping[str, Sized]) -> Callable[[str], tuple[int, str]]:
    """Return a sort key: the key with the fewest holders first."""
    return lambda each: (len(holders[each]), each)


def _spread(prints: Sequence[str]) -> list[str]:
    """Return the fingerprints to ask for: all, or those of both ends and every so many."""
    if len(prints) <= _PRINTS_ASKED:
        return list(prints)
    end = _PRINTS_ASKED // 4
    step = max(1, len(prints) // (_PRINTS_ASKED // 2))
    return [*prints[:end], *prints[end:-end:step], *prints[-end:]]


def _portions(keys: Sequence[str]) -> list[list[str]]:
    """Return the distinct keys, sorted, in portions of one look-up."""
    distinct = sorted(set(keys))
    return [distinct[i : i + _LOOKED_UP] for i in range(0, len(distinct), _LOOKED_UP)]
