"""Evaluation: in parallel, in order, read-only; a failure is not a wrong answer."""

from __future__ import annotations

import threading

import pytest
from lessons import graph_of
from scripted import Scripted, predicted, retrieved

from memcli.budgets import count_tokens
from memcli.errors import LLMReplyInvalid, LLMUnavailable
from memcli.strategy.evaluate_stream import evaluate
from memcli.strategy.memory import StrategyMemory
from memcli.strategy.retriever import Settings
from memcli.strategy.scorers import scorer
from memcli.strategy.step import Method
from memcli.strategy.stream import Example

METHOD = Method(retrieval=Settings(name="llm"), scorer=scorer("tags"), count=count_tokens)
EXAMPLES = tuple(Example(f"question {n}", f"a{n},b", n, f"print{n}") for n in range(20))


def right(prompt):
    """Answer question n with its own tags, every fourth one half wrong."""
    number = int(prompt.rsplit("question ", 1)[1].split()[0])
    return predicted(f"a{number},{'c' if number % 4 == 0 else 'b'}", "n00001")


def measured(make_asker, *, workers=4, **more):
    return evaluate(
        EXAMPLES, StrategyMemory(graph_of(3)), METHOD, make_asker, workers=workers, **more
    )


@pytest.mark.parametrize("workers", [1, 4, 16])
def test_figures_do_not_depend_on_the_number_of_workers(workers):
    found = measured(
        lambda: Scripted(retrieve=retrieved("n00001"), generate=right), workers=workers
    )
    assert (found.right, found.total, found.all_right) == (35, 40, 15)
    assert found.accuracy == 35 / 40
    assert [each.example for each in found.attempts] == [each.fingerprint for each in EXAMPLES]
    assert all(each.influence == ("n00001",) for each in found.attempts)
    assert all(each.retrieval.entries == ("n00001",) for each in found.attempts)


def test_each_thread_has_an_asker_of_its_own():
    used = {}

    def make():
        ask = Scripted(generate=right)
        used.setdefault(threading.get_ident(), []).append(ask)
        return ask

    measured(make)
    assert all(len(askers) == 1 for askers in used.values())
    assert sum(ask.roles.count("generate") for (ask,) in used.values()) == len(EXAMPLES)


def test_answers_are_shown_to_nobody():
    asked = []

    def make():
        ask = Scripted()
        asked.append(ask)
        return ask

    measured(make, workers=1)
    assert not any(line.answer in each.text for each in asked[0].asked for line in EXAMPLES)


def test_a_failed_call_is_counted_apart():
    def generate(prompt):
        if "question 7\n" in prompt:
            raise LLMReplyInvalid("no JSON")
        return right(prompt)

    found = measured(lambda: Scripted(generate=generate))
    assert (found.scored, found.failed) == (19, 1)
    assert found.total == 38
    assert found.attempts[7].score is None
    assert found.attempts[7].failure == "llm_reply_invalid"


def test_nothing_scored_is_no_accuracy():
    found = measured(lambda: Scripted(generate=LLMReplyInvalid("no JSON")))
    assert found.accuracy is None
    assert found.failed == len(EXAMPLES)


def test_a_model_out_of_reach_ends_it_soon():
    asked = []

    def make():
        ask = Scripted(retrieve=LLMUnavailable("down"))
        asked.append(ask)
        return ask

    with pytest.raises(LLMUnavailable):
        measured(make, workers=2)
    assert sum(len(ask.asked) for ask in asked) <= 4


def test_progress_is_told_for_each_example():
    done = []
    measured(Scripted, on_done=lambda: done.append(1))
    assert len(done) == len(EXAMPLES)
