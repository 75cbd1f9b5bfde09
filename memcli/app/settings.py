"""Settings as `memcli config` shows and changes them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from memcli.app.wiring import SETTINGS, Config, check_setting
from memcli.errors import StoreError, UsageError
from memcli.evidence.annotate import Annotator, annotator
from memcli.store.store import Store


def effective(
    config: Config, path: Path, store_flag: Path | None, name: str | None
) -> list[dict[str, str | None]]:
    """Return settings with value, origin and help; all of them, or the one named.

    Raises:
        UsageError: If there is no such setting.
    """
    if name is not None:
        check_setting(name, None)
    of_store = _settings_of(path)
    rows: list[dict[str, str | None]] = []
    for each in [name] if name is not None else SETTINGS:
        flag = str(store_flag) if each == "store" and store_flag is not None else None
        found = config.resolve(each, flag, of_store)
        value = str(path) if each == "store" and found.value is None else found.value
        rows.append(
            {"name": each, "value": value, "origin": found.origin, "help": SETTINGS[each].help}
        )
    return rows


def _settings_of(path: Path) -> Mapping[str, object]:
    try:
        return Store.open(path).snapshot().manifest.settings
    except StoreError:
        return {}  # no store yet, or one that `memcli verify` has to look at: show the rest


def set_in_store(path: Path, name: str, value: str | None, *, now: datetime) -> None:
    """Set or unset a setting of a store, as a commit that undo can take back.

    Raises:
        UsageError: If a store cannot carry this setting.
    """
    check_setting(name, value)
    if not SETTINGS[name].of_store:
        allowed = ", ".join(each for each, setting in SETTINGS.items() if setting.of_store)
        raise UsageError(f"{name} is no setting of a store", hint=f"those are: {allowed}")
    with Store.open(path).writer(now=now, command="config") as writer:
        settings = dict(writer.snapshot.manifest.settings)
        settings.pop(name, None)
        if value is not None:
            settings[name] = value
        writer.commit(command="config", settings=settings)


def choose_annotator(config: Config, path: Path, flag: str | None) -> Annotator:
    """Return the annotator that the user, the store or the settings ask for.

    Raises:
        MemcliError: If the pipeline the user names is not installed.
    """
    model = config.resolve("spacy_model").value
    chosen = config.resolve("annotator", flag, _settings_of(path))
    if chosen.origin == "default" and model is not None:
        return annotator("spacy", model)  # whoever names a pipeline wants it used
    return annotator(chosen.value or "none", model)
