"""Prompts as text files, one a role, rendered to chat messages.

A file ``<name>.md`` holds sections headed by a line ``[system]`` or ``[user]``; ``$name``
stands for a value and ``$$`` for a dollar sign. Sections are split before values go in, so
no value can open a section or be expanded again. Owns wording only, no logic.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_HEADING = re.compile(r"^\[(system|user)\][ \t]*\n", re.MULTILINE)


def render(name: str, **values: str) -> list[dict[str, str]]:
    """Return the messages of a prompt: ``{"role": …, "content": …}`` in file order.

    Raises:
        KeyError: If there is no such prompt, a variable has no value, or a value no variable.
    """
    template = _text(name)
    unknown = values.keys() - set(Template(template).get_identifiers())
    if unknown:
        raise KeyError(f"prompt {name!r} has no variable {sorted(unknown)[0]!r}")
    _, *parts = _HEADING.split(template)
    return [
        {"role": role, "content": _filled(name, content, values)}
        for role, content in zip(parts[::2], parts[1::2], strict=True)
    ]


def version(name: str) -> str:
    """Return the SHA-256 of a prompt's file, in hex: what a result records beside its model.

    Raises:
        KeyError: If there is no such prompt.
    """
    return hashlib.sha256(_text(name).encode("utf-8")).hexdigest()


def names() -> list[str]:
    """Return the names of all prompts, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.md"))


@cache
def _text(name: str) -> str:
    path = _FOLDER / f"{name}.md"
    if not _NAME.fullmatch(name) or not path.is_file():
        raise KeyError(f"there is no prompt {name!r}")
    return path.read_text("utf-8")


def _filled(name: str, content: str, values: dict[str, str]) -> str:
    try:
        return Template(content.strip()).substitute(values)
    except KeyError as error:
        raise KeyError(f"prompt {name!r} needs a value for {error}") from error
