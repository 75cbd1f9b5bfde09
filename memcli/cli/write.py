"""`memcli init` and `memcli add`: an empty store, and notes put into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memcli.cli._options import JsonOption, StoreOption, TzOption, WaitOption
from memcli.cli._output import json_document, line, note


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(init)
    app.command()(add)


def init(
    directory: Annotated[
        Path | None, typer.Argument(help="Where; the default store if absent.", metavar="[DIR]")
    ] = None,
    store: StoreOption = None,
    tz: TzOption = None,
) -> None:
    """Create an empty store.

    Example: memcli init notes --tz Europe/Berlin
    """
    from memcli.app.stores import create_store
    from memcli.app.wiring import load_config, now, store_path

    path = store_path(load_config(), directory or store)
    create_store(path, tz=tz, now=now())
    line(str(path))


def add(
    text: Annotated[str, typer.Argument(help="The note, or - for stdin.")],
    store: StoreOption = None,
    conversation: Annotated[
        str, typer.Option("--conversation", help="Conversation of the note.", metavar="NAME")
    ] = "notes",
    speaker: Annotated[
        str | None, typer.Option("--speaker", help="Who says it.", metavar="NAME")
    ] = None,
    wait: WaitOption = 0.0,
    json: JsonOption = False,
) -> None:
    """Store a note as a turn.

    Example: memcli add "The boiler man comes on Thursday."
    """
    from memcli.app.notes import add_note
    from memcli.app.stores import open_or_create
    from memcli.app.wiring import load_config, now, store_path
    from memcli.cli._input import text_or_stdin
    from memcli.records.codec import turn_to_dict

    at = now()
    opened, made = open_or_create(store_path(load_config(), store), now=at)
    if made:
        note(f"created a store in {opened.path}")
    turn = add_note(
        opened,
        text_or_stdin(text),
        conversation=conversation,
        speaker=speaker,
        now=at,
        wait_s=wait,
    )
    json_document({"turn": turn_to_dict(turn)}) if json else line(turn.id)
