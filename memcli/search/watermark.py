"""How much of the store the index covers: a small JSON file beside it.

The manifest is committed first, the index follows. The watermark names the turns file, how
many of its bytes are indexed and which rewriting of it that was, so that a reader knows what it
must scan itself, and a writer whether it may append or has to rebuild.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from memcli.records.codec import dumps, loads
from memcli.search.document import DOCUMENT_VERSION
from memcli.store.snapshot import Watermark

WATERMARK = "turns.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMark:
    """State of the index after its last commit.

    Attributes:
        directory: Name of the index directory under ``derived/``.
        version: `DOCUMENT_VERSION` it was built with.
        covers: How far of the turns file; None for an index of nothing.
        documents: Documents in the index.
        terms: Terms in all documents.
    """

    directory: str
    version: int
    covers: Watermark | None
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
        covers = Watermark(**data.pop("covers")) if data["covers"] else None
        data.pop("covers", None)
        mark = IndexMark(covers=covers, **data)
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None  # derived data: anything odd about it means "rebuild"
    return mark if mark.version == DOCUMENT_VERSION else None


def write_mark(derived: Path, mark: IndexMark) -> None:
    """Replace the watermark atomically."""
    temporary = derived / (WATERMARK + ".tmp")
    temporary.write_bytes(dumps(asdict(mark)) + b"\n")
    temporary.chmod(0o600)
    temporary.replace(derived / WATERMARK)
