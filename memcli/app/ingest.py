"""The ingest: transcripts in, verbatim, once.

Reads each input as a stream, settles every conversation against what is known, appends new
turns and commits whenever enough have gathered, so that memory stays flat and Ctrl-C keeps
what was reported. All commits of one ingest are one step of undo. The index follows every
commit; annotation (``annotations``) is a step of its own, after it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from memcli.app.known import KnownTurns
from memcli.app.outline import Outline, shared_beginning
from memcli.app.tool_logs import SETTING, TOOLS, taken_in
from memcli.budgets import count_tokens_batch
from memcli.errors import IndexBehind, SourceFormatError
from memcli.importers.contract import (
    DateOrder,
    Draft,
    Event,
    Ignored,
    ReadOptions,
    Rejected,
    Repeated,
    Warned,
)
from memcli.importers.detect import Source, formats, gather
from memcli.importers.identity import (
    Settled,
    name_of_new,
    print_of,
    settle,
    settle_next,
)
from memcli.importers.inputs import Unreadable
from memcli.importers.own_words import without_own_words
from memcli.records.evidence import Turn, spoken_line
from memcli.search.builder import bring_up_to_date
from memcli.search.opening import open_index
from memcli.store.layout import DERIVED
from memcli.store.snapshot import Snapshot
from memcli.store.store import Store, Writer

COMMIT_TURNS = 20_000
COMMIT_CHARS = 32_000_000
"""New turns, or characters of them, after which what has been read is committed."""

BUFFER_DRAFTS = 5_000
BUFFER_CHARS = 16_000_000
"""Drafts, or characters of them, held back to put interleaved conversations together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions:
    """What the user decides about an ingest.

    Attributes:
        format: Format to take instead of recognising it.
        tz: Zone of times that state none.
        date_order: What numeric dates mean where a file does not prove it.
        conversation: Conversation to put the turns in.
        tool: The tool whose logs were looked for; the store remembers it.
        dry_run: Whether to report only.
        wait_s: Seconds to wait for another writer.
    """

    format: str | None = None
    tz: tzinfo
    date_order: DateOrder | None = None
    conversation: str | None = None
    tool: str | None = None
    dry_run: bool = False
    wait_s: float = 0.0


@dataclass(slots=True)
class IngestReport:
    """What an ingest did; counts are of turns unless they say otherwise."""

    files: list[dict[str, str]] = field(default_factory=list)
    read: int = 0
    added: int = 0
    already: int = 0
    duplicates: int = 0
    updated: int = 0
    grown: int = 0
    new_conversations: int = 0
    no_time: int = 0
    zone_assumed: int = 0
    ignored: Counter[str] = field(default_factory=Counter)
    rejected: list[Rejected] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    stored_turns: int = 0
    dry_run: bool = False

    def as_dict(self) -> dict[str, object]:
        """Return the report as JSON values."""
        return {
            "files": self.files,
            "read": self.read,
            "added": self.added,
            "already_there": self.already,
            "duplicates": self.duplicates,
            "updated": self.updated,
            "grown_conversations": self.grown,
            "new_conversations": self.new_conversations,
            "without_time": self.no_time,
            "zone_assumed": self.zone_assumed,
            "not_talk": dict(sorted(self.ignored.items())),
            "rejected": [_rejected(r) for r in self.all_rejected()],
            "warnings": [{"where": w.where, "reason": w.reason} for w in self.warnings],
            "stored_turns": self.stored_turns,
            "dry_run": self.dry_run,
        }

    def all_rejected(self) -> list[Rejected]:
        """Return rejected records and, as records of their own, unreadable files."""
        files = [Rejected(where=u.name, reason=_words(u)) for u in self.unreadable]
        return [*self.rejected, *files]


def _rejected(rejected: Rejected) -> dict[str, str]:
    return {"where": rejected.where, "reason": rejected.reason, "raw": rejected.raw}


def _words(unreadable: Unreadable) -> str:
    message = unreadable.error.message
    return message.removeprefix(f"{unreadable.name}: ")


def known_formats() -> list[dict[str, str | None]]:
    """Return name, label and, where its files can be found, ``--from`` of each format, by name."""
    tools = {tool.format: tool.name for tool in TOOLS}
    return [
        {"name": each.name, "label": each.label, "from": tools.get(each.name)}
        for each in sorted(formats(), key=lambda each: each.name)
    ]


def find_sources(paths: Sequence[str], format_name: str | None) -> list[Source | Unreadable]:
    """Return what there is to read, recognised, before anything is written.

    Raises:
        SourceFormatError: If none of it can be read.
    """
    found = list(gather(paths, name=format_name))
    if any(isinstance(each, Source) for each in found):
        return found
    if not found:
        raise SourceFormatError(
            f"nothing to read in {', '.join(paths)}", hint="give a transcript, a folder or a zip"
        )
    first = found[0]
    if len(found) == 1 and isinstance(first, Unreadable):
        raise first.error
    reasons = "; ".join(each.error.message for each in found[:3] if isinstance(each, Unreadable))
    raise SourceFormatError(f"none of {len(found)} inputs can be read: {reasons}")


def ingest(
    store: Store,
    sources: Sequence[Source | Unreadable],
    options: IngestOptions,
    *,
    now: datetime,
    progress: Callable[[int], None] | None = None,
) -> IngestReport:
    """Store the turns of transcripts and report what happened.

    Args:
        store: Where to.
        sources: What `find_sources` found.
        options: See `IngestOptions`.
        now: Time of the commits.
        progress: Called with the number of turns read since the last call.

    Raises:
        StoreLocked: If another writer holds the store.
    """
    if options.dry_run:
        return _read_all(_Run(store.snapshot(), None, options, progress), sources)
    with store.writer(now=now, wait_s=options.wait_s, command="ingest") as writer:
        return _read_all(_Run(writer.snapshot, writer, options, progress), sources)


def _read_all(run: _Run, sources: Sequence[Source | Unreadable]) -> IngestReport:
    """Read every source; one that turns out to be unreadable costs only itself."""
    unreadable = run.report.unreadable
    for source in sources:
        if isinstance(source, Unreadable):
            unreadable.append(source)
            continue
        try:
            run.read(source)
        except SourceFormatError as error:
            unreadable.append(Unreadable(source.input.name, error))
    run.finish()
    if run.report.read == 0 and len(unreadable) == len(sources) > 0:
        raise unreadable[0].error
    return run.report


class _Run:
    """One ingest under way."""

    def __init__(
        self,
        snapshot: Snapshot,
        writer: Writer | None,
        options: IngestOptions,
        progress: Callable[[int], None] | None,
    ) -> None:
        self.report = IngestReport(dry_run=options.dry_run)
        self._writer, self._options = writer, options
        self._batch = f"ingest-{snapshot.manifest.commit}"
        self._progress = progress or (lambda _: None)
        self._uncommitted = self._uncommitted_chars = 0
        self._grown: set[str] = set()
        self._new: set[str] = set()
        self._parts: dict[Key, _Part | None] = {}
        self._known: KnownTurns | None = None
        self._take_in(snapshot)

    def _take_in(self, snapshot: Snapshot) -> None:
        """Go on from what is committed now; a writer brings the index level with it.

        An index that cannot follow costs a warning and time, not the ingest: the turns are
        stored, and what is known is then looked up in an index made for this command.
        """
        self._snapshot, self._known = snapshot, None
        if self._writer is None:
            return
        try:
            bring_up_to_date(snapshot, count=count_tokens_batch)
        except IndexBehind as error:
            behind = Warned(where=DERIVED, reason=f"{error.message}; {error.hint}")
            if behind not in self.report.warnings:
                self.report.warnings.append(behind)

    def _look_up(self) -> KnownTurns:
        """Return what is known; opened when it is first asked."""
        if self._known is None:
            index = open_index(self._snapshot, count=count_tokens_batch).index
            self._known = KnownTurns(self._snapshot, index)
        return self._known

    def read(self, source: Source) -> None:
        """Read one input to its end."""
        name = source.input.name
        self.report.files.append(
            {"file": name, "format": source.format.name, "evidence": source.evidence}
        )
        taken: set[str] = set()
        for key, drafts, is_part in _groups(self._drafts(source), self._may_part(source)):
            if is_part:
                self._settle_part(key, drafts, source)
            elif own := self._without_copies(drafts, source):
                self._settle(own, source, taken)
            if self._uncommitted >= COMMIT_TURNS or self._uncommitted_chars >= COMMIT_CHARS:
                self._commit()

    def _may_part(self, source: Source) -> Callable[[Key, Sequence[Draft]], bool]:
        """Return whether a long conversation without an id may be stored in parts.

        It may where it is surely new, or where what it shares with what is stored is all at
        its beginning. To know that, the input is read once more.
        """
        self._parts.clear()

        def may_part(key: Key, drafts: Sequence[Draft]) -> bool:
            if key not in self._parts and self._options.conversation is None:
                self._parts[key] = self._part_of(source, key, drafts)
            return self._parts.get(key) is not None

        return may_part

    def _part_of(self, source: Source, key: Key, drafts: Sequence[Draft]) -> _Part | None:
        known, given = self._look_up(), self._outline(source, key)
        name = name_of_new(drafts, source.input.name, known, given.asked)
        if name is not None:
            return _Part(name)
        for candidate in known.conversations_with(given.asked)[:1]:
            stored = known.prints_in_order(candidate)
            if stored is None:
                continue
            there = shared_beginning(array("q", map(hash, stored)), given.numbers)
            if there is not None:
                return _Part(candidate, there=there)
        return None

    def _outline(self, source: Source, key: Key) -> Outline:
        """Return a conversation of an input in outline; the input is read for it."""
        outline = Outline()
        for event in self._events(source):
            if isinstance(event, Draft) and (event.conversation, event.group) == key:
                outline.add(print_of(event))
        return outline

    def _settle_part(self, key: Key, drafts: Sequence[Draft], source: Source) -> None:
        """Store a part of a long conversation: what is there already is passed over."""
        part = self._parts[key]
        if part is None:
            return
        passed = min(part.there, len(drafts))
        part.there -= passed
        self.report.already += passed
        self._progress(passed)
        if passed == len(drafts):
            return
        settled = settle_next(
            drafts[passed:],
            self._look_up(),
            format_name=source.format.name,
            file=source.input.name,
            conversation=part.name,
        )
        self._store(settled, len(drafts) - passed)

    def _events(self, source: Source) -> Iterator[Event]:
        """Yield what an input tells, without what memcli itself once put into it."""
        wanted = ReadOptions(tz=self._options.tz, date_order=self._options.date_order)
        return without_own_words(source.format.read(source.input, wanted))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the drafts of an input and note every other event."""
        report = self.report
        for event in self._events(source):
            match event:
                case Draft():
                    report.read += 1
                    report.no_time += event.time is None
                    report.zone_assumed += event.time is not None and event.time.zone_assumed
                    yield event
                case Rejected():
                    report.read += 1
                    report.rejected.append(event)
                case Repeated():
                    report.read += 1
                    report.duplicates += 1
                case Ignored():
                    report.ignored[event.kind] += 1
                case Warned():
                    report.warnings.append(event)

    def _settle(self, drafts: Sequence[Draft], source: Source, taken: set[str]) -> None:
        known = self._look_up()
        settled = settle(
            drafts,
            known,
            format_name=source.format.name,
            file=source.input.name,
            conversation=self._options.conversation,
            taken=taken,
        )
        taken.add(settled.conversation)
        self._store(settled, len(drafts))

    def _without_copies(self, drafts: list[Draft], source: Source) -> list[Draft]:
        """Return the drafts that no other conversation told before, where ids tell that."""
        name = drafts[0].conversation
        if not source.format.is_id_unique or name is None or self._options.conversation:
            return drafts
        copies = self._look_up().told_elsewhere(name, drafts)
        self.report.duplicates += len(copies)
        self._progress(len(copies))
        return [draft for number, draft in enumerate(drafts) if number not in copies]

    def _store(self, settled: Settled, n_drafts: int) -> None:
        """Append what a batch added, and count it."""
        known = self._look_up()
        turns = _counted([*settled.added, *settled.updated, *settled.moved])
        if self._writer is not None:
            for turn in turns:
                self._writer.append_turn(turn)
        known.add(turns)
        self._uncommitted += len(turns)
        self._uncommitted_chars += sum(len(turn.text) for turn in turns)
        report = self.report
        report.added += len(settled.added)
        report.updated += len(settled.updated)
        report.already += settled.already
        report.duplicates += settled.repeated
        if settled.added and settled.conversation not in self._new:
            (self._grown if settled.grown else self._new).add(settled.conversation)
        report.grown, report.new_conversations = len(self._grown), len(self._new)
        self._progress(n_drafts)

    def finish(self) -> None:
        """Commit the rest and read the counts back from the disk."""
        self._commit(self._remembered())
        self.report.stored_turns = self._look_up().stored

    def _remembered(self) -> Mapping[str, object] | None:
        """Return the store's settings with the tool whose logs it now knows, None for no change."""
        settings = self._snapshot.manifest.settings
        known = taken_in(settings)
        if self._options.tool is None or self._options.tool in known:
            return None
        return {**settings, SETTING: sorted([*known, self._options.tool])}

    def _commit(self, settings: Mapping[str, object] | None = None) -> None:
        if self._writer is None or not (self._uncommitted or settings):
            return
        self._uncommitted = self._uncommitted_chars = 0
        self._take_in(self._writer.commit(command="ingest", batch=self._batch, settings=settings))


@dataclass(slots=True)
class _Part:
    """A long conversation that is stored part by part.

    Attributes:
        name: The conversation.
        there: How many of its next turns are stored already.
    """

    name: str
    there: int = 0


Key = tuple[str | None, int]
"""A conversation within an input: its id, or None and its ordinal."""


def _groups(
    drafts: Iterator[Draft], may_part: Callable[[Key, Sequence[Draft]], bool]
) -> Iterator[tuple[Key, list[Draft], bool]]:
    """Yield the drafts of one conversation at a time, interleaved ones put together.

    A conversation without an id of its own is yielded whole, because it is recognised by its
    turns, unless it is so long that ``may_part`` is asked and allows parts (marked True). One
    with an id may come in several parts.
    """
    parted: set[Key] = set()
    held: dict[Key, list[Draft]] = {}
    count = chars = 0
    for draft in drafts:
        key = (draft.conversation, draft.group)
        held.setdefault(key, []).append(draft)
        count, chars = count + 1, chars + len(draft.text)
        if count >= BUFFER_DRAFTS or chars >= BUFFER_CHARS:
            keep: dict[Key, list[Draft]] = {}
            if key[0] is None and key not in parted:
                if may_part(key, held[key]):
                    parted.add(key)
                else:
                    keep = {key: held.pop(key)}
            yield from ((each, found, each in parted) for each, found in held.items())
            held = keep
            count = chars = 0
    yield from ((each, found, each in parted) for each, found in held.items())


def _counted(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns with their token counts."""
    counts = count_tokens_batch([spoken_line(t.speaker, t.text, t.caption) for t in turns])
    return [replace(turn, tokens=n) for turn, n in zip(turns, counts, strict=True)]
