"""Where the bundled samples are: inside an installed wheel, or beside a checkout."""

from __future__ import annotations

from pathlib import Path

import memcli
from memcli.errors import MemcliError


def sample(name: str) -> Path:
    """Return the path of a bundled file or store under ``sample_stores/``.

    Raises:
        MemcliError: If the installation lacks it.
    """
    package = Path(memcli.__file__).parent
    for folder in (package / "sample_stores", package.parent / "sample_stores"):
        if (folder / name).exists():
            return folder / name
    raise MemcliError(f"the bundled sample {name} is missing", hint="reinstall memcli")
