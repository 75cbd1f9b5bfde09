"""Timed cues of subtitle files, one at a time, and who speaks in them.

Read by our own scanner, not by a library: cues keep their entities, empty cues and damage are
told, a file of any length needs the memory of one cue. Cue times are offsets from a start
that is not in the file, so a turn's time stays unknown; they are its native id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from memcli.importers.bytestream import lines, rejected
from memcli.importers.contract import Draft, Event, Ignored, Input, Rejected
from memcli.importers.headers import header_of
from memcli.importers.labels import is_label
from memcli.importers.speakers import looks_personal, role_of

LONGEST_TURN = 4_000
"""Characters up to which neighbouring cues of one speaker are joined to one turn."""

_CLOCK = r"(?:\d{1,3}:)?\d{1,2}:\d{1,2}(?:[.,]\d{1,6})?"
TIMING = re.compile(rf"\s*(?P<start>{_CLOCK})[ \t]*-->[ \t]*(?P<end>{_CLOCK})(?:[ \t].*)?")
_CHEVRONS = re.compile(r"\s*(?:>>+|&gt;&gt;)\s*")


@dataclass(frozen=True, slots=True)
class Cue:
    """One cue.

    Attributes:
        line: Its 1-based line in the file, that of its times.
        start: When it begins, as written.
        end: When it ends, as written.
        text: Its lines, joined by line breaks.
    """

    line: int
    start: str
    end: str
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody says in a cue; ``speaker`` is None where it is not said who."""

    line: int
    span: tuple[str, str]
    speaker: str | None
    text: str


def read_cues(source: Input, skipped: tuple[str, ...] = ()) -> Iterator[Cue | Event]:
    """Yield the cues of a file in order, and what is none.

    A block is lines up to a blank one: an optional id, times, text. Blocks that begin with a
    word of ``skipped`` (``NOTE``) are no talk; text without times is rejected.
    """
    block: list[tuple[int, str]] = []
    for line in lines(source):
        try:
            text = line.raw.decode("utf-8")
        except UnicodeDecodeError as error:
            where = f"{source.name}:{line.number}"
            yield rejected(where, f"not UTF-8 at byte {error.start + 1} of the line", line.raw)
            continue
        if text.strip():
            block.append((line.number, text))
        elif block:
            yield from _block(source, block, skipped)
            block = []
    if block:
        yield from _block(source, block, skipped)


def _block(
    source: Input, block: list[tuple[int, str]], skipped: tuple[str, ...]
) -> Iterator[Cue | Event]:
    first = block[0][1].lstrip("\ufeff").split(maxsplit=1)[0]
    if first in skipped and not TIMING.fullmatch(block[0][1]):
        yield Ignored(kind=first)
        return
    at = next((n for n, (_, text) in enumerate(block[:2]) if TIMING.fullmatch(text)), None)
    if at is None:
        yield rejected(
            f"{source.name}:{block[0][0]}",
            "text without a cue's times",
            "\n".join(text for _, text in block),
        )
        return
    number, times = block[at]
    match = TIMING.fullmatch(times)
    text = "\n".join(text for _, text in block[at + 1 :])
    if match is not None:
        yield Cue(number, match["start"], match["end"], text)


class Names:
    """The speakers of a file that are named before a colon: ``Odile Marsh: hello``.

    A name counts when it looks personal, stands before several cues, or follows ``>>``; words
    such as ``Note`` never do.

    Args:
        texts: The first line of every cue.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        heads = (header_of(_CHEVRONS.sub("", text, count=1)) for text in texts)
        self._counts = Counter(h.key for h in heads if h is not None and h.form == "plain")

    def split(self, text: str) -> tuple[str | None, str]:
        """Return the speaker that a text names, or None, and what is said."""
        turned = _CHEVRONS.match(text)
        rest = text[turned.end() :] if turned else text
        first, _, after = rest.partition("\n")
        head = header_of(first)
        if head is None or head.form != "plain" or head.stamp or is_label(head.name):
            return None, rest if turned else text
        is_name = looks_personal(head.name) or self._counts[head.key] > 1 or turned is not None
        if not is_name and not head.name.isupper():
            return None, rest if turned else text
        said = head.said.lstrip(" ")
        return head.name, f"{said}\n{after}" if after else said


def as_turns(found: Iterable[Said | Event]) -> Iterator[Event]:
    """Yield a turn for what each speaker says in a row; unnamed words stand for themselves."""
    held: list[Said] = []
    seen: Counter[str] = Counter()
    for each in found:
        if isinstance(each, Said) and held and _continues(held, each):
            held.append(each)
            continue
        if held and isinstance(each, Said | Rejected):
            yield _turn(held, seen)
            held = []
        if isinstance(each, Said):
            held = [each]
        else:
            yield each
    if held:
        yield _turn(held, seen)


def _continues(held: list[Said], said: Said) -> bool:
    length = sum(len(each.text) for each in held) + len(said.text)
    return said.speaker is not None and said.speaker == held[-1].speaker and length <= LONGEST_TURN


def _turn(held: list[Said], seen: Counter[str]) -> Draft:
    first, last = held[0], held[-1]
    span = f"{first.span[0]}–{last.span[1]}"
    seen[span] += 1
    draft = Draft(
        role=role_of(first.speaker) if first.speaker else "user",
        text="\n".join(each.text for each in held),
        speaker=first.speaker,
        native_id=span,
        line=first.line,
    )
    return replace(draft, part=f"text/{seen[span] - 1}") if seen[span] > 1 else draft
