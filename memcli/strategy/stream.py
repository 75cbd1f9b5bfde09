"""Training streams: JSONL lines of a question and its answer, read lazily.

A line is an object with ``question`` (or ``context``) and ``answer`` (or ``target``); other
fields are ignored. A line that has no usable pair costs only itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from memcli.records.codec import loads

QUESTION: Final = ("question", "context")
ANSWER: Final = ("answer", "target")
_MARK: Final = "\ufeff".encode()
_PRINT_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Example:
    """One line of a stream.

    Attributes:
        question: x_t.
        answer: y_t; nobody sees it before the prediction on x_t is made.
        line: 1-based line in its file.
        fingerprint: Hash of both, by which logs name an example without its text.
    """

    question: str
    answer: str
    line: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class RejectedLine:
    """A line that is no example, and why."""

    line: int
    reason: str


def read_stream(lines: Iterable[bytes]) -> Iterator[Example | RejectedLine]:
    """Yield examples and rejected lines in order; blank lines are passed over."""
    for number, line in enumerate(lines, 1):
        text = line.removeprefix(_MARK).strip() if number == 1 else line.strip()
        if text:
            yield _example(text, number)


def fingerprint(question: str, answer: str) -> str:
    """Return a short hash that names an example."""
    data = "\x1f".join((question, answer)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_PRINT_BYTES).hexdigest()


def _example(text: bytes, number: int) -> Example | RejectedLine:
    try:
        data = loads(text)
    except (ValueError, RecursionError):
        return RejectedLine(number, "is not JSON")
    if not isinstance(data, Mapping):
        return RejectedLine(number, "is not a JSON object")
    question, answer = _field(data, QUESTION), _field(data, ANSWER)
    if not question:
        return RejectedLine(number, "has no question (field question or context)")
    if not answer:
        return RejectedLine(number, "has no answer (field answer or target)")
    return Example(question, answer, number, fingerprint(question, answer))


def _field(data: Mapping[str, object], names: tuple[str, str]) -> str:
    """Return the first of the fields that holds anything; numbers become text."""
    for name in names:
        value = data.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and value.strip():
            return value
    return ""
