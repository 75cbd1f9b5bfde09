"""Claude Code sessions: JSONL under ``~/.claude/projects``, one file a session or subagent.

Lines have a ``type``. ``user`` and ``assistant`` lines are talk: ``uuid``, ``parentUuid``,
``sessionId``, ``timestamp``, ``message {role, content}`` with text, thinking, tool_use,
tool_result and image blocks; one reply of the model may be spread over several lines.
``summary`` and title lines name the session; a ``compact_boundary`` marks where the program
summarised; snapshots, queue operations, progress and types yet to be invented are no talk.
What a person typed while the model worked is an ``attachment`` of type ``queued_command``.

The log repeats lines (same ``uuid``), forks (`claude_links`) and carries text that nobody
typed (`claude_words`). A subagent's talk (``isSidechain``, ``agentId``) is a session of its
own within the conversation, in a file of its own or amid the main talk. A resumed session
begins with copies of the lines of the one before; where their ``sessionId`` is the old one,
or ``forkedFrom`` names it, they belong to that conversation, and a file that holds nothing
else adds nothing. The file is read twice: first its links, then its turns, so the log is
never in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from memcli.importers.claude_links import Links
from memcli.importers.claude_words import content_of, is_sidechain, kind_of, spoken
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
from memcli.importers.fields import first_text, object_of, text_of
from memcli.importers.jsonvalues import Item, brief, json_lines, rejected_value, sheltered
from memcli.importers.moments import stated
from memcli.importers.shape import shape_of
from memcli.importers.table import Table
from memcli.records.codec import dumps
from memcli.records.evidence import Branch

_TALK = ("user", "assistant")
_TITLE_KEYS = ("summary", "customTitle", "aiTitle", "title")


def recognise(source: Input) -> str | None:
    """Return the evidence that lines are records of a session, or None."""
    shape = shape_of(source)
    records = [item for item in shape.objects if _is_record(item)]
    if shape.kind in ("lines", "object") and records and 2 * len(records) >= len(shape.objects):
        return "lines have 'type', 'sessionId' and 'uuid' or are its snapshots and summaries"
    return None


def _is_record(item: dict[str, Any]) -> bool:
    kind = item.get("type")
    if kind in _TALK:
        return "message" in item and bool({"uuid", "sessionId", "parentUuid"} & item.keys())
    named = {"sessionId", "leafUuid", "snapshot"} & item.keys()
    return isinstance(kind, str) and bool(named) and "projectHash" not in item


@dataclass(slots=True)
class _Survey:
    """What the first pass learns: links between lines, and what the session is called."""

    links: Links = field(default_factory=Links)
    titles: dict[str | None, str] = field(default_factory=dict)
    summaries: list[tuple[str | None, str]] = field(default_factory=list)
    first_session: str | None = None

    def note(self, record: dict[str, Any]) -> None:
        """Take in one line."""
        self.first_session = self.first_session or text_of(record, "sessionId")
        kind, title = record.get("type"), first_text(record, *_TITLE_KEYS)
        if kind == "summary" and title:
            self.summaries.append((text_of(record, "leafUuid"), title))
        elif isinstance(kind, str) and kind.endswith("-title") and title:
            self.titles[text_of(record, "sessionId")] = title
        self.links.note(record)

    def title(self, session: str | None) -> str | None:
        """Return a session's title: given, else the summary of its own lines, else the only one."""
        own = [text for leaf, text in self.summaries if leaf is not None and leaf in self.links]
        only = [text for _, text in self.summaries] if len(self.summaries) == 1 else []
        return self.titles.get(session) or next(iter([*own[-1:], *only]), None)


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns of the log in file order."""
    survey = _Survey()
    for item in json_lines(source):
        if isinstance(item, Item) and isinstance(item.value, dict):
            with suppress(RecursionError):  # the second pass rejects the record
                survey.note(item.value)
    reader = _Reader(survey, options)
    for item in json_lines(source):
        if isinstance(item, Rejected):
            yield item
        elif not isinstance(item.value, dict):
            yield rejected_value(item.where, "not a session record: no object", item.value)
        else:
            yield from sheltered(item.where, reader.record(item))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a line belongs: its conversation and the sitting in it."""

    conversation: str | None
    session: str | None
    title: str | None
    branch: Branch
    is_copy: bool


class _Reader:
    """The second pass: what has been said, and in which session the log now is."""

    def __init__(self, survey: _Survey, options: ReadOptions) -> None:
        self._survey, self._options = survey, options
        self._session = survey.first_session
        self._said = Table()
        self._roots: dict[str, str] = {}
        self._titled: dict[str | None, str | None] = {}

    def record(self, item: Item) -> Iterator[Event]:
        """Yield the events of one line."""
        kind = kind_of(item.value)
        if kind is None:
            yield rejected_value(item.where, "record without a type", item.value)
        elif kind in _TALK or kind in ("queued_command", "notice"):
            yield from self._talk(item, content_of(item.value))
        else:
            yield Ignored(kind=kind)

    def _talk(self, item: Item, content: str | list[Any] | None) -> Iterator[Event]:
        record = item.value
        if content is None:
            yield rejected_value(item.where, "record without text", record)
            return
        self._session = text_of(record, "sessionId") or self._session
        place, uuid = self._place(record), text_of(record, "uuid")
        if place.is_copy:
            uuid = text_of(object_of(record, "forkedFrom"), "messageUuid")
        if uuid is not None:
            said = hash(dumps(content))
            known = self._said.get(hash(uuid))
            if known == said:
                yield Repeated(where=item.where)
                return
            if known is not None:
                yield Warned(
                    where=item.where, reason=f"uuid {uuid} stands for another text already"
                )
                uuid = None
            else:
                self._said.put(hash(uuid), said)
        given = record.get("timestamp")
        time = stated(given, self._options.tz)
        if time is None and given is not None:
            yield Warned(where=item.where, reason=f"timestamp is not understood: {brief(given)}")
        yield from _turns(item, content, place, uuid, time)

    def _place(self, record: dict[str, Any]) -> _Place:
        """Return where a line belongs; a copy of another session's line belongs there."""
        origin = object_of(record, "forkedFrom")
        first = text_of(origin, "sessionId")
        is_copy = first is not None and text_of(origin, "messageUuid") is not None
        conversation = first if is_copy else self._session
        branch, session = self._branch(record), conversation
        if branch == "sidechain":
            session = f"agent-{text_of(record, 'agentId') or self._root(record)}"
        return _Place(
            conversation=conversation,
            session=session,
            title=self._title(conversation) if conversation == self._session else None,
            branch=branch,
            is_copy=is_copy,
        )

    def _branch(self, record: dict[str, Any]) -> Branch:
        if is_sidechain(record):
            return "sidechain"
        uuid = text_of(record, "uuid")
        return "abandoned" if uuid is not None and self._survey.links.is_left(uuid) else "active"

    def _root(self, record: dict[str, Any]) -> str:
        """Return the first line of the side talk that a line without an agent's id is of."""
        uuid = text_of(record, "uuid") or "unknown"
        root = self._roots.get(text_of(record, "parentUuid") or "", uuid)
        return self._roots.setdefault(uuid, root)

    def _title(self, session: str | None) -> str | None:
        if session not in self._titled:
            self._titled[session] = self._survey.title(session)
        return self._titled[session]


def _turns(
    item: Item, content: str | list[Any], place: _Place, uuid: str | None, time: Moment | None
) -> Iterator[Event]:
    """Yield the turns of a line: words, thoughts, calls and results, each its own."""
    counts = dict[str, int]()
    for role, passage in spoken(item.value, content):
        if role == "reasoning" and not passage.text:
            yield Ignored(kind="thinking without text")
            continue
        number = counts[passage.kind] = counts.get(passage.kind, -1) + 1
        is_first = passage.kind == "text" and number == 0
        yield Draft(
            role=role,
            text=passage.text,
            conversation=place.conversation,
            session=place.session,
            native_id=uuid,
            part="text" if is_first else f"{passage.kind}/{number}",
            time=time,
            branch=place.branch,
            caption=passage.caption,
            title=place.title,
            line=item.line,
            is_copy=place.is_copy,
        )


FORMAT = Format(
    name="claude_code",
    label="Claude Code session",
    recognise=recognise,
    read=read,
    companions=frozenset({"*.meta.json", "tool-results/*", "sessions-index.json", "memory/*"}),
    is_id_unique=True,
)
