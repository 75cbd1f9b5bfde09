"""`memcli inspect runs`: a run's tables and figures, finished or not, and its curves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from learner import LearnerServer, write_stream

STEPS = 8


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one finished run of eight steps; tests must not change it."""
    folder = tmp_path_factory.mktemp("trained")
    stream = write_stream(folder / "stream.jsonl", STEPS)
    val = write_stream(folder / "val.jsonl", 3, start=100)
    with LearnerServer() as server:
        train(folder / "store", server, str(stream), "--val", str(val), "--eval-every", "4")
    return folder / "store"


def train(store: Path, server: LearnerServer, *arguments: str) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "memcli", "train", *arguments, "--store", str(store)),
            *("--model", "openai/learner", "--api-base", server.url, "--retriever", "llm"),
        ],
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )


def test_runs_are_listed_a_row_each(memcli, trained):
    (run,) = memcli("inspect", "runs", "-s", trained, "--json").json["runs"]
    assert (run["run"], run["status"], run["retriever"]) == ("run-0001", "finished", "llm")
    assert (run["steps"], run["examples"], run["best_step"]) == (STEPS, STEPS, 4)
    assert run["cost_usd"] is None
    header, row = memcli("inspect", "runs", "-s", trained).out.splitlines()
    assert header.split("\t")[:2] == ["run", "status"]
    assert row.startswith("run-0001\tfinished\topenai/learner\tllm\t1\t8\t8\t")


def test_one_run_shows_phases_roles_evaluations_and_figures(memcli, trained):
    out = memcli("inspect", "runs", "run-0001", "-s", trained).out
    assert out.startswith("run-0001: openai/learner, retriever llm, 1 round\n8 of 8 steps, fin")
    for first in ("phase\trequests", "train\t", "validation\t", "role\t", "curate\t"):
        assert f"\n{first}" in out, first
    assert "best_step                4\n" in out
    assert "cost_usd                 unknown\n" in out
    assert "⠀" not in out


def test_the_figures_of_a_run_are_those_of_its_steps(memcli, trained):
    found = memcli("inspect", "runs", "run-0001", "-s", trained, "--json").json
    steps = memcli("inspect", "runs", "run-0001", "-s", trained, "--jsonl").lines
    assert steps == found["steps"]
    assert [step["step"] for step in steps] == list(range(1, STEPS + 1))
    spent = sum(step["prompt_tokens"] + step["completion_tokens"] for step in steps)
    assert spent == found["report"]["training_tokens"]
    assert found["config"]["examples"] == STEPS
    assert len(found["report"]["evaluations"]) == 3


def test_a_run_that_stopped_is_shown_as_far_as_it_came(memcli, trained, tmp_path):
    stream = write_stream(tmp_path / "stream.jsonl", STEPS)
    with LearnerServer() as server:
        train(tmp_path / "store", server, str(stream))
    (tmp_path / "store" / "runs" / "run-0001" / "report.json").unlink()
    (run,) = memcli("inspect", "runs", "--json").json["runs"]
    assert (run["status"], run["steps"]) == ("unfinished", STEPS)
    assert "--resume" in memcli("inspect", "runs", "run-0001").out


def test_a_run_that_was_undone_keeps_its_report(memcli, tmp_path):
    stream = write_stream(tmp_path / "stream.jsonl", 2)
    with LearnerServer() as server:
        train(tmp_path / "store", server, str(stream))
    assert memcli("undo", "--yes").code == 0
    found = memcli("inspect", "runs", "run-0001", "--json").json
    assert (found["report"]["steps"], found["steps"]) == (2, [])


def test_an_unknown_run_is_named(memcli, trained):
    done = memcli("inspect", "runs", "run-0009", "-s", trained)
    assert (done.code, done.out) == (1, "")
    assert "run-0009" in done.err


def test_stats_count_runs(memcli, trained):
    assert memcli("inspect", "stats", "-s", trained, "--json").json["runs"] == 1


def test_the_best_state_of_a_run_can_be_looked_at(memcli, trained):
    best = memcli("inspect", "nodes", "-s", trained, "--at", "run-0001:best", "--json")
    first = memcli("inspect", "nodes", "-s", trained, "--at", "run-0001.0", "--json")
    assert len(best.json["nodes"]) > 0
    assert first.json["nodes"] == []
    assert memcli("show", "n00001", "-s", trained, "--at", "run-0001.0").code == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal there")
def test_a_terminal_gets_curves_of_accuracy_and_prompt_tokens(environment, trained):
    import pty

    command = [sys.executable, "-m", "memcli", "inspect", "runs", "run-0001", "-s", str(trained)]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, stdin=subprocess.DEVNULL, env=environment):
        os.close(theirs)
        out = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            out += part
    os.close(ours)
    text = out.decode("utf-8")
    assert "accuracy of the last 25 predictions" in text
    assert "prompt tokens a step" in text
    assert "└──" in text
    assert "\x1b" not in text
