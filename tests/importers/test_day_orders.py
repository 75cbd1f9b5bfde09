"""Which number of a date is the day: proven by the file or left open."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.importers.day_orders import day_of, order_of_days, possible_orders

YEAR_FIRST_SHORT = [(23, 5, 31), (23, 6, 1), (24, 1, 15)]


@pytest.mark.parametrize(
    ("dates", "order"),
    [
        ([(30, 12, 2020), (2, 1, 2021)], "dmy"),
        ([(12, 24, 23), (1, 3, 24)], "mdy"),
        ([(2024, 12, 1)], "ymd"),
        ([(27, 11, 18)], "dmy"),
        (YEAR_FIRST_SHORT, "ymd"),
        ([(3, 4, 2021), (5, 4, 2021)], None),
        ([(4, 4, 2021), (5, 5, 2021)], "dmy"),  # either order reads them alike
        ([(1402, 3, 10)], None),  # another calendar
        ([(24, 3, 4)], "ymd"),  # a chat of 2004 is none
        ([], None),
    ],
)
def test_what_dates_prove(dates, order):
    assert order_of_days(dict.fromkeys(dates)) == order


def test_a_pasted_date_does_not_outvote_a_file():
    dates = [(day, 1, 2021) for day in range(1, 32)] + [(1, 20, 2021)]
    assert order_of_days(dates) == "dmy"


def test_what_is_left_open_is_named():
    assert possible_orders([(3, 4, 2021)]) == ["dmy", "mdy"]
    assert possible_orders([(1402, 3, 10)]) == []


@given(
    days=st.lists(st.dates(date(2010, 1, 1), date(2030, 1, 1)), min_size=1, max_size=30),
    order=st.sampled_from(["dmy", "mdy", "ymd"]),
)
def test_four_digit_years_are_never_read_in_an_order_that_was_not_meant(days, order):
    parts = [{"d": day.day, "m": day.month, "y": day.year} for day in sorted(days)]
    numbers = [tuple(each[letter] for letter in order) for each in parts]
    found = order_of_days(dict.fromkeys(numbers))
    if found:
        assert [day_of(each, found) for each in numbers] == sorted(days)


def test_a_run_of_days_proves_the_order_even_with_short_years():
    days = [date(2023, 11, 20) + timedelta(days=k) for k in range(90)]
    for order, read in (("dmy", "%d %m %y"), ("mdy", "%m %d %y"), ("ymd", "%y %m %d")):
        numbers = [tuple(map(int, day.strftime(read).split())) for day in days]
        assert order_of_days(numbers) == order
