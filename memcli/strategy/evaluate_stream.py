"""Accuracy on a stream with a memory that does not change: read-only, in parallel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from memcli.errors import MemcliError
from memcli.records.strategy import Retrieval
from memcli.strategy.asking import Asker
from memcli.strategy.memory import StrategyMemory
from memcli.strategy.scorers import Score
from memcli.strategy.step import UNUSABLE, Method, predict
from memcli.strategy.stream import Example


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """One evaluated example.

    Attributes:
        example: Its fingerprint.
        retrieval: What was retrieved; None where the call failed.
        influence: Lessons that the model says it used.
        score: None where no usable prediction came: a failure, not a wrong answer.
        failure: Code of the error, or None.
    """

    example: str
    retrieval: Retrieval | None
    influence: tuple[str, ...]
    score: Score | None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The figures of one evaluation.

    Attributes:
        right: Parts that were right.
        total: Parts of the scored examples.
        all_right: Examples of which every part was right.
        scored: Examples with a prediction.
        failed: Examples without one.
        attempts: One for each example, in order.
    """

    right: int
    total: int
    all_right: int
    scored: int
    failed: int
    attempts: tuple[Attempted, ...]

    @property
    def accuracy(self) -> float | None:
        """Share of right parts among scored ones; None where nothing was scored."""
        return self.right / self.total if self.total else None


def evaluate(
    examples: Sequence[Example],
    memory: StrategyMemory,
    method: Method,
    make_asker: Callable[[], Asker],
    *,
    workers: int = 4,
    on_done: Callable[[], None] = lambda: None,
) -> Evaluation:
    """Return the accuracy on examples; the memory is only read.

    Args:
        examples: What to predict.
        memory: The lessons, unchanged throughout.
        method: How to retrieve and score.
        make_asker: Makes one asker for each thread.
        workers: Threads.
        on_done: Called after each example.

    Raises:
        LLMUnavailable, LLMRejected, BudgetExceeded: The first that came; the rest is not
            started then.
    """
    askers = threading.local()
    stop = threading.Event()

    def attempt(example: Example) -> Attempted | None:
        if stop.is_set():
            return None
        if not hasattr(askers, "asker"):
            askers.asker = make_asker()
        try:
            return _attempt(example, memory, method, askers.asker)
        except MemcliError:
            stop.set()
            raise
        finally:
            on_done()

    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            found = list(pool.map(attempt, examples))
        except BaseException:
            stop.set()
            raise
    return summary([each for each in found if each is not None])


def summary(attempts: Sequence[Attempted]) -> Evaluation:
    """Return the figures of evaluated examples."""
    scores = [each.score for each in attempts if each.score is not None]
    return Evaluation(
        right=sum(score.right for score in scores),
        total=sum(score.total for score in scores),
        all_right=sum(score.is_right for score in scores),
        scored=len(scores),
        failed=len(attempts) - len(scores),
        attempts=tuple(attempts),
    )


def _attempt(example: Example, memory: StrategyMemory, method: Method, ask: Asker) -> Attempted:
    try:
        retrieved, made = predict(example.question, memory, method, ask)
    except UNUSABLE as error:
        return Attempted(
            example=example.fingerprint,
            retrieval=None,
            influence=(),
            score=None,
            failure=error.code,
        )
    return Attempted(
        example=example.fingerprint,
        retrieval=retrieved.retrieval,
        influence=made.influence,
        score=method.scorer(made.answer, example.answer),
    )
