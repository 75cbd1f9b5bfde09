"""Keeps the index level with the store: appends what is new, rebuilds what does not fit.

Only a writer, who holds the store's lock, calls this. Appending is pure adding: nothing is
ever deleted from an index, because deleted documents would stay in its statistics and change
the ranking. When a turn was superseded, undone or compacted away, a new index is built beside
the old one and swapped in. Either way the index ranks as one built at once.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from memcli.errors import StoreError
from memcli.records.evidence import Turn
from memcli.search.document import DOCUMENT_VERSION, build_schema, document_terms, to_document
from memcli.search.turn_index import Part, known_ids
from memcli.search.watermark import IndexMark, read_mark, write_mark
from memcli.store.jsonl import Placement
from memcli.store.layout import DERIVED
from memcli.store.snapshot import Snapshot

if TYPE_CHECKING:
    import tantivy

HEAP_BYTES = 96_000_000
"""Memory of the index writer; what exceeds it is flushed to a segment."""

_BATCH = 1_000

TokenCounter = Callable[[Sequence[str]], list[int]]
Progress = Callable[[int], None]


def bring_up_to_date(
    snapshot: Snapshot, *, count: TokenCounter, progress: Progress | None = None
) -> IndexMark:
    """Make the index cover the whole snapshot and return its watermark.

    Args:
        snapshot: Committed state to index.
        count: Token counter for the passages of long turns.
        progress: Called with the number of turns indexed since the last call.
    """
    derived = snapshot.path / DERIVED
    mark = read_mark(derived)
    if mark is not None and _is_level_with_mark(snapshot, derived, mark):
        if mark.bytes == snapshot.committed_bytes("turns"):
            return mark
        if not _supersedes(snapshot, derived, mark):
            return _append(snapshot, derived, mark, count, progress)
    return rebuild(snapshot, count=count, progress=progress)


def rebuild(
    snapshot: Snapshot, *, count: TokenCounter, progress: Progress | None = None
) -> IndexMark:
    """Build a new index of the newest record of every turn beside the old one; swap it in."""
    derived = snapshot.path / DERIVED
    derived.mkdir(mode=0o700, exist_ok=True)
    target = _next_directory(derived)
    documents, terms = build_in(derived / target, newest_turns(snapshot), count, progress)
    mark = _mark(snapshot, target, documents, terms)
    write_mark(derived, mark)
    for old in derived.glob("turns-*"):
        if old.name != target:
            shutil.rmtree(old, ignore_errors=True)  # a reader may hold it open; next time
    return mark


def build_in(
    directory: Path,
    turns: Iterable[tuple[Placement, Turn]],
    count: TokenCounter,
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Build an index of the turns in a new directory; return its (documents, terms)."""
    import tantivy

    directory.mkdir(mode=0o700, parents=True)
    index = tantivy.Index(build_schema(), str(directory))
    added = add_turns(index, turns, count, progress)
    _check(index, added[0])
    _private(directory)
    return added


def _append(
    snapshot: Snapshot,
    derived: Path,
    mark: IndexMark,
    count: TokenCounter,
    progress: Progress | None,
) -> IndexMark:
    import tantivy

    directory = derived / mark.directory
    index = tantivy.Index.open(str(directory))
    documents, terms = add_turns(index, snapshot.turns(start=mark.bytes), count, progress)
    _check(index, mark.documents + documents)
    _private(directory)
    new = _mark(snapshot, mark.directory, mark.documents + documents, mark.terms + terms)
    write_mark(derived, new)
    return new


def add_turns(
    index: tantivy.Index,
    turns: Iterable[tuple[Placement, Turn]],
    count: TokenCounter,
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Add turns and commit; after any error the writer is discarded, never used again."""
    writer = index.writer(heap_size=HEAP_BYTES, num_threads=1)
    documents = terms = 0
    stream = iter(turns)
    while batch := list(islice(stream, _BATCH)):
        for place, turn in batch:
            words = document_terms(turn)
            writer.add_document(to_document(turn, words, place.offset, place.length, count))
            terms += len(words)
        documents += len(batch)
        if progress is not None:
            progress(len(batch))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return documents, terms


def _check(index: tantivy.Index, expected: int) -> None:
    """Compare document counts after a commit: a lost batch would otherwise go unseen."""
    found = index.searcher().num_docs
    if found != expected:
        raise StoreError(
            f"the search index holds {found} turns instead of {expected}",
            hint="delete the store's derived/ folder; it is rebuilt by the next ingest",
        )


def _private(directory: Path) -> None:
    for file in directory.iterdir():
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)


def _mark(snapshot: Snapshot, directory: str, documents: int, terms: int) -> IndexMark:
    return IndexMark(
        directory=directory,
        version=DOCUMENT_VERSION,
        covers=snapshot.watermark("turns"),
        documents=documents,
        terms=terms,
    )


def _is_level_with_mark(snapshot: Snapshot, derived: Path, mark: IndexMark) -> bool:
    """Whether the index on disk holds what its mark says, and that is a prefix of the file."""
    import tantivy

    if not covers_a_prefix(snapshot, mark):
        return False
    directory = derived / mark.directory
    if not tantivy.Index.exists(str(directory)):
        return False
    try:
        return bool(tantivy.Index.open(str(directory)).searcher().num_docs == mark.documents)
    except (ValueError, OSError):  # a damaged index is rebuilt, not repaired
        return False


def covers_a_prefix(snapshot: Snapshot, mark: IndexMark) -> bool:
    """Return whether the turns file has only grown since the index was made."""
    return mark.covers is None or snapshot.continues("turns", mark.covers)


def _supersedes(snapshot: Snapshot, derived: Path, mark: IndexMark) -> bool:
    """Whether a turn beyond the watermark replaces one that came before it."""
    part = Part.open(derived / mark.directory)
    seen: set[str] = set()
    stream = snapshot.turns(start=mark.bytes)
    while ids := [turn.id for _, turn in islice(stream, _BATCH)]:
        if len(set(ids)) < len(ids) or not seen.isdisjoint(ids) or known_ids(part, ids):
            return True
        seen.update(ids)
    return False


def newest_turns(snapshot: Snapshot, *, start: int = 0) -> Iterator[tuple[Placement, Turn]]:
    """Yield the newest record of every turn in file order; memory: one hash a turn."""
    last: dict[int, int] = {}
    repeated = False
    for place, turn in snapshot.turns(start=start):
        key = hash(turn.id)
        repeated = repeated or key in last
        last[key] = place.offset
    for place, turn in snapshot.turns(start=start):
        if not repeated or last[hash(turn.id)] == place.offset:
            yield place, turn


def _next_directory(derived: Path) -> str:
    taken = [int(p.name[6:]) for p in derived.glob("turns-*") if p.name[6:].isdigit()]
    return f"turns-{max(taken, default=0) + 1}"
