"""The documents say what is: every transcript of the README runs, every table fits the code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import memcli
from memcli.records.evidence import Source, Turn
from memcli.records.strategy import StrategyEdge, StrategyNode, Trace
from memcli.store.manifest import FileEntry, Manifest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
FORMAT = (ROOT / "sample_stores" / "README.md").read_text("utf-8")


def transcripts(text: str) -> list[tuple[str, str]]:
    """Return (command, expected stdout) of every ``console`` block, in order."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            found.append((command, expected))
    return found


def run_transcripts(text: str, folder: Path, environment: dict[str, str]) -> list[str]:
    """Run the commands of a document in a copy of the samples; return each one's stdout."""
    shutil.copytree(ROOT / "sample_stores", folder / "sample_stores", dirs_exist_ok=True)
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    program = bin_folder / "memcli"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memcli "$@"\n')
    program.chmod(0o755)
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    outputs = []
    has_jq = shutil.which("jq") is not None
    for command, expected in transcripts(text):
        if "jq" in command and not has_jq:
            outputs.append(expected)
            continue
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=folder,
            env=environment | {"PATH": path},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr.decode())
        outputs.append(done.stdout.decode("utf-8"))
    return outputs


def rewritten(text: str, outputs: list[str]) -> str:
    """Return the document with each command's stdout in the place of the one it has."""
    left = iter(outputs)

    def block(match: re.Match[str]) -> str:
        commands = [f"$ {c}\n{next(left)}" for c, _ in transcripts(match[0])]
        return f"```console\n{''.join(commands)}```"

    return re.sub(r"```console\n.*?```", block, text, flags=re.DOTALL)


@pytest.mark.slow
def test_every_transcript_in_the_readme_is_true(tmp_path, environment, request):
    environment.pop("MEMCLI_STORE")
    outputs = run_transcripts(README, tmp_path, environment)
    if request.config.getoption("--update-golden"):
        (ROOT / "README.md").write_text(rewritten(README, outputs), "utf-8")
        return
    for (command, expected), output in zip(transcripts(README), outputs, strict=True):
        assert output == expected, command


def test_the_readme_has_the_two_lines_that_do_all_the_set_up():
    for mark in ("setup line", "test line"):
        block = re.search(rf"<!-- {mark} -->\n```sh\n(.*?)\n```", README, re.DOTALL)
        assert block is not None
        assert "\n" not in block[1]


def test_the_library_example_runs(tmp_path, harbour_store):
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert block is not None
    shutil.copytree(harbour_store, tmp_path / "try-me")
    done = subprocess.run(
        [sys.executable, "-c", block[1]], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "walnut" in done.stdout.lower()


def table_fields(heading: str) -> list[str]:
    """Return the field names of the first table after a line that starts with ``heading``."""
    after = FORMAT[FORMAT.index(heading) :]
    table = re.search(r"\| field .*?\n\n|\| field .*\Z", after, re.DOTALL)
    assert table is not None
    return re.findall(r"^\| `(\w+)` \|", table[0], re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "record", "beside"),
    [
        ("## A turn", Turn, set()),
        ("`source`:", Source, set()),
        ("## A lesson", StrategyNode, set()),
        ("## An edge", StrategyEdge, {"S", "F"}),
        ("## The manifest", Manifest, {"check"}),
        ("A file entry:", FileEntry, set()),
    ],
)
def test_the_format_reference_names_every_field(heading, record, beside):
    expected = {field.name for field in fields(record)} - {"extra", "s", "f"}
    assert set(table_fields(heading)) == expected | beside


def test_the_format_reference_names_every_field_of_the_log():
    log = FORMAT[FORMAT.index("## The log") : FORMAT.index("## The manifest")]
    named = {name for row in re.findall(r"^\| (`.*?) \|", log, re.M) for name in row.split(", ")}
    assert {name.strip("`") for name in named} == {f.name for f in fields(Trace)} - {"extra"}


def test_every_command_is_in_the_readme_and_has_an_example(memcli):
    from memcli.cli import app

    names = [c.name or c.callback.__name__ for c in app.registered_commands]
    for name in names:
        assert f"memcli {name}" in README, name
        assert f"memcli {name}" in memcli(name, "--help").out.partition("Example:")[2], name


def test_public_names_load_and_nothing_else_is_public():
    for name in memcli.__all__:
        assert getattr(memcli, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = memcli.nonsense
