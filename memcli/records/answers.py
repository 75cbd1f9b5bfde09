"""Records of reading: an answer with its citations, or an abstention, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

REFUSAL = "Not stated in the evidence."
"""What a reader says, and all it says, when the evidence lacks the answer."""

AbstainReason = Literal["no_evidence", "reader_refused"]
"""``no_evidence``: nothing worth reading was found and no call was made.
``reader_refused``: the model read the evidence and said `REFUSAL`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What model calls cost, as the server counted it.

    Attributes:
        prompt_tokens: Tokens sent, cached ones included.
        completion_tokens: Tokens generated, thinking included.
        cached_tokens: The part of ``prompt_tokens`` served from a prompt cache.
        cost_usd: US dollars; None when the price is unknown.
    """

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    cost_usd: float | None = None

    def plus(self, other: Usage) -> Usage:
        """Return the sum; its cost is unknown as soon as one of the two is."""
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A reader's answer.

    Attributes:
        text: The answer as given, citation marks ``[n]`` included; n counts the evidence
            lines from 1 in the order in which they were handed to the reader.
        citations: Turn ids in order of first citation.
        citations_valid: True when there is at least one citation and none points outside
            the evidence.
        unknown_citations: Marks that point outside the evidence, as written, first use first.
        usage: None when no model was called or the server reported none.
        model: Name of the model, or ``extractive``.
    """

    text: str
    citations: tuple[str, ...]
    citations_valid: bool
    unknown_citations: tuple[str, ...] = ()
    usage: Usage | None = None
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstained:
    """A correct refusal to answer because the evidence lacks it: a value, never an error.

    Attributes:
        reason: See `AbstainReason`.
        text: What is shown in the answer's place.
        usage: None when no model was called or the server reported none.
        model: Name of the model, or ``extractive``.
    """

    reason: AbstainReason
    text: str = REFUSAL
    usage: Usage | None = None
    model: str


Answer = Answered | Abstained
