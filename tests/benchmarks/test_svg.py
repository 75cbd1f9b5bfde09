"""The pictures of the results: valid XML, every curve and figure in it, text inert."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.svg import Curve, Panel, amount, picture, ticks

SVG = "{http://www.w3.org/2000/svg}"


def panel(*curves: Curve) -> Panel:
    return Panel(title="Tokens <x> & y", x_label="steps", y_label="tokens", curves=curves)


def parsed(*curves: Curve) -> ElementTree.Element:
    return ElementTree.fromstring(picture([panel(*curves)], note="a < b"))


def test_names_are_text_and_never_markup():
    root = parsed(Curve(name='<script>"', points=[(0, 0), (10, 5)]))
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert "Tokens <x> & y" in texts
    assert "a < b" in texts
    assert '<script>": 5' in texts


def test_a_curve_goes_through_its_points():
    root = parsed(Curve(name="c", points=[(0, 0), (100, 50), (200, 100)]))
    (path,) = [p for p in root.iter(f"{SVG}path") if p.get("d", "").count("L") == 2]
    places = [tuple(map(float, each.split())) for each in path.get("d", "")[1:].split("L")]
    (x0, y0), (x1, y1), (x2, y2) = places
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2)
    assert y0 > y2


def test_a_reference_is_dashed_and_its_points_are_marked():
    root = parsed(Curve(name="given", points=[(0, 1), (5, 2)], is_reference=True))
    assert len(list(root.iter(f"{SVG}circle"))) == 2
    assert any(p.get("stroke-dasharray") for p in root.iter(f"{SVG}path"))


def test_the_same_points_give_the_same_bytes_and_none_give_an_empty_chart():
    curve = Curve(name="c", points=[(1, 2), (3, 4)])
    assert picture([panel(curve)]) == picture([panel(curve)])
    ElementTree.fromstring(picture([panel(Curve(name="none", points=[]))]))


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (500, [0, 100, 200, 300, 400, 500]),
        (53_423_131, [0, 20e6, 40e6, 60e6]),
        (1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
    ],
)
def test_ticks_are_round_and_reach_the_end(end, expected):
    assert ticks(end) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (250, "250"), (2_500, "2.5 k"), (53_423_131, "53.4 M")]
)
def test_amounts_are_short(value, shown):
    assert amount(value) == shown
