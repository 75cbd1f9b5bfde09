"""A made-up model that learns only through the memory it is shown, for the tests of training.

A task names a topic; it is solved if, and only if, the lesson on that topic stands in the
prompt outside the question. Its reflector names the missing lesson, its curator adds it. It
runs behind a real server (`LearnerServer`) or in this process (`LearnerTransport`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fake_llm import FakeLLM, Seen, Step, say

from memcli.llm.transport import RawReply, Request
from memcli.records.answers import Usage

TOPICS = ("apples", "barges", "candles", "dredges", "engines")


def example(number: int) -> dict[str, str]:
    """Return a line of a stream; its answer occurs nowhere else."""
    topic = TOPICS[number % len(TOPICS)]
    return {"question": f"Topic {topic}, case {number}: how many?", "answer": f"{9000 + number}"}


def write_stream(path: Path, count: int, *, start: int = 0) -> Path:
    """Write a stream of so many examples."""
    lines = (json.dumps(example(number)) for number in range(start, start + count))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


class Learner:
    """Answers by role; ``asked`` keeps (role, whole prompt) of each request."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def reply(self, role: str, text: str) -> dict[str, Any]:
        """Return what the model says to a prompt."""
        self.asked.append((role, text))
        question = _tag(text, "question")
        topic = re.search(r"Topic (\w+), case (\d+)", question)
        assert topic is not None
        return getattr(self, f"_{role}")(text, topic[1], int(topic[2]))

    def _retrieve(self, text: str, topic: str, _: int) -> dict[str, Any]:
        rows = re.findall(r"^(\S+) \| (.+?) \[", _tag(text, "index"), re.MULTILINE)
        return {"sections": [], "entry_ids": [i for i, key in rows if topic in key.split()][:6]}

    def _generate(self, text: str, topic: str, number: int) -> dict[str, Any]:
        lessons = re.findall(r"^\[(\S+)\] (.+)$", _tag(text, "memory"), re.MULTILINE)
        hint = f"Lesson on {topic}." in _tag(text, "memory") + _tag(text, "reflection")
        return {
            "reasoning": "",
            "influence_trace": [node_id for node_id, _ in lessons],
            "final_answer": f"{9000 + number}" if hint else "0",
        }

    def _reflect(self, text: str, topic: str, _: int) -> dict[str, Any]:
        is_wrong = "is incorrect" in _tag(text, "feedback")
        pairs = re.findall(r"^(\S+) -> (\S+)$", _tag(text, "transitions"), re.MULTILINE)
        label = "harmful" if is_wrong else "helpful"
        return {
            "reasoning": "",
            "error_identification": "",
            "root_cause_analysis": "",
            "correct_approach": "",
            "key_insight": f"NEW Lesson on {topic}." if is_wrong else "",
            "bullet_tags": [],
            "edge_labels": [
                {"source": a, "target": b, "label": label, "confidence": 0.7} for a, b in pairs
            ],
        }

    def _curate(self, text: str, topic: str, number: int) -> dict[str, Any]:
        loaded = re.findall(r"^\[(\S+)\]", _tag(text, "memory"), re.MULTILINE)
        operations = [_add(f"Note on case {number} of {topic}.", f"{topic} note {number}", loaded)]
        if "NEW " in _tag(text, "reflection"):
            operations.insert(0, _add(f"Lesson on {topic}. Count them.", f"{topic} lesson", loaded))
        return {"reasoning": "", "operations": operations}


def _add(content: str, key: str, links: list[str]) -> dict[str, Any]:
    return {
        "type": "ADD",
        "section": "others",
        "content": content,
        "key": key,
        "links": links[:2],
        "id": "",
        "source": "",
        "target": "",
    }


def _tag(text: str, name: str) -> str:
    found = re.findall(rf"<{name}>\n(.*?)\n</{name}>", text, re.DOTALL)
    return found[-1] if found else ""


def _prompt(messages: Any) -> str:
    return "\n".join(message["content"] for message in messages)


class LearnerServer(FakeLLM):
    """The learner behind a real server.

    Args:
        meddle: Given (number of the request from 1, role), returns what to do instead, or None.
    """

    def __init__(
        self,
        meddle: Callable[[int, str], Step | None] = lambda *_: None,
        *,
        usage: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__({})
        self.learner = Learner()
        self._meddle, self._counts = meddle, usage

    def next_step(self, seen: Seen) -> Step:
        """Log a request and return the learner's reply to it, or what is done instead."""
        with self._lock:
            self.seen.append(seen)
            instead = self._meddle(len(self.seen), seen.role)
            if instead is not None:
                return instead
            text = _prompt(seen.body["messages"])
            usage = self._counts or {"prompt_tokens": len(text) // 4, "completion_tokens": 20}
            return say(json.dumps(self.learner.reply(seen.role, text)), usage=usage)


class LearnerTransport:
    """The learner in this process, as a way to a model."""

    place = "here"

    def __init__(self) -> None:
        self.learner = Learner()

    def send(self, request: Request) -> RawReply:
        """Return the learner's reply."""
        role = request.parameters["response_format"]["json_schema"]["name"]
        text = _prompt(request.messages)
        return RawReply(
            text=json.dumps(self.learner.reply(role, text)),
            finish_reason="stop",
            usage=Usage(prompt_tokens=len(text) // 4, completion_tokens=20),
            model="learner",
        )
