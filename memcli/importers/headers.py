"""What a line of written dialogue looks like when it begins a turn.

A header is ``Name: text``, ``[time] Name: text``, ``(time) Name: text``, ``time Name: text``,
``Name (time): text``, ``**Name:** text``, ``**Name** (time):`` or a Markdown heading that is a
name. Whether a candidate counts is decided in `speakers`. All patterns are anchored and
bounded, so a line costs linear time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from memcli.importers.stamps import is_time_like, lead_of

Form = Literal["plain", "bold", "heading"]

_STAMP = r"(?:\[(?P<square>[^\[\]\n]{1,40})\]|\((?P<round>[^()\n]{1,40})\))"
_NAME = r"(?P<name>[^\W\d_][^:：*\[\]{}<>|=\"“”!?;/\\\n]{0,47}?)"
_AFTER = r"(?:[ \t]{1,4}(?:\((?P<after>[^()\n]{1,40})\)|\[(?P<boxed>[^\[\]\n]{1,40})\]))?"
_PLAIN = re.compile(
    rf"(?:{_STAMP}[ \t]{{1,4}})?{_NAME}{_AFTER}[ \t]?(?::(?=[ \t]|$)|：)(?P<said>.*)$", re.DOTALL
)
_BOLD = re.compile(
    rf"(?:{_STAMP}[ \t]{{1,4}})?(?P<mark>\*\*|__){_NAME}{_AFTER}(?P<in>[:：])?(?P=mark)"
    r"(?:[ \t]{0,4}\((?P<behind>[^()\n]{1,40})\))?(?P<out>[:：])?(?P<said>[ \t].*|)$",
    re.DOTALL,
)
_HEADING = re.compile(rf"(?P<level>#{{1,6}})[ \t]{{1,4}}{_NAME}[ \t]?:?[ \t]*$")

_OFFSET = re.compile(r"\d{1,3}:\d\d:\d\d(?:[.,]\d{1,6})?")


@dataclass(frozen=True, slots=True)
class Header:
    """A line that may begin a turn.

    Attributes:
        form: How the name is marked.
        name: The name as written.
        stamp: Text of the time, "" where there is none.
        is_offset: True for a stamp that counts from an unknown start: ``(00:03:10)``.
        said: The rest of the line.
        level: Depth of a heading, 0 for other forms.
        is_bare: True for a stamp before the name without brackets.
    """

    form: Form
    name: str
    stamp: str
    is_offset: bool
    said: str
    level: int = 0
    is_bare: bool = False

    @property
    def key(self) -> str:
        """The name for counting and comparing."""
        return self.name.casefold()


def header_of(line: str) -> Header | None:
    """Return a line as a possible header, or None."""
    if ":" not in line and "：" not in line and not line.startswith(("#", "**", "__")):
        return None
    if match := _BOLD.match(line):
        behind = match["behind"]
        marked = match["in"] or match["out"] or (behind and not match["said"].strip())
        return _header("bold", match, behind) if marked else None
    if match := _HEADING.match(line):
        return Header("heading", match["name"].strip(), "", False, "", len(match["level"]))
    lead, start = lead_of(line)
    if lead and (match := _PLAIN.match(line, start)) and not match["square"] and not match["round"]:
        name, said = match["name"].strip(), match["said"].removeprefix(" ")
        return Header("plain", name, lead, False, said, is_bare=True)
    if match := _PLAIN.match(line):
        return _header("plain", match, None)
    return None


def _header(form: Form, match: re.Match[str], behind: str | None) -> Header | None:
    """Return the header; None where a bracket that must be a time is none.

    Round brackets after the name are a time if they look like one, else part of the name.
    """
    name, before = match["name"].strip(), match["square"] or match["round"]
    boxed = match["boxed"]
    if (before and not is_time_like(before)) or (boxed and not is_time_like(boxed)):
        return None
    after = boxed or ""
    for bracket in (match["after"], behind):
        if bracket and is_time_like(bracket):
            after = bracket
        elif bracket:
            name = f"{name} ({bracket})"
    is_offset = bool(match["round"]) and _OFFSET.fullmatch(match["round"]) is not None
    said = match["said"].removeprefix(" ")
    return Header(form, name, before or after, is_offset, said)
