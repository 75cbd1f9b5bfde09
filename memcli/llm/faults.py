"""From what went wrong to the error a person reads; keys are redacted here, once."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.errors import LLMError, LLMRejected, LLMReplyCut, LLMReplyInvalid, LLMUnavailable
from memcli.llm.keys import Secret, redact
from memcli.llm.transport import Failure, RawReply

_WORDS_CHARS = 300
_REFUSED_HINTS: Mapping[int | None, str] = {
    401: "set the API key: MEMCLI_API_KEY, the provider's own variable or a key file",
    403: "check what the API key may use",
    404: "check --model and --api-base",
}


def error_of_failure(failure: Failure, *, who: str, tries: int, key: Secret | None) -> LLMError:
    """Return the error for a request that brought no reply.

    Args:
        failure: What the transport saw last.
        who: Model and place, for the message.
        tries: Requests sent.
        key: Kept out of the message, the hint and ``raw``.
    """
    words = one_line(redact(failure.words, key)) or "no reason given"
    if failure.kind == "invalid":
        return LLMReplyInvalid(
            f"{who} sent no chat completion: {words}",
            hint="check that --api-base is an OpenAI-compatible server",
            raw=redact(failure.raw, key),
        )
    status = "" if failure.status is None else f" ({failure.status})"
    if not failure.is_transient:
        return LLMRejected(
            f"{who} refused the request{status}: {words}",
            hint=_REFUSED_HINTS.get(failure.status, "check --model and its options"),
        )
    count = f"{tries} {'try' if tries == 1 else 'tries'}"
    return LLMUnavailable(
        f"{who} is unavailable{status} after {count}: {words}", hint=_what_to_do(failure)
    )


def error_of_empty(raw: RawReply, *, who: str, role: str, key: Secret | None) -> LLMError:
    """Return the error for a reply without words; never an answer, never an abstention."""
    if raw.finish_reason == "length":
        return LLMReplyCut(
            f"the length limit cut the reply of {who} before it said anything",
            hint="turn thinking off, or give it more room: headroom_tokens",
        )
    why = f" (finish reason {one_line(raw.finish_reason)})" if raw.finish_reason else ""
    return LLMReplyInvalid(
        f"{who} sent an empty reply to the {role}{why}",
        hint="try again, or another model",
        raw=redact(raw.text, key),
    )


def error_of_misfit(
    raw: RawReply, fault: str, times: int, *, role: str, key: Secret | None
) -> LLMError:
    """Return the error for a reply that is not the JSON asked for, repair try included."""
    cut = " (cut by the length limit)" if raw.finish_reason == "length" else ""
    return LLMReplyInvalid(
        f"the reply to the {role} is not the JSON asked for, {times} times: {fault}{cut}",
        hint="try again, or a model that is better at JSON",
        raw=redact(raw.text, key),
    )


def one_line(words: str) -> str:
    """Return foreign words fit for one line of a terminal: no control characters, bounded."""
    line = " ".join("".join(c if c.isprintable() else " " for c in words).split())
    return line if len(line) <= _WORDS_CHARS else line[:_WORDS_CHARS] + " …"


def _what_to_do(failure: Failure) -> str:
    if failure.retry_after_s:
        return f"it asks to wait {failure.retry_after_s:.0f} s"
    if failure.kind == "unreachable":
        return "is the server running, and is --api-base its address?"
    return "try again later, or raise the timeout"
