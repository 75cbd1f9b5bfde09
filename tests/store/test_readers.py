"""Readers see one committed state, whatever a writer does, and never write themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from store_helpers import NOW, FailingDisk, a_trace, a_turn, content, texts

from memcli.errors import StoreError
from memcli.store.store import Store
from memcli.store.verify import verify


@pytest.fixture
def store(tmp_path):
    return Store.create(tmp_path / "s", now=NOW, disk=FailingDisk())


def add(store, *numbers, text=None):
    with store.writer(now=NOW) as writer:
        for number in numbers:
            writer.append_turn(a_turn(number, text))
            writer.append("traces", a_trace(number))
        writer.commit(command="ingest")


@pytest.mark.slow
def test_readers_beside_a_writer_see_committed_states_only(store):
    """Turns and traces grow together, shrink by undo and move by compaction."""
    add(store, 0)
    looks, stop = [], threading.Event()

    def look():
        while not stop.is_set():
            looks.append(seen(store))

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(60):
        add(store, number % 7, number % 5)
        with store.writer(now=NOW) as writer:
            if number % 3 == 0:
                writer.undo()
            elif number % 10 == 1:
                writer.compact()
    stop.set()
    for reader in readers:
        reader.join()
    assert {look for look in looks if not isinstance(look, tuple)} <= {"overtaken"}
    whole = [look for look in looks if isinstance(look, tuple)]
    assert all(counted == stated for counted, stated in whole)
    assert len(set(whole)) > 3, "the readers must have met several states"


def seen(store):
    """Return (lines counted, lines the manifest states), or what was complained about."""
    try:
        snapshot = store.snapshot()
        counted = (len(texts(snapshot)), len(list(snapshot.lines("traces"))))
    except StoreError as error:
        return "overtaken" if "while it was read" in error.message else repr(error)
    stated = (snapshot.records("turns"), snapshot.records("traces"))
    return repr(snapshot.warnings) if snapshot.warnings else (counted, stated)


class TestASnapshotThatIsOvertaken:
    def test_growth_does_not_show(self, store):
        add(store, 1)
        snapshot = store.snapshot()
        add(store, 2)
        assert texts(snapshot) == [a_turn(1).text]

    def test_an_undo_alone_does_not_hurt(self, store):
        add(store, 1)
        snapshot = store.snapshot()
        with store.writer(now=NOW) as writer:
            writer.undo()
        assert texts(snapshot) == [a_turn(1).text]

    @pytest.mark.parametrize("act", ["stream", "read"])
    def test_bytes_replaced_after_an_undo_are_not_shown(self, store, act):
        add(store, 1)
        snapshot = store.snapshot()
        ((place, _),) = snapshot.turns()
        with store.writer(now=NOW) as writer:
            writer.undo()
        add(store, 2)  # as long as the first
        with pytest.raises(StoreError, match="while it was read"):
            list(snapshot.turns()) if act == "stream" else snapshot.read_turn(place)

    def test_a_compacted_file_that_is_gone(self, store):
        add(store, 1, 1)
        snapshot = store.snapshot()
        with store.writer(now=NOW) as writer:
            writer.compact()
        assert len(texts(snapshot)) == 2  # it goes with the next write
        add(store, 2)
        with pytest.raises(StoreError, match="while it was read"):
            texts(snapshot)


class TestCopies:
    def test_every_unlucky_copy_opens(self, store, tmp_path):
        """A plain copy takes one file early and the manifests late, or the other way round."""
        stages = []
        for number in range(9):
            add(store, number)
            stage = tmp_path / f"stage{number}"
            shutil.copytree(store.path, stage)
            stages.append(stage)
        for old in range(9):
            for new in range(old, 9):
                for early in ("turns.jsonl", "traces.jsonl", "store.json"):
                    copy = tmp_path / "copy"
                    shutil.copytree(stages[new], copy)
                    shutil.copy(stages[old] / early, copy / early)
                    snapshot = Store.open(copy).snapshot()
                    assert content(snapshot) == content(Store.open(stages[old]).snapshot())
                    assert bool(snapshot.warnings) == (early != "store.json" and old < new)
                    shutil.rmtree(copy)


READ_ONLY = textwrap.dedent("""
    import os, sys
    from datetime import UTC, datetime
    from pathlib import Path
    import filelock  # while the interpreter's own files are still readable
    from memcli.errors import StoreError
    from memcli.store.repair import repair
    from memcli.store.store import Store
    from memcli.store.verify import verify

    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    path, now = Path(sys.argv[1]), datetime.now(UTC)
    try:
        store = Store.open(path)
        print(len(list(store.snapshot().turns())), verify(path).is_sound)
        try:
            repair(path, now=now)
        except StoreError as error:
            print(type(error).__name__, error.message.rsplit(": ", 1)[-1])
        with store.writer(now=now):
            pass
    except StoreError as error:
        print(type(error).__name__, error.message.rsplit(": ", 1)[-1])
""")


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user"
)
@pytest.mark.parametrize(
    ("folder_mode", "file_mode", "expected"),
    [
        (0o755, 0o644, ["1 True"] + ["StoreReadOnly permission denied"] * 2),
        (0o700, 0o600, ["StoreError Permission denied"]),
        (0o755, 0o600, ["StoreError Permission denied"]),
    ],
)
def test_a_store_of_another_user(folder_mode, file_mode, expected):
    with TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        Path(folder).chmod(0o755)
        store = Store.create(Path(folder) / "s", now=NOW)
        add(store, 1)
        for file in store.path.iterdir():
            file.chmod(file_mode)
        store.path.chmod(folder_mode)
        before = {file.name: file.read_bytes() for file in store.path.iterdir()}
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(store.path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines() == expected
        assert {file.name: file.read_bytes() for file in store.path.iterdir()} == before


def test_reading_changes_no_byte_and_no_time(store):
    add(store, 1, 2)
    add(store, 3)

    def state():
        return {f: (f.stat().st_mtime_ns, f.read_bytes()) for f in store.path.iterdir()}

    before, folder = state(), store.path.stat().st_mtime_ns
    snapshot = Store.open(store.path).snapshot()
    texts(snapshot)
    snapshot.newest("turns")
    store.checkpoints()
    verify(store.path)
    assert (state(), store.path.stat().st_mtime_ns) == (before, folder)
