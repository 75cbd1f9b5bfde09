"""The log alone: what labels and operations lead to, and what a label taken back takes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.records.strategy import AppliedOperation, Label, Trace
from memcli.strategy.replay import Log, replay

PAIR = ("n00001", "n00002")
ADD = AppliedOperation(op="ADD_EDGE", source=PAIR[0], target=PAIR[1])
CUT = AppliedOperation(op="REMOVE_EDGE", source=PAIR[0], target=PAIR[1])
GONE = AppliedOperation(op="REMOVE", id=PAIR[0])


def step(*operations, **more):
    return Trace(id="t", kind="train", time="t", operations=operations, **more)


def said(name, label="helpful", confidence=1.0, *, replaces=None, of="q"):
    labels = (Label(source=PAIR[0], target=PAIR[1], label=label, confidence=confidence),)
    return Trace(id=name, kind="feedback", time="t", labels=labels, of=of, replaces=replaces)


def counters(*traces):
    edge = replay(traces).get(PAIR)
    return None if edge is None else (edge.s, edge.f)


def test_labels_of_a_step_apply_before_its_operations():
    label = said("x").labels
    assert counters(step(ADD), step(CUT, labels=label)) is None
    assert counters(step(ADD, labels=label)) == (0, 0)
    assert counters(step(ADD), step(CUT, ADD, labels=label)) == (0, 0)


def test_a_label_by_hand_is_taken_back_exactly():
    first, second = said("a", confidence=0.3), said("b", "harmful", 0.2, replaces="a")
    assert counters(step(ADD), first) == (0.3, 0)
    assert counters(step(ADD), first, second) == (0, 0.2)
    assert counters(step(ADD), first, second, said("c", replaces="b")) == (1, 0)


@pytest.mark.parametrize("cut", [CUT, GONE])
def test_evidence_that_an_edge_lost_is_not_taken_from_the_one_that_came_after(cut):
    trained = said("x", confidence=0.9).labels
    log = [step(ADD), said("a"), step(cut), step(ADD), step(labels=trained)]
    assert counters(*log, said("b", "harmful", replaces="a")) == (0.9, 1)


def test_no_label_is_taken_back_twice():
    log = [step(ADD), said("other"), said("a", of="p"), said("b", of="p", replaces="a")]
    assert counters(*log, said("c", of="p", replaces="a")) == (3, 0)


def test_what_stands_of_a_trace_is_its_newest_label():
    log = Log()
    for trace in (step(ADD), said("a"), said("p", of="other"), said("b", replaces="a")):
        log.read(trace)
    assert log.standing("q").id == "b"
    assert [label.label for label in log.standing("q").labels] == ["helpful"]
    assert log.standing("unknown") is None
    log.read(step(CUT, ADD))
    assert log.standing("q").labels == ()


def test_a_merge_moves_evidence_and_what_moved_stays():
    into = AppliedOperation(op="MERGE", id="n00002", target="n00003")
    edges = replay([step(ADD), said("a"), step(into), said("b", replaces="a")])
    assert [(edge.pair, edge.s, edge.f) for edge in edges.values()] == [
        (("n00001", "n00003"), 1, 0)
    ]


CONFIDENCE = st.integers(0, 10**6).map(lambda n: n / 10**6)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["helpful", "harmful"]), CONFIDENCE), min_size=1))
def test_of_labels_that_replace_each_other_only_the_last_counts(given_labels):
    log = [step(ADD), said("0", "helpful", 0.5, of="another")]
    for number, (label, confidence) in enumerate(given_labels, 1):
        before = None if number == 1 else str(number - 1)
        log.append(said(str(number), label, confidence, replaces=before))
    label, confidence = given_labels[-1]
    s, f = (0.5 + confidence, 0) if label == "helpful" else (0.5, confidence)
    assert counters(*log) == (round(s, 6), round(f, 6))
