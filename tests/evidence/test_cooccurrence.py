"""Co-occurrence: which words are anchors, and what a shared anchor is worth."""

from __future__ import annotations

from itertools import pairwise

from evidence.memory_index import MemoryIndex
from evidence.ranking_turns import said
from hypothesis import given
from hypothesis import strategies as st

from memcli.evidence import cooccurrence
from memcli.evidence.cooccurrence import anchors_of, linked, recurring
from memcli.evidence.ranking import RECIPE, Scored, read_question, score_turns
from memcli.records.indexed import IndexedTurn

COMMON = [f"weather {i}" for i in range(cooccurrence.COMMON_FLOOR + 1)]
TURNS = [
    said(0, "Mara", "camping by the bonfire, 12 tents, weather like 2019, once"),
    said(30, "Mara", "another bonfire and tents of 12 in 2019", session="s2"),
    *(said(100 + 20 * i, "Odo", text, session="s3") for i, text in enumerate(COMMON)),
]


def anchors(question: str, turns: list[IndexedTurn]) -> dict[str, float]:
    index = MemoryIndex(turns)
    asked = read_question(question, index)
    core = score_turns(turns, asked, index.mean_terms)
    return anchors_of(core, asked, index, ["Mara", "Odo"], RECIPE)


def test_anchors_are_rare_recurring_words_beyond_the_question():
    assert set(anchors("camping", TURNS)) == {"bonfir", "tent", "2019"}


def test_no_turn_no_anchor():
    assert anchors("zeppelin", TURNS) == {}


def test_anchors_of_one_session_are_dropped():
    found = {"bonfir": 2.0, "weather": 1.0}
    assert recurring(found, TURNS[:2]) == {"bonfir": 2.0}
    assert list(recurring(found, TURNS)) == ["bonfir", "weather"]


def test_a_link_lifts_a_turn_over_one_that_is_a_little_better():
    better, plain, link = (
        Scored(said(20 * i, "Mara", text), score, score, 1.0, frozenset())
        for i, (text, score) in enumerate([("first", 9.0), ("other", 5.0), ("bonfire", 4.9)])
    )
    found = linked([better, plain, link], {"bonfir": 1.0}, 2.0, RECIPE)
    assert found == [(better, False), (link, True), (plain, False)]
    assert linked([better, plain, link], {}, 2.0, RECIPE) == [
        (better, False),
        (plain, False),
        (link, False),
    ]


words = st.sampled_from(["boat", "harbour", "sail", "rain", "paint", "cliff", "storm"])
texts = st.lists(words, min_size=1, max_size=6).map(" ".join)


@given(st.lists(texts, min_size=1, max_size=20), texts)
def test_linking_keeps_every_turn_and_moves_none_beyond_the_share(lines, question):
    turns = [said(i, "Mara", line, session=f"s{i // 3}") for i, line in enumerate(lines)]
    index = MemoryIndex(turns)
    core = score_turns(turns, read_question(question, index), index.mean_terms)
    found = [item for item, _ in linked(core, anchors(question, turns), index.mean_terms, RECIPE)]
    assert sorted(item.turn.id for item in found) == sorted(item.turn.id for item in core)
    margin = RECIPE.link * max((item.score for item in core), default=0.0)
    for before, after in pairwise(found):
        assert before.score >= after.score - margin - 1e-9
