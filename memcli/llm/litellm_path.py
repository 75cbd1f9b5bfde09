"""The wide way: litellm, for every provider it knows.

Its import takes seconds and it fetches a price list, prints to stdout and retries unless told
otherwise; all of that is turned off here, and nothing else imports it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from memcli.llm.keys import Secret
from memcli.llm.retry import retry_after_s
from memcli.llm.transport import Failure, RawReply, Request, read_completion

# litellm reports a 200 that is no chat completion as a made-up 500 with one of these texts.
_NOT_A_COMPLETION = (
    "Empty or invalid response from LLM endpoint",
    "Received response - ",
    "a response with no 'choices'",
)
# It reports a key that nobody set as a made-up 500, or as a connection error.
_NO_KEY = re.compile(r"(?i)missing credentials|missing \w+ api key|api_key .*must be set")
_PREFIX = re.compile(r"\A(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)\w*(?:: | - ))+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LitellmPath:
    """A transport through litellm.

    Attributes:
        api_base: Passed on unchanged; None for the provider's own address.
        key: Passed on; None lets litellm find the provider's own variable.
    """

    api_base: str | None
    key: Secret | None

    @property
    def place(self) -> str:
        """Which library carries the call: it alone knows the provider's address."""
        return "the provider (through litellm)"

    def send(self, request: Request) -> RawReply | Failure:
        """Return the reply to one request; see `Transport.send`."""
        with _quiet():
            litellm = _litellm()
            import openai  # the base of every error that litellm raises

            try:
                response = litellm.completion(
                    model=request.model,
                    messages=[dict(message) for message in request.messages],
                    api_base=self.api_base,
                    api_key=None if self.key is None else self.key.reveal(),
                    timeout=request.timeout_s,
                    max_retries=0,
                    num_retries=0,
                    drop_params=True,
                    **request.parameters,
                )
            except openai.OpenAIError as error:
                return _failure(error, openai, request.timeout_s)
            if response is None:  # with drop_params on, litellm swallows a second 422
                return Failure(kind="status", status=422, words="the request cannot be processed")
            reply = read_completion(response.model_dump(), "")
            return _priced(reply, litellm, response, request.model)


def _litellm() -> ModuleType:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # what it logs, it raises too
    return litellm  # type: ignore[no-any-return]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep litellm's prints off stdout, which is data only, and its warnings off stderr."""
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _failure(error: Exception, openai: ModuleType, timeout_s: float) -> Failure:
    """Return what an error of litellm means.

    It gives connection errors the status 500; the error it was made from tells them apart.
    """
    words, causes = _words(error), list(_causes(error))
    if any(isinstance(cause, openai.APITimeoutError) for cause in causes):
        return Failure(kind="timeout", words=f"no answer within {timeout_s:g} s")
    if "LLM Provider NOT provided" in words:
        told = "its name says no provider: write provider/name, e.g. ollama/qwen3, or --api-base"
        return Failure(kind="status", words=told)
    if _NO_KEY.search(words):
        return Failure(kind="status", status=401, words=words)
    if any(isinstance(cause, ImportError) for cause in causes):  # a provider's own library
        return Failure(kind="status", words=words)
    if any(isinstance(cause, openai.APIConnectionError) for cause in causes):
        return Failure(kind="unreachable", words=words)
    if any(text in words for text in _NOT_A_COMPLETION):
        return Failure(kind="invalid", words=words, raw=words)
    return _status_failure(error, words)


def _status_failure(error: Exception, words: str) -> Failure:
    status = getattr(error, "status_code", None)
    headers: Mapping[str, Any] = getattr(getattr(error, "response", None), "headers", None) or {}
    return Failure(
        kind="status" if isinstance(status, int) else "unreachable",
        status=status if isinstance(status, int) else None,
        words=words,
        retry_after_s=retry_after_s({name.lower(): str(value) for name, value in headers.items()}),
    )


def _words(error: Exception) -> str:
    """Return the provider's words without litellm's class names and appended traceback."""
    return _PREFIX.sub("", str(error).partition("Traceback (most recent call last)")[0]).strip()


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it was raised from or during, nearest first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _priced(
    reply: RawReply | Failure, litellm: ModuleType, response: object, model: str
) -> RawReply | Failure:
    """Return the reply with its price by litellm's bundled list; None where it has none."""
    if isinstance(reply, Failure) or reply.usage is None:
        return reply
    try:
        cost = litellm.completion_cost(completion_response=response, model=model)
    except Exception:  # noqa: BLE001 - raised bare for a model without a price: it stays unknown
        return reply
    return replace(reply, usage=replace(reply.usage, cost_usd=float(cost)))
