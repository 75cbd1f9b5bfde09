"""Which number of a numeric date is the day: one decision for a whole file.

``3/4/2021`` names a day only together with the other dates of its file: a number above twelve
is no month, and messages stand in the order of time. Where no date proves an order the answer
is None, never a guess. Pure.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from itertools import pairwise
from typing import get_args

from memcli.importers.contract import DateOrder

Numbers = tuple[int, int, int]
"""The three numbers of a date as they stand in the text."""

CLEAR = 10
"""So many times more dates must speak against another order than against the one taken."""
FIRST_YEAR, LAST_YEAR = 1990, 2200
"""Four-digit years outside are of another calendar."""
FIRST_CHAT = 2009
"""No phone has exported a chat of an earlier year; used to decide, not to read."""
_ORDERS: tuple[DateOrder, ...] = get_args(DateOrder)


def day_of(numbers: Numbers, order: DateOrder) -> date | None:
    """Return the date that numbers name in an order, two-digit years being of this century."""
    named = dict(zip(order, numbers, strict=True))
    year = named["y"] + 2000 if named["y"] < 100 else named["y"]
    try:
        return date(year, named["m"], named["d"]) if FIRST_YEAR <= year <= LAST_YEAR else None
    except ValueError:
        return None


def possible_orders(dates: Collection[Numbers]) -> list[DateOrder]:
    """Return the orders that the dates of a file leave open, [] for no readable date.

    An order is out where far more dates (`CLEAR`) contradict it than contradict the best one,
    or all do. Dates that no order reads have no say. That a year of two digits stands first is
    held against `ymd` once: one impossible date (``31.02.24``) does not prove it.
    """
    fitting = [found for numbers in dates if (found := _fitting(numbers))]
    wrong = {order: sum(order not in found for found in fitting) for order in _ORDERS}
    if len(fitting) > 1 and all(first <= 31 for first, _, _ in dates):
        wrong["ymd"] += 1
    limit = CLEAR * min(wrong.values())
    return [order for order in _ORDERS if wrong[order] <= limit and wrong[order] < len(fitting)]


def order_of_days(dates: Collection[Numbers]) -> DateOrder | None:
    """Return the order that all dates of a file prove together, or None.

    Args:
        dates: The distinct dates in the order in which they first stand.

    Where all orders left open read every date alike, the first of them. A year of two digits
    stands last, unless the file runs forward in time only if it stands first.
    """
    left: list[DateOrder] = possible_orders(dates)
    if "ymd" in left and len(left) > 1:
        back = {order: _steps_back(dates, order) for order in left}
        others: list[DateOrder] = [order for order in left if order != "ymd"]
        is_forward = all(CLEAR * back["ymd"] < back[order] for order in others)
        left = ["ymd"] if is_forward else others
    agree = all(len({day_of(numbers, order) for order in left}) == 1 for numbers in dates)
    return left[0] if len(left) == 1 or (left and agree) else None


def _fitting(numbers: Numbers) -> list[DateOrder]:
    """Return the orders in which the numbers are a date of a chat."""
    days = {order: day_of(numbers, order) for order in _ORDERS}
    return [order for order, day in days.items() if day and day.year >= FIRST_CHAT]


def _steps_back(dates: Collection[Numbers], order: DateOrder) -> int:
    """Return how many dates are earlier than the one before them."""
    days = [day for numbers in dates if (day := day_of(numbers, order))]
    return sum(later < earlier for earlier, later in pairwise(days))
