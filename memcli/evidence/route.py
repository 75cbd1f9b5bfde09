"""Question → ranked turns: three channels share the κ positions (EdgeMem section 3).

*Episode* takes the turns of highest relevance (`ranking`). *Co-occurrence* follows the rare
words of the best of them, anchors that recur across sessions, to turns that the question's own
words miss (`cooccurrence`). *Time* takes turns said in a span of days that the question names,
or soon after, when people tell of them; without such a span its gate is closed and its
positions go to co-occurrence. A question for nothing but days ("What happened last summer?")
gives all positions to their turns. A turn takes one position, in the first channel that brings
it; positions that a channel cannot fill fall to the next turns of the core.

The budgets are EdgeMem's; how the gate splits the last four positions (4, or 2 + 2) is ours.
What each channel adds, in every order of insertion and with intervals, is in
``benchmarks/results/locomo_dev5.json``: co-occurrence adds 1.1 points to a core of own words
(95 %: 0.4 to 1.9); to the whole core 0.7, and the interval reaches zero (-0.02 to 1.46). It does
not help everywhere: with every turn followed by 150 words of another talk, which share rare
words by chance, it costs 0.6 points (0.1 to 1.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import islice

from memcli.evidence.cooccurrence import anchors_of, linked, recurring
from memcli.evidence.dates import DateReading, Window, read_dates
from memcli.evidence.question_words import asks_only_when, date_words
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

HUB_TURNS = 20
"""Turns of the anchors, or of a span of days, that are looked at."""

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
        cooccurrence: At most, for turns that anchors link; it has what episode and time leave.
        time: For turns of the named days, when the gate is open.
        candidates: Best turns by their own words that are scored in full, with their
            neighbours. 50 to 1,000 rank alike.
    """

    positions: int = 18
    episode: int = 14
    cooccurrence: int = 4
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
class _Field:
    """The turns looked at, and their relevance.

    Attributes:
        found: What searches returned.
        nearby: The same with their neighbours.
        core: Those with any relevance that meet the scope, best first.
    """

    index: TurnIndex
    question: Question
    scope: Scope | None
    recipe: Recipe
    found: tuple[IndexedTurn, ...] = ()
    nearby: tuple[IndexedTurn, ...] = ()
    core: tuple[Scored, ...] = ()

    def widened(self, turns: Iterable[IndexedTurn]) -> _Field:
        """Return the field with more turns and their neighbours, all scored anew."""
        found = _unique([*self.found, *turns])
        nearby = self.index.around(found, self.recipe.reach)
        core = score_turns(nearby, self.question, self.index.mean_terms, self.recipe)
        if self.scope is not None and self.scope != Scope():
            core = [item for item in core if is_inside(item.turn, self.scope)]
        return replace(self, found=tuple(found), nearby=tuple(nearby), core=tuple(core))


def _followed(field: _Field) -> tuple[_Field, Mapping[str, float]]:
    """Return the field with the hubs of its best turns, and the anchors that led there."""
    speakers = {turn.speaker for turn in field.nearby if turn.speaker}
    anchors = anchors_of(field.core, field.question, field.index, speakers, field.recipe)
    hub = field.index.top(anchors, HUB_TURNS, field.scope)
    wider = field.widened(hub) if hub else field
    return wider, recurring(anchors, wider.nearby)


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
    dates = read_dates(text, reference=as_of, tz=tz)
    question = read_question(text, index, recipe, dates.windows)
    in_time = _turns_in_time(question, index, dates.windows, tz, scope)
    best = index.top(question.searched, budgets.candidates, scope)
    field = _Field(index, question, scope, recipe)
    field = field.widened([*best, *in_time])
    anchors: Mapping[str, float] = {}
    if _linked_positions(budgets, in_time):
        field, anchors = _followed(field)
    links = linked(field.core, anchors, index.mean_terms, recipe)
    speakers = {turn.speaker for turn in field.nearby if turn.speaker}
    is_dated = bool(in_time) and asks_only_when(text, dates.windows, speakers)
    picks = _share(field.core, links, in_time, budgets, is_dated=is_dated)
    dated = date_words(text, dates.windows)
    tier = tier_of(question, (pick.scored for pick in picks), dated)
    grounds = Grounds(
        question=question,
        words=verbatim_words(text),
        speakers=named_first(question, field.nearby),
        anchors=tuple(anchors),
        windows=dates.windows,
        tz=tz,
    )
    return Routed(
        question=question,
        ranked=tuple(_ranked(pick, rank, grounds) for rank, pick in enumerate(picks, start=1)),
        windows=tuple(GateWindow(start=w.start, end=w.end, text=w.text) for w in dates.windows),
        anchors=tuple(anchors),
        notes=_notes(question, dates),
        tier="weak" if is_dated and tier == "none" else tier,
    )


def _notes(question: Question, dates: DateReading) -> tuple[str, ...]:
    """Return what the user should know about how the question was read."""
    unknown = tuple(f'no date is known for "{words}"' for words in dates.unknown_anchors)
    is_empty = not question.weights and not dates.windows
    return (*unknown, "the question holds no word to search for") if is_empty else unknown


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


def tier_of(
    question: Question, scored: Iterable[Scored], dated: frozenset[str] = frozenset()
) -> Tier:
    """Return how well the best single turn covers the question's weight, by its own words.

    Args:
        question: The question.
        scored: The turns that were chosen.
        dated: Words of understood dates. They open the gate and do not count here, unless
            there are no others: a turn need not say "1900" to be said since then.
    """
    asked = [term for term in question.content if term not in dated] or question.content
    mass = sum(question.weights[term] for term in asked)
    best = max((_covered(question, item, asked) for item in scored), default=0.0)
    if mass == 0 or best == 0:
        return "none"
    share = best / mass
    return "match" if share >= MATCH_SHARE else "weak" if share >= WEAK_SHARE else "none"


def _covered(question: Question, item: Scored, asked: Sequence[str]) -> float:
    return sum(question.weights[term] for term in asked if term in item.held)


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


def _linked_positions(budgets: Budgets, in_time: Sequence[IndexedTurn]) -> int:
    """Return how many positions co-occurrence has."""
    left = budgets.positions - budgets.episode - (budgets.time if in_time else 0)
    return max(0, min(left, budgets.cooccurrence))


def _share(
    core: Sequence[Scored],
    links: Sequence[tuple[Scored, bool]],
    in_time: Sequence[IndexedTurn],
    budgets: Budgets,
    *,
    is_dated: bool,
) -> list[_Pick]:
    """Return who takes the positions, best score first.

    The core is ordered by relevance; a channel chooses among what earlier channels left.
    Positions that nobody fills go to turns of the named days that match no word. When the
    question asks for nothing but days (``is_dated``), all their turns come first, and rank first.
    """
    taken: dict[str, _Pick] = {}

    def take(items: Iterable[tuple[Scored, Channel]], most: int) -> None:
        room = min(most, budgets.positions - len(taken))
        fresh = (pair for pair in items if pair[0].turn.id not in taken)
        for item, channel in list(islice(fresh, max(0, room))):
            taken[item.turn.id] = _Pick(item, channel)

    days = {turn.id for turn in in_time}
    matched = {item.turn.id for item in core}
    episode: list[tuple[Scored, Channel]] = [(item, "episode") for item in core]
    linking: list[tuple[Scored, Channel]] = [
        (item, "cooccurrence" if is_linked else "episode") for item, is_linked in links
    ]
    timed: list[tuple[Scored, Channel]] = [(i, "time") for i in core if i.turn.id in days]
    silent = (Scored(t, 0.0, 0.0, 1.0, frozenset()) for t in in_time if t.id not in matched)
    whole: list[tuple[Scored, Channel]] = [*timed, *((item, "time") for item in silent)]
    take(whole, budgets.positions if is_dated else 0)
    take(episode, budgets.episode)
    take(linking, _linked_positions(budgets, in_time))
    take(timed, budgets.time)
    take(episode, budgets.positions)
    take(whole, budgets.positions)

    def rank(pick: _Pick) -> tuple[bool, float, tuple[str, str, int, str]]:
        is_elsewhen = is_dated and pick.channel != "time"
        return (is_elsewhen, -pick.scored.score, pick.scored.turn.order)

    return sorted(taken.values(), key=rank)
