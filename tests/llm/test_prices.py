"""Prices come from a bundled list; what is not listed is unknown, never free."""

from __future__ import annotations

import pytest

from memcli.llm.prices import price_of
from memcli.records.answers import Usage


@pytest.mark.parametrize("model", ["openai/gpt-4o", "gpt-4o"])
def test_a_listed_model_has_a_price_with_or_without_its_provider(model):
    price = price_of(model)
    usage = Usage(prompt_tokens=1_000, completion_tokens=100, cached_tokens=400)
    paid = 600 * price.prompt + 400 * price.cached + 100 * price.completion
    assert price.of(usage) == pytest.approx(paid)
    assert 0 < price.cached <= price.prompt < price.completion


@pytest.mark.parametrize("model", ["qwen3", "nobody/knows-this", ""])
def test_an_unknown_price_is_none(model):
    assert price_of(model) is None
