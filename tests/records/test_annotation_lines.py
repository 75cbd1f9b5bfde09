"""Annotations survive their JSON line; a bad line says which field."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import RecordError
from memcli.records.annotations import (
    Annotation,
    Entity,
    Mention,
    annotation_from_line,
    annotation_to_line,
)

offsets = st.integers(0, 1 << 40)
entities = st.builds(Entity, st.text(), st.text(max_size=9), offsets, offsets)
mentions = st.builds(Mention, st.none() | st.dates(), st.none() | st.dates(), st.text())
annotations = st.builds(
    Annotation,
    st.text(),
    st.lists(entities, max_size=3).map(tuple),
    st.lists(mentions, max_size=3).map(tuple),
)


@given(annotations)
def test_an_annotation_survives_its_line(annotation):
    line = annotation_to_line(annotation)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert annotation_from_line(line) == annotation


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": 3}, "id"),
        ({"entities": [{"text": "x", "label": "y", "start": True, "end": 1}]}, "start"),
        ({"entities": ["x"]}, ""),
        ({"windows": [{"start": "2024-13-01", "end": None, "text": "x"}]}, "start"),
        ({"windows": None}, "windows"),
    ],
)
def test_a_bad_line_names_its_field(change, field):
    data = {**json.loads(annotation_to_line(Annotation("t1"))), **change}
    with pytest.raises(RecordError) as caught:
        annotation_from_line(json.dumps(data).encode(), path="a.jsonl", number=4)
    assert caught.value.field == field
    assert "a.jsonl:4" in caught.value.message


def test_a_line_that_is_no_json_is_refused():
    with pytest.raises(RecordError, match="is not JSON"):
        annotation_from_line(b"{")
