"""The folder of a run: whole lines, names that count up, one trainer at a time."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from store_helpers import Crash, FailingDisk

from memcli.errors import NothingFound, StoreDamaged, StoreLocked
from memcli.store.disk import Disk
from memcli.store.run_folder import (
    CONFIG,
    LEDGER,
    REPORT,
    RunFolder,
    create_run,
    open_run,
    run_names,
    training,
)
from memcli.store.store import Store

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    return Store.create(tmp_path / "store", now=NOW).path


@pytest.fixture
def folder(store):
    return create_run(store, {"model": "m"}, disk=Disk())


def test_names_count_up_and_are_never_used_again(store):
    names = [create_run(store, {}, disk=Disk()).name for _ in range(3)]
    assert names == ["run-0001", "run-0002", "run-0003"] == run_names(store)
    (store / "runs" / "notes").mkdir()
    (store / "runs" / "run-10000").mkdir()
    assert run_names(store)[-1] == "run-10000"
    assert create_run(store, {}, disk=Disk()).name == "run-10001"


def test_a_store_without_runs_has_none(store):
    assert run_names(store) == []
    with pytest.raises(NothingFound, match="run-0001"):
        open_run(store, "run-0001", disk=Disk())


@pytest.mark.parametrize("name", ["../run-0001", "run-1", "", "."])
def test_no_name_leads_out_of_the_folder(store, folder, name):
    with pytest.raises(NothingFound):
        open_run(store, name, disk=Disk())


def test_documents_and_lines_come_back(store, folder):
    folder.save(REPORT, {"text": "täglich ☃"})
    for number in range(3):
        folder.append(LEDGER, {"n": number})
    again = open_run(store, folder.name, disk=Disk())
    assert again.load(CONFIG) == {"model": "m"}
    assert again.load(REPORT) == {"text": "täglich ☃"}
    assert [line["n"] for line in again.lines(LEDGER)] == [0, 1, 2]
    assert again.load("nothing.json") is None
    assert list(again.lines("nothing.jsonl")) == []


def test_its_files_are_the_owners_alone(folder):
    folder.append(LEDGER, {})
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.path.iterdir()} == {0o600}


def test_a_torn_last_line_is_left_out_and_then_cut(folder):
    folder.append(LEDGER, {"n": 1})
    file = folder.path / LEDGER
    with file.open("ab") as stream:
        stream.write(b'{"n": 2, "te')
    assert [line["n"] for line in folder.lines(LEDGER)] == [1]
    folder.mend()
    folder.append(LEDGER, {"n": 3})
    assert [line["n"] for line in folder.lines(LEDGER)] == [1, 3]


def test_a_torn_first_line_is_cut_too(folder):
    (folder.path / LEDGER).write_bytes(b"{")
    folder.mend()
    assert (folder.path / LEDGER).read_bytes() == b""


def test_an_edited_line_is_named(folder):
    folder.append(LEDGER, {})
    with (folder.path / LEDGER).open("ab") as stream:
        stream.write(b"oops\n")
    with pytest.raises(StoreDamaged, match=r"ledger\.jsonl:2"):
        list(folder.lines(LEDGER))
    (folder.path / CONFIG).write_text("{", "utf-8")
    with pytest.raises(StoreDamaged, match=r"config\.json"):
        folder.load(CONFIG)


@pytest.mark.parametrize("mode", ["kill", "torn", "lose"])
def test_a_document_is_the_old_or_the_new_one_whatever_happens(folder, mode):
    total = FailingDisk()
    RunFolder(folder.path, total).save(REPORT, {"n": 0})
    for point in range(1, total.count + 1):
        folder.save(REPORT, {"n": 0})
        with pytest.raises(Crash):
            RunFolder(folder.path, FailingDisk(point, mode)).save(REPORT, {"n": point})
        assert json.loads((folder.path / REPORT).read_bytes())["n"] in (0, point)


def test_one_trainer_at_a_time_and_writers_are_not_kept_out(store):
    with training(store, now=NOW, wait_s=0.0, disk=Disk()):
        with (
            pytest.raises(StoreLocked, match=r"pid \d+ on .*`memcli train`"),
            training(store, now=NOW, wait_s=0.0, disk=Disk()),
        ):
            pass
        with Store.open(store).writer(now=NOW):
            pass
    with training(store, now=NOW, wait_s=0.0, disk=Disk()):
        pass
