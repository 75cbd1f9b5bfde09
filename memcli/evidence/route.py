"""Question → ranked turns: three channels share the κ positions (EdgeMem section 3).

*Episode* takes the turns of highest relevance (`ranking`). *Co-occurrence* follows the
question's anchor, its rarest word that recurs across sessions, into sessions that the core
does not show, to turns that match by their own words nearly as well as the best one. *Time*
takes turns said in a span of days that the question names, or soon after, when people tell
of them; without such a span its gate is closed and its positions go to co-occurrence. A turn
takes one position, in the first channel that brings it; positions that a channel cannot fill
fall to the next turns of the core.

The budgets are EdgeMem's; how the gate splits the last four positions (4, or 2 + 2) is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import islice

from memcli.evidence.dates import DateReading, Window, read_dates
from memcli.evidence.ranking import (
    RECIPE,
    Question,
    Recipe,
    Scored,
    TurnIndex,
    named_first,
    read_question,
    score_turns,
)
from memcli.evidence.reasons import Grounds, reason, verbatim_words
from memcli.records.indexed import IndexedTurn, Scope
from memcli.records.pack import Channel, GateWindow, Ranked, Tier
from memcli.search.tokens import tokens

HUB_TURNS = 20
"""Turns of an anchor, or of a span of days, that are looked at."""

HUB_SHARE = 0.8
"""Own relevance, as a share of the best turn's, that co-occurrence asks for: the core's next
turns are hard to beat, weaker hub turns lose more than they find."""
AFTERMATH_DAYS = 7
"""Days after a named span in which people still tell of it: last week's dinner, say."""

MATCH_SHARE = 0.5
WEAK_SHARE = 0.15
"""Share of the question's weight that one turn must hold to be a match, or a weak one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """How many positions there are, and how many of them each channel may take.

    Attributes:
        positions: κ, all of them.
        episode: For the core.
        time: For turns of the named days; with a closed gate they go to co-occurrence, which
            has what episode and time leave.
        candidates: Best turns by their own words that are scored in full, with their
            neighbours. 50 to 1,000 rank alike.
    """

    positions: int = 18
    episode: int = 14
    time: int = 2
    candidates: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """What a question brought to light.

    Attributes:
        question: The question's terms and weights.
        ranked: At most κ turns, rank 1 first.
        windows: Days the question names; not empty exactly when the time gate is open.
        anchors: Terms whose co-occurrence hubs were followed.
        notes: What the user should know.
        tier: How well anything matched.
    """

    question: Question
    ranked: tuple[Ranked, ...]
    windows: tuple[GateWindow, ...]
    anchors: tuple[str, ...]
    notes: tuple[str, ...]
    tier: Tier


DEFAULT_BUDGETS = Budgets()


@dataclass(frozen=True, slots=True)
class _Pick:
    """A turn with the channel that brought it."""

    scored: Scored
    channel: Channel


def route(
    text: str,
    index: TurnIndex,
    *,
    as_of: datetime,
    tz: tzinfo,
    scope: Scope | None = None,
    budgets: Budgets = DEFAULT_BUDGETS,
    recipe: Recipe = RECIPE,
) -> Routed:
    """Return the turns that a question brings to light, and why.

    Deterministic: the same turns give the same result in whatever order they were indexed.

    Args:
        text: The question.
        index: The turns.
        as_of: Aware reference time for "last week".
        tz: Zone in which days begin and end.
        scope: Conditions every turn must meet.
        budgets: Positions by channel.
        recipe: Constants of the score.
    """
    question = read_question(text, index, recipe)
    dates = read_dates(text, reference=as_of, tz=tz)
    hub = _hub(question, index, scope)
    in_time = _turns_in_time(question, index, dates.windows, tz, scope)
    best = index.top(question.searched, budgets.candidates, scope)
    nearby = index.around(_unique([*best, *hub.turns, *in_time]), recipe.reach)
    core = score_turns(nearby, question, index.mean_terms, recipe)
    if scope is not None and scope != Scope():
        core = [item for item in core if is_inside(item.turn, scope)]
    picks = _share(core, hub.anchor, in_time, budgets)
    grounds = Grounds(
        question=question,
        words=verbatim_words(text),
        speakers=named_first(question, nearby),
        anchor=hub.anchor,
        anchor_sessions=len(hub.sessions),
        windows=dates.windows,
        tz=tz,
    )
    return Routed(
        question=question,
        ranked=tuple(_ranked(pick, rank, grounds) for rank, pick in enumerate(picks, start=1)),
        windows=tuple(GateWindow(start=w.start, end=w.end, text=w.text) for w in dates.windows),
        anchors=(hub.anchor,) if hub.anchor else (),
        notes=_notes(question, dates),
        tier=tier_of(question, (pick.scored for pick in picks)),
    )


def _notes(question: Question, dates: DateReading) -> tuple[str, ...]:
    """Return what the user should know about how the question was read."""
    unknown = tuple(f'no date is known for "{words}"' for words in dates.unknown_anchors)
    return unknown if question.weights else (*unknown, "the question holds no word to search for")


def is_inside(turn: IndexedTurn, scope: Scope) -> bool:
    """Return whether a turn meets every condition of a scope."""
    said = datetime.fromisoformat(turn.time).timestamp() if turn.time else None
    return (
        scope.conversation in {None, turn.conversation}
        and scope.session in {None, turn.session}
        and (scope.speaker is None or scope.speaker.casefold() == (turn.speaker or "").casefold())
        and (scope.since is None or (said is not None and said >= scope.since))
        and (scope.until is None or (said is not None and said < scope.until + 1))
    )


def _ranked(pick: _Pick, rank: int, grounds: Grounds) -> Ranked:
    return Ranked(
        turn=pick.scored.turn,
        rank=rank,
        channel=pick.channel,
        score=pick.scored.score,
        why=reason(pick.scored, pick.channel, grounds),
    )


def tier_of(question: Question, scored: Iterable[Scored]) -> Tier:
    """Return how well the best single turn covers the question's weight, by its own words."""
    mass = sum(question.searched.values())
    best = max((_covered(question, item) for item in scored), default=0.0)
    if mass == 0 or best == 0:
        return "none"
    share = best / mass
    return "match" if share >= MATCH_SHARE else "weak" if share >= WEAK_SHARE else "none"


def _covered(question: Question, item: Scored) -> float:
    return sum(question.weights[term] for term in question.content if term in item.held)


@dataclass(frozen=True, slots=True)
class _Hub:
    """A co-occurrence hub: turns of different sessions that share an anchor; may be empty."""

    anchor: str | None = None
    turns: tuple[IndexedTurn, ...] = ()

    @property
    def sessions(self) -> set[tuple[str, str]]:
        return {(turn.conversation, turn.session) for turn in self.turns}


def _hub(question: Question, index: TurnIndex, scope: Scope | None) -> _Hub:
    """Return the hub of the weightiest content term that occurs in two sessions or more.

    Names of those who speak are no anchors: everything they say would share them.
    """
    for term in question.content:
        if index.doc_freq(term) < 2:
            continue
        hub = _Hub(term, tuple(index.top({term: 1.0}, HUB_TURNS, scope)))
        speakers = {turn.speaker for turn in hub.turns if turn.speaker}
        is_name = any(term in tokens(speaker) for speaker in speakers)
        if not is_name and len(hub.sessions) > 1:
            return hub
    return _Hub()


def _elsewhere(core: Sequence[Scored], anchor: str | None, picked: Iterable[_Pick]) -> list[Scored]:
    """Return the anchor's turns in sessions not picked from yet that match well themselves.

    Ordered by (-own relevance, turn order).
    """
    seen = {(pick.scored.turn.conversation, pick.scored.turn.session) for pick in picked}
    floor = HUB_SHARE * max((item.own for item in core), default=0.0)
    hub = [
        item
        for item in core
        if anchor in item.held
        and item.own >= floor
        and (item.turn.conversation, item.turn.session) not in seen
    ]
    return sorted(hub, key=lambda item: (-item.own, item.turn.order))


def _turns_in_time(
    question: Question,
    index: TurnIndex,
    windows: Sequence[Window],
    tz: tzinfo,
    scope: Scope | None,
) -> list[IndexedTurn]:
    """Return turns said in the named spans or soon after, those of each span best first."""
    found: list[IndexedTurn] = []
    for window in windows:
        since = _epoch(window.start, -window.slack, tz)
        until = _epoch(window.end, window.slack + AFTERMATH_DAYS + 1, tz)
        last = until - 1 if until is not None else None
        found += index.within(since, last, question.searched, HUB_TURNS, scope)
    return _unique(found)


def _epoch(day: date | None, shift: int, tz: tzinfo) -> int | None:
    """Return the epoch second in which a day, shifted by days, begins; None for none."""
    if day is None:
        return None
    try:
        begin = datetime.combine(day + timedelta(days=shift), time(), tzinfo=tz)
        return int(begin.astimezone(UTC).timestamp())
    except (OverflowError, ValueError):  # beyond the calendar: an open end
        return None


def _unique(turns: Iterable[IndexedTurn]) -> list[IndexedTurn]:
    return list({turn.id: turn for turn in turns}.values())


def _share(
    core: Sequence[Scored], anchor: str | None, in_time: Sequence[IndexedTurn], budgets: Budgets
) -> list[_Pick]:
    """Return who takes the positions, best score first.

    The core is ordered by relevance; a channel chooses among what earlier channels left.
    Positions that nobody fills go to turns of the named days that match no word.
    """
    taken: dict[str, _Pick] = {}

    def take(items: Iterable[Scored], channel: Channel, most: int) -> None:
        room = min(most, budgets.positions - len(taken))
        fresh = (item for item in items if item.turn.id not in taken)
        for item in list(islice(fresh, max(0, room))):
            taken[item.turn.id] = _Pick(item, channel)

    timed = budgets.time if in_time else 0
    days = {turn.id for turn in in_time}
    matched = {item.turn.id for item in core}
    take(core, "episode", budgets.episode)
    elsewhere = _elsewhere(core, anchor, taken.values())
    take(elsewhere, "cooccurrence", budgets.positions - budgets.episode - timed)
    take([item for item in core if item.turn.id in days], "time", timed)
    take(core, "episode", budgets.positions)
    silent = [Scored(turn, 0.0, 0.0, frozenset()) for turn in in_time if turn.id not in matched]
    take(silent, "time", budgets.positions)
    return sorted(taken.values(), key=lambda pick: (-pick.scored.score, pick.scored.turn.order))
