"""One step of training: retrieve, generate, score, reflect, curate. No file is touched.

The order is strict: the prediction on x_t is made before y_t is shown to anyone, and the
score and M_t are those of round 1, however many rounds follow. A role whose call failed is
named in the outcome; what would have needed it is left out, and nothing is made up instead.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memcli.errors import LLMReplyCut, LLMReplyInvalid
from memcli.llm.transport import Schema
from memcli.records.strategy import Label
from memcli.strategy.asking import Asker, Prompt
from memcli.strategy.curator import NEAREST, Case, curate
from memcli.strategy.generator import Generated, generate, transitions
from memcli.strategy.lexical import nearest_of
from memcli.strategy.memory import StrategyMemory
from memcli.strategy.playbook import index_block
from memcli.strategy.proposals import Proposal
from memcli.strategy.reflector import Attempt, Reflection, reflect
from memcli.strategy.retriever import Retrieved, Settings, retrieve
from memcli.strategy.scorers import Score, Scorer
from memcli.strategy.stream import Example

UNUSABLE = (LLMReplyInvalid, LLMReplyCut)
"""What is a failure of one role in one step, not of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How a step is made.

    Attributes:
        retrieval: The retriever and its bounds.
        scorer: Scores predictions.
        count: Counts tokens.
        clock: Seconds; times a retrieval without the model's part.
        max_rounds: Attempts at one example: while wrong, the reflection is shown and another
            prediction made.
        whole_index: The curator sees the whole index instead of the nearest lines.
        may_merge: The curator may propose MERGE.
    """

    retrieval: Settings
    scorer: Scorer
    count: Callable[[str], int]
    clock: Callable[[], float] = time.perf_counter
    max_rounds: int = 1
    whole_index: bool = False
    may_merge: bool = False


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What a step came to.

    Attributes:
        retrieved: The lessons at hand.
        generated: Round 1's prediction; None where no usable reply came.
        score: Round 1's score; None likewise: a failed call is never a score.
        rounds: Predictions made.
        labels: Valid labels of round 1's transitions.
        tags: The reflector's verdict on lessons.
        proposals: What the curator wants changed.
        discarded: What roles said in vain, by reason.
        failures: Role → code of the error.
    """

    retrieved: Retrieved
    generated: Generated | None = None
    score: Score | None = None
    rounds: int = 0
    labels: tuple[Label, ...] = ()
    tags: dict[str, str] = field(default_factory=dict)
    proposals: tuple[Proposal, ...] = ()
    discarded: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)


def predict(
    question: str, memory: StrategyMemory, method: Method, ask: Asker
) -> tuple[Retrieved, Generated]:
    """Return the lessons for a question and the prediction made with them.

    Raises:
        LLMError: If no usable prediction came.
    """
    retrieved = _retrieve(question, memory, method, ask)
    made = generate(ask, question, memory=retrieved.memory, loaded=frozenset(retrieved.ids))
    return retrieved, made


def train_on(example: Example, memory: StrategyMemory, method: Method, ask: Asker) -> Outcome:
    """Return what one example teaches; the memory stays as it is.

    Raises:
        LLMUnavailable, LLMRejected: If the model cannot be asked; then nothing was learnt.
    """
    retrieved = _retrieve(example.question, memory, method, ask)
    outcome = Outcome(retrieved=retrieved)
    outcome.discarded.update(retrieved.retrieval.discarded)
    if retrieved.failure is not None:
        outcome.failures["retrieve"] = retrieved.failure
    loaded = frozenset(retrieved.ids)
    try:
        made = generate(ask, example.question, memory=retrieved.memory, loaded=loaded)
    except UNUSABLE as error:
        outcome.failures["generate"] = error.code
        return outcome
    outcome.generated, outcome.rounds = made, 1
    outcome.score = method.scorer(made.answer, example.answer)
    outcome.discarded.update(made.discarded)
    last = _reflect_in_rounds(example, outcome, method, ask)
    if last is not None:
        _curate(example, outcome, last, memory, method, ask)
    return outcome


def _retrieve(question: str, memory: StrategyMemory, method: Method, ask: Asker) -> Retrieved:
    start = method.clock()
    timed = _Timed(ask, method.clock)
    found = retrieve(
        question, memory, memory.lessons, method.retrieval, count=method.count, ask=timed
    )
    own = method.clock() - start - timed.seconds
    retrieval = replace(found.retrieval, milliseconds=round(1_000 * own, 3))
    return replace(found, retrieval=retrieval)


class _Timed:
    """An asker whose time is measured."""

    def __init__(self, ask: Asker, clock: Callable[[], float]) -> None:
        self._ask, self._clock, self.seconds = ask, clock, 0.0

    def ask(self, prompt: Prompt, schema: Schema, *, max_tokens: int) -> Mapping[str, Any]:
        """Return what the model replied."""
        start = self._clock()
        try:
            return self._ask.ask(prompt, schema, max_tokens=max_tokens)
        finally:
            self.seconds += self._clock() - start


def _reflect_in_rounds(
    example: Example, outcome: Outcome, method: Method, ask: Asker
) -> Reflection | None:
    """Reflect, and while wrong predict again with the reflection; return the last one."""
    made, is_right = outcome.generated, outcome.score is not None and outcome.score.is_right
    last: Reflection | None = None
    while made is not None:
        found = _reflect(example, outcome, made, is_right, ask)
        if found is None:
            return last
        if last is None:
            outcome.labels, outcome.tags = found.labels, dict(found.tags)
            outcome.discarded.update(found.discarded)
        last = found
        if is_right or outcome.rounds >= method.max_rounds:
            return last
        made = _again(example, outcome, last, ask)
        is_right = made is not None and method.scorer(made.answer, example.answer).is_right
        if is_right:
            return last
    return last


def _reflect(
    example: Example, outcome: Outcome, made: Generated, is_right: bool, ask: Asker
) -> Reflection | None:
    attempt = Attempt(
        question=example.question,
        generated=made,
        memory=outcome.retrieved.memory,
        loaded=frozenset(outcome.retrieved.ids),
        expected=example.answer,
        is_right=is_right,
        transitions=transitions(made.influence),
    )
    try:
        return reflect(ask, attempt)
    except UNUSABLE as error:
        outcome.failures["reflect"] = error.code
        return None


def _again(
    example: Example, outcome: Outcome, reflection: Reflection, ask: Asker
) -> Generated | None:
    """Predict once more, with the reflection at hand; not scored, not in M_t."""
    retrieved = outcome.retrieved
    try:
        made = generate(
            ask,
            example.question,
            memory=retrieved.memory,
            loaded=frozenset(retrieved.ids),
            reflection=reflection.text,
        )
    except UNUSABLE as error:
        outcome.failures["regenerate"] = error.code
        return None
    outcome.rounds += 1
    return made


def _curate(
    example: Example,
    outcome: Outcome,
    reflection: Reflection,
    memory: StrategyMemory,
    method: Method,
    ask: Asker,
) -> None:
    influence = outcome.generated.influence if outcome.generated else ()
    known = (memory.edge(pair) for pair in transitions(influence))
    missing = [
        pair
        for pair, edge in zip(transitions(influence), known, strict=True)
        if edge is None or edge.status != "active"
    ]
    case = Case(
        question=example.question,
        reflection=reflection.text,
        memory=outcome.retrieved.memory,
        transitions=missing,
        index=_index_for(f"{example.question}\n{reflection.text}", outcome, memory, method),
    )
    try:
        found = curate(ask, case, may_merge=method.may_merge)
    except UNUSABLE as error:
        outcome.failures["curate"] = error.code
        return
    outcome.proposals = found.proposals
    outcome.discarded.update(found.discarded)


def _index_for(text: str, outcome: Outcome, memory: StrategyMemory, method: Method) -> str:
    """Return the index lines that the curator sees, in order of creation.

    Where not all: those of the entries, and those nearest to task and reflection.
    """
    if method.whole_index or memory.n_nodes <= NEAREST:
        return index_block(memory.index_lines())
    entries = outcome.retrieved.retrieval.entries
    near = sorted(nearest_of(entries, text, memory.lessons, NEAREST))
    return index_block(memory.graph.index_line(node_id) for node_id in near)
