"""The composition root: settings and their origin, the store's place, the clock, the key.

The only module that reads environment variables and configuration files. A setting comes from
the first of: the command line, ``MEMCLI_<NAME>``, the store's own settings (for what belongs
to a store), the user's ``config.toml``, the default.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memcli.errors import MemcliError, StoreMissing, UsageError

if TYPE_CHECKING:
    from memcli.app.tool_logs import Machine

Origin = str
"""Where a value came from: ``--tz``, ``MEMCLI_TZ``, ``store``, a file's path or ``default``."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting that exists.

    Attributes:
        default: Its value when nobody sets it, or None.
        help: What it does, one line.
        of_store: Whether a store may carry its own value.
    """

    default: str | None
    help: str
    of_store: bool = False


SETTINGS: Final[Mapping[str, Setting]] = {
    "store": Setting(None, "directory of the store"),
    "tz": Setting("UTC", "zone of times that state none, and of a question's days", True),
    "budget": Setting("1500", "most tokens of an evidence pack, or none", True),
    "strategy_tokens": Setting("600", "most tokens of lessons that `ask` adds, 0 for none", True),
    "annotator": Setting("rules", "how turns are annotated: rules, spacy (slower) or none", True),
    "spacy_model": Setting(None, "spaCy pipeline instead of the bundled one; implies spacy"),
    "model": Setting(None, "model that answers, e.g. openai/gpt-5-mini or ollama/qwen3"),
    "api_base": Setting(None, "URL of an OpenAI-compatible server"),
    "api_key_file": Setting(None, "file (mode 0600) that holds the key"),
    "timeout": Setting("120", "seconds to wait for a model"),
}


@dataclass(frozen=True, slots=True)
class Value:
    """A setting's value and where it came from."""

    value: str | None
    origin: Origin


class Config:
    """All settings of one process, resolved on demand.

    Attributes:
        environment: Environment variables.
        file: Values of the user's file.
        path: Where that file is, or would be.
    """

    def __init__(self, environment: Mapping[str, str], file: Mapping[str, str], path: Path) -> None:
        self.environment, self.file, self.path = environment, file, path

    def resolve(
        self,
        name: str,
        flag: str | None = None,
        store_settings: Mapping[str, object] | None = None,
    ) -> Value:
        """Return a setting's value and origin.

        Args:
            name: One of `SETTINGS`.
            flag: Value given on the command line, or None.
            store_settings: Settings of the store at hand.
        """
        setting = SETTINGS[name]
        variable = f"MEMCLI_{name.upper()}"
        if flag is not None:
            option = f"--{name.replace('_', '-')}"
            if not flag.strip():
                raise UsageError(f"{option} is empty", hint="is a variable unset?")
            return Value(flag, option)
        if self.environment.get(variable):
            return Value(self.environment[variable], variable)
        if setting.of_store and store_settings and name in store_settings:
            return Value(str(store_settings[name]), "store")
        if name in self.file:
            return Value(self.file[name], str(self.path))
        return Value(setting.default, "default")


def load_config(environment: Mapping[str, str] | None = None) -> Config:
    """Return the settings of this process.

    Raises:
        MemcliError: If the user's file cannot be read, is not UTF-8 or TOML, or names an
            unknown setting.
    """
    env = os.environ if environment is None else environment
    path = _config_path(env)
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return Config(env, {}, path)
    except OSError as error:
        raise MemcliError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise MemcliError(f"{path}: is not UTF-8", hint="correct or remove it") from error
    return Config(env, parse_config(text, path), path)


def parse_config(text: str, path: Path) -> dict[str, str]:
    """Return the settings of a ``config.toml``.

    Raises:
        MemcliError: If it is not TOML or names an unknown setting.
    """
    import tomllib

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MemcliError(f"{path}: is not TOML ({error})", hint="correct or remove it") from error
    unknown = sorted(set(data) - set(SETTINGS))
    if unknown:
        raise MemcliError(
            f"{path}: unknown setting {unknown[0]!r}", hint=f"known: {', '.join(SETTINGS)}"
        )
    return {name: str(value) for name, value in data.items()}


def set_config(config: Config, name: str, value: str | None) -> None:
    """Set or, with None, unset a setting in the user's file, atomically.

    Raises:
        UsageError: If there is no such setting or its value makes no sense.
    """
    check_setting(name, value)
    kept = {k: v for k, v in config.file.items() if k != name}
    if value is not None:
        kept[name] = value
    lines = [f"{key} = {_toml_string(kept[key])}\n" for key in sorted(kept)]
    config.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = config.path.with_suffix(".tmp")
    temporary.write_text("".join(lines), "utf-8")
    temporary.chmod(0o600)
    temporary.replace(config.path)


def check_setting(name: str, value: str | None) -> None:
    """Raise UsageError unless the setting exists and the value is one it can have."""
    if name not in SETTINGS:
        raise UsageError(f"no setting is called {name!r}", hint=f"known: {', '.join(SETTINGS)}")
    if value is None:
        return
    if name == "tz":
        zone(value)
    if name == "budget":
        parse_budget(value)
    if name == "strategy_tokens":
        parse_tokens(value)
    if name == "annotator" and value not in ("spacy", "rules", "none"):
        raise UsageError(f"annotator is {value!r}", hint="one of rules, spacy, none")
    if name == "timeout":
        parse_seconds(value)


def parse_budget(text: str) -> int | None:
    """Return a token budget; ``none`` is None.

    Raises:
        UsageError: If it is neither ``none`` nor a whole number of at least 50.
    """
    if text.lower() == "none":
        return None
    if not text.isascii() or not text.isdigit() or int(text) < 50:
        raise UsageError(f"budget {text!r} is not a number of tokens", hint="50 or more, or none")
    return int(text)


def parse_tokens(text: str) -> int:
    """Return a number of tokens of at least 0.

    Raises:
        UsageError: If it is none.
    """
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"{text!r} is not a number of tokens", hint="0 or more")
    return int(text)


def parse_seconds(text: str) -> float:
    """Return a positive number of seconds.

    Raises:
        UsageError: If it is none.
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise UsageError(f"timeout {text!r} is not a number of seconds", hint="e.g. 60")
    return seconds


def zone(name: str) -> tzinfo:
    """Return a time zone by its IANA name.

    Raises:
        UsageError: If there is no such zone.
    """
    if name.upper() in ("UTC", "Z"):
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise UsageError(
            f"no time zone is called {name!r}", hint="an IANA name such as Europe/Berlin"
        ) from error


def store_path(config: Config, flag: Path | None) -> Path:
    """Return the store's directory: the option, ``MEMCLI_STORE``, the file, or XDG data."""
    value = config.resolve("store", str(flag) if flag is not None else None).value
    if value is not None:
        return Path(value).expanduser()
    from platformdirs import user_data_path

    return user_data_path("memcli") / "store"


def machine(config: Config) -> Machine:
    """Return what decides where other tools keep their files on this machine."""
    from memcli.app.tool_logs import Machine

    return Machine(home=Path.home(), platform=sys.platform, environment=config.environment)


def missing_store(path: Path) -> StoreMissing:
    """Return the error for a store that is not there, with what to do first."""
    return StoreMissing(
        f"no store in {path}", hint="`memcli ingest FILE` or `memcli init` creates one"
    )


def now() -> datetime:
    """Return the present moment in UTC: the one place that reads the clock."""
    return datetime.now(UTC)


def parse_as_of(text: str | None, tz: tzinfo) -> datetime:
    """Return the reference time of a question: now, or an ISO date (its end) or time.

    Raises:
        UsageError: If the text is not an ISO date or time.
    """
    if text is None:
        return now().replace(microsecond=0)
    return parse_moment(text, tz, end_of_day=True)


def parse_moment(text: str, tz: tzinfo, *, end_of_day: bool) -> datetime:
    """Return an ISO date or time; without a zone it is read in ``tz``.

    Args:
        text: ``2024-05-31`` or ``2024-05-31T18:00:00+02:00``.
        tz: Zone of a text without one.
        end_of_day: Whether a date alone means its last second, not its first.

    Raises:
        UsageError: If it is neither.
    """
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(
            f"{text!r} is not a date or time", hint="e.g. 2024-05-31 or 2024-05-31T18:00:00Z"
        ) from error
    if len(text.strip()) <= len("2024-05-31") and end_of_day:
        at = at.replace(hour=23, minute=59, second=59)
    return _in_range(at if at.tzinfo else at.replace(tzinfo=tz))


def _in_range(at: datetime) -> datetime:
    """Return a moment that UTC can express: 9999-12-31 in Los Angeles is as good as the last."""
    try:
        at.astimezone(UTC)
    except OverflowError:
        return (datetime.min if at.year == 1 else datetime.max).replace(microsecond=0, tzinfo=UTC)
    return at


def _config_path(environment: Mapping[str, str]) -> Path:
    if environment.get("MEMCLI_CONFIG"):
        return Path(environment["MEMCLI_CONFIG"])
    from platformdirs import user_config_path

    return user_config_path("memcli") / "config.toml"


def _toml_string(value: str) -> str:
    from memcli.records.codec import dumps

    return dumps(value).decode("ascii" if value.isascii() else "utf-8")
