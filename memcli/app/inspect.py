"""What `memcli inspect` and `memcli show` tell: streamed, never writing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from memcli.app.inspect_strategy import strategy_stats
from memcli.budgets import count_tokens_batch
from memcli.errors import NothingFound, UsageError
from memcli.records.evidence import Turn
from memcli.records.indexed import IndexedTurn
from memcli.search.builder import newest_turns
from memcli.search.opening import open_index
from memcli.store.jsonl import Placement
from memcli.store.run_folder import run_names
from memcli.store.snapshot import Snapshot
from memcli.store.store import Store

_COUNTED = ("turns", "nodes", "edges", "traces")


@dataclass(slots=True)
class SessionSummary:
    """One session of a conversation."""

    conversation: str
    session: str
    turns: int = 0
    tokens: int = 0
    first: str | None = None
    last: str | None = None
    title: str | None = None
    speakers: set[str] = field(default_factory=set)

    def take(self, turn: Turn) -> None:
        """Count a turn of this session."""
        self.turns += 1
        self.tokens += turn.tokens
        self.title = turn.title or self.title
        if turn.time is not None:
            self.first = min(self.first or turn.time, turn.time)
            self.last = max(self.last or turn.time, turn.time)
        if turn.role in ("user", "assistant", "note"):
            self.speakers.add(turn.speaker or turn.role)

    def as_dict(self) -> dict[str, object]:
        """Return the summary as JSON values."""
        return {
            "conversation": self.conversation,
            "session": self.session,
            "title": self.title,
            "turns": self.turns,
            "tokens": self.tokens,
            "first": self.first,
            "last": self.last,
            "speakers": sorted(self.speakers),
        }


def turns(snapshot: Snapshot, conversation: str | None, session: str | None) -> Iterator[Turn]:
    """Return turns: all in stored order, those of one conversation in its own order.

    Raises:
        NothingFound: If there is no such conversation or session.
    """
    found = (turn for _, turn in newest_turns(snapshot))
    if session is not None:
        found = (turn for turn in found if turn.session == session)
    if conversation is None and session is None:
        return found
    kept = [turn for turn in found if conversation in (None, turn.conversation)]
    if not kept:
        raise NothingFound(
            f"no turns in conversation {conversation or 'any'}, session {session or 'any'}",
            hint="`memcli inspect sessions` lists them",
        )
    return iter(sorted(kept, key=lambda t: (t.conversation, t.seq, t.time or "", t.id)))


def sessions(
    snapshot: Snapshot, conversation: str | None = None, session: str | None = None
) -> list[SessionSummary]:
    """Return the sessions in the order in which they first appear in the store.

    Args:
        snapshot: The state.
        conversation: Only its sessions; None for all.
        session: Only sessions of that id; None for all.
    """
    found: dict[tuple[str, str], SessionSummary] = {}
    for _, turn in newest_turns(snapshot):
        key = (turn.conversation, turn.session)
        if conversation not in (None, key[0]) or session not in (None, key[1]):
            continue
        if key not in found:
            found[key] = SessionSummary(turn.conversation, turn.session)
        found[key].take(turn)
    return list(found.values())


def stats(store: Store, snapshot: Snapshot) -> dict[str, object]:
    """Return counts of what a state of the store holds, and of its runs."""
    return _evidence_stats(snapshot) | {
        "strategies": strategy_stats(snapshot),
        "runs": len(run_names(store.path)),
        "bytes": snapshot.committed_bytes("turns"),
        "commit": snapshot.manifest.commit,
        "committed_at": snapshot.manifest.committed_at,
        "settings": dict(snapshot.manifest.settings),
    }


def _evidence_stats(snapshot: Snapshot) -> dict[str, object]:
    roles, formats, branches = Counter[str](), Counter[str](), Counter[str]()
    speakers, conversations = Counter[str](), set[str]()
    sittings: set[tuple[str, str]] = set()
    count = tokens = untimed = 0
    first: str | None = None
    last: str | None = None
    for _, turn in newest_turns(snapshot):
        count += 1
        tokens += turn.tokens
        roles[turn.role] += 1
        formats[turn.source.format] += 1
        branches[turn.branch] += 1
        speakers[turn.speaker or ""] += turn.speaker is not None
        conversations.add(turn.conversation)
        sittings.add((turn.conversation, turn.session))
        if turn.time is None:
            untimed += 1
        else:
            first = min(first or turn.time, turn.time)
            last = max(last or turn.time, turn.time)
    speakers.pop("", None)
    return {
        "turns": count,
        "conversations": len(conversations),
        "sessions": len(sittings),
        "tokens": tokens,
        "first": first,
        "last": last,
        "without_time": untimed,
        "superseded_records": snapshot.records("turns") - count,
        "roles": dict(sorted(roles.items())),
        "formats": dict(sorted(formats.items())),
        "branches": dict(sorted(branches.items())),
        "speakers": dict(speakers.most_common(20)),
    }


@dataclass(frozen=True, slots=True)
class Shown:
    """A turn and its surroundings, in order."""

    turn: Turn
    around: tuple[Turn, ...]


def show(snapshot: Snapshot, prefix: str, context: int) -> Shown:
    """Return the turn whose id starts with a prefix, and its neighbours in the session.

    Raises:
        NothingFound: If there is no such turn.
        UsageError: If the prefix fits several; names some.
    """
    index = open_index(snapshot, count=count_tokens_batch).index
    ids = index.ids_with_prefix(prefix) if prefix else []
    if prefix in ids:
        ids = [prefix]
    if not ids:
        raise NothingFound(
            f"no turn has an id that starts with {prefix!r}", hint="ids stand in every answer"
        )
    if len(ids) > 1:
        raise UsageError(f"{prefix!r} fits several ids: {', '.join(ids)}", hint="give more of it")
    hit = index.by_id(ids)[ids[0]]
    near = index.around([hit], context) if context else [hit]
    read = snapshot.read_turns([_place(t) for t in sorted(near, key=lambda t: (t.seq, t.id))])
    (turn,) = (each for each in read if each.id == hit.id)
    return Shown(turn, tuple(read))


def _place(turn: IndexedTurn) -> Placement:
    return Placement(turn.offset, turn.length)


def checkpoints(store: Store) -> list[dict[str, object]]:
    """Return the states one can go back to: saved ones by commit, then the steps of undo."""
    saved = [
        ("saved", c.name, c.manifest.command, c.manifest.committed_at, c.manifest.files)
        for c in store.checkpoints()
    ]
    steps = [
        ("undo", f"before {point.command}", point.command, point.committed_at, point.files)
        for point in store.snapshot().manifest.before
    ]
    return [
        {"kind": kind, "name": name, "command": command, "time": at}
        | {f"{what}_records": files[what].records if what in files else 0 for what in _COUNTED}
        for kind, name, command, at, files in saved + steps
    ]


def counter_lines(stats: Mapping[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    """Yield the statistics as (name, value) rows, nested counts as ``name.key``."""
    for name, value in stats.items():
        if isinstance(value, Mapping):
            yield from counter_lines(value, f"{before}{name}.")
        else:
            yield before + name, value
