"""What a training run was told: checked, and kept as its config."""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, cast, get_args

from memcli import prompts
from memcli.budgets import count_tokens
from memcli.errors import SourceFormatError, UsageError
from memcli.llm.prices import price_of
from memcli.records.strategy import RetrieverName
from memcli.strategy.posterior import Rank
from memcli.strategy.report import ROLES
from memcli.strategy.retriever import Settings
from memcli.strategy.scorers import scorer
from memcli.strategy.step import Method
from memcli.strategy.stream import Example, RejectedLine, read_stream

RETRIEVERS: Final = get_args(RetrieverName)
RANKS: Final = get_args(Rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainRequest:
    """The options of ``memcli train``; all of them are kept with the run.

    Attributes:
        stream: Training examples, a file.
        val: Validation examples, or None.
        test: Test examples, or None.
        eval_every: Steps between validations.
        epochs: Passes over the stream; from the second on in an order drawn from the seed.
        seed: Of orders and draws.
        retriever: One of `RETRIEVERS`.
        memory_cap: Tokens that ``all`` loads at most, or None.
        max_rounds: Attempts at one example.
        post_curate: Predict once more after each step, with the updated memory.
        scorer: Name of the scorer.
        tolerance: Of ``numeric``.
        max_cost: US dollars, or None.
        rank: What orders out-edges.
        near_duplicates: Refuse lessons that nearly say what one there says.
        whole_graph: Load the whole graph while it fits.
        whole_index: Show the curator the whole index.
        merge: Let the curator merge lessons.
        workers: Threads of an evaluation.
    """

    stream: str
    val: str | None = None
    test: str | None = None
    eval_every: int = 100
    epochs: int = 1
    seed: int = 0
    retriever: str = "hybrid"
    memory_cap: int | None = None
    max_rounds: int = 1
    post_curate: bool = False
    scorer: str = "exact"
    tolerance: float = 0.0
    max_cost: float | None = None
    rank: str = "mean"
    near_duplicates: bool = False
    whole_graph: bool = False
    whole_index: bool = False
    merge: bool = False
    workers: int = 4

    def with_parity(self, name: str | None) -> TrainRequest:
        """Return the request in another system's setting.

        ``ace``: three rounds, and one more prediction after each step.

        Raises:
            UsageError: If no such setting is known.
        """
        if name is None:
            return self
        if name != "ace":
            raise UsageError(f"no parity is called {name!r}", hint="--parity ace")
        return replace(self, max_rounds=3, post_curate=True)

    def method(self) -> Method:
        """Return how its steps are made.

        Raises:
            UsageError: If an option makes no sense.
        """
        if self.retriever not in RETRIEVERS:
            raise UsageError(
                f"no retriever is called {self.retriever!r}", hint=f"one of {', '.join(RETRIEVERS)}"
            )
        if self.rank not in RANKS:
            raise UsageError(f"no rank is called {self.rank!r}", hint=f"one of {', '.join(RANKS)}")
        if self.memory_cap is not None and self.retriever != "all":
            raise UsageError("--memory-cap is for --retriever all")
        if "." not in sys.path and ":" in self.scorer:
            sys.path.append(".")  # the user's own scorer lies where the command is run
        return Method(
            retrieval=Settings(
                name=cast(RetrieverName, self.retriever),
                memory_cap=self.memory_cap,
                whole_graph=self.whole_graph,
                rank=cast(Rank, self.rank),
                seed=self.seed,
            ),
            scorer=scorer(self.scorer, tolerance=self.tolerance),
            count=count_tokens,
            max_rounds=self.max_rounds,
            whole_index=self.whole_index,
            may_merge=self.merge,
        )

    def check_cost(self, model: str) -> None:
        """Refuse a cost cap that could not be kept.

        Raises:
            UsageError: If it is no sum of money, or the model's price is unknown.
        """
        if self.max_cost is None:
            return
        if not 0 <= self.max_cost < math.inf:  # NaN neither: no sum would ever reach it
            raise UsageError(f"--max-cost {self.max_cost} is not a sum of at least 0")
        if price_of(model) is None:
            raise UsageError(
                f"the price of {model} is unknown, so --max-cost could not be kept",
                hint="leave --max-cost away, or name a model with a listed price",
            )


def request_from(config: Mapping[str, Any]) -> TrainRequest:
    """Return the request that a run's config holds."""
    known = {field.name for field in fields(TrainRequest)}
    return TrainRequest(**{name: value for name, value in config.items() if name in known})


def config_of(
    request: TrainRequest, *, model: str, api_base: str | None, examples: Examples, version: str
) -> dict[str, object]:
    """Return what is kept with a run: its options and what decides its results."""
    return {
        **asdict(request),
        "model": model,
        "api_base": api_base,
        "memcli": version,
        "prompts": {role: prompts.version(role) for role in ROLES},
        "examples": len(examples.examples),
        "rejected": len(examples.rejected),
        "stream_print": examples.print,
    }


@dataclass(frozen=True, slots=True)
class Examples:
    """A stream, read whole.

    Attributes:
        path: Where it was read.
        examples: Its usable lines, in order.
        rejected: The others.
    """

    path: str
    examples: tuple[Example, ...]
    rejected: tuple[RejectedLine, ...]

    @property
    def print(self) -> str:
        """A hash of the examples and their order."""
        joined = ",".join(example.fingerprint for example in self.examples)
        return hashlib.blake2b(joined.encode("ascii"), digest_size=16).hexdigest()


def read_examples(path: str) -> Examples:
    """Return the examples of a stream; ``-`` is standard input.

    Raises:
        SourceFormatError: If it cannot be read or holds no example.
    """
    found: list[Example] = []
    rejected: list[RejectedLine] = []
    for each in read_stream(_lines(path)):
        if isinstance(each, Example):
            found.append(each)
        else:
            rejected.append(each)
    if not found:
        why = f"; line {rejected[0].line} {rejected[0].reason}" if rejected else ""
        raise SourceFormatError(
            f"{path}: holds no example{why}",
            hint='a line is {"question": …, "answer": …} or {"context": …, "target": …}',
        )
    return Examples(path, tuple(found), tuple(rejected))


def _lines(path: str) -> Iterator[bytes]:
    if path == "-":
        yield from _each(sys.stdin.buffer)
        return
    try:
        with Path(path).open("rb") as file:
            yield from _each(file)
    except OSError as error:
        raise SourceFormatError(f"{path}: cannot be read ({error.strerror})") from error


def _each(lines: Iterable[bytes]) -> Iterator[bytes]:
    yield from lines
