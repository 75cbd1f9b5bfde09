"""Gemini CLI sessions: one JSON object, or JSONL that is appended to.

The object has ``sessionId``, ``projectHash``, ``startTime`` and ``messages``. JSONL begins
with such a header without messages; then come messages, ``{"$set": {...}}`` (whose
``messages`` are told again) and ``{"$rewindTo": id}``, which drops that message and all after
it. A header of ``kind`` subagent makes all of it a side chain.

A message has ``id``, ``timestamp``, ``type`` (user, gemini or model, info, error, warning)
and ``content``, a text or parts; gemini's may carry ``thoughts`` and ``toolCalls`` with their
results. A message that is streamed is written again and again under one id: the last one
counts, in the place of the first. What was rewound is kept as an abandoned branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from memcli.importers.blocks import call_text
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
from memcli.importers.jsonvalues import Item, as_json, brief, json_lines, rejected_value, sheltered
from memcli.importers.moments import stated
from memcli.importers.repeats import once
from memcli.importers.shape import members_of, records, shape_of
from memcli.importers.table import Table
from memcli.records.evidence import Branch, Role

_ROLES: dict[str, Role] = {
    "user": "user",
    "gemini": "assistant",
    "model": "assistant",
    "assistant": "assistant",
    "info": "system",
    "error": "system",
    "warning": "system",
    "system": "system",
}
_HEADER: Final = frozenset({"sessionId", "projectHash"})
_INJECTED: Final = ("<session_context>", "<environment_context>", "<hook_context>")


def recognise(source: Input) -> str | None:
    """Return the evidence that an input begins with a session's header, or None."""
    shape = shape_of(source)
    if shape.kind in ("lines", "object") and any(
        item.keys() >= _HEADER for item in shape.objects[:1]
    ):
        return "begins with 'sessionId' and 'projectHash'"
    if shape.kind == "json" and _HEADER | {"messages"} <= shape.keys:
        return "has 'sessionId' and 'projectHash'"
    return None


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns of a session in order; what was rewound where it stood."""
    if shape_of(source).kind == "lines":
        yield from _appended(source, options)
        return
    header = members_of(source, "sessionId", "kind")
    session = _text(header, "sessionId")
    branch: Branch = "sidechain" if _is_sub(header) else "active"
    found = records(source, "messages")
    yield from once(
        (e for item in found for e in _checked(item, session, options, branch)), Table()
    )


def _is_sub(header: dict[str, Any]) -> bool:
    return header.get("kind") == "subagent"


def _checked(
    item: Item | Rejected, session: str | None, options: ReadOptions, branch: Branch
) -> Iterator[Event]:
    if isinstance(item, Rejected):
        yield item
    elif not isinstance(item.value, dict):
        yield rejected_value(item.where, "message is no object", item.value)
    else:
        yield from sheltered(item.where, _message(item, session, options, branch))


def _appended(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns of JSONL: first it is read to know what holds, then told in order."""
    log = _Log()
    for item in json_lines(source):
        if isinstance(item, Rejected):
            yield item
        elif not isinstance(item.value, dict):
            yield rejected_value(item.where, "record is no object", item.value)
        else:
            yield from log.take(item)
    for item, is_live in log.messages():
        yield from _checked(item, log.session, options, log.branch if is_live else "abandoned")


class _Log:
    """The messages of a session as they stand at the end of the file; one session is small."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.branch: Branch = "active"
        self._newest: dict[str, Item] = {}
        self._dropped: set[str] = set()

    def take(self, item: Item) -> Iterator[Event]:
        """Take one record; yield what is no message."""
        value = item.value
        if "$rewindTo" in value:
            yield from self._rewind(item, value["$rewindTo"])
        elif isinstance(value.get("$set"), dict):
            yield from self._set(item, value["$set"])
        elif _HEADER & value.keys() and "type" not in value:
            self.session = self.session or _text(value, "sessionId")
            self.branch = "sidechain" if _is_sub(value) else self.branch
            yield Ignored(kind="header")
            yield from self._set(item, value)
        else:
            yield from self._put(item)

    def messages(self) -> Iterator[tuple[Item, bool]]:
        """Yield the newest form of each message and whether it still holds."""
        for key, item in self._newest.items():
            yield item, key not in self._dropped

    def _set(self, item: Item, values: dict[str, Any]) -> Iterator[Event]:
        messages = values.get("messages")
        if not isinstance(messages, list):
            if "$set" in item.value:
                yield Ignored(kind="$set")
            return
        for number, message in enumerate(messages, start=1):
            where = f"{item.where}/{number}"
            if isinstance(message, dict):
                yield from self._put(Item(where, message, item.line))
            else:
                yield rejected_value(where, "message is no object", message)

    def _put(self, item: Item) -> Iterator[Event]:
        """Keep a message in the place of its first form."""
        key = _text(item.value, "id") or item.where
        if key in self._newest:
            yield Repeated(where=item.where)
        self._newest[key] = item
        self._dropped.discard(key)

    def _rewind(self, item: Item, to: Any) -> Iterator[Event]:
        """Drop a message and all after it."""
        keys = list(self._newest)
        if isinstance(to, str) and to in self._newest:
            self._dropped.update(keys[keys.index(to) :])
            yield Ignored(kind="$rewindTo")
        else:
            yield rejected_value(item.where, "rewinds to a message that is not there", item.value)


def _message(
    item: Item, session: str | None, options: ReadOptions, branch: Branch
) -> Iterator[Event]:
    message = item.value
    named = message.get("type", message.get("role"))
    role = _ROLES.get(named) if isinstance(named, str) else None
    said = _said(message)
    if role is None or said is None:
        why = "record without text" if role else f"no known type: {brief(named)}"
        yield rejected_value(item.where, why, message)
        return
    given = message.get("timestamp")
    time = stated(given, options.tz)
    if time is None and given is not None:
        yield Warned(where=item.where, reason=f"timestamp is not understood: {brief(given)}")
    for kind, text in said:
        yield Draft(
            role=_spoken(role, kind, text),
            text=text,
            conversation=session,
            session=session,
            native_id=_text(message, "id"),
            part=kind,
            time=time,
            branch=branch,
            line=item.line,
        )


def _spoken(role: Role, kind: str, text: str) -> Role:
    """Return who speaks in a part of a message."""
    if kind.startswith("reasoning"):
        return "reasoning"
    if kind.startswith(("call", "result")):
        return "tool"
    if role == "user" and text.strip().startswith(_INJECTED):
        return "injected"
    return role


def _said(message: dict[str, Any]) -> list[tuple[str, str]] | None:
    """Return (part, text) of thoughts, calls, results and words, in order; None for nothing."""
    found = [(f"reasoning/{n}", text) for n, text in enumerate(_thoughts(message))]
    calls = message.get("toolCalls")
    for number, call in enumerate(calls if isinstance(calls, list) else ()):
        if isinstance(call, dict):
            found.append((f"call/{number}", call_text(call.get("name"), call.get("args"))))
            if call.get("result") is not None:
                found.append((f"result/{number}", _result(call["result"])))
    words = _words(message.get("content"))
    if words is None:
        words = _words(message.get("displayContent"))
    if words or (words is not None and not found):
        found.append(("text", words))
    return found or None


def _words(content: Any) -> str | None:
    """Return the words of a content: a text, or parts, whose texts are one text."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return None
    parts = [_part(part) for part in content]
    return "".join(parts)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return as_json(part)
    text = part.get("text")
    if isinstance(text, str):
        return text
    return as_json({k: v for k, v in part.items() if k != "inlineData"})


def _thoughts(message: dict[str, Any]) -> list[str]:
    thoughts = message.get("thoughts")
    told = []
    for each in thoughts if isinstance(thoughts, list) else ():
        texts = [each.get(k) for k in ("subject", "description")] if isinstance(each, dict) else []
        text = "\n".join(part for part in texts if isinstance(part, str) and part)
        if text:
            told.append(text)
    return told


def _result(result: Any) -> str:
    """Return a tool's result: its ``output`` where it is wrapped as a function response."""
    parts = result if isinstance(result, list) else [result]
    return "\n".join(_response(part) for part in parts)


def _response(part: Any) -> str:
    inner = part.get("functionResponse") if isinstance(part, dict) else None
    response = inner.get("response") if isinstance(inner, dict) else None
    for key in ("output", "error"):
        if isinstance(response, dict) and isinstance(response.get(key), str):
            return str(response[key])
    return _part(part)


def _text(value: dict[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None


FORMAT = Format(
    name="gemini_cli",
    label="Gemini CLI session",
    recognise=recognise,
    read=read,
    companions=frozenset({"logs.json"}),
)
