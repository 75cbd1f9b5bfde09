"""Keeps the index level with the store: appends what is new, rebuilds what does not fit.

Only a writer, who holds the store's lock, calls this. Appending is pure adding: nothing is
ever deleted from an index, because deleted documents would stay in its statistics and change
the ranking. When a turn was superseded, undone or compacted away, a new index is built beside
the old one and swapped in. Either way the index ranks as one built at once.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from memcli.errors import IndexBehind
from memcli.records.codec import loads
from memcli.records.evidence import Turn
from memcli.search.document import (
    DOCUMENT_VERSION,
    ID,
    build_schema,
    document_terms,
    to_document,
)
from memcli.search.part import Part
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

    Raises:
        IndexBehind: If the index cannot be written; the store itself is untouched.
    """
    derived = snapshot.path / DERIVED
    with _following(derived):
        mark = read_mark(derived)
        index = _level_index(snapshot, derived, mark) if mark is not None else None
        if mark is not None and index is not None:
            if mark.bytes == snapshot.committed_bytes("turns"):
                return mark
            if (new := _append(snapshot, mark, index, count, progress)) is not None:
                return new
            del index  # before its directory goes
        return _rebuild(snapshot, count, progress)


@contextmanager
def _following(derived: Path) -> Iterator[None]:
    """Say that the index is behind where the disk or tantivy refuses (as ValueError)."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise IndexBehind(
            f"the search index in {derived} could not be written: {error}",
            hint="nothing is lost; free space or mend permissions, then run `memcli compact`",
        ) from error


def _rebuild(snapshot: Snapshot, count: TokenCounter, progress: Progress | None) -> IndexMark:
    """Build a new index of the newest record of every turn beside the old one; swap it in."""
    derived = snapshot.path / DERIVED
    derived.mkdir(mode=0o700, exist_ok=True)
    target = _next_directory(derived)
    try:
        documents, terms = build_in(derived / target, newest_turns(snapshot), count, progress)
        mark = IndexMark(
            directory=target,
            version=DOCUMENT_VERSION,
            covers=snapshot.watermark("turns"),
            built=snapshot.committed_bytes("turns"),
            documents=documents,
            terms=terms,
        )
        write_mark(derived, mark)
    except BaseException:
        shutil.rmtree(derived / target, ignore_errors=True)
        raise
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
    mark: IndexMark,
    index: tantivy.Index,
    count: TokenCounter,
    progress: Progress | None,
) -> IndexMark | None:
    """Add what lies beyond the mark; None, and nothing is added, where it replaces a turn."""
    derived = snapshot.path / DERIVED
    tail = _only_new(Part.of(index), snapshot.turns(start=mark.bytes))
    try:
        documents, terms = add_turns(index, tail, count, progress)
    except _Superseded:
        return None
    _check(index, mark.documents + documents)
    _private(derived / mark.directory)
    new = replace(
        mark,
        covers=snapshot.watermark("turns"),
        documents=mark.documents + documents,
        terms=mark.terms + terms,
    )
    write_mark(derived, new)
    return new


class _Superseded(Exception):
    """A turn beyond the watermark replaces one that came before it."""


def _only_new(
    part: Part, turns: Iterator[tuple[Placement, Turn]]
) -> Iterator[tuple[Placement, Turn]]:
    """Yield the turns, or raise `_Superseded` at one whose id came before."""
    seen: set[str] = set()
    while batch := list(islice(turns, _BATCH)):
        ids = {turn.id for _, turn in batch}
        if len(ids) < len(batch) or not seen.isdisjoint(ids) or part.holds(ID, ids):
            raise _Superseded
        seen |= ids
        yield from batch


def add_turns(
    index: tantivy.Index,
    turns: Iterable[tuple[Placement, Turn]],
    count: TokenCounter,
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Add turns, commit and return (documents, terms).

    After any error the writer is discarded and never used again: a later commit of it would
    silently lack what had failed.
    """
    writer = index.writer(heap_size=HEAP_BYTES, num_threads=1)
    documents = terms = 0
    for place, turn in turns:
        words = document_terms(turn)
        writer.add_document(to_document(turn, words, place.offset, place.length, count))
        terms += len(words)
        documents += 1
        if progress is not None and documents % _BATCH == 0:
            progress(_BATCH)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    if progress is not None:
        progress(documents % _BATCH)
    return documents, terms


def _check(index: tantivy.Index, expected: int) -> None:
    """Compare document counts after a commit: a lost batch would otherwise go unseen."""
    found = index.searcher().num_docs
    if found != expected:
        raise ValueError(f"it holds {found} turns instead of {expected}")


def _private(directory: Path) -> None:
    for file in directory.iterdir():
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)


def _level_index(snapshot: Snapshot, derived: Path, mark: IndexMark) -> tantivy.Index | None:
    """Return the index on disk if it holds what its mark says, of a prefix of the file.

    One whose commit a crash parted from its mark holds more, and is rebuilt like a damaged one.
    """
    import tantivy

    if not covers_a_prefix(snapshot, mark):
        return None
    directory = derived / mark.directory
    try:
        if not tantivy.Index.exists(str(directory)):
            return None
        index = tantivy.Index.open(str(directory))
        return index if index.searcher().num_docs == mark.documents else None
    except (ValueError, OSError):
        return None


def covers_a_prefix(snapshot: Snapshot, mark: IndexMark) -> bool:
    """Return whether the turns file has only grown since the index was made."""
    return mark.covers is None or snapshot.continues("turns", mark.covers)


def newest_turns(snapshot: Snapshot, *, start: int = 0) -> Iterator[tuple[Placement, Turn]]:
    """Yield the newest record of every turn in file order; memory: one hash a turn."""
    newest = _newest_of_repeated(snapshot, start)
    for place, turn in snapshot.turns(start=start):
        if newest.get(turn.id, place.offset) == place.offset:
            yield place, turn


def _newest_of_repeated(snapshot: Snapshot, start: int) -> dict[str, int]:
    """Return id → offset of the newest record, of the turns that have several records."""
    seen: set[int] = set()
    newest: dict[str, int] = {}
    for offset, line in snapshot.lines("turns", start=start):
        try:
            name = loads(line)["id"]
        except (ValueError, TypeError, KeyError):
            continue  # whoever parses the turns names the bad line
        if (key := hash(name)) in seen:
            newest[name] = offset
        seen.add(key)
    return newest


def _next_directory(derived: Path) -> str:
    taken = [int(p.name[6:]) for p in derived.glob("turns-*") if p.name[6:].isdigit()]
    return f"turns-{max(taken, default=0) + 1}"
