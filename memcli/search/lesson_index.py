"""The searchable lessons of a store: an index on disk, exact to the last committed record.

The index under ``derived/`` holds the active lessons as of its mark. A reader adds what was
appended since: new lessons from a small index in memory, and lessons that were edited or
removed are hidden, in the statistics too, so that an index that is behind ranks exactly like
one built anew. Only a writer brings it up to date: by adding where lessons only came, anew
where many changed.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memcli.errors import IndexBehind
from memcli.records.codec import dumps, loads
from memcli.records.strategy import StrategyNode
from memcli.records.strategy_codec import node_from_line
from memcli.search.lessons import LessonHit, MemoryLessons, lesson_hit, rank
from memcli.search.part import Part
from memcli.search.queries import any_term
from memcli.store.jsonl import Placement
from memcli.store.layout import DERIVED
from memcli.store.snapshot import Snapshot, Watermark

if TYPE_CHECKING:
    import tantivy

VERSION: Final = 1
MARK: Final = "lessons.json"
LEFT_TO_READERS: Final = 256
"""Records behind the mark that readers scan, where lessons changed; more make a new index."""

_FOLDER = "lessons-"
_HEAP_BYTES = 32_000_000
_SAMPLED = 64
"""Lessons whose place is compared when the index is checked."""

_SPARE = 4
"""Candidates for one place, where what is hidden or new shifts the statistics."""

_TERMS, _ID, _META = "terms", "id", "meta"


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonMark:
    """How far the index has come.

    Attributes:
        directory: Its directory under ``derived/``.
        version: `VERSION` it was built with.
        covers: How far of the nodes file.
        documents: Lessons in it.
        terms: Terms in all of them.
    """

    directory: str
    version: int
    covers: Watermark
    documents: int
    terms: int


@dataclass(slots=True)
class _Tail:
    """What was appended behind the mark.

    Attributes:
        lessons: The newest active lessons among it.
        places: Newest record of each id, removed ones too.
        records: Lines read.
    """

    lessons: MemoryLessons = field(default_factory=MemoryLessons)
    places: dict[str, Placement] = field(default_factory=dict)
    records: int = 0


class StoredLessons:
    """The active lessons of a snapshot; see `lessons.Lessons`.

    Args:
        base: The index on disk, or None.
        mark: Its mark, or None.
        tail: What was appended since.
    """

    def __init__(self, base: Part | None, mark: LessonMark | None, tail: _Tail) -> None:
        self._base, self._tail = base, tail
        documents, terms = (mark.documents, mark.terms) if base and mark else (0, 0)
        self._hidden = {hit.id: hit for hit, _ in self._exact(tail.places)} if documents else {}
        self._hidden_terms = Counter(t for hit in self._hidden.values() for t in set(hit.terms))
        self._n_terms = terms - sum(len(hit.terms) for hit in self._hidden.values())
        self._n_documents = documents - len(self._hidden)

    @property
    def n_lessons(self) -> int:
        """How many active lessons there are."""
        return self._n_documents + self._tail.lessons.n_lessons

    @property
    def mean_terms(self) -> float:
        """Average number of terms of a lesson, at least 1."""
        total = self._n_terms + self._tail.lessons.n_terms
        return max(1.0, total / self.n_lessons) if self.n_lessons else 1.0

    def doc_freq(self, term: str) -> int:
        """Return how many lessons hold a term, in key or content."""
        stored = self._base.searcher.doc_freq(_TERMS, term) if self._base else 0
        return stored - self._hidden_terms[term] + self._tail.lessons.doc_freq(term)

    def ranked(self, holders: Mapping[str, int], limit: int) -> list[tuple[float, LessonHit]]:
        """Return the ``limit`` best lessons as (score, hit), in the order of `lessons.rank`."""
        return rank(self._candidates(holders, limit), holders, self)[:limit]

    def _candidates(self, holders: Mapping[str, int], limit: int) -> list[LessonHit]:
        """Return at least the ``limit`` best lessons, in any order."""
        tail = self._tail.lessons
        terms = {term: tail.doc_freq(term) for term in holders if tail.doc_freq(term)}
        found = [hit for _, hit in tail.ranked(terms, limit)]
        if self._base is None or not holders:
            return found
        query = any_term(self._base.schema, dict.fromkeys(sorted(holders), 1.0))
        hits = self._base.hits(query, _SPARE * limit + len(self._hidden))
        stored = (self._read(address)[0] for _, address in hits)
        return found + [hit for hit in stored if hit.id not in self._hidden]

    def place(self, node_id: str) -> Placement | None:
        """Return where the newest record of a lesson is, or None for an unknown id.

        One that was removed before the index was built counts as unknown.
        """
        if node_id in self._tail.places:
            return self._tail.places[node_id]
        found = self._exact([node_id])
        return found[0][1] if found else None

    def _exact(self, ids: Iterable[str]) -> list[tuple[LessonHit, Placement]]:
        import tantivy

        names = list(ids)
        if self._base is None or not names:
            return []
        query = tantivy.Query.term_set_query(self._base.schema, _ID, names)
        hits = self._base.hits(query, len(names))
        return [self._read(address) for _, address in hits]

    def _read(self, address: Any) -> tuple[LessonHit, Placement]:
        assert self._base is not None
        row = loads(bytes(self._base.searcher.doc(address)[_META][0]))
        hit = LessonHit(row[0], _parts(row[3]), _parts(row[4]))
        return hit, Placement(row[1], row[2])


def open_lessons(snapshot: Snapshot) -> StoredLessons:
    """Return the lessons of a snapshot; never writes to the store.

    Where there is no usable index, all lessons are read into one in a temporary folder.
    """
    derived = snapshot.path / DERIVED
    mark = _read_mark(derived)
    if mark is not None and snapshot.continues("nodes", mark.covers):
        base = _open(derived / mark.directory, mark.documents)
        if base is not None:
            return StoredLessons(base, mark, _scan(snapshot, mark.covers.bytes))
    if snapshot.records("nodes") <= LEFT_TO_READERS:
        return StoredLessons(None, None, _scan(snapshot, 0))
    return _build_aside(snapshot)


def level_lessons(snapshot: Snapshot) -> None:
    """Bring the index on disk level with the snapshot; only a writer calls this.

    Raises:
        IndexBehind: If it cannot be written; nothing of the store is lost.
    """
    if not snapshot.records("nodes"):
        return
    derived = snapshot.path / DERIVED
    try:
        mark = _read_mark(derived)
        if mark is None or not snapshot.continues("nodes", mark.covers):
            _rebuild(snapshot, derived)
        elif mark.covers.bytes < snapshot.committed_bytes("nodes"):
            _follow(snapshot, derived, mark)
    except (OSError, ValueError) as error:
        raise IndexBehind(
            f"the index of lessons in {derived} could not be written: {error}",
            hint="nothing is lost; free space or mend permissions, then run `memcli compact`",
        ) from error


def lesson_faults(snapshot: Snapshot) -> list[str]:
    """Return in words where the index on disk is not what the nodes file says; empty if sound.

    One that is missing or behind is no fault: readers scan what it lacks.
    """
    derived = snapshot.path / DERIVED
    mark = _read_mark(derived)
    if mark is None or not snapshot.continues("nodes", mark.covers):
        return []
    base = _open(derived / mark.directory, mark.documents)
    if base is None:
        return ["the index of lessons does not open or lacks some"]
    lessons = StoredLessons(base, mark, _scan(snapshot, mark.covers.bytes))
    active = {node.id: place for place, node in _active(snapshot, 0)}
    if lessons.n_lessons != len(active):
        return [f"the index of lessons holds {lessons.n_lessons:,} lessons of {len(active):,}"]
    sampled = list(active)[:: max(1, len(active) // _SAMPLED)]
    bad = sum(lessons.place(each) != active[each] for each in sampled)
    return [f"{bad} of the sampled lessons are not where their index says"] if bad else []


def _follow(snapshot: Snapshot, derived: Path, mark: LessonMark) -> None:
    """Add what came behind the mark, or leave it to readers, or build anew."""
    base = _open(derived / mark.directory, mark.documents)
    if base is None:
        _rebuild(snapshot, derived)
        return
    tail = _scan(snapshot, mark.covers.bytes)
    changed = StoredLessons(base, mark, tail).n_lessons != mark.documents + len(tail.places)
    if not changed:
        documents, terms = _add(base.index, _active(snapshot, mark.covers.bytes))
        _write(snapshot, derived, mark.directory, mark.documents + documents, mark.terms + terms)
        _check(base.index, mark.documents + documents)
    elif tail.records > LEFT_TO_READERS:
        _rebuild(snapshot, derived)


def _rebuild(snapshot: Snapshot, derived: Path) -> None:
    derived.mkdir(mode=0o700, exist_ok=True)
    taken = [int(p.name[len(_FOLDER) :]) for p in derived.glob(f"{_FOLDER}[0-9]*")]
    name = f"{_FOLDER}{max(taken, default=0) + 1}"
    try:
        documents, terms = _build(derived / name, snapshot)
        _write(snapshot, derived, name, documents, terms)
    except BaseException:
        shutil.rmtree(derived / name, ignore_errors=True)
        raise
    for old in derived.glob(f"{_FOLDER}[0-9]*"):
        if old.name != name:
            shutil.rmtree(old, ignore_errors=True)  # a reader may hold it open; next time


def _build(directory: Path, snapshot: Snapshot) -> tuple[int, int]:
    import tantivy

    directory.mkdir(mode=0o700, parents=True)
    index = tantivy.Index(_schema(), str(directory))
    documents, terms = _add(index, _active(snapshot, 0))
    _check(index, documents)
    for file in directory.iterdir():
        file.chmod(0o600)
    return documents, terms


def _build_aside(snapshot: Snapshot) -> StoredLessons:
    folder = tempfile.TemporaryDirectory(prefix="memcli-lessons-")
    directory = Path(folder.name) / "lessons"
    documents, terms = _build(directory, snapshot)
    covers = snapshot.watermark("nodes")
    assert covers is not None
    mark = LessonMark(
        directory="", version=VERSION, covers=covers, documents=documents, terms=terms
    )
    lessons = StoredLessons(Part.open(directory), mark, _Tail())
    weakref.finalize(lessons, folder.cleanup)
    return lessons


def _schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field(_TERMS, tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field(_ID, tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field(_META, stored=True)
    return builder.build()


def _add(index: tantivy.Index, nodes: Iterable[tuple[Placement, StrategyNode]]) -> tuple[int, int]:
    """Add lessons, commit and return (documents, terms); after an error start anew."""
    import tantivy

    writer = index.writer(heap_size=_HEAP_BYTES, num_threads=1)
    documents = terms = 0
    for place, node in nodes:
        hit = lesson_hit(node.id, node.key, node.content)
        row = [node.id, place.offset, place.length, " ".join(hit.key), " ".join(hit.content)]
        document = tantivy.Document()
        document.add_text(_TERMS, " ".join(hit.terms))
        document.add_text(_ID, node.id)
        document.add_bytes(_META, dumps(row))
        writer.add_document(document)
        documents += 1
        terms += len(hit.terms)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return documents, terms


def _check(index: tantivy.Index, expected: int) -> None:
    """Compare counts after a commit: a lost batch would otherwise go unseen."""
    found = index.searcher().num_docs
    if found != expected:
        raise ValueError(f"it holds {found} lessons instead of {expected}")


def _open(directory: Path, documents: int) -> Part | None:
    """Return the index on disk if it opens and holds what its mark says."""
    try:
        part = Part.open(directory)
    except (ValueError, OSError):
        return None
    return part if part.searcher.num_docs == documents else None


def _scan(snapshot: Snapshot, start: int) -> _Tail:
    tail = _Tail()
    for place, node in _nodes(snapshot, start):
        tail.records += 1
        tail.places[node.id] = place
        if node.status == "active":
            tail.lessons.put(node.id, node.key, node.content)
        else:
            tail.lessons.drop(node.id)
    return tail


def _active(snapshot: Snapshot, start: int) -> Iterator[tuple[Placement, StrategyNode]]:
    """Yield the newest record of each active lesson from a byte on, in file order."""
    newest: Mapping[str, int] = {n.id: place.offset for place, n in _nodes(snapshot, start)}
    for place, node in _nodes(snapshot, start):
        if newest[node.id] == place.offset and node.status == "active":
            yield place, node


def _nodes(snapshot: Snapshot, start: int) -> Iterator[tuple[Placement, StrategyNode]]:
    path = str(snapshot.file("nodes"))
    for offset, line in snapshot.lines("nodes", start=start):
        yield Placement(offset, len(line) + 1), node_from_line(line, path=path)


def _read_mark(derived: Path) -> LessonMark | None:
    """Return the mark, or None where it is missing, unreadable or of another version."""
    try:
        data = loads((derived / MARK).read_bytes())
        mark = LessonMark(**{**data, "covers": Watermark(**data["covers"])})
        sound = mark.directory.startswith(_FOLDER) and mark.directory[len(_FOLDER) :].isdigit()
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None  # derived data: anything odd about it means "rebuild"
    return mark if sound and mark.version == VERSION else None


def _write(snapshot: Snapshot, derived: Path, directory: str, documents: int, terms: int) -> None:
    covers = snapshot.watermark("nodes")
    assert covers is not None
    mark = LessonMark(
        directory=directory, version=VERSION, covers=covers, documents=documents, terms=terms
    )
    temporary = derived / (MARK + ".tmp")
    temporary.write_bytes(dumps(asdict(mark)) + b"\n")
    temporary.chmod(0o600)
    temporary.replace(derived / MARK)


def _parts(joined: str) -> tuple[str, ...]:
    return tuple(joined.split(" ")) if joined else ()
