"""Line charts as SVG text: panels side by side, each with axes, curves and a legend.

A picture is a pure function of its points: the same results give the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

PANEL_WIDTH, PANEL_HEIGHT = 560, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 28, 44, 52
COLOURS = ("#0b6e99", "#d1495b", "#3a7d44", "#8a5a9e", "#b8860b", "#444444", "#00a6a6")
"""Of curves that name none, in order."""

TICKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line of a panel.

    Attributes:
        name: Shown in the legend.
        points: (x, y) in ascending x.
        is_reference: Drawn dashed, with its points marked: given figures, not our own run.
    """

    name: str
    points: Sequence[tuple[float, float]]
    is_reference: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One chart; both axes are linear and y starts at 0.

    Attributes:
        top: Highest y drawn; what goes beyond is cut off at the edge. None fits all curves.
    """

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    top: float | None = None


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a panel's numbers are on the page."""

    left: float
    x_end: float
    y_end: float

    def x(self, value: float) -> float:
        return self.left + LEFT + value / self.x_end * (PANEL_WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = min(value / self.y_end, 1.0)
        return PANEL_HEIGHT - BOTTOM - share * (PANEL_HEIGHT - TOP - BOTTOM)


def picture(panels: Sequence[Panel], *, note: str = "") -> str:
    """Return an SVG document of panels from left to right, with a note below them."""
    width, height = PANEL_WIDTH * len(panels), PANEL_HEIGHT + (24 if note else 0)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for place, panel in enumerate(panels):
        lines += _panel(panel, PANEL_WIDTH * place)
    if note:
        lines.append(_text(LEFT, height - 10, note, fill="#555555", size=11))
    return "\n".join([*lines, "</svg>", ""])


def ticks(end: float) -> list[float]:
    """Return round numbers from 0 up to ``end`` or just above, at most `TICKS` + 2 of them."""
    rough = (end or 1.0) / TICKS
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    return [step * number for number in range(math.ceil((end or 1.0) / step - 1e-9) + 1)]


def amount(value: float) -> str:
    """Return a number as an axis or legend shows it: ``0``, ``250``, ``2.5 k``, ``53.4 M``."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def _panel(panel: Panel, left: float) -> Iterator[str]:
    points = [point for curve in panel.curves for point in curve.points]
    across = ticks(max((x for x, _ in points), default=1.0))
    up = ticks(panel.top or max((y for _, y in points), default=1.0))
    frame = _Frame(left, across[-1], up[-1])
    yield _text(left + LEFT, 24, panel.title, size=15)
    yield from _axes(panel, frame, across, up)
    for curve, colour in zip(panel.curves, _colours(panel.curves), strict=True):
        yield from _curve(curve, colour, frame)
    yield from _legend(panel.curves, frame)


def _axes(panel: Panel, frame: _Frame, across: list[float], up: list[float]) -> Iterator[str]:
    low, start, end = frame.y(0), frame.x(0), frame.x(frame.x_end)
    for value in up:
        y = frame.y(value)
        yield _stroke(f"M{start:.1f} {y:.1f}H{end:.1f}", "#dddddd", 1)
        yield _text(start - 6, y + 4, amount(value), anchor="end")
    for value in across:
        yield _text(frame.x(value), low + 18, amount(value), anchor="middle")
    yield _stroke(f"M{start:.1f} {frame.y(frame.y_end):.1f}V{low:.1f}H{end:.1f}", "#333333", 1)
    yield _text((start + end) / 2, low + 38, panel.x_label, anchor="middle")
    middle, x = (frame.y(frame.y_end) + low) / 2, start - 54
    turned = f' transform="rotate(-90 {x:.1f} {middle:.1f})"'
    yield _text(x, middle, panel.y_label, anchor="middle", more=turned)


def _curve(curve: Curve, colour: str, frame: _Frame) -> Iterator[str]:
    places = [f"{frame.x(x):.1f} {frame.y(y):.1f}" for x, y in curve.points]
    if not places:
        return
    more = ' stroke-dasharray="6 4"' if curve.is_reference else ""
    yield _stroke("M" + "L".join(places), colour, 2, more)
    if curve.is_reference:
        for place in places:
            x, y = place.split()
            yield f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>'


def _legend(curves: Sequence[Curve], frame: _Frame) -> Iterator[str]:
    """List the curves at the top left with the value each ends at."""
    x = frame.x(0) + 12
    for row, (curve, colour) in enumerate(zip(curves, _colours(curves), strict=True)):
        y = TOP + 14 + 17 * row
        more = ' stroke-dasharray="6 4"' if curve.is_reference else ""
        yield _stroke(f"M{x:.1f} {y - 4:.1f}H{x + 24:.1f}", colour, 2, more)
        end = f": {amount(curve.points[-1][1])}" if curve.points else ""
        yield _text(x + 30, y, curve.name + end)


def _colours(curves: Sequence[Curve]) -> list[str]:
    """Return a colour each: grey for references, the palette in order for the rest."""
    palette = iter(COLOURS * (len(curves) // len(COLOURS) + 1))
    return ["#888888" if curve.is_reference else next(palette) for curve in curves]


def _stroke(path: str, colour: str, width: float, more: str = "") -> str:
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{more}/>'


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    size: int = 12,
    fill: str = "#222222",
    more: str = "",
) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}"'
    return f"<text {place}{more}>{escape(text)}</text>"
