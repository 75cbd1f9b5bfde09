"""Stores of invented turns and the indexes over them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memcli.records.evidence import Source, Turn
from memcli.records.ids import content_turn_id
from memcli.records.times import rfc3339
from memcli.search.builder import bring_up_to_date
from memcli.search.opening import Opened, open_index
from memcli.store.snapshot import Snapshot
from memcli.store.store import Store

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
START = datetime(2025, 5, 1, 9, 0, tzinfo=UTC)
WORDS = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrstvz"]


def count(texts: Sequence[str]) -> list[int]:
    """A token counter that needs no tokenizer."""
    return [len(text.split()) for text in texts]


def a_turn(number: int, text: str, *, conversation: str = "c", speaker: str = "Mara") -> Turn:
    """A turn; the same arguments give the same turn."""
    time = rfc3339(START + timedelta(minutes=number // 3))
    return Turn(
        id=content_turn_id(conversation, time, speaker, text, number),
        conversation=conversation,
        session=f"s{number // 20}",
        seq=number,
        speaker=speaker,
        role="user",
        text=text,
        time=time,
        time_granularity="second",
        source=Source(format="test", file="talk.txt", line=number),
        tokens=len(text.split()),
    )


def some_turns(number: int, *, seed: int = 1, words: int = 8) -> list[Turn]:
    """Invented turns of Zipf-distributed words, of one or two dozen conversations."""
    chance = random.Random(seed)
    weights = [1 / rank for rank in range(1, len(WORDS) + 1)]
    return [
        a_turn(
            i,
            " ".join(chance.choices(WORDS, weights, k=chance.randint(1, 2 * words))),
            conversation=f"c{i // 50}",
            speaker=chance.choice(["Mara", "Jonas", "Ana"]),
        )
        for i in range(number)
    ]


def some_queries(number: int, *, seed: int = 2) -> list[dict[str, float]]:
    """Weighted terms as a question gives them, one to seven of them."""
    from memcli.search.tokens import tokens

    chance = random.Random(seed)
    return [
        {
            tokens(WORDS[int(len(WORDS) ** chance.random()) - 1])[0]: chance.choice([1.0, 0.1, 2.5])
            for _ in range(chance.randint(1, 7))
        }
        for _ in range(number)
    ]


def a_store(path: Path, turns: Iterable[Turn] = ()) -> Store:
    """A store, with the turns committed but not indexed."""
    store = Store.create(path, now=NOW)
    append(store, turns, index=False)
    return store


def append(store: Store, turns: Iterable[Turn], *, index: bool = True) -> Snapshot:
    """Commit turns as one step and, unless told otherwise, index them."""
    with store.writer(now=NOW) as writer:
        for turn in turns:
            writer.append_turn(turn)
        snapshot = writer.commit(command="test")
        if index:
            bring_up_to_date(snapshot, count=count)
    return snapshot


def index_of(store: Store) -> Opened:
    """The store's index as a reader opens it."""
    return open_index(store.snapshot(), count=count)


def ranking(opened: Opened, query: dict[str, float], limit: int = 18) -> list[str]:
    """Ids of the best turns."""
    return [turn.id for turn in opened.index.top(query, limit)]
