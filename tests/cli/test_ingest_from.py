"""`memcli ingest --from` and `--list-formats`: look first, store when told, then as a habit."""

from __future__ import annotations

import json
import shutil

import pytest


def prompt(uuid, text, session="s1"):
    return json.dumps({
        "type": "user", "uuid": uuid, "parentUuid": None, "sessionId": session,
        "timestamp": "2026-01-05T10:00:00.000Z", "message": {"role": "user", "content": text},
    }) + "\n"  # fmt: skip


@pytest.fixture
def sessions(environment, tmp_path):
    folder = tmp_path / "home" / ".claude" / "projects" / "-w-app"
    folder.mkdir(parents=True)
    (folder / "s1.jsonl").write_text(prompt("a", "Oil the winch") + prompt("b", "Then the gate"))
    return folder


def test_the_first_time_is_a_dry_run_that_says_so(memcli, sessions):
    first = memcli("ingest", "--from", "claude-code", "--json")
    assert (first.code, first.json["added"], first.json["dry_run"]) == (0, 2, True)
    assert "dry run" in first.err
    assert "--yes" in first.err
    assert memcli("inspect", "stats").code == 4  # not even a store was made
    stored = memcli("ingest", "--from", "claude-code", "--yes", "--json")
    assert (stored.json["added"], stored.json["dry_run"], stored.json["stored_turns"]) == (
        2, False, 2,
    )  # fmt: skip


def test_later_it_stores_what_grew_without_being_told(memcli, sessions):
    memcli("ingest", "--from", "claude-code", "--yes")
    with (sessions / "s1.jsonl").open("a") as log:
        log.write(prompt("c", "And the bell"))
    grown = memcli("ingest", "--from", "claude-code", "--json")
    assert (grown.json["added"], grown.json["already_there"]) == (1, 2)
    assert "dry run" not in grown.err
    looked = memcli("ingest", "--from", "claude-code", "--dry-run", "--json").json
    assert (looked["added"], looked["dry_run"]) == (0, True)


def test_each_tool_has_a_first_time_of_its_own_and_undo_takes_it_back(memcli, sessions, tmp_path):
    memcli("ingest", "--from", "claude-code", "--yes")
    other = memcli("ingest", "--from", "codex")
    assert (other.code, "no Codex CLI sessions" in other.err) == (1, True)
    assert "CODEX_HOME" in other.err
    memcli("undo", "--yes")
    assert memcli("ingest", "--from", "claude-code", "--json").json["dry_run"] is True


def test_the_first_time_stays_the_first_when_nothing_was_new(memcli, sessions):
    memcli("ingest", sessions)
    looked = memcli("ingest", "--from", "claude-code", "--json").json
    assert (looked["dry_run"], looked["already_there"]) == (True, 2)
    memcli("ingest", "--from", "claude-code", "--yes")
    assert memcli("ingest", "--from", "claude-code", "--json").json["dry_run"] is False


def test_paths_and_the_tools_variable_say_where_to_look(memcli, sessions, tmp_path):
    shutil.move(sessions.parent, tmp_path / "moved" / "projects")
    assert memcli("ingest", "--from", "claude-code").code == 1
    for where, extra in (
        (("moved",), {}),
        ((), {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}),
    ):
        done = memcli("ingest", *where, "--from", "claude-code", "--json", **extra)
        assert (done.code, done.json["added"]) == (0, 2)


def test_files_of_another_format_are_left_out_and_told(memcli, sessions):
    (sessions / "odd.jsonl").write_text('{"role": "user", "content": "hi"}\n' * 2)
    done = memcli("ingest", "--from", "claude-code", "--yes", "--json")
    assert (done.code, done.json["added"]) == (0, 2)
    assert "left out: odd.jsonl" in done.err
    only_odd = memcli("ingest", "--from", "claude-code", sessions / "odd.jsonl")
    assert (only_odd.code, "none of 1 files" in only_odd.err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "PATH"),
        (("--from", "wordstar"), "claude-code, codex, gemini, cursor"),
        (("--from", "codex", "--format", "codex"), "contradict"),
    ],
)
def test_what_makes_no_sense_is_refused(memcli, arguments, says):
    done = memcli("ingest", *arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_formats_are_listed_for_people_and_programs(memcli):
    shown = memcli("ingest", "--list-formats")
    assert shown.code == 0
    listed = memcli("ingest", "--list-formats", "--json").json["formats"]
    names = [each["name"] for each in listed]
    assert names == sorted(names)
    assert {"chatgpt", "claude_code", "codex", "whatsapp", "plain_text"} <= set(names)
    assert all(each["name"] in shown.out and each["label"] in shown.out for each in listed)
    assert {each["name"]: each["from"] for each in listed}["gemini_cli"] == "gemini"
