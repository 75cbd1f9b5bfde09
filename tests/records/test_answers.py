"""Usage adds up, and what is unknown stays unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.records.answers import REFUSAL, Abstained, Usage

counts = st.integers(0, 10**9)
usages = st.builds(
    Usage,
    prompt_tokens=counts,
    completion_tokens=counts,
    cached_tokens=counts,
    cost_usd=st.none() | st.integers(0, 1000).map(float),
)


@given(usages, usages, usages)
def test_usage_adds_up_in_any_order(one: Usage, two: Usage, three: Usage) -> None:
    assert one.plus(two) == two.plus(one)
    assert one.plus(two).plus(three) == one.plus(two.plus(three))
    assert one.plus(two).prompt_tokens == one.prompt_tokens + two.prompt_tokens


@pytest.mark.parametrize(
    ("one", "two", "total"),
    [(None, 1.0, None), (1.0, None, None), (1.0, 0.0, 1.0), (0.0, 0.0, 0.0)],
)
def test_an_unknown_price_makes_the_sum_unknown(
    one: float | None, two: float | None, total: float | None
) -> None:
    first = Usage(prompt_tokens=1, completion_tokens=1, cost_usd=one)
    second = Usage(prompt_tokens=1, completion_tokens=1, cost_usd=two)
    assert first.plus(second).cost_usd == total


def test_an_abstention_says_the_refusal() -> None:
    assert Abstained(reason="no_evidence", model="m").text == REFUSAL
