"""Claude.ai export: an array of conversations, each a list of messages with content blocks.

A conversation has ``uuid``, ``name`` and ``chat_messages``; a message ``uuid``, ``sender``
(human or assistant), ``created_at``, ``text`` and ``content``, a list of blocks: text,
thinking, tool_use, tool_result. ``text`` repeats the text blocks joined and is empty where a
turn only used tools, so ``content`` is read and ``text`` stands in where it is empty. Newer
exports name each message's ``parent_message_uuid``: edits and retries are siblings. An
attachment carries its text in ``extracted_content``; of a file only the name is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from memcli.importers.blocks import Passage, passages
from memcli.importers.contract import (
    Draft,
    Event,
    Format,
    Ignored,
    Input,
    ReadOptions,
    Warned,
)
from memcli.importers.fields import objects_of, text_of
from memcli.importers.jsonvalues import Item, brief, rejected_value, sheltered
from memcli.importers.moments import stated
from memcli.importers.repeats import once
from memcli.importers.shape import from_objects, shape_of
from memcli.importers.table import Table
from memcli.importers.trees import Node, reading_order
from memcli.records.evidence import Branch, Role

_ROLES: dict[str, Role] = {
    "human": "user",
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
}
_KINDS: dict[str, Role] = {"reasoning": "reasoning", "call": "tool", "result": "tool"}


def recognise(source: Input) -> str | None:
    """Return the evidence that conversations have ``chat_messages``, or None."""
    shape = shape_of(source)
    if any("chat_messages" in item for item in shape.objects):
        return "items have 'chat_messages'"
    if any(_is_older(item) for item in shape.objects):
        return "items have 'uuid', 'name' and 'messages'"
    if not shape.items and {"chat_messages", "uuid"} <= shape.keys:
        return "has 'chat_messages', but no conversation of it parses"
    return None


def _is_older(item: dict[str, Any]) -> bool:
    named = "uuid" in item and "name" in item and "created_at" in item
    return named and isinstance(item.get("messages"), list)


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns of each conversation: visible talk in order, branches at their fork."""
    seen = Table()
    found = from_objects(
        source, "a conversation", lambda item, group: _conversation(item, group, options)
    )
    return once(found, seen)


@dataclass(frozen=True, slots=True)
class _Chat:
    """The conversation that messages belong to."""

    where: str
    id: str | None
    group: int
    title: str | None
    options: ReadOptions


def _conversation(item: Item, group: int, options: ReadOptions) -> Iterator[Event]:
    value = item.value
    messages = value.get("chat_messages", value.get("messages"))
    if not isinstance(messages, list):
        yield rejected_value(item.where, "conversation without a list of messages", value)
        return
    if not messages:
        yield Ignored(kind="empty conversation")
        return
    chat = _Chat(item.where, text_of(value, "uuid"), group, text_of(value, "name"), options)
    keys = [_key(message, number) for number, message in enumerate(messages)]
    by_key = dict(zip(keys, messages, strict=True))
    for number, (key, message) in enumerate(zip(keys, messages, strict=True), start=1):
        if by_key[key] is not message:  # the id comes again: both are told, in file order
            yield from _sheltered(chat, message, str(number), "active")
    links = {key: _links(message) for key, message in by_key.items()}
    for key, is_active in reading_order(links, text_of(value, "current_leaf_message_uuid")):
        yield from _sheltered(chat, by_key[key], key, "active" if is_active else "abandoned")


def _sheltered(chat: _Chat, message: Any, place: str, branch: Branch) -> list[Event]:
    where = f"{chat.where}/{place}"
    return sheltered(where, _message(chat, message, where, branch))


def _key(message: Any, number: int) -> str:
    """Return a message's id, or its place where it has none."""
    named = text_of(message, "uuid") if isinstance(message, dict) else None
    return named or str(number + 1)


def _links(message: Any) -> Node:
    if not isinstance(message, dict):
        return Node(None, (), None)
    moment = stated(message.get("created_at"), UTC)
    return Node(
        parent=text_of(message, "parent_message_uuid"),
        children=(),
        time=moment.at.timestamp() if moment else None,
    )


def _message(chat: _Chat, message: Any, where: str, branch: Branch) -> Iterator[Event]:
    if not isinstance(message, dict):
        yield rejected_value(where, "message is no object", message)
        return
    named = message.get("sender", message.get("role"))
    role = _ROLES.get(named.casefold()) if isinstance(named, str) else None
    said = _said(message)
    if role is None or said is None:
        why = "record without text" if role else f"no known sender: {brief(named)}"
        yield rejected_value(where, why, message)
        return
    time = stated(message.get("created_at"), chat.options.tz)
    if time is None and message.get("created_at") is not None:
        told = brief(message["created_at"])
        yield Warned(where=where, reason=f"created_at is not understood: {told}")
    counts: dict[str, int] = {}
    for passage in said:
        actual = _KINDS.get(passage.kind, role)
        if passage.kind == "attachment":
            actual = "injected"
        if actual == "reasoning" and not passage.text:
            yield Ignored(kind="thinking without text")
            continue
        number = counts[passage.kind] = counts.get(passage.kind, -1) + 1
        is_first = passage.kind == "text" and number == 0
        yield Draft(
            role=actual,
            text=passage.text,
            conversation=chat.id,
            group=chat.group,
            session=chat.id,
            native_id=text_of(message, "uuid"),
            part="text" if is_first else f"{passage.kind}/{number}",
            time=time,
            branch=branch,
            caption=passage.caption,
            title=chat.title,
        )


@dataclass(frozen=True, slots=True)
class _Told:
    """One turn's worth of a message: as `Passage`, or the text of an attachment."""

    kind: str
    text: str
    caption: str | None


def _said(message: dict[str, Any]) -> list[_Told] | None:
    """Return what a message says, does and brings along; None when it holds nothing."""
    content, text = message.get("content"), message.get("text")
    files, attached = _files(message), _attachments(message)
    found: list[Passage] = []
    if isinstance(content, str | list) and content:
        found = passages(content)
    has_words = any(passage.kind == "text" and passage.text for passage in found)
    if not has_words and isinstance(text, str) and (text or not (found or attached)):
        found = [*found, Passage("text", [text])]
    if not found and not attached and not files:
        return None
    told = [_Told(passage.kind, _joined(passage), passage.caption) for passage in found]
    return _with_files(told, files) + attached


def _joined(passage: Passage) -> str:
    """Return a passage's words; neighbouring text blocks are parts of one text here."""
    return "".join(passage.texts) if passage.kind == "text" else passage.text


def _with_files(told: list[_Told], files: list[str]) -> list[_Told]:
    """Return what was said with the names of files beside the first words."""
    if not files:
        return told
    note = "; ".join(files)
    at = next((n for n, each in enumerate(told) if each.kind == "text"), None)
    if at is None:
        return [*told, _Told("text", "", note)]
    words = told[at]
    caption = f"{words.caption}; {note}" if words.caption else note
    return [*told[:at], _Told("text", words.text, caption), *told[at + 1 :]]


def _files(message: dict[str, Any]) -> list[str]:
    """Return the names of files and of attachments without text, each once, in order."""
    names = [
        each["file_name"]
        for each in (*objects_of(message, "files"), *objects_of(message, "attachments"))
        if isinstance(each.get("file_name"), str) and not text_of(each, "extracted_content")
    ]
    return list(dict.fromkeys(filter(None, names)))


def _attachments(message: dict[str, Any]) -> list[_Told]:
    """Return the texts of attachments, each a turn that nobody spoke."""
    return [
        _Told("attachment", each["extracted_content"], text_of(each, "file_name"))
        for each in objects_of(message, "attachments")
        if text_of(each, "extracted_content")
    ]


FORMAT = Format(
    name="claude_ai",
    label="Claude.ai export",
    recognise=recognise,
    read=read,
    companions=frozenset({"users.json", "projects.json", "projects/*", "memories.json"}),
)
