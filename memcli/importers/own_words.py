"""What memcli itself put into a prompt, taken out of what is read.

An agent's log holds the evidence packs and lessons that the agent was given. Taken in again
they would count as said once more, by someone else, on the day of the question. They are known
by the marks that memcli writes around them (`records.marks`), in every format and role, in a
prompt as in a tool's result; also where a log holds them escaped within JSON. What stands
around such a block is kept as it is, line breaks at a block that begins or ends the text aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from memcli.importers.contract import Draft, Event, Ignored
from memcli.records.marks import (
    EVIDENCE_FENCE,
    EVIDENCE_HEAD,
    STRATEGIES_FENCE,
    STRATEGIES_HEAD,
)

EVIDENCE_KIND: Final = "evidence that memcli had put into a prompt"
STRATEGIES_KIND: Final = "lessons that memcli had put into a prompt"

_BREAK = r"(?:[ \t]*(?:\r?\n|\\r\\n|\\n))+"
_ASKED = "\nThe question is asked at "
"""Stands below the evidence in the message that memcli's own reader sends to a model."""
_STARTS: Final = {
    EVIDENCE_KIND: re.compile(
        rf"{re.escape(EVIDENCE_HEAD)}{_BREAK}<(?P<fence>{EVIDENCE_FENCE}(?:-\d+)?)>(?={_BREAK})"
    ),
    STRATEGIES_KIND: re.compile(
        rf"<(?P<fence>{STRATEGIES_FENCE}(?:-\d+)?)>{_BREAK}{re.escape(STRATEGIES_HEAD)}"
    ),
}
_READ = re.compile(rf"\s*(<(?P<fence>{EVIDENCE_FENCE}(?:-\d+)?)>)(?=\n\[1\] )")
_LINE_OF_PACK = re.compile(r"(?:\r?\n|\\n)(?:\[\d+\] | )(?:(?!\\n)[^\r\n])*")
_LINE_OF_LESSONS = re.compile(r"(?:\r?\n|\\n)\[(?:(?!\\n)[^\r\n])*")


def without_own_words(events: Iterable[Event]) -> Iterator[Event]:
    """Yield events without memcli's own blocks: an `Ignored` for each, a turn if words are left.

    A turn that has nothing but such blocks is dropped, unless it has a caption.
    """
    for event in events:
        if not isinstance(event, Draft):
            yield event
            continue
        text, kinds = taken_out(event.text)
        for kind in kinds:
            yield Ignored(kind=kind)
        if not kinds:
            yield event
        elif text.strip() or event.caption:
            yield replace(event, text=text)


def taken_out(text: str) -> tuple[str, list[str]]:
    """Return a text without memcli's own blocks, and the kind of each block, in order."""
    if EVIDENCE_HEAD not in text and STRATEGIES_HEAD not in text and _ASKED not in text:
        return text, []
    found = sorted(_blocks(text))
    kept, position, kinds = list[str](), 0, list[str]()
    for start, end, kind in found:
        if start >= position:  # not a block that is quoted within the one before
            kept.append(text[position:start])
            kinds.append(kind)
            position = end
    kept.append(text[position:])
    return (_seamless(kept) if kinds else text), kinds


def _seamless(kept: list[str]) -> str:
    """Return what is kept; at the ends of the text a block's own line breaks go with it."""
    if not kept[0]:
        kept[1:] = [re.sub(rf"^{_BREAK}", "", kept[1]), *kept[2:]]
    if not kept[-1]:
        kept[-2] = kept[-2].rstrip("\r\n")
    return "".join(kept)


def _blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each block; the fence's name is one no line can close."""
    for kind, pattern in _STARTS.items():
        lines = _LINE_OF_PACK if kind == EVIDENCE_KIND else _LINE_OF_LESSONS
        for match in pattern.finditer(text):
            yield match.start(), _end(text, match.end(), match["fence"], lines), kind
    if _ASKED in text and (head := _READ.match(text)):
        end = _end(text, head.end(), head["fence"], _LINE_OF_PACK)
        if text.find(_ASKED, end) >= 0:
            yield head.start(1), end, EVIDENCE_KIND


def _end(text: str, position: int, fence: str, lines: re.Pattern[str]) -> int:
    """Return where a block ends: after its closing tag, else (cut off) after its last line."""
    closing = f"</{fence}>"
    found = text.find(closing, position)
    if found >= 0:
        return found + len(closing)
    while match := lines.match(text, position):
        position = match.end()
    return position
