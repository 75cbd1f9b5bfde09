"""Opening the index of a snapshot for reading, which never writes to the store.

Covered bytes come from the index on disk. What lies beyond its watermark is scanned into a
small index in memory. Where there is no usable index, one is built in a temporary folder for
this process, with a word of warning: only a writer rebuilds the store's own.
"""

from __future__ import annotations

import tempfile
import weakref
from dataclasses import dataclass
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
from memcli.search.turn_index import Part, TurnIndex
from memcli.search.watermark import IndexMark, read_mark
from memcli.store.layout import DERIVED
from memcli.store.snapshot import Snapshot


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
    mark = read_mark(snapshot.path / DERIVED)
    base = _open_base(snapshot, mark)
    if base is None or mark is None:
        return _build_aside(snapshot, count, progress)
    size = snapshot.committed_bytes("turns")
    if mark.bytes == size:
        return Opened(TurnIndex([base], n_terms=mark.terms, committed_bytes=size))
    tail, terms = _scan(snapshot, mark.bytes, count)
    return Opened(TurnIndex([base, tail], n_terms=mark.terms + terms, committed_bytes=size))


def _open_base(snapshot: Snapshot, mark: IndexMark | None) -> Part | None:
    """Return the index on disk, or None where it does not fit the snapshot or does not open."""
    if mark is None or not covers_a_prefix(snapshot, mark):
        return None
    try:
        part = Part.open(snapshot.path / DERIVED / mark.directory)
    except (ValueError, OSError):  # damaged or just swapped out: build aside, and say so
        return None
    return part if part.searcher.num_docs >= mark.documents else None


def _scan(snapshot: Snapshot, start: int, count: TokenCounter) -> tuple[Part, int]:
    """Return an index in memory of the turns from a byte offset on, and its terms."""
    import tantivy

    index = tantivy.Index(build_schema())
    _, terms = add_turns(index, newest_turns(snapshot, start=start), count)
    return Part.of(index), terms


def _build_aside(snapshot: Snapshot, count: TokenCounter, progress: Progress | None) -> Opened:
    size = snapshot.committed_bytes("turns")
    folder = tempfile.TemporaryDirectory(prefix="memcli-index-")
    directory = Path(folder.name) / "turns"
    _, terms = build_in(directory, newest_turns(snapshot), count, progress)
    index = TurnIndex([Part.open(directory)], n_terms=terms, committed_bytes=size)
    weakref.finalize(index, folder.cleanup)
    if not size:
        return Opened(index)
    return Opened(
        index,
        (
            "the search index is missing or out of date; built one for this command only, "
            "the next ingest or `memcli compact` stores it",
        ),
    )
