"""Routing: channels, budgets, the time gate, scope, tiers and reasons."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from evidence.memory_index import MemoryIndex
from evidence.ranking_turns import TALK, said
from hypothesis import given
from hypothesis import strategies as st

from memcli.evidence.route import Budgets, Routed, is_inside, route
from memcli.records.indexed import IndexedTurn, Scope

AS_OF = datetime(2023, 6, 14, 10, tzinfo=UTC)
CASE = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "12-search-punctuation"


def ask(text: str, turns: list[IndexedTurn], **options) -> Routed:
    return route(text, MemoryIndex(turns), **{"as_of": AS_OF, "tz": UTC, **options})


def many_days() -> list[IndexedTurn]:
    """Forty sessions, one a day from 1 May 2023, each with a mention of soup."""
    return [
        said(
            10 * day + i,
            "Mara" if i % 2 else "Odo",
            f"{'soup' if i == 3 else 'talk'} number {day} about w{day}x{i}",
            session=f"s{day}",
            time=f"2023-{5 + day // 31:02}-{day % 31 + 1:02}T1{i}:00:00Z",
        )
        for day in range(40)
        for i in range(6)
    ]


def test_positions_are_shared_by_budget_and_ranked_by_score():
    routed = ask("soup number talk", many_days())
    assert [item.rank for item in routed.ranked] == list(range(1, 19))
    scores = [item.score for item in routed.ranked]
    assert scores == sorted(scores, reverse=True)
    assert routed.windows == ()
    assert {item.channel for item in routed.ranked} <= {"episode", "cooccurrence"}


def test_the_time_channel_opens_only_for_a_named_span():
    routed = ask("Who cooked soup on 20 May 2023?", many_days())
    assert [(w.start, w.end) for w in routed.windows] == [
        (datetime(2023, 5, 20).date(), datetime(2023, 5, 20).date())
    ]
    timed = [item for item in routed.ranked if item.channel == "time"]
    assert 1 <= len(timed) <= Budgets().time
    for item in timed:
        assert "2023-05-20" <= item.turn.time <= "2023-05-28"
        assert "20 May 2023" in item.why


def test_a_day_alone_brings_what_was_said_on_it():
    routed = ask("yesterday", [t for t in many_days() if t.session in {"s0", "s9"}])
    assert routed.ranked == ()
    turns = [said(1, "Mara", "unrelated words", time="2023-06-13T10:00:00Z")]
    (only,) = ask("yesterday", turns).ranked
    assert (only.turn.id, only.channel) == ("t1", "time")
    assert only.why == 'on 2023-06-13, named by "yesterday"'


BOAT = [
    said(0, "Mara", "I bought the boat last Saturday", session="a", time="2023-03-03T10:00:00Z"),
    said(10, "Mara", "We sailed to an island", session="b", time="2022-07-10T10:00:00Z"),
    said(11, "Odo", "Lovely, the sea was calm", session="b", time="2022-07-10T10:01:00Z"),
]


@pytest.mark.parametrize("question", ["What happened last summer?", "in July 2022"])
def test_a_question_for_days_alone_is_answered_by_their_turns(question):
    routed = ask(question, BOAT)
    assert [(item.turn.id, item.channel) for item in routed.ranked] == [
        ("t10", "time"),
        ("t11", "time"),
    ]
    assert (routed.tier, routed.notes) == ("weak", ())


def test_whom_a_question_for_days_names_comes_first_and_other_days_last():
    routed = ask("What did Odo say last summer?", BOAT)
    assert [item.turn.id for item in routed.ranked] == ["t11", "t10"]
    routed = ask("What did Mara say last summer?", BOAT)
    assert [item.turn.id for item in routed.ranked] == ["t10", "t11", "t0"]


def test_a_span_fills_every_position_when_nothing_else_is_asked():
    routed = ask("What happened in May 2023?", many_days())
    assert len(routed.ranked) == 18
    assert all(item.turn.time.startswith("2023-05") for item in routed.ranked)
    assert {item.channel for item in routed.ranked} == {"time"}


def test_relative_words_of_a_date_match_nothing():
    (best, *_) = ask("Who was on an island last summer?", BOAT).ranked
    assert best.turn.id == "t10"
    assert all('"last"' not in item.why for item in ask("boat last week", BOAT).ranked)


def test_days_are_those_of_the_zone():
    turns = [said(1, "Mara", "soup", time="2023-06-13T02:00:00Z")]
    local = ask("yesterday", turns, tz=ZoneInfo("America/New_York"))
    assert local.ranked == ()
    assert ask("yesterday", turns, tz=UTC).ranked[0].channel == "time"


def trips() -> list[IndexedTurn]:
    """Two trips told in shared words, of which only the first is called camping; then talk."""
    return [
        said(0, "Mara", "We went camping, with marshmallows around the bonfire", session="a"),
        said(50, "Mara", "Then the bonfire and marshmallows once more, by a lake", session="b"),
        *(said(100 + 20 * i, "Mara", f"Mara w{i} v{i} u{i}", session=f"s{i}") for i in range(3)),
    ]


def test_cooccurrence_follows_rare_words_of_the_best_turns_to_other_sessions():
    routed = ask("camping Mara", trips(), budgets=Budgets(positions=2, episode=1))
    alone = ask("camping Mara", trips(), budgets=Budgets(positions=2, cooccurrence=0))
    assert "t50" not in {item.turn.id for item in alone.ranked}
    assert set(routed.anchors) == {"bonfir", "marshmallow"}
    (found,) = [item for item in routed.ranked if item.turn.id == "t50"]
    assert found.channel == "cooccurrence"
    assert found.why.startswith('shares "bonfir", "marshmallow" (stems) with the best turns')


def test_without_positions_for_cooccurrence_no_anchor_is_followed():
    routed = ask("camping Mara", trips(), budgets=Budgets(cooccurrence=0))
    assert routed.anchors == ()
    assert {item.channel for item in routed.ranked} == {"episode"}


def test_unfilled_positions_fall_to_the_core():
    routed = ask("harbour", TALK)
    assert {item.turn.id for item in routed.ranked} == {turn.id for turn in TALK}
    assert Counter(item.channel for item in routed.ranked) == {"episode": 6}


@pytest.mark.parametrize("budgets", [Budgets(positions=0), Budgets(positions=3, episode=5)])
def test_positions_are_a_hard_limit(budgets):
    routed = ask("soup on 20 May 2023", many_days(), budgets=budgets)
    assert len(routed.ranked) == budgets.positions


@pytest.mark.parametrize(
    ("scope", "inside"),
    [
        (Scope(speaker="mara"), lambda t: t.speaker == "Mara"),
        (Scope(session="s3"), lambda t: t.session == "s3"),
        (Scope(conversation="other"), lambda t: False),
        (Scope(since=1683676800), lambda t: t.time >= "2023-05-10"),
        (Scope(until=1683676799), lambda t: t.time < "2023-05-10"),
    ],
)
def test_a_scope_holds_for_every_turn(scope, inside):
    turns = many_days()
    assert [is_inside(turn, scope) for turn in turns] == [inside(turn) for turn in turns]
    assert all(inside(item.turn) for item in ask("soup talk", turns, scope=scope).ranked)


@pytest.mark.parametrize(
    ("question", "tier"),
    [
        ("Which harbour did they sail to?", "match"),
        ("Did the zeppelin reach the harbour?", "weak"),
        ("Who repaired the zeppelin?", "none"),
        ("***", "none"),
        ('"', "none"),
    ],
)
def test_tiers(question, tier):
    assert ask(question, TALK).tier == tier


def test_a_question_without_words_says_so():
    routed = ask("?!", TALK)
    assert routed.ranked == ()
    assert routed.notes == ("the question holds no word to search for",)


def test_an_unknown_date_anchor_is_noted():
    (note,) = ask("What happened two weeks before my birthday?", TALK).notes
    assert "birthday" in note


def test_reasons_quote_the_question():
    best = ask("Which harbour did Mara sail to?", TALK).ranked[0]
    assert best.why == 'matches "harbour", "sail"; said by Mara'


def test_an_empty_store_has_no_evidence():
    routed = ask("anything at all", [])
    assert (routed.ranked, routed.tier) == ((), "none")


def test_public_case_of_punctuation():
    if not CASE.exists():
        pytest.skip("the public cases are not beside this checkout")
    lines = (CASE / "input" / "messages.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["content"] for line in lines]
    turns = [said(20 * i, None, text) for i, text in enumerate(texts)]
    expected = {
        "don't use agents": "Please don't use agents here",
        "Downloads/transcripts": "Saved in Downloads/transcripts",
        "ask-codex": "run ask-codex on it",
        "20.04": "ubuntu 20.04 box",
        '"--error-on-warnings"': 'flag "--error-on-warnings" fails',
        "C++": "C++ or C",
    }
    first = {q: texts[int(ask(q, turns).ranked[0].turn.id[1:]) // 20] for q in expected}
    assert first == expected
    found = {texts[int(item.turn.id[1:]) // 20] for item in ask("OR", turns).ranked}
    assert found >= {"C++ or C", "Portland, OR is wet"}


words = st.sampled_from(["soup", "boat", "harbour", "the", "Mara", "?", "cliff", "yesterday"])
texts = st.lists(words, min_size=1, max_size=6).map(" ".join)


@given(st.lists(texts, min_size=1, max_size=30), texts, st.randoms())
def test_ingest_order_changes_nothing_and_no_turn_comes_twice(lines, question, random):
    turns = [
        said(i, "Mara", line, session=f"s{i // 5}", time=f"2023-06-{i % 14 + 1:02}T10:00:00Z")
        for i, line in enumerate(lines)
    ]
    routed = ask(question, turns)
    assert routed == ask(question, random.sample(turns, len(turns)))
    ids = [item.turn.id for item in routed.ranked]
    assert len(ids) == len(set(ids)) <= 18
