"""`memcli train`: the whole loop as a process, against a real server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_llm import FakeLLM, html, say, status
from learner import LearnerServer, example, write_stream

from memcli.app.strategy_store import load_graph, log_differences, read_traces
from memcli.store.store import Store

PRICED = "openai/gpt-4o-mini"


@pytest.fixture
def stream(tmp_path):
    return write_stream(tmp_path / "stream.jsonl", 8)


@pytest.fixture
def train(memcli, stream, tmp_path):
    """Run ``memcli train`` against a server."""

    def run(server, *arguments, file=stream, model="openai/learner"):
        given = ["--model", model, "--api-base", server.url, *arguments]
        return memcli("train", *([file] if file else []), *given)

    return run


@pytest.fixture
def steps(environment):
    """Read the training steps of the store's log."""

    def read():
        snapshot = Store.open(Path(environment["MEMCLI_STORE"])).snapshot()
        return [trace for trace in read_traces(snapshot) if trace.kind == "train"]

    return read


@pytest.fixture
def stored(environment):
    """Read all lessons and edges of the store."""

    def read():
        snapshot = Store.open(Path(environment["MEMCLI_STORE"])).snapshot()
        assert log_differences(snapshot) == []
        graph = load_graph(snapshot)
        return list(graph.nodes()), list(graph.edges())

    return read


def in_background(environment, server, *arguments):
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "memcli", "train", *map(str, arguments)),
            *("--model", "openai/learner", "--api-base", server.url),
        ],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_trains_a_new_store_and_reports(train, stream, steps, stored, environment, tmp_path):
    val = write_stream(tmp_path / "val.jsonl", 5, start=100)
    with LearnerServer() as server:
        ran = train(server, "--val", val, "--test", val, "--eval-every", "4", "--json")
    assert ran.code == 0, ran.err
    report = ran.json
    assert (report["run"], report["steps"], report["accuracy"]) == ("run-0001", 8, 3 / 8)
    assert report["best_step"] == 8
    assert [e["accuracy"] for e in report["evaluations"] if e["phase"] == "test"] == [0.0, 1.0]
    assert [trace.step for trace in steps()] == list(range(1, 9))
    assert all(len(t.retrieval.loaded) <= 12 and t.retrieval.memory_tokens <= 2500 for t in steps())
    nodes, _ = stored()
    assert len(nodes) == 13
    assert report["training_tokens"] == sum(
        report["tokens"]["train"][kind] for kind in ("prompt_tokens", "completion_tokens")
    )


def test_what_people_read_is_short(train):
    with LearnerServer() as server:
        ran = train(server)
    assert ran.code == 0
    assert "8 of 8 steps" in ran.out
    assert "cost unknown" in ran.out


@pytest.mark.parametrize("retriever", ["llm", "hybrid", "lexical", "all"])
def test_every_retriever_learns(train, retriever):
    with LearnerServer() as server:
        ran = train(server, "--retriever", retriever, "--json")
    assert ran.json["accuracy"] == 3 / 8
    asked = {each.role for each in server.seen}
    assert ("retrieve" in asked) == (retriever in ("llm", "hybrid"))


def test_parity_predicts_again_until_right_and_after_each_step(train, steps):
    with LearnerServer() as server:
        ran = train(server, "--parity", "ace", "--json")
    roles = [each.role for each in server.seen]
    assert ran.json["accuracy"] == 3 / 8
    assert ran.json["post_curate_accuracy"] == 1.0
    assert roles.count("generate") == 8 + 5 + 8
    assert roles.count("reflect") == 8
    assert [trace.right for trace in steps()] == [0] * 5 + [1] * 3


def test_the_same_seed_makes_the_same_run_and_another_order_later(train, steps, memcli):
    runs = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        with LearnerServer() as server:
            ran = train(server, "--epochs", "2", "--seed", seed, "-s", name)
        assert ran.code == 0
        questions = [s.body["messages"][-1]["content"] for s in server.seen if s.role == "generate"]
        runs.append(questions)
    assert runs[0] == runs[1]
    assert runs[0][:8] == runs[2][:8]
    assert runs[0] != runs[2]


class TestCutShort:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("how", "at"),
        [
            (signal.SIGKILL, 1),
            (signal.SIGKILL, 6),
            (signal.SIGKILL, 13),
            (signal.SIGINT, 14),
            (signal.SIGTERM, 15),
        ],
    )
    def test_a_killed_run_goes_on_at_the_next_example(
        self, environment, train, stream, steps, stored, at, how
    ):
        process = []

        def kill(number, _role):
            if number == at:
                wait_for(lambda: process)
                os.kill(process[0].pid, how)
                process[0].wait(30)

        with LearnerServer(kill) as server:
            process.append(in_background(environment, server, stream))
            _, err = process[0].communicate(timeout=60)
        assert process[0].returncode == (-9 if how == signal.SIGKILL else 130)
        if how != signal.SIGKILL:
            assert b"--resume" in err
        with LearnerServer() as server:
            ran = train(server, "--resume", "--json", file=None)
        assert ran.code == 0, ran.err
        assert ran.json["steps"] == 8
        assert [trace.step for trace in steps()] == list(range(1, 9))
        nodes, _ = stored()
        assert len({node.content for node in nodes}) == len(nodes) == 13

    def test_a_model_that_goes_away_stops_the_run_cleanly(self, train, steps):
        with LearnerServer(lambda n, _: status(401) if n > 9 else None) as server:
            ran = train(server)
        assert ran.code == 7
        assert "--resume" in ran.err
        done = len(steps())
        assert 0 < done < 8
        with LearnerServer() as server:
            ran = train(server, "--resume", "--json", file=None)
        assert ran.json["steps"] == 8
        assert sum(each.role == "generate" for each in server.seen) == 8 - done

    def test_another_stream_is_not_taken_for_it(self, train, tmp_path):
        other = write_stream(tmp_path / "other.jsonl", 8, start=50)
        with LearnerServer(lambda n, _: status(401) if n > 9 else None) as server:
            train(server)
            ran = train(server, "--resume", file=other)
        assert ran.code == 2
        assert "not the stream" in ran.err

    def test_there_must_be_something_to_resume(self, train, memcli):
        memcli("init")
        with LearnerServer() as server:
            ran = train(server, "--resume", file=None)
        assert ran.code == 1
        assert "no unfinished" in ran.err


class TestFaults:
    def test_unusable_replies_are_failures_not_scores(self, train, steps, stored):
        def fault(number, role):
            if role == "generate" and number < 9:
                return say("I would rather not.")
            return None

        with LearnerServer(fault) as server:
            ran = train(server, "--json")
        assert ran.code == 0
        failed = [trace for trace in steps() if trace.failures]
        assert failed
        assert all(t.total is None and not t.operations and not t.labels for t in failed)
        assert ran.json["failures"]["generate"] == len(failed)
        assert ran.json["steps"] == 8
        stored()

    def test_ten_in_a_row_stop_the_run(self, train, tmp_path, steps):
        long = write_stream(tmp_path / "long.jsonl", 30)
        with LearnerServer(lambda _, role: say("no") if role == "generate" else None) as server:
            ran = train(server, file=long)
        assert ran.code == 7
        assert "10 predictions in a row" in ran.err
        assert len(steps()) == 10

    @pytest.mark.parametrize(
        "step", [status(500), say(""), say("```json\n{"), say("<think>hm</think>")]
    )
    def test_a_fault_now_and_then_costs_a_try(self, train, step):
        with LearnerServer(lambda n, _: step if n % 5 == 2 else None) as server:
            ran = train(server, "--json")
        assert ran.code == 0, ran.err
        assert ran.json["steps"] == 8
        assert ran.json["accuracy"] == 3 / 8
        assert sum(ran.json["outcomes"].values()) == len(server.seen)

    def test_thinking_and_fences_around_json_are_fine(self, train):
        class Chatty(LearnerServer):
            def next_step(self, seen):
                step = super().next_step(seen)
                reply = json.loads(step.body)
                said = reply["choices"][0]["message"]["content"]
                return say(f"<think>hm {{</think>Here:\n```json\n{said}\n```")

        with Chatty() as server:
            ran = train(server, "--json")
        assert ran.json["accuracy"] == 3 / 8
        assert ran.json["failures"] == {}

    def test_a_server_without_json_mode_is_asked_in_words(self, train):
        class Plain(LearnerServer):
            def next_step(self, seen):
                if "response_format" in seen.body:
                    return status(400, "Unknown parameter: response_format")
                text = seen.body["messages"][-1]["content"]
                for role, field in (
                    ("curate", "operations"),
                    ("reflect", "bullet_tags"),
                    ("retrieve", "entry_ids"),
                    ("generate", "final_answer"),
                ):
                    if f'"{field}"' in text:
                        seen = type(seen)(role=role, path="", headers={}, body=seen.body)
                        break
                return super().next_step(seen)

        with Plain() as server:
            ran = train(server, "--json")
        assert ran.code == 0, ran.err
        assert ran.json["accuracy"] == 3 / 8

    def test_a_page_in_place_of_a_model_stops_after_ten(self, train, tmp_path):
        long = write_stream(tmp_path / "long.jsonl", 12)
        with LearnerServer(lambda *_: html()) as server:
            ran = train(server, file=long)
        assert ran.code == 7


class TestCost:
    def test_a_cap_stops_before_the_next_request_and_can_be_raised(self, train, steps):
        with LearnerServer(usage={"prompt_tokens": 10**6, "completion_tokens": 0}) as server:
            ran = train(server, "--max-cost", "1.4", model=PRICED)
        assert ran.code == 1
        assert "cost cap" in ran.err
        assert len(server.seen) == 10  # at 15 cents each
        assert len(steps()) in (2, 3)
        with LearnerServer(usage={"prompt_tokens": 10**6, "completion_tokens": 0}) as server:
            ran = train(server, "--resume", "--json", "--max-cost", "100", file=None, model=PRICED)
        assert ran.code == 0, ran.err
        assert ran.json["steps"] == 8
        assert ran.json["cost_usd"] == pytest.approx(0.15 * (10 + len(server.seen)))

    def test_a_cap_needs_a_known_price(self, train):
        with LearnerServer() as server:
            ran = train(server, "--max-cost", "1")
        assert ran.code == 2
        assert "price" in ran.err
        assert server.seen == []

    def test_an_unknown_price_is_null(self, train):
        with LearnerServer() as server:
            ran = train(server, "--json")
        assert ran.json["cost_usd"] is None

    def test_a_dry_run_asks_nobody_and_writes_nothing(self, train, environment):
        with LearnerServer() as server:
            ran = train(server, "--dry-run", "--json", model=PRICED)
        assert ran.code == 0
        found = ran.json["estimate"]
        assert found["steps"] == 8
        assert 0 < found["least_tokens"] < found["most_tokens"]
        assert 0 < found["least_usd"] < found["most_usd"]
        assert found["sampled"]
        assert server.seen == []
        assert not os.path.exists(environment["MEMCLI_STORE"])


class TestStreams:
    def test_lines_that_are_no_examples_are_named_and_passed_over(self, train, tmp_path, steps):
        lines = [
            json.dumps(example(0)),
            "not JSON",
            "[]",
            '{"question": "?"}',
            '{"answer": "4"}',
            "",
            json.dumps({"context": example(1)["question"], "target": 9001}),
        ]
        file = tmp_path / "bad.jsonl"
        file.write_text("\n".join(lines), "utf-8")
        with LearnerServer() as server:
            ran = train(server, file=file)
        assert ran.code == 6
        for number in (2, 3, 4, 5):
            assert f"bad.jsonl:{number}:" in ran.err
        assert len(steps()) == 2

    @pytest.mark.parametrize("content", ["", "\n\n", "nonsense\n"])
    def test_a_stream_without_an_example_is_an_error(self, train, tmp_path, content, environment):
        file = tmp_path / "empty.jsonl"
        file.write_text(content, "utf-8")
        with LearnerServer() as server:
            ran = train(server, file=file)
        assert ran.code == 1
        assert "holds no example" in ran.err
        assert not os.path.exists(environment["MEMCLI_STORE"])

    def test_fewer_examples_than_eval_every_are_measured_at_the_end(self, train, stream):
        with LearnerServer() as server:
            ran = train(server, "--val", stream, "--json")
        assert [e["step"] for e in ran.json["evaluations"]] == [0, 8]

    def test_a_stream_may_come_from_a_pipe(self, memcli, stream, steps):
        with LearnerServer() as server:
            ran = memcli(
                *("train", "-", "--model", "m", "--api-base", server.url),
                input=stream.read_bytes(),
            )
        assert ran.code == 0, ran.err
        assert len(steps()) == 8

    def test_a_scorer_of_ones_own(self, train, tmp_path):
        (tmp_path / "mine.py").write_text(
            "def parts(said, wanted):\n    return (int(said == wanted), 2)\n", "utf-8"
        )
        with LearnerServer() as server:
            ran = train(server, "--scorer", "mine:parts", "--json")
        assert ran.code == 0, ran.err
        assert ran.json["accuracy"] == 3 / 16


class TestNeighbours:
    def test_two_trainers_of_one_store(self, environment, train, stream):
        started = []

        def hold(number, _role):
            started.append(number)
            wait_for(lambda: "go" in started)

        with LearnerServer(hold) as server:
            first = in_background(environment, server, stream)
            wait_for(lambda: started)
            with LearnerServer() as other:
                ran = train(other)
            started.append("go")
            _, err = first.communicate(timeout=60)
        assert ran.code == 5
        assert f"pid {first.pid}" in ran.err
        assert other.seen == []
        assert first.returncode == 0, err

    def test_notes_may_be_taken_meanwhile(self, environment, memcli, stream, steps):
        codes = []

        def write(number, _role):
            if number in (5, 12):
                codes.append(memcli("add", f"note {number}").code)

        with LearnerServer(write) as server:
            process = in_background(environment, server, stream)
            process.communicate(timeout=60)
        assert process.returncode == 0
        assert codes == [0, 0]
        assert len(steps()) == 8


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--retriever", "psychic"], "psychic"),
        (["--rank", "luck"], "luck"),
        (["--scorer", "vibes"], "vibes"),
        (["--parity", "moon"], "moon"),
        (["--memory-cap", "5"], "--memory-cap"),
        (["--tolerance", "-1", "--scorer", "numeric"], "tolerance"),
        (["--tolerance", "0.1"], "tolerance"),
        (["--option", "temperature"], "NAME=VALUE"),
        (["--eval-every", "0"], "eval-every"),
        (["--max-cost", "nan"], "--max-cost"),
        (["--max-cost", "-1"], "--max-cost"),
        (["--max-cost", "inf"], "--max-cost"),
        (["--val", "-"], "--val cannot be standard input"),
        (["--test", "-"], "--test cannot be standard input"),
    ],
)
def test_options_that_make_no_sense_stop_before_anything_is_made(
    train, environment, arguments, words
):
    with LearnerServer() as server:
        ran = train(server, *arguments)
    assert ran.code == 2
    assert words in ran.err
    assert server.seen == []
    assert not os.path.exists(environment["MEMCLI_STORE"])


def test_rejected_lines_of_a_validation_file_are_told_too(train, tmp_path):
    val = tmp_path / "val.jsonl"
    val.write_text('{"question": "no answer"}\n' + json.dumps(example(1)) + "\n")
    with LearnerServer() as server:
        ran = train(server, "--val", val)
    assert ran.code == 6
    assert "val.jsonl:1: has no answer" in ran.err
    assert "1 lines rejected, 1 examples" in ran.err


def test_an_undo_while_a_run_goes_on_stops_it(train, memcli, steps):
    undone = []

    def undo_at_a_later_step(number, role):
        if number == 20 and not undone:
            undone.append(memcli("undo", "--yes").code)

    with LearnerServer(undo_at_a_later_step) as server:
        ran = train(server)
        assert undone == [0]
        assert ran.code == 2
        assert "run-0001 was undone" in ran.err
        assert "goes on" not in ran.err
        assert steps() == []
        assert "was undone" in train(server, "--resume", file=None).err
        assert memcli("verify").code == 0


def test_a_compaction_while_a_run_goes_on_does_not_disturb_it(train, memcli, steps):
    done = []

    def compact_at_a_later_step(number, role):
        if number == 20:
            done.append(memcli("compact").code)

    with LearnerServer(compact_at_a_later_step) as server:
        ran = train(server)
    assert (ran.code, done) == (0, [0])
    assert len(steps()) == 8
    assert memcli("verify").code == 0


def test_a_model_that_never_answers_leaves_no_run_behind(memcli, tmp_path):
    (tmp_path / "s.jsonl").write_text('{"question": "Q", "answer": "A"}\n')
    with FakeLLM({"generate": [status(401)]}) as fake:
        address = ("--model", "fake", "--api-base", fake.url, "-s", str(tmp_path / "m"))
        done = memcli("train", "s.jsonl", *address)
    assert done.code == 7
    assert "--resume" not in done.err
    assert memcli("inspect", "runs", "--json", "-s", str(tmp_path / "m")).json["runs"] == []
