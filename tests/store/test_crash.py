"""A commit stopped at any single disk operation leaves the state before it or after it.

A scenario is a store's life: creation, an ingest of several commits over two files, settings, a
checkpoint, undo, an edit, compaction. It runs once to count its operations, then once for each
operation and each way to fail there. A second one has a record larger than the buffer.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from store_helpers import NOW, Crash, FailingDisk, a_trace, a_turn, content

from memcli.errors import StoreMissing, StoreReadOnly
from memcli.store.repair import repair
from memcli.store.store import Store
from memcli.store.verify import verify

SETTINGS = {"tz": "UTC"}


def committing(*turns, traces=0, batch=None, settings=None):
    def step(writer):
        for turn in turns:
            writer.append_turn(turn)
        for _ in range(traces):
            writer.append("traces", a_trace(1))
        writer.commit(command="ingest", batch=batch, settings=settings)

    return step


LIFE = (
    committing(a_turn(1), a_turn(2), traces=2, batch="a"),
    committing(a_turn(3), traces=1, batch="a"),
    committing(a_turn(4), settings={"tz": "Asia/Tokyo"}),
    lambda writer: writer.checkpoint("kept"),
    lambda writer: writer.undo(),
    committing(a_turn(2, "corrected")),
    lambda writer: writer.compact(),
    committing(a_turn(5), traces=1),
    lambda writer: writer.undo(),
    committing(a_turn(6)),
)
LARGE = (committing(a_turn(1)), committing(a_turn(2, "x" * 1_100_000), traces=1))
CHECKPOINT_STEP = 4


def live(path, disk, done, steps=LIFE):
    """Run the scenario, noting in ``done`` what the store shows after each step."""
    store = Store.create(path, settings=SETTINGS, now=NOW, disk=disk)
    done.append(content(store.snapshot()))
    for step in steps:
        with store.writer(now=NOW) as writer:
            step(writer)
        done.append(content(store.snapshot()))


@cache
def healthy(steps=LIFE):
    """Return the states of an undisturbed life, its operations and the checkpoint's state."""
    with TemporaryDirectory() as folder:
        disk, states = FailingDisk(), []
        live(Path(folder) / "s", disk, states, steps)
        kept = content(Store.open(Path(folder) / "s").snapshot("kept")) if steps is LIFE else None
    return states, disk.operations, kept


def the_store_is_whole(path, done, steps=LIFE):
    """Check that a reopened store shows a state that may be shown, and that it works."""
    states, _, kept = healthy(steps)
    try:
        store = Store.open(path, disk=FailingDisk())
    except StoreMissing:
        assert not done
        store = Store.create(path, settings=SETTINGS, now=NOW, disk=FailingDisk())
    snapshot = store.snapshot()
    shown = content(snapshot)
    assert shown in states[max(0, len(done) - 1) : len(done) + 1]
    assert snapshot.warnings == ()
    assert [f for f in verify(path).findings if f.severity != "note"] == []
    if steps is LIFE and len(done) > CHECKPOINT_STEP:
        assert content(store.snapshot("kept")) == kept
    commit = snapshot.manifest.commit
    with store.writer(now=NOW) as writer:
        writer.append_turn(a_turn(99))
        after = writer.commit(command="add")
    assert after.manifest.commit == commit + 1
    assert content(after)["turns"][:-1] == shown.get("turns", [])
    assert verify(path).findings == ()
    with store.writer(now=NOW) as writer:
        writer.undo()
    assert content(store.snapshot()) == shown


def stopped(path, number, mode, steps):
    """Live until operation ``number`` fails; return the states that were reported."""
    done, disk = [], FailingDisk(number, mode)
    with suppress(Crash, StoreReadOnly):
        live(path, disk, done, steps)
    assert disk.count >= number
    return done


@pytest.mark.slow
@pytest.mark.parametrize("mode", FailingDisk.MODES)
@pytest.mark.parametrize("steps", [LIFE, LARGE], ids=["life", "large"])
def test_a_stop_at_every_operation(tmp_path, mode, steps):
    _, operations, _ = healthy(steps)
    for number, operation in enumerate(operations, 1):
        path = tmp_path / str(number)
        done = stopped(path, number, mode, steps)
        try:
            the_store_is_whole(path, done, steps)
        except BaseException as error:
            error.add_note(f"{mode} at operation {number}, {operation}, after {len(done)} steps")
            raise


def test_the_scenario_uses_every_operation():
    kinds = {operation.split()[0] for operation in healthy()[1]}
    assert kinds == {
        "make_folder",
        "open",
        "write",
        "fsync",
        "replace",
        "fsync_dir",
        "truncate",
        "remove",
    }


class ForgetfulDisk(FailingDisk):
    """A disk on which a chosen operation does nothing: what a careless commit would do."""

    def __init__(self, stop_at, mode, forgotten):
        super().__init__(stop_at, mode)
        self.forgotten = forgotten

    def fsync(self, descriptor):
        if self.forgotten != "fsync":
            super().fsync(descriptor)

    def fsync_dir(self, folder):
        if self.forgotten != "fsync_dir":
            super().fsync_dir(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("forgotten", "mode"), [("fsync", "lose"), ("fsync_dir", "unrename"), ("fsync_dir", "uncreate")]
)
def test_the_crash_test_notices_a_forgotten_sync(tmp_path, forgotten, mode):
    def is_whole(number):
        done, path = [], tmp_path / str(number)
        with suppress(Crash):
            live(path, ForgetfulDisk(number, mode, forgotten), done)
        try:
            the_store_is_whole(path, done)
        except Exception:  # noqa: BLE001 - any complaint will do
            return False
        return True

    assert not all(is_whole(number) for number in range(1, 60))


@pytest.mark.slow
@pytest.mark.parametrize("mode", FailingDisk.MODES)
def test_a_repair_stopped_at_every_operation_can_be_repeated(tmp_path, mode):
    number, stopped_early = 0, True
    while stopped_early:
        number += 1
        path = tmp_path / str(number)
        store = Store.create(path, now=NOW, disk=FailingDisk())
        states = []
        for turn in (a_turn(1), a_turn(2), a_turn(3)):
            with store.writer(now=NOW) as writer:
                committing(turn, traces=1)(writer)
            states.append(content(store.snapshot()))
        file = path / "turns.jsonl"
        file.write_bytes(file.read_bytes()[:-10])
        disk = FailingDisk(number, mode)
        with suppress(Crash, StoreReadOnly):
            repair(path, now=NOW, disk=disk)
        stopped_early = disk.count >= number
        repair(path, now=NOW, disk=FailingDisk())
        assert content(store.snapshot()) == states[1]
        assert verify(path).findings == ()
        kept = b"".join(f.read_bytes() for f in sorted((path / "recovered").glob("turns*")))
        assert kept.startswith(b'{"branch"')
