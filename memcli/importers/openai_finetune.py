"""OpenAI fine-tuning data: JSONL, a whole conversation a line.

A line is ``{"messages": [...], "tools"?, "parallel_tool_calls"?}``; messages are those of the
chat format (`openai_chat`), each with an optional ``weight``. Preference data holds ``input``
(with ``messages``) and two outputs, ``preferred_output`` and ``non_preferred_output``: the
second is kept as an abandoned branch. There are no ids and no times, so each line is a
conversation of its own, told apart from others by what is said in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from memcli.importers.contract import Draft, Event, Format, Ignored, Input, ReadOptions
from memcli.importers.jsonvalues import Item, rejected_value, sheltered
from memcli.importers.openai_chat import message_events
from memcli.importers.shape import from_objects, shape_of
from memcli.records.evidence import Branch

_ELSEWHERE = frozenset({"mapping", "guild", "sessionId", "title", "uuid", "date_unixtime"})


def recognise(source: Input) -> str | None:
    """Return the evidence that lines have ``messages``, or None."""
    shape = shape_of(source)
    objects = shape.objects
    if shape.kind not in ("lines", "array") or not objects:
        return None
    having = [item for item in objects if _messages(item) is not None]
    if 2 * len(having) < len(objects) or any(_ELSEWHERE & item.keys() for item in objects):
        return None
    is_talk = any(
        isinstance(each, dict) and "role" in each
        for item in having
        for each in _messages(item) or ()
    )
    what = "lines" if shape.kind == "lines" else "items"
    return f"{what} have 'messages' with 'role'" if is_talk else None


def _messages(item: dict[str, Any]) -> list[Any] | None:
    """Return the messages of a line, those of ``input`` in preference data; None without."""
    given = item.get("input")
    holder = given if isinstance(given, dict) else item
    found = holder.get("messages")
    return found if isinstance(found, list) else None


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Return the turns of each line's conversation, in order."""
    return from_objects(
        source, "a line of messages", lambda item, group: _conversation(item, group, options)
    )


def _conversation(item: Item, group: int, options: ReadOptions) -> Iterator[Event]:
    messages = _messages(item.value)
    if messages is None:
        yield rejected_value(item.where, "line without a list of messages", item.value)
        return
    if not messages:
        yield Ignored(kind="empty conversation")
        return
    outputs: tuple[tuple[str, Branch], ...] = (
        ("non_preferred_output", "abandoned"),
        ("preferred_output", "active"),
    )
    yield from _turns(item, messages, group, options, "active")
    for key, branch in outputs:
        given = item.value.get(key)
        if isinstance(given, list):
            yield from _turns(item, given, group, options, branch)


def _turns(
    item: Item, messages: list[Any], group: int, options: ReadOptions, branch: Branch
) -> Iterator[Event]:
    for number, message in enumerate(messages, start=1):
        where = f"{item.where}/{number}"
        one = Item(where, message, item.line)
        for event in sheltered(where, message_events(one, options)):
            if isinstance(event, Draft):
                yield replace(event, group=group, branch=branch)
            else:
                yield event


FORMAT = Format(
    name="openai_finetune",
    label="OpenAI fine-tuning data",
    recognise=recognise,
    read=read,
    rank=15,
)
"""Before single chat messages a line (20), after formats with keys of their own."""
