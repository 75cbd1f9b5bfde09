"""Claude Code sessions: JSONL under ``~/.claude/projects``, one file a session or subagent.

Lines have a ``type``. ``user`` and ``assistant`` lines are talk: ``uuid``, ``parentUuid``,
``sessionId``, ``timestamp``, ``message {role, content}`` with text, thinking, tool_use,
tool_result and image blocks; one reply of the model may be spread over several lines.
``summary`` and title lines name the session; a ``compact_boundary`` marks where the program
summarised; snapshots, queue operations, progress and types yet to be invented are no talk.

The log repeats lines (same ``uuid``), forks when a prompt is edited (two prompts under one
parent; the later in the file is live), and carries text that nobody typed: command wrappers,
meta lines, reminders, compaction summaries, the prompts of subagents. What a person typed
while the model worked is an ``attachment`` of type ``queued_command``. The file is read twice:
first its links, then its turns, so the whole log is never in memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from memcli.importers.blocks import Passage, passages
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
from memcli.importers.jsonvalues import Item, json_lines, rejected_value, sheltered
from memcli.importers.moments import stated
from memcli.importers.shape import shape_of
from memcli.records.codec import dumps
from memcli.records.evidence import Branch, Role

_TALK = ("user", "assistant")
_WRAPPERS = ("command-", "local-command-", "bash-", "user-memory-", "task-notification")
_REMINDER = ("<system-reminder>", "</system-reminder>")
_INTERRUPTED = "[Request interrupted by user"
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

    children: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    prompts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    known: set[str] = field(default_factory=set)
    titles: dict[str | None, str] = field(default_factory=dict)
    summaries: list[tuple[str | None, str]] = field(default_factory=list)
    first_session: str | None = None

    def note(self, record: dict[str, Any]) -> None:
        """Take in one line."""
        uuid, parent = _text(record, "uuid"), _text(record, "parentUuid")
        self.first_session = self.first_session or _text(record, "sessionId")
        self._note_title(record)
        if uuid is None or uuid in self.known:
            return
        self.known.add(uuid)
        if parent is not None:
            self.children[parent].append(uuid)
            if _is_prompt(record):
                self.prompts[parent].append(uuid)

    def _note_title(self, record: dict[str, Any]) -> None:
        kind = record.get("type")
        title = next((text for key in _TITLE_KEYS if (text := _text(record, key))), None)
        if kind == "summary" and title:
            self.summaries.append((_text(record, "leafUuid"), title))
        elif isinstance(kind, str) and kind.endswith("-title") and title:
            self.titles[_text(record, "sessionId")] = title

    def title(self, session: str | None) -> str | None:
        """Return a session's title: given, else the summary of its own lines, else the only one."""
        own = [text for leaf, text in self.summaries if leaf in self.known]
        only = [text for _, text in self.summaries] if len(self.summaries) == 1 else []
        return self.titles.get(session) or next(iter([*own[-1:], *only]), None)

    def abandoned(self) -> frozenset[str]:
        """Return the lines on branches that a later prompt under the same parent replaced."""
        waiting = [uuid for prompts in self.prompts.values() for uuid in prompts[:-1]]
        found = set[str]()
        while waiting:
            uuid = waiting.pop()
            if uuid not in found:
                found.add(uuid)
                waiting += self.children.get(uuid, ())
        return frozenset(found)


def _text(record: dict[str, Any], key: str) -> str | None:
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def _content(record: dict[str, Any]) -> str | list[Any] | None:
    """Return what a line says: its message, a queued prompt, or the program's notice."""
    message, queued = record.get("message"), record.get("attachment")
    content = message.get("content") if isinstance(message, dict) else None
    if _kind(record) == "queued_command" and isinstance(queued, dict):
        content = queued.get("prompt")
    elif _kind(record) == "notice":
        content = record.get("content")
    return content if isinstance(content, str | list) else None


def _kind(record: dict[str, Any]) -> str | None:
    """Return the kind of a line: its type, or what exactly an attachment or notice is.

    A ``system`` line that says something is a ``notice``; a compaction mark says nothing new.
    """
    kind, inner = _text(record, "type"), record.get("attachment")
    if kind == "attachment" and isinstance(inner, dict):
        return _text(inner, "type") or kind
    if kind == "system":
        subtype = _text(record, "subtype")
        says = subtype != "compact_boundary" and record.get("content")
        return "notice" if says else subtype or kind
    return kind


def _is_prompt(record: dict[str, Any]) -> bool:
    """Say whether a line is something a person typed."""
    content = _content(record)
    if record.get("type") != "user" or content is None:
        return False
    found = passages(content)
    typed = [each for each in found if each.kind == "text"]
    return len(typed) == len(found) and all(
        _words_role(record, each.text) == "user" for each in typed
    )


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


class _Reader:
    """The second pass: what has been said, and in which session the log now is."""

    def __init__(self, survey: _Survey, options: ReadOptions) -> None:
        self._survey, self._options = survey, options
        self._abandoned = survey.abandoned()
        self._session = survey.first_session
        self._said: dict[str, int] = {}
        self._roots: dict[str, str] = {}

    def record(self, item: Item) -> Iterator[Event]:
        """Yield the events of one line."""
        kind = _kind(item.value)
        if kind is None:
            yield rejected_value(item.where, "record without a type", item.value)
        elif kind in _TALK or kind in ("queued_command", "notice"):
            yield from self._talk(item, _content(item.value))
        else:
            yield Ignored(kind=kind)

    def _talk(self, item: Item, content: str | list[Any] | None) -> Iterator[Event]:
        record, uuid = item.value, _text(item.value, "uuid")
        if content is None:
            yield rejected_value(item.where, "record without text", record)
            return
        if uuid is not None:
            said = hash(dumps(content))
            if self._said.setdefault(uuid, said) != said:
                yield Warned(
                    where=item.where, reason=f"uuid {uuid} stands for another text already"
                )
                uuid = None
            elif uuid in self._roots:
                yield Repeated(where=item.where)
                return
            else:
                parent = _text(record, "parentUuid") or ""
                self._roots[uuid] = self._roots.get(parent, uuid)
        time = stated(record.get("timestamp"), self._options.tz)
        if time is None and record.get("timestamp") is not None:
            yield Warned(where=item.where, reason="timestamp is not understood")
        self._session = _text(record, "sessionId") or self._session
        yield from self._turns(item, uuid, passages(content), time)

    def _turns(
        self, item: Item, uuid: str | None, found: list[Passage], time: Moment | None
    ) -> Iterator[Event]:
        record, counts = item.value, dict[str, int]()
        branch = self._branch(record, uuid)
        session = self._session
        if branch == "sidechain":
            session = f"agent-{_text(record, 'agentId') or self._roots.get(uuid or '', 'unknown')}"
        for passage in found:
            role = _role(record, passage)
            if role == "reasoning" and not passage.text:
                yield Ignored(kind="thinking without text")
                continue
            number = counts[passage.kind] = counts.get(passage.kind, -1) + 1
            yield Draft(
                role=role,
                text=passage.text,
                conversation=self._session,
                session=session,
                native_id=uuid,
                part="text"
                if passage.kind == "text" and number == 0
                else f"{passage.kind}/{number}",
                time=time,
                branch=branch,
                caption=passage.caption,
                title=self._survey.title(self._session),
                line=item.line,
            )

    def _branch(self, record: dict[str, Any], uuid: str | None) -> Branch:
        if _is_sidechain(record):
            return "sidechain"
        return "abandoned" if uuid in self._abandoned else "active"


def _is_sidechain(record: dict[str, Any]) -> bool:
    return record.get("isSidechain") is True or _text(record, "agentId") is not None


def _role(record: dict[str, Any], passage: Passage) -> Role:
    kinds: dict[str, Role] = {"call": "tool", "result": "tool", "reasoning": "reasoning"}
    return kinds.get(passage.kind) or _words_role(record, passage.text)


def _words_role(record: dict[str, Any], text: str) -> Role:
    """Return whose words a text is: a person's, the model's, or a program's."""
    if record.get("type") == "system":
        return "system"
    message = record.get("message")
    if record.get("type") == "assistant":
        model = message.get("model") if isinstance(message, dict) else None
        failed = record.get("isApiErrorMessage") is True or model == "<synthetic>"
        return "system" if failed else "assistant"
    queued = record.get("attachment")
    if isinstance(queued, dict) and queued.get("commandMode") == "task-notification":
        return "injected"
    marks = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
    is_program = any(record.get(mark) is True for mark in marks) or _is_sidechain(record)
    return "injected" if is_program or _is_wrapper(text) else "user"


def _is_wrapper(text: str) -> bool:
    """Say whether a program wrote the whole text in the user's place."""
    bare = _without_reminders(text).strip()
    if text and not bare:
        return text.strip() != ""
    if bare.startswith(_INTERRUPTED):
        return True
    return any(bare.startswith(f"<{name}") for name in _WRAPPERS) and bare.endswith(">")


def _without_reminders(text: str) -> str:
    """Return a text without its closed reminder blocks; linear however many there are."""
    kept, position = list[str](), 0
    opening, closing = _REMINDER
    while (start := text.find(opening, position)) >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        kept.append(text[position:start])
        position = end + len(closing)
    return "".join([*kept, text[position:]])


FORMAT = Format(
    name="claude_code",
    label="Claude Code session",
    recognise=recognise,
    read=read,
    companions=frozenset({"*.meta.json", "tool-results/*", "sessions-index.json", "memory/*"}),
)
