"""Relevance of turns: what each part of the score is for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from evidence.memory_index import MemoryIndex
from evidence.ranking_turns import TALK, said
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from memcli.evidence import ranking
from memcli.evidence.ranking import Scored, idf, named_first, read_question, score_turns
from memcli.records.indexed import IndexedTurn


def ranked(text: str, turns: Sequence[IndexedTurn]) -> list[Scored]:
    index = MemoryIndex(turns)
    return score_turns(turns, read_question(text, index), index.mean_terms)


def order(text: str, turns: Sequence[IndexedTurn]) -> list[str]:
    return [item.turn.id for item in ranked(text, turns)]


def test_the_turn_that_holds_the_words_is_first():
    assert order("Which harbour did they sail to?", TALK)[0] == "t2"


def test_a_turn_beside_a_match_beats_a_distant_one():
    found = order("harbour", TALK)
    assert found.index("t3") < found.index("t5")


def test_turns_without_any_relevance_are_left_out():
    assert ranked("zeppelin", TALK) == []


def test_the_answer_beats_the_reply_to_a_statement():
    asked = [
        said(0, "Mara", "So which harbour do you like best?"),
        said(1, "Odo", "Easily the small one by those cliffs"),
    ]
    stated = [
        said(0, "Mara", "So this harbour I do like best"),
        said(1, "Odo", "Easily the small one by those cliffs"),
    ]
    after = [ranked("harbour", turns)[-1].score for turns in (asked, stated)]
    assert after[0] > after[1]


def test_the_person_named_first_is_preferred():
    turns = [
        said(0, "Odo", "the wooden boat was sold today"),
        said(9, "Mara", "the wooden boat was sold today"),
    ]
    assert order("What did Mara tell Odo about the boat?", turns)[0] == "t9"
    assert order("What did Odo tell Mara about the boat?", turns)[0] == "t0"


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What did Mara's sister say to Odo?", {"Mara"}),
        ("What did Odo say to Mara?", {"Odo"}),
        ("Who is Silva?", {"Ana Silva"}),
        ("Did Ana call?", {"Ana Silva", "Ana Costa"}),
        ("Will it rain?", set()),
        ("What about the boat?", set()),
    ],
)
def test_named_first(question, named):
    names = ["Mara", "Odo", "Ana Silva", "Ana Costa", "Will"]
    turns = [said(i, name, "hello there") for i, name in enumerate(names)]
    assert named_first(read_question(question, MemoryIndex(turns)), turns) == named


def test_machine_output_and_dropped_branches_are_found_later():
    turns = [
        said(0, None, "the build failed with E0382", role="tool"),
        said(20, None, "the build failed with E0382"),
        said(40, None, "the build failed with E0382", branch="abandoned"),
    ]
    assert order("E0382", turns) == ["t20", "t0", "t40"]


def test_a_turn_that_says_little_counts_less():
    turns = [
        said(0, "Mara", "boat"),
        said(20, "Mara", "the boat needs paint before summer comes round again"),
    ]
    assert order("boat", turns)[0] == "t20"


def test_a_question_of_stop_words_searches_them():
    turns = [said(0, None, "C++ or C"), said(9, None, "just that")]
    question = read_question("OR", MemoryIndex(turns))
    assert question.content == ("or",)
    assert order("OR", turns)[0] == "t0"


def test_stop_words_weigh_little_beside_others():
    question = read_question("the boat", MemoryIndex(TALK))
    assert question.content == ("boat",)
    assert 0 < question.weights["the"] < question.weights["boat"]


def test_of_an_endless_question_the_weightiest_terms_are_kept():
    text = " ".join(f"word{i}" for i in range(500)) + " the harbour"
    assert len(read_question(text, MemoryIndex(TALK)).weights) == ranking.MAX_TERMS


def test_sessions_do_not_share_their_windows():
    turns = [
        said(0, "Mara", "our harbour", session="a"),
        said(1, "Odo", "quite another matter", session="b"),
    ]
    assert order("harbour", turns) == ["t0"]


def test_gaps_in_the_sequence_are_kept_apart():
    turns = [
        said(0, "Mara", "harbour news today"),
        said(ranking.RECIPE.reach + 1, "Odo", "no such thing"),
    ]
    near = [turns[0], said(1, "Odo", "no such thing")]
    assert ranked("harbour", near)[1].score > ranked("harbour", turns)[1].score


words = st.sampled_from(["boat", "harbour", "sail", "the", "rain", "paint", "Mara", "?", "cliff"])
texts = st.lists(words, min_size=1, max_size=8).map(" ".join)


@given(st.lists(texts, min_size=1, max_size=12), texts, st.randoms())
def test_the_order_of_indexing_changes_nothing(lines, question, random):
    turns = [
        said(i, "Mara" if i % 2 else "Odo", line, session=f"s{i // 4}")
        for i, line in enumerate(lines)
    ]
    shuffled = random.sample(turns, len(turns))
    assert ranked(question, turns) == ranked(question, shuffled)


@given(st.lists(texts, min_size=2, max_size=10), texts)
def test_the_turns_own_part_is_the_bm25_of_rank_bm25(lines, question):
    """The same terms, lengths and idf give the scores of the reference implementation."""
    turns = [said(10 * i, None, line, session=f"s{i}") for i, line in enumerate(lines)]
    index = MemoryIndex(turns)
    asked = read_question(question, index)
    oracle = BM25Okapi(
        [turn.terms.split() for turn in turns], k1=ranking.RECIPE.k1, b=ranking.RECIPE.length_norm
    )
    oracle.idf = {term: asked.weights[term] for term in asked.weights}
    expected = oracle.get_scores(list(asked.weights))
    for item in score_turns(turns, asked, index.mean_terms):
        length = len(item.turn.terms.split())
        worth = length / (length + ranking.RECIPE.brevity)
        assert item.own / worth == pytest.approx(expected[turns.index(item.turn)])


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_idf_falls_with_frequency_and_is_positive(some, more):
    low, high = sorted((some, more))
    assert idf(low, 10_000) >= idf(high, 10_000) > 0
    assert math.isfinite(idf(more, some))
