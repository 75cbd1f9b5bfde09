"""The table and the curves of training runs say what the figures say."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from benchmarks.training_report import (
    COLUMNS,
    REFERENCE,
    Figures,
    curves,
    markdown_table,
    row,
)

RUN = Figures(
    name="llm",
    task="formula",
    split="given",
    retriever="llm",
    rounds="1",
    setting="verbose",
    options="",
    steps=500,
    tokens=5_342_313,
    cumulative=[(100, 500_000), (200, 1_081_027), (500, 5_342_313)],
    prompts=[(25, 900.0), (125, 8_000.0), (500, 10_000.0)],
    accuracy=0.9,
    last_100=0.98,
    validation=[(0, 0.01), (100, 0.5), (500, 0.99)],
    nodes=600,
    edges=900,
    labels=300,
    most_nodes=12,
    most_tokens=2_400,
    missing_traces=0,
    calls=2_000,
    seconds=60.0,
    cpu_ms=4.0,
    outcomes={"misfit": 7},
    failures={"generate": 2, "curate": 1},
)


def cells(figures: Figures) -> dict[str, str]:
    return dict(zip(COLUMNS, row(figures), strict=True))


def test_a_row_shows_what_was_saved_and_reached():
    found = cells(RUN)
    assert found["reference"] == "53,423,131"
    assert found["saved"] == "90.0 %"
    assert found["at 200"] == "90.0 %"
    assert found["growth"] == "1.25"
    assert (found["val 0"], found["val best"]) == ("1.0 %", "99.0 %")
    assert (found["bad replies"], found["failed roles"]) == ("7", "3")


@pytest.mark.parametrize(
    ("changes", "reference"),
    [
        ({"setting": "terse"}, 8_981_820),
        ({"setting": "verbose, faults"}, REFERENCE[500]),
        ({"steps": 100}, REFERENCE[100]),
        ({"steps": 90}, None),
        ({"task": "finer"}, None),
        ({"setting": "terse", "steps": 100}, None),
    ],
)
def test_a_run_is_compared_only_with_what_was_measured_in_its_setting(changes, reference):
    figures = replace(RUN, **changes)
    assert figures.reference() == reference
    assert (cells(figures)["reference"] == "–") == (reference is None)


def test_figures_survive_json():
    assert Figures.from_dict(RUN.as_dict()) == RUN


def test_a_markdown_table_has_a_cell_for_every_column():
    text = markdown_table(("a", "b"), [("1", "x|y")])
    assert text == "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n"


def test_the_picture_holds_every_run_and_the_reference():
    runs = {"llm": RUN, "all": replace(RUN, name="all", tokens=1)}
    root = ElementTree.fromstring(curves(runs, steps=500))
    texts = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "ACE, 3 rounds (given): 53.4 M" in texts
    assert any(text.startswith("llm: 5.34 M") for text in texts)
    assert any(text.startswith("all: ") for text in texts)
    short = ElementTree.fromstring(curves(runs, steps=100))
    texts = [each.text or "" for each in short.iter("{http://www.w3.org/2000/svg}text")]
    assert "ACE, 3 rounds (given): 3.5 M" in texts
