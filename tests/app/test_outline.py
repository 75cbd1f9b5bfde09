"""A long transcript in outline, and where one begins within another."""

from __future__ import annotations

from array import array
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.app.outline import Outline, shared_beginning

FEW = st.lists(st.integers(0, 2), max_size=30)


def numbers(values):
    return array("q", values)


@pytest.mark.parametrize(
    ("stored", "told", "shared"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], 4),
        ([1, 2, 3, 4], [1, 2, 3, 4, 5, 6], 4),
        ([1, 2, 3, 4], [1, 2, 3], 3),
        ([1, 2], [1, 2, 3, 4], 2),
        ([1, 2, 3, 4, 5, 6], [3, 4, 5, 6, 7, 8], 4),
        ([1, 2, 3, 4, 5, 6], [3, 4, 5], 3),
        ([1, 2, 3, 9, 1, 2, 3, 4], [1, 2, 3, 4, 5], 4),
        ([1, 2, 3, 4], [9, 1, 2, 3, 4], None),
        ([1, 2, 3, 4, 5], [1, 2, 3, 9, 5], None),
        ([1, 2, 3, 4], [3, 4, 5, 6], None),
    ],
    ids=[
        "same", "grown", "shorter", "tiny", "later", "within", "begun twice",
        "earlier", "edited", "too little",
    ],
)  # fmt: skip
def test_how_much_two_transcripts_share(stored, told, shared):
    assert shared_beginning(numbers(stored), numbers(told)) == shared


@given(stored=FEW, more=FEW, skipped=st.integers(0, 30))
def test_what_is_shared_is_there(stored, more, skipped):
    told = [*stored[skipped:], *more]
    shared = shared_beginning(numbers(stored), numbers(told))
    if shared is not None:
        places = range(len(stored) - shared + 1)
        assert any(stored[at : at + shared] == told[:shared] for at in places)
    elif skipped + 3 <= len(stored):
        pytest.fail("a stretch of three turns was not found")


@given(size=st.integers(0, 3_000))
def test_an_outline_is_small_and_reaches_everywhere(size):
    outline = Outline()
    prints = [f"p{number}" for number in range(size)]
    for each in prints:
        outline.add(each)
    asked = outline.asked
    assert len(outline.numbers) == size
    assert len(asked) <= 400
    assert {*prints[:1], *prints[-1:]} <= {*asked}
    places = sorted(int(each[1:]) for each in asked)
    assert all(b - a <= max(1, size // 50) for a, b in pairwise(places))
