"""The LLM door: messages in, a reply or one of four errors out.

`connect` chooses the way: an OpenAI-compatible ``api_base`` is spoken to directly, all else
(and Azure) goes through litellm. Retries, the mapping to errors, thinking room and JSON are
the same on both ways.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memcli.llm.address import parse_address
from memcli.llm.families import Profile, profile_of
from memcli.llm.faults import error_of_empty, error_of_failure, error_of_misfit
from memcli.llm.http_path import HttpPath
from memcli.llm.json_reply import NO_OBJECT, find_object, without_thoughts
from memcli.llm.litellm_path import LitellmPath
from memcli.llm.retry import wait_s
from memcli.llm.settings import ModelSettings
from memcli.llm.transport import Failure, Message, RawReply, Request, Schema, Transport
from memcli.records.answers import Usage

__all__ = ["Client", "ModelSettings", "Observer", "Reply", "Sent", "connect"]

_FINAL = frozenset({"length", "content_filter"})
"""Why a reply is empty where another try would bring the same."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said.

    Attributes:
        text: Never empty; thinking removed.
        data: The parsed object when a schema was given, else None.
        usage: Sum over the repair try too; None when the server reports none.
        model: The model's name as the server states it, else as asked for.
        seconds: Wall-clock time, waits between tries included.
        attempts: Requests sent.
        finish_reason: ``stop``, ``length``, …; empty when the server does not say.
    """

    text: str
    data: Mapping[str, Any] | None
    usage: Usage | None
    model: str
    seconds: float
    attempts: int
    finish_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One request and what came of it, whether it was of use or not.

    Attributes:
        role: Who asked.
        number: 1 for the first request of a call, then 2, 3 …
        outcome: ``ok``; ``misfit`` (not the JSON asked for), ``empty``, ``cut``; else why
            there was no reply: ``unreachable``, ``timeout``, ``invalid`` or ``status_500`` …
        usage: As the server counted it, or None.
        said: What the model said, thinking included; None where there was no reply.
        seconds: From sending to the last byte.
    """

    role: str
    number: int
    outcome: str
    usage: Usage | None
    said: str | None
    seconds: float


Observer = Callable[[Sent], None]
"""Is told of every request, in order; a ledger, for one."""


def _ignore(_: Sent) -> None:
    """Observe nothing."""


def connect(
    settings: ModelSettings,
    *,
    observe: Observer = _ignore,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Client:
    """Return a client for a model; opens no connection and imports no library yet.

    Args:
        settings: Which model, where, how patiently.
        observe: Is told of every request.
        sleep: Waits between tries.
        clock: Seconds, from any start.

    Raises:
        UsageError: If the model has no name, the address is none, or an option is not the
            user's to set.
    """
    return Client(settings, _way(settings), observe=observe, sleep=sleep, clock=clock)


def _way(settings: ModelSettings) -> Transport:
    if settings.api_base is None:
        return LitellmPath(api_base=None, key=settings.api_key)
    address = parse_address(settings.api_base)
    if address.is_azure or settings.is_azure:
        return LitellmPath(api_base=settings.api_base, key=settings.api_key)
    return HttpPath(address=address, key=settings.api_key)


class Client:
    """A model that can be asked. Not thread-safe: it learns what the model refuses."""

    def __init__(
        self,
        settings: ModelSettings,
        transport: Transport,
        *,
        observe: Observer = _ignore,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        settings.check()
        self._settings, self._transport = settings, transport
        self._observe, self._sleep, self._clock = observe, sleep, clock
        self._profile = _profile(settings)

    @property
    def model(self) -> str:
        """The model's name as asked for."""
        return self._settings.model

    @property
    def place(self) -> str:
        """Where requests go, for messages; never with credentials."""
        return self._transport.place

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Schema | None = None,
        max_tokens: int,
        role: str,
    ) -> Reply:
        """Return the model's reply, at temperature 0 unless an option says otherwise.

        Args:
            messages: The conversation, oldest first; at least one.
            schema: The object wanted. Asked for by constrained decoding where the server
                offers it; a reply that does not fit gets a repair try, or as many as set.
            max_tokens: Bound of the answer; thinking room comes on top.
            role: Who asks (``reader``, ``judge`` …), for error messages.

        Raises:
            LLMUnavailable: Unreachable, overloaded or timed out after all tries.
            LLMRejected: Key, model or request refused.
            LLMReplyInvalid: No chat completion, an empty reply, or no fitting JSON.
            LLMReplyCut: The length limit left nothing to show.
        """
        start = self._clock()
        wanted = _Wanted(schema=schema, max_tokens=max_tokens, role=role, requests=_Requests())
        said = [self._ask(messages, wanted)]
        while schema is not None and said[-1].data is None:
            last = said[-1]
            if len(said) > self._settings.max_repairs:
                key = self._settings.api_key
                raise error_of_misfit(last.raw, last.fault, len(said), role=role, key=key)
            said.append(self._ask(_repair(messages, last), wanted))
        return Reply(
            text=said[-1].text,
            data=said[-1].data,
            usage=_total([one.raw.usage for one in said]),
            model=said[-1].raw.model or self.model,
            seconds=self._clock() - start,
            attempts=wanted.requests.sent,
            finish_reason=said[-1].raw.finish_reason,
        )

    def _ask(self, messages: Sequence[Message], wanted: _Wanted) -> _Said:
        """Return a reply with words in it, after retries and after what the model refuses.

        An empty reply, which constrained decoding can bring about, gets as many more tries as
        one that does not fit.
        """
        tries = empty = 0
        while True:
            tries += 1
            request = self._request(messages, wanted)
            outcome = self._sent(request, wanted)
            if isinstance(outcome, _Said):
                if outcome.text:
                    return outcome
                empty += 1
                if empty > self._settings.max_repairs or outcome.raw.finish_reason in _FINAL:
                    key = self._settings.api_key
                    raise error_of_empty(outcome.raw, who=self._who, role=wanted.role, key=key)
            elif not self._has_learnt(outcome, request):
                self._wait_or_raise(outcome, tries)

    def _sent(self, request: Request, wanted: _Wanted) -> _Said | Failure:
        """Send one request, tell the observer, and return what came of it."""
        start = self._clock()
        outcome = self._transport.send(request)
        seconds = self._clock() - start
        heard = outcome if isinstance(outcome, Failure) else _heard(outcome, wanted.schema)
        wanted.requests.sent += 1
        self._observe(
            Sent(
                role=wanted.role,
                number=wanted.requests.sent,
                outcome=_outcome(heard, wanted.schema),
                usage=None if isinstance(outcome, Failure) else outcome.usage,
                said=None if isinstance(outcome, Failure) else outcome.text,
                seconds=seconds,
            )
        )
        return heard

    def _request(self, messages: Sequence[Message], wanted: _Wanted) -> Request:
        settings, profile = self._settings, self._profile
        if wanted.schema is not None and not profile.takes_schema:
            messages = [*messages[:-1], _with_schema(messages[-1], wanted.schema)]
        return Request(
            model=settings.served_name if self._is_direct else settings.model,
            messages=[_sendable(message) for message in messages],
            timeout_s=settings.timeout_s,
            parameters={
                **profile.parameters(wanted.max_tokens, wanted.schema),
                **settings.options,
            },
        )

    def _has_learnt(self, failure: Failure, request: Request) -> bool:
        """Return True when a refusal names a parameter that can be left out from now on."""
        if failure.status not in {400, 422}:
            return False
        learnt = self._profile.after_refusal(failure.words, request.parameters)
        changed = learnt != self._profile
        self._profile = learnt
        return changed

    def _wait_or_raise(self, failure: Failure, tries: int) -> None:
        pause = wait_s(tries, failure.retry_after_s)
        if not failure.is_transient or tries > self._settings.max_retries or pause is None:
            raise error_of_failure(failure, who=self._who, tries=tries, key=self._settings.api_key)
        self._sleep(pause)

    @property
    def _is_direct(self) -> bool:
        return isinstance(self._transport, HttpPath)

    @property
    def _who(self) -> str:
        return f"{self.model} at {self.place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What a caller of `Client.complete` asked for."""

    schema: Schema | None
    max_tokens: int
    role: str
    requests: _Requests


@dataclass(slots=True)
class _Requests:
    """Counts the requests of one call."""

    sent: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A reply: as it came, without its thinking, and the object in it or why there is none."""

    raw: RawReply
    text: str
    data: Mapping[str, Any] | None = None
    fault: str = ""


def _heard(raw: RawReply, schema: Schema | None) -> _Said:
    text = without_thoughts(raw.text)
    if not text or schema is None:
        return _Said(raw=raw, text=text)
    data, fault = find_object(text, schema.schema)
    return _Said(raw=raw, text=text, data=data, fault=fault)


def _outcome(heard: _Said | Failure, schema: Schema | None) -> str:
    """Return `Sent.outcome`."""
    if isinstance(heard, Failure):
        is_status = heard.kind == "status" and heard.status is not None
        return f"status_{heard.status}" if is_status else heard.kind
    if not heard.text:
        return "cut" if heard.raw.finish_reason == "length" else "empty"
    return "misfit" if schema is not None and heard.data is None else "ok"


def _profile(settings: ModelSettings) -> Profile:
    profile = profile_of(settings.model)
    if settings.headroom_tokens is None:
        return profile
    return replace(profile, headroom_tokens=settings.headroom_tokens)


def _sendable(message: Message) -> Message:
    """Return the message without lone surrogates, which damaged exports hold and UTF-8 cannot."""
    return {name: _LONE_SURROGATE.sub("\ufffd", text) for name, text in message.items()}


def _repair(messages: Sequence[Message], said: _Said) -> list[Message]:
    """Return the messages that ask once more.

    The model is shown an object that does not fit; a reply without an object, such as one
    that broke off, would only be a long text to get lost in.
    """
    ask = f"is not the JSON asked for: {said.fault}. Reply again with the JSON object only."
    if said.fault == NO_OBJECT:
        last = {**messages[-1], "content": f"{messages[-1]['content']}\n\nYour last reply {ask}"}
        return [*messages[:-1], last]
    shown = {"role": "assistant", "content": said.text}
    return [*messages, shown, {"role": "user", "content": f"That {ask}"}]


def _with_schema(message: Message, schema: Schema) -> Message:
    """Return the message with the schema in words; not a second one, which templates refuse."""
    shape = json.dumps(dict(schema.schema), ensure_ascii=False)
    ask = f"Reply with one JSON object and nothing else. Its JSON schema: {shape}"
    return {**message, "content": f"{message['content']}\n\n{ask}"}


def _total(usages: Sequence[Usage | None]) -> Usage | None:
    """Return the sum, or None when one of the parts is unknown."""
    total, *rest = usages
    for usage in rest:
        total = None if total is None or usage is None else total.plus(usage)
    return total
