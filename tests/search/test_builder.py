"""The index follows the store: appended, undone, updated, damaged, it ranks as if built at once."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from index_helpers import (
    NOW,
    a_store,
    a_turn,
    append,
    count,
    index_of,
    ranking,
    some_queries,
    some_turns,
)

from memcli.errors import IndexBehind
from memcli.search.builder import bring_up_to_date, newest_turns
from memcli.search.watermark import read_mark
from memcli.store.layout import DERIVED
from memcli.store.store import Store


def directories(store: Store) -> list[str]:
    return sorted(p.name for p in (store.path / DERIVED).glob("turns-*"))


def segments(store: Store) -> int:
    mark = read_mark(store.path / DERIVED)
    assert mark is not None
    meta = json.loads((store.path / DERIVED / mark.directory / "meta.json").read_bytes())
    return len(meta["segments"])


def differences(one: Store, other: Store, queries: int = 200) -> int:
    left, right = index_of(one), index_of(other)
    assert not left.warnings
    assert left.index.n_turns == right.index.n_turns
    return sum(ranking(left, q) != ranking(right, q) for q in some_queries(queries))


def built_at_once(path: Path, store: Store) -> Store:
    other = a_store(path)
    append(other, [turn for _, turn in newest_turns(store.snapshot())])
    return other


@pytest.mark.slow
def test_appended_ranks_as_built_at_once(tmp_path: Path) -> None:
    turns = some_turns(1_500)
    grown = a_store(tmp_path / "grown")
    at = 0
    chance = random.Random(3)
    while at < len(turns):
        size = chance.choice([1, 7, 20, 250])
        append(grown, turns[at : at + size])
        at += size
    assert directories(grown) == ["turns-1"]
    whole = a_store(tmp_path / "whole")
    append(whole, turns)
    assert differences(grown, whole) == 0


@pytest.mark.slow
def test_order_of_appends_changes_no_ranking(tmp_path: Path) -> None:
    turns = some_turns(1_000)
    shuffled = random.Random(4).sample(turns, len(turns))
    one, other = a_store(tmp_path / "one"), a_store(tmp_path / "other")
    for start in range(0, 1_000, 100):
        append(one, turns[start : start + 100])
        append(other, shuffled[start : start + 100])
    assert differences(one, other) == 0


def test_undo_and_append_rank_as_built_at_once(tmp_path: Path) -> None:
    turns = some_turns(300)
    store = a_store(tmp_path / "store")
    append(store, turns[:100])
    append(store, turns[200:])
    with store.writer(now=NOW) as writer:
        writer.undo()
        bring_up_to_date(writer.snapshot, count=count)
    assert index_of(store).index.n_turns == 100
    append(store, turns[100:200])
    assert differences(store, built_at_once(tmp_path / "whole", store)) == 0


def test_undo_of_the_first_step_leaves_an_empty_index(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store")
    append(store, some_turns(5))
    with store.writer(now=NOW) as writer:
        writer.undo()
        bring_up_to_date(writer.snapshot, count=count)
    opened = index_of(store)
    assert opened.index.n_turns == 0
    assert not opened.warnings


def test_updates_and_compaction_rank_as_built_at_once(tmp_path: Path) -> None:
    turns = some_turns(300)
    store = a_store(tmp_path / "store")
    append(store, turns)
    append(store, [replace(turn, text=f"{turn.text} afterthought") for turn in turns[::7]])
    opened = index_of(store)
    assert opened.index.n_turns == 300
    assert len(opened.index.top({"afterthought": 1.0}, 300)) == len(turns[::7])
    assert differences(store, built_at_once(tmp_path / "whole", store)) == 0
    with store.writer(now=NOW) as writer:
        writer.compact()
        bring_up_to_date(writer.snapshot, count=count)
    assert differences(store, built_at_once(tmp_path / "again", store)) == 0


def test_a_turn_superseded_within_one_commit_is_indexed_once(tmp_path: Path) -> None:
    turn = a_turn(1, "first wording")
    store = a_store(tmp_path / "store")
    append(store, [a_turn(0, "before")])
    append(store, [turn, replace(turn, text="second wording")])
    index = index_of(store).index
    assert index.n_turns == 2
    assert index.doc_freq("first") == 0
    assert [t.id for t in index.top({"word": 1.0}, 5)] == [turn.id]


@pytest.mark.slow
def test_many_small_appends_keep_few_segments(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store")
    most = 0
    for turn in some_turns(60):
        append(store, [turn])
        most = max(most, segments(store))
    assert most <= 16
    files = [p for p in (store.path / DERIVED / "turns-1").iterdir() if p.suffix == ".store"]
    assert len(files) <= most


def test_nothing_new_touches_nothing(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store")
    append(store, some_turns(10))
    files = {p: p.stat().st_mtime_ns for p in (store.path / DERIVED).rglob("*")}
    bring_up_to_date(store.snapshot(), count=count)
    assert {p: p.stat().st_mtime_ns for p in (store.path / DERIVED).rglob("*")} == files


def lose_everything(derived: Path) -> None:
    shutil.rmtree(derived)


def lose_the_mark(derived: Path) -> None:
    (derived / "turns.json").unlink()


def tear_the_mark(derived: Path) -> None:
    (derived / "turns.json").write_bytes(b'{"covers":{"bytes":')


def point_elsewhere(derived: Path) -> None:
    mark = json.loads((derived / "turns.json").read_bytes())
    (derived / "turns.json").write_text(json.dumps(mark | {"directory": "../derived/turns-1"}))


def an_older_version(derived: Path) -> None:
    mark = json.loads((derived / "turns.json").read_bytes())
    (derived / "turns.json").write_text(json.dumps(mark | {"version": 0}))


def figures_of_text(derived: Path) -> None:
    mark = json.loads((derived / "turns.json").read_bytes())
    (derived / "turns.json").write_text(json.dumps(mark | {"terms": "many"}))


def lose_the_index(derived: Path) -> None:
    shutil.rmtree(derived / "turns-1")


def truncate_the_files(derived: Path) -> None:
    for file in (derived / "turns-1").iterdir():
        os.truncate(file, file.stat().st_size // 2)


def empty_the_folder(derived: Path) -> None:
    for file in (derived / "turns-1").iterdir():
        file.unlink()


def a_foreign_index(derived: Path) -> None:
    import tantivy

    shutil.rmtree(derived / "turns-1")
    (derived / "turns-1").mkdir()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("else")
    tantivy.Index(builder.build(), str(derived / "turns-1"))


DAMAGE = [
    lose_everything,
    lose_the_mark,
    tear_the_mark,
    point_elsewhere,
    an_older_version,
    figures_of_text,
    lose_the_index,
    truncate_the_files,
    empty_the_folder,
    a_foreign_index,
]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda f: f.__name__)
def test_a_damaged_index_is_read_around_and_mended(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    turns = some_turns(60)
    store = a_store(tmp_path / "store")
    append(store, turns[:50])
    damage(store.path / DERIVED)
    before = sorted(p.name for p in store.path.rglob("*"))
    opened = index_of(store)
    assert opened.index.n_turns == 50
    assert opened.warnings
    assert sorted(p.name for p in store.path.rglob("*")) == before  # reading wrote nothing
    append(store, turns[50:])
    assert differences(store, built_at_once(tmp_path / "whole", store), 50) == 0
    assert len(directories(store)) == 1


def test_a_crash_between_commit_and_index_is_scanned_then_mended(tmp_path: Path) -> None:
    turns = some_turns(120)
    store = a_store(tmp_path / "store")
    append(store, turns[:80])
    append(store, turns[80:110], index=False)
    whole = built_at_once(tmp_path / "whole", store)
    opened = index_of(store)
    assert not opened.warnings
    assert opened.index.n_turns == 110
    assert differences(store, whole) == 0
    append(store, turns[110:])
    assert index_of(store).index.n_turns == 120
    assert directories(store) == ["turns-1"]


def test_a_crash_between_index_and_mark_doubles_nothing(tmp_path: Path) -> None:
    turns = some_turns(120)
    store = a_store(tmp_path / "store")
    append(store, turns[:80])
    mark = (store.path / DERIVED / "turns.json").read_bytes()
    append(store, turns[80:110])
    (store.path / DERIVED / "turns.json").write_bytes(mark)
    found = index_of(store).index.top({term: 1.0 for q in some_queries(40) for term in q}, 500)
    assert len({turn.id for turn in found}) == len(found)
    append(store, turns[110:])
    assert differences(store, built_at_once(tmp_path / "whole", store), 50) == 0


def test_updates_beyond_the_mark_replace_what_is_indexed(tmp_path: Path) -> None:
    turns = some_turns(100)
    store = a_store(tmp_path / "store")
    append(store, turns)
    append(store, [replace(t, text="entirely renewed") for t in turns[:30]], index=False)
    index = index_of(store).index
    assert {t.id for t in index.top({"renew": 1.0}, 100)} == {t.id for t in turns[:30]}
    for query in some_queries(50):
        found = index.top(query, 18)
        assert not {t.id for t in found} & {t.id for t in turns[:30]}
        assert len(found) == min(18, len([t for t in turns[30:] if holds(t.text, query)]))


def holds(text: str, query: dict[str, float]) -> bool:
    from memcli.search.tokens import tokens

    return not set(tokens(text)).isdisjoint(query)


def test_an_older_snapshot_is_served_by_an_index_that_only_grew(tmp_path: Path) -> None:
    turns = some_turns(100)
    store = a_store(tmp_path / "store")
    append(store, turns[:40])
    append(store, turns[40:60])
    older = store.snapshot()
    append(store, turns[60:])
    from memcli.search.opening import open_index

    opened = open_index(older, count=count)
    assert not opened.warnings
    ids = {turn.id for turn in turns[:60]}
    for query in some_queries(50):
        found = opened.index.top(query, 18)
        assert {t.id for t in found} <= ids
        assert len(found) == min(18, len([t for t in turns[:60] if holds(t.text, query)]))


def test_an_index_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store", some_turns(5))
    (store.path / DERIVED).write_text("in the way")
    with pytest.raises(IndexBehind, match="could not be written"):
        bring_up_to_date(store.snapshot(), count=count)
    opened = index_of(store)
    assert opened.index.n_turns == 5
    assert opened.warnings


def test_a_failed_rebuild_leaves_no_half_index(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store", [a_turn(0, "long " * 100)])

    def refuse(_: object) -> list[int]:
        raise OSError(28, "No space left on device")

    with pytest.raises(IndexBehind, match="No space left"):
        bring_up_to_date(store.snapshot(), count=refuse)
    assert directories(store) == []


def test_a_failed_append_keeps_the_index_and_its_mark(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store")
    append(store, some_turns(20))
    append(store, [a_turn(77, "short"), a_turn(78, "long " * 100)], index=False)

    def refuse(_: object) -> list[int]:
        raise OSError(28, "No space left on device")

    with pytest.raises(IndexBehind):
        bring_up_to_date(store.snapshot(), count=refuse)
    assert index_of(store).index.n_turns == 22
    bring_up_to_date(store.snapshot(), count=count)
    assert index_of(store).index.n_turns == 22
    assert directories(store) == ["turns-1"]


def test_modes_are_private(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store")
    append(store, some_turns(30))
    append(store, [a_turn(99, "more")])
    for path in [store.path / DERIVED, *(store.path / DERIVED).rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path
