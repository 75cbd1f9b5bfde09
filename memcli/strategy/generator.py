"""The generator: attempts a task with the loaded lessons and says which it used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Final

from memcli.records.strategy import Pair
from memcli.strategy.asking import TEXT, Asker, list_of, object_schema, prompt_for

SCHEMA: Final = object_schema(
    "generate", reasoning=TEXT, influence_trace=list_of(TEXT), final_answer=TEXT
)
MAX_TOKENS: Final = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """An attempt.

    Attributes:
        answer: The prediction.
        reasoning: How it came about; may be empty.
        influence: M_t: loaded ids in the order of use, immediate repeats collapsed.
        discarded: What the model named in vain, by reason.
    """

    answer: str
    reasoning: str
    influence: tuple[str, ...]
    discarded: Mapping[str, int] = field(default_factory=dict)


def generate(
    ask: Asker, question: str, *, memory: str, loaded: Collection[str], reflection: str = ""
) -> Generated:
    """Return a prediction for a question; its answer is not known here.

    Args:
        ask: The model.
        question: The task.
        memory: The loaded lessons; empty: the block is left out.
        loaded: Their ids.
        reflection: On an earlier attempt at the same task; empty in the first round.

    Raises:
        LLMError: If no usable reply came.
    """
    blocks = {"memory": memory, "reflection": reflection, "question": question}
    reply = ask.ask(prompt_for("generate", blocks), SCHEMA, max_tokens=MAX_TOKENS)
    influence, discarded = influence_of(reply["influence_trace"], loaded)
    return Generated(
        answer=str(reply["final_answer"]).strip(),
        reasoning=str(reply["reasoning"]).strip(),
        influence=influence,
        discarded=discarded,
    )


def influence_of(
    named: Sequence[object], loaded: Collection[str]
) -> tuple[tuple[str, ...], Counter[str]]:
    """Return the influence trace M_t of what a model named, and what was dropped.

    Ids that were not loaded go first (``not_loaded``), then immediate repeats collapse: so
    ``a, ghost, a`` is one use of ``a``.
    """
    ids = [str(name).strip().strip("[]").strip() for name in named]
    known = [node_id for node_id in ids if node_id in loaded]
    dropped = Counter(not_loaded=len(ids) - len(known))
    return tuple(node_id for node_id, _ in groupby(known)), +dropped


def transitions(influence: Sequence[str]) -> tuple[Pair, ...]:
    """Return the candidate transitions T(M_t): adjacent pairs, each once, in order (Eq. 20)."""
    return tuple(dict.fromkeys(pairwise(influence)))
