"""Annotating a store: resumable, safe beside other writers, and the hubs that follow."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memcli.app import annotations
from memcli.app.annotations import (
    anchor_rows,
    anchor_turns,
    annotate_store,
    annotated_turns,
    annotation_version,
    covered,
)
from memcli.errors import MemcliError, NothingFound, StoreLocked
from memcli.evidence.annotate import Annotator, annotator
from memcli.records.evidence import Source, Turn
from memcli.store.derived import ANNOTATIONS, open_derived
from memcli.store.lock import hold
from memcli.store.store import Store

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RULES = annotator("rules")


def a_turn(number: int, text: str = "", **changes: object) -> Turn:
    turn = Turn(
        id=f"t{number:04}",
        conversation="c",
        session=f"s{number // 4}",
        seq=number,
        speaker="Mara",
        role="user",
        text=text or f"we met Priya at dock {number}, yesterday",
        time=f"2024-05-{number % 28 + 1:02}T09:00:00Z",
        time_granularity="second",
        source=Source(format="test", file="talk.txt", line=number),
    )
    return replace(turn, **changes)


def add(store: Store, *turns: Turn) -> None:
    with store.writer(now=NOW) as writer:
        for turn in turns:
            writer.append_turn(turn)
        writer.commit(command="test")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.create(tmp_path / "s", now=NOW)
    add(made, *(a_turn(number) for number in range(10)))
    return made


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotations, "BATCH_TURNS", 3)


def annotate(store: Store, made: Annotator = RULES, **options):
    return annotate_store(store, made, tz=options.pop("tz", UTC), now=NOW, **options)


def described(store: Store) -> dict[str, int | None]:
    """How many names each turn was found to have, None where it waits."""
    return {
        turn.id: None if note is None else len(note.entities)
        for turn, note in annotated_turns(store.snapshot())
    }


def counting(made: Annotator) -> tuple[Annotator, list[str]]:
    """The same annotator, and the texts that it is asked about."""
    asked: list[str] = []

    def find(texts):
        asked.extend(texts)
        return made.find(texts)

    return replace(made, find=find), asked


def test_every_turn_is_annotated_once(store, small_batches):
    seen: list[int] = []
    counted, asked = counting(RULES)
    report = annotate(store, counted, progress=seen.append)
    assert report.as_dict() == {"annotated": 10, "skipped": 0, "covered": 10, "total": 10}
    assert seen == [3, 3, 3, 1]
    assert len(asked) == 10
    assert set(described(store).values()) == {1}
    assert annotate(store, counted).annotated == 0
    assert len(asked) == 10


def test_new_turns_are_added(store):
    annotate(store)
    add(store, *(a_turn(number) for number in range(10, 13)), a_turn(13, role="tool"))
    waiting = [name for name, count in described(store).items() if count is None]
    assert waiting == ["t0010", "t0011", "t0012", "t0013"]
    report = annotate(store)
    assert report.as_dict() == {"annotated": 3, "skipped": 1, "covered": 14, "total": 14}
    assert described(store)["t0013"] == 0


def test_an_empty_store_and_none_write_nothing(tmp_path):
    empty = Store.create(tmp_path / "empty", now=NOW)
    assert annotate(empty).covered == 0
    add(empty, a_turn(1))
    assert annotate(empty, annotator("none")).as_dict() == {
        "annotated": 0,
        "skipped": 0,
        "covered": 0,
        "total": 1,
    }
    assert not list(empty.path.glob("derived/annotations*"))


@pytest.mark.parametrize("change", ["undo", "compact"])
def test_what_was_taken_away_is_annotated_anew(store, small_batches, change):
    add(store, a_turn(1, "now about Tomasz and Priya"), a_turn(30))
    annotate(store)
    with store.writer(now=NOW) as writer:
        writer.undo() if change == "undo" else writer.compact()
    assert covered(store.snapshot()) == 0
    report = annotate(store)
    assert report.covered == report.total == (10 if change == "undo" else 11)
    assert described(store)["t0001"] == (1 if change == "undo" else 2)


def test_the_newest_record_of_a_turn_counts(store):
    add(store, a_turn(1, "now about Tomasz and Priya"), a_turn(2, "nothing"))
    annotate(store)
    found = described(store)
    assert (len(found), found["t0001"], found["t0002"]) == (10, 2, 0)


def test_another_version_or_zone_replaces_the_old(store):
    annotate(store)
    old = annotation_version(RULES, UTC)
    tokyo = ZoneInfo("Asia/Tokyo")
    assert annotate(store, tz=tokyo).annotated == 10
    snapshot = store.snapshot()
    assert covered(snapshot, old) == 0
    assert covered(snapshot, annotation_version(RULES, tokyo)) == covered(snapshot) == 10


def test_others_may_write_between_batches(store, small_batches):
    added = iter(range(50, 54))

    def find(texts):
        if (number := next(added, None)) is not None:
            add(store, a_turn(number))
        return RULES.find(texts)

    report = annotate(store, replace(RULES, find=find))
    assert report.covered == report.total == 14
    assert set(described(store).values()) == {1}


def test_an_undo_during_a_batch_loses_only_that_batch(store, small_batches):
    add(store, a_turn(20), a_turn(21))
    undone: list[bool] = []

    def find(texts):
        if "dock 20" in texts[-1] or "dock 21" in texts[-1]:
            with store.writer(now=NOW) as writer:
                writer.undo()
            undone.append(True)
        return RULES.find(texts)

    report = annotate(store, replace(RULES, find=find))
    assert undone == [True]
    assert report.covered == report.total == 10


def test_two_annotators_at_once_give_what_one_gives(store, small_batches):
    def find(texts):
        annotate(store)  # the other one is faster each time
        return RULES.find(texts)

    report = annotate(store, replace(RULES, find=find))
    assert report.covered == 10
    derived = open_derived(store.snapshot(), ANNOTATIONS)
    assert len(list(derived.lines())) == 10
    assert set(described(store).values()) == {1}


def test_a_stop_keeps_the_batches_before_it(store, small_batches):
    asked: list[int] = []

    def find(texts):
        asked.append(len(texts))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return RULES.find(texts)

    with pytest.raises(KeyboardInterrupt):
        annotate(store, replace(RULES, find=find))
    assert covered(store.snapshot()) == 6
    assert annotate(store).annotated == 4


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of another process are POSIX")
def test_a_killed_process_leaves_a_store_that_goes_on(store):
    add(store, *(a_turn(number) for number in range(100, 4_000)))
    code = (
        "import sys, memcli.app.annotations as use; from datetime import UTC, datetime\n"
        "from pathlib import Path; from memcli.store.store import Store\n"
        "from memcli.evidence.annotate import annotator; use.BATCH_TURNS = 20\n"
        "use.annotate_store(Store.open(Path(sys.argv[1])), annotator('rules'), tz=UTC,"
        " now=datetime.now(UTC), progress=lambda n: print(n, flush=True))\n"
    )
    command = [sys.executable, "-c", code, str(store.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        for _ in range(5):
            assert process.stdout.readline() == b"20\n"
        process.send_signal(signal.SIGKILL)
    done = covered(store.snapshot())
    assert 100 <= done < 3_910
    assert annotate(store).annotated == 3_910 - done
    assert set(described(store).values()) == {1}


def test_a_held_lock_is_waited_for_then_named(store):
    begin = time.monotonic()
    with (
        hold(store.path, command="ingest", now=NOW),
        pytest.raises(StoreLocked, match="memcli ingest"),
    ):
        annotate(store, wait_s=0.2)
    assert time.monotonic() - begin >= 0.2
    assert annotate(store).covered == 10


def test_a_pipeline_that_does_not_load_changes_nothing(store):
    def find(texts):
        raise MemcliError("the pipeline does not load")

    with pytest.raises(MemcliError, match="does not load"):
        annotate(store, replace(RULES, find=find))
    assert not list(store.path.glob("derived/annotations*"))


def test_warnings_of_the_annotator_are_passed_on(store):
    assert annotate(store, replace(RULES, warnings=("no pipeline",))).warnings == ("no pipeline",)


def test_hubs_are_listed_by_kind_then_size_then_name(store):
    annotate(store)
    rows = anchor_rows(store.snapshot(), tz=UTC)
    keys = [(row.kind, -row.turns, row.anchor) for row in rows]
    assert keys == sorted(keys)
    assert {row.kind for row in rows} == {"cooccurrence", "episode", "time"}
    assert anchor_rows(store.snapshot(), tz=UTC, limit=4) == rows[:4]
    days = anchor_rows(store.snapshot(), tz=UTC, kind="time", limit=1)
    assert [(row.anchor, row.turns, row.sessions) for row in days] == [("2024-05", 10, 3)]


def test_hubs_are_exact_when_sessions_are_interleaved(tmp_path):
    mixed = Store.create(tmp_path / "mixed", now=NOW)
    add(mixed, *(a_turn(n, "the rope", session=f"s{n % 2}") for n in range(9)))
    (hub,) = anchor_rows(mixed.snapshot(), tz=UTC, kind="cooccurrence")
    assert (hub.anchor, hub.turns, hub.sessions) == ("rope", 9, 2)
    sizes = [row.turns for row in anchor_rows(mixed.snapshot(), tz=UTC, kind="episode")]
    assert sizes == [5, 4]


@pytest.mark.parametrize("name", ["priya", "Priya", "PRIYA'S", "the Priya"])
def test_the_turns_of_a_hub_are_found_by_any_spelling(store, name):
    annotate(store)
    assert [turn.id for turn in anchor_turns(store.snapshot(), name, tz=UTC)] == [
        f"t{number:04}" for number in range(10)
    ]


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("2024-05-03", ["t0002", "t0003"]),  # said on it, and "yesterday" the day after
        ("2024-04-30", ["t0000"]),
        ("c/s2", ["t0008", "t0009"]),
        ("7", []),
        ("the", []),
        ("", []),
        ("no such thing", []),
    ],
)
def test_the_turns_of_a_hub(store, name, ids):
    annotate(store)
    snapshot = store.snapshot()
    if ids:
        assert [turn.id for turn in anchor_turns(snapshot, name, tz=UTC)] == ids
    else:
        with pytest.raises(NothingFound, match="no turn belongs"):
            anchor_turns(snapshot, name, tz=UTC)


def test_hubs_without_annotations_are_those_of_words_sessions_and_days(store):
    rows = anchor_rows(store.snapshot(), tz=UTC)
    assert {"priya", "c/s0", "2024-05-01"} <= {row.anchor for row in rows}
    assert "2024-04-30" not in {row.anchor for row in rows}
