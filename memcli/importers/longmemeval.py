"""LongMemEval: chats with an assistant, a history of dated sessions for each question.

An array of questions (or one an object, or JSONL). ``haystack_sessions`` is a list of
sessions, each a list of ``{role, content, has_answer?}``; ``haystack_session_ids`` and
``haystack_dates`` (``2023/05/20 (Sat) 02:21``, no zone) run parallel to it. A history may be
unsorted and may hold a session id again under another date: that is another session, named
``id@date``. The question, its answer and the ``has_answer`` marks are no talk.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from memcli.importers.bytestream import rejected
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
from memcli.importers.jsonvalues import Item, brief, rejected_value
from memcli.importers.moments import stated
from memcli.importers.shape import from_objects, shape_of
from memcli.records.evidence import Role

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_ABSENT = object()


def recognise(source: Input) -> str | None:
    """Return the evidence that questions have ``haystack_sessions``, or None."""
    shape = shape_of(source)
    if not shape.items and {"haystack_sessions", "question_id"} <= shape.keys:
        return "has 'haystack_sessions', but no question of it parses"
    if shape.kind in ("array", "object", "lines") and any(
        "haystack_sessions" in item for item in shape.objects
    ):
        return "questions have 'haystack_sessions'"
    return None


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Return the turns of each question's history, in the order of the file."""
    return from_objects(source, "a question", lambda item, group: _history(item, group, options))


def _history(item: Item, group: int, options: ReadOptions) -> Iterator[Event]:
    sessions = item.value.get("haystack_sessions")
    if not isinstance(sessions, list):
        yield rejected_value(item.where, "question without a list of sessions", item.value)
        return
    named = item.value.get("question_id")
    conversation = named if isinstance(named, str) and named else None
    history = _History(conversation, group, options)
    ids, dates = (_listed(item.value, key) for key in ("haystack_session_ids", "haystack_dates"))
    parallel = zip_longest(sessions, ids, dates, fillvalue=_ABSENT)
    for number, (turns, name, date) in enumerate(parallel, start=1):
        where = f"{item.where}/session {number}"
        if turns is _ABSENT:
            yield rejected(where, "an id or a date without a session")
        elif not isinstance(turns, list):
            yield rejected_value(where, "session is no list of turns", turns)
        else:
            yield from history.session(where, turns, name, date)
    if "question" in item.value:
        yield Ignored(kind="question")


def _listed(question: dict[str, Any], key: str) -> list[Any]:
    value = question.get(key)
    return value if isinstance(value, list) else []


class _History:
    """The sessions of one question that were read so far, by id."""

    def __init__(self, conversation: str | None, group: int, options: ReadOptions) -> None:
        self._conversation, self._group, self._options = conversation, group, options
        self._dates: dict[str, Any] = {}
        self._turns: dict[str, list[list[Any]]] = {}

    def session(self, where: str, turns: list[Any], name: Any, date: Any) -> Iterator[Event]:
        time = stated(date, self._options.tz)
        if time is None:
            told = "no date" if date is _ABSENT else f"an unknown date: {brief(date)}"
            yield Warned(where=where, reason=f"session has {told}")
        session = self._named(name, date)
        before = self._turns.setdefault(session, []) if session else []
        is_repeated = turns in before
        before.append(turns)
        for number, turn in enumerate(turns, start=1):
            place = f"{where}/turn {number}"
            if is_repeated:
                yield Repeated(where=place)
            else:
                yield self._turn(place, turn, session, time)

    def _named(self, name: Any, date: Any) -> str | None:
        """Return the session's name: its id, with the date if the id stood for another one."""
        if not isinstance(name, str) or not name:
            return None
        first = self._dates.setdefault(name, date)
        return name if first == date else f"{name}@{date if isinstance(date, str) else 'no date'}"

    def _turn(self, where: str, turn: Any, session: str | None, time: Moment | None) -> Event:
        content = turn.get("content") if isinstance(turn, dict) else None
        if not isinstance(content, str):
            return rejected_value(where, "record without text", turn)
        named = turn.get("role")
        role = _ROLES.get(named) if isinstance(named, str) else None
        if role is None:
            return rejected_value(where, f"no known role: {brief(named)}", turn)
        return Draft(
            role=role,
            text=content,
            conversation=self._conversation,
            group=self._group,
            session=session,
            time=time,
        )


FORMAT = Format(name="longmemeval", label="LongMemEval", recognise=recognise, read=read)
