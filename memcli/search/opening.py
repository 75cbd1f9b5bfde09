"""Opening the index of a snapshot for reading, which never writes to the store.

Covered bytes come from the index on disk. What lies beyond its watermark is scanned into a
small index in memory. Where there is no usable index, one is built in a temporary folder for
this process, with a word of warning: only a writer rebuilds the store's own.
"""

from __future__ import annotations

import tempfile
import weakref
from dataclasses import dataclass, replace
from pathlib import Path

from memcli.search.builder import (
    Progress,
    TokenCounter,
    add_turns,
    build_in,
    covers_a_prefix,
    newest_turns,
)
from memcli.search.document import build_schema
from memcli.search.part import Part
from memcli.search.turn_index import TurnIndex
from memcli.search.watermark import IndexMark, read_mark
from memcli.store.layout import DERIVED
from memcli.store.snapshot import Snapshot

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Opened:
    """An index and what the user should know about how it was opened."""

    index: TurnIndex
    warnings: tuple[str, ...] = ()


def open_index(
    snapshot: Snapshot, *, count: TokenCounter, progress: Progress | None = None
) -> Opened:
    """Return the searchable turns of a snapshot.

    Args:
        snapshot: Committed state to search.
        count: Token counter, used only where long turns must be indexed now.
        progress: Called with the number of turns indexed since the last call.
    """
    found = _open_base(snapshot)
    if found is None:
        return _build_aside(snapshot, count, progress)
    base, mark = found
    if mark.bytes >= snapshot.committed_bytes("turns"):
        return Opened(TurnIndex(base, n_terms=mark.terms))
    tail, terms = _scan(snapshot, mark.bytes, count)
    return Opened(TurnIndex(base, tail, n_terms=mark.terms + terms))


def _open_base(snapshot: Snapshot) -> tuple[Part, IndexMark] | None:
    """Return the index on disk, or None where none fits the snapshot or opens.

    A writer may append to it, or swap in another and remove it, while it is being opened:
    then the mark has changed, or the next look finds all files.
    """
    derived = snapshot.path / DERIVED
    for _ in range(_ATTEMPTS):
        mark = read_mark(derived)
        if mark is None or not _serves(snapshot, mark):
            return None
        try:
            part = Part.open(derived / mark.directory)
        except (ValueError, OSError):
            continue
        if part.searcher.num_docs < mark.documents:
            return None
        end = min(mark.bytes, snapshot.committed_bytes("turns"))
        return replace(part, end=end), mark
    return None


def _serves(snapshot: Snapshot, mark: IndexMark) -> bool:
    """Whether the index holds the snapshot's turns up to where either of them ends.

    It may have run ahead of the snapshot, if it only grew since then.
    """
    if covers_a_prefix(snapshot, mark):
        return True
    size = snapshot.committed_bytes("turns")
    if mark.covers is None or not mark.built <= size < mark.bytes:
        return False
    return snapshot.continues("turns", replace(mark.covers, bytes=size))


def _scan(snapshot: Snapshot, start: int, count: TokenCounter) -> tuple[Part, int]:
    """Return an index in memory of the turns from a byte offset on, and its terms."""
    import tantivy

    index = tantivy.Index(build_schema())
    _, terms = add_turns(index, newest_turns(snapshot, start=start), count)
    return Part.of(index), terms


def _build_aside(snapshot: Snapshot, count: TokenCounter, progress: Progress | None) -> Opened:
    folder = tempfile.TemporaryDirectory(prefix="memcli-index-")
    directory = Path(folder.name) / "turns"
    _, terms = build_in(directory, newest_turns(snapshot), count, progress)
    index = TurnIndex(Part.open(directory), n_terms=terms)
    weakref.finalize(index, folder.cleanup)
    if not snapshot.committed_bytes("turns"):
        return Opened(index)
    return Opened(
        index,
        (
            "the search index is missing or out of date; built one for this command only, "
            "the next ingest or `memcli compact` stores it",
        ),
    )
