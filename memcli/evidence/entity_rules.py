"""Names without a language model: what capitals, quotes and spelling give away.

Precision first: a capital at the start of a sentence says nothing, so a single word there
counts only if it also stands capitalised elsewhere in the text, or is spelled as no common
word is (``NASA``, ``O'Brien``). Scripts without capitals have no such names; their words still
anchor turns as content terms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memcli.evidence.date_words import MONTHS, WEEKDAYS, word_set
from memcli.records.annotations import Entity
from memcli.search.tokens import stop_words, tokens

_MAX_WORDS = 6
_WORD = re.compile(r"[^\W_][\w’'&-]*")
_QUOTED = re.compile(r"[\"“«]([^\"“”«»\n]{2,60})[\"”»]")
_HANDLE = re.compile(r"(?<![\w@.])@\w[\w.-]*\w")
_LINK = re.compile(r"\bhttps?://(?:www\.)?([\w-]+(?:\.[\w-]+)+)")
_CODE = re.compile(
    r"(?<![\w/@.-])(?:[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*"
    r"|[\w-]+(?:/[\w.-]+)*\.(?:py|js|ts|tsx|go|rs|c|h|cpp|java|rb|md|json|toml|ya?ml|sh|sql|html|css)\b)"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:…\n\"“(\[*-])\s*$")
_LOOK_BACK = 8
_POSSESSIVE = re.compile(r"[’']s?$")
_PARTICLES = word_set("of the de da del la van von der du")
_OPENERS = word_set(
    "yesterday today tomorrow tonight thanks thank hey hi hello wow great good nice cool sure okay"
    " yep nope oh ah aw haha sorry please congrats absolutely definitely maybe actually last next"
)


def rule_entities(text: str) -> Iterator[Entity]:
    """Yield the names in a text, in order, without overlap; the earliest, then longest wins."""
    end = 0
    for entity in sorted(_candidates(text), key=lambda e: (e.start, -e.end, e.label)):
        if entity.start >= end:
            yield entity
            end = entity.end


def _candidates(text: str) -> Iterator[Entity]:
    for label, pattern, group in (
        ("HOST", _LINK, 1),
        ("HANDLE", _HANDLE, 0),
        ("CODE", _CODE, 0),
        ("TITLE", _QUOTED, 1),
    ):
        for match in pattern.finditer(text):
            if label != "TITLE" or _is_title(match[group]):
                yield Entity(match[group], label, *match.span(group))
    yield from _names(text)


def _is_title(quoted: str) -> bool:
    return quoted[0].isupper() and len(quoted.split()) <= _MAX_WORDS and not _is_common(quoted)


def _names(text: str) -> Iterator[Entity]:
    """Yield runs of capitalised words, less the common words at their ends."""
    runs = [run for words in _capital_runs(text) if (run := _trimmed(words)) is not None]
    inside = {text[start:end] for start, end in runs if not _starts_sentence(text, start)}
    for start, end in runs:
        name = text[start:end]
        is_plain = name[1:].islower() or len(name) == 1
        if not is_plain or name in inside or not _starts_sentence(text, start):
            yield Entity(name, "NAME", start, end)


def _capital_runs(text: str) -> Iterator[Sequence[re.Match[str]]]:
    """Yield capitalised words one space apart, with particles (``Leonardo da Vinci``) between."""
    run: list[re.Match[str]] = []
    end = 0
    for word in _WORD.finditer(text):
        is_next = text[end : word.start()] == " " and len(run) < _MAX_WORDS
        if not (is_next and run):
            yield run
            run = []
        is_capital = word[0][0].isupper() and text[max(0, word.start() - 1)] not in "@#/_"
        if is_capital:
            run.append(word)
        elif word[0] not in _PARTICLES:
            yield run
            run = []
        end = word.end()
    yield run


def _trimmed(words: Sequence[re.Match[str]]) -> tuple[int, int] | None:
    """Return the span of a run less common words at its ends and a possessive, None if empty."""
    kept = [word for word in words if not _is_common(word[0])]
    if not kept:
        return None
    last = kept[-1]
    return kept[0].start(), last.end() - len(last[0]) + len(_POSSESSIVE.sub("", last[0]))


def _is_common(word: str) -> bool:
    """Whether a word is no name by itself: a stop word, a greeting, a month, a weekday."""
    plain = word.lower()
    dated = plain in MONTHS or plain in WEEKDAYS
    return dated or plain in _OPENERS or stop_words().issuperset(tokens(word))


def _starts_sentence(text: str, start: int) -> bool:
    return _SENTENCE_START.search(text[max(0, start - _LOOK_BACK) : start]) is not None
