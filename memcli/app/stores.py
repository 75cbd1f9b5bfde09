"""Opening and creating stores for the use cases."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from datetime import datetime, tzinfo
from pathlib import Path

from memcli.app.wiring import Config, check_setting, missing_store, zone
from memcli.budgets import count_tokens_batch
from memcli.errors import IndexBehind, StoreMissing
from memcli.search.builder import bring_up_to_date
from memcli.search.lesson_index import level_lessons
from memcli.store.snapshot import Snapshot
from memcli.store.store import Store


def open_store(path: Path) -> Store:
    """Return the store in a directory.

    Raises:
        StoreMissing: If there is none; says how to make one.
    """
    try:
        return Store.open(path)
    except StoreMissing as error:
        raise missing_store(path) from error


def create_store(path: Path, *, tz: str | None, now: datetime) -> Store:
    """Create a store; its time zone becomes a setting of the store.

    Raises:
        UsageError: If something is there already, or there is no such zone.
    """
    settings: dict[str, object] = {}
    if tz is not None:
        check_setting("tz", tz)
        settings["tz"] = tz
    path.parent.mkdir(parents=True, exist_ok=True)
    return Store.create(path, settings=settings, now=now)


def open_or_create(
    path: Path, *, now: datetime, scratch: bool = False, tz: str | None = None
) -> tuple[Store, bool]:
    """Return the store in a directory, made if there is none, and whether it was made.

    Args:
        path: The directory.
        now: Time of its first commit.
        scratch: Make it in a temporary folder instead (a dry run leaves nothing behind).
        tz: Zone that a new store keeps as its own, so that a later ingest reads the same
            times in the same zone.
    """
    try:
        return Store.open(path), False
    except StoreMissing:
        if not scratch:
            return create_store(path, tz=tz, now=now), True
    folder = Path(tempfile.mkdtemp(prefix="memcli-dry-run-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Store.create(folder / "store", now=now), True


def level_index(snapshot: Snapshot, *, done: str) -> None:
    """Bring the search index level with what was just committed.

    Args:
        snapshot: The committed state.
        done: What is done already, for the error: ``the note is stored``.

    Raises:
        IndexBehind: If the index cannot follow; its message begins with what is done.
    """
    try:
        bring_up_to_date(snapshot, count=count_tokens_batch)
        level_lessons(snapshot)
    except IndexBehind as error:
        raise IndexBehind(f"{done}, but {error.message}", hint=error.hint) from error


def zone_of(config: Config, flag: str | None, settings: Mapping[str, object]) -> tuple[str, tzinfo]:
    """Return the name and zone in which days are counted, given a store's own settings."""
    name = config.resolve("tz", flag, settings).value or "UTC"
    return name, zone(name)
