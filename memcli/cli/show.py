"""`memcli show`: one turn or one lesson with its surroundings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli._options import AtOption, JsonOption, StoreOption, TzOption
from memcli.cli._output import inert, json_document, line

if TYPE_CHECKING:
    from datetime import tzinfo

    from memcli.records.evidence import Turn
    from memcli.store.snapshot import Snapshot

_NODE = re.compile(r"n\d*")
"""What only the id of a node, or the beginning of one, looks like; turns begin with ``t``."""


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(show)


def show(
    name: Annotated[str, typer.Argument(help="Id of a turn or node, or a prefix.", metavar="ID")],
    store: StoreOption = None,
    context: Annotated[
        int, typer.Option("--context", "-C", help="Turns before and after.", min=0, max=100)
    ] = 3,
    tz: TzOption = None,
    at: AtOption = None,
    json: JsonOption = False,
) -> None:
    """Show a turn with its surroundings, or a node (lesson) with the edges around it.

    Example: memcli show t4k2m7qa --context 5
    """
    from memcli.app.checkpoints import state_at
    from memcli.app.stores import open_store
    from memcli.app.wiring import load_config, store_path

    snapshot = state_at(open_store(store_path(load_config(), store)), at)
    if _NODE.fullmatch(name):
        _show_node(snapshot, name, json)
    else:
        _show_turn(snapshot, name, context, tz, json)


def _show_node(snapshot: Snapshot, name: str, as_json: bool) -> None:
    from memcli.app.inspect_strategy import show_node
    from memcli.cli.inspect_strategy import print_node

    print_node(show_node(snapshot, name), as_json)


def _show_turn(snapshot: Snapshot, name: str, context: int, tz: str | None, as_json: bool) -> None:
    from memcli.app.inspect import show as find
    from memcli.app.stores import zone_of
    from memcli.app.wiring import load_config
    from memcli.records.codec import turn_to_dict

    found = find(snapshot, name, context)
    if as_json:
        around = [turn_to_dict(turn) for turn in found.around]
        json_document({"turn": turn_to_dict(found.turn), "around": around})
        return
    _, zone = zone_of(load_config(), tz, snapshot.manifest.settings)
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
