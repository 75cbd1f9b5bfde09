"""`memcli inspect` and `memcli show` on strategy memory: what is stored and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from strategy_store import EDGES, NODES, NOW, TRACES, a_node, append, write_store

from memcli.records.strategy import StrategyEdge


@pytest.fixture(scope="module")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of a few lessons; tests must not change it."""
    return write_store(tmp_path_factory.mktemp("lessons") / "store").path


@pytest.fixture
def look(memcli, lessons):
    """Run ``memcli inspect`` on that store: ``look("edges", "--json")``."""
    return lambda *arguments: memcli("inspect", *arguments, "-s", lessons)


def rows(out: str) -> list[list[str]]:
    """The cells of a table printed off a terminal, its header first."""
    return [line.split("\t") for line in out.splitlines()]


def test_nodes_come_in_order_of_creation_without_removed_ones(look):
    header, *found = rows(look("nodes").out)
    assert header == ["id", "section", "revision", "tokens", "key", "content"]
    assert [row[0] for row in found] == ["n00001", "n00002", "n00004", "n00005"]
    assert found[1][4:] == ["discount rate", "Discount each year. Then add."]


def test_removed_records_are_shown_and_marked_on_request(look):
    assert rows(look("nodes", "--removed").out)[3][4] == "(removed) old advice"
    assert rows(look("edges", "--removed").out)[3][:2] == ["n00001", "n00003 (removed)"]
    assert (
        "n00003 | old advice [formulas_and_calculations] (removed)"
        in look("index", "--removed").out
    )


def test_the_newest_state_of_a_record_counts_and_keeps_its_place(memcli, tmp_path):
    store = write_store(tmp_path / "store")
    append(store, [replace(NODES[0], key="npv", revision=2)], [replace(EDGES[0], s=3.0)])
    (first, *_) = memcli("inspect", "nodes", "--jsonl").lines
    assert (first["id"], first["key"], first["revision"]) == ("n00001", "npv", 2)
    assert memcli("inspect", "edges", "--jsonl").lines[0]["S"] == 3.0
    assert memcli("inspect", "index").out.splitlines()[0].startswith("n00001 | npv [")


def test_json_carries_the_stored_fields_unchanged(look):
    node = look("nodes", "--json").json["nodes"][1]
    assert node["content"] == "Discount each year.\nThen add."
    assert node["provenance"]["step"] == 2
    assert look("nodes", "--jsonl").lines[1] == node


def test_an_edge_shows_its_evidence_mean_and_interval(look):
    header, first, *_ = rows(look("edges").out)
    assert header == ["source", "target", "S", "F", "mean", "90 % from", "to"]
    assert first == ["n00001", "n00002", "2", "0", "0.750", "0.368", "0.983"]
    edge = look("edges", "--json").json["edges"][0]
    assert edge["mean"] == 0.75
    assert edge["low90"] == pytest.approx(0.05 ** (1 / 3), abs=1e-6)
    assert edge["high90"] == pytest.approx(0.95 ** (1 / 3), abs=1e-6)


A, B, C, D = ("n00001", "n00002"), ("n00002", "n00004"), ("n00004", "n00001"), ("n00005", "n00004")


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("mean", [A, C, B, D]),
        ("low", [A, B, C, D]),
        ("high", [A, C, B, D]),
        ("s", [A, B, C, D]),
        ("f", [D, B, A, C]),
        ("evidence", [D, B, A, C]),
        ("source", [A, B, C, D]),
        ("target", [C, A, B, D]),
    ],
)
def test_edges_are_sorted_and_ties_go_by_id(look, order, expected):
    found = look("edges", "--sort", order, "--jsonl").lines
    assert [(e["source"], e["target"]) for e in found] == expected
    some = look("edges", "--sort", order, "--jsonl", "--limit", "2").lines
    assert some == found[:2]


def test_edges_of_one_node_are_those_that_touch_it(look):
    found = look("edges", "n00004", "--jsonl").lines
    assert {(e["source"], e["target"]) for e in found} == {B, C, D}


def test_the_index_is_printed_as_a_retriever_reads_it(look):
    assert look("index").out.splitlines()[0] == (
        "n00001 | net present value [formulas_and_calculations]"
    )
    assert [e["id"] for e in look("index", "--json").json["index"]] == [
        "n00001", "n00002", "n00004", "n00005",
    ]  # fmt: skip


def test_traces_come_in_the_order_of_the_log(look):
    header, first, second, third = rows(look("traces").out)
    assert dict(zip(header, second, strict=True)) == {
        "id": "run-0001.2",
        "kind": "train",
        "step": "2",
        "right": "1/1",
        "retriever": "llm",
        "outcome": "loaded",
        "loaded": "2",
        "tokens": "24",
        "influence": "n00001 > n00002",
        "labels": "n00001>n00002 +0.9",
        "operations": "ADD_EDGE n00002>n00004",
    }
    assert first[5] == "empty_graph"
    assert third[-1] == "REMOVE n00003, MERGE n00003 into n00001"
    assert len(look("traces", "--json").json["traces"]) == len(TRACES)


@pytest.mark.parametrize(
    ("name", "ids"),
    [("run-0001.2", ["run-0001.2"]), ("run-0001", ["run-0001.1", "run-0001.2"])],
)
def test_traces_of_one_id_or_one_run(look, name, ids):
    assert [t["id"] for t in look("traces", name, "--json").json["traces"]] == ids
    assert look("traces", name, "--jsonl", "--limit", "1").lines[0]["id"] == ids[0]


def test_one_node_shows_where_it_comes_from_and_its_edges_best_first(memcli, look, lessons):
    done = look("nodes", "n00004")
    assert done.out.splitlines() == [
        "n00004 | rounding [common_mistakes_to_avoid]",
        "revision 1, 12 tokens, learned in run-0001, step 4",
        "",
        "Lesson rounding :: what to do.",
        "",
        "→ n00001  0.50 (S 0, F 0; 90 % 0.05–0.95)  net present value",
        "← n00002  0.43 (S 0.9, F 1.5; 90 % 0.10–0.80)  discount rate",
        '← n00005  0.20 (S 0, F 3; 90 % 0.01–0.53)  quotes "and" \\ slashes',
    ]
    assert memcli("show", "n00004", "-s", lessons).out == done.out
    found = memcli("show", "n00004", "-s", lessons, "--json").json
    assert found["node"]["key"] == "rounding"
    assert [e["target"] for e in found["leaving"]] == ["n00001"]
    assert [e["source"] for e in found["entering"]] == ["n00002", "n00005"]


def test_a_removed_node_is_shown_with_its_removed_edges(memcli, lessons):
    done = memcli("show", "n00003", "-s", lessons)
    assert done.out.startswith("n00003 | old advice [formulas_and_calculations], removed\n")
    assert "← n00001" in done.out


def test_the_graph_as_text_lists_each_nodes_out_edges(look):
    assert look("graph").out.splitlines()[:3] == [
        "n00001 | net present value [formulas_and_calculations]",
        "  → n00002  0.75 (S 2, F 0; 90 % 0.37–0.98)",
        "n00002 | discount rate [formulas_and_calculations]",
    ]


def test_the_graph_as_records_holds_active_nodes_and_edges_only(look):
    found = look("graph", "--json").json
    assert [n["id"] for n in found["nodes"]] == ["n00001", "n00002", "n00004", "n00005"]
    assert {(e["source"], e["target"]) for e in found["edges"]} == {A, B, C, D}
    kinds = [record["kind"] for record in look("graph", "--jsonl").lines]
    assert kinds == ["node"] * 4 + ["edge"] * 4


def test_the_graph_around_a_node_reaches_two_hops_either_way(memcli, tmp_path):
    chain = [a_node(number, f"key {number}") for number in range(1, 8)]
    links = [
        StrategyEdge(source=f"n{number:05}", target=f"n{number + 1:05}") for number in range(1, 7)
    ]
    write_store(tmp_path / "store", chain, links, ())
    found = memcli("inspect", "graph", "n00004", "--json").json
    assert [n["id"] for n in found["nodes"]] == [f"n0000{n}" for n in (2, 3, 4, 5, 6)]
    assert len(memcli("inspect", "graph", "--json", "--limit", "3").json["edges"]) == 2


def test_dot_quotes_what_people_and_models_wrote(look):
    out = look("graph", "--dot").out
    assert out.startswith("digraph strategies {\n")
    assert out.endswith("}\n")
    assert r'[label="n00005\nquotes \"and\" \\ slashes"' in out
    assert '"n00001" -> "n00002" [label="0.75"' in out
    assert "n00003" not in out


def test_stats_count_strategies_beside_evidence(look):
    found = look("stats", "--json").json["strategies"]
    assert (found["nodes"], found["removed_nodes"], found["edges"]) == (4, 1, 4)
    assert (found["S"], found["F"], found["edges_with_evidence"]) == (2.9, 4.5, 3)
    assert found["trace_kinds"] == {"edit": 1, "train": 2}
    lines = dict(line.split(None, 1) for line in look("stats").out.splitlines())
    assert lines["strategies.nodes"] == "4"
    assert lines["strategies.sections.common_mistakes_to_avoid"] == "1"


@pytest.mark.parametrize("what", ["nodes", "edges", "index", "traces", "graph", "stats"])
def test_a_checkpoint_is_looked_at_as_it_was(memcli, tmp_path, what):
    store = write_store(tmp_path / "store")
    before = memcli("inspect", what, "--json").json
    with store.writer(now=NOW) as writer:
        writer.checkpoint("early")
    more = StrategyEdge(source="n00002", target="n00006", s=0.5)
    append(store, [a_node(6, "new"), replace(NODES[0], status="removed")], [more], TRACES[:1])
    assert memcli("inspect", what, "--json").json != before
    assert memcli("inspect", what, "--json", "--at", "early").json == before


def test_checkpoints_tell_how_much_each_holds(memcli, tmp_path):
    store = write_store(tmp_path / "store")
    with store.writer(now=NOW) as writer:
        writer.checkpoint("early")
    (saved, *_) = memcli("inspect", "checkpoints", "--json").json["checkpoints"]
    assert saved["name"] == "early"
    assert (saved["turns_records"], saved["nodes_records"]) == (0, 5)


@pytest.mark.parametrize("what", ["nodes", "edges", "index", "traces", "graph", "runs"])
def test_an_empty_memory_is_a_word_on_stderr(memcli, what):
    memcli("init")
    done = memcli("inspect", what)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("no ")
    assert memcli("inspect", what, "--jsonl").out == ""


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("nodes", "n00009"), 1, "n00009"),
        (("nodes", "n0000"), 2, "fits several ids: n00001, n00002"),
        (("edges", "n00009"), 1, "no node"),
        (("graph", "n00003"), 1, "no node"),
        (("traces", "run-0009"), 1, "run-0009"),
        (("nodes", "--at", "nowhere"), 1, "no checkpoint"),
        (("nodes", "--sort", "mean"), 2, "takes no --sort"),
        (("nodes", "--dot"), 2, "takes no --dot"),
        (("turns", "--removed"), 2, "takes no --removed"),
        (("runs", "--at", "early"), 2, "takes no --at"),
        (("edges", "--conversation", "c"), 2, "takes no --conversation"),
        (("stats", "n00001"), 2, "takes no ID"),
        (("graph", "--dot", "--json"), 2, "contradict"),
        (("edges", "--sort", "luck"), 2, "luck"),
    ],
)
def test_mistakes_are_named(look, arguments, code, says):
    done = look(*arguments)
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert "Traceback" not in done.err


def test_help_says_what_a_posterior_is_not(memcli):
    text = " ".join(memcli("inspect", "edges", "--help").out.split())
    assert "smoothed estimate under the policy that trained" in text
    assert "not a causal measure, not a calibrated probability" in text


def test_stored_text_reaches_a_terminal_inert(memcli, tmp_path):
    write_store(tmp_path / "store", [a_node(1, "key \x1b[31m", "do \x07 this")], (), ())
    for command in (("inspect", "nodes"), ("show", "n00001"), ("inspect", "graph", "--dot")):
        assert not {"\x1b", "\x07"} & set(memcli(*command).out), command


def test_a_damaged_line_is_named_by_its_file(memcli, tmp_path):
    many = [StrategyEdge(source="n00001", target=f"n{n:05}", s=2.0) for n in range(10, 200)]
    store = write_store(tmp_path / "store", NODES, many, ())
    file = store.path / "edges.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"S":2.0', b'"S":-2.', 1))
    done = memcli("inspect", "edges", "--json")
    assert (done.code, done.out) == (4, "")
    assert "edges.jsonl" in done.err


def test_nothing_is_loaded_that_a_look_does_not_need(environment, lessons):
    code = (
        "import sys\n"
        f"sys.argv = ['memcli', 'inspect', 'edges', '-s', {str(lessons)!r}]\n"
        "from memcli.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "heavy = {'litellm', 'spacy', 'tiktoken', 'numpy', 'httpx', 'scipy', 'tantivy'}\n"
        "print('heavy', sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert "heavy []" in done.stderr


def test_looking_changes_no_byte(memcli, tmp_path):
    store = write_store(tmp_path / "store").path
    before = {file: file.read_bytes() for file in store.rglob("*") if file.is_file()}
    for what in ("nodes", "edges", "index", "traces", "graph", "stats", "runs", "checkpoints"):
        assert memcli("inspect", what, "--json").code == 0
    after = {file: file.read_bytes() for file in store.rglob("*") if file.is_file()}
    assert {f.name for f in after} - {f.name for f in before} <= {"store.lock", "writer.json"}
    assert all(after[file] == data for file, data in before.items())


def test_the_graph_document_is_one_line_of_json(look):
    out = look("graph", "--json").out
    assert out.count("\n") == 1
    assert json.loads(out)["schema_version"] == 1
