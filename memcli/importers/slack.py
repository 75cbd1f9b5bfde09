"""Slack: the folder or zip of an export, one file a channel and day.

Beside the channels' folders lie ``users.json`` (``org_users.json``) and ``channels.json``,
``groups.json``, ``dms.json``, ``mpims.json``: they give people's names and the channels' ids. A
day file ``<channel>/YYYY-MM-DD.json`` is an array of messages: ``type``, ``subtype``, ``user``
or ``bot_id``, ``text``, ``ts``, ``thread_ts``. ``ts`` is seconds, a dot and a number that
counts within the second: the time, and the id within the channel. Without it a message is kept
without a time. Subtypes other than `SPOKEN` say what happened in the channel. A thread's
replies stand where they were written, in their channel, in the order of time.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from memcli.importers.contract import (
    Draft,
    Event,
    Format,
    Housed,
    Ignored,
    Input,
    Moment,
    ReadOptions,
    Rejected,
    Repeated,
    Warned,
)
from memcli.importers.fields import first_text, id_of, object_of, objects_of, text_of
from memcli.importers.jsonvalues import Item, array_values, brief, rejected_value, sheltered
from memcli.importers.moments import stated
from memcli.importers.shape import records, shape_of
from memcli.importers.slack_words import caption, words
from memcli.importers.told import Told

_PEOPLE = ("../users.json", "../org_users.json")
_PLACES = ("../channels.json", "../groups.json", "../dms.json", "../mpims.json")
_DAY_FILE = re.compile(r"\d{4}-\d\d-\d\d.*\.json", re.IGNORECASE)
_STAMP = re.compile(r"(\d{9,11})(?:\.\d{1,9})?", re.ASCII)
_SPOKEN_WORDS = """
    bot_message me_message thread_broadcast reply_broadcast file_share file_comment file_mention
    assistant_app_thread document_mention
    """
SPOKEN = frozenset(_SPOKEN_WORDS.split())
"""Subtypes of messages that somebody wrote."""


def recognise(source: Input) -> str | None:
    """Return that items are messages with a ``ts`` or a user, or None."""
    shape = shape_of(source)
    if shape.kind == "array" and any(map(_is_message, shape.objects)):
        return "items have type 'message' and 'ts' or 'user'"
    if shape.kind == "object" and any(map(_is_message, objects_of(shape.objects[0], "messages"))):
        return "'messages' have type 'message' and 'ts' or 'user'"
    return None


def _is_message(item: dict[str, Any]) -> bool:
    written = "text" in item and bool({"user", "bot_id"} & item.keys()) and "role" not in item
    return item.get("type") == "message" and (written or isinstance(item.get("ts"), str))


@dataclass(frozen=True, slots=True)
class _Register:
    """A file of names beside the days; two are the same while the file is unchanged."""

    stamp: Hashable
    source: Housed = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Place:
    """The channel of a day file, and who people are.

    Attributes:
        conversation: The channel's id, marked with the tool's name; of a folder without a
            register the folder's name; None where nothing says which channel it is.
        title: The channel's name.
        people: Names by id.
    """

    conversation: str | None = None
    title: str | None = None
    people: dict[str, str] = field(default_factory=dict)


def _place(source: Input) -> _Place:
    """Return what the files beside a day say of its channel."""
    if not isinstance(source, Housed):
        return _Place()
    people: dict[str, str] = {}
    for register in _registers(source, _PEOPLE):
        people |= _people(register)
    folder = PurePosixPath(source.inner).parent.name
    registers = _registers(source, _PLACES)
    for register in registers:
        if number := _channels(register).get(folder):
            return _Place(f"slack-{number}", folder, people)
    if folder and (registers or _DAY_FILE.fullmatch(PurePosixPath(source.inner).name)):
        return _Place(f"slack-{folder}", folder, people)
    return _Place(people=people)


def _registers(source: Housed, paths: tuple[str, ...]) -> list[_Register]:
    found = [each for path in paths if (each := source.beside(path))]
    return [_Register(each.stamp, each) for each in found]


@lru_cache(maxsize=4)
def _people(register: _Register) -> dict[str, str]:
    """Return the names of people by id: as shown, else in full, else the account's."""
    found: dict[str, str] = {}
    for item in array_values(register.source):
        if isinstance(item, Item) and isinstance(item.value, dict):
            profile = object_of(item.value, "profile")
            shown = first_text(profile, "display_name", "real_name")
            name = shown or first_text(item.value, "real_name", "name")
            if name and (number := id_of(item.value.get("id"))):
                found[number] = name
    return found


@lru_cache(maxsize=8)
def _channels(register: _Register) -> dict[str, str]:
    """Return the ids of channels by the name of their folder, which is a name or an id."""
    found: dict[str, str] = {}
    for item in array_values(register.source):
        channel = item.value if isinstance(item, Item) else None
        number = id_of(channel.get("id")) if isinstance(channel, dict) else None
        if isinstance(channel, dict) and number:
            found[number] = found[text_of(channel, "name") or number] = number
    return found


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the messages of a day in the order of time; a file that has it already streams."""
    place, told = _place(source), Told()
    if _is_sorted(source):
        yield from _all_events(source, options, place, told)
        return
    dated = list[tuple[tuple[int, int], Event]]()
    last = (0, 0)
    for event in _all_events(source, options, place, told):
        if isinstance(event, Draft) and event.native_id and event.time:
            last = _order(event.native_id)
        dated.append((last, event))
    yield from (event for _, event in sorted(dated, key=lambda each: each[0]))


def _is_sorted(source: Input) -> bool:
    """Say whether the messages stand in the order of time."""
    last = (0, 0)
    for item in records(source, "messages"):
        if isinstance(item, Item) and isinstance(item.value, dict):
            stamp = _stamp(item.value)
            order = _order(stamp) if stamp else last
            if order < last:
                return False
            last = order
    return True


def _order(stamp: str) -> tuple[int, int]:
    seconds, _, number = stamp.partition(".")
    return int(seconds), int(number.ljust(9, "0")) if number else 0


def _stamp(message: dict[str, Any]) -> str | None:
    """Return a message's ``ts`` as text where it is one; other tools write a number."""
    value = message.get("ts")
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = f"{value:.6f}" if abs(value) < 1e12 else None
    return value if isinstance(value, str) and _STAMP.fullmatch(value) else None


def _all_events(source: Input, options: ReadOptions, place: _Place, told: Told) -> Iterator[Event]:
    for item in records(source, "messages"):
        if isinstance(item, Rejected):
            yield item
        elif not isinstance(item.value, dict):
            yield rejected_value(item.where, "not a message: no object", item.value)
        else:
            yield from sheltered(item.where, _events(item, options, place, told))


def _events(item: Item, options: ReadOptions, place: _Place, told: Told) -> Iterator[Event]:
    """Yield the events of one message."""
    message, kind = item.value, text_of(item.value, "type")
    if kind is not None and kind != "message":
        yield Ignored(kind=kind)
        return
    text, below, subtype = words(message), caption(message), text_of(message, "subtype")
    if text is None:
        yield rejected_value(item.where, "message without text", message)
        return
    stamp = _stamp(message)
    native_id = stamp or text_of(message, "client_msg_id")
    if native_id is not None:
        if odd := told.judge(item.where, native_id, (text, below, text_of(message, "user"))):
            yield odd
            native_id = None
        if isinstance(odd, Repeated):
            return
    if stamp is None:
        yield Warned(where=item.where, reason=f"ts is no time: {brief(message.get('ts'))}")
    yield Draft(
        role="user" if subtype is None or subtype in SPOKEN else "system",
        text=text,
        conversation=place.conversation,
        native_id=native_id,
        speaker=_speaker(message, place.people),
        time=_time(stamp, options),
        caption=below,
        title=place.title,
    )


def _time(stamp: str | None, options: ReadOptions) -> Moment | None:
    """Return the time of a ``ts``: whole seconds, what follows the dot is a counter."""
    return stated(stamp.partition(".")[0], options.tz) if stamp else None


def _speaker(message: dict[str, Any], people: dict[str, str]) -> str | None:
    """Return who speaks: a known name, the name beside the message, else the bare id."""
    user = text_of(message, "user") or text_of(object_of(message, "comment"), "user")
    if user in people:
        return people[user]
    profile = object_of(message, "user_profile")
    beside = first_text(profile, "display_name", "real_name", "name")
    app = first_text(message, "username") or text_of(object_of(message, "bot_profile"), "name")
    return beside or app or user or text_of(message, "bot_id")


_COMPANION_WORDS = """
    users.json org_users.json channels.json groups.json dms.json mpims.json canvases.json
    integration_logs.json lists.json file_conversations.json canvas_in_the_conversation.json
    content_flags.json attachments/* files/*
    """

FORMAT = Format(
    name="slack",
    label="Slack export",
    recognise=recognise,
    read=read,
    companions=frozenset(_COMPANION_WORDS.split()),
)
