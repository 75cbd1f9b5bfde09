"""Codex CLI rollouts: one JSON record a line, of one session.

A line is ``{timestamp, type, payload}``. ``session_meta`` names the session; ``response_item``
holds what went to and came from the model: message, reasoning, function_call and its output
(also custom, shell and search calls); ``event_msg`` what the terminal showed: user_message,
agent_message, agent_reasoning; ``compacted`` a summary that took the place of earlier talk.
Older rollouts tell the same words as response_item and as event_msg, newer ones only as
response_item: each is kept once, in whichever place it comes first, and what was really said
twice stays two. Still older generations have bare items a line, after a session record with
``instructions``, or one object with ``session`` and ``items``.

A program's words in the user's place (``<environment_context>``, AGENTS.md) are ``injected``.
A subagent's rollout is a side chain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from memcli.importers.blocks import Passage, call_text, passages, result_passage
from memcli.importers.contract import (
    Draft,
    Event,
    Format,
    Ignored,
    Input,
    ReadOptions,
    Rejected,
    Repeated,
    Warned,
)
from memcli.importers.jsonvalues import Item, as_json, brief, rejected_value, sheltered
from memcli.importers.moments import stated
from memcli.importers.shape import Shape, records, shape_of
from memcli.records.codec import loads
from memcli.records.evidence import Branch, Role

_LINE: Final = frozenset({"timestamp", "type", "payload"})
_ITEMS: Final = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
    }
)
_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "developer": "developer",
    "system": "system",
    "tool": "tool",
}
_SHOWN: dict[str, tuple[Role, str]] = {
    "user_message": ("user", "message"),
    "agent_message": ("assistant", "message"),
    "agent_reasoning": ("reasoning", "text"),
}
_WRAPPED = re.compile(r"<([A-Za-z][\w -]*)(?:\s[^>]*)?>.*</\1>", re.DOTALL)
_WRAPPERS: Final = (
    "environment_context",
    "user_instructions",
    "permissions instructions",
    "collaboration_mode",
    "turn_aborted",
    "skill",
    "INSTRUCTIONS",
    "subagent_notification",
    "user_shell_command",
)
_HEADS: Final = ("# AGENTS.md instructions", "# Context from my IDE setup")


def recognise(source: Input) -> str | None:
    """Return the evidence that an input is a rollout, or None."""
    shape = shape_of(source)
    objects = shape.objects
    if shape.kind not in ("lines", "object") or not objects:
        return None
    if any(item.keys() >= _LINE and isinstance(item["payload"], dict) for item in objects):
        return "lines have 'timestamp', 'type', 'payload'"
    if _is_older(shape):
        return "begins with a session record that has 'instructions'"
    first = objects[0]
    session, items = first.get("session"), first.get("items")
    if isinstance(session, dict) and isinstance(items, list):
        return "the object has 'session' and 'items'"
    return None


def _is_older(shape: Shape) -> bool:
    first = shape.objects[0]
    return "instructions" in first and "id" in first and "role" not in first


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns of a session, in the order of the file."""
    rollout = _Rollout(options)
    whole = shape_of(source).objects[:1]
    if whole and isinstance(whole[0].get("session"), dict):
        rollout.begin(whole[0]["session"])
    for item in records(source, "items"):
        if isinstance(item, Rejected):
            yield item
        elif not isinstance(item.value, dict):
            yield rejected_value(item.where, "record is no object", item.value)
        else:
            yield from sheltered(item.where, rollout.record(item))


class _Rollout:
    """The session of a file, and what was told in one kind of record and not yet in the other."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._session: str | None = None
        self._branch: Branch = "active"
        self._untold: dict[str, Counter[int]] = {"item": Counter(), "shown": Counter()}

    def begin(self, meta: dict[str, Any]) -> None:
        """Take the session's id; only the first record of a file names it.

        A fork or a resumed session may carry the records of the one before, its session
        record too: the file is still one session.
        """
        if self._session is None:
            self._session = _text(meta, "id") or _text(meta, "session_id")
            source = meta.get("source")
            is_sub = isinstance(source, dict) and "subagent" in source
            self._branch = "sidechain" if is_sub else "active"

    def record(self, item: Item) -> Iterator[Event]:
        """Yield the turns of one line."""
        value = item.value
        payload = value.get("payload")
        kind = value.get("type")
        if not isinstance(payload, dict):
            yield from self._bare(item)
            return
        match kind:
            case "session_meta":
                self.begin(payload)
                yield Ignored(kind="session_meta")
            case "response_item":
                yield from self._item(item, payload)
            case "event_msg":
                yield from self._shown(item, payload)
            case "compacted":
                yield from self._summary(item, payload)
            case _:
                yield Ignored(kind=str(kind))

    def _bare(self, item: Item) -> Iterator[Event]:
        """Yield the turns of a line of the older generation."""
        value = item.value
        if value.get("type") in _ITEMS or ("role" in value and "content" in value):
            yield from self._item(item, value)
        elif "record_type" in value:
            yield Ignored(kind=str(value["record_type"]))
        elif "id" in value and ("instructions" in value or "git" in value):
            self.begin(value)
            yield Ignored(kind="session_meta")
        else:
            yield rejected_value(item.where, "record without a payload", value)

    def _item(self, item: Item, payload: dict[str, Any]) -> Iterator[Event]:
        """Yield the turns of what went to or came from the model."""
        kind = payload.get("type", "message")
        match kind:
            case "message":
                yield from self._message(item, payload)
            case "reasoning":
                yield from self._reasoning(item, payload)
            case "function_call" | "custom_tool_call":
                arguments = payload.get("arguments", payload.get("input"))
                yield from self._call(item, payload, call_text(payload.get("name"), arguments))
            case "local_shell_call" | "web_search_call":
                name = str(kind).removesuffix("_call")
                yield from self._call(item, payload, call_text(name, payload.get("action")))
            case "function_call_output" | "custom_tool_call_output":
                yield from self._result(item, payload)
            case _:
                yield Ignored(kind=str(kind))

    def _message(self, item: Item, payload: dict[str, Any]) -> Iterator[Event]:
        named, content = payload.get("role"), payload.get("content")
        role = _ROLES.get(named) if isinstance(named, str) else None
        if role is None or not isinstance(content, str | list):
            why = "record without text" if role else f"no known role: {brief(named)}"
            yield rejected_value(item.where, why, item.value)
            return
        for spoken, passage in _spoken(role, content):
            yield from self._once("item", item, spoken, passage)

    def _reasoning(self, item: Item, payload: dict[str, Any]) -> Iterator[Event]:
        told = [_texts(payload.get(key)) for key in ("content", "summary")]
        text = next((each for each in told if each), "")
        if text:
            yield from self._once("item", item, "reasoning", Passage("reasoning", [text]))
        else:
            yield Ignored(kind="reasoning without text")

    def _shown(self, item: Item, payload: dict[str, Any]) -> Iterator[Event]:
        """Yield the turn of what the terminal showed, unless it was told before."""
        kind = payload.get("type")
        if kind not in _SHOWN:
            yield Ignored(kind=f"event {kind}")
            return
        role, key = _SHOWN[kind]
        text = payload.get(key)
        if not isinstance(text, str):
            yield rejected_value(item.where, "record without text", item.value)
            return
        if payload.get("kind") not in (None, "plain") and role == "user":
            role = "injected"
        yield from self._once("shown", item, _actual(role, text), Passage("text", [text]))

    def _summary(self, item: Item, payload: dict[str, Any]) -> Iterator[Event]:
        text = payload.get("message")
        if isinstance(text, str) and text:
            yield from self._draft(item, "injected", Passage("text", [text]))
        else:
            yield Ignored(kind="compacted")

    def _call(self, item: Item, payload: dict[str, Any], text: str) -> Iterator[Event]:
        yield from self._draft(item, "tool", Passage("call", [text]), _text(payload, "call_id"))

    def _result(self, item: Item, payload: dict[str, Any]) -> Iterator[Event]:
        found = result_passage(_unwrapped(payload.get("output")))
        yield from self._draft(item, "tool", found, _text(payload, "call_id"))

    def _once(self, kind: str, item: Item, role: Role, told: Passage) -> Iterator[Event]:
        """Yield a turn, or that the other kind of record has told it already."""
        key = hash((role, told.text.replace("*", "").strip()))
        other = self._untold["shown" if kind == "item" else "item"]
        if other[key] > 0:
            other[key] -= 1
            yield Repeated(where=item.where)
            return
        self._untold[kind][key] += 1
        yield from self._draft(item, role, told)

    def _draft(
        self, item: Item, role: Role, told: Passage, native_id: str | None = None
    ) -> Iterator[Event]:
        given = item.value.get("timestamp")
        time = stated(given, self._options.tz)
        if time is None and given is not None:
            reason = f"timestamp is not understood: {brief(given)}"
            yield Warned(where=item.where, reason=reason)
        yield Draft(
            role=role,
            text=told.text,
            conversation=self._session,
            session=self._session,
            native_id=native_id,
            part=f"{told.kind}/0" if told.kind in ("call", "result") else "text",
            time=time,
            branch=self._branch,
            caption=told.caption,
            line=item.line,
        )


def _spoken(role: Role, content: str | list[Any]) -> list[tuple[Role, Passage]]:
    """Return who speaks in the passages of a message, in order.

    A prompt may share its message with what a program put in front: then part by part.
    """
    if role == "user" and isinstance(content, list):
        parts = [each for part in content for each in passages([part])]
        found = [(_actual(role, each.text), each) for each in parts]
        if len({speaker for speaker, each in found if each.text}) > 1:
            return found
    return [(_actual(role, each.text), each) for each in passages(content)]


def _actual(role: Role, text: str) -> Role:
    """Return who really speaks: a program's words in the user's place are injected."""
    if role != "user":
        return role
    bare = text.strip()
    wrapped = _WRAPPED.fullmatch(bare)
    is_wrapper = wrapped is not None and wrapped[1] in _WRAPPERS
    return "injected" if is_wrapper or bare.startswith(_HEADS) else "user"


def _texts(value: Any) -> str:
    """Return the texts of a list of ``{type, text}``, a line each, or a text itself."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    parts = (each.get("text") if isinstance(each, dict) else each for each in value)
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def _unwrapped(output: Any) -> Any:
    """Return a call's output without the JSON that only carries it beside its metadata."""
    if not isinstance(output, str) or not output.startswith("{"):
        return as_json(output) if isinstance(output, dict) else output
    try:
        inner = loads(output)
    except (ValueError, RecursionError):
        return output
    carried = isinstance(inner, dict) and inner.keys() <= {"output", "metadata"}
    said = inner.get("output") if carried else None
    return said if isinstance(said, str) else output


def _text(value: dict[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None


FORMAT = Format(
    name="codex",
    label="Codex rollout",
    recognise=recognise,
    read=read,
    companions=frozenset({"history.jsonl", "session_index.jsonl"}),
)
