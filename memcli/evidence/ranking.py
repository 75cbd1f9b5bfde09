"""How relevant a turn is to a question, from the words of it and of what stands around it.

The core is BM25 [1] at four widths: the turn, the window of 2 and of 4 places on either side,
and the session, all with the idf of turns. One sentence seldom holds both what is asked and
what is answered; the talk around it does. On top: a question in the talk hands its score to
its answer; turns of the person whom the question names first count more; turns that say next
to nothing, and machine output, count less.

Everything is recomputed from the terms of candidate turns, so each turn is indexed once and
no window is stored. Scores are Python floats summed in a fixed order: the same turns give the
same scores whatever order they were indexed in. Constants are round numbers from the middle
of plateaus; ``benchmarks/locomo.py`` measures each of them with leave-one-conversation-out.

[1] Robertson and Zaragoza 2009, with Lucene's idf, which is never negative.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import attrgetter
from typing import Protocol

from memcli.evidence.dates import Window
from memcli.evidence.question_words import asked_words
from memcli.records.evidence import SPOKEN
from memcli.records.indexed import IndexedTurn, Scope
from memcli.search.tokens import ASKS, stop_words, tokens

MAX_TERMS = 64
"""Distinct terms of a question that are scored; of a longer one the weightiest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The constants of the score. Round numbers: ranking changes little around each of them.

    Attributes:
        k1: Term saturation of BM25.
        length_norm: BM25's b. 0.4 ranks alike; the higher keeps long turns in check.
        windows: (places on either side, weight beside the turn's own 1.0) of each window.
        session: Weight of the session.
        session_turns: Turns of a usual session: a longer one needs the words more often.
        handover: Share of its own score that a question hands to the next turn: the answer
            rarely repeats the words it was asked in.
        speaker_gain: Gain of turns of the person named first: "What did Mara buy?" is
            answered by Mara.
        stop_weight: Weight of stop words: enough to break ties, too little to lead.
        brevity: Terms at which a turn counts half: "Wow, great!" matches and says nothing.
        aside: Weight of tool output, thoughts, injected text and abandoned branches.
        link: What the turn that is best linked by co-occurrence gains, as a share of the best
            relevance: the core's next turns are hard to beat.
        link_seeds: Best turns whose words are followed.
        link_words: Words of them that are followed, the weightiest.
        link_common: Share of all turns beyond which a word links nothing.
    """

    k1: float = 1.0
    length_norm: float = 0.75
    windows: tuple[tuple[int, float], ...] = ((2, 0.7), (4, 0.7))
    session: float = 0.5
    session_turns: int = 20
    handover: float = 0.3
    speaker_gain: float = 0.6
    stop_weight: float = 0.1
    brevity: float = 3.0
    aside: float = 0.5
    link: float = 0.15
    link_seeds: int = 5
    link_words: int = 20
    link_common: float = 0.05

    @property
    def reach(self) -> int:
        """Neighbours this many places away are needed to score a turn."""
        return max((radius for radius, _ in self.windows), default=1)


RECIPE = Recipe()


class TurnIndex(Protocol):
    """What ranking needs of a search index. `search.turn_index` implements it over tantivy."""

    @property
    def n_turns(self) -> int:
        """How many turns there are."""

    @property
    def mean_terms(self) -> float:
        """Average number of terms of a turn, at least 1."""

    def doc_freq(self, term: str) -> int:
        """Return in how many turns a term occurs."""

    def top(
        self, weights: Mapping[str, float], limit: int, scope: Scope | None = None
    ) -> list[IndexedTurn]:
        """Return the best turns by weighted BM25, ordered by (-score, turn order)."""

    def around(self, turns: Sequence[IndexedTurn], radius: int) -> list[IndexedTurn]:
        """Return the turns up to ``radius`` places away in the same sessions, and these."""

    def within(
        self,
        since: int | None,
        until: int | None,
        weights: Mapping[str, float],
        limit: int,
        scope: Scope | None = None,
    ) -> list[IndexedTurn]:
        """Return turns said in a span of epoch seconds, the best by the terms first."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as ranking reads it.

    Attributes:
        text: As asked.
        places: Each distinct term and where it first occurs (token position).
        weights: Weight of each scored term: its idf times how often it is asked, stop words
            at `Recipe.stop_weight`. Ordered by (-weight, term): the order of every sum.
        content: The terms that carry the question: those that are no stop words, or all of
            them where there are no others. What is searched.
    """

    text: str
    places: Mapping[str, int]
    weights: Mapping[str, float]
    content: tuple[str, ...]

    @property
    def searched(self) -> dict[str, float]:
        """Weights of the content terms."""
        return {term: self.weights[term] for term in self.content}


@dataclass(frozen=True, slots=True)
class Scored:
    """A turn and its relevance.

    Attributes:
        turn: The turn.
        score: Relevance with all that stands around it.
        own: Relevance of its own words alone; comparable with other ``own`` only.
        worth: The factor in both for who speaks, how and how much.
        held: The question's terms that it holds itself.
    """

    turn: IndexedTurn
    score: float
    own: float
    worth: float
    held: frozenset[str]


def idf(doc_freq: int, n_turns: int) -> float:
    """Return the weight of a term by its rarity: ln(1 + (N - n + 0.5) / (n + 0.5)), over 0."""
    return math.log1p((max(n_turns, doc_freq) - doc_freq + 0.5) / (doc_freq + 0.5))


def read_question(
    text: str, index: TurnIndex, recipe: Recipe = RECIPE, windows: Sequence[Window] = ()
) -> Question:
    """Return the question's terms with their weights in this index.

    Args:
        text: The question.
        index: Knows how rare a term is.
        recipe: The constants.
        windows: The dates that were understood. Their relative words are no terms; see
            `question_words`. A question of stop words beside them searches nothing.
    """
    words = asked_words(text, windows)
    asked = Counter(words)
    is_bare = not windows and asked.keys() <= stop_words()
    weights = {
        term: count
        * idf(index.doc_freq(term), index.n_turns)
        * (recipe.stop_weight if term in stop_words() and not is_bare else 1.0)
        for term, count in asked.items()
    }
    kept = sorted(weights, key=lambda term: (-weights[term], term))[:MAX_TERMS]
    return Question(
        text=text,
        places={word: words.index(word) for word in kept},
        weights={term: weights[term] for term in kept},
        content=tuple(term for term in kept if is_bare or term not in stop_words()),
    )


def score_turns(
    turns: Iterable[IndexedTurn],
    question: Question,
    mean_terms: float,
    recipe: Recipe = RECIPE,
) -> list[Scored]:
    """Return the turns that have any relevance, ordered by (-score, turn order).

    A turn's neighbours must be among ``turns`` to count; see `Recipe.reach`.

    Args:
        turns: Candidates and their neighbours, each once, in any order.
        question: What is asked.
        mean_terms: Average terms of a turn in the whole index.
        recipe: The constants.
    """
    named = named_first(question, turns := list(turns))
    by_session = groupby(sorted(turns, key=_by_place), key=attrgetter("conversation", "session"))
    scored = []
    for _, session in by_session:
        scored += _score_session(list(session), question, mean_terms, named, recipe)
    return sorted(scored, key=lambda item: (-item.score, item.turn.order))


def named_first(question: Question, turns: Iterable[IndexedTurn]) -> frozenset[str]:
    """Return the speakers of the turns whom the question names, only the first named.

    A name is named by any part of it that is no stop word: "Mara", "mara's", "Dr. Lind".
    Speakers who share the first named part ("Ana Silva", "Ana Costa") are all returned.
    """
    speakers = {turn.speaker for turn in turns if turn.speaker}
    content = frozenset(question.content)
    first = {
        speaker: min(question.places[part] for part in parts)
        for speaker in speakers
        if (parts := content.intersection(tokens(speaker)))
    }
    earliest = min(first.values(), default=0)
    return frozenset(speaker for speaker, place in first.items() if place == earliest)


def _by_place(turn: IndexedTurn) -> tuple[str, str, int, str]:
    return (turn.conversation, turn.session, turn.seq, turn.id)


@dataclass(frozen=True, slots=True)
class _Words:
    """Counts of the question's terms in the turns of one session, as running sums.

    Attributes:
        sums: For each term, its count in the first i turns; i = 0 … n.
        lengths: Number of all terms in the first i turns.
        weights: Weight of each term, in the order of ``sums``.
        mean: Average terms of a turn.
        recipe: The constants.
    """

    sums: list[list[int]]
    lengths: list[int]
    weights: list[float]
    mean: float
    recipe: Recipe

    def bm25(self, start: int, stop: int, turns: int) -> float:
        """Return BM25 of the turns ``[start:stop]`` as one text.

        Its length is judged against that number of ``turns`` of average length, so a window
        cut short by the start of a session is a short text.
        """
        length = self.lengths[stop] - self.lengths[start]
        usual = self.mean * turns
        k1, b = self.recipe.k1, self.recipe.length_norm
        damping = k1 * (1.0 - b + b * length / usual)
        total = 0.0
        for sums, weight in zip(self.sums, self.weights, strict=True):
            count = sums[stop] - sums[start]
            if count:
                total += weight * count * (k1 + 1.0) / (count + damping)
        return total


def _score_session(
    turns: Sequence[IndexedTurn],
    question: Question,
    mean_terms: float,
    named: frozenset[str],
    recipe: Recipe,
) -> list[Scored]:
    """Return the turns of one session that have any relevance, in order."""
    texts = [turn.terms.split(" ") for turn in turns]
    counts = [Counter(filter(question.weights.__contains__, text)) for text in texts]
    present = [term for term in question.weights if any(term in count for count in counts)]
    words = _Words(
        sums=[[0, *accumulate(count[term] for count in counts)] for term in present],
        lengths=[0, *accumulate(map(len, texts))],
        weights=[question.weights[term] for term in present],
        mean=mean_terms,
        recipe=recipe,
    )
    own = [words.bm25(i, i + 1, 1) for i in range(len(turns))]
    whole = recipe.session * words.bm25(0, len(turns), recipe.session_turns)
    scored = []
    for i, turn in enumerate(turns):
        score = own[i] + whole
        for radius, weight in recipe.windows:
            score += weight * words.bm25(*_window(turns, i, radius), 2 * radius + 1)
        if i and ASKS in texts[i - 1] and turn.seq - turns[i - 1].seq == 1:
            score += recipe.handover * own[i - 1]
        if score > 0:
            worth = (
                _standing(turn, named, recipe) * len(texts[i]) / (len(texts[i]) + recipe.brevity)
            )
            scored.append(Scored(turn, score * worth, own[i] * worth, worth, frozenset(counts[i])))
    return scored


def _window(turns: Sequence[IndexedTurn], i: int, radius: int) -> tuple[int, int]:
    """Return the slice of the turns within ``radius`` places of turn ``i``."""
    start = stop = i
    while start > 0 and turns[i].seq - turns[start - 1].seq <= radius:
        start -= 1
    while stop < len(turns) and turns[stop].seq - turns[i].seq <= radius:
        stop += 1
    return start, stop


def _standing(turn: IndexedTurn, named: frozenset[str], recipe: Recipe) -> float:
    """Return the weight of a turn by who speaks and whether it is part of the visible talk."""
    gain = 1.0 + recipe.speaker_gain if turn.speaker in named else 1.0
    return gain if turn.role in SPOKEN and turn.branch == "active" else gain * recipe.aside
