"""Members of JSON objects that may hold anything: what is wanted, or None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def text_of(record: Mapping[str, Any], key: str) -> str | None:
    """Return a member that is a text and not empty, or None."""
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def first_text(record: Mapping[str, Any], *keys: str) -> str | None:
    """Return the first of several members that is a text and not empty, or None."""
    return next((text for key in keys if (text := text_of(record, key))), None)


def object_of(record: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a member that is an object, or an empty one."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def objects_of(record: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects in a member that is a list, in order."""
    value = record.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def id_of(value: object) -> str | None:
    """Return an id, a number or a text, as text; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None
