"""Undo, compaction, verification: the store and its index, kept whole together."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from memcli.app.stores import level_index
from memcli.app.strategy_store import strategy_faults
from memcli.budgets import count_tokens_batch
from memcli.records.codec import turn_from_line
from memcli.search.builder import covers_a_prefix
from memcli.search.lesson_index import lesson_faults
from memcli.search.opening import open_index
from memcli.search.watermark import read_mark
from memcli.store import repair, verify
from memcli.store.compact import CompactReport
from memcli.store.layout import DERIVED
from memcli.store.manifest import Manifest
from memcli.store.snapshot import Snapshot
from memcli.store.store import Store

_SAMPLED = 64
"""Turns whose index entry is compared with the stored line."""

_NAMED = 20
"""Faults of strategies that are named one by one, of each kind of record."""


def undo(store: Store, *, now: datetime, wait_s: float) -> tuple[Manifest, Manifest]:
    """Take back the last step and return the manifests (before, after).

    Raises:
        NothingFound: If there is nothing to take back.
    """
    with store.writer(now=now, wait_s=wait_s, command="undo") as writer:
        before = writer.snapshot.manifest
        after = writer.undo()
        level_index(writer.snapshot, done=f"the {before.command} is taken back")
    return before, after


def compact(store: Store, *, now: datetime, wait_s: float) -> CompactReport:
    """Drop superseded records and bring the index level."""
    with store.writer(now=now, wait_s=wait_s, command="compact") as writer:
        report = writer.compact()
        level_index(writer.snapshot, done="the store is compacted")
    return report


def verify_store(path: Path) -> verify.Report:
    """Return what is wrong with a store, its search index included; changes nothing."""
    report = verify.verify(path)
    if not report.is_sound:
        return report
    snapshot = Store.open(path).snapshot()
    found = _index_findings(snapshot, report) + _lesson_findings(snapshot)
    found += _strategy_findings(snapshot)
    return replace(report, findings=report.findings + tuple(found))


def _lesson_findings(snapshot: Snapshot) -> list[verify.Finding]:
    return [verify.Finding("warning", DERIVED, words) for words in lesson_faults(snapshot)]


def _strategy_findings(snapshot: Snapshot) -> list[verify.Finding]:
    """Compare S and F with a replay of the log; check lessons, edges and index lines."""
    by_kind: dict[str, list[str]] = {}
    for kind, words in strategy_faults(snapshot):
        by_kind.setdefault(kind, []).append(words)
    found = []
    for kind, faults in by_kind.items():
        where = f"{kind}.jsonl"
        found += [verify.Finding("warning", where, words) for words in faults[:_NAMED]]
        if len(faults) > _NAMED:
            more = f"{len(faults) - _NAMED:,} more faults of this kind of record"
            found.append(verify.Finding("warning", where, more))
    return found


def _index_findings(snapshot: Snapshot, report: verify.Report) -> list[verify.Finding]:
    """Compare the index with the turns it was made from: its count, and a sample of turns."""
    mark = read_mark(snapshot.path / DERIVED)
    if mark is None:
        missing = "the search index is missing; the next ingest builds it"
        return [verify.Finding("note", DERIVED, missing)] if snapshot.records("turns") else []
    if not covers_a_prefix(snapshot, mark) or mark.bytes < snapshot.committed_bytes("turns"):
        return [
            verify.Finding("note", DERIVED, "the search index is behind; the next write mends it")
        ]
    file = report.files.get("turns")
    turns = file.records - file.superseded if file else 0
    if mark.documents != turns:
        words = f"the search index holds {mark.documents:,} turns of {turns:,}"
        return [verify.Finding("warning", DERIVED, words)]
    return _sampled_findings(snapshot)


def _sampled_findings(snapshot: Snapshot) -> list[verify.Finding]:
    opened = open_index(snapshot, count=count_tokens_batch)
    if opened.warnings:
        return [verify.Finding("warning", DERIVED, "the search index does not open")]
    step = max(1, snapshot.records("turns") // _SAMPLED)
    bad = 0
    for offset, line in islice(snapshot.lines("turns"), 0, None, step):
        turn = turn_from_line(line)
        hit = opened.index.by_id([turn.id]).get(turn.id)
        bad += hit is None or hit.offset < offset
    words = f"{bad} of the sampled turns are not where the search index says"
    return [verify.Finding("warning", DERIVED, words)] if bad else []


def repair_store(path: Path, *, now: datetime) -> repair.RepairReport:
    """Repair what can be repaired without losing records unnamed, then the index.

    Raises:
        StoreDamaged: If committed records would be lost silently.
        IndexBehind: If the store is repaired and the index cannot follow.
    """
    report = repair.repair(path, now=now)
    with Store.open(path).writer(now=now, command="verify --repair") as writer:
        level_index(writer.snapshot, done="the store is repaired")
    return report
