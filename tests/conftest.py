"""Fixtures shared by all tests: an isolated environment and the real command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the README's transcripts with what the commands print; review the diff",
    )


settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")  # a busy machine is no broken law


@dataclass(frozen=True)
class Ran:
    """What a finished command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[dict]:
        """The JSON records on stdout."""
        return [json.loads(line) for line in self.out.split("\n") if line]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment of its own: no settings, no store, no keys of the person who tests."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MEMCLI_", "OPENAI_"))}
    home = tmp_path / "home"
    home.mkdir()
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "MEMCLI_STORE": str(tmp_path / "store"),
        "PYTHONWARNINGS": "default",
        "COLUMNS": "100",
    }


@pytest.fixture
def memcli(environment: dict[str, str], tmp_path: Path) -> Callable[..., Ran]:
    """Run the real command line in a process of its own: ``memcli("ask", "…", input=…)``."""

    def run(*arguments: str | Path, input: str | bytes = b"", **extra: str) -> Ran:  # noqa: A002
        data = input.encode("utf-8") if isinstance(input, str) else input
        done = subprocess.run(
            [sys.executable, "-m", "memcli", *map(str, arguments)],
            input=data,
            capture_output=True,
            env=environment | extra,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    return run


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user of the machine can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="memcli-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of given data beside the checkout; tests that need it skip without it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the given data is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def harbour_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the bundled chat, made once by the real command; tests must not change it."""
    folder = tmp_path_factory.mktemp("harbour") / "store"
    transcript = ROOT / "sample_stores" / "transcripts" / "harbour.txt"
    command = [sys.executable, "-m", "memcli", "ingest", str(transcript), "--annotator", "rules"]
    subprocess.run([*command, "--store", str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture
def harbour(harbour_store: Path, tmp_path: Path) -> Path:
    """A copy of that store, free to be changed."""
    return Path(shutil.copytree(harbour_store, tmp_path / "harbour"))
