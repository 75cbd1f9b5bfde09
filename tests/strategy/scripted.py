"""A model that answers by script and keeps what it was asked; for the tests of training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memcli.llm.transport import Schema
from memcli.strategy.asking import Prompt

Answer = Mapping[str, Any] | Exception | Callable[[str], Mapping[str, Any]]


@dataclass(frozen=True)
class Asked:
    """One call as it came in: who asked, and the whole prompt as one text."""

    role: str
    text: str


class Scripted:
    """Answers each role by its list, one entry a call; the last one repeats.

    An entry is a reply, an exception to raise, or a function of the prompt.
    """

    def __init__(self, **script: Answer | Sequence[Answer]) -> None:
        self.asked: list[Asked] = []
        self._script = {**DEFAULTS, **script}

    def ask(self, prompt: Prompt, schema: Schema, *, max_tokens: int) -> Mapping[str, Any]:
        assert max_tokens > 0
        text = "\n".join(message["content"] for message in prompt.messages)
        number = sum(each.role == schema.name for each in self.asked)
        self.asked.append(Asked(schema.name, text))
        script = self._script[schema.name]
        if isinstance(script, list | tuple):
            script = script[min(number, len(script) - 1)]
        if isinstance(script, Exception):
            raise script
        return script(text) if callable(script) else script

    @property
    def roles(self) -> list[str]:
        """Who asked, in order."""
        return [each.role for each in self.asked]

    def prompts(self, role: str) -> list[str]:
        """What one role asked, in order."""
        return [each.text for each in self.asked if each.role == role]


def retrieved(*ids: str) -> dict[str, Any]:
    return {"sections": [], "entry_ids": list(ids)}


def predicted(answer: str, *influence: str) -> dict[str, Any]:
    return {"reasoning": "", "influence_trace": list(influence), "final_answer": answer}


def reflected(*labels: Mapping[str, Any], insight: str = "Look closer.") -> dict[str, Any]:
    return {
        "reasoning": "",
        "error_identification": "",
        "root_cause_analysis": "",
        "correct_approach": "",
        "key_insight": insight,
        "bullet_tags": [],
        "edge_labels": list(labels),
    }


def labelled(source: str, target: str, label: str = "helpful", confidence: object = 0.5) -> dict:
    return {"source": source, "target": target, "label": label, "confidence": confidence}


def curated(*operations: Mapping[str, Any]) -> dict[str, Any]:
    return {"reasoning": "", "operations": list(operations)}


def added(content: str, *, key: str = "a key", **more: Any) -> dict[str, Any]:
    return {"type": "ADD", "section": "others", "key": key, "content": content, **more}


DEFAULTS: Mapping[str, Answer] = {
    "retrieve": retrieved(),
    "generate": predicted("?"),
    "reflect": reflected(),
    "curate": curated(),
}
