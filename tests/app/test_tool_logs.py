"""Finding the sessions of other tools: documented places, what moves them, what is taken."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from memcli.app.tool_logs import TOOLS, Machine, find_logs, taken_in, tool_named
from memcli.errors import SourceFormatError, UsageError


def machine(home: Path, platform: str = "linux", **environment: str) -> Machine:
    return Machine(home=home, platform=platform, environment=environment)


def made(folder: Path, *names: str) -> list[str]:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return [str(folder / name) for name in names]


PLACES = {
    "claude-code": ".claude/projects/-w-app/s.jsonl",
    "codex": ".codex/sessions/2026/01/02/rollout-a.jsonl",
    "gemini": ".gemini/tmp/abc/chats/session-a.json",
}
MOVED = [
    ("claude-code", {"CLAUDE_CONFIG_DIR": "{}/else"}, "else/projects/-w-app/s.jsonl"),
    ("claude-code", {}, ".config/claude/projects/-w-app/s.jsonl"),
    ("codex", {"CODEX_HOME": "{}/else"}, "else/archived_sessions/rollout-a.jsonl"),
    ("codex", {"CODEX_HOME": "~/else"}, "else/sessions/2026/01/02/rollout-a.jsonl"),
    ("gemini", {"GEMINI_CLI_HOME": "{}/else"}, "else/.gemini/tmp/abc/chats/b/session-a.jsonl"),
    ("cursor", {"VSCODE_PORTABLE": "{}/p"}, "p/user-data/User/globalStorage/state.vscdb"),
    ("cursor", {"VSCODE_APPDATA": "{}/p"}, "p/Cursor/User/workspaceStorage/ab/state.vscdb"),
    ("cursor", {"XDG_CONFIG_HOME": "{}/p"}, "p/Cursor/User/globalStorage/state.vscdb"),
]


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("name", PLACES)
def test_the_home_folder_is_the_same_everywhere(tmp_path, name, platform):
    expected = made(tmp_path, PLACES[name])
    assert find_logs(tool_named(name), machine(tmp_path, platform), []) == expected


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, ".config"),
        ("darwin", {}, "Library/Application Support"),
        ("win32", {}, "AppData/Roaming"),
        ("win32", {"APPDATA": "{}/roaming"}, "roaming"),
    ],
)
def test_cursor_keeps_its_database_where_programs_do(tmp_path, platform, environment, folder):
    expected = made(tmp_path, f"{folder}/Cursor/User/globalStorage/state.vscdb")
    variables = {key: value.format(tmp_path) for key, value in environment.items()}
    assert find_logs(tool_named("cursor"), machine(tmp_path, platform, **variables), []) == expected


@pytest.mark.parametrize(("name", "environment", "path"), MOVED)
def test_a_tools_own_variable_moves_its_place(tmp_path, name, environment, path):
    expected = made(tmp_path, path)
    if environment and name in PLACES:
        made(tmp_path, PLACES[name])  # no longer looked at
    variables = {key: value.format(tmp_path) for key, value in environment.items()}
    assert find_logs(tool_named(name), machine(tmp_path, **variables), []) == expected


def test_only_sessions_are_taken_sorted_and_each_once(tmp_path):
    base = tmp_path / ".claude" / "projects" / "p"
    wanted = made(base, "a.jsonl", "a/subagents/agent-1.jsonl", "b.jsonl")
    made(base, "a/tool-results/x.txt", "memory/note.md", "a/subagents/agent-1.meta.json")
    (base / "empty.jsonl").touch()
    (tmp_path / "linked").symlink_to(base)
    tool = tool_named("claude_code")
    assert find_logs(tool, machine(tmp_path), []) == wanted
    assert find_logs(tool, machine(tmp_path), [str(base), str(tmp_path / "linked")]) == wanted


def test_paths_are_looked_at_instead_and_files_taken_as_they_are(tmp_path):
    made(tmp_path, PLACES["codex"])
    [zipped, session, _] = made(tmp_path / "backup", "old.zip", "x/rollout-1.jsonl", "x/note.txt")
    found = find_logs(tool_named("codex"), machine(tmp_path), [zipped, str(tmp_path / "backup")])
    assert found == [zipped, session]
    gone = str(tmp_path / "gone")
    assert find_logs(tool_named("codex"), machine(tmp_path), [gone]) == [gone]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_nothing_found_says_where_it_looked_and_what_to_do(tmp_path, tool):
    with pytest.raises(SourceFormatError) as caught:
        find_logs(tool, machine(tmp_path), [])
    assert str(tmp_path) in caught.value.message
    assert tool.moved_by[0] in caught.value.hint


def test_tools_are_named_as_their_formats_too():
    assert {tool_named(tool.format) for tool in TOOLS} == set(TOOLS)
    with pytest.raises(UsageError, match="wordstar"):
        tool_named("wordstar")


@pytest.mark.parametrize("value", [None, "codex", 3, {}])
def test_an_odd_setting_means_that_nothing_was_taken_in(value):
    assert taken_in({"ingested_from": value}) == []
    assert taken_in({"ingested_from": ["gemini", "codex"]}) == ["codex", "gemini"]


def test_places_are_folders_of_the_tools_own():
    for tool in TOOLS:
        folders = tool.folders(machine(Path("/h")))
        assert all(PurePath(folder).is_relative_to("/h") for folder in folders)
