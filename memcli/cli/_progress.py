"""A progress bar on stderr, on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(unit: str) -> Iterator[Callable[[int], None] | None]:
    """Yield a function that takes how many more units are done; None off a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    speed = TextColumn("{task.completed:,.0f} " + unit + "  {task.fields[rate]:,.0f}/s")
    with Progress(
        SpinnerColumn(), speed, TimeElapsedColumn(), console=console, transient=True
    ) as bar:
        task = bar.add_task("", total=None, rate=0.0)

        def advance(count: int) -> None:
            bar.advance(task, count)
            seen = bar.tasks[0]
            elapsed = seen.elapsed or 1e-9
            bar.update(task, rate=seen.completed / elapsed)

        yield advance
