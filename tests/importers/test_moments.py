"""Stated times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.importers.moments import clock_on, is_clock, stated


@pytest.mark.parametrize(
    ("value", "at", "granularity", "assumed"),
    [
        ("2024-05-02T18:03:11+02:00", "2024-05-02T16:03:11+00:00", "second", False),
        ("2024-05-02T16:03:11Z", "2024-05-02T16:03:11+00:00", "second", False),
        ("2024-05-02T16:03:11.5Z", "2024-05-02T16:03:11.500000+00:00", "microsecond", False),
        ("2024-02-02T12:00:00.1234567Z", "2024-02-02T12:00:00.123456+00:00", "microsecond", False),
        ("2024-05-02 16:05", "2024-05-02T16:05:00+00:00", "minute", True),
        ("2024-05-02 16:05+02:00", "2024-05-02T14:05:00+00:00", "minute", False),
        ("2024-05-02", "2024-05-02T00:00:00+00:00", "day", True),
        (1714665800, "2024-05-02T16:03:20+00:00", "second", False),
        (1714500010.123456, "2024-04-30T18:00:10.123456+00:00", "microsecond", False),
        (1714665800123, "2024-05-02T16:03:20.123000+00:00", "microsecond", False),
        ("1714665800", "2024-05-02T16:03:20+00:00", "second", False),
        ("1709540000.000200", "2024-03-04T08:13:20.000200+00:00", "microsecond", False),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00+00:00", "minute", True),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00+00:00", "minute", True),
        ("12:00 pm on 1 January, 2023", "2023-01-01T12:00:00+00:00", "minute", True),
        ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21:00+00:00", "minute", True),
        ("2023/5/2", "2023-05-02T00:00:00+00:00", "day", True),
        ("8 May 2023", "2023-05-08T00:00:00+00:00", "day", True),
        ("May 8, 2023, 9:05 PM", "2023-05-08T21:05:00+00:00", "minute", True),
    ],
)  # fmt: skip
def test_every_known_form(value, at, granularity, assumed):
    moment = stated(value, UTC)
    assert (moment.at.isoformat(), moment.granularity, moment.zone_assumed) == (
        at,
        granularity,
        assumed,
    )


@pytest.mark.parametrize(
    "value",
    [
        None, True, "", "soon", "2024-02-30", "2024-13-01 10:00", "25:00 pm on 8 May, 2023",
        "13:00 pm on 8 May, 2023", "8 Mayhem 20234", "99 May 2023", "8 Foo 2023", 0, -5, 42,
        float("nan"), float("inf"), 1e40, 10**30, "9" * 40, "x" * 10_000,
        [], {}, "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "05/06/2023 10:00",
    ],
)  # fmt: skip
def test_what_is_no_time_is_unknown(value):
    assert stated(value, UTC) is None


def test_an_integer_beyond_all_floats_is_unknown():
    assert stated(10**400, UTC) is None


def test_a_text_without_zone_is_read_in_the_zone_given():
    moment = stated("2023/07/01 (Sat) 10:00", ZoneInfo("Europe/Paris"))
    assert moment.at == datetime(2023, 7, 1, 8, tzinfo=UTC)
    assert moment.zone_assumed


def test_a_bare_clock_takes_the_local_date():
    day = datetime(2024, 2, 11, 23, 30, tzinfo=UTC)
    moment = clock_on(day, "09:02", ZoneInfo("Asia/Tokyo"))
    assert moment.at == datetime(2024, 2, 12, 0, 2, tzinfo=UTC)
    assert clock_on(day, "29:02", UTC) is None
    assert is_clock("9:02 pm")
    assert not is_clock("2024-02-11 09:02")


@given(st.datetimes(datetime(1975, 1, 1), datetime(2200, 1, 1)), st.integers(-840, 840))
def test_iso_times_with_an_offset_come_back_exactly(naive, minutes):
    at = (naive - timedelta(minutes=minutes)).replace(tzinfo=UTC)
    sign, size = "-" if minutes < 0 else "+", abs(minutes)
    text = f"{naive.isoformat()}{sign}{size // 60:02}:{size % 60:02}"
    assert stated(text, UTC).at == at


@given(st.text(max_size=80) | st.integers() | st.floats() | st.booleans() | st.none())
def test_nothing_makes_it_fail(value):
    moment = stated(value, UTC)
    assert moment is None or moment.at.tzinfo is UTC
