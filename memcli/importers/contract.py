"""What an importer module promises, and the values it yields.

An importer is a module of this package with a constant ``FORMAT: Format``. Its ``recognise``
says *why* a file is of its format, or None; its ``read`` streams events in source order with
flat memory. Text is verbatim; only transport escapes are decoded. A damaged record costs only
itself: it becomes a `Rejected`, and reading goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import BinaryIO, Literal, Protocol, runtime_checkable

from memcli.records.evidence import Branch, Granularity, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time as a source states it.

    Attributes:
        at: Aware datetime; a zoneless text has been read in the zone of `ReadOptions`.
        granularity: The finest unit stated.
        zone_assumed: True where the source states no zone.
    """

    at: datetime
    granularity: Granularity
    zone_assumed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A turn as the source tells it, before it has an id.

    Attributes:
        conversation: The source's conversation id; None when the source has none, and then
            ``group`` keeps apart the conversations of one file.
        group: Ordinal of the conversation within the input; used only while reading.
        session: The source's session id; None when it has none: sessions are then derived.
        native_id: The source's message id, or None.
        part: Which turn of that message this is; see ``ids.native_turn_id``.
        line: 1-based line of line-based formats.
        is_copy: Whether the source says that another conversation told this first: what is
            known of it then stays as it is.
    """

    role: Role
    text: str
    conversation: str | None = None
    group: int = 0
    session: str | None = None
    native_id: str | None = None
    part: str = "text"
    speaker: str | None = None
    time: Moment | None = None
    branch: Branch = "active"
    caption: str | None = None
    title: str | None = None
    line: int | None = None
    is_copy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A record that could not become a turn, kept for the report and ``--rejects``.

    Attributes:
        where: ``file:line`` or ``file#item``, as precise as the format allows.
        reason: What is wrong, for a person.
        raw: The record as found, at most `RAW_CHARS` characters.
    """

    where: str
    reason: str
    raw: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """A record the source itself holds more than once; the first one was yielded."""

    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A record that is no talk by its nature (a snapshot, a counter), counted by kind."""

    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """A record that was stored although something about it is odd (a bad time, say)."""

    where: str
    reason: str


Event = Draft | Rejected | Repeated | Ignored | Warned

RAW_CHARS = 2_000


DateOrder = Literal["dmy", "mdy", "ymd"]
"""In which order numeric dates name day, month and year."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What the user decides about reading.

    Attributes:
        tz: Zone of times that state none.
        date_order: What numeric dates mean where the file does not prove it.
    """

    tz: tzinfo
    date_order: DateOrder | None = None


class Input(Protocol):
    """One file to read: on disk, inside a zip, or standard input (spooled).

    Inputs compare and hash by identity, so what was seen of one is never taken for another.
    """

    def __hash__(self) -> int:
        """Hash by identity."""

    @property
    def name(self) -> str:
        """Name for reports and `Source.file`: base name, or ``archive.zip!member``."""

    @property
    def head(self) -> bytes:
        """The first `HEAD_BYTES` bytes."""

    @property
    def is_whole(self) -> bool:
        """True when ``head`` is the whole file."""

    def open(self) -> BinaryIO:
        """Return a fresh binary stream from the start; the caller closes it."""


@runtime_checkable
class Housed(Input, Protocol):
    """An input that may have others beside it, in its folder or archive."""

    @property
    def inner(self) -> str:
        """Its path, ``/`` between folders."""

    @property
    def stamp(self) -> Hashable:
        """What changes when the file does."""

    def beside(self, path: str) -> Housed | None:
        """Return the input at a path relative to this one's folder, or None."""


HEAD_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One transcript format.

    Attributes:
        name: The value of ``--format``, e.g. ``chatgpt``.
        label: What people call it, e.g. ``ChatGPT export``.
        recognise: Returns the evidence that an input is of this format (``items have
            'mapping'``), or None. Looks at content, never at the file name alone.
        read: Streams the events of an input in source order.
        rank: Order of recognition; lower is asked first. Key-based formats 10, text by
            headers 50, plain dialogue 90.
        companions: What accompanies this format in a folder or zip and holds no talk
            (``user.json``, ``tool-results/*``): fnmatch patterns of base names or of folder
            and base name; skipped without a word.
        is_id_unique: True where no two messages of any conversations share an id: a turn with
            the id, words and time of another conversation's turn is a copy of it.
    """

    name: str
    label: str
    recognise: Callable[[Input], str | None]
    read: Callable[[Input, ReadOptions], Iterator[Event]]
    rank: int = 10
    companions: frozenset[str] = field(default_factory=frozenset)
    is_id_unique: bool = False
