"""How a training run is told on stderr: a live line on terminals, now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memcli.cli._output import note

if TYPE_CHECKING:
    from memcli.app.surroundings import Progress

EVERY_S = 10.0
"""Between two lines where there is no terminal."""


@contextmanager
def watching() -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows progress; safe to call from several threads."""
    lock, start = threading.Lock(), time.monotonic()
    pace = _Pace()
    if not sys.stderr.isatty():
        last = [start]

        def plain(progress: Progress) -> None:
            with lock:
                now = time.monotonic()
                if now - last[0] >= EVERY_S:
                    last[0] = now
                    note(describe(progress, pace.left_s(progress, now)))

        yield plain
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:

        def live(progress: Progress) -> None:
            with lock:
                status.update(describe(progress, pace.left_s(progress, time.monotonic())))

        yield live


class _Pace:
    """How fast a phase goes, from the first report of it on: a resumed run starts midway."""

    def __init__(self) -> None:
        self._phase, self._first, self._since = "", 0, 0.0

    def left_s(self, progress: Progress, now: float) -> float | None:
        """Return the seconds that are left of the phase, or None while unknown."""
        if progress.phase != self._phase or progress.done <= self._first:
            self._phase, self._first, self._since = progress.phase, progress.done, now
            return None
        speed = (now - self._since) / (progress.done - self._first)
        return speed * (progress.of - progress.done)


def describe(progress: Progress, left_s: float | None) -> str:
    """Return one line: step, recent accuracy, nodes, edges, tokens, spend, time left."""
    parts = [f"{progress.phase} {progress.done:,}/{progress.of:,}"]
    if progress.recent is not None:
        parts.append(f"last 25: {100 * progress.recent:.0f} %")
    parts += [f"{progress.nodes:,} nodes", f"{progress.edges:,} edges"]
    parts.append(f"{progress.tokens:,} tokens")
    parts.append("cost unknown" if progress.cost_usd is None else f"${progress.cost_usd:.2f}")
    if left_s is not None:
        parts.append(f"{left_s / 60:.0f} min left" if left_s >= 90 else f"{left_s:.0f} s left")
    return ", ".join(parts)
