"""What a model's tokens cost, by the price list that the litellm package carries.

The list is read as a file; litellm itself, slow to import, stays out. An unknown price is
None, never zero.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from memcli.records.answers import Usage
from memcli.records.codec import loads

_FILE = "model_prices_and_context_window_backup.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for one token.

    Attributes:
        prompt: Sent.
        completion: Generated.
        cached: Sent, and served from the provider's prompt cache.
    """

    prompt: float
    completion: float
    cached: float

    def of(self, usage: Usage) -> float:
        """Return what a call cost."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        return (
            (usage.prompt_tokens - cached) * self.prompt
            + cached * self.cached
            + usage.completion_tokens * self.completion
        )


def price_of(model: str) -> Price | None:
    """Return a model's price, by its name with or without the provider; None when unknown."""
    listed = _list()
    entry = listed.get(model) or listed.get(model.partition("/")[2])
    if not isinstance(entry, Mapping):
        return None
    prompt, completion = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(prompt, int | float) or not isinstance(completion, int | float):
        return None
    cached = entry.get("cache_read_input_token_cost")
    return Price(
        prompt=float(prompt),
        completion=float(completion),
        cached=float(cached) if isinstance(cached, int | float) else float(prompt),
    )


@lru_cache(maxsize=1)
def _list() -> Mapping[str, Any]:
    spec = importlib.util.find_spec("litellm")
    folders = (spec.submodule_search_locations if spec is not None else None) or []
    for folder in folders:
        file = Path(folder) / _FILE
        if file.is_file():
            listed = loads(file.read_bytes())
            return listed if isinstance(listed, Mapping) else {}
    return {}
