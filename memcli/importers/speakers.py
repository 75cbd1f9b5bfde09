"""Who speaks in a line of written dialogue: header forms, and which names are names.

A header is ``Name: text``, ``[time] Name: text``, ``(time) Name: text``, ``**Name:** text``,
``**Name** (time):`` or a Markdown heading that is a name. Whether a candidate counts is
decided over the whole text: bold names, unless a user and an assistant are bold; a plain
name if it stands before several turns, looks personal (two capitalised words, or a title) or
is a role (``User``). A single
word seen once before a colon is text, and so are labels (``Note:``) however often they stand.
All patterns are anchored and bounded, so a line costs linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from memcli.records.evidence import Role

Form = Literal["plain", "bold", "heading"]

_STAMP = r"(?:\[(?P<square>[^\[\]\n]{1,40})\]|\((?P<round>[^()\n]{1,40})\))"
_NAME = r"(?P<name>[^\W\d_][^:：*\[\]{}<>|=\"“”!?;/\\\n]{0,47}?)"
_AFTER = r"(?:[ \t]{1,4}\((?P<after>[^()\n]{1,40})\))?"
_PLAIN = re.compile(
    rf"(?:{_STAMP}[ \t]{{1,4}})?{_NAME}{_AFTER}[ \t]?(?::(?=[ \t]|$)|：)(?P<said>.*)$", re.DOTALL
)
_BOLD = re.compile(
    rf"(?:{_STAMP}[ \t]{{1,4}})?(?P<mark>\*\*|__){_NAME}{_AFTER}(?P<in>[:：])?(?P=mark)"
    r"(?:[ \t]{0,4}\((?P<behind>[^()\n]{1,40})\))?(?P<out>[:：])?(?P<said>[ \t].*|)$",
    re.DOTALL,
)
_HEADING = re.compile(rf"(?P<level>#{{1,6}})[ \t]{{1,4}}{_NAME}[ \t]?:?[ \t]*$")

_TIME_LIKE = re.compile(r"\d:\d\d|\d{4}|\d[./-]\d")
_OFFSET = re.compile(r"\d{1,3}:\d\d:\d\d(?:[.,]\d{1,6})?")
_MOST_WORDS = 5
_PARTICLES_WORDS = """
    de da di du van von der den la le el al bin ibn of the and y e
    """
_PARTICLES = frozenset(_PARTICLES_WORDS.split())

_TITLES_WORDS = """
    dr mr mrs ms mx prof sir dame rev capt lt sgt judge sen rep
    """
_TITLES = frozenset(_TITLES_WORDS.split())
_CLEAR_ROLES: dict[str, Role] = {
    **dict.fromkeys(("user", "human", "you said"), "user"),
    **dict.fromkeys(("assistant", "ai", "chatgpt", "chatgpt said", "claude"), "assistant"),
}
_ROLES: dict[str, Role] = {
    **_CLEAR_ROLES,
    **dict.fromkeys(("me", "you", "prompter", "interviewer"), "user"),
    **dict.fromkeys(("bot", "chatbot", "llm", "gpt", "gpt-4", "gpt-4o"), "assistant"),
    **dict.fromkeys(("gemini", "gemini said", "copilot", "copilot said"), "assistant"),
    "system": "system",
    "developer": "developer",
    "tool": "tool",
}
_LABELS_WORDS = """
    note notes ps p.s nb n.b fyi btw todo fixme warning warn info debug error fatal critical trace
    notice caution important tip hint reminder example examples e.g i.e update edit edited summary
    overview introduction intro background details description context result results conclusion
    conclusions abstract references reference source sources usage setup installation install
    requirements prerequisites step steps question answer questions answers q a task goal goals
    input output title subject date time from to cc bcc re fwd sent received reply-to author authors
    version license name names address phone email mail url link links http https ftp mailto file
    files path host status accept cookie location content-type else try finally except default case
    return public private protected agenda attendees participants present minutes action actions
    items topic topics chapter section part figure table appendix pros cons monday tuesday wednesday
    thursday friday saturday sunday today tomorrow yesterday total price quantity ingredients
    directions method features changes changelog added changed fixed fixes bug removed deprecated
    security breaking dependencies documentation performance internal improvements age year month
    day city town country state zip size color colour weight height width length type kind category
    id key value status classifier generator tag dynamic keywords maintainer platform requires
    provides metadata mime page format encoding value values option options default defaults
    pros cons status role company department salary rating score duration location place room
    """
_LABELS = frozenset(_LABELS_WORDS.split())


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
    """

    form: Form
    name: str
    stamp: str
    is_offset: bool
    said: str
    level: int = 0

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
    if match := _PLAIN.match(line):
        return _header("plain", match, None)
    return None


def _header(form: Form, match: re.Match[str], behind: str | None) -> Header | None:
    """Return the header; None where the bracket before the name is no time.

    Brackets after the name are a time if they look like one, else part of the name.
    """
    name, before = match["name"].strip(), match["square"] or match["round"]
    after = ""
    for bracket in (match["after"], behind):
        if bracket and _TIME_LIKE.search(bracket):
            after = bracket
        elif bracket:
            name = f"{name} ({bracket})"
    if before and not _TIME_LIKE.search(before):
        return None
    is_offset = bool(match["round"]) and _OFFSET.fullmatch(match["round"]) is not None
    said = match["said"].removeprefix(" ")
    return Header(form, name, before or after, is_offset, said)


def role_of(name: str) -> Role:
    """Return the role of a speaker: ``assistant`` for the usual names of models."""
    return _ROLES.get(name.casefold(), "user")


def _is_role(name: str) -> bool:
    return name.casefold() in _ROLES


def _words(name: str) -> list[str]:
    """Return the words of a name without what stands in brackets."""
    return name.partition("(")[0].split()


def is_label(name: str) -> bool:
    """Say whether a name is a heading word, a log level or a field name, not a person."""
    words = [
        word.rstrip(".") for word in name.partition("(")[0].casefold().replace("-", " ").split()
    ]
    return any(word in _LABELS for word in words)


def _is_capitalised(word: str) -> bool:
    first = word.lstrip("'’(")[:1]
    return not first.islower() or word.casefold() in _PARTICLES


def looks_personal(name: str) -> bool:
    """Say whether a name is two to four capitalised words, or begins with a title."""
    words = _words(name)
    if len(words) < 2 or len(words) > 4 or not any(word[:1].isupper() for word in words):
        return False
    is_titled = words[0].casefold().rstrip(".") in _TITLES
    return is_titled or (all(map(_is_capitalised, words)) and name[0].isupper())


def _is_short_name(name: str) -> bool:
    """Say whether a heading has at most three words, each with a capital."""
    words = name.split()
    return len(words) <= 3 and all(map(_is_capitalised, words))


def _may_be_person(header: Header) -> bool:
    """Say whether a header is a single capitalised word that is no label, and words follow."""
    name, said = header.name, header.said.strip()
    return bool(said) and len(_words(name)) == 1 and _is_capitalised(name) and not is_label(name)


class Cast:
    """The speakers of one text, decided from all its candidate headers.

    Args:
        headers: Every candidate, in order.
        line_count: Lines that are not blank; where each of them is a capitalised name and a
            colon, a single word seen once is a speaker after all: ``Ana``, ``Bo``, ``Ana``.
    """

    def __init__(self, headers: Iterable[Header], line_count: int) -> None:
        self._counts: Counter[str] = Counter()
        marked = set[tuple[Form, str, bool]]()
        self._roles: dict[Form, set[Role]] = {"plain": set(), "bold": set(), "heading": set()}
        self._levels: dict[int, set[str]] = {}
        for header in headers:
            self._counts[header.key] += 1
            if header.level:
                self._levels.setdefault(header.level, set()).add(header.name)
            elif header.form == "bold" or header.stamp:
                marked.add((header.form, header.name, bool(header.stamp)))
            if _is_role(header.name):
                self._roles[header.form].add(role_of(header.name))
            line_count -= header.form == "plain" and _may_be_person(header)
        self._is_solid = line_count == 0
        self._has_people = any(self._is_person(*each) for each in marked)

    def _is_person(self, form: Form, name: str, is_stamped: bool) -> bool:
        """Say whether a marked name is neither a role nor a word of a message's own layout."""
        is_layout = not is_stamped and self._is_between_roles(form)
        return not (_is_role(name) or is_label(name) or is_layout)

    def includes(self, header: Header) -> bool:
        """Say whether a candidate begins a turn."""
        if _is_role(header.name) and self._is_role_here(header):
            return True
        if header.stamp and len(_words(header.name)) <= _MOST_WORDS:
            return True
        if is_label(header.name) or self._is_between_roles(header.form):
            return False
        match header.form:
            case "heading":
                return self._is_heading_name(header)
            case "bold":
                return len(_words(header.name)) <= _MOST_WORDS and _is_capitalised(header.name)
            case _:
                solid = self._is_solid and _may_be_person(header)
                return solid or looks_personal(header.name) or self._repeats(header)

    def _is_role_here(self, header: Header) -> bool:
        """Say whether a role word speaks: with its counterpart, several times, or clearly."""
        is_clear = header.key in _CLEAR_ROLES and header.form != "heading"
        return is_clear or self._is_between_roles(header.form) or self._counts[header.key] >= 2

    def _is_between_roles(self, form: Form) -> bool:
        """Say whether this form marks a user and an assistant: then it marks nobody else."""
        return {"user", "assistant"} <= self._roles[form]

    def _repeats(self, header: Header) -> bool:
        """Say whether a plain name stands before several turns."""
        count, words = self._counts[header.key], _words(header.name)
        if len(words) == 1:
            return count >= 2 and bool(header.said.strip() or header.name[0].isupper())
        return count >= 2 and len(words) <= _MOST_WORDS and all(map(_is_capitalised, words))

    def _is_heading_name(self, header: Header) -> bool:
        """Say whether a heading is a speaker: it repeats, or people speak and all like it do."""
        if any(self._roles.values()) and not self._has_people:
            return False
        siblings = self._levels[header.level]
        if any(is_label(name) or not _is_short_name(name) for name in siblings):
            return False
        return self._counts[header.key] >= 2 or (self._has_people and header.level > 1)
