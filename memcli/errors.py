"""Everything memcli raises on purpose, and the exit code each ends a command with.

MemcliError                 1   what happened, where, and what to do (``hint``)
├── UsageError              2   arguments that contradict each other or name nothing
├── NothingFound            1   an id, session or checkpoint that is not in the store
├── StoreError              4   the store cannot be used as it is
│   ├── StoreMissing        4   no store in that directory
│   ├── StoreDamaged        4   a file was edited, shortened or does not parse
│   │   └── RecordError     4   one line: path, line, field
│   ├── SchemaVersionError  4   written by a newer memcli
│   └── StoreReadOnly       1   permission denied or a read-only file system
├── StoreLocked             5   another writer holds the store
├── IndexBehind             1   the turns are stored, the search index could not follow
├── SourceFormatError       1   an input that no importer recognises, or cannot be opened
├── BudgetExceeded          1   a hard limit was reached
└── LLMError                7   no usable reply; never an answer, never a score
    ├── LLMUnavailable      7   unreachable, overloaded or timed out after retries
    ├── LLMRejected         7   key, model name or request refused
    ├── LLMReplyInvalid     7   a reply that is not what was asked for (``raw``)
    └── LLMReplyCut         7   the length limit cut the reply before it said anything
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar


class MemcliError(Exception):
    """Base of all errors a user is meant to read.

    Args:
        message: What happened and where, one line.
        hint: What to do about it, one line; empty when the message says it.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(MemcliError):
    """The arguments contradict each other or name nothing that exists."""

    code = "usage"
    exit_code = 2


class NothingFound(MemcliError):
    """An id, session or checkpoint is not in this store."""

    code = "not_found"


class StoreError(MemcliError):
    """The store cannot be used as it is."""

    code = "store"
    exit_code = 4


class StoreMissing(StoreError):
    """There is no store in the directory."""

    code = "store_missing"


class StoreDamaged(StoreError):
    """A file of the store was edited, shortened, or does not parse."""

    code = "store_damaged"


class RecordError(StoreDamaged):
    """One line of a store file is not a record.

    Args:
        path: The file.
        line: 1-based line, or None where only the byte offset is known.
        field: The offending field; empty when the line is not JSON.
        reason: What is wrong with it.
    """

    code = "record"

    def __init__(self, path: Path | str, line: int | None, field: str, reason: str) -> None:
        where = f"{path}:{line}" if line is not None else str(path)
        what = f"field {field!r} {reason}" if field else reason
        super().__init__(f"{where}: {what}", hint="run `memcli verify` to see every finding")
        self.path = str(path)
        self.line = line
        self.field = field


class SchemaVersionError(StoreError):
    """The store was written by a newer memcli."""

    code = "schema_version"


class StoreReadOnly(StoreError):
    """The store cannot be written: permissions, a full disk or a read-only file system."""

    code = "store_read_only"
    exit_code = 1


class StoreLocked(MemcliError):
    """Another writer holds the store."""

    code = "store_locked"
    exit_code = 5


class IndexBehind(MemcliError):
    """The search index could not follow a commit: nothing is lost, the next write mends it."""

    code = "index_behind"


class SourceFormatError(MemcliError):
    """An input is not a transcript that any importer knows, or cannot be opened."""

    code = "source_format"


class BudgetExceeded(MemcliError):
    """A hard limit that the user set was reached; what was done so far is kept."""

    code = "budget"


class LLMError(MemcliError):
    """A model call gave no usable reply. Never an answer, never a score."""

    code = "llm"
    exit_code = 7
    retryable: ClassVar[bool] = False


class LLMUnavailable(LLMError):
    """Unreachable, overloaded or timed out, after bounded retries."""

    code = "llm_unavailable"
    retryable = True


class LLMRejected(LLMError):
    """The key, the model name or the request was refused; a retry would not help."""

    code = "llm_rejected"


class LLMReplyInvalid(LLMError):
    """A reply that is not what was asked for; ``raw`` keeps it for inspection."""

    code = "llm_reply_invalid"

    def __init__(self, message: str, *, hint: str = "", raw: str = "") -> None:
        super().__init__(message, hint=hint)
        self.raw = raw


class LLMReplyCut(LLMError):
    """The length limit cut the reply before it said anything."""

    code = "llm_reply_cut"
