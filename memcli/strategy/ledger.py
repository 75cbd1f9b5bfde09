"""Every request to a model, as it is written down: who asked, what it cost, what came of it.

A ledger line is made for failed requests too; where there was no reply its counts are null,
and where a server counts nothing memcli does. Prompt tokens are split into routing index,
loaded lessons and the rest.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from memcli.errors import BudgetExceeded
from memcli.llm.client import Client, Observer, Sent
from memcli.llm.prices import Price
from memcli.llm.transport import Schema
from memcli.records.answers import Usage
from memcli.strategy.asking import Prompt

Phase = Literal["train", "validation", "test"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request.

    Attributes:
        role: ``retrieve``, ``generate``, ``reflect`` or ``curate``.
        phase: What it served.
        step: 1-based training step; in evaluations the steps trained before.
        part: 1, then one more with each resumption of the run.
        elapsed_s: Seconds since the part began, when the reply was there.
        prompt_tokens: As the server counted them, else as memcli does; null where there was
            no reply.
        index_tokens: The part of them that is the routing index.
        memory_tokens: The part that is loaded lessons.
        rest_tokens: What is left.
        completion_tokens: Null where there was no reply.
        cached_tokens: The part of the prompt that a cache served.
        cost_usd: Null when the price is unknown.
        seconds: From sending to the last byte.
        attempt: 1 for the first request of a call.
        outcome: See `Sent`.
        counted: Who counted the tokens.
    """

    role: str
    phase: Phase
    step: int
    part: int
    elapsed_s: float
    prompt_tokens: int | None
    index_tokens: int | None
    memory_tokens: int | None
    rest_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    seconds: float
    attempt: int
    outcome: str
    counted: Literal["server", "memcli"] = "server"


@dataclass(slots=True)
class Spending:
    """What a run has used so far.

    Attributes:
        tokens: Prompt and completion tokens of training.
        cost_usd: Of all phases; None as soon as one price is unknown.
        cap_usd: Most that may be spent, or None.
    """

    tokens: int = 0
    cost_usd: float | None = 0.0
    cap_usd: float | None = None

    def add(self, call: Mapping[str, Any]) -> None:
        """Count one ledger line."""
        prompt, completion = call["prompt_tokens"], call["completion_tokens"]
        if call["phase"] == "train":
            self.tokens += (prompt or 0) + (completion or 0)
        if prompt is None:
            return
        cost = call["cost_usd"]
        known = self.cost_usd is not None and cost is not None
        self.cost_usd = (self.cost_usd or 0.0) + cost if known else None

    def check(self) -> None:
        """Refuse to go on beyond the cap.

        Raises:
            BudgetExceeded: If what was spent has reached it.
        """
        if self.cap_usd is not None and (self.cost_usd or 0.0) >= self.cap_usd:
            raise BudgetExceeded(
                f"the cost cap of ${self.cap_usd:g} is reached (${self.cost_usd or 0:.4f} spent)",
                hint="`memcli train --resume --max-cost MORE` goes on at the next example",
            )


@dataclass(slots=True, kw_only=True)
class Book:
    """Where a phase's calls are written.

    Attributes:
        write: Takes each ledger line.
        spending: Counts them, and knows the cap.
        price: Of the model, or None.
        count: Counts tokens where the server does not.
        clock: Seconds since the part began.
        part: See `Call`.
    """

    write: Callable[[Mapping[str, object]], None]
    spending: Spending
    price: Price | None
    count: Callable[[str], int]
    clock: Callable[[], float]
    part: int = 1
    _lines: dict[str, int] = field(default_factory=dict)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def line_tokens(self, text: str) -> int:
        """Return the tokens of a block of whole lines; each line is counted once and kept.

        Exact but for blank lines: else no token reaches over a line break into the next line.
        """
        known, lines = self._lines, text.splitlines(keepends=True)
        for line in lines:
            if line not in known:
                known[line] = self.count(line)
        return sum(map(known.__getitem__, lines))

    def enter(self, call: Call) -> None:
        """Write a call down."""
        line = asdict(call)
        with self._turn:  # evaluations ask from several threads
            self.spending.add(line)
            self.write(line)


class LedgerAsker:
    """A model whose every request is written down; serves one call at a time.

    Args:
        connect: Makes the client, given whom to tell of requests.
        book: Where they are written.
        phase: What they serve.
        step: Which step.
    """

    def __init__(
        self, connect: Callable[[Observer], Client], book: Book, phase: Phase, step: int = 0
    ) -> None:
        self._client = connect(self._enter)
        self._book, self._phase, self.step = book, phase, step
        self._prompt = Prompt(messages=())

    def ask(self, prompt: Prompt, schema: Schema, *, max_tokens: int) -> Mapping[str, Any]:
        """Return the object that the model replied; see `asking.Asker`.

        Raises:
            LLMError: If no usable reply came.
            BudgetExceeded: If the cost cap is reached; nothing is sent then.
        """
        self._book.spending.check()
        self._prompt = prompt
        reply = self._client.complete(
            prompt.messages, schema=schema, max_tokens=max_tokens, role=schema.name
        )
        return reply.data or {}

    def _enter(self, sent: Sent) -> None:
        book, usage = self._book, self._used(sent)
        index = memory = rest = cost = None
        if usage is not None:
            index = book.line_tokens(self._prompt.index)
            memory = book.line_tokens(self._prompt.memory)
            rest = max(0, usage.prompt_tokens - index - memory)
            cost = usage.cost_usd
            if cost is None and book.price is not None:
                cost = book.price.of(usage)
        book.enter(
            Call(
                role=sent.role,
                phase=self._phase,
                step=self.step,
                part=book.part,
                elapsed_s=round(book.clock(), 3),
                prompt_tokens=None if usage is None else usage.prompt_tokens,
                index_tokens=index,
                memory_tokens=memory,
                rest_tokens=rest,
                completion_tokens=None if usage is None else usage.completion_tokens,
                cached_tokens=None if usage is None else usage.cached_tokens,
                cost_usd=cost,
                seconds=round(sent.seconds, 4),
                attempt=sent.number,
                outcome=sent.outcome,
                counted="memcli" if sent.usage is None else "server",
            )
        )

    def _used(self, sent: Sent) -> Usage | None:
        """Return the tokens of a request, counted here where the server does not count.

        The repair try's few words are left out of such a count. None where nothing came back.
        """
        if sent.usage is not None or sent.said is None:
            return sent.usage
        rest, known = "\n".join(each["content"] for each in self._prompt.messages), 0
        for block in filter(None, (self._prompt.index, self._prompt.memory)):
            known += self._book.line_tokens(block)
            rest = rest.replace(block, "", 1)
        return Usage(
            prompt_tokens=known + self._book.count(rest),
            completion_tokens=self._book.count(sent.said),
        )
