"""A curve as lines of text: Braille cells of 2 × 4 dots, plain on every terminal.

No colour, no terminal control, no state: the same points give the same lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Points = Sequence[tuple[float, float]]
"""(x, y) in ascending x."""

_BLANK = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a Braille cell by row and column."""
_LABEL = 8


def chart(
    points: Points, *, width: int, height: int, bounds: tuple[float, float] | None = None
) -> Iterator[str]:
    """Yield the lines of a chart with its axes; nothing without a point.

    Points that share a column of dots are drawn as their mean, and neighbours are joined.

    Args:
        points: What to draw.
        width: Characters a line, labels included; at least 20.
        height: Lines of the drawing itself, the axis below it not counted; at least 2.
        bounds: Lowest and highest y; those of the points by default.
    """
    if not points:
        return
    columns = max(2 * (width - _LABEL - 2), 2)
    low, high = bounds or _bounds(points)
    cells = _cells(_heights(points, columns, low, high, 4 * height), columns, height)
    labels = {0: high, height // 2: high - (high - low) * (height // 2) / height}
    labels[height - 1] = low
    for row, cell in enumerate(cells):
        label = short(labels[row]) if row in labels else ""
        yield f"{label:>{_LABEL}} │{''.join(map(chr, cell))}".rstrip()
    first, last = short(points[0][0]), short(points[-1][0])
    yield " " * (_LABEL + 1) + "└" + "─" * (columns // 2)
    yield " " * (_LABEL + 2) + first + last.rjust(columns // 2 - len(first))


def short(value: float) -> str:
    """Return a number in at most 7 characters for what fits an axis: ``950``, ``12.5k``, ``0.97``.

    Whole numbers below ten thousand stay whole; others keep three digits, tiny ones one.
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == 'k' else size):.3g}{unit}"
    if value == int(value) or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 1e-3 else f"{value:.0e}"


def moving_mean(values: Sequence[float], span: int) -> list[float]:
    """Return, for each value, the mean of it and the ``span - 1`` before it (fewer at first)."""
    means, total = [], 0.0
    for place, value in enumerate(values):
        total += value - (values[place - span] if place >= span else 0.0)
        means.append(total / min(place + 1, span))
    return means


def _bounds(points: Points) -> tuple[float, float]:
    values = [y for _, y in points]
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _heights(points: Points, columns: int, low: float, high: float, dots: int) -> dict[int, int]:
    """Return the row of dots, from the top, for each column of dots that has a point."""
    first, span = points[0][0], (points[-1][0] - points[0][0]) or 1.0
    found: dict[int, list[float]] = {}
    for x, y in points:
        found.setdefault(round((x - first) / span * (columns - 1)), []).append(y)
    rows = {}
    for column, values in found.items():
        share = (sum(values) / len(values) - low) / (high - low)
        rows[column] = round((1 - min(max(share, 0.0), 1.0)) * (dots - 1))
    return rows


def _cells(rows: dict[int, int], columns: int, height: int) -> list[list[int]]:
    """Return the code points of a drawing in which each column is joined to the one before."""
    cells = [[_BLANK] * (columns // 2) for _ in range(height)]
    before: tuple[int, int] | None = None
    for column, row in sorted(rows.items()):
        for x, y in _segment(before or (column, row), (column, row)):
            cells[y // 4][x // 2] |= _DOTS[y % 4][x % 2]
        before = (column, row)
    return cells


def _segment(start: tuple[int, int], end: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the dots of a straight line, both ends included."""
    steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
    for step in range(steps + 1):
        yield (
            round(start[0] + (end[0] - start[0]) * step / steps),
            round(start[1] + (end[1] - start[1]) * step / steps),
        )
