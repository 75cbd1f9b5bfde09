r"""Telegram Desktop: ``result.json`` of one chat, or of a whole account.

One chat is ``{name, type, id, messages}``; an account holds such chats in ``chats.list`` and
``left_chats.list``. A message has ``id``, ``type`` (``message``, ``service``, ``unsupported``),
``date`` (local, without a zone), ``date_unixtime`` (the truth, in newer exports), ``from``
(null where the account is gone), ``from_id``, and ``text``: a text, or a list of texts and
objects with a ``text``, read one after another without anything between. What is attached,
where words come from and where links lead becomes the caption. A service message says what
somebody did: ``action`` and its details, as JSON.

Control characters stand in the file as ``\x0B``, which is not JSON: they are read as what they
mean, and the file is warned of once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memcli.importers.bytestream import rejected, utf8_chunks
from memcli.importers.contract import (
    Draft,
    Event,
    Format,
    Ignored,
    Input,
    Moment,
    ReadOptions,
    Rejected,
    Repeated,
    Warned,
)
from memcli.importers.fields import id_of, objects_of, text_of
from memcli.importers.jsonpaths import ITEM, Part, Path, parts
from memcli.importers.jsonvalues import (
    Item,
    Series,
    as_json,
    brief,
    parse,
    rejected_value,
    sheltered,
)
from memcli.importers.moments import stated
from memcli.importers.shape import shape_of
from memcli.importers.told import Told

_LISTS: tuple[Path, ...] = (("chats", "list"), ("left_chats", "list"))
_CHATS: tuple[Path, ...] = ((), *((*path, ITEM) for path in _LISTS))
_INTO = frozenset(
    {*_CHATS, *_LISTS, ("chats",), ("left_chats",), *((*path, "messages") for path in _CHATS)}
)
_SIGNS = frozenset({"date_unixtime", "from_id", "text_entities", "actor_id"})
_ESCAPES = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|.)", re.DOTALL)
_HEADER_WORDS = """
    id type date date_unixtime edited edited_unixtime actor actor_id action text text_entities
    """
_HEADER = frozenset(_HEADER_WORDS.split())
_ATTACHED = ("photo", "file", "sticker_emoji", "game_title", "invoice_information")
_PLACED = ("place_name", "address", "title", "performer", "file_name")


def recognise(source: Input) -> str | None:
    """Return that the object is a chat or holds chats, or None."""
    shape = shape_of(source)
    if shape.kind == "object":
        top = shape.objects[0]
        if any(isinstance(top.get(key), dict) and "list" in top[key] for key in _ACCOUNT):
            return "has 'chats' with a 'list'"
        is_chat = isinstance(top.get("messages"), list) and isinstance(top.get("type"), str)
        if is_chat and "id" in top and "guild" not in top:
            return "has 'type', 'id' and 'messages'"
    if shape.kind == "json" and {"type", "id", "messages"} <= shape.keys and _SIGNS & shape.keys:
        return "has 'type', 'id' and 'messages', but does not parse as a whole"
    if shape.kind == "json" and {"chats", "about", "list"} <= shape.keys:
        return "has 'chats' with a 'list', but does not parse as a whole"
    return None


_ACCOUNT = ("chats", "left_chats")


@dataclass(slots=True)
class _Chat:
    """The chat being read.

    Attributes:
        group: Ordinal in the file.
        names: Its members that are no messages: ``id``, ``name``, ``type``.
    """

    group: int
    names: dict[str, Any] = field(default_factory=dict)
    told: Told = field(default_factory=Told)

    @property
    def conversation(self) -> str | None:
        """The chat's id, marked with the tool's name: other tools number theirs too."""
        number = id_of(self.names.get("id"))
        return None if number is None else f"telegram-{number}"

    @property
    def title(self) -> str | None:
        """The chat's name; saved messages have none."""
        return text_of(self.names, "name")


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the messages of each chat in order."""
    reader = _Reader(source, options)
    for part in parts(utf8_chunks(source), _INTO):
        yield from reader.part(part)
    yield from reader.close()


class _Reader:
    """Follows the parts of a file: which chat it is in, and what it had to repair."""

    def __init__(self, source: Input, options: ReadOptions) -> None:
        self._name, self._options = source.name, options
        self._chats, self._series = 0, Series(source.name)
        self._chat = _Chat(0)
        self._headers: list[dict[str, Any]] | None = None
        self._source = source
        self._repaired = 0

    def part(self, part: Part) -> Iterator[Event]:
        """Yield the events of one part."""
        if part.is_entry and part.path in _CHATS:
            yield from self._events(self._series.rest())
            self._chat = _Chat(self._chats)
            self._chats += 1
        elif part.is_entry:
            return
        elif len(part.path) > 1 and part.path[-2] == "messages" and part.path[:-2] in _CHATS:
            yield from self._messages(part)
        elif part.problem:
            yield rejected(self._name, part.problem, part.raw)
        elif not part.path or part.path[-1] == ITEM:
            yield rejected(self._name, "not a chat: no object", part.raw)
        elif part.path[:-1] in _CHATS:
            yield from self._member(part)

    def _member(self, part: Part) -> Iterator[Event]:
        """Note a chat's id, name or type."""
        key = part.path[-1]
        if key == "messages":
            yield rejected(self._name, "'messages' is no list", part.raw)
        elif key in ("id", "name", "type"):
            item = parse(self._name, _readable(part.raw)[0])
            if isinstance(item, Item):
                self._chat.names[key] = item.value

    def _messages(self, part: Part) -> Iterator[Event]:
        raw, count = _readable(part.raw)
        self._repaired += count
        return self._events(self._series.values(raw, part.problem))

    def _events(self, items: Iterator[Item | Rejected]) -> Iterator[Event]:
        for item in items:
            if isinstance(item, Rejected):
                yield item
            elif not isinstance(item.value, dict):
                yield rejected_value(item.where, "not a message: no object", item.value)
            else:
                self._look_ahead()
                yield from sheltered(item.where, _message(item, self._chat, self._options))

    def _look_ahead(self) -> None:
        """Learn a chat's id and name where they stand behind its messages."""
        chat = self._chat
        if "id" in chat.names:
            return
        if self._headers is None:
            self._headers = _headers(self._source)
        chat.names = {"id": None, **self._headers[chat.group], **chat.names}

    def close(self) -> Iterator[Event]:
        """Yield what is left over, and that escapes were repaired, in one line."""
        yield from self._events(self._series.rest())
        if self._repaired:
            reason = (
                rf"{self._repaired:,} escapes such as \x0B are not JSON; "
                "read as the control characters they mean"
            )
            yield Warned(where=self._name, reason=reason)


def _headers(source: Input) -> list[dict[str, Any]]:
    """Return id, name and type of each chat, read on a pass of their own."""
    found = list[dict[str, Any]]()
    for part in parts(utf8_chunks(source), _INTO):
        if part.is_entry and part.path in _CHATS:
            found.append({})
        elif part.path and part.path[:-1] in _CHATS and part.path[-1] in ("id", "name", "type"):
            item = parse(source.name, _readable(part.raw)[0])
            if isinstance(item, Item):
                found[-1][part.path[-1]] = item.value
    return found


def _readable(raw: bytes) -> tuple[bytes, int]:
    """Return JSON whose control characters are written as JSON has them, and how many were not."""
    if rb"\x" not in raw:
        return raw, 0
    count = 0

    def repaired(match: re.Match[bytes]) -> bytes:
        nonlocal count
        count += match[1] is not None
        return rb"\u00" + match[1] if match[1] else match[0]

    return _ESCAPES.sub(repaired, raw), count


def _message(item: Item, chat: _Chat, options: ReadOptions) -> Iterator[Event]:
    """Yield the events of one message."""
    message, kind = item.value, text_of(item.value, "type")
    if kind == "unsupported":
        yield Ignored(kind="unsupported message")
        return
    is_service = kind == "service" or (kind != "message" and "action" in message)
    text = _service_text(message) if is_service else _words(message)
    captions = [] if is_service else _captions(message)
    if text is None or (not text and not captions and "text" not in message):
        yield rejected_value(item.where, "message without text", message)
        return
    native_id = id_of(message.get("id"))
    caption = "; ".join(captions) or None
    if native_id is not None:
        said = (text, caption, text_of(message, "from_id"))
        if odd := chat.told.judge(item.where, native_id, said):
            yield odd
            native_id = None
        if isinstance(odd, Repeated):
            return
    time, problem = _time(message, options)
    if problem:
        yield Warned(where=item.where, reason=problem)
    yield Draft(
        role="system" if is_service else "user",
        text=text,
        conversation=chat.conversation,
        group=chat.group,
        native_id=native_id,
        speaker=_speaker(message, "actor" if is_service else "from"),
        time=time,
        caption=caption,
        title=chat.title,
    )


def _speaker(message: dict[str, Any], key: str) -> str | None:
    """Return who speaks: the name, else the id, which outlives a deleted account."""
    return text_of(message, key) or text_of(message, f"{key}_id") or id_of(message.get(f"{key}_id"))


def _words(message: dict[str, Any]) -> str | None:
    """Return a message's text, its pieces put together; None where there is no such text."""
    said = _joined(message.get("text", ""))
    return said or _joined(message.get("text_entities") or "") or said


def _joined(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    pieces = [piece.get("text") if isinstance(piece, dict) else piece for piece in value]
    return "".join(piece if isinstance(piece, str) else as_json(piece) for piece in pieces)


def _service_text(message: dict[str, Any]) -> str | None:
    """Return what was done and its details, as JSON in the file's order."""
    said = _joined(message.get("text", ""))
    action = text_of(message, "action")
    if action is None:
        return said or None
    details = {key: value for key, value in message.items() if key not in _HEADER}
    shown = f"{action} {as_json(details)}" if details else action
    return f"{shown}\n{said}" if said else shown


def _captions(message: dict[str, Any]) -> list[str]:
    """Return what is attached to a message, where its words come from, where links lead."""
    found = [f"forwarded from {name}" for name in [text_of(message, "forwarded_from")] if name]
    kind = text_of(message, "media_type")
    for key in _ATTACHED:
        if value := text_of(message, key):
            label = kind if kind and key == "file" else key.partition("_")[0]
            is_there = not (value.startswith("(") and value.endswith(")"))
            found.append(f"{label}: {value}" if is_there else label)
    found += [f"{key}: {value}" for key in _PLACED if (value := text_of(message, key))]
    for key in ("poll", "contact_information", "location_information", "todo_list"):
        if isinstance(message.get(key), dict):
            found.append(f"{key.partition('_')[0]}: {as_json(message[key])}")
    if kind and not found:
        found.append(kind)
    return [*found, *_links(message)]


def _links(message: dict[str, Any]) -> list[str]:
    pieces = objects_of(message, "text")
    return [f"link: {href}" for each in pieces if (href := text_of(each, "href"))]


def _time(message: dict[str, Any], options: ReadOptions) -> tuple[Moment | None, str]:
    """Return the time of a message and what is odd about it."""
    given = [(key, message[key]) for key in ("date_unixtime", "date") if message.get(key)]
    for number, (_, value) in enumerate(given):
        if time := stated(value, options.tz):
            odd = f"date_unixtime is not understood, date is read: {brief(given[0][1])}"
            return time, odd if number else ""
    if given:
        return None, f"{given[0][0]} is not understood as a time: {brief(given[0][1])}"
    return None, ""


FORMAT = Format(
    name="telegram",
    label="Telegram export",
    recognise=recognise,
    read=read,
)
