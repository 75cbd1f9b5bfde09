"""SubRip subtitles: a number, ``start --> end`` with a comma before milliseconds, text.

Who speaks is at best named before a colon (``ODILE: flow``) or after ``>>``; lines that begin
with a dash are words of several people and stay one turn. Nothing is decoded: the format
knows no entities. See `cues` for times and for how cues of one speaker are joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memcli.importers.contract import Event, Format, Ignored, Input, ReadOptions
from memcli.importers.cues import Cue, Names, Said, as_turns, read_cues
from memcli.importers.shape import shape_of

_START = re.compile(r"\d+[ \t]*\r?\n[ \t]*\d\d?:\d\d:\d\d[,.]\d{1,3}[ \t]*-->")


def recognise(source: Input) -> str | None:
    """Return the evidence that a file begins with a numbered cue, or None."""
    shape = shape_of(source)
    is_srt = shape.kind == "text" and _START.match(shape.text.lstrip("\ufeff \t\r\n"))
    return "begins with a numbered cue" if is_srt else None


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns in order; who speaks is decided over the whole file first."""
    cues = (cue for cue in read_cues(source) if isinstance(cue, Cue))
    names = Names(cue.text.partition("\n")[0] for cue in cues)
    yield from as_turns(_spoken(source, names))


def _spoken(source: Input, names: Names) -> Iterator[Said | Event]:
    for cue in read_cues(source):
        if not isinstance(cue, Cue):
            yield cue
        elif not cue.text.strip():
            yield Ignored(kind="empty cue")
        else:
            speaker, text = names.split(cue.text)
            yield Said(cue.line, (cue.start, cue.end), speaker, text)


FORMAT = Format(name="srt", label="SubRip subtitles", recognise=recognise, read=read, rank=50)
