"""`memcli config`, `memcli doctor`, `memcli demo`: settings, health, a first look."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memcli.cli._options import JsonOption, StoreOption
from memcli.cli._output import inert, json_document, line, note, table


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(config)
    app.command()(doctor)
    app.command()(demo)


def config(
    name: Annotated[str | None, typer.Argument(help="Setting.", metavar="[NAME]")] = None,
    value: Annotated[str | None, typer.Argument(help="New value.", metavar="[VALUE]")] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Remove the setting.")] = False,
    in_store: Annotated[
        bool, typer.Option("--in-store", help="Set it in the store, for all its users.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show settings and where they come from, or change one.

    Example: memcli config tz Europe/Berlin
    """
    from memcli.app import settings
    from memcli.app.wiring import load_config, now, set_config, store_path

    loaded = load_config()
    path = store_path(loaded, store)
    if name is not None and (value is not None or unset):
        if in_store:
            settings.set_in_store(path, name, value, now=now())
        else:
            set_config(loaded, name, value)
        note(f"{name} is {'unset' if unset else 'set'}")
        return
    rows = settings.effective(loaded, path, store, name)
    if json:
        json_document({"settings": rows})
    else:
        table(("name", "value", "origin", "help"), [list(row.values()) for row in rows])


def doctor(store: StoreOption = None, json: JsonOption = False) -> None:
    """Say what is installed and configured, and which local model servers answer.

    Example: memcli doctor
    """
    from memcli.app.doctor import examine
    from memcli.app.wiring import load_config, store_path

    loaded = load_config()
    checks = examine(loaded, store_path(loaded, store))
    if json:
        json_document({"checks": [check.as_dict() for check in checks]})
    else:
        for check in checks:
            line(inert(f"{check.state:7} {check.name:18} {check.words}"))
    if any(check.state == "broken" for check in checks):
        raise typer.Exit(1)


def demo(
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Leave the demo's store here.", metavar="DIR")
    ] = None,
) -> None:
    """Take a one-minute tour on a bundled conversation; needs no model and no network.

    Example: memcli demo
    """
    from memcli.cli._demo import run

    run(keep)
