"""Message content made of parts: words, thoughts, tool calls, results, pictures.

Understands the part types of the OpenAI and Anthropic message formats. Neighbouring words of
one message are one turn, joined by a line break in order; every call, result and thought is a
turn of its own; pictures and files become the caption of the words they stand with.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from memcli.importers.jsonvalues import as_json

Kind = Literal["text", "reasoning", "call", "result"]

_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "summary_text"})


@dataclass(slots=True)
class Passage:
    """One turn's worth of a message.

    Attributes:
        kind: What it is; several ``text`` passages arise where a call stands between words.
        texts: Parts of its text, in order.
        captions: Notes of attached pictures and files, in order.
    """

    kind: Kind
    texts: list[str] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The passage's words, parts joined by line breaks."""
        return "\n".join(self.texts)

    @property
    def caption(self) -> str | None:
        """The notes joined by ``; ``, or None."""
        return "; ".join(self.captions) or None


def passages(content: str | list[Any]) -> list[Passage]:
    """Return the passages of a message's content, in order; never empty.

    Args:
        content: A text, or a list whose items are texts or objects with a ``type``.
    """
    found = list[Passage]()
    for part in [content] if isinstance(content, str) else content:
        passage = _passage(part)
        if found and found[-1].kind == passage.kind == "text":
            found[-1].texts += passage.texts
            found[-1].captions += passage.captions
        else:
            found.append(passage)
    return found or [Passage("text")]


def _passage(part: Any) -> Passage:
    """Return one part as a passage; a part of an unknown type keeps its text or its name."""
    if isinstance(part, str):
        return Passage("text", [part])
    if not isinstance(part, dict):
        return Passage("text", captions=[f"unreadable part: {as_json(part)}"])
    kind = part["type"] if isinstance(part.get("type"), str) else None
    match kind:
        case "thinking" | "reasoning" | "redacted_thinking":
            return Passage("reasoning", _strings(part, "thinking", "text", "content"))
        case "tool_use" | "server_tool_use" | "function_call":
            arguments = part.get("arguments", part.get("input"))
            return Passage("call", [call_text(part.get("name"), arguments)])
        case "tool_result" | "function_call_output" | "web_search_tool_result":
            return result_passage(part.get("content", part.get("output")))
        case "refusal":
            return Passage("text", _strings(part, "refusal"))
    if kind in _TEXT_TYPES or (kind is None and isinstance(part.get("text"), str)):
        return Passage("text", _strings(part, "text"))
    return Passage("text", _strings(part, "text", "transcript"), [attachment_note(part)])


def _strings(part: dict[str, Any], *keys: str) -> list[str]:
    """Return the first text found under the keys, as a list of at most one."""
    return next(([part[key]] for key in keys if isinstance(part.get(key), str)), [])


def result_passage(content: Any) -> Passage:
    """Return a tool's result: text as it is, parts joined, anything else as JSON."""
    if content is None:
        return Passage("result", [""])
    if not isinstance(content, str | list):
        return Passage("result", [as_json(content)])
    inner = passages(content)
    texts = [text for passage in inner for text in passage.texts]
    return Passage("result", texts or [""], [note for each in inner for note in each.captions])


def call_text(name: Any, arguments: Any) -> str:
    """Return ``name(arguments)``: arguments verbatim if they are text, else as JSON."""
    shown = arguments if isinstance(arguments, str) else as_json(arguments)
    return f"{name if isinstance(name, str) else 'tool'}({'' if arguments is None else shown})"


def attachment_note(part: dict[str, Any]) -> str:
    """Return what an attached picture, sound or file is called, or its type.

    Inline data is left out: only a name, an address or a media type is worth remembering.
    """
    kind = part.get("type")
    holders: Iterable[Any] = (part, *(value for value in part.values() if isinstance(value, dict)))
    for key in ("filename", "file_name", "name", "title", "url", "file_id", "media_type", "format"):
        for holder in holders:
            value = holder.get(key)
            if isinstance(value, str) and value:
                return f"{kind}: {_short(value)}" if isinstance(kind, str) else _short(value)
    return kind if isinstance(kind, str) else "attachment"


def _short(address: str) -> str:
    """Return an address without inline data."""
    return address.partition(",")[0] if address.startswith("data:") else address
