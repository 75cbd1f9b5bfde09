"""How much of the gold evidence of LoCoMo is among the ranked positions; no LLM.

One store a conversation, ingested and indexed by memcli itself. A question's figure is the
fraction of its gold turns among the 18 positions by rank; the mean is over the questions of
categories 1 to 4 that name a gold turn. Beside it: rank-bm25 on white-space tokens ("flat") and
on stems of text, speaker, caption and date without stop words ("four fields").

"Chosen without" answers whether the constants were fitted to these conversations: for each
conversation the recipe is chosen, from the shipped one and its neighbours, by the other four.
Intervals are 95 %, paired bootstrap over questions. ``--pad 150`` follows every turn by that
many words of another conversation: do long turns break the recipe?

    python -m benchmarks.locomo locomo_dev5.json --out benchmarks/results/locomo_dev5.json
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import Any

from benchmarks.cold import machine, without_folders
from memcli.app.ingest import IngestOptions, find_sources, ingest
from memcli.app.stores import create_store
from memcli.budgets import count_tokens_batch
from memcli.evidence.pack import pack
from memcli.evidence.ranking import RECIPE, Recipe
from memcli.evidence.route import Budgets, Routed, route
from memcli.records.evidence import Turn
from memcli.search.opening import open_index
from memcli.search.tokens import stop_words, tokens
from memcli.search.turn_index import TurnIndex

POSITIONS = 18
ANSWERABLE = (1, 2, 3, 4)
NOW = datetime(2026, 1, 1, tzinfo=UTC)

ONLY_CORE = Budgets(episode=POSITIONS, cooccurrence=0, time=0)
OWN_WORDS = Recipe(
    windows=(), session=0.0, handover=0.0, speaker_gain=0.0, stop_weight=0.0, brevity=0.0
)
"""The core without episodes: BM25 of the turn."""

NEIGHBOURS: Mapping[str, Mapping[str, Any]] = {
    "k1 0.6": {"k1": 0.6},
    "k1 1.5": {"k1": 1.5},
    "b 0.5": {"length_norm": 0.5},
    "windows 0.5": {"windows": ((2, 0.5), (4, 0.5))},
    "windows 1.0": {"windows": ((2, 1.0), (4, 1.0))},
    "windows 1 and 3": {"windows": ((1, 0.7), (3, 0.7))},
    "session 0.3": {"session": 0.3},
    "session 0.7": {"session": 0.7},
    "session of 30": {"session_turns": 30},
    "handover 0.2": {"handover": 0.2},
    "handover 0.5": {"handover": 0.5},
    "speaker 0.4": {"speaker_gain": 0.4},
    "speaker 0.8": {"speaker_gain": 0.8},
    "stop words 0.05": {"stop_weight": 0.05},
    "stop words 0.2": {"stop_weight": 0.2},
    "brevity 2": {"brevity": 2.0},
    "brevity 5": {"brevity": 5.0},
    "link 0.1": {"link": 0.1},
    "link 0.2": {"link": 0.2},
    "links of 3 turns": {"link_seeds": 3},
    "links of 8 turns": {"link_seeds": 8},
    "10 links": {"link_words": 10},
    "40 links": {"link_words": 40},
    "links in 3 %": {"link_common": 0.03},
    "links in 10 %": {"link_common": 0.1},
}

WITHOUT: Mapping[str, Mapping[str, Any]] = {
    "without windows": {"windows": ()},
    "without session": {"session": 0.0},
    "without handover": {"handover": 0.0},
    "without speaker": {"speaker_gain": 0.0},
    "without stop words": {"stop_weight": 0.0},
    "without brevity": {"brevity": 0.0},
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the ids of its gold turns, in the order named."""

    text: str
    category: int
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation: its index, its turns by their LoCoMo id, its questions."""

    name: str
    index: TurnIndex
    turns: Mapping[str, Turn]
    questions: Sequence[Asked]
    as_of: datetime
    baselines: dict[str, Any] = field(default_factory=dict)

    @property
    def answerable(self) -> list[Asked]:
        """Questions of categories 1 to 4 that name a gold turn."""
        return [q for q in self.questions if q.category in ANSWERABLE and q.gold]


Ranking = Callable[[Talk, str], Sequence[str]]
"""Returns LoCoMo ids, best first."""


def gold_ids(evidence: Sequence[str], known: Mapping[str, Turn]) -> tuple[str, ...]:
    """Return the turns an evidence list names; "D1:3; D2:04" is two, unknown ids are dropped."""
    named = (part for entry in evidence for part in re.split(r"[\s;,]+", entry))
    matches = (re.fullmatch(r"D(\d+):(\d+)", part) for part in named)
    ids = (f"D{int(m[1])}:{int(m[2])}" for m in matches if m)
    return tuple(dict.fromkeys(i for i in ids if i in known))


def load(samples: Sequence[dict[str, Any]], folder: Path) -> list[Talk]:
    """Ingest each sample into a store of its own and return the conversations."""
    talks = []
    for sample in samples:
        source = folder / f"{sample['sample_id']}.json"
        source.write_text(json.dumps([sample]), encoding="utf-8")
        store = create_store(folder / f"store-{sample['sample_id']}", tz="UTC", now=NOW)
        ingest(store, find_sources([str(source)], None), IngestOptions(tz=UTC), now=NOW)
        snapshot = store.snapshot()
        turns = {turn.source.native_id or "": turn for _, turn in snapshot.turns()}
        questions = [
            Asked(str(qa["question"]), qa["category"], gold_ids(qa["evidence"], turns))
            for qa in sample["qa"]
        ]
        last = max(turn.time for turn in turns.values() if turn.time)
        index = open_index(snapshot, count=count_tokens_batch).index
        as_of = datetime.fromisoformat(last) + timedelta(minutes=1)
        talks.append(Talk(sample["sample_id"], index, turns, questions, as_of))
    return talks


def padded(samples: Sequence[dict[str, Any]], words: int) -> list[dict[str, Any]]:
    """Return the samples with every turn followed by words of the next conversation."""
    texts = [[t["text"] for t in _listed(sample)] for sample in samples]
    copies: list[dict[str, Any]] = json.loads(json.dumps(samples))
    for number, sample in enumerate(copies):
        filler = cycle(" ".join(texts[(number + 1) % len(texts)]).split())
        for turn in _listed(sample):
            turn["text"] += "\n" + " ".join(islice(filler, words))
    return copies


def _listed(sample: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for value in sample["conversation"].values():
        if isinstance(value, list):
            yield from value


def routed(talk: Talk, text: str, budgets: Budgets, recipe: Recipe) -> Routed:
    """Return the product's own routing of a question."""
    return route(text, talk.index, as_of=talk.as_of, tz=UTC, budgets=budgets, recipe=recipe)


def by_route(budgets: Budgets | None = None, recipe: Recipe = RECIPE) -> Ranking:
    """Return the ranking of the product."""
    chosen = budgets or Budgets()

    def rank(talk: Talk, text: str) -> list[str]:
        native = _native(talk)
        return [native[r.turn.id] for r in routed(talk, text, chosen, recipe).ranked]

    return rank


def _native(talk: Talk) -> Mapping[str, str]:
    found: dict[str, str] = talk.baselines.setdefault(
        "native", {turn.id: name for name, turn in talk.turns.items()}
    )
    return found


def flat(talk: Talk, text: str) -> list[str]:
    """Rank by rank-bm25 on white-space tokens of the text."""
    return _by_bm25(talk, "flat", lambda turn: turn.text.split(), text.split())


def four_fields(talk: Talk, text: str) -> list[str]:
    """Rank by rank-bm25 on stems of text, caption, speaker and date, without stop words."""
    return _by_bm25(talk, "four fields", _stems, [t for t in tokens(text) if t not in stop_words()])


def _stems(turn: Turn) -> list[str]:
    day = f"{datetime.fromisoformat(turn.time):%-d %B %Y}" if turn.time else ""
    words = tokens("\n".join((turn.text, turn.caption or "", turn.speaker or "", day)))
    return [word for word in words if word not in stop_words()]


def _by_bm25(
    talk: Talk, name: str, split: Callable[[Turn], list[str]], query: list[str]
) -> list[str]:
    from rank_bm25 import BM25Okapi

    ids = list(talk.turns)
    if name not in talk.baselines:
        talk.baselines[name] = BM25Okapi([split(turn) for turn in talk.turns.values()])
    scores = talk.baselines[name].get_scores(query)
    best = sorted(range(len(ids)), key=lambda i: (-scores[i], i))[:POSITIONS]
    return [ids[i] for i in best]


Figures = list[list[float]]
"""Recall of each answerable question, by conversation."""


def recalls(talks: Sequence[Talk], rank: Ranking) -> Figures:
    """Return, for each conversation, the recall of each question within the positions."""
    return [
        [_recall(rank(talk, q.text)[:POSITIONS], q.gold) for q in talk.answerable] for talk in talks
    ]


def _recall(found: Sequence[str], gold: Sequence[str]) -> float:
    return sum(turn in found for turn in gold) / len(gold)


def mean(figures: Figures) -> float:
    """Return the mean over all questions, in percent."""
    values = [value for part in figures for value in part]
    return round(100 * sum(values) / len(values), 2)


def paired(better: Figures, base: Figures, rounds: int = 10_000) -> list[float]:
    """Return [gain, low, high] in points: the paired 95 % bootstrap interval."""
    import numpy

    pairs = zip(better, base, strict=True)
    differences = numpy.array(
        [x - y for one, other in pairs for x, y in zip(one, other, strict=True)]
    )
    random = numpy.random.default_rng(1)
    picks = random.integers(0, len(differences), (rounds, len(differences)))
    low, high = numpy.quantile(differences[picks].mean(axis=1), [0.025, 0.975])
    return [round(float(100 * x), 2) for x in (differences.mean(), low, high)]


def chosen_without(candidates: Mapping[str, Figures], default: str) -> dict[str, Any]:
    """Return the figures when each conversation's recipe is chosen by the others.

    Ties go to the default, then by name.
    """
    chosen, held_out = [], []
    for left_out in range(len(candidates[default])):
        others = {
            name: [part for i, part in enumerate(parts) if i != left_out]
            for name, parts in candidates.items()
        }
        best = min(others, key=lambda name: (-mean(others[name]), name != default, name))
        chosen.append(best)
        held_out.append(candidates[best][left_out])
    return {"mean": mean(held_out), "chosen": chosen, "figures": held_out}


def by_category(talks: Sequence[Talk], figures: Figures) -> dict[str, float]:
    """Return the mean of each category."""
    groups: dict[int, list[float]] = {}
    for talk, part in zip(talks, figures, strict=True):
        for question, value in zip(talk.answerable, part, strict=True):
            groups.setdefault(question.category, []).append(value)
    return {str(c): round(100 * sum(v) / len(v), 1) for c, v in sorted(groups.items())}


def sessions(talks: Sequence[Talk]) -> dict[str, float]:
    """Return hit@1, any@5 and all@5 of sessions, all categories, by their best turn."""
    wide = Budgets(positions=1_000, episode=1_000, time=0)
    tally: Counter[str] = Counter()
    for talk in talks:
        for question in (q for q in talk.questions if q.gold):
            found = routed(talk, question.text, wide, RECIPE).ranked
            ranked = list(dict.fromkeys(item.turn.session for item in found))
            gold = {talk.turns[turn].session for turn in question.gold}
            tally["questions"] += 1
            tally["hit@1"] += bool(gold & set(ranked[:1]))
            tally["any@5"] += bool(gold & set(ranked[:5]))
            tally["all@5"] += gold <= set(ranked[:5])
    asked = tally.pop("questions")
    return {name: round(100 * count / asked, 1) for name, count in tally.items()}


def within_budget(talks: Sequence[Talk], tokens_allowed: int) -> Figures:
    """Return the recalls of what a token budget leaves of the positions."""
    figures = []
    for talk in talks:
        by_id = {turn.id: turn for turn in talk.turns.values()}
        part = []
        for question in talk.answerable:
            found = routed(talk, question.text, Budgets(), RECIPE)
            packed = pack(found.ranked, by_id, found.question.weights, tokens_allowed)
            kept = [e.turn.source.native_id or "" for e in packed.evidence]
            part.append(_recall(kept, question.gold))
        figures.append(part)
    return figures


def tiers(talks: Sequence[Talk]) -> dict[str, dict[str, int]]:
    """Return how often each tier is given to own, adversarial and another talk's questions."""
    tally: dict[str, Counter[str]] = {}
    for talk, other in pairwise([*talks, talks[0]]):
        groups = {
            "own questions": [q.text for q in talk.answerable],
            "category 5": [q.text for q in talk.questions if q.category == 5],
            "another talk's": [q.text for q in other.answerable],
            "another talk's, names swapped": [
                _swapped(q.text, other, talk) for q in other.answerable
            ],
        }
        for name, texts in groups.items():
            found = (routed(talk, text, Budgets(), RECIPE).tier for text in texts)
            tally.setdefault(name, Counter()).update(found)
    return {name: dict(sorted(counts.items())) for name, counts in tally.items()}


def _swapped(text: str, source: Talk, target: Talk) -> str:
    """Return a question with the speakers of its talk replaced by those of another."""
    for old, new in zip(_speakers(source), _speakers(target), strict=False):
        text = re.sub(rf"\b{re.escape(old)}\b", new, text)
    return text


def _speakers(talk: Talk) -> list[str]:
    return sorted({turn.speaker for turn in talk.turns.values() if turn.speaker})


def channels(talks: Sequence[Talk]) -> dict[str, Figures]:
    """Return the recalls for every set of channels; a channel that is left out costs nothing."""
    full = Budgets()
    budgets = {
        "": ONLY_CORE,
        " + co-occurrence": replace(full, time=0),
        " + time": replace(full, episode=16, cooccurrence=0),
        " + co-occurrence + time": full,
    }
    cores = {"own words": OWN_WORDS, "episode": RECIPE}
    return {
        core + channel: recalls(talks, by_route(budget, recipe))
        for core, recipe in cores.items()
        for channel, budget in budgets.items()
    }


def insertions(talks: Sequence[Talk], found: Mapping[str, Figures]) -> dict[str, dict[str, Any]]:
    """Return what each channel adds to each set without it, in all and by conversation."""
    both = " + co-occurrence + time"
    steps = [
        (core + base, core + more)
        for core in ("own words", "episode")
        for base, more in (
            ("", " + co-occurrence"),
            (" + time", both),
            ("", " + time"),
            (" + co-occurrence", both),
        )
    ]
    return {
        f"{base} -> {more}": {
            "gain [points, 95 %]": paired(found[more], found[base]),
            "by conversation": {
                talk.name: round(mean([x]) - mean([y]), 2)
                for talk, x, y in zip(talks, found[more], found[base], strict=True)
            },
        }
        for base, more in steps
    }


def measure(talks: Sequence[Talk], *, is_whole: bool) -> dict[str, Any]:
    """Return every figure of the results file; without ``is_whole`` only the headline."""
    base, four, ours = (recalls(talks, r) for r in (flat, four_fields, by_route()))
    result: dict[str, Any] = {
        "questions": sum(len(part) for part in ours),
        "left out, no gold turn": sum(
            not q.gold and q.category in ANSWERABLE for talk in talks for q in talk.questions
        ),
        "flat rank-bm25": mean(base),
        "four fields": mean(four),
        "memcli": mean(ours),
        "memcli by category": by_category(talks, ours),
        "memcli by conversation": {t.name: mean([p]) for t, p in zip(talks, ours, strict=True)},
        "gain over flat [points, 95 %]": paired(ours, base),
        "gain over four fields [points, 95 %]": paired(ours, four),
    }
    if not is_whole:
        return result
    near = {n: recalls(talks, by_route(recipe=Recipe(**c))) for n, c in NEIGHBOURS.items()}
    held_out = chosen_without({"shipped": ours, **near}, "shipped")
    less = {n: recalls(talks, by_route(recipe=Recipe(**c))) for n, c in WITHOUT.items()}
    packed = within_budget(talks, 1_500)
    sets = channels(talks)
    return result | {
        "chosen without the conversation": {
            "mean": held_out["mean"],
            "chosen": held_out["chosen"],
            "gain over four fields [points, 95 %]": paired(held_out["figures"], four),
        },
        "neighbouring recipes": {name: mean(figures) for name, figures in near.items()},
        "parts, gain of having each [points, 95 %]": {
            name: paired(ours, figures) for name, figures in less.items()
        },
        "channels": {name: mean(figures) for name, figures in sets.items()},
        "what a channel adds": insertions(talks, sets),
        "candidates": {
            str(k): mean(recalls(talks, by_route(Budgets(candidates=k))))
            for k in (20, 50, 200, 1_000)
        },
        "within 1,500 tokens": mean(packed),
        "sessions, all categories": sessions(talks),
        "tiers": tiers(talks),
    }


def main() -> None:
    """Measure, print and write the results file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pad", type=int, default=0, metavar="WORDS")
    parser.add_argument("--quick", action="store_true", help="only the headline")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    samples = json.loads(options.data.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        talks = load(padded(samples, options.pad) if options.pad else samples, Path(folder))
        built = time.perf_counter() - start
        result = measure(talks, is_whole=not (options.quick or options.pad))
    head = {
        "command": shlex.join(
            ["python", "-m", "benchmarks.locomo", *map(without_folders, sys.argv[1:])]
        ),
        "data": options.data.name,
        "data sha256": hashlib.sha256(options.data.read_bytes()).hexdigest(),
        "padding words": options.pad,
        "build s": round(built, 2),
    }
    result = head | result | {"machine": machine()}
    text = json.dumps(result, indent=1)
    print(text)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
