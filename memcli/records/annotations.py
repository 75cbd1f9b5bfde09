"""What an annotator found in one turn, and its JSON line in ``derived/``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from memcli.errors import RecordError
from memcli.records.codec import Fields, dumps, loads


@dataclass(frozen=True, slots=True)
class Entity:
    """A name in a turn's text.

    Attributes:
        text: The name, verbatim: ``turn.text[start:end]``.
        label: The annotator's kind of it, e.g. ``PERSON``.
        start: Offset of the first character.
        end: Offset after the last character.
    """

    text: str
    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """Days that a turn's text names, read against the time of the turn.

    Attributes:
        start: First day, None when open.
        end: Last day, included, None when open.
        text: The words it came from, verbatim.
    """

    start: date | None
    end: date | None
    text: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """What was found in one turn.

    Attributes:
        id: The turn's id.
        entities: Names in order of appearance.
        windows: Dates in order of appearance; none in a turn without a time.
    """

    id: str
    entities: tuple[Entity, ...] = ()
    windows: tuple[Mention, ...] = ()


def annotation_to_line(annotation: Annotation) -> bytes:
    """Return the annotation's line, line break included."""
    entities = [
        {"text": e.text, "label": e.label, "start": e.start, "end": e.end}
        for e in annotation.entities
    ]
    windows = [
        {"start": _iso(w.start), "end": _iso(w.end), "text": w.text} for w in annotation.windows
    ]
    return dumps({"id": annotation.id, "entities": entities, "windows": windows}) + b"\n"


def annotation_from_line(
    line: bytes, *, path: str = "annotations", number: int | None = None
) -> Annotation:
    """Return the annotation a line holds.

    Args:
        line: One line, with or without its line break.
        path: File name for error messages.
        number: 1-based line for error messages, or None.

    Raises:
        RecordError: If the line is no annotation; it names the file, line and field.
    """
    try:
        data = loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(path, number, "", f"is not JSON ({error})") from error
    fields = Fields(data, path, number)
    entities = (Fields(item, path, number) for item in fields.get("entities", list))
    windows = (Fields(item, path, number) for item in fields.get("windows", list))
    return Annotation(
        id=fields.get("id", str),
        entities=tuple(
            Entity(e.get("text", str), e.get("label", str), e.get("start", int), e.get("end", int))
            for e in entities
        ),
        windows=tuple(
            Mention(_day(w, "start"), _day(w, "end"), w.get("text", str)) for w in windows
        ),
    )


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _day(fields: Fields, name: str) -> date | None:
    text = fields.optional(name, str)
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        raise fields.bad(name, f"is {text!r}, no date") from error
