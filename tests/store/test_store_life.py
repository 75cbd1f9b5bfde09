"""Any sequence of appends, commits, crashes, undos, compactions and reopenings keeps its word."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from store_helpers import NOW, Crash, FailingDisk, a_turn

from memcli.errors import NothingFound
from memcli.store.layout import KEPT_MANIFESTS
from memcli.store.store import Store
from memcli.store.verify import verify

numbers = st.lists(st.integers(0, 6), max_size=4)


class StoreLife(RuleBasedStateMachine):
    """The model: the committed (id, text) pairs, and the states that undo returns to."""

    def __init__(self):
        super().__init__()
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "s"
        self.state, self.before, self.serial = [], [], 0
        self.checkpoint = None

    @initialize()
    def create(self):
        Store.create(self.path, now=NOW, disk=FailingDisk())

    def teardown(self):
        self.folder.cleanup()

    def _records(self, ids):
        """Return fresh records: no two have the same text, though ids repeat."""
        self.serial += len(ids)
        return [(number, f"{self.serial}/{at}") for at, number in enumerate(ids)]

    def _write(self, batches, disk):
        with Store.open(self.path, disk=disk).writer(now=NOW) as writer:
            for records in batches:
                for number, text in records:
                    writer.append_turn(a_turn(number, text))
                writer.commit(command="ingest", batch=f"b{self.serial}")

    def _shown(self):
        snapshot = Store.open(self.path).snapshot()
        assert snapshot.warnings == ()
        return [(turn.seq, turn.text) for _, turn in snapshot.turns()]

    @rule(batches=st.lists(numbers, max_size=3))
    def commit(self, batches):
        batches = [self._records(ids) for ids in batches]
        self._write(batches, FailingDisk())
        added = [record for records in batches for record in records]
        if added:
            self.before = [self.state, *self.before][:KEPT_MANIFESTS]
            self.state = self.state + added

    @rule(ids=numbers)
    def leave_without_commit(self, ids):
        with Store.open(self.path, disk=FailingDisk()).writer(now=NOW) as writer:
            for number, text in self._records(ids):
                writer.append_turn(a_turn(number, text))

    @rule(ids=numbers, stop=st.integers(1, 16), mode=st.sampled_from(FailingDisk.MODES[:-1]))
    def commit_and_crash(self, ids, stop, mode):
        records = self._records(ids)
        try:
            self._write([records], FailingDisk(stop, mode))
            happened = True
        except Crash:
            happened = self._shown() == self.state + records
        if records and happened:
            self.before = [self.state, *self.before][:KEPT_MANIFESTS]
            self.state = self.state + records

    @rule(stop=st.none() | st.integers(1, 16), mode=st.sampled_from(FailingDisk.MODES[:-1]))
    def undo(self, stop, mode):
        target = self.before[0] if self.before else None
        try:
            with Store.open(self.path, disk=FailingDisk(stop, mode)).writer(now=NOW) as writer:
                writer.undo()
        except NothingFound:
            assert target is None
            return
        except Crash:
            if self._shown() == self.state:
                return
        self.state, self.before = target, self.before[1:]

    @rule(stop=st.none() | st.integers(1, 20), mode=st.sampled_from(FailingDisk.MODES[:-1]))
    def compact(self, stop, mode):
        newest = list(dict(self.state).items())
        try:
            with Store.open(self.path, disk=FailingDisk(stop, mode)).writer(now=NOW) as writer:
                writer.compact()
        except Crash:
            if self._shown() == self.state:
                return
        if newest != self.state:
            self.state, self.before = newest, []

    @rule()
    def save_a_checkpoint(self):
        with Store.open(self.path, disk=FailingDisk()).writer(now=NOW) as writer:
            if self.checkpoint is not None:
                writer.drop_checkpoint("cp")
            writer.checkpoint("cp")
        self.checkpoint = self.state

    @invariant()
    def the_store_shows_the_model(self):
        if not self.path.exists():
            return
        assert self._shown() == self.state
        report = verify(self.path)
        assert [finding for finding in report.findings if finding.severity != "note"] == []
        if "turns" in report.files:
            assert report.files["turns"].superseded == len(self.state) - len(dict(self.state))
        if self.checkpoint is not None:
            turns = Store.open(self.path).snapshot("cp").turns()
            assert [(turn.seq, turn.text) for _, turn in turns] == self.checkpoint


TestStoreLife = pytest.mark.slow(StoreLife.TestCase)
TestStoreLife.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
