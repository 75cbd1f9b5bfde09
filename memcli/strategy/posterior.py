"""The posterior of an edge: Beta(1 + S, 1 + F) (Eq. 17–21), pure.

S and F are sums of confidences, kept to six decimals. A sum is taken in whole millionths, so
that updates commute exactly and a replay of the log gives the same bytes.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import lru_cache
from typing import Final, Literal

from memcli.records.strategy import LabelName, StrategyEdge

Rank = Literal["mean", "ucb", "thompson"]
"""By what out-edges are ordered; ``mean`` is the paper's, the others go beyond it."""

_MILLION: Final = 1_000_000
_UCB_WIDTH: Final = 1.0
"""Standard deviations that ``ucb`` adds to the mean."""

_TOLERANCE: Final = 1e-13
_TINY: Final = 1e-300
_MAX_TERMS: Final = 2_000
_KEPT: Final = 4_096
"""Intervals that are remembered: most edges of a store share few pairs of counters."""


def mean(s: float, f: float) -> float:
    """Return the ranking weight w = (S + 1) / (S + F + 2), the posterior's mean (Eq. 19)."""
    return (s + 1.0) / (s + f + 2.0)


def deviation(s: float, f: float) -> float:
    """Return the posterior's standard deviation."""
    a, b = 1.0 + s, 1.0 + f
    return math.sqrt(a * b / (a + b + 1.0)) / (a + b)


def add(count: float, confidence: float) -> float:
    """Return a counter after one more confidence; exact to six decimals, never below 0."""
    return max(0, round(count * _MILLION) + round(confidence * _MILLION)) / _MILLION


def update(edge: StrategyEdge, label: LabelName, confidence: float) -> StrategyEdge:
    """Return the edge after one labelled transition (Eq. 21).

    Helpful adds the confidence to S, harmful to F, neutral to neither.
    """
    match label:
        case "helpful":
            return replace(edge, s=add(edge.s, confidence))
        case "harmful":
            return replace(edge, f=add(edge.f, confidence))
        case "neutral":
            return edge


def take_back(edge: StrategyEdge, label: LabelName, confidence: float) -> StrategyEdge:
    """Return the edge as if that label had never been given."""
    return update(edge, label, -confidence)


def weight(edge: StrategyEdge, rank: Rank, rng: random.Random) -> float:
    """Return what orders an out-edge among its siblings; larger comes first.

    Args:
        edge: The edge.
        rank: ``mean`` (the paper's); ``ucb``: mean plus one standard deviation, which tries
            edges of little evidence; ``thompson``: one draw from the posterior.
        rng: Source of the draw; only ``thompson`` uses it.
    """
    match rank:
        case "mean":
            return mean(edge.s, edge.f)
        case "ucb":
            return mean(edge.s, edge.f) + _UCB_WIDTH * deviation(edge.s, edge.f)
        case "thompson":
            return rng.betavariate(1.0 + edge.s, 1.0 + edge.f)


@lru_cache(maxsize=_KEPT)
def interval(s: float, f: float, level: float = 0.90) -> tuple[float, float]:
    """Return the equal-tailed credible interval of the posterior.

    Args:
        s: Helpful evidence, at least 0.
        f: Harmful evidence, at least 0.
        level: Mass between the two bounds, within (0, 1).
    """
    tail = (1.0 - level) / 2.0
    return quantile(s, f, tail), quantile(s, f, 1.0 - tail)


def quantile(s: float, f: float, p: float) -> float:
    """Return where the posterior's distribution function reaches ``p``, within (0, 1).

    Newton's method from the mean, kept between two bounds that close in on the root: a step
    that would leave them halves them instead.
    """
    a, b = 1.0 + s, 1.0 + f
    low, high, x = 0.0, 1.0, mean(s, f)
    while high - low > _TOLERANCE:
        excess = _cumulative(a, b, x) - p
        low, high = (low, x) if excess > 0.0 else (x, high)
        slope = _front(a, b, x) / (x * (1.0 - x))
        after = x - excess / slope if slope > 0.0 else low
        if not low < after < high:
            after = (low + high) / 2.0
        if abs(after - x) <= _TOLERANCE or after in (low, high):
            return after
        x = after
    return (low + high) / 2.0


def _front(a: float, b: float, x: float) -> float:
    """Return x^a (1 − x)^b / B(a, b), for x within (0, 1)."""
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta)


def _cumulative(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b), for x within (0, 1)."""
    if x < (a + 1.0) / (a + b + 2.0):  # where the fraction converges fast
        return _front(a, b, x) * _fraction(a, b, x) / a
    return 1.0 - _front(a, b, x) * _fraction(b, a, 1.0 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 / _nonzero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _MAX_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        change = 1.0
        for numerator in (even, odd):
            d = 1.0 / _nonzero(1.0 + numerator * d)
            c = _nonzero(1.0 + numerator / c)
            change = c * d
            value *= change
        if abs(change - 1.0) < _TOLERANCE:
            break
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
