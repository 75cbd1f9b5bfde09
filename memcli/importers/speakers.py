"""Who speaks in written dialogue: which of the names that stand before words are names.

Whether a candidate counts is decided over the whole text: bold names, unless a user and an
assistant are bold; a plain name if it stands before several turns, looks personal (two
capitalised words, or a title) or is a role (``User``). A single word seen once before a colon
is a speaker only among people who speak in lines like it (`Cast.may_join`); labels (``Note:``)
are text however often they stand. After a time without brackets stands a name or a log's
source: log levels make the text a log, and nobody speaks in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from memcli.importers.headers import Form, Header
from memcli.importers.labels import is_label, is_log_word
from memcli.importers.moments import is_clock
from memcli.records.evidence import Role

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


def role_of(name: str) -> Role:
    """Return the role of a speaker: ``assistant`` for the usual names of models."""
    return _ROLES.get(name.casefold(), "user")


def _is_role(name: str) -> bool:
    return name.casefold() in _ROLES


def _words(name: str) -> list[str]:
    """Return the words of a name without what stands in brackets."""
    return name.partition("(")[0].split()


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


def _is_low_name(header: Header) -> bool:
    """Say whether a header is a single word that is no label, and words follow."""
    is_single = len(_words(header.name)) == 1 and not is_label(header.name)
    return is_single and bool(header.said.strip())


_VALUE = re.compile(r"[-+~<>$€£]?[ ]?\d[\d.,:/x]{0,20}[ ]?[^\W\d_°%]{0,6}[°%]?[.,;]?")


def is_value(said: str) -> bool:
    """Say whether what follows a colon is a quantity (``200 g``, ``21.5``), not words."""
    return _VALUE.fullmatch(said.strip()) is not None


class Cast:
    """The speakers of one text, decided from all its candidate headers.

    Args:
        candidates: The header of every line that is neither blank nor a date, in order; None
            for a line that has none. Where each of them, from the first on, is a capitalised
            name and a colon, a single word seen once is a speaker: ``Ana``, ``Bo``, ``Ana``.
    """

    def __init__(self, candidates: Iterable[Header | None]) -> None:
        self._counts: Counter[str] = Counter()
        self._unstamped: Counter[str] = Counter()
        self._bare: Counter[str] = Counter()
        self._low = set[str]()
        marked = set[tuple[Form, str, bool]]()
        self._roles: dict[Form, set[Role]] = {"plain": set(), "bold": set(), "heading": set()}
        self._levels: dict[int, set[str]] = {}
        people = others = 0
        for header in candidates:
            is_person = header is not None and header.form == "plain" and _may_be_person(header)
            people += is_person
            others += people > 0 and not is_person
            if header is not None:
                self._count(header, marked)
        self._is_solid = people > 0 and others == 0
        self._has_people = any(self._is_person(*each) for each in marked)
        self._is_chat = self._bare["person"] * 2 >= self._bare["all"] and not self._is_log()
        talkers = [key for key, count in self._unstamped.items() if count >= 2]
        talkers = [key for key in talkers if not (_is_role(key) or is_label(key))]
        self._has_talkers = bool(talkers)
        self._is_low = self._low.issuperset(talkers)

    def _count(self, header: Header, marked: set[tuple[Form, str, bool]]) -> None:
        self._counts[header.key] += 1
        if header.level:
            self._levels.setdefault(header.level, set()).add(header.name)
        elif header.form == "bold" or header.stamp:
            marked.add((header.form, header.name, bool(header.stamp)))
        else:
            self._unstamped[header.key] += 1
            if header.name[0].islower():
                self._low.add(header.key)
        if _is_role(header.name):
            self._roles[header.form].add(role_of(header.name))
        if header.stamp and header.form == "plain":
            self._count_stamp(header)

    def _count_stamp(self, header: Header) -> None:
        """Count a stamped candidate by what its name is, and those with a clock alone."""
        self._bare["stamped"] += 1
        self._bare["log"] += is_log_word(header.name)
        if header.is_bare:
            self._bare["all"] += 1
            self._bare["clock"] += is_clock(header.stamp)
            self._bare["person"] += _is_role(header.name) or _is_short_name(header.name)

    def _is_log(self) -> bool:
        """Say whether at least a tenth of the stamped lines name a log level or a service."""
        return self._bare["log"] * 10 >= max(self._bare["stamped"], 1)

    @property
    def is_between_roles(self) -> bool:
        """True where some form marks a user and an assistant."""
        return any(map(self._is_between_roles, self._roles))

    def _is_person(self, form: Form, name: str, is_stamped: bool) -> bool:
        """Say whether a marked name is neither a role nor a word of a message's own layout."""
        is_layout = not is_stamped and self._is_between_roles(form)
        return not (_is_role(name) or is_label(name) or is_layout)

    def includes(self, header: Header) -> bool:
        """Say whether a candidate begins a turn."""
        if _is_role(header.name) and self._is_role_here(header):
            return True
        if header.stamp and len(_words(header.name)) <= _MOST_WORDS:
            return self._speaks_in_chat(header) if header.is_bare else not self._is_level(header)
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

    def _is_level(self, header: Header) -> bool:
        return is_log_word(header.name) and self._is_log()

    def _speaks_in_chat(self, header: Header) -> bool:
        """Say whether a name after a bare time speaks.

        Among dated turns a clock alone is no reason: Ann's plan may say ``18:30 Food: late``.
        """
        if not self._is_chat or is_label(header.name):
            return False
        is_usual = not is_clock(header.stamp) or 2 * self._bare["clock"] >= self._bare["all"]
        return self._counts[header.key] >= 2 or (is_usual and _is_short_name(header.name))

    def may_join(self, header: Header) -> bool:
        """Say whether a single word seen once may speak, if its place in the text allows it.

        It must look like the turns of people who speak here: plain, without a time, with a
        capital unless nobody has one, followed by words; and be no label, no role and no
        quantity's name.
        """
        is_alike = self._has_talkers and header.form == "plain" and not header.stamp
        if not is_alike or self._is_between_roles("plain") or _is_role(header.name):
            return False
        is_named = _may_be_person(header) or (self._is_low and _is_low_name(header))
        return is_named and not is_value(header.said)

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
