"""How much of the store the index covers: a small JSON file beside it.

The manifest is committed first, the index follows. The watermark names the turns file, how
many of its bytes are indexed and which rewriting of it that was, so that a reader knows what it
must scan itself, and a writer whether it may append or has to rebuild.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path

from memcli.records.codec import dumps, loads
from memcli.search.document import DOCUMENT_VERSION
from memcli.store.snapshot import Watermark

WATERMARK = "turns.json"
DIRECTORY = re.compile(r"turns-[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMark:
    """State of the index after its last commit.

    Attributes:
        directory: Name of the index directory under ``derived/``.
        version: `DOCUMENT_VERSION` it was built with.
        covers: How far of the turns file; None for an index of nothing.
        built: Bytes of the turns file when it was built; beyond them it only grew, so it also
            serves the snapshots of between then and now.
        documents: Documents in the index.
        terms: Terms in all documents.
    """

    directory: str
    version: int
    covers: Watermark | None
    built: int
    documents: int
    terms: int

    @property
    def bytes(self) -> int:
        """Bytes of the turns file that are indexed."""
        return self.covers.bytes if self.covers else 0


def read_mark(derived: Path) -> IndexMark | None:
    """Return the mark, or None where it is missing, unreadable or of another version."""
    try:
        data = loads((derived / WATERMARK).read_bytes())
        covers = data.pop("covers")
        mark = IndexMark(covers=None if covers is None else Watermark(**covers), **data)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None  # derived data: anything odd about it means "rebuild"
    return mark if mark.version == DOCUMENT_VERSION and _is_sound(mark) else None


def _is_sound(mark: IndexMark) -> bool:
    """Whether the mark names a directory of ours and its figures are figures."""
    figures = (mark.bytes, mark.built, mark.documents, mark.terms)
    named = isinstance(mark.directory, str) and DIRECTORY.fullmatch(mark.directory)
    return bool(named) and all(type(figure) is int and figure >= 0 for figure in figures)


def write_mark(derived: Path, mark: IndexMark) -> None:
    """Replace the watermark atomically."""
    temporary = derived / (WATERMARK + ".tmp")
    temporary.write_bytes(dumps(asdict(mark)) + b"\n")
    temporary.chmod(0o600)
    temporary.replace(derived / WATERMARK)
