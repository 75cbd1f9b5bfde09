"""Annotating a store, resumably, and listing the hubs that follow from it.

An ingest is searchable before this starts. Annotation reads committed turns batch by batch
without a lock and takes the writer's lock only to store a batch, so others write in between
and Ctrl-C loses one batch; the next call goes on where the last one stopped.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from heapq import nsmallest
from itertools import chain, islice, repeat
from time import perf_counter

from memcli.errors import NothingFound
from memcli.evidence.annotate import Annotator, is_annotated
from memcli.evidence.hyperedges import AnnotatedTurn, Hyperedge, Kind, carries, hyperedges
from memcli.records.annotations import annotation_from_line, annotation_to_line
from memcli.records.evidence import Turn
from memcli.store.derived import ANNOTATIONS, Derived, Mark, extend, open_derived
from memcli.store.jsonl import Placement
from memcli.store.snapshot import Snapshot, Watermark
from memcli.store.store import Store

BATCH_TURNS = 2_000
"""Turns annotated between two marks: some seconds of spaCy, all that Ctrl-C can lose."""

WAIT_S = 60.0
"""Seconds to wait for another writer before giving up: annotation is never in a hurry."""

_READ_TURNS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationReport:
    """What `annotate_store` did.

    Attributes:
        annotated: Turns read for names and dates.
        skipped: Turns that are never read: tool output, thoughts, instructions.
        covered: Turn records of the store that are annotated now, earlier ones included.
        total: Turn records of the store.
        seconds: Wall time.
        warnings: What the user should know, e.g. that no pipeline is installed.
    """

    annotated: int
    skipped: int
    covered: int
    total: int
    seconds: float
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the report as JSON values; seconds are left out, they differ each time."""
        return {
            "annotated": self.annotated,
            "skipped": self.skipped,
            "covered": self.covered,
            "total": self.total,
        }


@dataclass(frozen=True, slots=True)
class _Batch:
    """Turns that follow what is annotated, as read without a lock."""

    turns: Sequence[Turn]
    covers: Watermark
    after: Mark | None


def annotation_version(annotator: Annotator, tz: tzinfo) -> str:
    """Return what keys stored annotations: the annotator, and the zone that days are told in."""
    return f"{annotator.version}, days in {tz}"


def annotate_store(
    store: Store,
    annotator: Annotator,
    *,
    tz: tzinfo,
    now: datetime,
    wait_s: float = WAIT_S,
    progress: Callable[[int], None] | None = None,
) -> AnnotationReport:
    """Annotate every turn that is not annotated yet.

    Annotations of another version, or of turns that an undo or a compaction took away, are
    made anew. With the annotator ``none`` nothing is read or written.

    Args:
        store: The store.
        annotator: Of `evidence.annotate.annotator`.
        tz: Zone in which days begin and end.
        now: Shown to whoever waits for the lock.
        wait_s: Seconds to wait for another writer, each time.
        progress: Called with the number of turns done since the last call.

    Raises:
        MemcliError: If the pipeline does not load.
        StoreLocked: If another writer holds the store longer than ``wait_s``.
        StoreReadOnly: If the store cannot be written.
    """
    begin = perf_counter()
    version = annotation_version(annotator, tz)
    read = skipped = 0
    while annotator.name != "none" and (batch := _next_batch(store.snapshot(), version)):
        if _store_batch(store, batch, annotator, tz, now, wait_s):
            said = sum(map(is_annotated, batch.turns))
            read += said
            skipped += len(batch.turns) - said
            if progress is not None:
                progress(len(batch.turns))
    snapshot = store.snapshot()
    return AnnotationReport(
        annotated=read,
        skipped=skipped,
        covered=covered(snapshot, version),
        total=snapshot.records("turns"),
        seconds=perf_counter() - begin,
        warnings=annotator.warnings,
    )


def _next_batch(snapshot: Snapshot, version: str) -> _Batch | None:
    """Return the turns that come next, or None when all are annotated."""
    mark = _mark(open_derived(snapshot, ANNOTATIONS, version))
    whole = snapshot.watermark("turns")
    start = mark.covers.bytes if mark else 0
    found = list(islice(snapshot.turns(start=start), BATCH_TURNS))
    if whole is None or not found:
        return None
    end = found[-1][0].offset + found[-1][0].length
    return _Batch([turn for _, turn in found], replace(whole, bytes=end), mark)


def _store_batch(
    store: Store,
    batch: _Batch,
    annotator: Annotator,
    tz: tzinfo,
    now: datetime,
    wait_s: float,
) -> bool:
    """Annotate a batch and store it; False where the store has changed under it."""
    lines = [annotation_to_line(found) for found in annotator.annotate(batch.turns, tz=tz)]
    with store.writer(now=now, wait_s=wait_s, command="annotate") as writer:
        mark = extend(
            store.disk,
            writer.snapshot,
            ANNOTATIONS,
            annotation_version(annotator, tz),
            lines,
            covers=batch.covers,
            after=batch.after,
        )
    return mark is not None


def covered(snapshot: Snapshot, version: str | None = None) -> int:
    """Return how many turn records are annotated, from the first one on.

    Args:
        snapshot: Committed state.
        version: Of `annotation_version`; None for whichever there is.
    """
    mark = _mark(open_derived(snapshot, ANNOTATIONS, version))
    return mark.records if mark else 0


def _mark(derived: Derived | None) -> Mark | None:
    return derived.mark if derived else None


def annotated_turns(snapshot: Snapshot, version: str | None = None) -> Iterator[AnnotatedTurn]:
    """Yield the newest record of every turn with its annotation, session by session.

    Sessions come in the order of their first turn in the store, turns in stored order. Costs
    two readings of the turns; memory is about 150 bytes a turn.

    Args:
        snapshot: Committed state.
        version: Of `annotation_version`; None for whichever annotations there are.

    Raises:
        RecordError: At a line that is no turn or no annotation.
        StoreError: If a writer took the files away while they were read.
    """
    derived = open_derived(snapshot, ANNOTATIONS, version)
    table = _Table.of(snapshot, derived)
    rows = table.newest()
    while part := list(islice(rows, _READ_TURNS)):
        turns = snapshot.read_turns([table.turn(row) for row in part])
        places = [place for row in part if (place := table.annotation(row)) is not None]
        lines = iter(derived.read_lines(places) if derived else ())
        for row, turn in zip(part, turns, strict=True):
            known = table.annotation(row) is not None
            yield turn, annotation_from_line(next(lines)) if known else None


@dataclass(frozen=True, slots=True)
class _Table:
    """Where every turn record and its annotation are, and which session it is of."""

    turns: array[int]
    annotations: array[int]
    sessions: array[int]
    newest_rows: dict[int, int]

    @classmethod
    def of(cls, snapshot: Snapshot, derived: Derived | None) -> _Table:
        table = cls(array("q"), array("q"), array("q"), {})
        numbers: dict[tuple[str, str], int] = {}
        lines = derived.lines() if derived else iter(())
        ends = chain(((at, len(line) + 1) for at, line in lines), repeat((-1, 0)))
        for row, ((place, turn), known) in enumerate(zip(snapshot.turns(), ends, strict=False)):
            table.turns.extend((place.offset, place.length))
            table.annotations.extend(known)
            key = (turn.conversation, turn.session)
            table.sessions.append(numbers.setdefault(key, len(numbers)))
            table.newest_rows[hash(turn.id)] = row
        return table

    def newest(self) -> Iterator[int]:
        """Return the rows of the newest records, session by session."""
        return iter(sorted(self.newest_rows.values(), key=lambda row: (self.sessions[row], row)))

    def turn(self, row: int) -> Placement:
        return Placement(self.turns[2 * row], self.turns[2 * row + 1])

    def annotation(self, row: int) -> Placement | None:
        offset, length = self.annotations[2 * row], self.annotations[2 * row + 1]
        return Placement(offset, length) if length else None


def anchor_rows(
    snapshot: Snapshot,
    version: str | None = None,
    *,
    tz: tzinfo,
    kind: Kind | None = None,
    limit: int | None = None,
) -> list[Hyperedge]:
    """Return the hubs of a store, by kind, then most turns first, then anchor.

    Args:
        snapshot: Committed state.
        version: Of `annotation_version`; None for whichever annotations there are. Turns that
            wait for theirs count with what needs none: words, sessions, the day they were said.
        tz: Zone in which days begin and end.
        kind: Only hubs of this kind.
        limit: At most so many; None for all.
    """
    found = hyperedges(annotated_turns(snapshot, version), tz=tz)
    wanted = (edge for edge in found if kind in (None, edge.kind))
    return sorted(wanted, key=_rank) if limit is None else nsmallest(limit, wanted, key=_rank)


def _rank(edge: Hyperedge) -> tuple[str, int, str]:
    return edge.kind, -edge.turns, edge.anchor


def anchor_turns(
    snapshot: Snapshot, name: str, version: str | None = None, *, tz: tzinfo
) -> list[Turn]:
    """Return the turns of one hub in order of time, undated ones first.

    Args:
        snapshot: Committed state.
        name: An anchor as `anchor_rows` gives it, or a name or word as people write it.
        version: See `anchor_rows`.
        tz: Zone in which days begin and end.

    Raises:
        NothingFound: If no turn carries it.
    """
    found = [
        turn
        for turn, annotation in annotated_turns(snapshot, version)
        if carries(turn, annotation, name, tz=tz)
    ]
    if not found:
        raise NothingFound(
            f"no turn belongs to {name!r}", hint="`memcli inspect anchors` lists the hubs"
        )
    return sorted(found, key=lambda turn: (turn.time or "", turn.conversation, turn.seq, turn.id))
