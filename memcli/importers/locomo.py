"""LoCoMo: long talks between two people over many dated sessions (benchmark of that name).

An array of samples, or one sample as an object. A sample has ``sample_id``, ``conversation``
and ``qa``; ``conversation`` holds ``session_<n>``, a list of turns ``{speaker, dia_id, text,
blip_caption?, img_url?}``, and ``session_<n>_date_time`` such as ``1:56 pm on 8 May, 2023``,
without a zone. The older release has the sessions at the top of the object. Questions,
summaries and observations are no talk: they are counted, not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from memcli.importers.contract import (
    Draft,
    Event,
    Format,
    Ignored,
    Input,
    Moment,
    ReadOptions,
    Repeated,
    Warned,
)
from memcli.importers.jsonvalues import Item, brief, rejected_value, sheltered
from memcli.importers.moments import stated
from memcli.importers.shape import from_objects, shape_of

_SESSION = re.compile(r"session_(\d{1,6})")
_NO_TALK = ("qa", "event_summary", "observation", "session_summary")


def recognise(source: Input) -> str | None:
    """Return the evidence that samples hold ``session_1``, or None."""
    shape = shape_of(source)
    if not shape.items and {"session_1", "dia_id", "speaker"} <= shape.keys:
        return "has 'session_1' and 'dia_id', but no sample of it parses"
    if shape.kind not in ("array", "object", "lines"):
        return None
    for item in shape.objects:
        talk = _talk(item)
        if any(_SESSION.fullmatch(key) and isinstance(talk[key], list) for key in talk):
            return "conversation has 'session_<n>' lists of turns"
    return None


def _talk(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the object that holds the sessions: the conversation or the sample itself."""
    inner = sample.get("conversation")
    talk = inner if isinstance(inner, dict) else sample
    return {key: value for key, value in talk.items() if key.startswith("session_")}


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Return the turns of each sample, sessions by number, turns as listed."""
    return from_objects(
        source, "a LoCoMo sample", lambda item, group: _sample(item, group, options)
    )


def _sample(item: Item, group: int, options: ReadOptions) -> Iterator[Event]:
    sample = item.value
    name = sample.get("sample_id")
    conversation = name if isinstance(name, str) and name else None
    talk = _talk(sample)
    numbers = sorted(int(match[1]) for key in talk if (match := _SESSION.fullmatch(key)))
    if not numbers:
        yield rejected_value(item.where, "sample without sessions", sample)
    seen = dict[str, Any]()
    for number in numbers:
        yield from _session(item.where, number, talk, _Place(conversation, group, seen), options)
    yield from _no_talk(sample, talk)


class _Place:
    """Where a turn belongs, and the turns of the sample that were read before it, by id."""

    def __init__(self, conversation: str | None, group: int, seen: dict[str, Any]) -> None:
        self.conversation, self.group, self.seen = conversation, group, seen


def _no_talk(sample: dict[str, Any], talk: dict[str, Any]) -> Iterator[Event]:
    """Count what a sample holds beside its talk."""
    questions = sample.get("qa")
    for _ in questions if isinstance(questions, list) else ():
        yield Ignored(kind="question")
    for key in _NO_TALK[1:]:
        if key in sample:
            yield Ignored(kind=key)
    for key in talk:
        session = key.removesuffix("_date_time")
        if session != key and session not in talk:
            yield Ignored(kind="session date without turns")


def _session(
    where: str, number: int, talk: dict[str, Any], place: _Place, options: ReadOptions
) -> Iterator[Event]:
    session = f"session_{number}"
    turns, date = talk[session], talk.get(f"{session}_date_time")
    if not isinstance(turns, list):
        yield rejected_value(f"{where}/{session}", "session is no list of turns", turns)
        return
    time = stated(date, options.tz)
    if time is None and turns:
        told = "no date" if date is None else f"a date that is not understood: {brief(date)}"
        yield Warned(where=f"{where}/{session}", reason=f"session has {told}")
    for position, turn in enumerate(turns, start=1):
        told = f"{where}/{session}/{position}"
        yield from sheltered(told, _turn(told, turn, session, time, place))


def _turn(
    where: str, turn: Any, session: str, time: Moment | None, place: _Place
) -> Iterator[Event]:
    text = turn.get("text") if isinstance(turn, dict) else None
    if not isinstance(text, str):
        yield rejected_value(where, "record without text", turn)
        return
    native_id = turn.get("dia_id") if isinstance(turn.get("dia_id"), str) else None
    if native_id is not None and native_id in place.seen:
        if place.seen[native_id] == turn:
            yield Repeated(where=where)
            return
        yield Warned(where=where, reason=f"the id {native_id} stands for another turn already")
        native_id = None
    elif native_id is not None:
        place.seen[native_id] = turn
    speaker = turn.get("speaker")
    yield Draft(
        role="user",
        text=text,
        conversation=place.conversation,
        group=place.group,
        session=session,
        native_id=native_id,
        speaker=speaker if isinstance(speaker, str) and speaker else None,
        time=time,
        caption=_caption(turn),
    )


def _caption(turn: dict[str, Any]) -> str | None:
    """Return the picture's description, else its address, else None."""
    described = turn.get("blip_caption")
    if isinstance(described, str) and described:
        return described
    address = turn.get("img_url")
    addresses = address if isinstance(address, list) else [address]
    return "; ".join(each for each in chain(addresses) if isinstance(each, str)) or None


FORMAT = Format(name="locomo", label="LoCoMo conversations", recognise=recognise, read=read)
