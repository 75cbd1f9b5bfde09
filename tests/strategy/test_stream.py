"""Streams: usable lines become examples, every other line is named with its number."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.strategy.stream import Example, read_stream


def read(*lines):
    return list(read_stream([line if isinstance(line, bytes) else line.encode() for line in lines]))


@pytest.mark.parametrize(
    "line",
    [
        '{"question": "Q", "answer": "A"}',
        '{"context": "Q", "target": "A", "more": 1}',
        '\ufeff{"question": "Q", "answer": "A"}\n',
        '{"question": "Q", "context": "Q", "answer": "A", "target": "A"}',
        '{"question": "", "context": "Q", "answer": null, "target": "A"}',
    ],
)
def test_a_usable_line(line):
    (example,) = read(line)
    assert (example.question, example.answer, example.line) == ("Q", "A", 1)


def test_numbers_become_text():
    answers = ["2.50", "-0", "1e3", "123456789012345678901234567890"]
    for answer in answers:
        (example,) = read(f'{{"question": 7, "answer": {answer}}}')
        assert (example.question, example.answer) == ("7", answer)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ('{"answer": "A"}', "has no question"),
        ('{"question": " ", "answer": "A"}', "has no question"),
        ('{"question": "Q"}', "has no answer"),
        ('{"question": "Q", "answer": true}', "has no answer that is text or"),
        ('{"question": "Q", "answer": NaN}', "is not JSON"),
        ('{"question": ["Q"], "answer": "A"}', "has no question that is text or"),
        ('{"question": "Q", "context": "R", "answer": "A"}', "both question and context"),
        ('{"question": "Q", "answer": "1", "target": 1.0}', "both answer and target"),
        (b'{"question": "\xff", "answer": "A"}', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_line_that_is_no_example_costs_only_itself(line, reason):
    good = '{"question": "Q", "answer": "A"}'
    first, odd, last = read(good, line, "", good)
    assert reason in odd.reason
    assert (odd.line, first.line, last.line) == (2, 1, 4)
    assert first.fingerprint == last.fingerprint


@given(st.text(min_size=1), st.text(min_size=1))
def test_text_is_kept_as_it_is(question, answer):
    line = json.dumps({"question": question, "answer": answer})
    (found,) = read(line)
    if isinstance(found, Example):
        assert (found.question, found.answer) == (question, answer)
    else:
        assert not question.strip() or not answer.strip()
