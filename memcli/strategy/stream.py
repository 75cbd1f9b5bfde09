"""Training streams: JSONL lines of a question and its answer, read lazily.

A line is an object with ``question`` (or ``context``) and ``answer`` (or ``target``), texts or
numbers; other fields are ignored. A line that has no usable pair costs only itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

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
        data = _loaded(text)
    except (ValueError, RecursionError):
        return RejectedLine(number, "is not JSON")
    if not isinstance(data, Mapping):
        return RejectedLine(number, "is not a JSON object")
    try:
        question, answer = _field(data, QUESTION), _field(data, ANSWER)
    except _Unusable as unusable:
        return RejectedLine(number, str(unusable))
    return Example(question, answer, number, fingerprint(question, answer))


def _loaded(text: bytes) -> Any:
    """Return a JSON value in which numbers are texts, digit by digit as they were written."""
    return json.loads(
        text.decode("utf-8"), parse_float=str, parse_int=str, parse_constant=_refuse_constant
    )


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class _Unusable(Exception):
    """Why a line is no example."""


def _field(data: Mapping[str, object], names: tuple[str, str]) -> str:
    """Return what one of two fields holds; blank ones and nulls count as absent.

    Raises:
        _Unusable: If neither holds anything, one is no text, or both disagree.
    """
    name, other = names
    held = [data[each] for each in names if data.get(each) is not None]
    if any(not isinstance(value, str) for value in held):
        raise _Unusable(f"has no {name} that is text or a number")
    texts = [value for value in held if isinstance(value, str) and value.strip()]
    if not texts:
        raise _Unusable(f"has no {name} (field {name} or {other})")
    if len(set(texts)) > 1:
        raise _Unusable(f"has both {name} and {other}, and they differ")
    return texts[0]
