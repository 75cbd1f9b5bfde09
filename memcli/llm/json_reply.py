"""The JSON object inside what a model said, however it wrapped it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from memcli.records import codec

NO_OBJECT: Final = "it holds no JSON object"

_THOUGHT = re.compile(r"\A\s*<(think|thinking|thought)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
# Some chat templates open the thought themselves: only its end is in the reply.
_THOUGHT_END = re.compile(r"\A(?:(?!<think).)*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def without_thoughts(text: str) -> str:
    """Return what was said after the thinking; empty when the thinking never ended."""
    spoken = _THOUGHT.sub("", text, count=1)
    return _THOUGHT_END.sub("", spoken, count=1).strip()


def find_object(text: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return the first object in ``text`` that fits ``schema``, and what was wrong if none.

    Tried in order: the whole text, fenced blocks, every balanced ``{…}`` from the left. A
    number where a text is wanted is that text: models answer ``42`` as often as ``"42"``.
    """
    complaint = NO_OBJECT
    for candidate in _candidates(text):
        try:
            value = _loaded(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            value = _with_text(value, schema)
            fault = misfit(value, schema)
            if not fault:
                return value, ""
            complaint = fault
    return None, complaint


def _loaded(text: str) -> Any:
    """Return the value of JSON as models write it: raw line breaks in texts, NaN as a number.

    What such a value means is for its reader to refuse.
    """
    try:
        return codec.loads(text)
    except ValueError:
        return json.loads(text, strict=False)


def _with_text(value: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    wanted = schema.get("properties", {})
    return {
        name: str(held)
        if wanted.get(name, {}).get("type") == "string"
        and isinstance(held, int | float)
        and not isinstance(held, bool)
        else held
        for name, held in value.items()
    }


def misfit(value: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Return the first way in which an object breaks a flat schema; empty when it fits.

    Checks that required fields are there and that fields have their type and are one of
    their ``enum``; nested values are their reader's to check.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    for name in schema.get("required", properties):
        if name not in value:
            return f"field {name!r} is missing"
    for name, wanted in properties.items():
        if name in value and not _fits(value[name], wanted):
            return f"field {name!r} is not {_described(wanted)}"
    return ""


def _fits(value: object, wanted: Mapping[str, Any]) -> bool:
    if "enum" in wanted and value not in wanted["enum"]:
        return False
    names = wanted.get("type", ())
    names = [names] if isinstance(names, str) else list(names)
    if not names:
        return True
    if isinstance(value, bool):  # Python's bool is an int, JSON's is not
        return "boolean" in names
    return any(isinstance(value, _TYPES.get(name, (object,))) for name in names)


def _described(wanted: Mapping[str, Any]) -> str:
    if "enum" in wanted:
        return "one of " + ", ".join(map(str, wanted["enum"]))
    return f"of type {wanted.get('type')}"


def _candidates(text: str) -> Iterator[str]:
    yield text
    yield from (match[1] for match in _FENCE.finditer(text))
    yield from _balanced(text)


def _balanced(text: str) -> Iterator[str]:
    """Yield every outermost ``{…}`` of ``text``; braces inside strings do not count."""
    depth = start = 0
    in_string = escaped = False
    for position, char in enumerate(text):
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif depth and char == '"':
            in_string = True
        elif char == "{":
            start = start if depth else position
            depth += 1
        elif char == "}" and depth:
            depth -= 1
            if not depth:
                yield text[start : position + 1]
