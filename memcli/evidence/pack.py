"""Ranked turns → evidence within a hard token budget.

Counts come from the store (a turn's ``tokens``, its passages), so the tokenizer is never
loaded at question time; every sum is an upper bound of what the text form really takes.
When all of it does not fit, long turns are cut to their matching passages first, all to the
same share, and then the lowest ranks go. Departure from EdgeMem, which packs κ turns without
a token limit: ``budget=None`` gives that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memcli.evidence.lines import line_overhead_tokens
from memcli.records.evidence import Turn
from memcli.records.pack import Evidence, Ranked
from memcli.search.passages import LONG_TURN_TOKENS
from memcli.search.tokens import tokens

GAP = " […] "
"""Stands for what an excerpt leaves out."""

_GAP_TOKENS = 4
_JOIN_TOKENS = 2
"""Slack of a line: where its parts meet, a token can split in two."""


_FLOOR = LONG_TURN_TOKENS + 35
"""Cost up to which a turn has no passages and is shown whole."""


@dataclass(frozen=True, slots=True)
class Packed:
    """The evidence that fits, in chronological order.

    Attributes:
        evidence: What is shown.
        tokens: Upper bound of its cl100k_base tokens as text lines.
        dropped: How many ranked turns did not fit.
    """

    evidence: tuple[Evidence, ...]
    tokens: int
    dropped: int


def pack(
    ranked: Sequence[Ranked],
    turns: Mapping[str, Turn],
    weights: Mapping[str, float],
    budget: int | None,
) -> Packed:
    """Return the evidence within ``budget`` tokens.

    Args:
        ranked: Best first.
        turns: The full turn of each, by id.
        weights: Weight of the question's terms: which passages of a long turn to keep.
        budget: Hard limit in tokens, or None.
    """
    whole = [_cost(turns[r.turn.id], turns[r.turn.id].text, r.turn.tokens) for r in ranked]
    cap = _cap(whole, budget)
    shown = [_shown(r, turns[r.turn.id], weights, cap) for r in ranked]
    kept, total = _fitting([cost for _, cost in shown], budget)
    chosen = [evidence for evidence, _ in shown[:kept]]
    chosen.sort(key=lambda e: (e.turn.time or "", e.turn.conversation, e.turn.seq, e.turn.id))
    return Packed(tuple(chosen), total, len(ranked) - kept)


def _cost(turn: Turn, text: str, said: int) -> int:
    """Return the most tokens a turn's line may take, its further lines indented."""
    return said + line_overhead_tokens(turn) + _JOIN_TOKENS + _breaks(text)


def _breaks(text: str) -> int:
    return max(0, len(text.splitlines()) - 1)


def _cap(costs: Sequence[int], budget: int | None) -> int | None:
    """Return the most tokens a turn may take; None when all of them fit whole.

    The highest level at which the sum fits, but never so low that turns which are always
    shown whole would be cut.
    """
    if budget is None or sum(costs) <= budget:
        return None
    low, high = _FLOOR, max(costs)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(cost, middle) for cost in costs) <= budget:
            low = middle
        else:
            high = middle - 1
    return low


def _fitting(costs: Sequence[int], budget: int | None) -> tuple[int, int]:
    """Return how many of the first costs fit, and their sum."""
    total = 0
    for count, cost in enumerate(costs):
        if budget is not None and total + cost > budget:
            return count, total
        total += cost
    return len(costs), total


def _shown(
    ranked: Ranked, turn: Turn, weights: Mapping[str, float], cap: int | None
) -> tuple[Evidence, int]:
    """Return the evidence of one turn, cut to the cap where it can be, and its cost."""
    text, said = turn.text, ranked.turn.tokens
    room = None if cap is None else cap - _cost(turn, "", 0)
    if room is not None and said > room and ranked.turn.passages:
        text, said = excerpt(turn.text, ranked.turn.passages, said, weights, room)
    evidence = Evidence(
        turn=turn,
        rank=ranked.rank,
        channel=ranked.channel,
        score=ranked.score,
        why=ranked.why,
        text=text,
        is_excerpt=text != turn.text,
    )
    return evidence, _cost(turn, text, said)


def excerpt(
    text: str,
    passages: Sequence[tuple[int, int]],
    said: int,
    weights: Mapping[str, float],
    room: int,
) -> tuple[str, int]:
    """Return the best passages of a text within ``room`` tokens, and their token count.

    Passages that match most come first, then those beside them, earlier ones on ties; the
    best one is kept even when it alone exceeds the room.

    Args:
        text: The turn's text.
        passages: (character offset, tokens) of its passages, in order.
        said: Tokens of the turn's whole spoken line.
        weights: Weight of the question's terms.
        room: Tokens to stay within, speaker and caption included.
    """
    bounds = [start for start, _ in passages] + [len(text)]
    pieces = [text[a:b] for a, b in pairwise(bounds)]
    extra = max(0, said - sum(cost for _, cost in passages))
    scores = [_relevance(piece, weights) for piece in pieces]
    kept: set[int] = set()
    spent, breaks = extra + 2 * _GAP_TOKENS, 0
    for index in _by_worth(scores):
        cost = passages[index][1] + _GAP_TOKENS
        broken = breaks + _breaks(pieces[index]) + 1
        if not kept or spent + broken + cost <= room:
            kept.add(index)
            spent, breaks = spent + cost, broken
    return _joined(pieces, sorted(kept)), spent


def _relevance(piece: str, weights: Mapping[str, float]) -> float:
    return sum(weights.get(term, 0.0) for term in sorted(set(tokens(piece))))


def _by_worth(scores: Sequence[float]) -> list[int]:
    """Return passage indexes: matching ones by score, then the rest by distance to the best."""
    best = max(range(len(scores)), key=lambda i: (scores[i], -i))
    return sorted(range(len(scores)), key=lambda i: (-scores[i], abs(i - best), i))


def _joined(pieces: Sequence[str], kept: Sequence[int]) -> str:
    """Return the kept pieces in order with a mark for every gap."""
    parts: list[str] = []
    last = -1
    for index in kept:
        if index != last + 1:
            parts.append(GAP.lstrip() if not parts else GAP)
        parts.append(pieces[index])
        last = index
    if last != len(pieces) - 1:
        parts.append(GAP.rstrip())
    return "".join(parts)
