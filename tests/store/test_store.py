"""A store is created, written, read and taken back as its docstrings say."""

from __future__ import annotations

import os
import shutil
import stat
from datetime import timedelta

import pytest
from store_helpers import NOW, FailingDisk, a_node, a_trace, a_turn, an_edge, content, texts

from memcli.errors import (
    NothingFound,
    RecordError,
    StoreDamaged,
    StoreError,
    StoreMissing,
    StoreReadOnly,
    UsageError,
)
from memcli.records.codec import turn_to_line
from memcli.records.strategy_codec import edge_from_line
from memcli.store.store import Placement, Store


@pytest.fixture
def store(tmp_path):
    return Store.create(tmp_path / "s", settings={"tz": "UTC"}, now=NOW)


def add(store, *numbers, batch=None, command="ingest"):
    with store.writer(now=NOW) as writer:
        for number in numbers:
            writer.append_turn(a_turn(number))
        return writer.commit(command=command, batch=batch)


class TestCreateAndOpen:
    def test_an_empty_store_has_no_records_and_keeps_its_settings(self, store):
        snapshot = Store.open(store.path).snapshot()
        assert (snapshot.records("turns"), snapshot.file("turns")) == (0, None)
        assert snapshot.manifest.settings == {"tz": "UTC"}
        assert list(snapshot.lines("turns")) == []

    def test_a_missing_store(self, tmp_path):
        with pytest.raises(StoreMissing, match="holds no store"):
            Store.open(tmp_path / "nowhere")

    def test_a_file_is_no_store(self, tmp_path):
        (tmp_path / "file").write_text("x")
        with pytest.raises(StoreMissing, match="is a file"):
            Store.open(tmp_path / "file")

    def test_a_second_creation_is_refused(self, store):
        with pytest.raises(UsageError, match="already holds a store"):
            Store.create(store.path, now=NOW)

    def test_a_foreign_directory_is_refused_untouched(self, tmp_path):
        (tmp_path / "thesis.tex").write_text("x")
        with pytest.raises(UsageError, match=r"thesis\.tex"):
            Store.create(tmp_path, now=NOW)
        assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]

    def test_a_file_in_the_way_is_refused(self, tmp_path):
        (tmp_path / "file").write_text("x")
        with pytest.raises(UsageError, match="not a directory"):
            Store.create(tmp_path / "file", now=NOW)

    def test_a_store_that_went_away(self, store):
        shutil.rmtree(store.path)
        with pytest.raises(StoreMissing), store.writer(now=NOW):
            pass
        assert not store.path.exists()

    def test_an_empty_directory_becomes_private(self, tmp_path):
        tmp_path.chmod(0o755)
        Store.create(tmp_path, now=NOW)
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700

    def test_every_file_is_private_whatever_the_umask(self, tmp_path):
        before = os.umask(0)
        try:
            store = Store.create(tmp_path / "s", now=NOW)
            add(store, 1)
            with store.writer(now=NOW) as writer:
                writer.checkpoint("one")
                modes = {
                    file.name: stat.S_IMODE(file.stat().st_mode)
                    for file in store.path.rglob("*")
                    if file.is_file()
                }
        finally:
            os.umask(before)
        assert set(modes.values()) == {0o600}, modes
        assert {"store.lock", "writer.json", "store.json.1", "one.json"} <= modes.keys()


class TestAppendAndCommit:
    def test_nobody_sees_an_append_before_its_commit(self, store):
        add(store, 1)
        with store.writer(now=NOW) as writer:
            writer.append_turn(a_turn(2))
            assert store.snapshot().records("turns") == 1
            assert writer.commit(command="ingest").records("turns") == 2
        assert texts(store.snapshot()) == [a_turn(1).text, a_turn(2).text]

    def test_what_is_not_committed_is_discarded(self, store):
        add(store, 1)
        size = store.snapshot().file("turns").stat().st_size
        with store.writer(now=NOW) as writer:
            writer.append_turn(a_turn(2, "x" * (2 << 20)))  # more than a buffer: it is on disk
            assert store.snapshot().file("turns").stat().st_size > size
        assert store.snapshot().file("turns").stat().st_size == size

    def test_what_fails_half_way_is_discarded(self, store):
        def fail_half_way():
            with store.writer(now=NOW) as writer:
                writer.append_turn(a_turn(2, "x" * (2 << 20)))
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fail_half_way()
        assert not (store.path / "turns.jsonl").exists()
        assert add(store, 1).records("turns") == 1

    def test_placements_read_only_their_line(self, store):
        with store.writer(now=NOW) as writer:
            places = [writer.append_turn(a_turn(number)) for number in range(50)]
            snapshot = writer.commit(command="ingest")
        assert places == [place for place, _ in snapshot.turns()]
        assert snapshot.read_turn(places[17]) == a_turn(17)
        wanted = [places[9], places[3], places[9]]
        assert [turn.seq for turn in snapshot.read_turns(wanted)] == [9, 3, 9]

    def test_a_kind_without_records_reads_as_nothing(self, store):
        snapshot = add(store, 1)
        assert snapshot.watermark("nodes") is None
        assert (snapshot.committed_bytes("nodes"), snapshot.newest("nodes")) == (0, {})
        assert snapshot.read_lines("nodes", []) == []
        with pytest.raises(StoreDamaged, match="holds no nodes"):
            snapshot.read_line("nodes", Placement(0, 5))

    def test_the_newest_of_each_identity_in_order_of_first_appearance(self, store):
        edges = [("a", "b"), ("a", "c"), ("a", "b")]
        with store.writer(now=NOW) as writer:
            for number, (source, target) in enumerate(edges):
                writer.append("edges", an_edge(source, target, number))
                writer.append("traces", a_trace(number))
            snapshot = writer.commit(command="train")
        newest = snapshot.newest("edges")
        lines = [snapshot.read_line("edges", place) for place in newest.values()]
        assert [edge_from_line(line).s for line in lines] == [2, 1]
        assert snapshot.newest("traces") == {}

    def test_a_line_damaged_far_from_the_tail_is_named_by_its_number(self, store):
        snapshot = add(store, *range(40))
        data = snapshot.file("turns").read_bytes()
        snapshot.file("turns").write_bytes(data.replace(b'"id":"t0007"', b'"id":7      ', 1))
        with pytest.raises(RecordError, match=r"turns\.jsonl:8: field 'id'"):
            list(snapshot.turns())
        with pytest.raises(StoreDamaged, match=r"turns\.jsonl at byte \d+: has no id"):
            snapshot.newest("turns")

    @pytest.mark.parametrize("shift", [(1, 0), (0, 1), (0, -1), (-1, 1)])
    def test_a_wrong_placement_is_refused(self, store, shift):
        with store.writer(now=NOW) as writer:
            places = [writer.append_turn(a_turn(number)) for number in range(3)]
            snapshot = writer.commit(command="ingest")
        wrong = Placement(places[1].offset + shift[0], places[1].length + shift[1])
        with pytest.raises(StoreDamaged):
            snapshot.read_turn(wrong)

    def test_streaming_from_a_watermark(self, store):
        first = add(store, 1, 2)
        mark = first.watermark("turns")
        later = add(store, 3)
        assert later.continues("turns", mark)
        assert [turn.seq for _, turn in later.turns(start=mark.bytes)] == [3]
        with pytest.raises(ValueError, match="no line"):
            list(later.turns(start=mark.bytes + 1))

    def test_several_files_are_one_commit(self, store):
        with store.writer(now=NOW) as writer:
            writer.append("nodes", a_node(1))
            writer.append("edges", an_edge("n00001", "n00002"))
            snapshot = writer.commit(command="train")
        assert snapshot.manifest.commit == 2
        assert {kind: snapshot.records(kind) for kind in ("nodes", "edges", "turns")} == {
            "nodes": 1,
            "edges": 1,
            "turns": 0,
        }

    @pytest.mark.parametrize(
        ("kind", "line"),
        [
            ("turns", b'{"id":"t1"}\n'),
            ("turns", turn_to_line(a_turn(1))[:-1]),
            ("turns", turn_to_line(a_turn(1)) * 2),
            ("nodes", b'{"key":"no id"}\n'),
            ("nodes", b'{"id":7}\n'),
            ("nodes", b'{"key": "spaced", "id": "n1"}\n'),
            ("edges", b'{"source":"n1"}\n'),
            ("traces", b"[1]\n"),
            ("traces", b"\n"),
            ("index", b"not json\n"),
        ],
    )
    def test_a_line_that_is_no_record_is_refused(self, store, kind, line):
        with store.writer(now=NOW) as writer, pytest.raises(RecordError):
            writer.append(kind, line)

    def test_an_unknown_kind_is_refused(self, store):
        with store.writer(now=NOW) as writer, pytest.raises(UsageError, match="secrets"):
            writer.append("secrets", b"{}\n")

    def test_nothing_to_commit_makes_no_commit(self, store):
        with store.writer(now=NOW) as writer:
            assert writer.commit(command="ingest").manifest.commit == 1

    def test_a_writer_that_failed_does_not_go_on(self, tmp_path):
        path = tmp_path / "full"
        Store.create(path, now=NOW)
        store = Store.open(path, disk=FailingDisk(3, "full"))  # open, write, then the fsync
        with store.writer(now=NOW) as writer:
            writer.append_turn(a_turn(1))
            with pytest.raises(StoreReadOnly, match="the disk is full") as caught:
                writer.commit(command="ingest")
            with pytest.raises(StoreError, match="cannot go on"):
                writer.append("nodes", a_node(1))
            with pytest.raises(StoreError, match="cannot go on"):
                writer.commit(command="ingest")
        assert "free some space" in caught.value.hint
        assert store.snapshot().records("turns") == 0

    def test_settings_alone_make_a_commit(self, store):
        with store.writer(now=NOW) as writer:
            writer.commit(command="config", settings={"tz": "Europe/Berlin"})
        assert store.snapshot().manifest.settings == {"tz": "Europe/Berlin"}


class TestUndo:
    def test_it_takes_back_a_whole_batch_and_its_settings(self, store):
        add(store, 1)
        before = content(store.snapshot())
        with store.writer(now=NOW) as writer:
            for number in range(2, 14):  # more commits than there are earlier manifests
                writer.append_turn(a_turn(number))
                writer.append("traces", a_trace(1))
                settings = {"tz": f"Etc/GMT+{number}"}
                writer.commit(command="ingest", batch="b", settings=settings)
        commit = store.snapshot().manifest.commit
        with store.writer(now=NOW) as writer:
            manifest = writer.undo()
        assert (manifest.commit, manifest.command) == (commit + 1, "undo")
        assert content(store.snapshot()) == before

    def test_batches_are_taken_back_one_by_one(self, store):
        states = []
        for number in range(4):
            states.append(content(store.snapshot()))
            add(store, number, batch=f"b{number}")
        with store.writer(now=NOW) as writer:
            for state in reversed(states):
                writer.undo()
                assert content(store.snapshot()) == state
            with pytest.raises(NothingFound, match="nothing to undo"):
                writer.undo()

    def test_writing_goes_on_after_it(self, store):
        add(store, 1)
        add(store, 2)
        with store.writer(now=NOW) as writer:
            writer.undo()
            writer.append_turn(a_turn(3))
            writer.commit(command="add")
        assert [turn.seq for _, turn in store.snapshot().turns()] == [1, 3]

    def test_it_refuses_appended_records(self, store):
        add(store, 1)
        with store.writer(now=NOW) as writer:
            writer.append_turn(a_turn(2))
            with pytest.raises(UsageError, match="committed first"):
                writer.undo()

    def test_it_refuses_an_earlier_state_that_was_edited(self, store):
        add(store, 1)
        snapshot = add(store, *range(2, 40))
        data = snapshot.file("turns").read_bytes()
        snapshot.file("turns").write_bytes(data.replace(b"number 1 ", b"number 7 ", 1))
        with store.writer(now=NOW) as writer, pytest.raises(StoreDamaged, match="earlier state"):
            writer.undo()

    def test_derived_data_notices_even_at_the_same_length(self, store):
        add(store, 1)
        mark = add(store, 2).watermark("turns")
        with store.writer(now=NOW) as writer:
            writer.undo()
            writer.append_turn(a_turn(3))  # as many bytes as the turn that went
            snapshot = writer.commit(command="add")
        assert snapshot.committed_bytes("turns") == mark.bytes
        assert not snapshot.continues("turns", mark)

    def test_and_after_an_undo_to_nothing(self, store):
        mark = add(store, 1).watermark("turns")
        with store.writer(now=NOW) as writer:
            writer.undo()
        assert not add(store, 2).continues("turns", mark)


class TestCompact:
    def test_the_newest_record_takes_the_first_place(self, store):
        add(store, 1, 2, 3)
        with store.writer(now=NOW) as writer:
            writer.append_turn(a_turn(2, "corrected"))
            writer.append("traces", a_trace(1))
            writer.append("traces", a_trace(1))
            writer.commit(command="edit")
            report = writer.compact()
        snapshot = store.snapshot()
        assert texts(snapshot) == [a_turn(1).text, "corrected", a_turn(3).text]
        assert snapshot.file("turns").name == "turns.g1.jsonl"
        assert (report.records_before, report.records_after) == ({"turns": 4}, {"turns": 3})
        assert report.bytes_after == {"turns": snapshot.committed_bytes("turns")}
        assert snapshot.records("traces") == 2

    def test_the_old_file_goes_with_the_next_write(self, store):
        add(store, 1, 1)
        with store.writer(now=NOW) as writer:
            writer.compact()
        assert (store.path / "turns.jsonl").exists()
        add(store, 2)
        assert not (store.path / "turns.jsonl").exists()

    def test_with_nothing_superseded_it_does_nothing(self, store):
        commit = add(store, 1, 2).manifest.commit
        with store.writer(now=NOW) as writer:
            assert writer.compact().records_before == {}
        assert store.snapshot().manifest.commit == commit

    def test_undo_stops_at_it(self, store):
        add(store, 1, 1)
        with store.writer(now=NOW) as writer:
            writer.compact()
            with pytest.raises(NothingFound):
                writer.undo()

    def test_it_streams_files_larger_than_a_buffer(self, store):
        with store.writer(now=NOW) as writer:
            for number in range(40):
                writer.append_turn(a_turn(number % 20, f"{number} " + "x" * 100_000))
            writer.commit(command="ingest")
            writer.compact()
        found = [text.split()[0] for text in texts(store.snapshot())]
        assert found == [str(number) for number in range(20, 40)]


class TestCheckpoints:
    def test_one_survives_undo_new_records_and_compaction(self, store):
        add(store, 1, 2)
        add(store, 1, 3)
        with store.writer(now=NOW) as writer:
            writer.checkpoint("best")
            state = content(store.snapshot("best"))
            assert not store.checkpoints()[0].is_copied
            writer.undo()
            assert store.checkpoints()[0].is_copied
            writer.append_turn(a_turn(1, "again"))
            writer.commit(command="add")
            writer.compact()
        add(store, 9)
        assert content(store.snapshot("best")) == state

    def test_compaction_copies_what_it_would_break(self, store):
        add(store, 1, 1)
        with store.writer(now=NOW) as writer:
            writer.checkpoint("a")
            assert writer.compact().checkpoints == ("a",)
        add(store, 2)
        assert store.snapshot("a").records("turns") == 2

    def test_names(self, store):
        with store.writer(now=NOW) as writer:
            writer.checkpoint("a")
            with pytest.raises(UsageError, match="already has"):
                writer.checkpoint("a")
            for name in ("../a", "", ".hidden", "a/b", "x" * 65):
                with pytest.raises(UsageError, match="cannot name"):
                    writer.checkpoint(name)

    def test_unknown_and_dropped(self, store):
        add(store, 1)
        add(store, 2)
        with store.writer(now=NOW) as writer:
            writer.checkpoint("a")
            writer.undo()  # makes a copy
            writer.drop_checkpoint("a")
            with pytest.raises(NothingFound):
                writer.drop_checkpoint("a")
        assert list((store.path / "checkpoints").iterdir()) == []
        with pytest.raises(NothingFound, match="no checkpoint 'a'"):
            store.snapshot("a")


def test_commit_times_come_from_the_clock_parameter(store):
    with store.writer(now=NOW + timedelta(hours=1)) as writer:
        writer.append_turn(a_turn(1))
        snapshot = writer.commit(command="add")
    assert snapshot.manifest.committed_at == "2026-03-01T13:00:00Z"
