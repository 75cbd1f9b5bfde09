"""The three sub-hypergraphs: hubs of time, of co-occurrence and of episode.

A turn is stored once and belongs to every hub whose key it carries (EdgeMem, arXiv 2609.05553,
evidence hypergraph). The keys of a turn are a function of the turn and its annotation, so hubs
are counted in one pass and their members found in another: no member lists are kept.

* *Time*: the day on which it was said and the days it names, with their weeks and months:
  ``2023-05-08``, ``2023-W19``, ``2023-05``. A named span belongs to a hub that holds all of it.
* *Co-occurrence*: a name, or a content word, in at least two sessions. Words that stand in more
  than a quarter of the sessions, and in more than `COMMON_FLOOR`, mean nothing unless the
  annotator mostly takes them for a name.
* *Episode*: the session, ``conversation/session``. The local window around a turn is an episode
  hub of its own, but as there is one a turn it is read from the turn's place in its session,
  never listed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from itertools import groupby
from typing import Literal, NamedTuple

from memcli.records.annotations import Annotation
from memcli.records.evidence import SPOKEN, Turn
from memcli.search.tokens import stop_words, tokens, tokens_with_spans

Kind = Literal["time", "cooccurrence", "episode"]

AnnotatedTurn = tuple[Turn, Annotation | None]
"""A turn and what is known of it: None while it waits to be annotated."""

COMMON_SHARE = 0.25
"""Share of the sessions beyond which a word that is no name links nothing."""

COMMON_FLOOR = 4
"""Sessions up to which no word is too common, so that a small store has hubs too."""

NAME_SHARE = 0.25
"""Share of its turns in which a key must have been taken for a name to count as one: a
recogniser now and then takes "Awesome!" for a person."""

_MIN_DIGITS = 3
"""Shorter numbers count things; longer ones are years, ports, error codes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hyperedge:
    """A hub and the size of what it joins.

    Attributes:
        kind: See the module.
        anchor: Its key, unique within the kind.
        label: The same for people: a name or word as first written, a session's title.
        turns: Turns it joins.
        sessions: Sessions they are in.
        first: Time of the earliest one, RFC 3339 UTC, None if none has a time.
        last: Time of the latest one.
    """

    kind: Kind
    anchor: str
    label: str
    turns: int
    sessions: int
    first: str | None
    last: str | None


class Anchor(NamedTuple):
    """A co-occurrence key that a turn carries.

    Attributes:
        key: Folded by the tokenizer: "Mara's" and "mara" are one.
        name: The name as written, or None for a content word.
    """

    key: str
    name: str | None


def hyperedges(turns: Iterable[AnnotatedTurn], *, tz: tzinfo) -> Iterator[Hyperedge]:
    """Yield the hubs of turns: episodes in the order given, then time, then co-occurrence.

    Memory grows with the sessions' vocabulary, not with the turns.

    Args:
        turns: Every turn once, those of a session side by side, sessions in any order.
        tz: Zone in which days begin and end.
    """
    days: defaultdict[str, _Hub] = defaultdict(_Hub)
    words: defaultdict[str, _Hub] = defaultdict(_Hub)
    number = 0
    for (conversation, session), sitting in groupby(turns, key=_session):
        number += 1
        episode = _Hub()
        for turn, annotation in sitting:
            episode.take(number, turn.time)
            episode.label = turn.title or episode.label
            for key in time_keys(turn, annotation, tz):
                days[key].take(number, turn.time)
            for anchor in anchors(turn, annotation):
                words[anchor.key].take_anchor(anchor, number, turn)
        yield episode.edge("episode", f"{conversation}/{session}", episode.label or session)
    yield from (hub.edge("time", key, key) for key, hub in sorted(days.items()))
    most = max(COMMON_FLOOR, COMMON_SHARE * number)
    for key, hub in sorted(words.items()):
        if hub.sessions > 1 and (hub.is_name or hub.sessions <= most):
            yield hub.edge("cooccurrence", key, hub.name if hub.is_name else hub.label)


def _session(pair: AnnotatedTurn) -> tuple[str, str]:
    return pair[0].conversation, pair[0].session


class _Hub:
    """A hub being counted; sessions are exact because a session's turns come together."""

    __slots__ = ("first", "label", "last", "name", "named", "seen_in", "sessions", "turns")

    def __init__(self) -> None:
        self.turns = self.sessions = self.named = self.seen_in = 0
        self.label = self.name = ""
        self.first: str | None = None
        self.last: str | None = None

    @property
    def is_name(self) -> bool:
        """Whether the annotator takes it for a name often enough."""
        return self.named >= NAME_SHARE * self.turns and self.named > 0

    def take(self, session: int, time: str | None) -> None:
        """Count a turn of the session of that number, from 1."""
        self.turns += 1
        if self.seen_in != session:
            self.sessions += 1
            self.seen_in = session
        if time is not None:
            self.first = time if self.first is None or time < self.first else self.first
            self.last = time if self.last is None or time > self.last else self.last

    def take_anchor(self, anchor: Anchor, session: int, turn: Turn) -> None:
        """Count a turn that carries a co-occurrence key."""
        self.take(session, turn.time)
        if anchor.name is not None:
            self.named += 1
            self.name = self.name or anchor.name
        elif self.sessions > 1 and not self.label:  # only now is it worth the search
            self.label = _as_written(anchor.key, turn)

    def edge(self, kind: Kind, anchor: str, label: str) -> Hyperedge:
        """Return the finished hub."""
        return Hyperedge(
            kind=kind,
            anchor=anchor,
            label=label or anchor,
            turns=self.turns,
            sessions=self.sessions,
            first=self.first,
            last=self.last,
        )


def carries(turn: Turn, annotation: Annotation | None, name: str, *, tz: tzinfo) -> bool:
    """Return whether a turn belongs to the hub of that anchor.

    Args:
        turn: The turn.
        annotation: What is known of it.
        name: An anchor as `hyperedges` gives it, or a name or word as people write it.
        tz: Zone in which days begin and end.
    """
    if name == episode_key(turn) or name in time_keys(turn, annotation, tz):
        return True
    folded = fold(name)
    return any(anchor.key in (name, folded) for anchor in anchors(turn, annotation))


def episode_key(turn: Turn) -> str:
    """Return the anchor of a turn's session."""
    return f"{turn.conversation}/{turn.session}"


def time_keys(turn: Turn, annotation: Annotation | None, tz: tzinfo) -> set[str]:
    """Return the days, weeks and months that a turn was said in or names as a whole."""
    keys: set[str] = set()
    if turn.time is not None:
        keys.update(day_keys(datetime.fromisoformat(turn.time).astimezone(tz).date()))
    for window in annotation.windows if annotation else ():
        if window.start is not None and window.end is not None:
            keys.update(set(day_keys(window.start)).intersection(day_keys(window.end)))
    return keys


def day_keys(day: date) -> tuple[str, str, str]:
    """Return the anchors of a day, its ISO week and its month."""
    year, week, _ = day.isocalendar()
    return day.isoformat(), f"{year:04}-W{week:02}", f"{day.year:04}-{day.month:02}"


def anchors(turn: Turn, annotation: Annotation | None) -> list[Anchor]:
    """Return the co-occurrence keys of a turn, each once, names first.

    Only what was said has any: see `SPOKEN`.
    """
    if turn.role not in SPOKEN:
        return []
    found: dict[str, str | None] = {}
    for entity in annotation.entities if annotation else ():
        if key := fold(entity.text):
            found.setdefault(key, entity.text)
    text = f"{turn.text}\n{turn.caption}" if turn.caption else turn.text
    common = stop_words()
    for word in tokens(text):
        if _is_content(word, common):
            found.setdefault(word, None)
    return [Anchor(key, name) for key, name in found.items()]


def fold(name: str) -> str:
    """Return the key of a name: its tokens, less leading and trailing stop words."""
    words = tokens(name)
    common = stop_words()
    while words and words[0] in common:
        del words[0]
    while words and words[-1] in common:
        del words[-1]
    return " ".join(words)


def _is_content(word: str, common: frozenset[str]) -> bool:
    """Whether a token by itself can say what a turn is about."""
    if len(word) < 2 or word in common:
        return False
    return not word.isdecimal() or len(word) >= _MIN_DIGITS


def _as_written(key: str, turn: Turn) -> str:
    """Return the first words of a turn that give a token, as they stand there."""
    for chunk in f"{turn.text} {turn.caption or ''}".split():
        if key in tokens(chunk):  # cached, unlike the places of tokens
            spans = tokens_with_spans(chunk)
            return next((chunk[t.start : t.end] for t in spans if t.text == key), key)
    return key
