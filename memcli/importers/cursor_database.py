"""Cursor's own database ``state.vscdb``: SQLite, opened to read only, copied nowhere.

Table ``cursorDiskKV`` holds JSON under keys. ``composerData:<id>`` is a conversation: ``name``
and the order of its bubbles in ``fullConversationHeadersOnly``; before that in
``conversation``, the bubbles themselves. ``bubbleId:<id>:<bubble>`` is a message: ``type`` 1
(user) or 2 (assistant), ``text``, ``thinking``, ``toolFormerData`` (a tool call and its
result), ``createdAt``; older ones state at most ``timingInfo``. The oldest generation has only
table ``ItemTable``, with chats under ``workbench.panel.aichat.view.aichat.chatdata`` and typed
prompts under ``aiService.prompts``, which are read where there is nothing else.

The structure is nowhere promised. A bubble that its conversation no longer names is kept as
abandoned; one that is named but not there is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

from memcli.errors import SourceFormatError
from memcli.importers.blocks import call_text
from memcli.importers.contract import (
    Draft,
    Event,
    Ignored,
    Input,
    Moment,
    ReadOptions,
    Rejected,
    Repeated,
    Warned,
)
from memcli.importers.fields import first_text, id_of, object_of, objects_of, text_of
from memcli.importers.jsonvalues import Item, as_json, brief, rejected_value, sheltered
from memcli.importers.keyed_values import DATABASE_ERRORS, KeyedValues, is_sqlite
from memcli.importers.moments import stated
from memcli.records.evidence import Branch, Role

_DISK: Final = "cursorDiskKV"
_OLDEST: Final = "ItemTable"
_CHATS: Final = "workbench.panel.aichat.view.aichat.chatdata"
_PROMPTS: Final = "aiService.prompts"
_ROLES: Final[dict[object, Role]] = {1: "user", 2: "assistant", "user": "user", "ai": "assistant"}


def recognise(source: Input) -> str | None:
    """Return the evidence that an input is a database with Cursor's table or keys, or None."""
    if not is_sqlite(source):
        return None
    if _DISK.encode() in source.head:
        return f"is an SQLite database with table {_DISK!r}"
    if _OLDEST.encode() not in source.head:
        return None
    try:
        with closing(KeyedValues(source)) as values:
            found = [key for key in (_CHATS, _PROMPTS) if values.item(_OLDEST, key)]
    except (*DATABASE_ERRORS, SourceFormatError):
        return None
    return f"is an SQLite database with {found[0]!r}" if found else None


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns, conversation after conversation by their keys.

    Raises:
        SourceFormatError: If the database cannot be opened, or read to its end.
    """
    try:
        with closing(KeyedValues(source)) as values:
            if values.warning:
                yield Warned(where=source.name, reason=values.warning)
            yield from _Chats(values, options).all()
    except DATABASE_ERRORS as error:
        raise SourceFormatError(
            f"{source.name}: the database cannot be read ({error})",
            hint="close Cursor and try again; SQLite's '.recover' may save a damaged one",
        ) from error


class _Chats:
    """The conversations of one database."""

    def __init__(self, values: KeyedValues, options: ReadOptions) -> None:
        self._values, self._options = values, options

    def all(self) -> Iterator[Event]:
        """Yield the turns of every generation."""
        is_empty = True
        for event in self._of_disk():
            is_empty = False
            yield event
        for event in self._of_tabs():
            is_empty = False
            yield event
        yield from self._prompts(is_wanted=is_empty)

    def _of_disk(self) -> Iterator[Event]:
        known = set[str]()
        for key in self._values.keys(_DISK, "composerData:"):
            name = key.partition(":")[2]
            known.add(name)
            yield from self._conversation(name, self._values.item(_DISK, key))
        for key in self._values.keys(_DISK, "bubbleId:"):
            name = key.split(":")[1]
            if name not in known:
                known.add(name)
                yield from self._conversation(name, None)

    def _conversation(self, name: str, found: Item | Rejected | None) -> Iterator[Event]:
        """Yield what a conversation names, in its order, then what else belongs to it."""
        if isinstance(found, Rejected):
            yield found
        header: dict[str, Any] = {}
        if isinstance(found, Item) and isinstance(found.value, dict):
            header = found.value
        elif isinstance(found, Item):
            yield rejected_value(found.where, "conversation is no object", found.value)
        title, told = text_of(header, "name"), _names(header)
        for item in self._named(name, header):
            if isinstance(item, Item):
                yield from self._bubble(item, name, title, "active")
            else:
                yield item
        branch: Branch = "abandoned" if told else "active"
        for item in self._unnamed(name, told):
            if isinstance(item, Item):
                yield from self._bubble(item, name, title, branch)
            else:
                yield item
        if isinstance(found, Item) and isinstance(found.value, dict) and not told:
            yield Ignored(kind="conversation that names no messages")

    def _named(self, name: str, header: dict[str, Any]) -> Iterator[Item | Rejected | Repeated]:
        """Yield the bubbles of a conversation in its order."""
        where = f"{self._values.name}#composerData:{name}"
        for number, bubble in enumerate(objects_of(header, "conversation"), start=1):
            yield Item(f"{where}/{number}", bubble, None)
        seen = set[str]()
        for number, each in enumerate(objects_of(header, "fullConversationHeadersOnly"), start=1):
            ident = id_of(each.get("bubbleId"))
            if ident is None:
                yield rejected_value(f"{where}/{number}", "names no bubble", each)
            elif ident in seen:
                yield Repeated(where=f"{where}/{number}")
            else:
                seen.add(ident)
                yield self._found(f"bubbleId:{name}:{ident}", f"{where}/{number}", each)

    def _found(self, key: str, where: str, named: dict[str, Any]) -> Item | Rejected:
        item = self._values.item(_DISK, key)
        if item is None:
            return rejected_value(where, "the bubble it names is not in the database", named)
        return _object(item)

    def _unnamed(self, name: str, told: set[str]) -> list[Item | Rejected]:
        """Return the bubbles that a conversation does not name, by time, then key."""
        keys = self._values.keys(_DISK, f"bubbleId:{name}:")
        rest = [key for key in keys if key.split(":", 2)[2] not in told]
        found = [self._values.item(_DISK, key) for key in rest]
        objects = [_object(item) for item in found if item is not None]
        return sorted(objects, key=self._order)

    def _order(self, item: Item | Rejected) -> float:
        time = self._time(item.value)[0] if isinstance(item, Item) else None
        return time.at.timestamp() if time else 0.0

    def _bubble(
        self, item: Item, name: str | None, title: str | None, branch: Branch
    ) -> Iterator[Event]:
        yield from sheltered(item.where, self._turns(item, name, title, branch))

    def _turns(
        self, item: Item, name: str | None, title: str | None, branch: Branch
    ) -> Iterator[Event]:
        bubble, kind = item.value, item.value.get("type")
        role = _ROLES.get(kind) if isinstance(kind, int | str) else None
        if role is None:
            yield rejected_value(item.where, f"no known type: {brief(kind)}", bubble)
            return
        said = _said(bubble)
        if not said:
            yield Ignored(kind="bubble without words")
            return
        time, odd = self._time(bubble)
        if odd:
            yield Warned(where=item.where, reason=odd)
        ident = id_of(bubble.get("bubbleId")) or id_of(bubble.get("id"))
        if ident is None and "#bubbleId:" in item.where:
            ident = item.where.rpartition(":")[2]
        for part, text in said:
            yield Draft(
                role=_spoken(role, part),
                text=text,
                conversation=name,
                session=name,
                native_id=ident,
                part=part,
                time=time,
                branch=branch,
                title=title,
            )

    def _time(self, bubble: dict[str, Any]) -> tuple[Moment | None, str]:
        """Return when a bubble was made, or at least sent; and what is wrong with its time."""
        given = bubble.get("createdAt")
        if given is None:
            given = object_of(bubble, "timingInfo").get("clientRpcSendTime")
        time = stated(given, self._options.tz)
        if time is None and given is not None:
            return None, f"createdAt is not understood: {brief(given)}"
        return time, ""

    def _of_tabs(self) -> Iterator[Event]:
        """Yield the turns of the oldest chats, one a tab."""
        found = self._values.item(_OLDEST, _CHATS)
        if found is None:
            return
        if isinstance(found, Rejected):
            yield found
            return
        if not isinstance(found.value, dict):
            yield rejected_value(found.where, "record is no object", found.value)
            return
        for number, tab in enumerate(objects_of(found.value, "tabs"), start=1):
            name = id_of(tab.get("tabId")) or f"{self._values.name}-{number}"
            title = text_of(tab, "chatTitle")
            for place, bubble in enumerate(objects_of(tab, "bubbles"), start=1):
                item = Item(f"{found.where}/{number}/{place}", bubble, None)
                yield from self._bubble(item, name, title, "active")

    def _prompts(self, *, is_wanted: bool) -> Iterator[Event]:
        """Yield the typed prompts; where there are chats, these hold them already."""
        found = self._values.item(_OLDEST, _PROMPTS)
        if isinstance(found, Rejected):
            yield found
        elif found is not None and isinstance(found.value, list):
            for number, each in enumerate(found.value, start=1):
                text = text_of(each, "text") if isinstance(each, dict) else None
                if not is_wanted:
                    yield Ignored(kind="typed prompt beside its chat")
                elif text is None:
                    where = f"{found.where}/{number}"
                    yield rejected_value(where, "prompt without text", each)
                else:
                    yield Draft(role="user", text=text)


def _names(header: dict[str, Any]) -> set[str]:
    """Return the ids of the bubbles that a conversation names or holds."""
    lists = ("conversation", "fullConversationHeadersOnly")
    found = [id_of(each.get("bubbleId")) for key in lists for each in objects_of(header, key)]
    return {each for each in found if each is not None}


def _object(item: Item | Rejected) -> Item | Rejected:
    """Return a record as it is, or its rejection where it is no object."""
    if isinstance(item, Item) and not isinstance(item.value, dict):
        return rejected_value(item.where, "record is no object", item.value)
    return item


def _spoken(role: Role, part: str) -> Role:
    if part == "text":
        return role
    return "reasoning" if part == "reasoning/0" else "tool"


def _said(bubble: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (part, text) of thoughts, words, call and result, in order."""
    thinking, tool = bubble.get("thinking"), object_of(bubble, "toolFormerData")
    thought = (
        thinking if isinstance(thinking, str) else first_text(object_of(bubble, "thinking"), "text")
    )
    words = first_text(bubble, "text", "rawText")
    found = [("reasoning/0", thought or ""), ("text", words or "")]
    if text_of(tool, "name"):
        given = tool.get("params") or tool.get("rawArgs")
        found.append(("call/0", call_text(tool["name"], given)))
        result = tool.get("result")
        if result is not None:
            found.append(("result/0", result if isinstance(result, str) else as_json(result)))
    return [(part, text) for part, text in found if text or part == "result/0"]
