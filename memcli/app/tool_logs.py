"""Where tools keep their session logs: ``memcli ingest --from``.

Each tool documents a folder and an environment variable that moves it. What is found there is
only what the tool itself names like a session; a folder holds much else. Pure but for looking
which files there are; the machine is handed in by ``app/wiring``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memcli.errors import SourceFormatError, StoreMissing, UsageError
from memcli.importers.detect import Source
from memcli.importers.inputs import Unreadable
from memcli.store.store import Store

SETTING: Final = "ingested_from"
"""Setting of a store: the tools whose logs it has taken in, sorted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What decides where a tool keeps its files.

    Attributes:
        home: The user's home folder.
        platform: As `sys.platform` names it.
        environment: Environment variables.
    """

    home: Path
    platform: str
    environment: Mapping[str, str]

    def named(self, variable: str, default: Path) -> Path:
        """Return the folder that a variable names, ``~`` understood, else the default."""
        value = self.environment.get(variable, "").strip()
        if value == "~" or value.startswith(("~/", "~\\")):
            return self.home / value[2:]
        return Path(value) if value else default

    @property
    def config(self) -> Path:
        """Where programs keep what belongs to a user."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.named("APPDATA", self.home / "AppData" / "Roaming")
        return self.named("XDG_CONFIG_HOME", self.home / ".config")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool whose sessions can be found.

    Attributes:
        name: The value of ``--from``.
        format: The importer that reads its sessions.
        label: What people call it.
        moved_by: The environment variables that move its folder.
        folders: Where sessions may be on a machine.
        is_session: Whether a file in there, by its path, holds a session.
    """

    name: str
    format: str
    label: str
    moved_by: tuple[str, ...]
    folders: Callable[[Machine], list[Path]]
    is_session: Callable[[Path], bool]


def _claude_code(machine: Machine) -> list[Path]:
    if machine.environment.get("CLAUDE_CONFIG_DIR", "").strip():
        return [machine.named("CLAUDE_CONFIG_DIR", machine.home) / "projects"]
    shared = machine.named("XDG_CONFIG_HOME", machine.home / ".config")
    return [machine.home / ".claude" / "projects", shared / "claude" / "projects"]


def _codex(machine: Machine) -> list[Path]:
    base = machine.named("CODEX_HOME", machine.home / ".codex")
    return [base / "sessions", base / "archived_sessions"]


def _gemini(machine: Machine) -> list[Path]:
    return [machine.named("GEMINI_CLI_HOME", machine.home) / ".gemini" / "tmp"]


def _cursor(machine: Machine) -> list[Path]:
    """Return the folders of the databases; Cursor is moved as VS Code is."""
    if machine.environment.get("VSCODE_PORTABLE", "").strip():
        data = machine.named("VSCODE_PORTABLE", machine.home) / "user-data"
    else:
        data = machine.named("VSCODE_APPDATA", machine.config) / "Cursor"
    return [data / "User" / name for name in ("globalStorage", "workspaceStorage")]


def _is_gemini_session(path: Path) -> bool:
    is_json = path.suffix in (".json", ".jsonl")
    return is_json and ("chats" in path.parts[:-1] or path.name.startswith("session-"))


TOOLS: Final = (
    Tool(
        name="claude-code",
        format="claude_code",
        label="Claude Code",
        moved_by=("CLAUDE_CONFIG_DIR",),
        folders=_claude_code,
        is_session=lambda path: path.suffix == ".jsonl",
    ),
    Tool(
        name="codex",
        format="codex",
        label="Codex CLI",
        moved_by=("CODEX_HOME",),
        folders=_codex,
        is_session=lambda path: (
            path.name.startswith("rollout-") and path.suffix in (".json", ".jsonl")
        ),
    ),
    Tool(
        name="gemini",
        format="gemini_cli",
        label="Gemini CLI",
        moved_by=("GEMINI_CLI_HOME",),
        folders=_gemini,
        is_session=_is_gemini_session,
    ),
    Tool(
        name="cursor",
        format="cursor",
        label="Cursor",
        moved_by=("VSCODE_PORTABLE", "VSCODE_APPDATA"),
        folders=_cursor,
        is_session=lambda path: path.name == "state.vscdb",
    ),
)


def tool_named(name: str) -> Tool:
    """Return the tool that ``--from`` names, by its name or that of its format.

    Raises:
        UsageError: If there is none; it lists the names.
    """
    for tool in TOOLS:
        if name.lower().replace("_", "-") in (tool.name, tool.format.replace("_", "-")):
            return tool
    names = ", ".join(tool.name for tool in TOOLS)
    raise UsageError(f"no sessions can be found of {name!r}", hint=f"--from takes {names}")


def find_logs(tool: Tool, machine: Machine, paths: Sequence[str]) -> list[str]:
    """Return the paths of a tool's sessions, sorted, each once.

    Args:
        tool: Whose.
        machine: Where to look when no path is given.
        paths: Files, taken as they are, and folders to look in instead.

    Raises:
        SourceFormatError: If there is none; it says where it looked and what moves that.
    """
    places = [Path(path) for path in paths] or [
        folder for folder in tool.folders(machine) if folder.is_dir()
    ]
    found = dict[Path, str]()
    for place in places:
        for path in sorted(_sessions(tool, place), key=Path.as_posix):
            found.setdefault(path.resolve(), str(path))
    if found:
        return list(found.values())
    looked = ", ".join(map(str, places or tool.folders(machine)))
    moved = " or ".join(tool.moved_by)
    raise SourceFormatError(
        f"no {tool.label} sessions in {looked}", hint=f"set {moved}, or name the folder as PATH"
    )


def _sessions(tool: Tool, place: Path) -> Iterator[Path]:
    """Yield the session files below a folder, and folders that may not be looked into.

    What is no folder is yielded as it is named, whether it is there or not.
    """
    if not place.is_dir():
        yield place
        return
    forbidden = list[OSError]()
    for folder, _, names in os.walk(place, onerror=forbidden.append):
        paths = (Path(folder, name) for name in names)
        yield from (path for path in paths if tool.is_session(path) and _says_anything(path))
    yield from (Path(error.filename) for error in forbidden)


def _says_anything(path: Path) -> bool:
    """Return whether a path is a file that is not empty, or one that may not be asked."""
    try:
        return path.is_file() and path.stat().st_size > 0
    except OSError:
        return True


def is_first_time(tool: Tool, path: Path) -> bool:
    """Return whether the store in a directory never took in this tool's logs by ``--from``."""
    try:
        settings = Store.open(path).snapshot().manifest.settings
    except StoreMissing:
        return True
    return tool.name not in taken_in(settings)


def taken_in(settings: Mapping[str, object]) -> list[str]:
    """Return the tools whose logs a store has taken in, sorted."""
    names = settings.get(SETTING)
    return sorted(str(name) for name in names) if isinstance(names, list | tuple) else []


def of_tool(
    tool: Tool, found: Sequence[Source | Unreadable]
) -> tuple[list[Source | Unreadable], list[str]]:
    """Return what is to be read of a tool's, and the names of files that are others'.

    Raises:
        SourceFormatError: If nothing is the tool's.
    """
    others = [
        each.input.name
        for each in found
        if isinstance(each, Source) and each.format.name != tool.format
    ]
    kept = [
        each for each in found if isinstance(each, Unreadable) or each.format.name == tool.format
    ]
    if not kept:
        raise SourceFormatError(
            f"none of {len(found)} files is of {tool.label}", hint="ingest them without --from"
        )
    return kept, others
