"""Derived files: what counts, what is cut, what is made again, and what a crash leaves."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from store_helpers import NOW, Crash, FailingDisk, a_turn

from memcli.errors import StoreError, StoreReadOnly
from memcli.store.derived import ANNOTATIONS, Derived, Mark, extend, open_derived
from memcli.store.disk import Disk
from memcli.store.jsonl import Placement
from memcli.store.snapshot import Snapshot
from memcli.store.store import Store

VERSION = "test 1"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.create(tmp_path / "s", now=NOW)
    add(made, range(6))
    return made


def add(store: Store, numbers: range) -> Snapshot:
    with store.writer(now=NOW) as writer:
        for number in numbers:
            writer.append_turn(a_turn(number))
        return writer.commit(command="test")


def line(number: int) -> bytes:
    return b'{"n":%d}\n' % number


def derive(
    store: Store,
    upto: int,
    *,
    version: str = VERSION,
    disk: Disk | None = None,
    after: Mark | str | None = "newest",
) -> Mark | None:
    """Derive a line for each turn up to a number, after what is derived already."""
    snapshot = store.snapshot()
    known = open_derived(snapshot, ANNOTATIONS, version)
    mark = (known.mark if known else None) if after == "newest" else after
    places = [place for place, _ in snapshot.turns()]
    end = places[upto - 1].offset + places[upto - 1].length
    covers = replace(snapshot.watermark("turns"), bytes=end)
    lines = [line(number) for number in range(mark.records if mark else 0, upto)]
    return extend(
        disk or store.disk,
        snapshot,
        ANNOTATIONS,
        version,
        lines,
        covers=covers,
        after=mark,
    )


def known(store: Store, version: str | None = VERSION) -> Derived | None:
    return open_derived(store.snapshot(), ANNOTATIONS, version)


def numbers(derived: Derived | None) -> list[int]:
    return [json.loads(text)["n"] for _, text in derived.lines()] if derived else []


def files(store: Store) -> list[Path]:
    return sorted((store.path / "derived").glob("annotations-*"))


def test_nothing_is_derived_at_first(store):
    assert known(store) is None
    assert known(store, None) is None


def test_lines_are_added_after_those_before(store):
    derive(store, 2)
    mark = derive(store, 6)
    found = known(store)
    assert numbers(found) == list(range(6))
    assert found.mark == mark
    assert mark.records == 6
    assert mark.covers.bytes == store.snapshot().committed_bytes("turns")


def test_it_stays_good_while_the_store_grows(store):
    derive(store, 6)
    add(store, range(6, 9))
    assert numbers(known(store)) == list(range(6))
    derive(store, 9)
    assert numbers(known(store)) == list(range(9))
    assert len(files(store)) == 2


def test_lines_are_read_by_place(store):
    derive(store, 6)
    found = known(store)
    places = [Placement(at, len(text) + 1) for at, text in found.lines()]
    assert found.read_lines([places[4], places[1]]) == [line(4)[:-1], line(1)[:-1]]
    assert found.read_lines([]) == []


def test_all_of_it_is_private(store):
    derive(store, 6)
    folder = store.path / "derived"
    modes = {stat.S_IMODE(path.stat().st_mode) for path in files(store)}
    assert (modes, stat.S_IMODE(folder.stat().st_mode)) == ({0o600}, 0o700)


def test_what_the_mark_does_not_count_is_ignored_then_cut(store):
    mark = derive(store, 3)
    path = store.path / "derived" / mark.file
    with path.open("ab") as file:
        file.write(b'{"n":99}\n{"to')
    assert numbers(known(store)) == [0, 1, 2]
    derive(store, 6)
    assert path.read_bytes() == b"".join(map(line, range(6)))


def test_an_undo_makes_it_start_anew(store):
    derive(store, 6)
    add(store, range(6, 9))
    first = derive(store, 9)
    with store.writer(now=NOW) as writer:
        writer.undo()
    assert known(store) is None
    second = derive(store, 6)
    assert numbers(known(store)) == list(range(6))
    assert second.file != first.file
    assert [path.name for path in files(store)] == sorted(
        [second.file, second.file.split(".")[0] + ".json"]
    )


def test_a_compaction_makes_it_start_anew(store):
    add(store, range(2))
    derive(store, 8)
    with store.writer(now=NOW) as writer:
        writer.compact()
    assert known(store) is None
    derive(store, 6)
    assert numbers(known(store)) == list(range(6))


@pytest.mark.parametrize("damage", ["edited", "short", "gone"])
def test_damaged_data_is_made_again(store, damage):
    mark = derive(store, 6)
    path = store.path / "derived" / mark.file
    if damage == "edited":
        path.write_bytes(path.read_bytes().replace(b"5", b"7"))
    elif damage == "short":
        path.write_bytes(path.read_bytes()[:-1])
    else:
        path.unlink()
    assert known(store) is None
    derive(store, 6)
    assert numbers(known(store)) == list(range(6))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", "null", '{"covers": 3}', "\x00"],
)
def test_an_odd_mark_means_make_it_again(store, text):
    derive(store, 6)
    (mark,) = (path for path in files(store) if path.suffix == ".json")
    mark.write_text(text)
    assert known(store) is None
    derive(store, 6)
    assert numbers(known(store)) == list(range(6))


@pytest.mark.parametrize("change", [{"file": "../turns.jsonl"}, {"bytes": "9"}, {"extra": 1}])
def test_a_mark_that_names_what_it_should_not_is_not_followed(store, change):
    derive(store, 6)
    (mark,) = (path for path in files(store) if path.suffix == ".json")
    mark.write_text(json.dumps(json.loads(mark.read_text()) | change))
    assert known(store) is None


def test_a_version_replaces_those_before(store):
    derive(store, 6, version="old")
    assert numbers(known(store, "new")) == []
    assert known(store, None).mark.version == "old"
    derive(store, 2, version="new")
    assert known(store, "old") is None
    assert known(store, None).mark.version == "new"
    assert len(files(store)) == 2


def test_the_slower_of_two_writers_stores_nothing(store):
    before = derive(store, 2)
    derive(store, 4)
    assert derive(store, 6, after=before) is None
    assert derive(store, 6, after=None) is None
    assert numbers(known(store)) == list(range(4))


def test_lines_of_turns_that_were_undone_are_not_stored(store):
    add(store, range(6, 9))
    old = store.snapshot()
    with store.writer(now=NOW) as writer:
        writer.undo()
    mark = extend(
        store.disk,
        store.snapshot(),
        ANNOTATIONS,
        VERSION,
        [line(0)],
        covers=old.watermark("turns"),
        after=None,
    )
    assert mark is None
    assert files(store) == []


def test_a_reader_keeps_the_file_it_has_open(store):
    derive(store, 6)
    reading = known(store)
    stream = reading.lines()
    next(stream)
    derive(store, 6, version="new")
    assert len(list(stream)) == 5
    with pytest.raises(StoreError, match="replaced by a writer"):
        list(reading.lines())
    with pytest.raises(StoreError, match="replaced by a writer"):
        reading.read_lines([Placement(0, 8)])


def test_a_full_disk_is_said_and_leaves_what_was(store):
    derive(store, 2)
    probe = FailingDisk()
    derive(store, 2, version="probe", disk=probe)
    derive(store, 2)
    for step in range(1, probe.count + 1):
        with pytest.raises(StoreReadOnly, match="disk is full"):
            derive(store, 4, version="other", disk=FailingDisk(step, "full"))
        found = known(store) or known(store, "other")
        assert numbers(found) in ([0, 1], [0, 1, 2, 3])
        derive(store, 2, version="reset")
        derive(store, 2)


@pytest.mark.parametrize("mode", [mode for mode in FailingDisk.MODES if mode != "full"])
@pytest.mark.parametrize("start", ["new", "grown", "torn"])
def test_a_crash_at_any_operation_leaves_a_prefix_and_can_go_on(tmp_path, mode, start):
    for step in range(1, 40):
        store = Store.create(tmp_path / str(step), now=NOW)
        add(store, range(6))
        mark = None if start == "new" else derive(store, 2)
        if start == "torn":
            with (store.path / "derived" / mark.file).open("ab") as file:
                file.write(b"half a li")
        try:
            derive(store, 4, disk=FailingDisk(step, mode))
        except Crash:
            found = numbers(known(store))
            assert found in ([], [0, 1], [0, 1, 2, 3])
            assert found or start == "new"
            derive(store, 6)
            assert numbers(known(store)) == list(range(6))
        else:
            break
    else:
        pytest.fail("the disk never came to its end")
