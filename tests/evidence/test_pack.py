"""A pack is in order, within its budget whatever the text, and honest about what it leaves out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.budgets import count_tokens, count_tokens_batch
from memcli.evidence.lines import SHORT_ID, evidence_line, line_overhead_tokens
from memcli.evidence.pack import GAP, excerpt, pack
from memcli.records.evidence import Source, Turn, spoken_line
from memcli.records.indexed import IndexedTurn
from memcli.records.pack import Ranked
from memcli.search.passages import LONG_TURN_TOKENS, measured_passages, split_passages

START = datetime(2024, 3, 1, 9, tzinfo=UTC)


def make_turn(number: int, text: str, *, speaker: str | None = "Mara", **extra) -> Turn:
    time = (START + timedelta(days=number)).strftime("%Y-%m-%dT%H:%M:%SZ")
    turn = Turn(
        id=f"t{number:016d}",
        conversation="c",
        session="s",
        seq=number,
        speaker=speaker,
        role="user",
        text=text,
        time=time,
        time_granularity="minute",
        source=Source(format="note", file="f"),
        **extra,
    )
    return replace(turn, tokens=count_tokens(spoken_line(speaker, text, turn.caption)))


def rank_all(turns: list[Turn]) -> list[Ranked]:
    """Rank turns in the order given."""
    return [
        Ranked(
            turn=IndexedTurn(
                id=turn.id,
                conversation=turn.conversation,
                session=turn.session,
                seq=turn.seq,
                speaker=turn.speaker,
                role=turn.role,
                branch=turn.branch,
                time=turn.time,
                tokens=turn.tokens,
                offset=0,
                length=1,
                terms="",
                passages=measured_passages(turn.text, turn.tokens, count_tokens_batch),
            ),
            rank=rank,
            channel="episode",
            score=1 / rank,
            why="",
        )
        for rank, turn in enumerate(turns, 1)
    ]


def packed(turns: list[Turn], budget: int | None, **weights: float):
    return pack(rank_all(turns), {turn.id: turn for turn in turns}, weights, budget)


def real_tokens(result, *, with_id: bool = True) -> int:
    lines = [
        evidence_line(n, e.turn, e.text, UTC, with_id=with_id)
        for n, e in enumerate(result.evidence, 1)
    ]
    indented = ["\n ".join(line.splitlines()) for line in lines]
    return max(count_tokens("\n".join(each) + "\n") if each else 0 for each in (lines, indented))


texts = st.one_of(
    st.text(max_size=400),
    st.text(alphabet="ab \n.,\r\x0b", max_size=900),
    st.lists(st.sampled_from(["boat", "kiln", "我八点到", "🐕", "x" * 60, "\n\n"])).map(" ".join),
    st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=500),
)


@given(
    st.lists(st.tuples(texts, st.sampled_from([None, "Mara", "Ægir O'Dea 😀"])), max_size=18),
    st.integers(50, 2000),
)
def test_a_pack_never_exceeds_its_budget_in_real_tokens(said, budget):
    turns = [make_turn(n, text, speaker=who) for n, (text, who) in enumerate(said)]
    result = packed(turns, budget, boat=2.0, kiln=1.0)
    assert real_tokens(result) <= result.tokens <= budget
    assert len(result.evidence) + result.dropped == len(turns)


@given(st.lists(texts, max_size=8))
def test_without_a_budget_everything_is_shown_verbatim(said):
    turns = [make_turn(n, text) for n, text in enumerate(said)]
    result = packed(turns, None)
    assert [e.text for e in result.evidence] == said
    assert not any(e.is_excerpt for e in result.evidence)


def test_lines_are_chronological_and_keep_their_rank():
    turns = [make_turn(n, f"turn {n}") for n in (5, 1, 3)]
    result = packed(turns, 1500)
    assert [e.turn.seq for e in result.evidence] == [1, 3, 5]
    assert [e.rank for e in result.evidence] == [2, 3, 1]


def test_over_budget_the_lowest_ranks_go_first():
    turns = [make_turn(n, "word " * 40) for n in range(10)]
    result = packed(turns, 300)
    assert sorted(e.rank for e in result.evidence) == list(range(1, len(result.evidence) + 1))
    assert result.dropped == 10 - len(result.evidence) > 0


def test_a_long_turn_is_cut_around_its_matches_and_marked():
    filler = "Nothing to see here, move along please. " * 60
    turn = make_turn(1, filler + "The kiln broke on Thursday. " + filler)
    others = [make_turn(n, "short") for n in range(2, 8)]
    result = packed([turn, *others], 400, kiln=3.0)
    (shown,) = [e for e in result.evidence if e.is_excerpt]
    assert "The kiln broke on Thursday." in shown.text
    assert GAP.strip() in shown.text
    assert len(shown.text) < len(turn.text)
    pieces = [piece.strip() for piece in shown.text.split(GAP.strip()) if piece.strip()]
    assert all(piece in turn.text for piece in pieces)


def test_a_turn_without_matches_is_cut_to_its_beginning():
    text = "First words. " + "More and more of it. " * 200
    shown, _ = excerpt(text, measured_passages(text, 999, count_tokens_batch), 999, {}, 60)
    assert shown.startswith("First words.")


@given(texts)
def test_passages_cover_the_text_in_order(text):
    starts = split_passages(text)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert all(start < max(1, len(text)) for start in starts)


def test_short_turns_have_no_passages():
    assert measured_passages("a b c", LONG_TURN_TOKENS, count_tokens_batch) == ()


@pytest.mark.parametrize("branch", ["active", "abandoned", "sidechain"])
@pytest.mark.parametrize("speaker", [None, "Mara"])
@given(
    number=st.integers(1, 99),
    id_=st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=16),
    at=st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
)
def test_what_a_line_adds_stays_within_the_counted_overhead(branch, speaker, number, id_, at):
    turn = Turn(
        id="t" + id_,
        conversation="c",
        session="s",
        seq=0,
        speaker=speaker,
        role="assistant",
        text="word",
        time=at.replace(tzinfo=UTC).isoformat(),
        time_granularity="minute",
        source=Source(format="note", file="f"),
        branch=branch,
    )
    line = evidence_line(number, turn, turn.text, UTC, with_id=True) + "\n"
    said = count_tokens(spoken_line(speaker, turn.text, None))
    assert count_tokens(line) <= said + line_overhead_tokens(turn) + 2


def test_a_line_shows_number_id_day_and_no_more_than_is_known():
    turn = make_turn(3, "hello", caption="a dog")
    line = evidence_line(2, turn, turn.text, UTC, with_id=True)
    assert line == f"[2] {turn.id[:SHORT_ID]} Mon 4 Mar 2024 09:00 Mara: hello [image: a dog]"
    day = replace(turn, time_granularity="day")
    assert "09:00" not in evidence_line(2, day, day.text, UTC, with_id=False)
    undated = replace(turn, time=None)
    assert "undated" in evidence_line(2, undated, undated.text, UTC, with_id=False)
