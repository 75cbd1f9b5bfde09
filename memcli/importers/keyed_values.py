"""JSON values under keys in an SQLite database that another program may have open.

Opened to read only. A database that is being written keeps its newest changes in a file beside
it; where SQLite cannot read that one (a folder that may not be written to), the database is
read as it stood before them, with a warning. One inside a zip is read from memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memcli.errors import SourceFormatError
from memcli.importers.contract import Input, Rejected
from memcli.importers.inputs import FileInput
from memcli.importers.jsonvalues import Item, parse

DATABASE_ERRORS: Final = (sqlite3.Error,)
IN_MEMORY_BYTES: Final = 256 << 20
"""Largest database inside a zip that is read."""

_MARK: Final = b"SQLite format 3\x00"


def is_sqlite(source: Input) -> bool:
    """Return whether an input begins like an SQLite database."""
    return source.head.startswith(_MARK)


class KeyedValues:
    """Tables of two columns, ``key`` and ``value``.

    Args:
        source: The database.

    Attributes:
        name: The input's name.
        warning: What may be missing, or nothing.

    Raises:
        SourceFormatError: If it is too large to be read inside a zip.
        sqlite3.Error: If it is no database, or a damaged one; from every method, too.
    """

    def __init__(self, source: Input) -> None:
        self.name, self.warning = source.name, ""
        if isinstance(source, FileInput):
            self._opened, self.warning = _open_file(source.path)
        else:
            self._opened = _open_bytes(source)
        self._opened.text_factory = bytes  # a text that is not UTF-8 costs only itself
        try:
            self._tables = {name for (name,) in self._opened.execute(_TABLES)}
        except sqlite3.Error:
            self._opened.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self._opened.close()

    def keys(self, table: str, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with a prefix, sorted; none where there is no such table."""
        if table.encode() not in self._tables:
            return
        after = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        query = f'SELECT key FROM "{table}" WHERE key >= ? AND key < ? ORDER BY key'
        for (key,) in self._opened.execute(query, (prefix, after)):
            yield key.decode("utf-8", "surrogateescape") if isinstance(key, bytes) else str(key)

    def item(self, table: str, key: str) -> Item | Rejected | None:
        """Return the value under a key, parsed, or why it is none; None where there is none."""
        if table.encode() not in self._tables:
            return None
        query = f'SELECT value FROM "{table}" WHERE key = ?'
        raw_key: str | bytes = key
        try:
            key.encode()
        except UnicodeEncodeError:
            raw_key = key.encode("utf-8", "surrogateescape")
        row = self._opened.execute(query, (raw_key,)).fetchone()
        if row is None or row[0] is None:
            return None
        raw = row[0] if isinstance(row[0], bytes) else str(row[0]).encode()
        return parse(f"{self.name}#{key}", raw)


_TABLES: Final = "SELECT name FROM sqlite_master WHERE type = 'table'"


def _open_file(path: Path) -> tuple[sqlite3.Connection, str]:
    """Return a connection that can only read, and what it may not see."""
    address = path.absolute().as_uri()
    beside = Path(f"{path}-wal")
    if not (beside.is_file() and beside.stat().st_size):
        return sqlite3.connect(f"{address}?mode=ro&immutable=1", uri=True), ""
    opened = sqlite3.connect(f"{address}?mode=ro", uri=True)
    try:
        opened.execute(_TABLES).fetchone()
    except sqlite3.OperationalError:
        opened.close()
        opened = sqlite3.connect(f"{address}?mode=ro&immutable=1", uri=True)
        return opened, f"changes that are only in {beside.name} are left out"
    return opened, ""


def _open_bytes(source: Input) -> sqlite3.Connection:
    with source.open() as stream:
        data = stream.read(IN_MEMORY_BYTES + 1)
    if len(data) > IN_MEMORY_BYTES:
        raise SourceFormatError(
            f"{source.name}: is too large a database to be read inside a zip",
            hint="unpack it and name the file itself",
        )
    opened = sqlite3.connect(":memory:")
    opened.deserialize(data)
    return opened
