"""`memcli query`: the lessons for a text, through the real command line."""

from __future__ import annotations

import json

import fake_llm
import pytest
from fake_llm import FakeLLM


@pytest.fixture
def store(memcli, tmp_path):
    """Three lessons, the third linked with the first."""
    path = str(tmp_path / "s")
    memcli("node", "add", "Divide assets by liabilities.", "--key", "current ratio", "-s", path)
    memcli("node", "add", "Discount each cash flow.", "--key", "net present value", "-s", path)
    memcli("node", "add", "Round at the end.", "--key", "rounding", "--link", "n00001", "-s", path)
    return path


def test_entries_come_first_and_edges_show_their_posterior(memcli, store):
    done = memcli("query", "What is the current ratio?", "-s", store)
    assert done.code == 0
    assert done.out == (
        "[n00001] entry: current ratio [strategies_and_insights]\n"
        "    Divide assets by liabilities.\n"
        "[n00003] hop 1: rounding [strategies_and_insights]\n"
        "    Round at the end.\n"
        "\n"
        "n00001 → n00003  S 0  F 0  mean 0.500  90 % 0.050–0.950\n"
        "n00003 ⇢ n00001  S 0  F 0  mean 0.500  90 % 0.050–0.950\n"
    )
    assert "2 of 3 lessons" in done.err


def test_the_same_question_gives_the_same_bytes_and_changes_nothing(memcli, store, tmp_path):
    before = memcli("inspect", "stats", "--json", "-s", store).out
    runs = [memcli("query", "cash flow", "--json", "-s", store).out for _ in range(2)]
    assert runs[0] == runs[1]
    assert memcli("inspect", "stats", "--json", "-s", store).out == before


def test_json_names_lessons_edges_and_the_trace(memcli, store):
    found = memcli("query", "current ratio", "--json", "-s", store).json
    assert found["schema_version"] == 1
    assert [(n["id"], n["depth"], n["entry"]) for n in found["nodes"]] == [
        ("n00001", 0, True),
        ("n00003", 1, False),
    ]
    retrieval = found["trace"]["retrieval"]
    assert retrieval["entries"] == ["n00001"]
    assert retrieval["traversed"] == [["n00001", "n00003"]]
    assert retrieval["fallback"] is False
    assert retrieval["memory_tokens"] == sum(node["tokens"] for node in found["nodes"])
    lines = memcli("query", "current ratio", "--jsonl", "-s", store).lines
    assert [line["id"] for line in lines] == ["n00001", "n00003"]


def test_a_saved_trace_can_be_labelled_and_recorded(memcli, store, tmp_path):
    file = tmp_path / "t.json"
    memcli("query", "current ratio", "--trace", str(file), "--record", "-s", store)
    trace = json.loads(file.read_text())
    logged = memcli("inspect", "traces", "--json", "-s", store).json["traces"]
    assert logged[-1]["id"] == trace["id"]
    used = ("--influence", "n00001,n00003")
    assert memcli("feedback", str(file), "helpful", *used, "-s", store).code == 0
    better = memcli("query", "current ratio", "--json", "-s", store).json["edges"][0]
    assert (better["S"], better["mean"]) == (1.0, 0.666667)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("zebra",), 0, "no lesson fits"),
        (("zebra", "--exit-status"), 3, "no lesson fits"),
        ((" ",), 2, "the query is empty"),
        (("ratio", "--retriever", "magic"), 2, "no retriever"),
        (("ratio", "--rank", "magic"), 2, "no rank"),
        (("ratio", "--retriever", "llm"), 2, "no model is configured"),
        (("ratio", "--memory-cap", "10"), 2, "--memory-cap is for"),
        (("ratio", "--at", "nowhere"), 1, "no checkpoint"),
        (("ratio", "--json", "--jsonl"), 2, "contradict"),
    ],
)
def test_odd_questions(memcli, store, arguments, code, words):
    done = memcli("query", *arguments, "-s", store)
    assert (done.code, done.out) == (code, "")
    assert words in done.err


def test_a_store_without_lessons_says_so(memcli, tmp_path):
    memcli("init", str(tmp_path / "e"))
    done = memcli("query", "anything", "-s", str(tmp_path / "e"), "--exit-status")
    assert done.code == 3
    assert "has no lessons" in done.err


def test_all_loads_everything_up_to_its_cap(memcli, store):
    every = memcli("query", "x", "--retriever", "all", "--json", "-s", store).json
    assert [node["id"] for node in every["nodes"]] == ["n00001", "n00002", "n00003"]
    cap = str(every["nodes"][0]["tokens"])
    one = memcli("query", "x", "--retriever", "all", "--memory-cap", cap, "--json", "-s", store)
    assert [node["id"] for node in one.json["nodes"]] == ["n00001"]


def test_a_model_chooses_among_index_lines(memcli, store):
    choice = '{"sections": ["poetry"], "entry_ids": ["n00002", "ghost", "n00002"]}'
    with FakeLLM({"retrieve": [fake_llm.say(choice)]}) as fake:
        done = memcli(
            "query", "what?", "--model", "fake", "--api-base", fake.url, "--json", "-s", store
        )
        sent = fake.seen[0].body["messages"][-1]["content"]
    assert "n00002 | net present value [strategies_and_insights]" in sent
    retrieval = done.json["trace"]["retrieval"]
    assert (retrieval["retriever"], retrieval["entries"]) == ("hybrid", ["n00002"])
    assert retrieval["discarded"] == {
        "entry_repeated": 1,
        "entry_unknown": 1,
        "section_unknown": 1,
    }


def test_an_unusable_choice_loads_nothing(memcli, store):
    with FakeLLM({"retrieve": [fake_llm.say("no idea")]}) as fake:
        done = memcli(
            "query", "what?", "--model", "fake", "--api-base", fake.url, "--json", "-s", store
        )
    assert done.code == 0
    assert (done.json["nodes"], done.json["trace"]["retrieval"]["outcome"]) == ([], "failed_call")


@pytest.mark.slow
def test_a_query_by_words_loads_nothing_heavy(environment, store):
    import subprocess
    import sys

    code = (
        "import sys; sys.argv = ['memcli', 'query', 'ratio', '-s', sys.argv[1]]\n"
        "from memcli.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "names = ('litellm', 'spacy', 'tiktoken', 'numpy', 'httpx')\n"
        "print([n for n in names if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, store], env=environment, capture_output=True, check=True
    )
    assert done.stdout.decode().splitlines()[-1] == "[]"
