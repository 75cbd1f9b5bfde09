"""One tokenizer for turns and questions: words as people write them, code as machines do.

A text is split at white space into chunks, and each chunk into tokens, small chunks from a
cache, because talk repeats itself. A compound is kept whole *and* split: ``ask-codex`` is
``askcodex``, ``ask``, ``codex``; ``20.04`` is ``20.04``, ``20``, ``04``; ``readFile`` and
``read_file`` are both ``readfil``, ``read``, ``file``. Words are NFKC-normalised, casefolded,
stripped of Latin diacritics and stemmed (Snowball English). Scripts without spaces give
single characters and pairs. Stop words are kept: a question of nothing else must find them.
A question mark is a token too, `ASKS`: ranking looks for answers after it.

No token holds white space, so an index may be fed ``" ".join(tokens(text))``.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

MAX_TOKEN_CHARS = 200
"""Longer tokens keep their head and a hash: an index would drop them without a word."""

ASKS = "?"
"""The token of a question mark."""

_HEAD_CHARS = 100
_CLUSTER_CHARS = 64
_CACHED_CHARS = 40
_CACHE_ENTRIES = 1 << 15

_STOP_WORDS = """
a about above after again all also am an and any are aren't as at be because been before being
below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't
down during each etc ever few for from further get gets getting go goes going gonna got had
hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself
his how how's however i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself just
let's like may me might more most much must my myself no nor not of off ok on once only onto or
other our ours ourselves out over own really same shall she she'd she'll she's should shouldn't
so some such than that that's the their theirs them themselves then there there's these they
they'd they'll they're they've this those through to too under until up upon us very was wasn't
we we'd we'll we're we've were weren't what what's when when's where where's which while who
who's whom whose why why's will with won't would wouldn't yeah yes you you'd you'll you're
you've your yours yourself yourselves ?
"""

# Combining marks and signs are no "word characters" to `re`; without them Hindi, Hebrew or
# Thai words would break apart. Dandas (U+0964, U+0965) end sentences and stay out.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0"
    "\u0900-\u0963\u0966-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ece\u0f18\u0f19"
    "\u0f35\u0f37\u0f39\u0f3e\u0f3f\u0f71-\u0f84\u0f86-\u0fbc\u102b-\u103e\u1056-\u1059"
    "\u1714\u1734\u17b4-\u17d3\u180b-\u180d\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\u3099\u309a"
    "\ufe00-\ufe0f\ufe20-\ufe2f\u200c\u200d"
)
_WORD = rf"[^\W_][\w{_MARKS}]*"
_COMPOUND = re.compile(
    rf"{_WORD}(?:(?:[.'’/\\:@&-]|::|://|\\\\|(?<=\d),(?=\d\d\d)){_WORD})*(?:\+\+|\#)?"
    "|[\u2600-\u27bf\U0001f1e6-\U0001faff]"
    r"|[?؟][?؟!]*(?!\w)"
)
_UNSPACED = (
    "\u0e00-\u0eff\u1780-\u17ff"  # Thai, Lao, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Kana and iteration marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\uac00-\ud7ff"  # Hangul
)
_SCRIPT_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_CASE_RUN = re.compile(r"[A-Z]{2,}(?=s$)|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]+")

# Outermost first: a path is split into names, a name at dots, then at hyphens.
_SEPARATORS = (re.compile(r"[/\\:@&+#]+"), re.compile(r"\."), re.compile(r"[-_]+"))
_KEEPS_SEPARATOR = 2
"""Levels before this keep their separators in the whole form: 20.04 is not 2004."""

_APOSTROPHE = re.compile("['’]")
_SUFFIXES = frozenset({"s", "d", "m", "ll", "re", "ve"})


class Token(NamedTuple):
    """A token and the slice ``[start:end]`` of the verbatim text it stands for."""

    text: str
    start: int
    end: int


def tokens(text: str) -> list[str]:
    """Return the tokens of a text in reading order, a compound before its parts."""
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    found: list[str] = []
    for chunk in normal.split():
        found += _cached_words(chunk) if len(chunk) <= _CACHED_CHARS else _words(chunk)
    return found


def tokens_with_spans(text: str) -> list[Token]:
    """Return `tokens` with their places in the verbatim text."""
    normal, starts = _aligned(text)
    return [
        Token(word, starts[chunk.start() + start], _end(starts, chunk.start() + end))
        for chunk in re.finditer(r"\S+", normal)
        for word, start, end in _pieces(chunk.group())
    ]


@lru_cache(maxsize=1)
def stop_words() -> frozenset[str]:
    """Return the stop words as tokens: stemmed, without apostrophes."""
    return frozenset(tokens(_STOP_WORDS))


def _words(chunk: str) -> tuple[str, ...]:
    if chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.istitle()):
        return (_stem(chunk),)
    return tuple(word for word, _, _ in _pieces(chunk))


_cached_words = lru_cache(maxsize=_CACHE_ENTRIES)(_words)


def _pieces(chunk: str) -> Iterator[Token]:
    """Yield the tokens of a normalised chunk without white space; spans are relative to it."""
    for match in _COMPOUND.finditer(chunk):
        if match.group()[0] in "?؟":
            yield Token(ASKS, *match.span())
        else:
            yield from _split(match.group(), match.start(), 0)


def _split(text: str, at: int, level: int) -> Iterator[Token]:
    """Yield a compound whole, then its parts, splitting at ever closer separators."""
    if level == len(_SEPARATORS):
        yield from _split_apostrophes(text, at)
        return
    parts = _between(_SEPARATORS[level], text)
    if len(parts) == 1 and len(parts[0][0]) == len(text):
        yield from _split(text, at, level + 1)
        return
    if len(parts) > 1 or text.endswith(("++", "#")):
        yield Token(_whole(text, [part for part, _ in parts], level), at, at + len(text))
    for part, start in parts:
        yield from _split(part, at + start, level + 1)


def _whole(text: str, parts: list[str], level: int) -> str:
    """Return the form in which a compound is found as one word."""
    is_acronym = level == 1 and all(len(part) == 1 and part.isalpha() for part in parts)
    if level >= _KEEPS_SEPARATOR or is_acronym:
        return _stem("".join(parts).replace("'", "").replace("’", ""))
    return _cut(_fold(text.replace(",", "")))


def _between(separator: re.Pattern[str], text: str) -> list[tuple[str, int]]:
    """Return the non-empty parts of a text between separators, with their offsets."""
    parts, start = [], 0
    for match in separator.finditer(text):
        parts.append((text[start : match.start()], start))
        start = match.end()
    parts.append((text[start:], start))
    return [(part, offset) for part, offset in parts if part]


def _split_apostrophes(text: str, at: int) -> Iterator[Token]:
    """Yield ``Mara's`` as mara, ``don't`` as dont, ``O'Brien`` as obrien and brien."""
    parts = _between(_APOSTROPHE, text)
    end = at + len(text)
    if len(parts) == 1:
        yield from _split_cases(parts[0][0], at + parts[0][1])
    elif len(parts) == 2 and parts[1][0].lower() in _SUFFIXES:
        yield from _split_cases(parts[0][0], at)
    else:
        yield Token(_stem("".join(part for part, _ in parts)), at, end)
        for part, start in parts:
            if len(part) > 1 and parts[-1][0].lower() != "t":
                yield from _split_cases(part, at + start)


def _split_cases(word: str, at: int) -> Iterator[Token]:
    """Yield ``readFile`` as readfil, read, file; ``TS2304`` as ts2304, ts, 2304."""
    if not word.isascii():
        yield from _split_scripts(word, at)
        return
    yield Token(_stem(word.replace(",", "")), at, at + len(word))
    is_plain = word.islower() and word.isalpha()
    runs = [] if is_plain or "," in word else _CASE_RUN.findall(word)  # 1,000 has no parts
    start = at
    for run in runs if len(runs) > 1 else ():
        if len(run) > 1:
            yield Token(_stem(run), start, start + len(run))
        start += len(run)


def _split_scripts(word: str, at: int) -> Iterator[Token]:
    """Yield characters and pairs of scripts written without spaces, other runs as words."""
    for match in _SCRIPT_RUN.finditer(word):
        run, start = match.group(), at + match.start()
        if not _IS_UNSPACED.match(run):
            yield Token(_stem(run), start, start + len(run))
            continue
        for i, char in enumerate(run):
            if char.isalnum():
                yield Token(_fold(char), start + i, start + i + 1)
            if i + 1 < len(run):
                yield Token(_fold(run[i : i + 2]), start + i, start + i + 2)


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    """Return Snowball's English stemmer; loaded once, at first use."""
    import Stemmer

    stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord
    return stem


def _stem(word: str) -> str:
    folded = _fold(word)
    return _stemmer()(folded) if len(folded) <= _CACHED_CHARS else _cut(folded)


def _fold(text: str) -> str:
    """Return the text casefolded, without Latin diacritics, joiners and variation signs."""
    if text.isascii():
        return text.lower()
    letters = []
    for char in text.casefold():
        first = unicodedata.normalize("NFD", char)[0]
        if first.isascii():
            letters.append(first)
        elif not (letters and letters[-1].isascii() and unicodedata.combining(char)):
            letters.append("" if char in "\u200c\u200d\ufe0e\ufe0f" else char)
    return "".join(letters) or text


def _cut(word: str) -> str:
    """Return the word, or the head and hash of one that an index would lose."""
    if len(word) <= MAX_TOKEN_CHARS:
        return word
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{word[:_HEAD_CHARS]}~{digest}"


def _aligned(text: str) -> tuple[str, list[int] | range]:
    """Return the NFKC text and, for each of its characters and its end, the verbatim offset.

    Characters that normalise together form one cluster; each of its normalised characters
    points to the cluster's start.
    """
    if text.isascii():
        return text, range(len(text) + 1)
    normal: list[str] = []
    starts: list[int] = []
    for start, end in _clusters(text):
        cluster = unicodedata.normalize("NFKC", text[start:end])
        normal.append(cluster)
        starts += [start] * len(cluster)
    return "".join(normal), [*starts, len(text)]


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield the shortest slices that NFKC maps independently of each other."""
    start = 0
    for i in range(1, len(text)):
        before, char = text[start:i], text[i]
        if (before.isascii() and char.isascii()) or i - start >= _CLUSTER_CHARS:
            is_boundary = True  # the limit keeps a megabyte of accents from taking forever
        else:
            apart = unicodedata.normalize("NFKC", before) + unicodedata.normalize("NFKC", char)
            together = unicodedata.normalize("NFKC", before + char)
            is_boundary = not unicodedata.combining(char) and together == apart
        if is_boundary:
            yield start, i
            start = i
    if text:
        yield start, len(text)


def _end(starts: list[int] | range, position: int) -> int:
    """Return where the cluster of the normalised character before ``position`` ends."""
    last = starts[position - 1]
    while starts[position] == last:
        position += 1
    return starts[position]
