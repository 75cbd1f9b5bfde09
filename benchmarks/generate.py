"""Invented conversations of any size, the same ones every time.

Words are made of syllables and drawn by Zipf's law, as in real talk: a few words are in almost
every turn, most are rare. Written as LoCoMo samples (message ids and sessions of the source's
own) or as OpenAI chat lines (neither), one conversation of 20 sessions of 20 turns after the
other. Run ``python -m benchmarks.generate --help`` to write a file.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import orjson

SESSION_TURNS = 20
CONVERSATION_SESSIONS = 20
VOCABULARY = 50_000
_SYLLABLES = [c + v + e for c in "bdfgklmnprstvz" for v in "aeiou" for e in ("", "n", "r", "s")]
_PEOPLE = ("Arvel", "Brisa", "Corin", "Delva", "Emrik", "Farah", "Gesa", "Hollin")
_START = datetime(2015, 1, 5, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What to invent.

    Attributes:
        turns: How many in all.
        words: Words of a turn, on average; each has between half and one and a half of it.
        sessions: Sessions of a conversation.
        first: Number of the first session: a later part of the same talk.
        seed: Of the random numbers.
    """

    turns: int
    words: int = 12
    sessions: int = CONVERSATION_SESSIONS
    first: int = 1
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting: its conversation's number, its own number in it, start and (who, what)."""

    conversation: int
    number: int
    start: datetime
    turns: list[tuple[str, str]]


@lru_cache(maxsize=1)
def vocabulary() -> tuple[list[str], list[float]]:
    """Return the words, commonest first, and their cumulated Zipf weights (exponent 1)."""
    chance = random.Random(0)
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        size = 1 + min(2, len(words) // 200)
        words["".join(chance.choices(_SYLLABLES, k=size + chance.randrange(2)))] = None
    return list(words), list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))


def sessions(talk: Talk) -> Iterator[Session]:
    """Yield the sessions in order, conversation by conversation; the last may be short."""
    chance = random.Random(talk.seed)
    left = talk.turns
    count = 0
    while left > 0:
        conversation, number = divmod(count, talk.sessions)
        pair = chance.sample(_PEOPLE, 2)
        size = min(SESSION_TURNS, left)
        days = 3 * (talk.first - 1 + number) + conversation % 90
        start = _START + timedelta(days=days, minutes=count % 500)
        said = [(pair[i % 2], _sentence(chance, talk.words)) for i in range(size)]
        yield Session(conversation, talk.first + number, start, said)
        left -= size
        count += 1


def _sentence(chance: random.Random, mean: int) -> str:
    words, weights = vocabulary()
    size = chance.randint(max(1, mean // 2), mean + mean // 2)
    return " ".join(chance.choices(words, cum_weights=weights, k=size)).capitalize() + "."


def questions(number: int, *, seed: int = 7) -> list[str]:
    """Return questions of two to six words, none among the 50 commonest."""
    chance = random.Random(seed)
    words, _ = vocabulary()
    return [
        " ".join(words[int(50 * 400 ** chance.random())] for _ in range(chance.randint(2, 6)))
        for _ in range(number)
    ]


def write_locomo(path: Path, talk: Talk) -> None:
    """Write an array of LoCoMo samples, one a conversation."""
    with path.open("wb") as file:
        separator = b"["
        for sample in _samples(talk):
            file.write(separator + orjson.dumps(sample))
            separator = b",\n"
        file.write(b"]\n")


def _samples(talk: Talk) -> Iterator[dict[str, object]]:
    current, inner = 0, dict[str, object]()
    for session in sessions(talk):
        if session.conversation != current:
            yield {"sample_id": f"talk-{current}", "conversation": inner, "qa": []}
            current, inner = session.conversation, {}
        name = f"session_{session.number}"
        inner[f"{name}_date_time"] = session.start.strftime("%I:%M %p on %d %B, %Y")
        inner[name] = [
            {"speaker": who, "dia_id": f"D{session.number}:{i}", "text": text}
            for i, (who, text) in enumerate(session.turns, 1)
        ]
    yield {"sample_id": f"talk-{current}", "conversation": inner, "qa": []}


def write_openai(path: Path, talk: Talk, *, timed: bool = True) -> None:
    """Write OpenAI chat lines: one conversation, whatever ``talk`` says of several."""
    with path.open("wb") as file:
        for session in sessions(talk):
            for i, (who, text) in enumerate(session.turns):
                message = {"role": ("user", "assistant")[i % 2], "name": who, "content": text}
                if timed:
                    message["timestamp"] = (session.start + timedelta(minutes=i)).isoformat()
                file.write(orjson.dumps(message) + b"\n")


def main() -> None:
    """Write one file."""
    parser = argparse.ArgumentParser(description="Write an invented transcript.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--words", type=int, default=12)
    parser.add_argument("--sessions", type=int, default=CONVERSATION_SESSIONS)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=("locomo", "openai"), default="locomo")
    given = parser.parse_args()
    talk = Talk(
        turns=given.turns,
        words=given.words,
        sessions=given.sessions,
        first=given.first,
        seed=given.seed,
    )
    (write_locomo if given.format == "locomo" else write_openai)(given.file, talk)


if __name__ == "__main__":
    main()
