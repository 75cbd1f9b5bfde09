"""Searching: exact against other BM25s, scoped, in order, while a writer writes."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from index_helpers import a_store, a_turn, append, count, index_of, some_queries, some_turns
from rank_bm25 import BM25Okapi

from memcli.records.evidence import Turn
from memcli.records.indexed import IndexedTurn, Scope
from memcli.records.times import time_key
from memcli.search.bm25 import Statistics, bm25, idf, stored_length
from memcli.search.document import document_terms
from memcli.search.opening import open_index
from memcli.store.store import Store


class Okapi(BM25Okapi):
    """rank_bm25 with the idf of Lucene in place of its own, which may be negative."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        self.idf = {word: idf(self.corpus_size, freq) for word, freq in nd.items()}


def oracle(turns: Sequence[Turn], query: dict[str, float], limit: int) -> list[str]:
    """Rank with rank_bm25, k1 1.2 and b 0.75, weights by asking each term by itself."""
    made = Okapi([document_terms(turn) for turn in turns], k1=1.2, b=0.75)
    scores = sum(weight * made.get_scores([term]) for term, weight in query.items())
    rows = [
        (-round(float(score), 9), time_key(turn.time), turn.id)
        for turn, score in zip(turns, scores, strict=True)
        if score > 0
    ]
    return [row[2] for row in sorted(rows)[:limit]]


def test_ranks_as_rank_bm25(tmp_path: Path) -> None:
    """Same order as long as lengths are stored exactly, which they are up to 40 terms."""
    turns = some_turns(400, words=12)
    assert max(len(document_terms(turn)) for turn in turns) <= 40
    store = a_store(tmp_path / "store")
    append(store, turns)
    index = index_of(store).index
    for query in some_queries(60):
        found = index.top(query, 18)
        assert [turn.id for turn in found] == oracle(turns, query, 18)


def test_scores_as_tantivy_does_for_every_length(tmp_path: Path) -> None:
    lengths = [*range(1, 160), 200, 333, 1_000, 2_500, 5_000]
    turns = [a_turn(i, " ".join(["wug", *["x"] * (n - 1)])) for i, n in enumerate(lengths)]
    store = a_store(tmp_path / "store")
    append(store, [*turns, *(a_turn(1_000 + i, "something else") for i in range(len(turns)))])
    index = index_of(store).index
    (part,) = index._parts
    import tantivy

    query = tantivy.Query.term_query(part.schema, "terms", "wug", "freq")
    statistics = Statistics(index.n_turns, index.mean_terms, {"wug": index.doc_freq("wug")})
    for score, address in part.hits(query, len(turns)):
        (turn,) = part.turns([address])
        assert bm25(turn.terms.split(), {"wug": 1.0}, statistics) == pytest.approx(score, rel=1e-5)


@pytest.mark.parametrize(
    ("terms", "stored"), [(0, 0), (40, 40), (41, 40), (57, 56), (59, 56), (88, 88), (95, 88)]
)
def test_lengths_are_rounded_down(terms: int, stored: int) -> None:
    assert stored_length(terms) == stored


def test_ties_at_the_cut_go_by_time_then_id(tmp_path: Path) -> None:
    turns = [a_turn(i, "same words here", conversation=f"c{i}") for i in range(90)]
    store = a_store(tmp_path / "store")
    append(store, random.Random(1).sample(turns, 90))
    index = index_of(store).index
    expected = [t.id for t in sorted(turns, key=lambda t: (t.time or "", t.id))]
    for limit in (1, 5, 40):
        assert [t.id for t in index.top({"word": 1.0, "here": 1.0, "same": 0.5}, limit)] == (
            expected[:limit]
        )


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, list[Turn]]:
    turns = some_turns(300)
    turns[7] = replace(turns[7], time=None, time_granularity=None)
    store = a_store(tmp_path_factory.mktemp("talk") / "store")
    append(store, turns[:200])
    append(store, turns[200:], index=False)  # so that two parts answer
    return store, turns


def ids(found: Sequence[IndexedTurn]) -> list[str]:
    return [turn.id for turn in found]


def test_a_scope_holds_and_changes_no_order(talk: tuple[Store, list[Turn]]) -> None:
    store, turns = talk
    index = index_of(store).index
    speaker = {turn.id: turn.speaker for turn in turns}
    for query in some_queries(40):
        every = index.top(query, 300)
        mara = index.top(query, 300, Scope(speaker="MARA"))
        assert ids(mara) == [t.id for t in every if speaker[t.id] == "Mara"]
        one = index.top(query, 300, Scope(conversation="c2"))
        assert ids(one) == [t.id for t in every if t.conversation == "c2"]
        both = index.top(query, 300, Scope(conversation="c2", session="s5", speaker="Ana"))
        assert ids(both) == [
            t.id for t in every if (t.conversation, t.session, speaker[t.id]) == ("c2", "s5", "Ana")
        ]
        assert index.top(query, 300, Scope(conversation="C2")) == []


def test_neighbours_are_of_the_same_session(talk: tuple[Store, list[Turn]]) -> None:
    store, turns = talk
    index = index_of(store).index
    (hit,) = index.by_id([turns[61].id]).values()
    assert [t.seq for t in index.around([hit], 3)] == [60, 61, 62, 63, 64]
    assert index.around([], 3) == []


def test_a_span_gives_the_best_then_the_earliest(talk: tuple[Store, list[Turn]]) -> None:
    from datetime import datetime

    store, turns = talk
    index = index_of(store).index
    start = int(datetime.fromisoformat("2025-05-01T09:10:00+00:00").timestamp())
    inside = [t for t in turns if t.time and "T09:10" <= t.time[10:16] <= "T09:19"]
    query = some_queries(1)[0]
    found = index.within(start, start + 599, query, 100)
    assert {t.id for t in found} == {t.id for t in inside}
    best = index.top(query, 100, Scope(since=start, until=start + 599))
    rest = sorted((t for t in inside if t.id not in set(ids(best))), key=lambda t: (t.time, t.id))
    assert ids(found) == ids(best) + ids(rest)
    assert ids(index.within(start, start + 599, query, 4)) == ids(found)[:4]
    assert ids(index.within(None, start - 1, {}, 2)) == [
        t.id for t in sorted((t for t in turns if t.time), key=lambda t: (t.time, t.id))[:2]
    ]


def test_exact_lookups(talk: tuple[Store, list[Turn]]) -> None:
    store, turns = talk
    index = index_of(store).index
    c1 = [turn for turn in turns if turn.conversation == "c1"]
    assert ids(index.conversation("c1")) == ids(c1)
    assert ids(index.conversation("c1", since=90)) == ids([t for t in c1 if t.seq >= 90])
    assert ids(index.conversation_end("c1", 7)) == ids(c1[-7:])
    assert ids(index.conversation_end("c5", 60)) == ids(turns[250:])
    assert index.conversation_end("none", 3) == []
    assert index.conversation("C1") == []
    assert set(ids(index.session("c0", "s1"))) == set(ids(turns[20:40]))
    assert index.ids_with_prefix(turns[0].id[:9]) == [turns[0].id]
    assert index.by_id([]) == {}
    offsets = {turn.id: place for place, turn in store.snapshot().turns()}
    for name, hit in index.by_id(ids(turns)).items():
        assert (hit.offset, hit.length) == (offsets[name].offset, offsets[name].length)


@pytest.mark.parametrize(
    "text", ["", "?", "\x00", "a\ud800b", "x" * 70_000, "naïve 東京タワー 😀", "()\"' AND OR *"]
)
def test_odd_texts_and_queries_are_no_trouble(tmp_path: Path, text: str) -> None:
    store = a_store(tmp_path / "store")
    turn = replace(a_turn(0, text, speaker=text[:300]), conversation=text[:300] or "c")
    append(store, [turn, a_turn(1, "plain")])
    index = index_of(store).index
    (hit,) = index.by_id([turn.id]).values()
    assert hit.conversation == turn.conversation
    terms = dict.fromkeys(document_terms(turn), 1.0)
    assert turn.id in ids(index.top(terms, 5, Scope(conversation=turn.conversation)))
    assert index.top({text: 1.0}, 5) is not None if "\ud800" not in text else True


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from index_helpers import append, some_turns
from dataclasses import replace
from memcli.store.store import Store
store, turns = Store.open(Path(sys.argv[1])), some_turns(400)
for i in range(200, 400, 10):
    append(store, turns[i : i + 10])
    if i % 50 == 0:
        append(store, [replace(turns[i - 1], text="a later wording")])
"""


@pytest.mark.slow
def test_readers_are_never_broken_by_a_writer(tmp_path: Path) -> None:
    turns = some_turns(400)
    store = a_store(tmp_path / "store")
    append(store, turns[:200])
    command = [sys.executable, "-c", WRITER, str(store.path), str(Path(__file__).parent)]
    query = {"mara": 1.0, "may": 0.5}
    opened = aside = 0
    with subprocess.Popen(command) as writer:
        while writer.poll() is None:
            snapshot = store.snapshot()
            reader = open_index(snapshot, count=count)
            found = reader.index.top(query, 1_000)
            assert len(set(ids(found))) == len(found) >= 200
            assert all(turn.offset < snapshot.committed_bytes("turns") for turn in found)
            opened += 1
            aside += bool(reader.warnings)
    assert writer.returncode == 0
    assert opened > 5
    assert aside <= opened / 10  # only where a rebuild overtook the reader's snapshot
    assert len(index_of(store).index.top(query, 1_000)) == 400
