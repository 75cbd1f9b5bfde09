"""Lessons by hand and labels by hand, through the real command line."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def store(memcli, tmp_path):
    """A store of two linked lessons."""
    path = str(tmp_path / "s")
    memcli("node", "add", "Convert units first.", "--key", "units", "-s", path)
    memcli("node", "add", "Check the sign.", "--link", "n00001", "-s", path)
    return path


@pytest.fixture
def trace(tmp_path):
    """A saved trace that loaded both lessons."""
    loaded = [{"id": "n00001", "depth": 0}, {"id": "n00002", "depth": 1}]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"trace": {"id": "q1", "retrieval": {"loaded": loaded}}}))
    return str(path)


def edges(memcli, store):
    done = memcli("inspect", "edges", "--json", "-s", store)
    return {(e["source"], e["target"]): (e["S"], e["F"]) for e in done.json["edges"]}


USED = ("--influence", "n00001,n00002")


def test_a_lesson_is_added_linked_edited_and_removed(memcli, store):
    assert edges(memcli, store).keys() == {("n00001", "n00002"), ("n00002", "n00001")}
    done = memcli("node", "edit", "n00002", "Check sign\nand order.", "--json", "-s", store)
    assert done.json["node"]["content"] == "Check sign\nand order."
    assert done.json["node"]["revision"] == 2
    assert memcli("node", "remove", "n00001", "--dry-run", "-s", store).code == 0
    assert len(edges(memcli, store)) == 2
    assert memcli("node", "remove", "n00001", "-s", store).code == 2  # nobody to ask
    assert memcli("node", "remove", "n00001", "--yes", "-s", store).code == 0
    assert edges(memcli, store) == {}
    assert memcli("node", "add", "A third.", "--json", "-s", store).json["node"]["id"] == "n00003"
    assert memcli("verify", "-s", store).code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("add", "check THE sign."), 2, "already says exactly this"),
        (("add", "New.", "--link", "n00009"), 2, "names no lesson"),
        (("add", "New.", "--section", "poetry"), 2, "no section"),
        (("add", "word " * 600), 2, "longer than 500 tokens"),
        (("edit", "n00009", "New."), 1, "there is no lesson 'n00009'"),
        (("edit", "n00001"), 2, "nothing would change"),
        (("remove", "n00009", "--yes"), 1, "there is no lesson"),
    ],
)
def test_what_is_refused_changes_nothing(memcli, store, arguments, code, words):
    before = edges(memcli, store)
    done = memcli("node", *arguments, "-s", store)
    assert (done.code, edges(memcli, store)) == (code, before)
    assert words in done.err


def test_a_label_moves_the_edges_of_the_trace_once(memcli, store, trace):
    done = memcli("feedback", trace, "helpful", *USED, "--confidence", "0.7", "-s", store)
    assert (done.code, done.out) == (0, "n00001 → n00002: S 0.7, F 0\n")
    assert edges(memcli, store)["n00001", "n00002"] == (0.7, 0)
    again = memcli("feedback", trace, "helpful", *USED, "-s", store)
    assert again.code == 2
    assert "was labelled before" in again.err
    memcli("feedback", trace, "harmful", *USED, "--replace", "-s", store)
    assert edges(memcli, store)["n00001", "n00002"] == (0, 1)
    memcli("feedback", trace, "helpful", *USED, "--replace", "-s", store)
    assert edges(memcli, store)["n00001", "n00002"] == (1, 0)
    assert memcli("verify", "-s", store).code == 0
    memcli("undo", "--yes", "-s", store)
    assert edges(memcli, store)["n00001", "n00002"] == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("helpful",), "names no lessons that were used"),
        (("good", *USED), "is no verdict"),
        (("helpful", "--influence", "n00001,ghost"), "were not loaded"),
        (("helpful", "--influence", "n00001"), "none of the 0 transitions"),
        (("helpful", *USED, "--confidence", "1.5"), "not between 0 and 1"),
        (("helpful", *USED, "--confidence", "nan"), "not between 0 and 1"),
    ],
)
def test_a_label_that_says_nothing_is_refused(memcli, store, trace, arguments, words):
    done = memcli("feedback", trace, *arguments, "-s", store)
    assert done.code == 2
    assert words in done.err
    assert set(edges(memcli, store).values()) == {(0, 0)}


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"traces": []}', "nope", '{"id": 3}'),
        '{"id": "x", "retrieval": {"loaded": 5}}',
    ],
)
def test_what_is_no_trace_is_refused(memcli, store, tmp_path, text):
    path = tmp_path / "odd.json"
    path.write_text(text)
    assert memcli("feedback", str(path), "helpful", *USED, "-s", store).code == 2


def test_compaction_keeps_lessons_edges_and_the_log_in_step(memcli, store, trace):
    memcli("feedback", trace, "helpful", *USED, "-s", store)
    memcli("node", "edit", "n00001", "Convert all units first.", "-s", store)
    before = edges(memcli, store)
    assert memcli("compact", "-s", store).code == 0
    assert edges(memcli, store) == before
    assert memcli("verify", "-s", store).code == 0
    assert memcli("node", "add", "One more.", "--json", "-s", store).json["node"]["id"] == "n00003"


def test_verify_tells_an_edge_that_the_log_does_not_explain(memcli, store, tmp_path):
    from datetime import UTC, datetime
    from pathlib import Path

    from memcli.records.strategy import StrategyEdge
    from memcli.records.strategy_codec import edge_to_line
    from memcli.store.store import Store

    with Store.open(Path(store)).writer(now=datetime.now(UTC)) as writer:
        writer.append("edges", edge_to_line(StrategyEdge(source="n00001", target="n00002", s=3)))
        writer.commit(command="test")
    done = memcli("verify", "-s", store)
    assert done.code == 4
    assert "edge n00001 → n00002 has S 3.0, F 0.0; the log leads to S 0.0, F 0.0" in done.out


def test_a_label_is_not_taken_from_an_edge_that_came_after_it(memcli, store, trace):
    memcli("feedback", trace, "helpful", *USED, "-s", store)
    from pathlib import Path

    pair = {"source": "n00001", "target": "n00002"}
    relink(Path(store), pair, confidence=0.25)
    assert edges(memcli, store)["n00001", "n00002"] == (0.25, 0)
    done = memcli("feedback", trace, "harmful", *USED, "--replace", "--json", "-s", store)
    assert done.json["replaced"].startswith("x")
    assert edges(memcli, store)["n00001", "n00002"] == (0.25, 1)
    assert memcli("verify", "-s", store).code == 0


def relink(store, pair, *, confidence):
    """Remove an edge and add it again in one training step, then label it in another."""
    from datetime import UTC, datetime

    from memcli.app.strategy_store import append_change, load_graph
    from memcli.budgets import count_tokens
    from memcli.records.strategy import Label, Provenance, Trace
    from memcli.store.store import Store
    from memcli.strategy.operations import Rules, plan
    from memcli.strategy.proposals import AddEdge, RemoveEdge

    rules = Rules(count=count_tokens, provenance=Provenance(origin="train"))
    label = Label(**pair, label="helpful", confidence=confidence)
    for name, steps in (
        ("t1", {"proposals": [RemoveEdge(**pair), AddEdge(**pair)]}),
        ("t2", {"labels": [label]}),
    ):
        with Store.open(store).writer(now=datetime.now(UTC)) as writer:
            change = plan(load_graph(writer.snapshot), rules, **steps)
            trace = Trace(
                id=name,
                kind="train",
                time="2026-03-01T12:00:00Z",
                labels=change.labels,
                operations=change.operations,
            )
            append_change(writer, change, trace)
            writer.commit(command="train")


@pytest.mark.parametrize("arguments", [("",), (" ",), ("New.", "--link", "n00001")])
def test_a_refused_lesson_leaves_no_store_behind(memcli, tmp_path, arguments):
    assert memcli("node", "add", *arguments, "-s", tmp_path / "none").code == 2
    assert not (tmp_path / "none").exists()


def test_a_dry_run_waits_for_nobody(memcli, store):
    from datetime import UTC, datetime
    from pathlib import Path

    from memcli.store.store import Store

    with Store.open(Path(store)).writer(now=datetime.now(UTC)):
        done = memcli("node", "remove", "n00001", "--dry-run", "-s", store)
        assert done.code == 0
        assert done.out.splitlines()[0].endswith("would be removed")
        assert memcli("node", "remove", "n00001", "--yes", "-s", store).code == 5


def test_a_lesson_is_read_from_a_pipe(memcli, store):
    done = memcli("node", "edit", "n00001", "-", "--json", "-s", store, input="From a pipe.\n")
    assert done.json["node"]["content"] == "From a pipe."
    assert memcli("node", "add", "-", "-s", store, input="x" * 3_000_000).code == 2


def test_what_a_query_saves_is_what_a_label_reads(memcli, store, tmp_path):
    saved = tmp_path / "saved.json"
    asked = memcli(
        "query", "convert units", "--retriever", "lexical", "--trace", saved, "-s", store
    )
    assert asked.code == 0
    assert memcli("feedback", saved, "harmful", *USED, "-s", store).code == 0
    listed = tmp_path / "listed.json"
    printed = memcli("query", "check sign", "--retriever", "lexical", "--json", "-s", store)
    listed.write_text(printed.out)
    assert memcli("feedback", listed, "harmful", *USED, "-s", store).code == 0
    assert edges(memcli, store)["n00001", "n00002"] == (0, 2)
