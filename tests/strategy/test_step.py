"""One training step: its order, its rounds, and what a failed role leaves out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lessons import graph_of, link
from scripted import Scripted, added, curated, labelled, predicted, reflected, retrieved

from memcli.budgets import count_tokens
from memcli.errors import LLMReplyCut, LLMReplyInvalid, LLMUnavailable
from memcli.strategy.memory import StrategyMemory
from memcli.strategy.proposals import Add
from memcli.strategy.retriever import Settings
from memcli.strategy.scorers import scorer
from memcli.strategy.step import Method, train_on
from memcli.strategy.stream import Example

SECRET = "zanzibar-4711"
EXAMPLE = Example("Where does the boat go?", SECRET, 1, "f00d")
METHOD = Method(retrieval=Settings(name="llm"), scorer=scorer("exact"), count=count_tokens)
INVALID = LLMReplyInvalid("not JSON")


def memory_of(count, *edges):
    return StrategyMemory(graph_of(count, *edges))


def test_roles_are_asked_in_order_and_an_empty_memory_costs_no_retrieval():
    ask = Scripted()
    train_on(EXAMPLE, memory_of(0), METHOD, ask)
    assert ask.roles == ["generate", "reflect", "curate"]
    ask = Scripted()
    train_on(EXAMPLE, memory_of(2), METHOD, ask)
    assert ask.roles == ["retrieve", "generate", "reflect", "curate"]


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_answer_reaches_nobody_before_the_prediction_is_made(rounds):
    ask = Scripted(retrieve=retrieved("n00001"), generate=predicted("nowhere", "n00001"))
    train_on(EXAMPLE, memory_of(2), replace(METHOD, max_rounds=rounds), ask)
    predicted_at = ask.roles.index("generate")
    assert not any(SECRET in each.text for each in ask.asked[: predicted_at + 1])
    assert SECRET in ask.prompts("reflect")[0]


def test_score_and_influence_are_those_of_the_first_round():
    ask = Scripted(
        retrieve=retrieved("n00001", "n00002"),
        generate=[predicted("nowhere", "n00001", "n00002"), predicted(SECRET, "n00002", "n00001")],
        reflect=reflected(labelled("n00001", "n00002"), insight="It goes south."),
    )
    outcome = train_on(EXAMPLE, memory_of(2), replace(METHOD, max_rounds=3), ask)
    assert outcome.rounds == 2
    assert outcome.score is not None
    assert not outcome.score.is_right
    assert outcome.generated.influence == ("n00001", "n00002")
    assert [(label.source, label.target) for label in outcome.labels] == [("n00001", "n00002")]
    assert ask.roles == ["retrieve", "generate", "reflect", "generate", "curate"]
    assert "It goes south." in ask.prompts("generate")[1]
    assert "It goes south." in ask.prompts("curate")[0]


def test_a_wrong_prediction_is_tried_again_no_more_often_than_allowed():
    ask = Scripted(generate=predicted("nowhere"))
    outcome = train_on(EXAMPLE, memory_of(1), replace(METHOD, max_rounds=3), ask)
    assert outcome.rounds == 3
    assert ask.roles.count("generate") == ask.roles.count("reflect") == 3


def test_a_right_prediction_is_not_tried_again():
    ask = Scripted(generate=predicted(SECRET))
    outcome = train_on(EXAMPLE, memory_of(1), replace(METHOD, max_rounds=3), ask)
    assert outcome.score.is_right
    assert outcome.rounds == 1


class TestAFailedRole:
    @pytest.mark.parametrize("error", [INVALID, LLMReplyCut("cut")])
    def test_retrieve_leaves_the_memory_out_and_never_falls_back_to_all(self, error):
        ask = Scripted(retrieve=error)
        outcome = train_on(EXAMPLE, memory_of(3), METHOD, ask)
        assert outcome.failures == {"retrieve": error.code}
        assert outcome.retrieved.retrieval.outcome == "failed_call"
        assert outcome.retrieved.memory == ""
        assert "Lesson number" not in ask.prompts("generate")[0]
        assert ask.roles == ["retrieve", "generate", "reflect", "curate"]

    def test_generate_is_no_score_and_ends_the_step(self):
        ask = Scripted(generate=INVALID)
        outcome = train_on(EXAMPLE, memory_of(1), METHOD, ask)
        assert outcome.score is None
        assert outcome.generated is None
        assert outcome.failures == {"generate": INVALID.code}
        assert ask.roles == ["retrieve", "generate"]

    def test_reflect_moves_nothing_and_asks_no_curator(self):
        ask = Scripted(reflect=INVALID)
        outcome = train_on(EXAMPLE, memory_of(1), METHOD, ask)
        assert outcome.score is not None
        assert outcome.labels == ()
        assert outcome.failures == {"reflect": INVALID.code}
        assert "curate" not in ask.roles

    def test_curate_keeps_the_labels(self):
        ask = Scripted(
            retrieve=retrieved("n00001", "n00002"),
            generate=predicted("nowhere", "n00001", "n00002"),
            reflect=reflected(labelled("n00001", "n00002")),
            curate=INVALID,
        )
        outcome = train_on(EXAMPLE, memory_of(2, link(1, 2)), METHOD, ask)
        assert len(outcome.labels) == 1
        assert outcome.proposals == ()
        assert outcome.failures == {"curate": INVALID.code}

    def test_a_later_round_keeps_what_the_first_one_taught(self):
        ask = Scripted(generate=[predicted("nowhere"), INVALID])
        outcome = train_on(EXAMPLE, memory_of(1), replace(METHOD, max_rounds=3), ask)
        assert outcome.score is not None
        assert "generate" not in outcome.failures
        assert ask.roles[-1] == "curate"

    @pytest.mark.parametrize("role", ["retrieve", "generate", "reflect", "curate"])
    def test_a_model_out_of_reach_ends_the_step_whole(self, role):
        ask = Scripted(**{role: LLMUnavailable("down")})
        with pytest.raises(LLMUnavailable):
            train_on(EXAMPLE, memory_of(1), METHOD, ask)


def test_what_roles_say_in_vain_is_counted_by_reason():
    ask = Scripted(
        retrieve=retrieved("n00001", "ghost"),
        generate=predicted("nowhere", "n00001", "n00002"),
        reflect=reflected(labelled("n00001", "n00002"), labelled("n00001", "n00001")),
        curate=curated({"type": "EXPLODE"}, added("Take the ferry.")),
    )
    outcome = train_on(EXAMPLE, memory_of(2), METHOD, ask)
    assert outcome.discarded["not_loaded"] == 1
    assert outcome.discarded["label_outside_trace"] == 2
    assert outcome.discarded["unknown_operation"] == 1
    assert outcome.retrieved.retrieval.discarded == {"entry_unknown": 1}
    assert [type(each) for each in outcome.proposals] == [Add]


def test_the_curator_sees_the_steps_without_an_edge_and_a_bounded_index():
    ask = Scripted(
        retrieve=retrieved("n00001", "n00002", "n00003"),
        generate=predicted("nowhere", "n00001", "n00002", "n00003"),
    )
    train_on(EXAMPLE, memory_of(60, link(1, 2)), METHOD, ask)
    prompt = ask.prompts("curate")[0]
    assert "n00002 -> n00003" in prompt
    assert "n00001 -> n00002" not in prompt
    assert sum(" | lesson " in line for line in prompt.splitlines()) <= 20
    whole = Scripted()
    train_on(EXAMPLE, memory_of(60), replace(METHOD, whole_index=True), whole)
    assert whole.prompts("curate")[0].count(" | lesson ") == 60
