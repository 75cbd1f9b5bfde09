"""Names by rules: what counts as one, and that any text is read quickly and verbatim."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.evidence.annotate import MAX_CHARS
from memcli.evidence.entity_rules import rule_entities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Priya Nair and Tomasz.", ["Priya Nair", "Tomasz"]),
        ("the da Vinci show, Leonardo da Vinci himself", ["Vinci", "Leonardo da Vinci"]),
        ("Priya's boat is new. I like Priya", ["Priya", "Priya"]),
        ("Lovely weather. Great fun!", []),
        ("See you on Monday in May", []),
        ("NASA called", ["NASA"]),
        ("Yesterday Mara left", ["Mara"]),
        ('She sang "Blue Harbour Song" twice', ["Blue Harbour Song"]),
        ("ask @mara_k, see https://www.example.org/a/B?c", ["@mara_k", "example.org"]),
        ("call read_file in src/app.py or getItems", ["read_file", "src/app.py", "getItems"]),
        ("I think I'm UNESCO OK", ["UNESCO"]),
        ("nothing here", []),
    ],
)
def test_rules(text, expected):
    assert [entity.text for entity in rule_entities(text)] == expected


@settings(max_examples=60)
@given(st.text(max_size=300))
def test_rule_entities_are_verbatim_ordered_and_apart(text):
    found = list(rule_entities(text))
    assert all(text[e.start : e.end] == e.text and e.text for e in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@pytest.mark.parametrize("unit", ["A", "Aa ", "a.", "-", "a_", "a/", '"A', "@a.", "https://a"])
def test_rules_stay_linear(unit):
    list(rule_entities(unit * (MAX_CHARS // len(unit))))  # a quadratic pattern would hang here
