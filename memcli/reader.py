"""Evidence in, an answer with its citations or an abstention out: the only LLM step of `ask`.

One call, temperature 0, plain text (Read step of EdgeMem, arXiv 2609.05553). Departures: the
evidence is fenced and labelled as data, citations are required and checked, and nothing is
asked when nothing was found. `extractive` answers without a model by quoting.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from memcli import prompts
from memcli.llm.client import Client
from memcli.records.answers import REFUSAL, Abstained, Answer, Answered
from memcli.records.marks import EVIDENCE_FENCE, STRATEGIES_FENCE, STRATEGIES_HEAD
from memcli.records.pack import Tier

PROMPT = "reader"
ANSWER_TOKENS = 128
"""Bound of an answer in tokens [P]; models that think get room on top."""
QUOTED_LINES = 3
"""Evidence lines that `extractive` quotes."""
QUOTE_CHARS = 400
"""Bound of one quoted line in characters."""
EXTRACTIVE = "extractive"

_RANGE = r"\d+(?:\s*[–-]\s*\d+)?"
# [3], [1, 4], [2-4], 【3】, 【3†source】; not [2024-05-08].
_MARK = re.compile(rf"[\[【]\s*({_RANGE}(?:\s*[,;]\s*{_RANGE})*)\s*(?:†[^\]】]*)?[\]】]")
_ENDS = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_LARGEST_RANGE = 100
_AROUND_REFUSAL = " \t\r\n\"'`*_“”‘’«»„"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceLine:
    """One turn as the reader sees it.

    Attributes:
        id: Turn id; the model never sees it.
        text: Speaker, date and words, rendered, without a number.
        rank: 1 for the most relevant; lines of equal rank keep their order.
    """

    id: str
    text: str
    rank: int = 1


def read(
    evidence: Sequence[EvidenceLine],
    question: str,
    as_of: str,
    client: Client,
    *,
    tier: Tier = "match",
    always_read: bool = False,
    strategies: str = "",
    mask: Callable[[str], str] = lambda text: text,
) -> Answer:
    """Return a model's answer from the evidence, or an abstention.

    Args:
        evidence: Lines in the order in which they are numbered, from 1.
        question: The user's words.
        as_of: Reference time of the question, for people.
        client: The model to ask, once.
        tier: On ``none`` the reader abstains without a call.
        always_read: Asks the model on ``none`` too, as the paper does.
        strategies: Lessons as lines ``[id] …``, shown in a fence of their own, not citable.
        mask: Applied to all that is sent; the identity unless the caller hides secrets.

    Raises:
        LLMError: If no usable reply came: never an answer, never an abstention.
    """
    if not evidence or (tier == "none" and not always_read):
        return Abstained(reason="no_evidence", model=client.model)
    messages = reader_messages(evidence, question, as_of, strategies=strategies, mask=mask)
    reply = client.complete(messages, max_tokens=ANSWER_TOKENS, role=PROMPT)
    if is_refusal(reply.text):
        return Abstained(reason="reader_refused", usage=reply.usage, model=reply.model)
    answer = cited(reply.text, evidence, model=reply.model)
    return replace(answer, usage=reply.usage)


def reader_messages(
    evidence: Sequence[EvidenceLine],
    question: str,
    as_of: str,
    *,
    strategies: str = "",
    mask: Callable[[str], str] = lambda text: text,
) -> list[dict[str, str]]:
    """Return the chat messages of a reader call: rules, fenced evidence, question last."""
    lines = mask(numbered(evidence))
    asked = mask(question)
    return prompts.render(
        PROMPT,
        refusal=REFUSAL,
        fence=fence_for(lines, asked),
        evidence=lines,
        strategies=strategies_block(mask(strategies)),
        as_of=as_of,
        question=asked,
    )


def strategies_block(lessons: str) -> str:
    """Return lessons in their own fence, with a line that says what they are; empty for none."""
    if not lessons:
        return ""
    fence = fence_for(lessons, name=STRATEGIES_FENCE)
    return f"\n<{fence}>\n{STRATEGIES_HEAD}\n{lessons.rstrip()}\n</{fence}>\n"


def numbered(evidence: Sequence[EvidenceLine]) -> str:
    """Return the lines as ``[1] …``; a turn's further lines are indented by one space.

    So no turn can fake the start of another numbered line.
    """
    return "\n".join(
        f"[{number}] " + "\n ".join(line.text.splitlines())
        for number, line in enumerate(evidence, start=1)
    )


def fence_for(*texts: str, name: str = EVIDENCE_FENCE) -> str:
    """Return a tag name that none of the texts can close.

    ``evidence``, else the first of ``evidence-2``, ``evidence-3`` … that does not occur, case,
    width, spaces and invisible characters aside. Deterministic: the same texts, the same name.
    """
    seen = _squeezed("\n".join(texts))
    if not re.search(rf"[</]{name}|{name}>", seen):
        return name
    fences = (f"{name}-{number}" for number in itertools.count(2))
    return next(fence for fence in fences if fence not in seen)


def _squeezed(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in plain if c.isprintable() and not c.isspace())


def is_refusal(text: str) -> bool:
    """Return True when a reply is `REFUSAL`: citations, quotes and the final dot aside."""
    return _bare(_MARK.sub("", text)) == _bare(REFUSAL)


def _bare(text: str) -> str:
    return text.strip(_AROUND_REFUSAL).rstrip(".").rstrip(_AROUND_REFUSAL)


def cited(text: str, evidence: Sequence[EvidenceLine], *, model: str) -> Answered:
    """Return an answer with its citation marks mapped back to turn ids.

    Understands ``[3]``, ``[1, 4]``, ``[2][5]``, ``[2-4]`` and ``【3】``. A number outside the
    evidence is reported in ``unknown_citations`` and makes the answer's citations invalid,
    as does having none.
    """
    known: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for number in _cited_numbers(text):
        if 1 <= number <= len(evidence):
            known[evidence[number - 1].id] = None
        else:
            unknown[str(number)] = None
    return Answered(
        text=text,
        citations=tuple(known),
        citations_valid=bool(known) and not unknown,
        unknown_citations=tuple(unknown),
        model=model,
    )


def _cited_numbers(text: str) -> Iterator[int]:
    """Yield the numbers of all marks, left to right; a range yields each of its numbers."""
    for mark in _MARK.finditer(text):
        for first, last in _ENDS.findall(mark[1]):
            yield from _from_to(int(first[:9]), int((last or first)[:9]))


def _from_to(first: int, last: int) -> Sequence[int]:
    """Return ``first…last``, both ends of a very long range, the first of a reversed one."""
    if last < first + _LARGEST_RANGE:
        return range(first, max(first, last) + 1)
    return (first, last)


def extractive(evidence: Sequence[EvidenceLine], question: str, *, tier: Tier = "match") -> Answer:
    """Return the most relevant evidence, quoted with its marks; no model is asked.

    At most `QUOTED_LINES` lines by rank, each at most `QUOTE_CHARS` characters around the
    longest word of the question that it holds. Abstains without evidence and on tier ``none``.
    """
    if not evidence or tier == "none":
        return Abstained(reason="no_evidence", model=EXTRACTIVE)
    best = sorted(enumerate(evidence, start=1), key=lambda pair: pair[1].rank)[:QUOTED_LINES]
    return Answered(
        text="\n".join(f"{_passage(line.text, question)} [{n}]" for n, line in best),
        citations=tuple(dict.fromkeys(line.id for _, line in best)),
        citations_valid=True,
        model=EXTRACTIVE,
    )


def _passage(text: str, question: str) -> str:
    """Return the text on one line, cut to `QUOTE_CHARS` around the longest word asked for."""
    line = " ".join(text.split())
    if len(line) <= QUOTE_CHARS:
        return line
    words = sorted(re.findall(r"\w+", question.casefold()), key=len, reverse=True)
    places = (line.casefold().find(word) for word in words)
    hit = next((place for place in places if place >= 0), 0)
    start = max(0, min(hit - QUOTE_CHARS // 2, len(line) - QUOTE_CHARS))
    cut = line[start : start + QUOTE_CHARS]
    return ("… " if start else "") + cut + (" …" if start + QUOTE_CHARS < len(line) else "")
