"""ShareGPT data: items with ``conversations``, lists of ``{from, value}``.

An array, JSONL or one object. ``from`` is human or gpt, in other collections user, assistant,
system, function_call, observation, tool; some put ``role`` and ``content`` there. Ids such as
``xyz_0``, ``xyz_1`` are slices of one long chat: one conversation, a session each. A system
prompt may stand beside the list as ``system``; where the list repeats it, it counts once.
There are no times and no message ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memcli.importers.blocks import passages
from memcli.importers.contract import Draft, Event, Format, Ignored, Input, ReadOptions, Repeated
from memcli.importers.jsonvalues import Item, as_json, brief, rejected_value, sheltered
from memcli.importers.shape import from_objects, shape_of
from memcli.records.evidence import Role

_ROLES: dict[str, Role] = {
    "human": "user",
    "user": "user",
    "prompter": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "developer",
    "function_call": "tool",
    "tool_call": "tool",
    "observation": "tool",
    "function_response": "tool",
    "tool_response": "tool",
    "tool": "tool",
    "function": "tool",
}
_SLICE = re.compile(r"(?P<chat>.+)_\d+")
_KEYS = ("conversations", "conversation")


def recognise(source: Input) -> str | None:
    """Return the evidence that items have ``conversations`` of ``from`` and ``value``, or None."""
    for item in shape_of(source).objects:
        for turn in (_turns(item) or ())[:5]:
            if isinstance(turn, dict) and {"from", "value"} <= turn.keys():
                return "items have 'conversations' with 'from' and 'value'"
            if isinstance(turn, dict) and {"role", "content"} <= turn.keys():
                return "items have 'conversations' with 'role' and 'content'"
    if {"conversations", "from", "value"} <= shape_of(source).keys:
        return "has 'conversations', 'from' and 'value'"
    return None


def _turns(item: dict[str, Any]) -> list[Any] | None:
    found = next((item[key] for key in _KEYS if isinstance(item.get(key), list)), None)
    return found


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Return the turns of each item, in order."""
    return from_objects(source, "a ShareGPT item", _conversation)


@dataclass(frozen=True, slots=True)
class _Chat:
    """The conversation that turns belong to, and which slice of it they are."""

    conversation: str | None
    session: str | None
    group: int


def _conversation(item: Item, group: int) -> Iterator[Event]:
    turns = _turns(item.value)
    if turns is None:
        yield rejected_value(item.where, "item without a list of conversations", item.value)
        return
    chat = _chat(item.value.get("id"), group)
    system = item.value.get("system")
    prompt = system if isinstance(system, str) and system.strip() else None
    if not turns and prompt is None:
        yield Ignored(kind="empty conversation")
        return
    if prompt is not None:
        yield _draft(chat, "system", prompt, item)
    for number, turn in enumerate(turns, start=1):
        where = f"{item.where}/{number}"
        yield from sheltered(where, _turn(chat, turn, where, item, prompt))


def _chat(name: Any, group: int) -> _Chat:
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not name:
        return _Chat(None, None, group)
    sliced = _SLICE.fullmatch(name)
    return _Chat(sliced["chat"] if sliced else name, name, group)


def _turn(chat: _Chat, turn: Any, where: str, item: Item, prompt: str | None) -> Iterator[Event]:
    if not isinstance(turn, dict):
        yield rejected_value(where, "turn is no object", turn)
        return
    named = turn.get("from", turn.get("role"))
    value = turn.get("value", turn.get("content"))
    role = _ROLES.get(named.casefold()) if isinstance(named, str) else None
    if role is None:
        yield rejected_value(where, f"no known speaker: {brief(named)}", turn)
        return
    if value is None:
        yield rejected_value(where, "record without text", turn)
        return
    if role == "system" and value == prompt:
        yield Repeated(where=where)
        return
    if not isinstance(value, str | list):
        yield _draft(chat, role, as_json(value), item)
        return
    for passage in passages(value):
        yield _draft(chat, role, passage.text, item, passage.caption)


def _draft(chat: _Chat, role: Role, text: str, item: Item, caption: str | None = None) -> Draft:
    return Draft(
        role=role,
        text=text,
        conversation=chat.conversation,
        group=chat.group,
        session=chat.session,
        caption=caption,
        line=item.line,
    )


FORMAT = Format(name="sharegpt", label="ShareGPT data", recognise=recognise, read=read, rank=12)
"""After formats that keep other things under ``conversations``, which have keys of their own."""
