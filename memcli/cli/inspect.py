"""`memcli inspect` and `memcli show`: looking at what is stored."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli._options import (
    ConversationOption,
    JsonlOption,
    JsonOption,
    SessionOption,
    StoreOption,
    TzOption,
)
from memcli.cli._output import (
    inert,
    json_document,
    json_lines,
    line,
    note,
    one_format,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

    from memcli.records.evidence import Turn
    from memcli.store.snapshot import Snapshot
    from memcli.store.store import Store


class What(StrEnum):
    """What can be inspected."""

    stats = "stats"
    turns = "turns"
    sessions = "sessions"
    anchors = "anchors"
    checkpoints = "checkpoints"


LimitOption = Annotated[
    int | None, typer.Option("--limit", help="At most so many.", metavar="N", min=1)
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(inspect)
    app.command()(show)


def inspect(
    what: Annotated[What, typer.Argument(help="What to look at.")] = What.stats,
    name: Annotated[
        str | None,
        typer.Argument(help="Conversation (turns) or anchor (anchors) to show.", metavar="[ID]"),
    ] = None,
    store: StoreOption = None,
    conversation: ConversationOption = None,
    session: SessionOption = None,
    tz: TzOption = None,
    limit: LimitOption = None,
    json: JsonOption = False,
    jsonl: JsonlOption = False,
) -> None:
    """Look at turns, sessions, anchors, checkpoints or counts; changes nothing.

    Example: memcli inspect turns --conversation lamp-post | head
    """
    from memcli.app.stores import open_store, zone_of
    from memcli.app.wiring import load_config, store_path

    one_format(json, jsonl)
    config = load_config()
    opened = open_store(store_path(config, store))
    snapshot = opened.snapshot()
    for warning in snapshot.warnings:
        note(warning)
    match what:
        case What.stats:
            _stats(snapshot, json or jsonl)
        case What.turns:
            _turns(snapshot, conversation or name, session, limit, json, jsonl)
        case What.sessions:
            _sessions(snapshot, limit, json, jsonl)
        case What.anchors:
            _, zone = zone_of(config, tz, snapshot.manifest.settings)
            _anchors(snapshot, name, zone, limit, json, jsonl)
        case What.checkpoints:
            _records("checkpoints", _checkpoints(opened), json, jsonl)


def _stats(snapshot: Snapshot, as_json: bool) -> None:
    from memcli.app.inspect import counter_lines, stats

    found = stats(snapshot)
    if as_json:
        json_document(found)
        return
    for name, value in counter_lines(found):
        line(inert(f"{name:24} {value}"))


def _turns(
    snapshot: Snapshot,
    conversation: str | None,
    session: str | None,
    limit: int | None,
    json: bool,
    jsonl: bool,
) -> None:
    from memcli.app.inspect import turns

    _print_turns(islice(turns(snapshot, conversation, session), limit), json, jsonl)


def _print_turns(found: Iterable[Turn], json: bool, jsonl: bool) -> None:
    from memcli.records.codec import turn_to_dict

    if json:
        json_document({"turns": [turn_to_dict(turn) for turn in found]})
    elif jsonl:
        json_lines(turn_to_dict(turn) for turn in found)
    else:
        headers = ("id", "time", "session", "speaker", "text")
        table(headers, (_turn_row(turn) for turn in found))


def _turn_row(turn: Turn) -> tuple[object, ...]:
    mark = "" if turn.branch == "active" else f"({turn.branch}) "
    who = turn.speaker or turn.role
    return (turn.id, turn.time or "undated", turn.session, who, mark + turn.text)


def _sessions(snapshot: Snapshot, limit: int | None, json: bool, jsonl: bool) -> None:
    from memcli.app.inspect import sessions

    _records("sessions", [s.as_dict() for s in sessions(snapshot)[:limit]], json, jsonl)


def _anchors(
    snapshot: Snapshot,
    name: str | None,
    zone: tzinfo,
    limit: int | None,
    json: bool,
    jsonl: bool,
) -> None:
    """Print the hubs, or the turns of one."""
    from memcli.app.annotations import anchor_rows, anchor_turns

    if name is not None:
        _print_turns(islice(anchor_turns(snapshot, name, tz=zone), limit), json, jsonl)
        return
    found = anchor_rows(snapshot, tz=zone, limit=limit)
    _records("anchors", [asdict(edge) for edge in found], json, jsonl)


def _checkpoints(store: Store) -> list[dict[str, object]]:
    """Return the states one can go back to: saved ones by name, then the steps of undo."""
    saved = [
        ("saved", c.name, c.manifest.command, c.manifest.committed_at, c.manifest.files)
        for c in store.checkpoints()
    ]
    steps = [
        ("undo", f"before {point.command}", point.command, point.committed_at, point.files)
        for point in store.snapshot().manifest.before
    ]
    return [
        {
            "kind": kind,
            "name": name,
            "command": command,
            "time": at,
            "turn_records": files["turns"].records if "turns" in files else 0,
        }
        for kind, name, command, at, files in saved + steps
    ]


def _records(kind: str, rows: list[dict[str, object]], json: bool, jsonl: bool) -> None:
    """Print records as a document, as lines, or as a table of their fields."""
    if json:
        json_document({kind: rows})
    elif jsonl:
        json_lines(rows)
    elif rows:
        shown = [[", ".join(v) if isinstance(v, list) else v for v in row.values()] for row in rows]
        table(list(rows[0]), shown)
    else:
        note(f"no {kind}")


def show(
    turn_id: Annotated[str, typer.Argument(help="Turn id, or a prefix of it.", metavar="ID")],
    store: StoreOption = None,
    context: Annotated[
        int, typer.Option("--context", "-C", help="Turns before and after.", min=0, max=100)
    ] = 3,
    tz: TzOption = None,
    json: JsonOption = False,
) -> None:
    """Show a turn with its surroundings.

    Example: memcli show t4k2m7qa --context 5
    """
    from memcli.app.inspect import show as find
    from memcli.app.stores import open_store, zone_of
    from memcli.app.wiring import load_config, store_path
    from memcli.records.codec import turn_to_dict

    config = load_config()
    opened = open_store(store_path(config, store))
    snapshot = opened.snapshot()
    found = find(snapshot, turn_id, context)
    if json:
        around = [turn_to_dict(turn) for turn in found.around]
        json_document({"turn": turn_to_dict(found.turn), "around": around})
        return
    _, zone = zone_of(config, tz, snapshot.manifest.settings)
    _show_surroundings(found.turn, found.around, zone)


def _show_surroundings(turn: Turn, around: tuple[Turn, ...], zone: tzinfo) -> None:
    from memcli.evidence.lines import label, shown_time
    from memcli.records.evidence import spoken_line

    title = f", {turn.title}" if turn.title else ""
    source = turn.source
    place = f"{source.file}:{source.line}" if source.line else source.file
    line(inert(f"conversation {turn.conversation}, session {turn.session}{title}"))
    line(inert(f"source {source.format}, {place}, id {source.native_id or turn.id}"))
    for each in around:
        mark = ">" if each.id == turn.id else " "
        said = spoken_line(each.speaker, each.text, each.caption)
        line(inert(f"{mark} {each.id[:8]} {shown_time(each, zone)} {label(each)}{said}"))
