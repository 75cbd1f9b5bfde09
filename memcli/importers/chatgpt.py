"""ChatGPT data export: ``conversations.json``, or shards ``conversations-000.json`` and so on.

An array of conversations (older: an object with ``conversations``; or one conversation).
Each has ``conversation_id`` or ``id``, ``title`` (may be null), ``current_node`` and
``mapping``: ``{id: {id, message | null, parent, children}}``, a tree because edits and
regenerations leave branches. Older ones have a flat ``messages`` list instead.
A message has ``author.role``, ``create_time`` (epoch seconds or null), ``recipient``
(``all`` or a tool), ``metadata`` and ``content``, whose ``content_type`` says where the words
are: ``parts`` (texts and objects), ``text``, ``thoughts``, or fields of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from memcli.importers.blocks import call_text
from memcli.importers.contract import (
    Draft,
    Event,
    Format,
    Ignored,
    Input,
    ReadOptions,
    Rejected,
    Warned,
)
from memcli.importers.jsonvalues import Item, as_json, brief, rejected_value, sheltered
from memcli.importers.moments import stated
from memcli.importers.repeats import once
from memcli.importers.shape import Shape, records, shape_of
from memcli.importers.table import Table
from memcli.importers.trees import Node, reading_order
from memcli.records.evidence import Branch, Role

COMPANIONS = frozenset(
    {
        "user.json",
        "user_settings.json",
        "export_manifest.json",
        "message_feedback.json",
        "model_comparisons.json",
        "shared_conversations.json",
        "group_chats.json",
        "shopping.json",
        "chat.html",
    }
)
_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "developer",
    "tool": "tool",
}
_CONTEXT_TYPES = frozenset({"user_editable_context", "model_editable_context"})
_REASONING_TYPES = frozenset({"thoughts", "reasoning_recap"})
_NOT_WORDS = frozenset(
    {"content_type", "language", "response_format_name", "source_analysis_msg_id"}
)


def recognise(source: Input) -> str | None:
    """Return the evidence that conversations have ``mapping`` (or title and messages)."""
    shape = shape_of(source)
    if shape.kind == "json" or not shape.items:
        return _cut_evidence(shape)
    found = [each for item in shape.objects for each in _conversations(item)]
    if any(isinstance(each.get("mapping"), dict) for each in found):
        return "items have 'mapping'"
    if shape.kind != "lines" and any(_is_flat(each) for each in found):
        return "items have 'title' and 'messages'"
    return None


def _cut_evidence(shape: Shape) -> str | None:
    """Return the evidence in a file whose first conversation is not whole."""
    if {"mapping", "title", "parent", "children"} <= shape.keys:
        return "has 'mapping', 'parent' and 'children'"
    return None


def _conversations(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the first conversations of an object that holds a list, else the object."""
    held = item.get("conversations")
    return (
        [each for each in held[:5] if isinstance(each, dict)] if isinstance(held, list) else [item]
    )


def _is_flat(item: dict[str, Any]) -> bool:
    named = "title" in item and ({"create_time", "conversation_id", "current_node"} & item.keys())
    return bool(named) and isinstance(item.get("messages"), list)


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns of each conversation: visible talk in order, branches at their fork."""
    seen = Table()
    for group, item in enumerate(records(source, "conversations")):
        if isinstance(item, Rejected):
            yield item
        elif not isinstance(item.value, dict):
            yield rejected_value(item.where, "not a conversation: no object", item.value)
        else:
            yield from once(_conversation(item, group), seen)


@dataclass(frozen=True, slots=True)
class _Chat:
    """The conversation that messages belong to."""

    where: str
    id: str | None
    group: int
    title: str | None


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _conversation(item: Item, group: int) -> Iterator[Event]:
    value = item.value
    name = _text_or_none(value.get("conversation_id")) or _text_or_none(value.get("id"))
    chat = _Chat(item.where, name, group, _text_or_none(value.get("title")))
    mapping, messages = value.get("mapping"), value.get("messages")
    if mapping == {} or (mapping is None and messages == []):
        yield Ignored(kind="empty conversation")
        return
    if isinstance(mapping, dict):
        yield from _tree(chat, mapping, _text_or_none(value.get("current_node")))
    elif isinstance(messages, list):
        for number, message in enumerate(messages, start=1):
            events = _message(chat, message, str(number), None, "active")
            yield from sheltered(f"{chat.where}/{number}", events)
    else:
        yield rejected_value(item.where, "conversation without 'mapping' or 'messages'", value)


def _tree(chat: _Chat, mapping: Mapping[str, Any], current: str | None) -> Iterator[Event]:
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    for key in mapping.keys() - nodes.keys():
        yield rejected_value(f"{chat.where}/{key}", "node is no object", mapping[key])
    links = {key: _links(node) for key, node in nodes.items()}
    for key, is_active in reading_order(links, current):
        message = nodes[key].get("message")
        if message is None:
            yield Ignored(kind="node without message")
        else:
            events = _message(chat, message, key, key, "active" if is_active else "abandoned")
            yield from sheltered(f"{chat.where}/{key}", events)


def _links(node: dict[str, Any]) -> Node:
    parent, children, message = node.get("parent"), node.get("children"), node.get("message")
    time = message.get("create_time") if isinstance(message, dict) else None
    moment = stated(time, UTC)
    listed = children if isinstance(children, list) else []
    return Node(
        parent=parent if isinstance(parent, str) else None,
        children=[each for each in listed if isinstance(each, str)],
        time=moment.at.timestamp() if moment else None,
    )


def _message(
    chat: _Chat, message: Any, place: str, key: str | None, branch: Branch
) -> Iterator[Event]:
    where = f"{chat.where}/{place}"
    if not isinstance(message, dict):
        yield rejected_value(where, "message is no object", message)
        return
    named, said = _role_named(message), _said(message)
    role = _ROLES.get(named) if isinstance(named, str) else None
    if role is None or said is None:
        why = "record without text" if role else f"no known role: {brief(named)}"
        yield rejected_value(where, why, message)
        return
    role = _actual_role(role, message)
    if role == "reasoning" and not said.text:
        yield Ignored(kind="reasoning without text")
        return
    time = stated(message.get("create_time"), UTC)
    if time is None and message.get("create_time") is not None:
        told = brief(message["create_time"])
        yield Warned(where=where, reason=f"create_time is not understood: {told}")
    yield Draft(
        role=role,
        text=said.text,
        conversation=chat.id,
        group=chat.group,
        session=chat.id,
        native_id=_text_or_none(message.get("id")) or key,
        speaker=_speaker(message),
        time=time,
        branch=branch,
        caption=said.caption,
        title=chat.title,
    )


def _speaker(message: dict[str, Any]) -> str | None:
    author = message.get("author")
    return _text_or_none(author.get("name")) if isinstance(author, dict) else None


def _actual_role(role: Role, message: dict[str, Any]) -> Role:
    """Return who really speaks: calls, thoughts and hidden texts are not talk."""
    metadata, content = message.get("metadata"), message.get("content")
    metadata = metadata if isinstance(metadata, dict) else {}
    kind = str(content.get("content_type")) if isinstance(content, dict) else None
    is_hidden = metadata.get("is_visually_hidden_from_conversation") is True
    if kind in _CONTEXT_TYPES or metadata.get("is_user_system_message") is True:
        return "injected"
    if kind in _REASONING_TYPES:
        return "reasoning"
    if role == "assistant" and _recipient(message):
        return "tool"
    if is_hidden and role in ("user", "assistant"):
        return "injected" if role == "user" else "reasoning"
    return role


def _recipient(message: dict[str, Any]) -> str | None:
    """Return the tool an assistant's message is addressed to, None when it is the user."""
    recipient = message.get("recipient")
    return recipient if isinstance(recipient, str) and recipient not in ("", "all") else None


@dataclass(frozen=True, slots=True)
class _Said:
    """Words of a message and notes of what is attached."""

    text: str
    caption: str | None = None


def _said(message: dict[str, Any]) -> _Said | None:
    """Return what a message says; None when it holds nothing to read."""
    content = message.get("content")
    if isinstance(content, str):
        content = {"parts": [content]}
    if not isinstance(content, dict):
        return None
    names = _attachments(message)
    parts = content.get("parts")
    if isinstance(parts, list):
        notes = [note for part in parts if (note := _part_note(part, names))]
        text: str | None = _joined(*map(_part_text, parts))
    else:
        notes, thoughts = [], _thoughts(content)
        text = _fields(content) if thoughts is None else thoughts
    if text is None:
        return None
    tool = _recipient(message) if _role_named(message) == "assistant" else None
    caption = "; ".join([*notes, *names.values()]) or None
    return _Said(call_text(tool, text) if tool else text, caption)


def _role_named(message: dict[str, Any]) -> Any:
    author = message.get("author")
    return author.get("role") if isinstance(author, dict) else message.get("role")


def _attachments(message: dict[str, Any]) -> dict[str, str]:
    """Return the names of attached files by id; those a part points to are taken out."""
    metadata = message.get("metadata")
    listed = metadata.get("attachments") if isinstance(metadata, dict) else None
    return {
        str(each.get("id", number)): each["name"]
        for number, each in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(each, dict) and isinstance(each.get("name"), str)
    }


def _part_text(part: Any) -> str:
    """Return the words of a part: a text, a transcription, or the ``text`` of an object."""
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) else ""


def _part_note(part: Any, names: dict[str, str]) -> str | None:
    """Return the name of what a part points to, else its address, else its type."""
    if isinstance(part, str) or _part_text(part):
        return None
    if not isinstance(part, dict):
        return f"unreadable part: {as_json(part)}"
    pointer = part.get("asset_pointer")
    if isinstance(pointer, str):
        named = names.pop(pointer.rpartition("//")[2], pointer)
        return f"{named}: {prompt}" if (prompt := _painted_from(part)) else named
    kind = part.get("content_type")
    return kind if isinstance(kind, str) else "attachment"


def _painted_from(part: dict[str, Any]) -> str:
    """Return the prompt a picture was generated from, or nothing."""
    metadata = part.get("metadata")
    maker = metadata.get("dalle") if isinstance(metadata, dict) else None
    prompt = maker.get("prompt") if isinstance(maker, dict) else None
    return prompt if isinstance(prompt, str) else ""


def _thoughts(content: dict[str, Any]) -> str | None:
    """Return thoughts, each a summary and its content, or None where there is no list."""
    listed = content.get("thoughts")
    if not isinstance(listed, list):
        return None
    thoughts = (each for each in listed if isinstance(each, dict))
    told = (_joined(each.get("summary"), each.get("content")) for each in thoughts)
    return "\n\n".join(each for each in told if each)


def _fields(content: dict[str, Any]) -> str | None:
    """Return all texts of a content without parts, in order: ``text``, a quote, a profile."""
    texts = [v for k, v in content.items() if isinstance(v, str) and k not in _NOT_WORDS]
    return _joined(*texts) if texts else None


def _joined(*texts: Any) -> str:
    return "\n".join(text for text in texts if isinstance(text, str) and text)


FORMAT = Format(
    name="chatgpt",
    label="ChatGPT export",
    recognise=recognise,
    read=read,
    companions=COMPANIONS,
)
