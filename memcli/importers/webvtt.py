"""WebVTT transcripts, as Teams, Zoom and players write them.

``WEBVTT``, then blocks: an optional id, ``start --> end``, text. ``<v Name>`` says who speaks
(the tag may be unclosed or carry classes, and one cue may hold several); Zoom writes
``Name: text``; ``>>`` marks a change of speaker. NOTE, STYLE and REGION are no talk. Entities
are decoded, other mark-up (``<i>``) stays as written. Neighbouring cues of one named speaker
are one turn; see `cues` for times.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from memcli.importers.contract import Event, Format, Ignored, Input, ReadOptions
from memcli.importers.cues import Cue, Names, Said, as_turns, read_cues
from memcli.importers.shape import shape_of

_SKIPPED = ("WEBVTT", "NOTE", "STYLE", "REGION")
_VOICE = re.compile(r"<v(?:\.[^ \t>]*)?(?:[ \t]+(?P<name>[^>\n]*))?>|</v>")
_START = re.compile(r"WEBVTT(?:[ \t\r\n]|$)")


def recognise(source: Input) -> str | None:
    """Return the evidence that a file begins with ``WEBVTT``, or None."""
    shape = shape_of(source)
    is_vtt = shape.kind == "text" and _START.match(shape.text.lstrip("\ufeff \t\r\n"))
    return "begins with WEBVTT" if is_vtt else None


def read(source: Input, options: ReadOptions) -> Iterator[Event]:
    """Yield the turns in order; who speaks is decided over the whole file first."""
    cues = (cue for cue in read_cues(source, _SKIPPED) if isinstance(cue, Cue))
    names = Names(html.unescape(cue.text).partition("\n")[0] for cue in cues)
    yield from as_turns(_spoken(source, names))


def _spoken(source: Input, names: Names) -> Iterator[Said | Event]:
    for cue in read_cues(source, _SKIPPED):
        if not isinstance(cue, Cue):
            yield cue
        elif not cue.text.strip():
            yield Ignored(kind="empty cue")
        else:
            yield from _said(cue, names)


def _said(cue: Cue, names: Names) -> Iterator[Said]:
    """Yield what is said in a cue, a part for each voice in it."""
    span = (cue.start, cue.end)
    if "<v" not in cue.text:
        speaker, text = names.split(html.unescape(cue.text.replace("</v>", "")))
        yield Said(cue.line, span, speaker, text)
        return
    at, speaker = 0, None
    for tag in _VOICE.finditer(cue.text):
        yield from _part(cue, span, speaker, cue.text[at : tag.start()])
        named = (tag["name"] or "").strip()
        speaker = html.unescape(named) or None
        at = tag.end()
    yield from _part(cue, span, speaker, cue.text[at:])


def _part(cue: Cue, span: tuple[str, str], speaker: str | None, text: str) -> Iterator[Said]:
    if text.strip():
        yield Said(cue.line, span, speaker, html.unescape(text).strip("\n"))


FORMAT = Format(name="webvtt", label="WebVTT transcript", recognise=recognise, read=read, rank=50)
