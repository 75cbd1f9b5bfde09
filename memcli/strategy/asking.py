"""What the roles share: a prompt, how its data is fenced, and who is asked.

A prompt has a fixed system message and one user message of tagged blocks, the block that
grows slowest first, so that prompt caches serve as much as they can.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from memcli import prompts
from memcli.llm.transport import Message, Schema

TAGS: Final = (
    "index",
    "memory",
    "question",
    "prediction",
    "reasoning",
    "feedback",
    "transitions",
    "reflection",
)

# Width, case, blanks and invisible characters do not make it another tag.
_UNSEEN = r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*"
_GAP = r"[\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*"
_NAMES = "|".join(_UNSEEN.join(tag) for tag in TAGS)
_TAG = re.compile(rf"[<＜﹤](?={_GAP}[/／]?{_GAP}(?:{_NAMES})\b)", re.IGNORECASE)
_STAND_IN: Final = "‹"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What is sent for one call.

    Attributes:
        messages: The chat messages.
        index: The part of them that is the routing index; the ledger counts it apart.
        memory: The part that is loaded lessons, likewise.
    """

    messages: tuple[Message, ...]
    index: str = ""
    memory: str = ""


class Asker(Protocol):
    """Someone who answers prompts: a model behind the ledger, or a test."""

    def ask(self, prompt: Prompt, schema: Schema, *, max_tokens: int) -> Mapping[str, Any]:
        """Return the object that a model replied.

        Args:
            prompt: What to send.
            schema: The object wanted; its name is the role.
            max_tokens: Bound of the reply.

        Raises:
            LLMError: If no usable reply came.
        """


def prompt_for(name: str, blocks: Mapping[str, str], **values: str) -> Prompt:
    """Return a role's prompt: blocks in the order given, empty ones left out.

    No text can open or close a block: a tag of ours inside it loses its bracket to a
    look-alike.
    """
    shown = {tag: neutral(text).strip("\n") for tag, text in blocks.items() if text.strip()}
    body = "\n\n".join(f"<{tag}>\n{text}\n</{tag}>" for tag, text in shown.items())
    return Prompt(
        messages=tuple(prompts.render(name, blocks=body, **values)),
        index=shown.get("index", ""),
        memory=shown.get("memory", ""),
    )


def neutral(text: str) -> str:
    """Return a text that holds none of our tags."""
    return _TAG.sub(_STAND_IN, text)


def object_schema(name: str, **fields: Mapping[str, Any]) -> Schema:
    """Return the schema of a flat object in which every field is required."""
    return Schema(name=name, schema=flat(**fields))


def flat(**fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


TEXT: Final[Mapping[str, Any]] = {"type": "string"}


def list_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a list."""
    return {"type": "array", "items": item}
