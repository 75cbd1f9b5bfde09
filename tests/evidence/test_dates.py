"""Windows of days: the expressions of the benchmark, the laws, the edges, the speed of refusal."""

import runpy
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.evidence.date_words import may_hold_date
from memcli.evidence.dates import DateReading, read_dates

LISTS = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "dates.py"))
EXPRESSIONS = {**LISTS["THIRTY"], **LISTS["MORE"]}
QUESTION = LISTS["QUESTION"]
WEDNESDAY = datetime(2023, 6, 14, 10, tzinfo=UTC)


def read(text, reference=WEDNESDAY, tz=UTC):
    return read_dates(text, reference=reference, tz=tz)


def days(text, reference=WEDNESDAY, tz=UTC):
    """Return the windows of a text as pairs of ISO days, "" when open."""
    windows = read(text, reference, tz).windows
    return [(str(window.start or ""), str(window.end or "")) for window in windows]


def wanted(expected):
    return [] if expected == ("", "") else [expected]


@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS.items(), ids=EXPRESSIONS)
def test_expression_alone_and_inside_a_question(text, expected):
    assert days(text) == wanted(expected)
    assert days(QUESTION.format(text)) == wanted(expected)


@pytest.mark.parametrize("text", LISTS["DATE_FREE"])
def test_date_free_text_gives_nothing(text):
    assert read(text).windows == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on Wednesday", ("2023-06-07", "2023-06-07")),  # one would say "today"
        ("last Wednesday", ("2023-06-07", "2023-06-07")),
        ("this coming Friday", ("2023-06-16", "2023-06-16")),
        ("the weekend before last", ("2023-06-03", "2023-06-04")),
        ("two Fridays ago", ("2023-06-02", "2023-06-02")),
        ("a few days ago", ("2023-06-09", "2023-06-12")),
        ("one year ago today", ("2022-06-14", "2022-06-14")),
        ("half a year ago", ("2022-12-01", "2022-12-31")),
        ("earlier this year", ("2023-01-01", "2023-06-14")),
        ("later this week", ("2023-06-14", "2023-06-18")),
        ("in May and June", ("2023-05-01", "2023-06-30")),
        ("in May or June 2022", ("2022-05-01", "2022-06-30")),
        ("March–June 2023", ("2023-03-01", "2023-06-30")),
        ("from May 2022 to July", ("2022-05-01", "2022-07-31")),
        ("from June to March 2023", ("2022-06-01", "2023-03-31")),
        ("from 10 May onwards", ("2023-05-10", "")),
        ("the month before May 2023", ("2023-04-01", "2023-04-30")),
        ("the day after Christmas", ("2022-12-26", "2022-12-26")),
        ("winter 2022", ("2022-12-01", "2023-02-28")),
        ("last winter", ("2022-12-01", "2023-02-28")),
        ("on Thanksgiving", ("2022-11-24", "2022-11-24")),
        ("in late summer 2022", ("2022-08-01", "2022-08-31")),
        ("early last week", ("2023-06-05", "2023-06-06")),
        ("in the early 1990s", ("1990-01-01", "1993-04-30")),
        ("in the last week of February 2024", ("2024-02-23", "2024-02-29")),
        ("on the second Tuesday of March 2023", ("2023-03-14", "2023-03-14")),
        ("on 5/6/2023", ("2023-05-06", "2023-05-06")),  # month first with slashes
        ("on 5.6.2023", ("2023-06-05", "2023-06-05")),  # day first with dots
        ("8 мая 2023", ("2023-05-08", "2023-05-08")),
        ("5 mars 2022", ("2022-03-05", "2022-03-05")),
    ],
)
def test_choice_documented_in_the_module(text, expected):
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("year", "sunday"),
    [(2000, "04-23"), (2008, "03-23"), (2019, "04-21"), (2024, "03-31"), (2038, "04-25")],
)
def test_easter_falls_on_its_sunday(year, sunday):
    assert days(f"at Easter {year}") == [(f"{year}-{sunday}", f"{year}-{sunday}")]


@pytest.mark.parametrize(
    "text",
    [
        "the 31st of April",
        "2023-13-45",
        "9999 years ago",
        "in the fifth week of February",
        "the next week",  # of the story, not of the reference
        "in the past",
        "3 mars bars",
        "on the 8th floor",
        "v2023.05.08",
        "/logs/2023/05/08/app.log",
    ],
)
def test_no_such_day_or_no_date(text):
    assert days(text) == []


def test_of_an_impossible_day_the_possible_month_stays():
    assert days("on the 31st of April 2023") == [("2023-04-01", "2023-04-30")]
    assert days("in the fifth week of April 2023") == [("2023-04-29", "2023-04-30")]


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("two weeks before my birthday", "two weeks before my birthday"),
        ("Who called the day after the wedding?", "the day after the wedding"),
        ("What broke 3 days after Mara's party in the barn?", "3 days after Mara's party"),
    ],
)
def test_unknown_anchor_is_named_and_gives_no_window(text, anchor):
    assert read(text) == DateReading((), (anchor,))


def test_windows_come_in_order_with_their_words_and_slack():
    text = "Two weeks ago Odo sailed, last year he did not, and am 8. März 2021 he could not."
    reading = read(text)
    assert [window.text for window in reading.windows] == [
        "Two weeks ago",
        "last year",
        "8. März 2021",
    ]
    assert [window.slack for window in reading.windows] == [3, 0, 0]


def test_the_longest_reading_wins():
    assert [window.text for window in read("the last Friday of May 2022").windows] == [
        "the last Friday of May 2022"
    ]


def test_the_zone_decides_which_day_it_is():
    late = datetime(2023, 6, 14, 23, tzinfo=UTC)
    assert days("today", late, ZoneInfo("Asia/Tokyo")) == [("2023-06-15", "2023-06-15")]
    assert days("today", late, ZoneInfo("America/Lima")) == [("2023-06-14", "2023-06-14")]


def test_a_stated_offset_moves_the_day_into_the_zone():
    text = "at 2023-05-20T23:30:00-05:00"
    assert days(text) == [("2023-05-21", "2023-05-21")]
    assert days(text, tz=timezone(timedelta(hours=-5))) == [("2023-05-20", "2023-05-20")]


def test_a_moment_that_the_zone_pushes_out_of_the_calendar_gives_nothing():
    assert days("today", datetime(9999, 12, 31, 23, tzinfo=UTC), ZoneInfo("Asia/Tokyo")) == []


def test_a_naive_reference_is_refused():
    with pytest.raises(ValueError, match="zone"):
        read_dates("yesterday", reference=datetime(2023, 6, 14), tz=UTC)


def test_common_questions_do_not_import_dateparser():
    program = (
        "import sys; from datetime import UTC, datetime\n"
        "from memcli.evidence.dates import read_dates\n"
        "for text in ('on 8 May 2023', 'in 2022', '3 days ago', '2023-05-08', 'march on'):\n"
        "    read_dates(text, reference=datetime(2023, 6, 14, tzinfo=UTC), tz=UTC)\n"
        "sys.exit('dateparser' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("text", [text for text in EXPRESSIONS if text != "2023年5月8日"])
@pytest.mark.parametrize("frame", ["{}", "({}),", "“{}”!", "So, {}: what then?"])
def test_punctuation_around_an_expression_changes_nothing(text, frame):
    assert days(frame.format(text)) == wanted(EXPRESSIONS[text])


PLAIN = [text for text in EXPRESSIONS if not text.startswith(("am ", "el ", "2023年"))]


@pytest.mark.parametrize("text", PLAIN)
def test_upper_case_changes_nothing(text):
    assert days(text.upper()) == wanted(EXPRESSIONS[text])


WORDS = st.sampled_from(
    sorted({word for text in EXPRESSIONS for word in text.split()})
    + sorted({word for text in LISTS["DATE_FREE"] for word in text.split()})
    + ["0", "31", "1999", "99999", "30 February", "٣", "²", "1e9", "the", "of", "ago", "\x00"]
)
MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.lists(WORDS, max_size=12).map(" ".join)), MOMENTS)
def test_any_text_at_any_time_is_read_without_error(text, reference):
    previous = 0
    for window in read(text, reference).windows:
        start, end = window.span
        assert window.text == text[start:end] != ""
        assert previous <= start
        previous = end
        assert (window.start or date.min) <= (window.end or date.max)
        assert window.start or window.end


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 99),
    st.sampled_from(["mai", "juin", "de febrero de", "мая", "mars", "ağustos", "월"]),
    st.sampled_from(["", "2024", "0001", "9999"]),
    MOMENTS,
)
def test_foreign_shapes_give_that_day_or_nothing(day, month, year, reference):
    for window in read(f"{day} {month} {year}".strip(), reference).windows:
        assert window.start == window.end
        assert window.start.day == day


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(
        ["last Friday", "on Monday", "last week", "this weekend", "3 days ago", "since Sunday",
         "the past 10 days", "two weeks ago", "next Tuesday", "from Monday to Friday"]
    ),
    st.datetimes(datetime(1950, 1, 1), datetime(2150, 1, 1), timezones=st.just(UTC)),
    st.integers(-500, 500),
)  # fmt: skip
def test_shifting_the_reference_by_weeks_shifts_the_window(text, reference, weeks):
    shift = timedelta(weeks=weeks)
    (here,), (there,) = read(text, reference).windows, read(text, reference + shift).windows
    assert (there.start, there.end) == (here.start + shift, here.end + shift)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(EXPRESSIONS)), st.datetimes(timezones=st.just(UTC)))
def test_a_text_with_a_date_passes_the_fast_refusal(text, reference):
    assert may_hold_date(text)
    assert may_hold_date(QUESTION.format(text.upper()))


@pytest.mark.parametrize(
    "piece",
    [
        "1-",
        "may ",
        "a week before ",
        "from May to ",
        "2023-05-",
        "the last ",
        "first week of ",
        "'s ",
        "early in ",
        "1 of ",
        "9" * 50,
    ],
)
def test_long_repetitions_are_read_in_linear_time(piece):
    """Ten times the text may cost at most about ten times the steps, counted by a tracer."""
    short, long = (_steps(piece * count) for count in (60, 600))
    assert long <= 14 * short + 2000


def _steps(text):
    count = 0

    def tracer(frame, event, argument):
        nonlocal count
        count += 1
        return tracer

    previous = sys.gettrace()
    sys.settrace(tracer)
    try:
        read(text)
    finally:
        sys.settrace(previous)
    return count
