"""Verification names every kind of harm; repair goes back without losing anything unsaid."""

from __future__ import annotations

import json

import pytest
from store_helpers import NOW, a_trace, a_turn, content, texts

from memcli.errors import SchemaVersionError, StoreDamaged, StoreMissing
from memcli.store.repair import repair
from memcli.store.store import Store
from memcli.store.verify import MAX_LINE_FINDINGS, verify


def grow(store, *numbers, text=None, command="ingest"):
    with store.writer(now=NOW) as writer:
        for number in numbers:
            writer.append_turn(a_turn(number, text))
            writer.append("traces", a_trace(number))
        writer.commit(command=command)


@pytest.fixture
def store(tmp_path):
    store = Store.create(tmp_path / "s", settings={"tz": "UTC"}, now=NOW)
    grow(store, *range(40))
    grow(store, *range(40, 60))
    return store


def shown(report):
    return [(finding.severity, finding.where) for finding in report.findings]


def edit(file, old, new):
    data = file.read_bytes()
    assert data.count(old) >= 1
    file.write_bytes(data.replace(old, new, 1))


class TestSound:
    def test_figures(self, store):
        grow(store, 7, 7)
        report = verify(store.path)
        assert (report.findings, report.is_sound, report.commit) == ((), True, 4)
        turns = report.files["turns"]
        assert (turns.records, turns.superseded) == (62, 2)
        assert turns.bytes == (store.path / "turns.jsonl").stat().st_size
        assert (report.files["traces"].records, report.files["traces"].superseded) == (62, 0)

    def test_an_uncommitted_tail_is_a_note(self, store):
        with (store.path / "turns.jsonl").open("ab") as file:
            file.write(b'{"half')
        report = verify(store.path)
        assert report.is_sound
        assert shown(report) == [("note", "turns.jsonl")]
        assert "6 uncommitted bytes" in report.findings[0].what

    def test_modes_and_foreign_files_are_warnings(self, store):
        (store.path / "turns.jsonl").chmod(0o644)
        store.path.chmod(0o755)
        (store.path / "todo.txt").write_text("x")
        report = verify(store.path)
        assert report.is_sound
        assert shown(report) == [
            ("warning", "todo.txt"),
            ("warning", "."),
            ("warning", "turns.jsonl"),
        ]

    def test_a_file_left_by_compaction_is_a_note(self, store):
        grow(store, 7)
        with store.writer(now=NOW) as writer:
            writer.compact()
        assert shown(verify(store.path)) == [("note", "turns.jsonl")]

    def test_nothing_there(self, tmp_path):
        with pytest.raises(StoreMissing):
            verify(tmp_path)


class TestDamage:
    def test_an_edit_far_from_the_tail_is_found(self, store):
        edit(store.path / "turns.jsonl", b"number 3 ", b"number 4 ")
        assert store.snapshot().records("turns") == 60  # too far back for the tail hash
        report = verify(store.path)
        assert shown(report) == [("damage", "turns.jsonl")]
        assert "before its last 4 KiB" in report.findings[0].what

    def test_an_edit_in_the_tail_stops_readers_and_writers(self, store):
        file = store.path / "turns.jsonl"
        edit(file, b"number 59 ", b"number 95 ")
        data = file.read_bytes()
        with pytest.raises(StoreDamaged, match=r"turns\.jsonl was edited"):
            store.snapshot()
        with pytest.raises(StoreDamaged, match="edited"):
            grow(store, 99)
        with pytest.raises(StoreDamaged, match="edited; going back would lose"):
            repair(store.path, now=NOW)
        assert file.read_bytes() == data
        assert shown(verify(store.path)) == [("damage", "turns.jsonl")]

    def test_an_edit_hidden_behind_an_uncommitted_tail_is_not_cut(self, store):
        file = store.path / "turns.jsonl"
        edit(file, b"number 59 ", b"number fifty-nine ")
        data = file.read_bytes()
        with pytest.raises(StoreDamaged):
            grow(store, 99)
        assert file.read_bytes() == data

    def test_bad_lines_are_named_one_by_one_and_then_counted(self, store):
        file = store.path / "turns.jsonl"
        edit(file, b'"role":"user"', b'"role":"bard"')
        found = [f for f in verify(store.path).findings if f.where == "turns.jsonl:1"]
        assert [f.what.split(",")[0] for f in found] == ["field 'role' is 'bard'"]
        file.write_bytes(file.read_bytes().replace(b'"role":"user"', b'"role":"bard"'))
        report = verify(store.path)
        assert sum(":" in finding.where for finding in report.findings) == MAX_LINE_FINDINGS
        assert any(f.what.startswith("40 more lines") for f in report.findings)

    def test_a_field_that_a_rewrite_would_lose(self, store):
        edit(store.path / "turns.jsonl", b'"format":"test"', b'"format":"test","x":1')
        found = [f.what for f in verify(store.path).findings if f.where == "turns.jsonl:1"]
        assert found == ["is not as memcli writes it: a field would be lost"]

    def test_a_broken_checkpoint(self, store):
        with store.writer(now=NOW) as writer:
            writer.checkpoint("a")
            writer.undo()
        copy = store.path / "checkpoints" / "a.turns.jsonl"
        copy.write_bytes(copy.read_bytes()[:-5])
        assert ("damage", "checkpoints/a.json") in shown(verify(store.path))
        with pytest.raises(StoreDamaged, match="checkpoint 'a'"):
            store.snapshot("a")
        (store.path / "checkpoints" / "a.json").write_text("{}")
        assert ("damage", "checkpoints/a.json") in shown(verify(store.path))
        grow(store, 99)  # an unreadable checkpoint stops no writer and loses no copy
        assert copy.exists()

    def test_a_torn_earlier_manifest_is_a_warning(self, store):
        (store.path / "store.json.2").write_bytes(b"{")
        assert shown(verify(store.path)) == [("warning", "store.json.2")]


class TestShortened:
    def shorten(self, store, by=30):
        file = store.path / "turns.jsonl"
        file.write_bytes(file.read_bytes()[:-by])
        return file

    def test_readers_go_back_and_say_so(self, store):
        self.shorten(store)
        snapshot = store.snapshot()
        assert (snapshot.manifest.commit, snapshot.records("turns")) == (2, 40)
        assert len(list(snapshot.turns())) == 40
        (warning,) = snapshot.warnings
        assert "turns.jsonl" in warning
        assert "commit 2" in warning
        assert "verify --repair" in warning

    def test_a_writer_refuses_and_cuts_nothing(self, store):
        file = self.shorten(store)
        size = file.stat().st_size
        with pytest.raises(StoreDamaged, match="its end is missing") as caught:
            grow(store, 99)
        assert "verify --repair" in caught.value.hint
        assert file.stat().st_size == size

    def test_repair_names_what_is_gone_and_keeps_what_it_cuts(self, store):
        data = self.shorten(store).read_bytes()
        end = store.snapshot().committed_bytes("turns")
        traces = (store.path / "traces.jsonl").read_bytes()
        report = repair(store.path, now=NOW)
        assert (report.accepted, report.commit) == (2, 4)
        assert report.missing[0].startswith("turns: 20 of 60 records")
        assert report.missing[1].startswith("traces: 20 of 60 records")
        kept = [(store.path / name).read_bytes() for name in report.kept]
        cut = store.snapshot().committed_bytes("traces")
        assert kept == [traces[cut:], data[end:]]
        assert verify(store.path).findings == ()
        grow(store, 99)
        assert [turn.seq for _, turn in store.snapshot().turns()] == [*range(40), 99]

    def test_repair_keeps_of_a_checkpoint_what_is_left(self, store):
        with store.writer(now=NOW) as writer:
            writer.checkpoint("a")
        turns = (store.path / "turns.jsonl").read_bytes()
        traces = store.path / "traces.jsonl"
        traces.write_bytes(traces.read_bytes()[:-1])
        repair(store.path, now=NOW)
        assert (store.path / "checkpoints" / "a.turns.jsonl").read_bytes() == turns
        assert shown(verify(store.path)) == [("damage", "checkpoints/a.json")]
        with pytest.raises(StoreDamaged, match="checkpoint 'a'"):
            store.snapshot("a")

    def test_a_missing_file(self, store):
        (store.path / "turns.jsonl").unlink()
        assert store.snapshot().records("turns") == 0
        assert "0 of the" in store.snapshot().warnings[0]
        report = repair(store.path, now=NOW)
        assert report.missing[0].startswith("turns: 60 of 60 records")
        grow(store, 1)
        assert verify(store.path).findings == ()

    def test_nothing_earlier_is_covered(self, store):
        for number in range(60, 70):
            grow(store, number)
        (store.path / "turns.jsonl").write_bytes(b"")
        with pytest.raises(StoreDamaged, match="end is missing"):
            store.snapshot()
        with pytest.raises(StoreDamaged, match="cover none"):
            repair(store.path, now=NOW)

    def test_an_earlier_state_with_another_tail_is_not_taken(self, store):
        file = self.shorten(store)
        end = store.snapshot().committed_bytes("turns")
        data = bytearray(file.read_bytes())
        data[end - 10] ^= 1
        file.write_bytes(data)
        assert store.snapshot().manifest.commit == 1

    def test_repair_of_a_sound_store_only_cuts(self, store):
        before = content(store.snapshot())
        with (store.path / "turns.jsonl").open("ab") as file:
            file.write(b"scrap")
        for _ in range(2):
            report = repair(store.path, now=NOW)
            assert (report.commit, report.accepted, report.missing) == (3, 3, ())
        with (store.path / "turns.jsonl").open("ab") as file:
            file.write(b"again")
        second = repair(store.path, now=NOW)
        kept = [file.read_bytes() for file in sorted((store.path / "recovered").iterdir())]
        assert kept == [b"scrap", b"again"]
        assert second.kept[0].endswith(".1")
        assert content(store.snapshot()) == before
        assert verify(store.path).findings == ()


class TestManifest:
    @pytest.mark.parametrize(
        "content",
        [b"", b"{", b"[]", b"null", b'{"schema_version":1}', b'{"schema_version":"1"}', b"\xff"],
    )
    def test_one_that_does_not_parse(self, store, content):
        (store.path / "store.json").write_bytes(content)
        for act in (lambda: Store.open(store.path), store.snapshot, lambda: grow(store, 1)):
            with pytest.raises(StoreDamaged, match=r"store\.json is not a manifest"):
                act()
        assert ("damage", "store.json") in shown(verify(store.path))
        report = repair(store.path, now=NOW)
        assert (report.accepted, report.commit) == (2, 4)
        assert "after commit 2" in report.missing[0]
        assert len(report.kept) == 2
        assert len(texts(store.snapshot())) == 40
        assert verify(store.path).is_sound

    def test_a_hand_edited_setting_is_reported_and_can_be_accepted(self, store):
        file = store.path / "store.json"
        head, tail = file.read_bytes().rsplit(b'"UTC"', 1)  # the last one is the present setting
        file.write_bytes(head + b'"CET"' + tail)
        with pytest.raises(StoreDamaged, match="was edited"):
            store.snapshot()
        report = repair(store.path, now=NOW)
        assert (report.accepted, report.commit, report.missing) == (3, 4, ())
        assert store.snapshot().manifest.settings == {"tz": "CET"}
        assert len(texts(store.snapshot())) == 60

    @pytest.mark.parametrize(
        "change", ["drop a file", "fewer bytes", "text for a number", "unknown kind"]
    )
    def test_edited_entries_are_never_accepted(self, store, change):
        file = store.path / "store.json"
        data = json.loads(file.read_text())
        if change == "drop a file":
            del data["files"]["turns"]
        elif change == "fewer bytes":
            data["files"]["turns"]["bytes"] -= 7
        elif change == "unknown kind":
            data["files"]["secrets"] = data["files"].pop("traces")
        else:
            data["files"]["turns"]["bytes"] = "many"
        file.write_text(json.dumps(data))
        with pytest.raises(StoreDamaged):
            grow(store, 1)
        assert repair(store.path, now=NOW).accepted == 2
        assert len(texts(store.snapshot())) == 40

    def test_a_missing_one_is_no_missing_store(self, store):
        (store.path / "store.json").unlink()
        with pytest.raises(StoreDamaged, match="earlier ones are there"):
            Store.open(store.path)
        assert repair(store.path, now=NOW).accepted == 2

    def test_a_newer_schema_is_named_and_left_alone(self, store):
        file = store.path / "store.json"
        data = json.loads(file.read_text())
        data["schema_version"] = 7
        file.write_text(json.dumps(data))
        before = {f.name: f.read_bytes() for f in store.path.iterdir()}
        acts = (
            lambda: Store.open(store.path),
            store.snapshot,
            lambda: grow(store, 1),
            lambda: verify(store.path),
            lambda: repair(store.path, now=NOW),
        )
        for act in acts:
            with pytest.raises(SchemaVersionError, match=r"version 7; this memcli reads up to 1"):
                act()
        assert {f.name: f.read_bytes() for f in store.path.iterdir() if f.name in before} == before
