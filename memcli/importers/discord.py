"""Discord: the JSON of DiscordChatExporter, one channel, thread or direct chat a file.

The object holds ``guild``, ``channel``, ``dateRange``, ``exportedAt``, ``messages`` and last
``messageCount``. A message has ``id``, ``type``, ``timestamp`` (ISO with an offset), ``content``
and ``author {id, name, nickname, isBot}``. Types other than `SPOKEN` say what happened in the
channel. Where ``content`` is empty, the words are those of the forwarded message or of the
embeds; attachments and stickers, and the embeds below somebody's words, are the caption. A
large channel may come in several files: they have one channel id and so are one conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memcli.importers.bytestream import rejected, utf8_chunks
from memcli.importers.contract import (
    Draft,
    Event,
    Format,
    Input,
    ReadOptions,
    Rejected,
    Repeated,
    Warned,
)
from memcli.importers.fields import first_text, id_of, object_of, objects_of, text_of
from memcli.importers.jsonpaths import ITEM, Part, Path, parts
from memcli.importers.jsonvalues import Item, Series, brief, parse, rejected_value, sheltered
from memcli.importers.moments import stated
from memcli.importers.shape import shape_of
from memcli.importers.told import Told

_INTO: tuple[Path, ...] = ((), ("messages",))
_NAMES = ("guild", "channel", "messageCount")
_SPOKEN_WORDS = """
    Default Reply ThreadStarterMessage ChatInputCommand ContextMenuCommand 0 19 20 21 23
    """
SPOKEN = frozenset(_SPOKEN_WORDS.split())
"""Types of messages that somebody wrote; new ones stand as numbers."""


def recognise(source: Input) -> str | None:
    """Return that the object has a guild, a channel and messages, or None."""
    shape = shape_of(source)
    keys = {"guild", "channel", "messages"}
    if shape.kind in ("object", "json") and keys <= shape.keys:
        return "has 'guild', 'channel' and 'messages'"
    return None


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the messages in order."""
    reader = _Reader(source, options)
    for part in parts(utf8_chunks(source), _INTO):
        yield from reader.part(part)
    yield from reader.close()


class _Reader:
    """Follows the parts of a file and counts its messages."""

    def __init__(self, source: Input, options: ReadOptions) -> None:
        self._source, self._options = source, options
        self._names: dict[str, Any] = {}
        self._told, self._series = Told(), Series(source.name)
        self._number, self._is_cut = 0, False

    def part(self, part: Part) -> Iterator[Event]:
        """Yield the events of one part."""
        name = self._source.name
        if part.is_entry:
            return
        self._is_cut |= bool(part.problem)
        if len(part.path) > 1:
            yield from self._messages(self._series.values(part.raw, part.problem))
        elif part.problem:
            yield rejected(name, part.problem, part.raw)
        elif part.path == ("messages",):
            yield rejected(name, "'messages' is no list", part.raw)
        elif part.path in ((), (ITEM,)):
            yield rejected(name, "not a Discord export: no object", part.raw)
        elif part.path[0] in _NAMES:
            item = parse(name, part.raw)
            self._names[part.path[0]] = item.value if isinstance(item, Item) else None

    def _messages(self, items: Iterator[Item | Rejected]) -> Iterator[Event]:
        """Yield the events of messages, or of what stands in their place."""
        for item in items:
            self._number += 1
            if isinstance(item, Rejected):
                yield item
            elif not isinstance(item.value, dict):
                yield rejected_value(item.where, "not a message: no object", item.value)
            else:
                if "channel" not in self._names:
                    self._names = _names(self._source)
                yield from sheltered(item.where, self._events(item))

    def _events(self, item: Item) -> Iterator[Event]:
        """Yield the events of one message."""
        message, author = item.value, object_of(item.value, "author")
        kind, text, caption = id_of(message.get("type")), _text(message), _caption(message)
        if text is None:
            yield rejected_value(item.where, "message without content", message)
            return
        native_id = id_of(message.get("id"))
        if native_id is not None:
            said = (text, caption, id_of(author.get("id")))
            if odd := self._told.judge(item.where, native_id, said):
                yield odd
                native_id = None
            if isinstance(odd, Repeated):
                return
        stamp = message.get("timestamp")
        time = stated(stamp, self._options.tz)
        if time is None and stamp is not None:
            reason = f"timestamp is not understood as a time: {brief(stamp)}"
            yield Warned(where=item.where, reason=reason)
        channel = id_of(object_of(self._names, "channel").get("id"))
        yield Draft(
            role="user" if kind is None or kind in SPOKEN else "system",
            text=text,
            conversation=None if channel is None else f"discord-{channel}",
            native_id=native_id,
            speaker=first_text(author, "nickname", "name") or id_of(author.get("id")),
            time=time,
            caption=caption,
            title=self._title(),
        )

    def _title(self) -> str | None:
        """Return the names of the guild and the channel."""
        names = (text_of(object_of(self._names, key), "name") for key in ("guild", "channel"))
        return " / ".join(name for name in names if name) or None

    def close(self) -> Iterator[Event]:
        """Yield what is left over, and if the file holds as many messages as it says."""
        yield from self._messages(self._series.rest())
        count = self._names.get("messageCount")
        if count is None and not self._is_cut:
            yield Warned(where=self._source.name, reason="'messageCount' is missing: a cut export?")
        elif count is not None and count != self._number:
            reason = f"says it holds {brief(count)} messages, but holds {self._number:,}"
            yield Warned(where=self._source.name, reason=reason)


def _names(source: Input) -> dict[str, Any]:
    """Return guild and channel where they stand behind the messages."""
    found: dict[str, Any] = {"channel": None}
    for part in parts(utf8_chunks(source), _INTO):
        if part.path and part.path[0] in _NAMES and not part.problem:
            item = parse(source.name, part.raw)
            found[part.path[0]] = item.value if isinstance(item, Item) else None
    return found


def _text(message: dict[str, Any]) -> str | None:
    """Return a message's words: its content, else those it forwards or embeds.

    None where there is no content at all.
    """
    content = message.get("content")
    if not isinstance(content, str):
        content = None if content is not None or not _is_shown(message) else ""
    if content:
        return content
    forwarded = object_of(message, "forwardedMessage")
    return text_of(forwarded, "content") or _embedded(forwarded) or _embedded(message) or content


def _is_shown(message: dict[str, Any]) -> bool:
    """Say whether a message without content has anything else to show."""
    return any(message.get(key) for key in ("attachments", "embeds", "stickers"))


def _embedded(message: dict[str, Any]) -> str:
    """Return the words of a message's embeds, a line each."""
    lines = list[str]()
    for embed in objects_of(message, "embeds"):
        lines += [text for key in ("title", "description") if (text := text_of(embed, key))]
        for each in objects_of(embed, "fields"):
            words = (text_of(each, "name"), text_of(each, "value"))
            lines.append(": ".join(word for word in words if word))
    return "\n".join(line for line in lines if line)


def _caption(message: dict[str, Any]) -> str | None:
    """Return what stands below a message's words."""
    forwarded = object_of(message, "forwardedMessage")
    found = []
    if forwarded:
        stamp = text_of(forwarded, "timestamp")
        found.append(f"forwarded, first sent {stamp}" if stamp else "forwarded")
    for holder in (message, forwarded):
        names = (first_text(each, "fileName", "url") for each in objects_of(holder, "attachments"))
        found += [f"attachment: {name}" for name in names if name]
        stickers = (text_of(each, "name") for each in objects_of(holder, "stickers"))
        found += [f"sticker: {name}" for name in stickers if name]
    if text_of(message, "content") and (shown := _embedded(message)):
        found.append(f"embed: {shown}")
    if command := text_of(object_of(message, "interaction"), "name"):
        found.append(f"command: /{command.removeprefix('/')}")
    return "; ".join(found) or None


FORMAT = Format(
    name="discord",
    label="Discord export (DiscordChatExporter JSON)",
    recognise=recognise,
    read=read,
)
