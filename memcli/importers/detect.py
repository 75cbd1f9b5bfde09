"""Which format is an input? Names what was found; refuses rather than guesses."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import memcli.importers
from memcli.errors import SourceFormatError, UsageError
from memcli.importers.bytestream import READ_ERRORS
from memcli.importers.contract import Format, Input
from memcli.importers.foreign import foreign
from memcli.importers.inputs import FoundInput, Unreadable, expand
from memcli.importers.shape import Shape, shape_of

PROSE_RANK = 90
"""From this rank on a format guesses from prose: foreign formats are ruled out first."""


@dataclass(frozen=True, slots=True)
class Detected:
    """The format of an input and what showed it, e.g. ``items have 'mapping'``."""

    format: Format
    evidence: str


@dataclass(frozen=True, slots=True)
class Source:
    """An input and its format: what an ingest reads."""

    input: FoundInput
    format: Format
    evidence: str


@cache
def formats() -> tuple[Format, ...]:
    """Return the formats of the modules in this package, by rank, then name."""
    found = list[Format]()
    for module in pkgutil.iter_modules(memcli.importers.__path__):
        loaded = importlib.import_module(f"{memcli.importers.__name__}.{module.name}")
        candidate = getattr(loaded, "FORMAT", None)
        if isinstance(candidate, Format):
            found.append(candidate)
    return tuple(sorted(found, key=lambda each: (each.rank, each.name)))


def format_named(name: str) -> Format:
    """Return the format a user named with ``--format``; ``-`` and ``_`` are the same.

    Raises:
        UsageError: If there is none of that name; it lists the names.
    """
    for each in formats():
        if each.name == name.replace("-", "_"):
            return each
    raise UsageError(f"no format is named {name!r}", hint=f"formats: {_names()}")


def _names() -> str:
    return ", ".join(each.name for each in formats())


def detect(source: Input, *, name: str | None = None) -> Detected:
    """Return the format of an input.

    Args:
        source: What to look at.
        name: A format the user insists on; it is then not recognised but taken.

    Raises:
        SourceFormatError: If the input is empty, binary, of a format without an importer, or
            of none that is known.
        UsageError: If ``name`` names no format.
    """
    chosen = format_named(name) if name else None
    shape = shape_of(source)
    if shape.kind == "empty":
        raise SourceFormatError(f"{source.name}: is empty", hint="nothing to read")
    if chosen:
        return Detected(chosen, "as --format says")
    ordered = formats()
    certain = [each for each in ordered if each.rank < PROSE_RANK]
    if found := _first(source, certain):
        return found
    if known := foreign(source, frozenset(each.name for each in ordered)):
        entry, evidence = known
        raise SourceFormatError(
            f"{source.name}: looks like {entry.label} ({evidence}), which has no importer yet",
            hint=f"formats: {_names()}",
        )
    if found := _first(source, ordered[len(certain) :]):
        return found
    raise SourceFormatError(
        f"{source.name}: is not a transcript that is known ({_described(shape)})",
        hint=f"name its format with --format: {_names()}",
    )


def _first(source: Input, candidates: Iterable[Format]) -> Detected | None:
    for each in candidates:
        if evidence := each.recognise(source):
            return Detected(each, evidence)
    return None


def _described(shape: Shape) -> str:
    """Return what an unknown input is, for the refusal."""
    first = next(iter(shape.objects), None)
    keys = ", ".join(sorted(first)[:6]) if first else ""
    match shape.kind:
        case "binary":
            return "binary data"
        case "array":
            return f"a JSON array of objects with {keys}" if keys else "a JSON array of no objects"
        case "object":
            return f"a JSON object with {keys}" if keys else "an empty JSON object"
        case "lines":
            return f"JSON lines with {keys}" if keys else "JSON lines"
        case "json":
            return "it begins like JSON but does not parse"
        case _:
            return 'text without repeated speaker names, as in "[2024-05-31 18:20] Ann: hello"'


def gather(
    paths: Iterable[str | Path], *, name: str | None = None
) -> Iterator[Source | Unreadable]:
    """Yield what there is to read behind paths, each with its format, in path order.

    Files that accompany a recognised export in the same folder or zip (``user.json``) are
    left out; everything else that cannot be read comes as an `Unreadable`.

    Args:
        paths: See `inputs.expand`.
        name: A format to take for every file; None recognises each.
    """
    found = [_recognised(each, name) for each in expand(paths)]
    patterns = dict[str, set[str]]()
    for each in found:
        if isinstance(each, Source) and each.input.container:
            patterns.setdefault(each.input.container, set()).update(each.format.companions)
    for each in found:
        if isinstance(each, Source | Unreadable):
            yield each
        elif not _accompanies(each[0], patterns.get(each[0].container or "", set())):
            yield each[1]


def _recognised(
    found: FoundInput | Unreadable, name: str | None
) -> Source | Unreadable | tuple[FoundInput, Unreadable]:
    """Return the source, or the input together with why it is none."""
    if isinstance(found, Unreadable):
        return found
    try:
        detected = detect(found, name=name)
    except SourceFormatError as error:
        return found, Unreadable(found.name, error)
    except READ_ERRORS as error:  # gone or forbidden since it was found
        message = f"{found.name}: cannot be read ({error})"
        return Unreadable(found.name, SourceFormatError(message, hint="check the file"))
    return Source(found, detected.format, detected.evidence)


def _accompanies(source: FoundInput, patterns: set[str]) -> bool:
    """Say whether a file is a companion by its base name or by folder and base name."""
    names = source.inner.split("/")
    ends = (names[-1], "/".join(names[-2:]))
    return any(fnmatchcase(end, pattern) for end in ends for pattern in patterns)
