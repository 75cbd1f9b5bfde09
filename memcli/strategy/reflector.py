"""The reflector: compares an attempt with the expected answer and labels its transitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast, get_args

from memcli.records.strategy import Label, LabelName, Pair
from memcli.strategy.asking import TEXT, Asker, flat, list_of, object_schema, prompt_for
from memcli.strategy.generator import Generated

LABELS: Final = get_args(LabelName)
_KIND: Final = {"type": "string", "enum": list(LABELS)}
SCHEMA: Final = object_schema(
    "reflect",
    reasoning=TEXT,
    error_identification=TEXT,
    root_cause_analysis=TEXT,
    correct_approach=TEXT,
    key_insight=TEXT,
    bullet_tags=list_of(flat(id=TEXT, tag=_KIND)),
    edge_labels=list_of(flat(source=TEXT, target=TEXT, label=_KIND, confidence={"type": "number"})),
)
WORDS: Final = (
    "reasoning",
    "error_identification",
    "root_cause_analysis",
    "correct_approach",
    "key_insight",
)
MAX_TOKENS: Final = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What there is to reflect on.

    Attributes:
        question: The task.
        generated: The prediction and how it came about.
        memory: The lessons that were at hand.
        loaded: Their ids.
        expected: The answer y_t, seen only now.
        is_right: The scorer's verdict.
        transitions: T(M_t), the pairs to label.
    """

    question: str
    generated: Generated
    memory: str
    loaded: Collection[str]
    expected: str
    is_right: bool
    transitions: Sequence[Pair]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """A diagnosis.

    Attributes:
        text: The reflector's words, verbatim, for the curator.
        labels: Valid labels of transitions, each pair at most once, in order.
        tags: Its verdict on loaded lessons (id → label).
        discarded: What it said in vain, by reason.
    """

    text: str
    labels: tuple[Label, ...]
    tags: Mapping[str, str]
    discarded: Mapping[str, int] = field(default_factory=dict)


def reflect(ask: Asker, attempt: Attempt) -> Reflection:
    """Return the diagnosis of an attempt.

    Raises:
        LLMError: If no usable reply came.
    """
    blocks = {
        "memory": attempt.memory,
        "question": attempt.question,
        "reasoning": attempt.generated.reasoning,
        "prediction": attempt.generated.answer or "(empty)",
        "feedback": feedback(attempt),
        "transitions": "\n".join(f"{a} -> {b}" for a, b in attempt.transitions),
    }
    reply = ask.ask(prompt_for("reflect", blocks), SCHEMA, max_tokens=MAX_TOKENS)
    labels, dropped = labels_of(reply["edge_labels"], attempt.transitions)
    tags, untagged = tags_of(reply["bullet_tags"], attempt.loaded)
    said = [f"{name}: {reply[name]}" for name in WORDS if str(reply[name]).strip()]
    return Reflection(
        text="\n".join(said), labels=tuple(labels), tags=tags, discarded=dropped + untagged
    )


def feedback(attempt: Attempt) -> str:
    """Return the environment's verdict in words; the expected answer is told here first."""
    verdict = "correct" if attempt.is_right else "incorrect"
    return f"The prediction is {verdict}. Expected: {attempt.expected}"


def labels_of(
    raw: Sequence[object], transitions: Sequence[Pair]
) -> tuple[list[Label], Counter[str]]:
    """Return the valid labels in order and what was dropped (Eq. 20, 21).

    Reasons: ``label_bad_field``, ``label_outside_trace`` (the pair is not in T(M_t)),
    ``label_repeated`` (all after the first), ``label_unknown``, ``confidence_missing``,
    ``confidence_not_a_number`` (text, NaN, true) and ``confidence_out_of_range``.
    """
    dropped: Counter[str] = Counter()
    labels: dict[Pair, Label] = {}
    for item in raw:
        label = _label(item, transitions, labels)
        if isinstance(label, str):
            dropped[label] += 1
        else:
            labels[label.source, label.target] = label
    return list(labels.values()), dropped


def _label(item: object, transitions: Sequence[Pair], seen: Collection[Pair]) -> Label | str:
    """Return a label, or the reason why there is none."""
    if not isinstance(item, Mapping):
        return "label_bad_field"
    pair = (_id(item.get("source")), _id(item.get("target")))
    if pair not in transitions:
        return "label_outside_trace"
    if pair in seen:
        return "label_repeated"
    name = str(item.get("label")).strip().casefold()
    if name not in LABELS:
        return "label_unknown"
    confidence = item.get("confidence")
    if reason := _confidence_fault(confidence):
        return reason
    return Label(
        source=pair[0],
        target=pair[1],
        label=cast(LabelName, name),
        confidence=round(float(cast(float, confidence)), 6),
    )


def _confidence_fault(value: object) -> str:
    if value is None:
        return "confidence_missing"
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return "confidence_not_a_number"  # only NaN differs from itself; integers may be huge
    return "" if 0 <= value <= 1 else "confidence_out_of_range"


def tags_of(raw: Sequence[object], loaded: Collection[str]) -> tuple[dict[str, str], Counter[str]]:
    """Return the verdicts on loaded lessons, and what was dropped; the first of an id counts."""
    tags: dict[str, str] = {}
    dropped: Counter[str] = Counter()
    for item in raw:
        node_id = _id(item.get("id")) if isinstance(item, Mapping) else ""
        tag = str(item.get("tag")).strip().casefold() if isinstance(item, Mapping) else ""
        if node_id in loaded and tag in LABELS:
            tags.setdefault(node_id, tag)
        else:
            dropped["tag_invalid"] += 1
    return tags, dropped


def _id(value: object) -> str:
    return value.strip().strip("[]").strip() if isinstance(value, str) else ""
