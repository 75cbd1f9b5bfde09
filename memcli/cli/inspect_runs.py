"""`memcli inspect runs|checkpoints`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memcli.cli._view import View
    from memcli.store.snapshot import Snapshot
    from memcli.store.store import Store


def runs(store: Store, _snapshot: Snapshot, view: View) -> None:
    """Print the training and evaluation runs, or one of them."""
    view.records("runs", [])


def checkpoints(store: Store, _snapshot: Snapshot, view: View) -> None:
    """Print the states one can go back to."""
    from memcli.app.inspect import checkpoints as find

    view.records("checkpoints", find(store))
