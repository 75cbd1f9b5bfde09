"""`memcli train` put together: options, store, run folder and model become a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memcli import __version__
from memcli.app.answer import model_settings
from memcli.app.stores import open_or_create, open_store
from memcli.app.surroundings import Data, Progress, Surroundings
from memcli.app.train import TrainingRun
from memcli.app.train_request import (
    Examples,
    TrainRequest,
    config_of,
    read_examples,
    request_from,
)
from memcli.app.wiring import Config, load_config, now, store_path
from memcli.budgets import count_tokens
from memcli.errors import NothingFound, UsageError
from memcli.llm.client import Client, ModelSettings, Observer, connect
from memcli.llm.prices import price_of
from memcli.records.answers import Usage
from memcli.store.run_folder import (
    CONFIG,
    LEDGER,
    REPORT,
    RunFolder,
    create_run,
    open_run,
    run_names,
    training,
)
from memcli.store.store import Store

TRAIN_RETRIES = 5
"""Further tries of a request: a long run is not given up for a short outage."""

TRAIN_REPAIRS = 2
"""Further tries after an unusable reply: a lesson that is lost is missed until its next case."""

_SAMPLED = 5
"""Examples that an estimate is made from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is not part of a run's method: where, which model, how patiently."""

    store: Path | None = None
    model: str | None = None
    api_base: str | None = None
    options: tuple[str, ...] = ()
    wait_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run that can begin.

    Attributes:
        request: Its options.
        examples: Its training stream.
        settings: The model.
        val: Its validation examples, or None.
        test: Its test examples, or None.
        store: The store; None in a dry run.
        folder: The run's folder; None likewise.
        wait_s: Seconds to wait for other writers.
    """

    request: TrainRequest
    examples: Examples
    settings: ModelSettings
    val: Examples | None = None
    test: Examples | None = None
    store: Store | None = None
    folder: RunFolder | None = None
    wait_s: float = 60.0

    @property
    def name(self) -> str:
        """The run's name; empty in a dry run."""
        return self.folder.name if self.folder else ""

    @property
    def files(self) -> list[Examples]:
        """What was read: the stream, then the files it is measured on."""
        return [each for each in (self.examples, self.val, self.test) if each is not None]

    def run(
        self, tell: Callable[[Progress], None], warn: Callable[[str], None]
    ) -> dict[str, object]:
        """Train, and return the report; see `TrainingRun.go`."""
        if self.store is None or self.folder is None:
            raise UsageError("a dry run trains nothing")
        around = Surroundings(
            connect=self._connect,
            model=self.settings.model,
            now=now,
            wait_s=self.wait_s,
            tell=tell,
            warn=warn,
        )
        data = Data(
            train=self.examples.examples,
            val=self.val.examples if self.val else (),
            test=self.test.examples if self.test else (),
        )
        return TrainingRun(self.store, self.folder, self.request, data, around).go()

    def discard_if_idle(self) -> bool:
        """Remove the run's folder if no model ever answered it; return whether it was removed."""
        if self.folder is None or any(
            call["outcome"] == "ok" for call in self.folder.lines(LEDGER)
        ):
            return False
        self.folder.discard()
        return True

    def _connect(self, observe: Observer) -> Client:
        return connect(self.settings, observe=observe)


@contextmanager
def prepare(
    request: TrainRequest, options: Options, *, resume: bool, dry_run: bool
) -> Iterator[Prepared]:
    """Yield a run that can begin; while it lasts nobody else trains the store.

    Args:
        request: The options of a new run; a resumed one has its own, but for the cost cap
            and the number of workers.
        options: Where, which model, how patiently.
        resume: Go on with the newest unfinished run.
        dry_run: Prepare no store and no folder.

    Raises:
        UsageError: If an option makes no sense.
        SourceFormatError: If a stream cannot be read or is empty.
        StoreLocked: If another process trains the store.
        NothingFound: If there is no run to resume.
    """
    config = load_config()
    path = store_path(config, options.store)
    if resume:
        store = open_store(path)
        with training(path, now=now(), wait_s=0.0, disk=store.disk):
            yield _resumed(store, request, options, config)
        return
    if not request.stream:
        raise UsageError("no stream is given", hint="memcli train STREAM, or --resume")
    settings = _settings(config, options)
    request.method()
    request.check_cost(settings.model)
    examples = read_examples(request.stream)
    prepared = Prepared(
        request=request,
        examples=examples,
        settings=settings,
        val=_measured_on(request.val, "--val"),
        test=_measured_on(request.test, "--test"),
        wait_s=options.wait_s,
    )
    if dry_run:
        yield prepared
        return
    store, _ = open_or_create(path, now=now())
    with training(path, now=now(), wait_s=0.0, disk=store.disk):
        kept = config_of(
            request,
            model=settings.model,
            api_base=settings.api_base,
            examples=examples,
            version=__version__,
        ) | {"options": dict(settings.options)}
        folder = create_run(path, kept, disk=store.disk)
        yield replace(prepared, store=store, folder=folder)


def _resumed(store: Store, request: TrainRequest, options: Options, config: Config) -> Prepared:
    folder = _unfinished(store)
    folder.mend()
    kept = folder.load(CONFIG) or {}
    before = request_from(kept)
    path = request.stream or before.stream
    if path == "-":
        raise UsageError("a run from standard input needs its stream to resume", hint="name a file")
    examples = read_examples(path)
    if examples.print != kept["stream_print"]:
        raise UsageError(
            f"{path} is not the stream that {folder.name} was started with",
            hint="give that stream, or start a new run without --resume",
        )
    settings = _settings(config, _options_of(options, kept))
    cap = before.max_cost if request.max_cost is None else request.max_cost
    again = replace(before, stream=path, max_cost=cap, workers=request.workers)
    again.check_cost(settings.model)
    return Prepared(
        request=again,
        examples=examples,
        settings=settings,
        val=_measured_on(again.val, "--val"),
        test=_measured_on(again.test, "--test"),
        store=store,
        folder=folder,
        wait_s=options.wait_s,
    )


def _options_of(options: Options, kept: Mapping[str, Any]) -> Options:
    """Return the options with what a run was started with where none is given."""
    return replace(
        options,
        model=options.model or kept["model"],
        api_base=options.api_base or kept["api_base"],
        options=options.options or tuple(f"{k}={v}" for k, v in kept.get("options", {}).items()),
    )


def _unfinished(store: Store) -> RunFolder:
    for name in reversed(run_names(store.path)):
        folder = open_run(store.path, name, disk=store.disk)
        if folder.load(CONFIG) is not None and folder.load(REPORT) is None:
            return folder
    raise NothingFound(f"{store.path} has no unfinished training run")


def _settings(config: Config, options: Options) -> ModelSettings:
    settings = model_settings(config, options.model, options.api_base)
    chosen = replace(
        settings,
        max_retries=TRAIN_RETRIES,
        max_repairs=TRAIN_REPAIRS,
        options={**settings.options, **parse_options(options.options)},
    )
    chosen.check()
    return chosen


def parse_options(texts: tuple[str, ...]) -> dict[str, object]:
    """Return model options from ``name=value`` texts; a value that is JSON is taken as such.

    Raises:
        UsageError: If one has no name or no value.
    """
    from memcli.records.codec import loads

    found: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--option {text!r} is not NAME=VALUE", hint="e.g. temperature=0.2")
        try:
            found[name.strip()] = loads(value)
        except ValueError:
            found[name.strip()] = value
    return found


def _measured_on(path: str | None, option: str) -> Examples | None:
    """Return the examples of a file that a run is measured on; None without one."""
    if path == "-":
        raise UsageError(f"{option} cannot be standard input", hint="a resumed run reads it again")
    return read_examples(path) if path else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run may take, from a few examples; nobody was asked.

    Attributes:
        steps: Training steps.
        evaluations: Predictions for validation and test.
        sampled: Lines of the stream that it was made from.
        least_tokens: With an empty memory throughout.
        most_tokens: With a full memory block and an index line more at each step.
        least_usd: Price of the first; None when unknown.
        most_usd: Price of the second; None when unknown.
    """

    steps: int
    evaluations: int
    sampled: list[int] = field(default_factory=list)
    least_tokens: int = 0
    most_tokens: int = 0
    least_usd: float | None = None
    most_usd: float | None = None

    def lines(self) -> list[str]:
        """Return it for people."""
        price = (
            "price unknown"
            if self.least_usd is None or self.most_usd is None
            else f"${self.least_usd:.2f} to ${self.most_usd:.2f}"
        )
        lines = ", ".join(map(str, self.sampled))
        return [
            f"{self.steps:,} training steps, {self.evaluations:,} predictions to evaluate",
            f"{self.least_tokens:,} to {self.most_tokens:,} tokens, {price}",
            f"estimated from lines {lines}; replies are guessed at {_REPLIES:,} tokens a step",
        ]


_FIXED = 900
"""Tokens of the four roles' fixed instructions and of the reflection that is passed on."""
_REPLIES = 900
_INDEX_LINE = 20
_NEAREST = 20


def estimate(prepared: Prepared) -> Estimate:
    """Return what a run may take: between an empty and a full memory at every step."""
    request, examples = prepared.request, prepared.examples.examples
    step = max(1, math.ceil(len(examples) / _SAMPLED))
    sampled = examples[::step]
    question = sum(count_tokens(each.question) for each in sampled) / len(sampled)
    steps = len(examples) * request.epochs
    checks = steps // request.eval_every + 1 + bool(steps % request.eval_every)
    n_val, n_test = (len(each.examples) if each else 0 for each in (prepared.val, prepared.test))
    predictions = n_val * checks + 2 * n_test
    limits = request.method().retrieval.limits
    index = {"llm": _INDEX_LINE * steps / 2, "hybrid": _INDEX_LINE * 30.0}.get(request.retriever, 0)
    asked = 3 + (request.retriever in ("llm", "hybrid"))
    least = _usage(steps * (asked * question + _FIXED), steps * _REPLIES)
    least = least.plus(_usage(predictions * (question + 200), predictions * 200))
    full = 3 * limits.memory_tokens + index + _INDEX_LINE * _NEAREST
    more = _usage(steps * full, 0).plus(_usage(predictions * (limits.memory_tokens + index), 0))
    most = least.plus(more)
    price = price_of(prepared.settings.model)
    return Estimate(
        steps=steps,
        evaluations=predictions,
        sampled=[each.line for each in sampled],
        least_tokens=least.prompt_tokens + least.completion_tokens,
        most_tokens=most.prompt_tokens + most.completion_tokens,
        least_usd=None if price is None else price.of(least),
        most_usd=None if price is None else price.of(most),
    )


def _usage(prompt: float, completion: float) -> Usage:
    return Usage(prompt_tokens=round(prompt), completion_tokens=round(completion))
