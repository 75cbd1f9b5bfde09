"""The posterior against scipy's Beta, and the laws of its updates."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from memcli.records.strategy import StrategyEdge
from memcli.strategy.posterior import deviation, interval, mean, take_back, update, weight

COUNTS = st.floats(0, 500).map(lambda x: round(x, 6))
CONFIDENCES = st.integers(0, 1_000_000).map(lambda n: n / 1_000_000)
LABELS = st.tuples(st.sampled_from(["helpful", "harmful", "neutral"]), CONFIDENCES)
EDGE = StrategyEdge(source="n00001", target="n00002")


@given(COUNTS, COUNTS)
def test_the_mean_and_deviation_are_those_of_the_beta_distribution(s, f):
    beta = stats.beta(1 + s, 1 + f)
    assert mean(s, f) == pytest.approx(beta.mean(), abs=1e-12)
    assert deviation(s, f) == pytest.approx(beta.std(), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(COUNTS, COUNTS, st.sampled_from([0.5, 0.9, 0.99]))
def test_the_interval_is_the_equal_tailed_one(s, f, level):
    low, high = interval(s, f, level)
    beta = stats.beta(1 + s, 1 + f)
    assert low == pytest.approx(beta.ppf((1 - level) / 2), abs=1e-9)
    assert high == pytest.approx(beta.ppf((1 + level) / 2), abs=1e-9)


@pytest.mark.parametrize(
    ("s", "f"), [(1e6, 1e6), (0, 1e6), (1e6, 0), (1e5, 2e5), (1e7, 1), (1e-6, 5e3), (9e9, 1)]
)
def test_the_interval_holds_where_evidence_is_plenty_or_one_sided(s, f):
    beta = stats.beta(1 + s, 1 + f)
    assert interval(s, f) == pytest.approx((beta.ppf(0.05), beta.ppf(0.95)), abs=1e-9)


def test_without_evidence_the_posterior_is_uniform():
    assert mean(0, 0) == 0.5
    assert interval(0, 0) == pytest.approx((0.05, 0.95))


@pytest.mark.parametrize(
    ("label", "s", "f"), [("helpful", 0.7, 0.0), ("harmful", 0.0, 0.7), ("neutral", 0.0, 0.0)]
)
def test_a_label_moves_its_own_counter_by_its_confidence(label, s, f):
    moved = update(EDGE, label, 0.7)
    assert (moved.s, moved.f) == (s, f)


@given(st.lists(LABELS, max_size=30), st.randoms(use_true_random=False))
def test_updates_commute_exactly_and_evidence_grows_by_the_confidence(labels, rng):
    shuffled = list(labels)
    rng.shuffle(shuffled)
    one = other = EDGE
    for label, confidence in labels:
        one = update(one, label, confidence)
    for label, confidence in shuffled:
        other = update(other, label, confidence)
    assert one == other
    total = sum(confidence for label, confidence in labels if label != "neutral")
    assert one.s + one.f == pytest.approx(total, abs=1e-6)


@given(st.lists(LABELS, max_size=10), LABELS)
def test_a_label_taken_back_leaves_no_trace(labels, last):
    edge = EDGE
    for label, confidence in labels:
        edge = update(edge, label, confidence)
    assert take_back(update(edge, *last), *last) == edge


@given(COUNTS, COUNTS)
def test_counters_never_fall_below_zero(s, f):
    edge = take_back(StrategyEdge(source="a", target="b", s=s, f=f), "helpful", 1.0)
    assert edge.s >= 0
    assert edge.f >= 0


def test_ucb_prefers_the_less_known_and_thompson_repeats_with_its_seed():
    known = StrategyEdge(source="a", target="b", s=10, f=10)
    fresh = StrategyEdge(source="a", target="c")
    rng = random.Random(3)
    assert weight(known, "mean", rng) == weight(fresh, "mean", rng)
    assert weight(fresh, "ucb", rng) > weight(known, "ucb", rng)
    drawn = [weight(known, "thompson", random.Random(seed)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
