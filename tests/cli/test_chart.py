"""A curve in the terminal: every point is in it, whatever its values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.cli._chart import chart, moving_mean, short


def drawn(lines: list[str]) -> list[str]:
    """The lines of the drawing itself, without labels."""
    return [line.partition("│")[2] for line in lines if "│" in line]


def test_a_rising_line_goes_from_the_lower_left_to_the_upper_right():
    lines = list(chart([(0, 0.0), (1, 1.0)], width=24, height=3))
    assert lines == [
        "       1 │⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⡠⠤⠒⠉",
        "   0.667 │⠀⠀⠀⠀⢀⣀⠤⠒⠉⠁⠀⠀⠀⠀",
        "       0 │⣀⠤⠒⠊⠁⠀⠀⠀⠀⠀⠀⠀⠀⠀",
        "         └──────────────",
        "          0            1",
    ]


def test_nothing_is_drawn_without_a_point():
    assert list(chart([], width=40, height=5)) == []


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60),
    st.integers(20, 120),
    st.integers(2, 20),
)
def test_every_series_fits_its_box(values, width, height):
    lines = list(chart(list(enumerate(values)), width=width, height=height))
    assert len(drawn(lines)) == height
    assert all(len(line) <= width + 1 for line in lines)
    assert any(cell != "\u2800" for line in drawn(lines) for cell in line)


def test_what_lies_beyond_the_bounds_is_drawn_at_the_edge():
    lines = drawn(list(chart([(0, 5.0), (1, 5.0)], width=24, height=2, bounds=(0.0, 1.0))))
    assert set(lines[0]) == {"⠉"}
    assert set(lines[1]) == {"\u2800"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (950, "950"),
        (9999, "9999"),
        (12_500, "12.5k"),
        (53_423_131, "53.4M"),
        (2e9, "2G"),
        (0.9733, "0.973"),
        (-12_500, "-12.5k"),
        (123.4, "123"),
        (1.2e-7, "1e-07"),
    ],
)
def test_an_axis_names_numbers_in_few_characters(value, shown):
    assert short(value) == shown


def test_a_moving_mean_takes_what_there_is_at_first():
    assert moving_mean([1.0, 0.0, 1.0, 1.0], 2) == [1.0, 0.5, 0.5, 1.0]
