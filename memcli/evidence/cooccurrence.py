"""Co-occurrence: turns that share rare words with those that answer best.

What a question asks in its own words is often told in others elsewhere. The best turns of the
core say which: their rare words that recur across sessions are *anchors*, hubs that lead to
turns which the question's words alone rank too low ("camping" → "marshmallows", "bonfire" →
another trip). Two steps in the hypergraph of EdgeMem (arXiv 2609.05553), question → turn → hub
→ turn. The paper's one step, question → hub → turn, is what the core already does with the
question's own words; as a channel of its own it added nothing to it.

An anchor widens what is looked at, then only re-orders: a turn is judged by its relevance plus
a small share for its anchors, because the core's next turns are hard to beat and shared words
alone mislead. A turn without any relevance is not brought.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from memcli.evidence.ranking import Question, Recipe, Scored, TurnIndex, idf
from memcli.records.indexed import IndexedTurn
from memcli.search.tokens import stop_words, tokens

COMMON_FLOOR = 4
"""Turns up to which no word is too common, so that a small store has hubs too."""

_MIN_DIGITS = 3
"""Shorter numbers count things, or are the day of a month."""


def anchors_of(
    core: Sequence[Scored],
    question: Question,
    index: TurnIndex,
    speakers: Iterable[str],
    recipe: Recipe,
) -> dict[str, float]:
    """Return the anchors of the best turns and their weights, weightiest first.

    A word weighs its idf times the relevance of the turns that hold it, in shares of the best
    one's. No anchors are the question's own words, stop words, the names of who speaks, small
    numbers, words of one turn only and common words.

    Args:
        core: Turns by relevance, best first.
        question: What is asked.
        index: Knows how common a word is.
        speakers: Names that the core's turns carry as their speaker.
        recipe: How many turns and words are followed, and which words are common.
    """
    names = {part for speaker in speakers for part in tokens(speaker)}
    skipped = stop_words() | question.weights.keys() | names
    common = max(COMMON_FLOOR, recipe.link_common * index.n_turns)
    found: dict[str, float] = {}
    shares: dict[str, float] = {}
    for item in core[: recipe.link_seeds]:
        for word in set(item.turn.terms.split(" ")) - skipped:
            shares[word] = shares.get(word, 0.0) + item.score / core[0].score
    for word, share in shares.items():
        holders = index.doc_freq(word)
        if 2 <= holders <= common and not (word.isdecimal() and len(word) < _MIN_DIGITS):
            found[word] = share * idf(holders, index.n_turns)
    best = sorted(found, key=lambda word: (-found[word], word))[: recipe.link_words]
    return {word: found[word] for word in best}


def recurring(anchors: Mapping[str, float], turns: Iterable[IndexedTurn]) -> dict[str, float]:
    """Return the anchors that the turns hold in two sessions or more, in the same order."""
    sessions: dict[str, set[tuple[str, str]]] = {word: set() for word in anchors}
    for turn in turns:
        for word in anchors.keys() & set(turn.terms.split(" ")):
            sessions[word].add((turn.conversation, turn.session))
    return {word: weight for word, weight in anchors.items() if len(sessions[word]) > 1}


def linked(
    core: Sequence[Scored], anchors: Mapping[str, float], mean_terms: float, recipe: Recipe
) -> list[tuple[Scored, bool]]:
    """Return the turns, and whether each holds an anchor, best first.

    Ordered by relevance plus `Recipe.link` of the best relevance for the turn that its anchors
    link best (their BM25, less for turns that count less) and in proportion for the others;
    ties by turn order.
    """
    links = [item.worth * _bm25(item.turn, anchors, mean_terms, recipe) for item in core]
    most = max(links, default=0.0)
    if most <= 0:
        return [(item, False) for item in core]
    unit = recipe.link * max(item.score for item in core) / most
    judged = sorted(
        zip(core, links, strict=True),
        key=lambda pair: (-(pair[0].score + unit * pair[1]), pair[0].turn.order),
    )
    return [(item, link > 0) for item, link in judged]


def _bm25(
    turn: IndexedTurn, anchors: Mapping[str, float], mean_terms: float, recipe: Recipe
) -> float:
    """Return BM25 of a turn's own words over the anchors."""
    words = turn.terms.split(" ")
    counts = Counter(filter(anchors.__contains__, words))
    k1, b = recipe.k1, recipe.length_norm
    damping = k1 * (1.0 - b + b * len(words) / mean_terms)
    held = (word for word in anchors if word in counts)
    return sum(
        anchors[word] * counts[word] * (k1 + 1.0) / (counts[word] + damping) for word in held
    )
