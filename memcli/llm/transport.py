"""What both ways to a model share: one request in, a raw reply or a failure out.

A transport never raises for what a server does: it returns a `Failure`, so that retries and
the mapping to errors happen in one place, the client.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from memcli.records.answers import Usage

Message = Mapping[str, str]
"""``{"role": "system" | "user" | "assistant", "content": …}``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The JSON object a reply must be.

    Attributes:
        name: Name shown to the server; by convention the role (``retrieve``, ``judge`` …).
        schema: JSON schema of a flat object, every field required.
    """

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, already fitted to the model's family.

    Attributes:
        timeout_s: Seconds for the whole exchange.
        parameters: Fields of the request beside model and messages (``max_tokens`` …).
    """

    model: str
    messages: Sequence[Message]
    timeout_s: float
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReply:
    """What the model said, before anything is made of it.

    Attributes:
        finish_reason: ``stop``, ``length``, …; empty when the server does not say.
        usage: None when the server reports none.
        model: The model's name as the server states it, never a path; or empty.
    """

    text: str
    finish_reason: str
    usage: Usage | None
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no reply.

    Attributes:
        kind: ``unreachable`` and ``timeout``: no answer. ``status``: an error status.
            ``invalid``: an answer that is no chat completion.
        words: The server's or the system's own words, for a person; not yet redacted.
        status: The HTTP status of kind ``status``.
        retry_after_s: How long the server asks to wait, in seconds, or None.
        raw: The body of kind ``invalid``.
    """

    kind: Literal["unreachable", "timeout", "status", "invalid"]
    words: str
    status: int | None = None
    retry_after_s: float | None = None
    raw: str = ""

    @property
    def is_transient(self) -> bool:
        """True for what a later try may cure: no answer, 429, 408 and 5xx."""
        if self.kind == "status":
            return self.status is not None and (self.status in {408, 429} or self.status >= 500)
        return self.kind in {"unreachable", "timeout"}


class Transport(Protocol):
    """A way to a model."""

    @property
    def place(self) -> str:
        """Where requests go, for messages; never with credentials."""

    def send(self, request: Request) -> RawReply | Failure:
        """Return the reply to one request, without retrying."""


def read_completion(payload: object, raw: str) -> RawReply | Failure:
    """Return the reply inside the JSON of a chat completion.

    Content given as a list of parts is joined. An error object inside a 200 (gateways do
    that) counts as the status it names, without one as a refusal.
    """
    if not isinstance(payload, Mapping):
        return Failure(kind="invalid", words="the reply is not a JSON object", raw=raw)
    choices = payload.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return _error_inside(payload, raw)
    message = choices[0].get("message")
    if not isinstance(message, Mapping):
        return Failure(kind="invalid", words="the reply's choice has no message", raw=raw)
    return RawReply(
        text=_content(message.get("content")),
        finish_reason=str(choices[0].get("finish_reason") or ""),
        usage=_usage(payload.get("usage")),
        model=_model_name(str(payload.get("model") or "")),
    )


def _error_inside(payload: Mapping[str, Any], raw: str) -> Failure:
    error = payload.get("error")
    if not isinstance(error, Mapping):
        return Failure(kind="invalid", words="the reply has no choices", raw=raw)
    code = error.get("code")
    is_status = isinstance(code, int) and 400 <= code <= 599
    words = str(error.get("message") or "")
    return Failure(kind="status", status=code if is_status else None, words=words)


def _content(content: object) -> str:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _model_name(name: str) -> str:
    """Return the name without a folder: llama.cpp states the path of its file."""
    is_path = name.startswith("/") or "\\" in name
    return re.split(r"[/\\]", name)[-1] if is_path else name


def _usage(usage: object) -> Usage | None:
    """Return the server's counts, or None: a missing count is unknown, not zero."""
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    if prompt + completion == 0:
        return None
    details = usage.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=_count(details, "cached_tokens") if isinstance(details, Mapping) else 0,
        cost_usd=_number(usage.get("cost")),
    )


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = _number(counts.get(name))
    return 0 if value is None else int(value)


def _number(value: object) -> float | None:
    """Return a finite count or price ≥ 0, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < float("inf") else None
