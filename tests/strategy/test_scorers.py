"""Scorers: what counts as right, and that nothing a model says is evaluated."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import MemcliError, UsageError
from memcli.strategy.scorers import number, scorer


def score(name, prediction, expected, **more):
    found = scorer(name, **more)(prediction, expected)
    return found.right, found.total


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("16.62", 16.62),
        (" 0.20 ", 0.2),
        ("1,234.5", 1234.5),
        ("12,34,567", 1234567.0),
        ("$1,000", 1000.0),
        ("-$5", -5.0),
        ("$-5", -5.0),
        ("(1,234)", -1234.0),
        ("−3", -3.0),
        ("5%", 5.0),
        ("1e3", 1000.0),
        ("42.", 42.0),
        (".5", 0.5),
        ('"7"', 7.0),
        ("２", 2.0),
        ("1,5", 15.0),
        ("$(1,234)", -1234.0),
        ("($1,234.50)", -1234.5),
        ("(5)%", -5.0),
        ("₪ 7", 7.0),
        ("7 €", 7.0),
        ("-1.5E+03", -1500.0),
        ("10²", None),
        ("①", None),
        ("½", None),
        ("(-5)", None),
        ("5 6", None),
        ("$5 million", None),
        ("= 5", None),
        ("5 = 5", None),
        ("1/2", None),
        ("1.2.3", None),
        ("--5", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("5 apples", None),
        ("about 5", None),
        ("2*3", None),
        ("__import__('os')", None),
        ("(5", None),
        ("", None),
    ],
)
def test_what_is_a_number(text, value):
    assert number(text) == value


@pytest.mark.parametrize(
    ("name", "prediction", "expected", "found"),
    [
        ("exact", " Petrel\n", "Petrel", (1, 1)),
        ("exact", "petrel", "Petrel", (0, 1)),
        ("exact", "Cafe\u0301", "Café", (1, 1)),
        ("numeric", "1,000.0", "1000", (1, 1)),
        ("numeric", "0.1", "0.10000001", (0, 1)),
        ("numeric", "", "5", (0, 1)),
        ("numeric", "x", "5", (0, 1)),
        ("numeric", "not given", "not  given", (1, 1)),
        ("numeric", "5", "not given", (0, 1)),
        ("numeric", "nan", "nan", (0, 1)),
        ("numeric", "-inf", "-inf", (0, 1)),
        ("numeric", "1e999", "1e999", (0, 1)),
        ("tags", "A, b ,C", "A,B,D", (2, 3)),
        ("tags", "A", "A,B", (1, 2)),
        ("tags", "A,B,C", "A,B", (1, 2)),
        ("tags", "B,A", "A,B", (0, 2)),
        ("tags", '["A", "B"]', "A,B", (2, 2)),
        ("contains", "It is Petrel.", "petrel", (1, 1)),
        ("contains", "15", "5", (0, 1)),
        ("contains", "5.25", "5", (0, 1)),
        ("contains", "0.5", "5", (0, 1)),
        ("contains", "1,500", "500", (0, 1)),
        ("contains", "-5", "5", (0, 1)),
        ("contains", "It is −5", "5", (0, 1)),
        ("contains", "It is −5.", "-5", (1, 1)),
        ("contains", "The total is 5.", "5", (1, 1)),
        ("contains", "3, 5, 7", "5", (1, 1)),
        ("contains", "costs $5!", "$5", (1, 1)),
        ("contains", "the big  boat", "big boat", (1, 1)),
    ],
)
def test_scores(name, prediction, expected, found):
    assert score(name, prediction, expected) == found


def test_tolerance_is_for_numbers():
    assert score("numeric", "10.04", "10", tolerance=0.05) == (1, 1)
    assert score("numeric", "10.06", "10", tolerance=0.05) == (0, 1)
    for name, tolerance in (("exact", 1.0), ("numeric", -1.0), ("numeric", float("nan"))):
        with pytest.raises(UsageError):
            scorer(name, tolerance=tolerance)


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_prediction_breaks_a_scorer(prediction, expected):
    for name in ("exact", "numeric", "tags", "contains"):
        right, total = score(name, prediction, expected)
        assert 0 <= right <= total


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_reads_as_itself(value):
    assert number(repr(value)) == value


@given(st.text("0123456789.,+-eE ", max_size=16))
def test_what_ace_reads_as_a_finite_number_is_read_as_the_same(text):
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return
    assert number(text) == (value if math.isfinite(value) else None)


@pytest.mark.parametrize("text", ["( x", "5 x", "$ - ( 5", "1,x", "5.x"])
def test_reading_a_number_takes_no_time(text):
    """A pattern that backtracks would take hours."""
    for part in " ,5.":
        assert number(text.replace(part, part * 20_000)) is None


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own_scorers.py").write_text(
        "def close(a, b): return a[:1] == b[:1]\n"
        "def parts(a, b): return 1, 2\n"
        "def whole(a, b): return 1.0\n"
        "def odd(a, b): return 0.5\n"
        "def fails(a, b): return float(a)\n"
        "value = 3\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("own_scorers", None)


def test_a_scorer_of_ones_own(own):
    assert score("own_scorers:close", "abc", "axe") == (1, 1)
    assert score("own_scorers:parts", "", "x") == (1, 2)
    assert score("own_scorers:whole", "", "x") == (1, 1)
    with pytest.raises(MemcliError, match="returned"):
        score("own_scorers:odd", "a", "b")
    with pytest.raises(MemcliError, match="own_scorers:fails failed: ValueError"):
        score("own_scorers:fails", "a", "b")


@pytest.mark.parametrize("name", ["fuzzy", "own_scorers:nothing", "own_scorers:value", "no_such:x"])
def test_an_unknown_scorer(own, name):
    with pytest.raises(UsageError):
        scorer(name)
