"""Which words of a question are searched, and which only tell when."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.evidence.dates import Window, read_dates
from memcli.evidence.question_words import asked_words, asks_only_when, date_words
from memcli.search.tokens import ASKS, tokens

AS_OF = datetime(2023, 6, 14, 10, tzinfo=UTC)


def windows(text: str) -> tuple[Window, ...]:
    return read_dates(text, reference=AS_OF, tz=UTC).windows


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Who sailed last summer?", "who sail summer"),
        ("Who sailed two weeks ago?", "who sail"),
        ("Who sailed 2 weeks ago?", "who sail"),
        ("Who sailed yesterday?", "who sail"),
        ("Who sailed last Saturday?", "who sail on"),
        ("Who sailed last May?", "who sail may"),
        ("Who sailed on 8 May 2023?", "who sail on 8 may 2023"),
        (
            "Who sailed on the first weekend of May 2023?",
            "who sail on the first weekend of may 2023",
        ),
        ("What was the last book?", "what was the last book"),
        ("Which last book did she read last week?", "which last book did she read"),
    ],
)
def test_relative_words_of_an_understood_date_are_not_searched(question, words):
    assert set(asked_words(question, windows(question))) <= set(tokens(words))
    assert set(asked_words(question, windows(question))) >= set(tokens(words)) - {"on"}


def test_words_that_were_not_understood_as_a_date_are_searched():
    assert asked_words("last week") == ["last", "week"]


def test_date_words_are_those_of_the_window():
    text = "Who sailed in May 2023 or so?"
    assert date_words(text, windows(text)) == {"in", "may", "2023"}


@pytest.mark.parametrize(
    ("question", "only_when"),
    [
        ("What happened last summer?", True),
        ("yesterday", True),
        ("What did we talk about on 8 May 2023?", True),
        ("What did Mara say last week?", True),
        ("What did Odo say last week?", False),
        ("Who sailed last summer?", False),
        ("What happened?", False),
        ("", False),
    ],
)
def test_asks_only_when(question, only_when):
    assert asks_only_when(question, windows(question), ["Mara Lind"]) is only_when


@given(st.text())
def test_without_a_date_every_token_is_searched(text):
    assert asked_words(text) == [word for word in tokens(text) if word != ASKS]


pieces = st.lists(
    st.sampled_from(["last", "week", "may", "2023", "two", "days", "ago", "boat", "8", "on"]),
    max_size=8,
).map(" ".join)


@given(pieces)
def test_only_words_of_dates_are_left_out(text):
    found = windows(text)
    left_out = set(tokens(text)) - set(asked_words(text, found))
    assert left_out <= date_words(text, found)
