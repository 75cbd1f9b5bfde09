"""Undo, compaction, verification: the store and its index stay one."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memcli.app import care
from memcli.app.notes import add_note
from memcli.budgets import count_tokens_batch
from memcli.errors import IndexBehind, NothingFound, UsageError
from memcli.search.opening import open_index
from memcli.store.layout import DERIVED
from memcli.store.store import Store

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.create(tmp_path / "store", now=NOW)
    for text in ("the boiler man comes", "milk and bread", "milk and bread"):
        add_note(made, text, conversation="notes", speaker=None, now=NOW)
    return made


def found(store: Store, word: str) -> list[str]:
    opened = open_index(store.snapshot(), count=count_tokens_batch)
    assert not opened.warnings
    places = opened.index.top({word: 1.0}, 9)
    return [turn.id for turn in places]


def test_notes_follow_each_other_and_the_same_note_is_two(store: Store) -> None:
    turns = [turn for _, turn in store.snapshot().turns()]
    assert [turn.seq for turn in turns] == [0, 1, 2]
    assert len({turn.id for turn in turns}) == 3
    assert {turn.role for turn in turns} == {"note"}
    assert len(found(store, "milk")) == 2


def test_an_empty_note_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="empty"):
        add_note(store, " \n", conversation="notes", speaker=None, now=NOW)


def test_undo_takes_the_note_out_of_the_index_too(store: Store) -> None:
    before, after = care.undo(store, now=NOW, wait_s=0)
    assert (before.files["turns"].records, after.files["turns"].records) == (3, 2)
    assert len(found(store, "milk")) == 1
    care.undo(store, now=NOW, wait_s=0)
    care.undo(store, now=NOW, wait_s=0)
    assert found(store, "milk") == []
    assert {f.severity for f in care.verify_store(store.path).findings} <= {"note"}
    with pytest.raises(NothingFound):
        care.undo(store, now=NOW, wait_s=0)


def test_compaction_keeps_what_is_found(store: Store) -> None:
    (_, first), *_ = store.snapshot().turns()
    with store.writer(now=NOW) as writer:
        writer.append_turn(replace(first, text="the boiler man came"))
        writer.commit(command="test")
    report = care.compact(store, now=NOW, wait_s=0)
    assert (report.records_before["turns"], report.records_after["turns"]) == (4, 3)
    assert found(store, "came") == [first.id]
    assert found(store, "boiler") == [first.id]
    assert [f for f in care.verify_store(store.path).findings if f.severity != "note"] == []


def test_verify_says_that_the_index_is_missing_or_behind(store: Store) -> None:
    assert care.verify_store(store.path).findings == ()
    (_, first), *_ = store.snapshot().turns()
    with store.writer(now=NOW) as writer:
        writer.append_turn(replace(first, text="again"))
        writer.commit(command="test")
    (behind,) = care.verify_store(store.path).findings
    assert (behind.severity, "behind" in behind.what) == ("note", True)
    shutil.rmtree(store.path / DERIVED)
    (missing,) = care.verify_store(store.path).findings
    assert "missing" in missing.what


def test_verify_finds_an_index_of_other_turns(store: Store) -> None:
    mark_file = store.path / DERIVED / "turns.json"
    mark = json.loads(mark_file.read_bytes())
    mark_file.write_text(json.dumps(mark | {"documents": mark["documents"] - 1}))
    (finding,) = care.verify_store(store.path).findings
    assert finding.severity == "warning"


def test_what_is_done_is_said_although_the_index_cannot_follow(store: Store) -> None:
    shutil.rmtree(store.path / DERIVED)
    (store.path / DERIVED).write_text("in the way")
    with pytest.raises(IndexBehind, match="the note is stored as t"):
        add_note(store, "one more", conversation="notes", speaker=None, now=NOW)
    assert store.snapshot().records("turns") == 4
    with pytest.raises(IndexBehind, match="the add is taken back"):
        care.undo(store, now=NOW, wait_s=0)
    assert store.snapshot().records("turns") == 3


def test_repair_mends_the_index_too(store: Store) -> None:
    shutil.rmtree(store.path / DERIVED)
    care.repair_store(store.path, now=NOW)
    assert len(found(store, "milk")) == 2
