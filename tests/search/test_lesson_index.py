"""The index of lessons on disk ranks as one in memory does, however it came about."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.records.strategy import Provenance, StrategyNode
from memcli.records.strategy_codec import node_to_line
from memcli.search import lesson_index
from memcli.search.lesson_index import level_lessons, open_lessons
from memcli.search.lessons import MemoryLessons, query_terms
from memcli.store.layout import DERIVED
from memcli.store.store import Store

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WORDS = ["cash", "flow", "ratio", "debt", "equity", "tax", "rate", "note", "case", "margin"]


def node(number, content, *, key="", status="active"):
    return StrategyNode(
        id=f"n{number:05d}",
        section="others",
        key=key or content.split(" ", maxsplit=1)[0],
        content=content,
        provenance=Provenance(origin="hand"),
        tokens=1,
        tokenizer="t",
        status=status,
    )


def write(store, *nodes):
    with store.writer(now=NOW) as writer:
        for each in nodes:
            writer.append("nodes", node_to_line(each))
        return writer.commit(command="test")


def in_memory(nodes):
    lessons = MemoryLessons()
    for each in nodes:
        if each.status == "active":
            lessons.put(each.id, each.key, each.content)
        else:
            lessons.drop(each.id)
    return lessons


def ranking(lessons, text):
    holders = query_terms(text, lessons)
    found = lessons.ranked(holders, 20)
    return [(hit.id, score) for score, hit in found]


SENTENCE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
STEPS = st.lists(
    st.lists(
        st.tuples(st.integers(1, 12), SENTENCE, st.sampled_from(["active", "active", "removed"])),
        min_size=1,
        max_size=6,
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=25, deadline=None)
@given(steps=STEPS, levels=st.lists(st.booleans(), min_size=4, max_size=4), question=SENTENCE)
def test_an_index_that_is_behind_ranks_as_one_built_anew(tmp_path_factory, steps, levels, question):
    store = Store.create(tmp_path_factory.mktemp("s") / "s", now=NOW)
    written = []
    for step, level in zip(steps, levels, strict=False):
        nodes = [node(number, text, status=status) for number, text, status in step]
        snapshot = write(store, *nodes)
        written += nodes
        if level:
            level_lessons(snapshot)
        stored, memory = open_lessons(snapshot), in_memory(written)
        assert (stored.n_lessons, stored.mean_terms) == (memory.n_lessons, memory.mean_terms)
        assert ranking(stored, question) == ranking(memory, question)


def test_a_large_store_is_searched_on_disk_and_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(lesson_index, "LEFT_TO_READERS", 5)
    store = Store.create(tmp_path / "s", now=NOW)
    first = [node(n, f"{WORDS[n % 10]} {WORDS[n % 7]} word{n}") for n in range(1, 41)]
    snapshot = write(store, *first)
    memory = in_memory(first)
    aside = open_lessons(snapshot)
    assert not (store.path / DERIVED).exists()  # reading never writes
    assert ranking(aside, "cash ratio note") == ranking(memory, "cash ratio note")
    level_lessons(snapshot)
    more = [node(n, f"cash tax word{n}") for n in range(41, 60)]
    level_lessons(write(store, *more))
    edits = [node(n, f"ratio margin word{n}") for n in range(1, 10)]
    snapshot = write(store, *edits)
    level_lessons(snapshot)
    memory = in_memory([*first, *more, *edits])
    stored = open_lessons(snapshot)
    assert ranking(stored, "cash ratio note margin") == ranking(memory, "cash ratio note margin")
    place = stored.place("n00005")
    assert b'"content":"ratio margin word5"' in snapshot.read_line("nodes", place)
    assert stored.place("ghost") is None


@pytest.mark.parametrize("damage", ["mark", "folder", "version"])
def test_a_damaged_index_is_not_used(tmp_path, damage):
    store = Store.create(tmp_path / "s", now=NOW)
    snapshot = write(store, node(1, "cash flow"), node(2, "tax rate"))
    level_lessons(snapshot)
    mark = store.path / DERIVED / "lessons.json"
    if damage == "mark":
        mark.write_text("{")
    elif damage == "version":
        mark.write_text(mark.read_text().replace('"version":1', '"version":99'))
    else:
        for file in (store.path / DERIVED / "lessons-1").iterdir():
            file.write_bytes(b"")
    stored = open_lessons(store.snapshot())
    assert [hit for hit, _ in ranking(stored, "tax")] == ["n00002"]
    level_lessons(store.snapshot())
    assert [hit for hit, _ in ranking(open_lessons(store.snapshot()), "tax")] == ["n00002"]
