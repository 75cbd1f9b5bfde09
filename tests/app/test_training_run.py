"""A training run in this process: its log, its restart after any crash, its neighbours."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count

import pytest
from learner import LearnerTransport, example
from store.store_helpers import Crash, FailingDisk

from memcli.app.checkpoints import resolve, state_at
from memcli.app.strategy_store import load_graph, log_differences, read_traces
from memcli.app.surroundings import Data, Surroundings
from memcli.app.train import TrainingRun, training_order
from memcli.app.train_request import TrainRequest
from memcli.errors import BudgetExceeded, NothingFound, UsageError
from memcli.llm.client import Client, ModelSettings
from memcli.records.strategy_codec import edge_to_dict, node_to_dict
from memcli.store.disk import Disk
from memcli.store.run_folder import LEDGER, create_run, open_run
from memcli.store.store import Store
from memcli.strategy.stream import Example, fingerprint

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
REQUEST = TrainRequest(stream="-", retriever="llm", eval_every=3, workers=1)


def examples(count, start=0):
    lines = [example(number) for number in range(start, start + count)]
    return tuple(
        Example(line["question"], line["answer"], number, fingerprint(*line.values()))
        for number, line in enumerate(lines, 1)
    )


DATA = Data(train=examples(8), val=examples(4, 100), test=examples(3, 200))


def around(transport=None, **more):
    transport = transport or LearnerTransport()
    ticks = count()
    return Surroundings(
        connect=lambda observe: Client(ModelSettings(model="fake"), transport, observe=observe),
        model="fake",
        now=lambda: NOW,
        clock=lambda: float(next(ticks)),
        **more,
    )


def config(request, data):
    return {
        "model": "fake",
        "retriever": request.retriever,
        "max_rounds": request.max_rounds,
        "examples": len(data.train),
        "epochs": request.epochs,
    }


def begin(path, request=REQUEST, data=DATA, disk=None, **more):
    """Create a store and a run in it."""
    store = Store.create(path, now=NOW)
    store = Store(store.path, disk or Disk())
    folder = create_run(path, config(request, data), disk=store.disk)
    return store, TrainingRun(store, folder, request, data, around(**more))


def again(path, request=REQUEST, data=DATA, **more):
    """Take up the run of a store."""
    store = Store.open(path)
    folder = open_run(path, "run-0001", disk=store.disk)
    folder.mend()
    return TrainingRun(store, folder, request, data, around(**more))


def graph_of(path):
    """Return all that a store learnt, and the log without its clock."""
    snapshot = Store.open(path).snapshot()
    graph = load_graph(snapshot)
    steps = [
        (t.step, t.epoch, t.example, t.labels, t.operations, t.right, t.total, t.influence)
        for t in read_traces(snapshot)
    ]
    return [node_to_dict(n) for n in graph.nodes()], [edge_to_dict(e) for e in graph.edges()], steps


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What the run comes to when nothing disturbs it."""
    path = tmp_path_factory.mktemp("whole") / "store"
    _, run = begin(path)
    report = run.go()
    return graph_of(path), report, path


class TestARun:
    def test_learns_what_its_examples_teach(self, whole):
        _, report, _ = whole
        assert report["steps"] == 8
        assert report["accuracy"] == 3 / 8  # five topics, each wrong the first time
        validations = [e for e in report["evaluations"] if e["phase"] == "validation"]
        assert [e["step"] for e in validations] == [0, 3, 6, 8]
        assert [e["accuracy"] for e in validations] == [0.0, 0.75, 1.0, 1.0]
        assert report["best_step"] == 6

    def test_measures_test_examples_on_the_empty_and_the_best_memory_only(self, whole):
        _, report, _ = whole
        tests = [e for e in report["evaluations"] if e["phase"] == "test"]
        assert [(e["memory"], e["step"], e["accuracy"]) for e in tests] == [
            ("empty", 0, 0.0),
            ("best", 6, 1.0),
        ]

    def test_writes_one_trace_a_step_and_the_log_leads_to_the_edges(self, whole):
        (_, _, steps), _, path = whole
        assert [step[0] for step in steps] == list(range(1, 9))
        assert log_differences(Store.open(path).snapshot()) == []

    def test_is_one_step_of_undo(self, whole, tmp_path):
        store, run = begin(tmp_path / "store")
        run.go()
        with store.writer(now=NOW) as writer:
            writer.undo()
        assert graph_of(tmp_path / "store") == ([], [], [])

    def test_saves_a_state_at_each_validation(self, whole):
        _, _, path = whole
        store = Store.open(path)
        saved = [each.name for each in store.checkpoints()]
        assert saved == ["run-0001.0", "run-0001.3", "run-0001.6", "run-0001.8"]
        assert load_graph(store.snapshot("run-0001.0")).n_nodes == 0
        assert resolve(store, "best") == resolve(store, "run-0001:best") == "run-0001.6"
        assert load_graph(state_at(store, "best")).n_nodes < load_graph(store.snapshot()).n_nodes

    def test_evaluations_change_nothing(self, whole, tmp_path):
        request = TrainRequest(stream="-", retriever="llm", eval_every=1000, workers=3)
        data = Data(train=DATA.train)
        _, run = begin(tmp_path / "store", request=request, data=data)
        run.go()
        assert graph_of(tmp_path / "store") == whole[0]

    def test_every_call_is_in_the_ledger(self, tmp_path):
        transport = LearnerTransport()
        store, run = begin(tmp_path / "store", transport=transport)
        run.go()
        folder = open_run(store.path, "run-0001", disk=store.disk)
        lines = list(folder.lines(LEDGER))
        assert [line["role"] for line in lines] == [role for role, _ in transport.learner.asked]
        assert all(
            line["prompt_tokens"]
            == line["index_tokens"] + line["memory_tokens"] + line["rest_tokens"]
            for line in lines
        )


def test_best_needs_a_validated_run(tmp_path):
    store = Store.create(tmp_path / "store", now=NOW)
    with pytest.raises(NothingFound, match="validated"):
        resolve(store, "best")
    with pytest.raises(NothingFound, match="no run"):
        resolve(store, "run-0009:best")
    assert resolve(store, "run-0001.3") == "run-0001.3"


def test_the_answer_is_shown_to_nobody_before_its_prediction(tmp_path):
    transport = LearnerTransport()
    data = Data(train=DATA.train, test=DATA.test)
    _, run = begin(tmp_path / "store", data=data, transport=transport)
    run.go()
    asked = transport.learner.asked
    for line in (*data.train, *data.test):
        at = next(
            place
            for place, (role, text) in enumerate(asked)
            if role == "generate" and line.question in text
        )
        assert not any(line.answer in text for _, text in asked[: at + 1])


class TestResuming:
    @pytest.mark.parametrize("at", range(1, 60, 4))
    def test_after_a_stop_at_any_request_comes_to_the_same(self, whole, tmp_path, at):
        class Stopping(LearnerTransport):
            def send(self, request):
                if len(self.learner.asked) + 1 == at:
                    raise KeyboardInterrupt
                return super().send(request)

        _, run = begin(tmp_path / "store", transport=Stopping())
        with pytest.raises(KeyboardInterrupt):
            run.go()
        report = again(tmp_path / "store").go()
        assert graph_of(tmp_path / "store") == whole[0]
        assert report["best_step"] == whole[1]["best_step"]
        assert [e["accuracy"] for e in report["evaluations"]] == [
            e["accuracy"] for e in whole[1]["evaluations"]
        ]

    def test_of_a_finished_run_asks_nobody(self, tmp_path):
        _, run = begin(tmp_path / "store")
        run.go()
        transport = LearnerTransport()
        again(tmp_path / "store", transport=transport).go()
        assert transport.learner.asked == []

    def test_counts_what_was_spent_before(self, tmp_path):
        request = TrainRequest(stream="-", retriever="llm", max_cost=1.0, workers=1)
        store, _ = begin(tmp_path / "store", request=request)
        folder = open_run(store.path, "run-0001", disk=store.disk)
        folder.append(
            LEDGER,
            {
                "phase": "train",
                "step": 1,
                "part": 1,
                "prompt_tokens": 5,
                "completion_tokens": 5,
                "cost_usd": 1.5,
            },
        )
        transport = LearnerTransport()
        with pytest.raises(BudgetExceeded):
            again(tmp_path / "store", request=request, transport=transport).go()
        assert transport.learner.asked == []

    def test_is_refused_once_the_run_was_undone(self, tmp_path):
        store, run = begin(tmp_path / "store")
        run.go()
        with store.writer(now=NOW) as writer:
            writer.undo()
        with pytest.raises(UsageError, match="undone"):
            again(tmp_path / "store").go()


SHORT = Data(train=examples(3), val=examples(1, 100))


def _crash_points(path):
    disk = FailingDisk()
    _, run = begin(path, data=SHORT, disk=disk)
    before = disk.count
    run.go()
    return before, disk.count


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["kill", "torn", "lose"])
def test_a_crash_at_any_write_loses_nothing_and_applies_nothing_twice(tmp_path, mode):
    first, last = _crash_points(tmp_path / "whole")
    wanted = graph_of(tmp_path / "whole")
    for point in range(first + 1, last + 1):
        path = tmp_path / f"store-{point}"
        _, run = begin(path, data=SHORT, disk=FailingDisk(point, mode))
        with pytest.raises(Crash):
            run.go()
        again(path, data=SHORT).go()
        assert graph_of(path) == wanted, point
        assert log_differences(Store.open(path).snapshot()) == []


def test_others_may_write_between_steps(tmp_path):
    path = tmp_path / "store"
    edits = []

    class Editing(LearnerTransport):
        """Someone removes the newest lesson while the model thinks."""

        def send(self, request):
            reply = super().send(request)
            roles = [role for role, _ in self.learner.asked]
            if roles[-1] == "curate" and roles.count("curate") in (3, 6):
                edits.append(remove_newest(path))
            return reply

    _, run = begin(path, transport=Editing())
    run.go()
    snapshot = Store.open(path).snapshot()
    assert len(edits) == 2
    graph = load_graph(snapshot)
    assert all(graph.node(node_id).status == "removed" for node_id in edits)
    assert log_differences(snapshot) == []
    ids = [node.id for node in graph.nodes()]
    assert len(set(ids)) == len(ids)


def remove_newest(path):
    """Remove the newest lesson, as another process would."""
    from memcli.app.strategy_store import append_change
    from memcli.budgets import count_tokens
    from memcli.records.strategy import Provenance, Trace
    from memcli.strategy.operations import Rules, plan
    from memcli.strategy.proposals import Remove

    with Store.open(path).writer(now=NOW) as writer:
        graph = load_graph(writer.snapshot)
        newest = max(node.id for node in graph.nodes())
        rules = Rules(count=count_tokens, provenance=Provenance(origin="hand"))
        change = plan(graph, rules, proposals=[Remove(id=newest)])
        trace = Trace(
            id=f"edit-{newest}",
            kind="edit",
            time="2026-03-01T12:00:00Z",
            operations=change.operations,
        )
        append_change(writer, change, trace)
        writer.commit(command="node")
    return newest


def test_epochs_after_the_first_are_shuffled_by_the_seed():
    lines = examples(20)
    assert training_order(lines, 1, 7) == list(lines)
    two = training_order(lines, 2, 7)
    assert two[:20] == list(lines)
    assert sorted(e.line for e in two[20:]) == sorted(e.line for e in lines)
    assert two[20:] != list(lines)
    assert two == training_order(lines, 2, 7)
    assert two != training_order(lines, 2, 8)
