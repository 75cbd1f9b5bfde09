"""OpenAI chat messages: an array, an object with ``messages``, or one message a line.

A message has ``role`` and ``content``: a text, a list of parts, or null beside
``tool_calls``, whose ``function.arguments`` is JSON in a text and is shown as it stands. The
format knows no ids, sessions or times; home-made time keys (`TIME_KEYS`) are read. Lines that
each hold a whole ``messages`` list are fine-tuning data, another format.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memcli.importers.blocks import Passage, call_text, passages, result_passage
from memcli.importers.contract import (
    Draft,
    Event,
    Format,
    Input,
    Moment,
    ReadOptions,
    Rejected,
    Warned,
)
from memcli.importers.jsonvalues import Item, as_json, brief, rejected_value, sheltered
from memcli.importers.moments import stated
from memcli.importers.shape import records, shape_of
from memcli.records.evidence import Role

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
TIME_KEYS = ("timestamp", "ts", "time", "created_at", "create_time", "created", "date", "datetime")
_ELSEWHERE_WORDS = """
    mapping chat_messages haystack_sessions sessionId uuid payload projectHash
    parentUuid instructions
    """
_ELSEWHERE = frozenset(_ELSEWHERE_WORDS.split())


def recognise(source: Input) -> str | None:
    """Return the evidence that messages have ``role`` and ``content``, or None."""
    shape = shape_of(source)
    objects = shape.objects
    match shape.kind:
        case "array" | "lines" if _are_messages(objects):
            return f"{'items' if shape.kind == 'array' else 'lines'} have 'role' and 'content'"
        case "object" if _are_messages(objects):
            return "the object has 'role' and 'content'"
        case "object" if isinstance(objects[0].get("messages"), list):
            inner = objects[0]["messages"]
            if _are_messages([each for each in inner[:5] if isinstance(each, dict)]):
                return "'messages' have 'role' and 'content'"
        case "json" if {"messages", "role", "content"} <= shape.keys and not (
            _ELSEWHERE & shape.keys
        ):
            return "has 'messages' with 'role' and 'content', but does not parse as a whole"
    return None


def _are_messages(objects: list[dict[str, Any]]) -> bool:
    """Say whether at least half of the objects are messages and none is of another format."""
    if any(_ELSEWHERE & item.keys() for item in objects):
        return False
    return bool(objects) and 2 * sum(map(_is_message, objects)) >= len(objects)


def _is_message(item: dict[str, Any]) -> bool:
    return isinstance(item.get("role"), str) and ("content" in item or "tool_calls" in item)


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns of each message, in order."""
    yield from _instructions(source)
    for item in records(source, "messages"):
        if isinstance(item, Rejected):
            yield item
        else:
            yield from sheltered(item.where, message_events(item, options))


def _instructions(source: Input) -> Iterator[Event]:
    """Yield the system text that some providers keep beside ``messages``."""
    shape = shape_of(source)
    beside = shape.objects[0] if shape.kind == "object" and "messages" in shape.keys else {}
    system = beside.get("system")
    if isinstance(system, str | list) and system:
        for passage in passages(system):
            yield Draft(role="system", text=passage.text, caption=passage.caption)


def message_events(item: Item, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns of one message, in order, or its rejection."""
    message = item.value
    if not isinstance(message, dict):
        yield rejected_value(item.where, "not a message: no object", message)
        return
    named = message.get("role")
    role = ROLES.get(named.lower()) if isinstance(named, str) else None
    found = _passages(message)
    if role is None or found is None:
        why = "record without text" if role else f"no known role: {brief(named)}"
        yield rejected_value(item.where, why, message)
        return
    time, problem = time_of(message, options)
    if problem:
        yield Warned(where=item.where, reason=problem)
    name = message.get("name")
    speaker = name if isinstance(name, str) and name else None
    yield from (_draft(item, role, passage, speaker, time) for passage in found)


def _draft(
    item: Item, role: Role, passage: Passage, speaker: str | None, time: Moment | None
) -> Draft:
    kinds: dict[str, Role] = {"reasoning": "reasoning", "call": "tool", "result": "tool"}
    return Draft(
        role=kinds.get(passage.kind, role),
        text=passage.text,
        speaker=speaker,
        time=time,
        caption=passage.caption,
        line=item.line,
    )


def time_of(message: dict[str, Any], options: ReadOptions) -> tuple[Moment | None, str]:
    """Return the time of the first time key that has one, and what is odd about it."""
    given = [(key, message[key]) for key in TIME_KEYS if message.get(key) is not None]
    for _, value in given:
        if time := stated(value, options.tz):
            return time, ""
    if given:
        return None, f"{given[0][0]} is not understood as a time: {brief(given[0][1])}"
    return None, ""


def _passages(message: dict[str, Any]) -> list[Passage] | None:
    """Return what a message says and does, in order; None when it holds nothing to read.

    An empty text is a turn; beside tool calls it is not, the calls then stand for it.
    """
    content = message.get("content")
    calls = _calls(message)
    thoughts = message.get("reasoning_content")
    before = [Passage("reasoning", [thoughts])] if isinstance(thoughts, str) and thoughts else []
    if message.get("role") in ("tool", "function") and content is not None:
        return [result_passage(content)]
    if isinstance(content, str | list) and (content or not calls):
        return [*before, *passages(content), *calls]
    if calls and not content:
        return [*before, *calls]
    said = next((said for said in _spoken(message) if isinstance(said, str)), None)
    return [*before, Passage("text", [said])] if content is None and said is not None else None


def _spoken(message: dict[str, Any]) -> Iterator[Any]:
    """Yield what may stand in for content: a refusal, or the words of a spoken reply."""
    yield message.get("refusal")
    audio = message.get("audio")
    yield audio.get("transcript") if isinstance(audio, dict) else None


def _calls(message: dict[str, Any]) -> list[Passage]:
    """Return a passage for each tool call, also the older single ``function_call``."""
    listed = message.get("tool_calls")
    calls = [*listed] if isinstance(listed, list) else []
    if isinstance(message.get("function_call"), dict):
        calls.append({"function": message["function_call"]})
    return [Passage("call", [_call_text(call)]) for call in calls]


def _call_text(call: Any) -> str:
    inner = call.get("function", call.get("custom")) if isinstance(call, dict) else None
    if not isinstance(inner, dict):
        return as_json(call)
    return call_text(inner.get("name"), inner.get("arguments", inner.get("input")))


FORMAT = Format(
    name="openai_chat", label="OpenAI chat messages", recognise=recognise, read=read, rank=20
)
