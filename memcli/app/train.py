"""Training a store's strategies: Retrieve, Generate, Reflect, Curate, one commit a step.

A step is read from the log, not from the run's own files: as many training traces as a run
has, so many examples it has learnt from. So a run that was killed at any moment goes on at
the next example, with nothing lost and nothing applied twice.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import count as numbers
from typing import Any

from memcli.app.checkpoints import checkpoint_name
from memcli.app.stores import level_index
from memcli.app.strategy_store import (
    Marks,
    append_change,
    catch_up,
    load_graph,
    marks,
    read_traces,
)
from memcli.app.surroundings import Data, Progress, Surroundings
from memcli.app.train_request import TrainRequest
from memcli.budgets import count_tokens
from memcli.errors import IndexBehind, LLMReplyInvalid, UsageError
from memcli.llm.prices import price_of
from memcli.records.strategy import Provenance, Trace
from memcli.records.strategy_codec import retrieval_to_dict
from memcli.store.run_folder import (
    EVALUATIONS,
    LEDGER,
    POST_CURATE,
    REPORT,
    TRACES,
    RunFolder,
)
from memcli.store.snapshot import Snapshot, Watermark
from memcli.store.store import Store
from memcli.strategy.evaluate_stream import Evaluation, evaluate
from memcli.strategy.ledger import Book, LedgerAsker, Phase, Spending
from memcli.strategy.memory import StrategyMemory, near_duplicate
from memcli.strategy.operations import Change, Rules, plan
from memcli.strategy.report import StepRow, best_step, report, step_rows
from memcli.strategy.step import UNUSABLE, Outcome, predict, train_on
from memcli.strategy.stream import Example

MOST_UNUSABLE = 10
"""Predictions in a row without a usable reply after which a run stops."""


class RunUndone(UsageError):
    """Steps of a run are no longer in the log: it cannot go on."""

    def __init__(self, name: str, left: int) -> None:
        super().__init__(
            f"{name} was undone: the log has {left} of its steps", hint="start a new run"
        )


@dataclass(slots=True)
class _State:
    """What a run holds in memory, level with the store as of ``marks``."""

    memory: StrategyMemory
    marks: Marks
    log: Watermark | None
    scores: list[tuple[int, int]] = field(default_factory=list)
    unusable: int = 0


class TrainingRun:
    """One run of training, new or resumed; `go` does it.

    Args:
        store: The store to train; the caller holds its training lock.
        folder: The run's folder.
        request: Its options.
        data: Its examples.
        around: What it needs from outside.
    """

    def __init__(
        self,
        store: Store,
        folder: RunFolder,
        request: TrainRequest,
        data: Data,
        around: Surroundings,
    ) -> None:
        self._store, self._folder, self._request = store, folder, request
        self._data, self._around = data, around
        self._method = request.method()
        self._order = training_order(data.train, request.epochs, request.seed)
        self._spending = Spending(cap_usd=request.max_cost)
        self._book = self._open_book()
        snapshot = store.snapshot()
        memory = StrategyMemory(load_graph(snapshot))
        self._state = _State(memory, marks(snapshot), snapshot.watermark("traces"))

    def go(self) -> dict[str, object]:
        """Train to the end of the stream and return the report.

        Raises:
            LLMError: If the model cannot be asked; the run can be resumed.
            BudgetExceeded: If the cost cap is reached; likewise.
            StoreLocked: If another writer kept the store longer than was to be waited.
            RunUndone: If someone took steps of it back, before or meanwhile.
        """
        done = self._recall()
        if done == 0:
            self._evaluate("test", 0, "empty", StrategyMemory())
        self._validate(done)
        ask = self._asker("train")
        for step in range(done + 1, len(self._order) + 1):
            ask.step = step
            self._step(step, ask)
            if step % self._request.eval_every == 0 or step == len(self._order):
                self._validate(step)
        self._test_best(len(self._order))
        return self.report()

    def report(self) -> dict[str, object]:
        """Write and return the figures of what is done so far."""
        folder, config = self._folder, self._folder.load("config.json") or {}
        traces = self._traces()
        told = sum(n.provenance.holds_answer for n in self._own_nodes())
        figures = report(
            {**config, "run": folder.name, "lessons_with_answer": told},
            traces,
            list(folder.lines(LEDGER)),
            list(folder.lines(EVALUATIONS)),
        )
        figures["post_curate_accuracy"] = self._post_curate_accuracy()
        folder.save(REPORT, figures)
        return figures

    def rows(self) -> list[StepRow]:
        """Return the steps done so far in figures."""
        return step_rows(self._traces(), self._folder.lines(LEDGER))

    def _open_book(self) -> Book:
        parts = [0]
        for line in self._folder.lines(LEDGER):
            self._spending.add(line)
            parts.append(line["part"])
        start = self._around.clock()
        return Book(
            write=lambda call: self._folder.append(LEDGER, call),
            spending=self._spending,
            price=price_of(self._around.model),
            count=count_tokens,
            clock=lambda: self._around.clock() - start,
            part=max(parts) + 1,
        )

    def _asker(self, phase: Phase, step: int = 0) -> LedgerAsker:
        return LedgerAsker(self._around.connect, self._book, phase, step)

    def _traces(self) -> list[Trace]:
        """Return this run's training traces, in order."""
        return [
            trace
            for trace in read_traces(self._store.snapshot())
            if trace.kind == "train" and trace.run == self._folder.name
        ]

    def _own_nodes(self) -> list[Any]:
        nodes = self._state.memory.nodes()
        return [node for node in nodes if node.provenance.run == self._folder.name]

    def _recall(self) -> int:
        """Take up the scores of earlier parts; return how many steps are done.

        Raises:
            RunUndone: If steps of the run were taken back: its later states would no longer
                follow from its earlier ones.
        """
        traces = self._traces()
        tried = (line["step"] for line in self._folder.lines(LEDGER) if line["phase"] == "train")
        if max(tried, default=0) > len(traces) + 1:
            raise RunUndone(self._folder.name, len(traces))
        self._state.scores = [(t.right or 0, t.total) for t in traces if t.total]
        return len(traces)

    def _step(self, step: int, ask: LedgerAsker) -> None:
        example = self._order[step - 1]
        outcome = train_on(example, self._state.memory, self._method, ask)
        self._commit(step, example, outcome)
        self._watch(outcome)
        if self._request.post_curate and outcome.score is not None:
            self._predict_again(step, example, ask)
        self._tell("train", step, len(self._order))

    def _commit(self, step: int, example: Example, outcome: Outcome) -> None:
        """Write one step as one commit; others may have written meanwhile."""
        run, state, now = self._folder.name, self._state, self._around.now()
        with self._store.writer(now=now, wait_s=self._around.wait_s, command="train") as writer:
            self._refuse_undone(writer.snapshot, step)
            self._catch_up(writer.snapshot)
            change = plan(
                state.memory.graph,
                self._rules(step, example),
                labels=outcome.labels,
                proposals=outcome.proposals,
            )
            epoch = (step - 1) // len(self._data.train) + 1
            append_change(writer, change, _trace(run, epoch, step, example, outcome, change, now))
            snapshot = writer.commit(command="train", batch=run)
        state.memory.absorb(change.nodes, change.edges)
        state.marks, state.log = marks(snapshot), snapshot.watermark("traces")

    def _refuse_undone(self, snapshot: Snapshot, step: int) -> None:
        """Stop where someone took steps of this run back while it went on.

        The log is read only where it did not just grow since the step before.
        """
        log = self._state.log
        if log is None or snapshot.continues("traces", log):
            return
        left = sum(trace.run == self._folder.name for trace in read_traces(snapshot))
        if left < step - 1:
            raise RunUndone(self._folder.name, left)

    def _catch_up(self, snapshot: Snapshot) -> None:
        state = self._state
        graph, others = catch_up(state.memory.graph, state.marks, snapshot)
        if graph is not state.memory.graph:
            state.memory.renew(graph)
        else:
            state.memory.reindex(others)

    def _rules(self, step: int, example: Example) -> Rules:
        check = near_duplicate(self._state.memory.lessons)
        return Rules(
            count=count_tokens,
            provenance=Provenance(
                origin="train", run=self._folder.name, step=step, example=example.fingerprint
            ),
            answer=example.answer,
            near_duplicate=check if self._request.near_duplicates else None,
        )

    def _watch(self, outcome: Outcome) -> None:
        """Count what was scored; stop where no prediction comes any more."""
        if outcome.score is not None:
            self._state.scores.append((outcome.score.right, outcome.score.total))
            self._state.unusable = 0
            return
        self._state.unusable += 1
        if self._state.unusable >= MOST_UNUSABLE:
            raise LLMReplyInvalid(
                f"{MOST_UNUSABLE} predictions in a row had no usable reply",
                hint="try another model; `memcli train --resume` goes on at the next example",
                raw="",
            )

    def _predict_again(self, step: int, example: Example, ask: LedgerAsker) -> None:
        """Predict on the updated memory, as ACE does after curation; teaches nothing."""
        try:
            _, made = predict(example.question, self._state.memory, self._method, ask)
        except UNUSABLE:
            self._folder.append(POST_CURATE, {"step": step, "right": None, "total": None})
            return
        score = self._method.scorer(made.answer, example.answer)
        self._folder.append(POST_CURATE, {"step": step, **asdict(score)})

    def _post_curate_accuracy(self) -> float | None:
        scored = [line for line in self._folder.lines(POST_CURATE) if line["total"]]
        total = sum(line["total"] for line in scored)
        return sum(line["right"] for line in scored) / total if total else None

    def _validate(self, step: int) -> None:
        """Save the state and, where there is validation data, measure it; once a step."""
        due = step == len(self._order) or step % self._request.eval_every == 0
        if not due:
            return
        self._checkpoint(step)
        if self._data.val:
            self._evaluate("validation", step, "current", self._state.memory)

    def _checkpoint(self, step: int) -> None:
        name = checkpoint_name(self._folder.name, step)
        if any(saved.name == name for saved in self._store.checkpoints()):
            return
        with self._store.writer(
            now=self._around.now(), wait_s=self._around.wait_s, command="train"
        ) as writer:
            writer.checkpoint(name)
            try:
                level_index(writer.snapshot, done=f"{name} is stored")
            except IndexBehind as error:  # derived: no reason to end a run
                self._around.warn(f"{error.message}; {error.hint}")

    def _test_best(self, last: int) -> None:
        """Measure the test examples once more, at the earliest best validation."""
        if not self._data.test:
            return
        best = best_step(list(self._folder.lines(EVALUATIONS)))
        step = last if best is None else best
        snapshot = self._store.snapshot(checkpoint_name(self._folder.name, step))
        self._evaluate("test", step, "best", StrategyMemory(load_graph(snapshot)))

    def _evaluate(self, phase: Phase, step: int, of: str, memory: StrategyMemory) -> None:
        """Measure a memory and write it down, unless that was done before."""
        examples = self._data.val if phase == "validation" else self._data.test
        done_before = any(
            (line["phase"], line["step"], line["memory"]) == (phase, step, of)
            for line in self._folder.lines(EVALUATIONS)
        )
        if not examples or done_before:
            return
        count = numbers(1)
        found = evaluate(
            examples,
            memory,
            self._method,
            lambda: self._asker(phase, step),
            workers=self._request.workers,
            on_done=lambda: self._tell(phase, next(count), len(examples)),
        )
        self._write_evaluation(phase, step, of, found)

    def _write_evaluation(self, phase: Phase, step: int, of: str, found: Evaluation) -> None:
        for each in found.attempts:
            retrieval = None if each.retrieval is None else retrieval_to_dict(each.retrieval)
            line = {"phase": phase, "step": step, "memory": of, **asdict(each)}
            self._folder.append(TRACES, line | {"retrieval": retrieval})
        figures = {name: getattr(found, name) for name in ("right", "total", "all_right")}
        self._folder.append(
            EVALUATIONS,
            {
                "phase": phase,
                "step": step,
                "memory": of,
                **figures,
                "scored": found.scored,
                "failed": found.failed,
                "accuracy": found.accuracy,
            },
        )

    def _tell(self, phase: Phase, done: int, of: int) -> None:
        recent = self._state.scores[-25:]
        total = sum(score[1] for score in recent)
        self._around.tell(
            Progress(
                phase=phase,
                done=done,
                of=of,
                recent=sum(score[0] for score in recent) / total if total else None,
                nodes=self._state.memory.graph.n_nodes,
                edges=self._state.memory.graph.n_edges,
                tokens=self._spending.tokens,
                cost_usd=self._spending.cost_usd,
            )
        )


def training_order(examples: Sequence[Example], epochs: int, seed: int) -> list[Example]:
    """Return the examples of all epochs: the first as they come, the others shuffled."""
    order = list(examples)
    for epoch in range(2, epochs + 1):
        shuffled = list(examples)
        random.Random(f"{seed}:{epoch}").shuffle(shuffled)
        order += shuffled
    return order


def _trace(
    run: str,
    epoch: int,
    step: int,
    example: Example,
    outcome: Outcome,
    change: Change,
    now: datetime,
) -> Trace:
    score = outcome.score
    discarded = outcome.discarded.copy()
    discarded.update(change.discarded)
    return Trace(
        id=f"{run}.{step}",
        kind="train",
        time=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        run=run,
        epoch=epoch,
        step=step,
        example=example.fingerprint,
        retrieval=outcome.retrieved.retrieval,
        influence=outcome.generated.influence if outcome.generated else (),
        labels=change.labels,
        tags=outcome.tags,
        operations=change.operations,
        discarded=dict(sorted(discarded.items())),
        failures=outcome.failures,
        right=None if score is None else score.right,
        total=None if score is None else score.total,
    )
