"""memcli as a process that counts its own syncs and CPU: ``python -m benchmarks.counting FILE …``.

What follows the file is memcli's command line. At the end the file holds one JSON object.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from memcli.__main__ import main as memcli
from memcli.store.disk import Disk

_counted: Counter[str] = Counter()


def count_syncs() -> None:
    """Make every sync of this process be counted; nothing else about it changes."""
    for method in ("fsync", "fsync_dir"):
        setattr(Disk, method, _counting(method, getattr(Disk, method)))


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
    try:
        memcli()
    finally:
        target.write_text(json.dumps(dict(_counted) | {"cpu_s": time.process_time()}), "utf-8")


if __name__ == "__main__":
    main()
