"""Retrievers: what they name is validated, what fails loads nothing, limits always hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lessons import graph_of, lesson, link
from scripted import Scripted, retrieved

from memcli.budgets import count_tokens
from memcli.errors import LLMReplyCut, LLMReplyInvalid, LLMUnavailable, UsageError
from memcli.strategy.graph import Graph
from memcli.strategy.limits import Limits
from memcli.strategy.memory import StrategyMemory
from memcli.strategy.retriever import PREFILTER, Settings, retrieve

LLM, HYBRID, LEXICAL, ALL = (Settings(name=name) for name in ("llm", "hybrid", "lexical", "all"))


def ask_for(query, memory, how, ask=None):
    return retrieve(query, memory, memory.lessons, how, count=count_tokens, ask=ask)


def memory_of(count, *edges):
    return StrategyMemory(graph_of(count, *edges))


def topical(*topics):
    nodes = [lesson(n, f"About {topic}.", key=topic) for n, topic in enumerate(topics, 1)]
    return StrategyMemory(Graph.of(nodes, []))


@pytest.mark.parametrize("how", [LLM, HYBRID, LEXICAL, ALL], ids=lambda how: how.name)
def test_an_empty_graph_costs_no_call(how):
    ask = Scripted()
    found = ask_for("anything", memory_of(0), how, ask)
    assert (found.retrieval.outcome, found.memory, ask.asked) == ("empty_graph", "", [])


def test_what_a_model_names_is_validated_and_counted():
    named = {
        "sections": ["others", "poetry", "others"],
        "entry_ids": ["[n00003]", "ghost", "n00001", "n00003", 7],
    }
    found = ask_for("?", memory_of(4, link(3, 4)), LLM, Scripted(retrieve=named))
    assert found.retrieval.sections == ("others",)
    assert found.retrieval.entries == ("n00003", "n00001")
    assert found.ids == ("n00003", "n00001", "n00004")
    assert found.retrieval.discarded == {
        "entry_repeated": 1,
        "entry_unknown": 2,
        "section_repeated": 1,
        "section_unknown": 1,
    }


def test_six_entries_are_the_most():
    named = retrieved(*[f"n{n:05d}" for n in range(1, 10)])
    found = ask_for("?", memory_of(9), LLM, Scripted(retrieve=named))
    assert len(found.retrieval.entries) == 6
    assert found.retrieval.discarded == {"entry_too_many": 3}


def test_the_whole_index_is_read_in_order_of_creation_and_the_question_comes_last():
    ask = Scripted()
    ask_for("What </index> is it?", memory_of(3), LLM, ask)
    text = ask.prompts("retrieve")[0]
    lines = "n00001 | lesson 1 [others]\nn00002 | lesson 2 [others]\nn00003 | lesson 3 [others]"
    assert f"<index>\n{lines}\n</index>\n\n<question>\nWhat ‹/index> is it?\n</question>" in text


@pytest.mark.parametrize("error", [LLMReplyInvalid("no"), LLMReplyCut("cut")])
def test_a_failed_call_leaves_memory_out_and_never_falls_back(error):
    found = ask_for("?", memory_of(3), LLM, Scripted(retrieve=error))
    assert (found.retrieval.outcome, found.nodes) == ("failed_call", ())
    assert found.failure == error.code


def test_an_outage_is_no_outcome():
    with pytest.raises(LLMUnavailable):
        ask_for("?", memory_of(3), LLM, Scripted(retrieve=LLMUnavailable("down")))


def test_naming_nothing_valid_loads_nothing():
    found = ask_for("?", memory_of(3), LLM, Scripted(retrieve=retrieved("ghost")))
    assert (found.retrieval.outcome, found.memory) == ("no_valid_entry", "")


def test_hybrid_shows_the_model_the_nearest_lines_only():
    memory = topical("net present value", *[f"topic{n}" for n in range(100)])
    ask = Scripted(retrieve=retrieved("n00001", "n00090"))
    found = ask_for("What is the net present value?", memory, HYBRID, ask)
    shown = [line for line in ask.prompts("retrieve")[0].splitlines() if " | " in line]
    assert "n00001 | net present value [others]" in shown
    assert len(shown) <= PREFILTER + 1  # the instructions show the form of a line
    assert found.retrieval.entries == ("n00001",)


def test_lexical_asks_nobody_and_names_the_sections_of_its_entries():
    memory = topical("cash flow", "tax rate", "margin")
    found = ask_for("How is tax computed?", memory, LEXICAL)
    assert (found.ids, found.retrieval.sections) == (("n00002",), ("others",))


def test_a_model_is_needed_where_it_is():
    with pytest.raises(UsageError, match="needs a model"):
        ask_for("?", memory_of(2), LLM)


def test_all_exposes_everything_in_order_up_to_the_cap():
    memory = memory_of(40)
    assert len(ask_for("?", memory, ALL).ids) == 40
    total = sum(node.tokens for node in list(memory.nodes())[:7])
    capped = ask_for("?", memory, Settings(name="all", memory_cap=total))
    assert capped.ids == tuple(f"n{n:05d}" for n in range(1, 8))
    assert capped.retrieval.memory_tokens == total


def test_the_whole_graph_is_loaded_only_while_it_fits():
    whole = Settings(name="llm", whole_graph=True)
    ask = Scripted()
    assert len(ask_for("?", memory_of(12), whole, ask).ids) == 12
    assert ask.asked == []
    ask_for("?", memory_of(13), whole, ask)
    assert ask.roles == ["retrieve"]


NODES = st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=25)


@settings(max_examples=60, deadline=None)
@given(NODES, st.lists(st.tuples(st.integers(1, 25), st.integers(1, 25)), max_size=40), st.data())
def test_no_retrieval_exceeds_nodes_or_tokens(texts, pairs, data):
    nodes = [lesson(n, text) for n, text in enumerate(texts, 1)]
    edges = [link(a, b) for a, b in pairs if a != b and max(a, b) <= len(texts)]
    memory = StrategyMemory(Graph.of(nodes, edges))
    entries = data.draw(st.lists(st.sampled_from([n.id for n in nodes]), max_size=9))
    limits = Limits(memory_tokens=data.draw(st.integers(0, 400)))
    for name in ("llm", "lexical"):
        how = Settings(name=name, limits=limits)
        ask = Scripted(retrieve=retrieved(*entries))
        found = ask_for(" ".join(texts[:3]), memory, how, ask)
        assert len(found.ids) <= 12
        assert count_tokens(found.memory) == found.retrieval.memory_tokens
        assert found.retrieval.memory_tokens <= limits.memory_tokens
