"""`memcli inspect stats|turns|sessions|anchors`."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING

from memcli.cli._output import inert, json_document, json_lines, line, table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memcli.cli._view import View
    from memcli.records.evidence import Turn
    from memcli.store.snapshot import Snapshot
    from memcli.store.store import Store


def stats(store: Store, snapshot: Snapshot, view: View) -> None:
    """Print counts of what the store holds."""
    from memcli.app.inspect import counter_lines
    from memcli.app.inspect import stats as count

    found = count(store, snapshot)
    if view.json or view.jsonl:
        json_document(found)
        return
    for name, value in counter_lines(found):
        line(inert(f"{name:32} {value}"))


def turns(_store: Store, snapshot: Snapshot, view: View) -> None:
    """Print turns: all, those of a conversation, those of a session."""
    from memcli.app.inspect import turns as find

    found = find(snapshot, view.conversation or view.name, view.session)
    _print_turns(islice(found, view.limit), view)


def _print_turns(found: Iterable[Turn], view: View) -> None:
    from memcli.records.codec import turn_to_dict

    if view.json:
        json_document({"turns": [turn_to_dict(turn) for turn in found]})
    elif view.jsonl:
        json_lines(turn_to_dict(turn) for turn in found)
    else:
        headers = ("id", "time", "session", "speaker", "text")
        table(headers, (_turn_row(turn) for turn in found))


def _turn_row(turn: Turn) -> tuple[object, ...]:
    mark = "" if turn.branch == "active" else f"({turn.branch}) "
    who = turn.speaker or turn.role
    return (turn.id, turn.time or "undated", turn.session, who, mark + turn.text)


def sessions(_store: Store, snapshot: Snapshot, view: View) -> None:
    """Print the sessions with what each holds."""
    from memcli.app.inspect import sessions as find

    found = find(snapshot, view.conversation or view.name, view.session)
    view.records("sessions", (each.as_dict() for each in found))


def anchors(_store: Store, snapshot: Snapshot, view: View) -> None:
    """Print the hubs, or the turns of one."""
    from memcli.app.annotations import anchor_rows, anchor_turns
    from memcli.app.stores import zone_of
    from memcli.app.wiring import load_config

    _, zone = zone_of(load_config(), view.tz, snapshot.manifest.settings)
    if view.name is not None:
        found = anchor_turns(snapshot, view.name, tz=zone)
        _print_turns(islice(found, view.limit), view)
        return
    rows = anchor_rows(snapshot, tz=zone, limit=view.limit)
    view.records("anchors", (asdict(edge) for edge in rows))
