"""`python -m memcli` and the ``memcli`` command."""

from __future__ import annotations

from memcli.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
