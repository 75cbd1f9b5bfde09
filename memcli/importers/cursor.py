"""Cursor: its chat export in Markdown, and the database where it keeps its chats.

The two have nothing in common but the tool: see `cursor_markdown` and `cursor_database`.
"""

from __future__ import annotations

from collections.abc import Iterator

from memcli.importers import cursor_database, cursor_markdown
from memcli.importers.contract import Event, Format, Input, ReadOptions
from memcli.importers.keyed_values import is_sqlite


def recognise(source: Input) -> str | None:
    """Return the evidence that an input is Cursor's database or export, or None."""
    return cursor_database.recognise(source) or cursor_markdown.recognise(source)


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns of a database by conversation, of an export in order."""
    if is_sqlite(source):
        return cursor_database.read(source, options)
    return cursor_markdown.read(source, options)


FORMAT = Format(
    name="cursor",
    label="Cursor chat export or database",
    recognise=recognise,
    read=read,
    companions=frozenset(
        {
            "*.vscdb-wal",
            "*.vscdb-shm",
            "*.vscdb-journal",
            "*.vscdb.options.json",
            "workspace.json",
            "storage.json",
        }
    ),
)
