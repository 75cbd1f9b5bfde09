"""A table of numbers behaves as a dictionary does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.importers.table import Table

NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-3, 3)


@given(st.lists(st.tuples(NUMBERS.filter(lambda key: key != 1), NUMBERS)))
def test_it_agrees_with_a_dictionary(pairs):
    table, plain = Table(), dict[int, int]()
    for key, value in pairs:
        table.put(key, value)
        plain[key] = value
    assert len(table) == len(plain)
    assert {key: table.get(key) for key in plain} == plain


def test_it_grows():
    table = Table()
    for number in range(20_000):
        table.put(number << 40, number)
    assert all(table.get(number << 40) == number for number in range(20_000))
    assert table.get(-7) is None
    assert -7 not in table
