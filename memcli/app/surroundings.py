"""What a training run is given beside its options: examples, a model, clocks, someone to tell."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memcli.llm.client import Client, Observer
from memcli.strategy.ledger import Phase
from memcli.strategy.stream import Example


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a person is told after a step or during an evaluation.

    Attributes:
        phase: ``train``, ``validation`` or ``test``.
        done: Steps, or examples of the evaluation.
        of: How many there are.
        recent: Accuracy of the last 25 training predictions, or None.
        nodes: Active lessons of the store.
        edges: Active edges of the store.
        tokens: Training tokens so far.
        cost_usd: Spent so far; None when unknown.
    """

    phase: Phase
    done: int
    of: int
    recent: float | None
    nodes: int
    edges: int
    tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a run needs from outside.

    Attributes:
        connect: Makes a client, given whom to tell of requests.
        model: Its name.
        now: The clock on the wall.
        wait_s: Seconds to wait for another writer at a commit.
        tell: Is told of progress.
        warn: Is told what a person should know.
        clock: Seconds from any start.
    """

    connect: Callable[[Observer], Client]
    model: str
    now: Callable[[], datetime]
    wait_s: float = 60.0
    tell: Callable[[Progress], None] = lambda _: None
    warn: Callable[[str], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """The examples of a run."""

    train: Sequence[Example]
    val: Sequence[Example] = ()
    test: Sequence[Example] = ()
