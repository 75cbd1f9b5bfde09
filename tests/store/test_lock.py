"""One writer at a time, between processes; readers never wait; a dead writer frees itself."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading

import pytest
from store_helpers import NOW, a_turn

from memcli.errors import StoreLocked
from memcli.store.store import Store

HOLD = textwrap.dedent("""
    import sys
    from datetime import UTC, datetime
    from pathlib import Path
    from memcli.records.strategy import Trace
    from memcli.records.strategy_codec import trace_to_line
    from memcli.store.store import Store

    store = Store.open(Path(sys.argv[1]))
    with store.writer(now=datetime.now(UTC), command="train") as writer:
        writer.append("traces", trace_to_line(Trace(id="x", kind="edit", time="t")))
        print("held", flush=True)
        sys.stdin.readline()
        writer.commit(command="train")
""")


@pytest.fixture
def store(tmp_path):
    return Store.create(tmp_path / "s", now=NOW)


@pytest.fixture
def other(store):
    """Another process that holds the store until it reads a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.slow
class TestTwoProcesses:
    def test_the_second_writer_is_told_who_writes(self, store, other):
        with pytest.raises(StoreLocked) as caught, store.writer(now=NOW):
            pass
        found = re.search(r"pid (\d+) on \S+, `memcli train` since 20", caught.value.message)
        assert int(found[1]) == other.pid
        assert "--wait" in caught.value.hint

    def test_readers_do_not_wait(self, store, other):
        assert store.snapshot().records("traces") == 0

    def test_waiting_gets_its_turn_and_sees_what_was_committed(self, store, other):
        timer = threading.Timer(0.3, lambda: other.communicate("go on\n"))
        timer.start()
        with store.writer(now=NOW, wait_s=30) as writer:
            writer.append_turn(a_turn(1))
            snapshot = writer.commit(command="add")
        timer.join()
        assert (snapshot.records("traces"), snapshot.records("turns")) == (1, 1)

    def test_waiting_ends(self, store, other):
        with pytest.raises(StoreLocked), store.writer(now=NOW, wait_s=0.2):
            pass

    def test_a_killed_writer_frees_the_store_and_leaves_nothing(self, store, other):
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
        with store.writer(now=NOW) as writer:
            assert not (store.path / "traces.jsonl").exists()
            writer.append_turn(a_turn(1))
            writer.commit(command="add")
        assert store.snapshot().records("turns") == 1


def test_two_writers_in_one_process(store):
    with store.writer(now=NOW):
        with pytest.raises(StoreLocked, match=f"pid {os.getpid()}"), store.writer(now=NOW):
            pass
        with pytest.raises(StoreLocked), store.writer(now=NOW):
            pass


def test_a_holder_that_has_not_signed_yet(store):
    with store.writer(now=NOW):
        (store.path / "writer.json").write_bytes(b"")
        with pytest.raises(StoreLocked, match="has not said"), store.writer(now=NOW):
            pass


def test_the_lock_is_given_back(store):
    for _ in range(2):
        with store.writer(now=NOW):
            assert (store.path / "writer.json").exists()
        assert not (store.path / "writer.json").exists()
