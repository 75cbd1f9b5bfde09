"""Compaction: new generations that hold only the newest record of each id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from memcli.store.checkpoint import copy_broken
from memcli.store.disk import Disk
from memcli.store.jsonl import BUFFER_BYTES, Placement, Tally
from memcli.store.layout import IDENTITY, generation_name, parse_generation
from memcli.store.manifest import FileEntry, Manifest, timestamp
from memcli.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactReport:
    """What a compaction did.

    Attributes:
        records_before: Records by kind, of the kinds it rewrote.
        records_after: The same, afterwards.
        bytes_before: File lengths by kind.
        bytes_after: The same, afterwards; the old files go with the next write.
        checkpoints: Names of the checkpoints that got files of their own.
    """

    records_before: Mapping[str, int]
    records_after: Mapping[str, int]
    bytes_before: Mapping[str, int]
    bytes_after: Mapping[str, int]
    checkpoints: tuple[str, ...] = ()


def compact(disk: Disk, snapshot: Snapshot, now: datetime) -> tuple[CompactReport, Manifest | None]:
    """Write the new generations and return the manifest that names them, not yet saved.

    The newest record of an id takes the place where the id first appeared, so turn order and
    with it every tie-break stays. Traces, in which every record counts, and kinds without a
    superseded record keep their file; where that is all of them, the manifest is None. Undo
    does not reach across a compaction.
    """
    before = snapshot.manifest
    wanted = {kind: places for kind in before.files if (places := _superseding(snapshot, kind))}
    if not wanted:
        return _report(before, before, ()), None
    doomed = {before.files[kind].name for kind in wanted}
    checkpoints = copy_broken(disk, snapshot.path, lambda entry: entry.name in doomed)
    commit = before.commit + 1
    rewritten = {
        kind: _rewrite(disk, snapshot, kind, places, commit) for kind, places in wanted.items()
    }
    disk.fsync_dir(snapshot.path)
    after = replace(
        before,
        commit=commit,
        committed_at=timestamp(now),
        command="compact",
        batch=None,
        files={**before.files, **rewritten},
        before=(),
    )
    return _report(before, after, tuple(checkpoints)), after


def _superseding(snapshot: Snapshot, kind: str) -> list[Placement]:
    """Return the newest records in order of first appearance; none if all records are."""
    if not IDENTITY[kind]:
        return []
    places = list(snapshot.newest(kind).values())
    return places if len(places) < snapshot.records(kind) else []


def _rewrite(
    disk: Disk, snapshot: Snapshot, kind: str, places: list[Placement], commit: int
) -> FileEntry:
    """Write the records at ``places`` to the next generation, synced."""
    name = _next_name(kind, snapshot.manifest.files[kind].name)
    tally = Tally()
    descriptor = disk.open(snapshot.path / name, fresh=True)
    try:
        with snapshot.reading(kind) as file:
            for place, records in _runs(places):
                file.seek(place.offset)
                data = file.read(place.length)
                disk.write(descriptor, data)
                tally = tally.extend(data, records)
        disk.fsync(descriptor)
    finally:
        disk.close(descriptor)
    return FileEntry.of(tally, name=name, epoch=commit)


def _next_name(kind: str, name: str) -> str:
    parsed = parse_generation(name)
    return generation_name(kind, parsed[1] + 1 if parsed else 1)


def _runs(places: list[Placement]) -> Iterator[tuple[Placement, int]]:
    """Join neighbours, up to a buffer's worth: yield (bytes to copy, lines in them)."""
    run, records = places[0], 1
    for place in places[1:]:
        end = run.offset + run.length
        if place.offset == end and run.length < BUFFER_BYTES:
            run, records = Placement(run.offset, run.length + place.length), records + 1
        else:
            yield run, records
            run, records = place, 1
    yield run, records


def _report(before: Manifest, after: Manifest, checkpoints: tuple[str, ...]) -> CompactReport:
    kinds = [kind for kind in before.files if before.files[kind] != after.files[kind]]
    return CompactReport(
        records_before={kind: before.files[kind].records for kind in kinds},
        records_after={kind: after.files[kind].records for kind in kinds},
        bytes_before={kind: before.files[kind].bytes for kind in kinds},
        bytes_after={kind: after.files[kind].bytes for kind in kinds},
        checkpoints=checkpoints,
    )
