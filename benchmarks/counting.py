"""memcli as a process that counts its own syncs and CPU: ``python -m benchmarks.counting FILE …``.

What follows the file is memcli's command line. At the end the file holds one JSON object; of
the CPU seconds ``cpu_s`` the HTTP client took ``http_s``.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memcli.__main__ import main as memcli
from memcli.llm.http_path import HttpPath
from memcli.store.disk import Disk

_counted: Counter[str] = Counter()


def count_syncs() -> None:
    """Make every sync of this process be counted; nothing else about it changes."""
    for method in ("fsync", "fsync_dir"):
        setattr(Disk, method, _counting(method, getattr(Disk, method)))


def time_requests() -> None:
    """Make the CPU of this thread that the HTTP client takes be summed."""
    real = HttpPath.send

    def timed(path: HttpPath, *given: Any, **named: Any) -> Any:
        start = time.thread_time()
        try:
            return real(path, *given, **named)
        finally:
            _counted["http_us"] += round(1e6 * (time.thread_time() - start))

    setattr(HttpPath, "send", timed)  # noqa: B010 - the type says a method is not replaced


def _counting(name: str, real: Callable[..., None]) -> Callable[..., None]:
    def counted(disk: Disk, what: object) -> None:
        _counted[name] += 1
        real(disk, what)

    return counted


def main() -> None:
    """Run memcli, then write what was counted."""
    target = Path(sys.argv[1])
    sys.argv = ["memcli", *sys.argv[2:]]
    count_syncs()
    time_requests()
    try:
        memcli()
    finally:
        seconds = {"cpu_s": time.process_time(), "http_s": _counted.pop("http_us", 0) / 1e6}
        target.write_text(json.dumps(dict(_counted) | seconds), "utf-8")


if __name__ == "__main__":
    main()
