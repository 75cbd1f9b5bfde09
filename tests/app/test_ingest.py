"""The ingest: once, whole, whatever interrupts it."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.app.ingest import IngestOptions, IngestReport, find_sources, ingest
from memcli.budgets import count_tokens, count_tokens_batch
from memcli.records.evidence import Turn, spoken_line
from memcli.search.builder import newest_turns
from memcli.search.opening import open_index
from memcli.store.layout import DERIVED
from memcli.store.store import Store

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WORDS = [
    "harbour",
    "lantern",
    "orchard",
    "bicycle",
    "violin",
    "thunder",
    "biscuit",
    "ladder",
    "pigeon",
    "velvet",
]


def take(store: Store, *files: Path, **options: object) -> IngestReport:
    given_ = IngestOptions(tz=UTC, **options)
    return ingest(store, find_sources([str(f) for f in files], None), given_, now=NOW)


def a_store(path: Path) -> Store:
    return Store.create(path, now=NOW)


def chat(path: Path, rows: Sequence[str], *, timed: bool = False, start: int = 0) -> Path:
    """An export without ids."""
    at = datetime(2025, 5, 1, 9, tzinfo=UTC)
    lines = []
    for i, text in enumerate(rows, start):
        line = {"role": ("user", "assistant")[i % 2], "content": text}
        if timed:
            line["timestamp"] = (at + timedelta(minutes=i)).isoformat()
        lines.append(json.dumps(line) + "\n")
    path.write_text("".join(lines), "utf-8")
    return path


def locomo(path: Path, name: str, sessions: dict[int, Sequence[str]]) -> Path:
    """An export with ids and sessions of its own."""
    talk: dict[str, object] = {}
    for number, rows in sessions.items():
        talk[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
        talk[f"session_{number}"] = [
            {"speaker": "AB"[i % 2], "dia_id": f"D{number}:{i}", "text": text}
            for i, text in enumerate(rows)
        ]
    path.write_text(json.dumps([{"sample_id": name, "conversation": talk, "qa": []}]), "utf-8")
    return path


def sentences(number: int, seed: int = 1) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=5)) + f" {i}" for i in range(number)]


def texts(store: Store) -> list[str]:
    return [turn.text for _, turn in newest_turns(store.snapshot())]


def sorted_turns(store: Store) -> list[Turn]:
    return sorted((turn for _, turn in newest_turns(store.snapshot())), key=lambda t: t.seq)


def top(store: Store, words: str) -> list[str]:
    opened = open_index(store.snapshot(), count=count_tokens_batch)
    return [turn.id for turn in opened.index.top(dict.fromkeys(words.split(), 1.0), 18)]


def test_counts_tokens_of_the_spoken_line(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store")
    take(store, locomo(tmp_path / "a.json", "x", {1: ["ahoy, little harbour!", "aye"]}))
    for _, turn in store.snapshot().turns():
        assert turn.tokens == count_tokens(spoken_line(turn.speaker, turn.text, turn.caption))


def test_the_report_adds_up(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store")
    file = chat(tmp_path / "a.jsonl", ["ok", "ok", "bye"])
    with file.open("a", encoding="utf-8") as more:
        more.write('{"role": "user"}\n')
    report = take(store, file)
    assert (report.read, report.added, report.no_time) == (4, 3, 3)
    (rejected,) = report.rejected
    assert rejected.where == "a.jsonl:4"
    assert report.stored_turns == 3 == store.snapshot().records("turns")
    again = take(store, file)
    assert (again.added, again.already, len(again.rejected)) == (0, 3, 1)
    assert store.snapshot().manifest.commit == 2  # nothing new, no commit


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.sampled_from(["ok", "yes", *WORDS]), min_size=3, max_size=12), st.data())
@pytest.mark.slow
def test_exports_of_one_chat_come_to_one_conversation(tmp_path: Path, rows, data) -> None:
    folder = tmp_path / str(time.perf_counter_ns())
    folder.mkdir()
    store = a_store(folder / "store")
    start = 2 * data.draw(st.integers(0, (len(rows) - 3) // 2))
    timed = data.draw(st.booleans())
    late = chat(folder / "late.jsonl", rows[start:], timed=timed, start=start)
    whole = chat(folder / "whole.jsonl", rows, timed=timed)
    take(store, late)
    report = take(store, whole, late)
    assert report.stored_turns == len(rows)
    assert report.new_conversations == 0
    assert [t.text for t in sorted_turns(store)] == rows
    assert take(store, late, whole).added == 0


@pytest.mark.slow
def test_the_order_of_files_changes_no_ranking(tmp_path: Path) -> None:
    files = [
        locomo(tmp_path / f"{n}.json", f"talk{n % 2}", {n: sentences(20, n)}) for n in range(1, 7)
    ]
    files += [chat(tmp_path / f"c{n}.jsonl", sentences(30, 50 + n), timed=True) for n in range(2)]
    one, other = a_store(tmp_path / "one"), a_store(tmp_path / "other")
    take(one, *files)
    for file in reversed(files):
        take(other, file)
    assert sorted(texts(one)) == sorted(texts(other))
    chance = random.Random(5)
    for _ in range(60):
        query = " ".join(chance.choices(WORDS, k=chance.randint(1, 5)))
        assert top(one, query) == top(other, query)


def test_the_user_names_the_conversation(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store")
    take(store, chat(tmp_path / "a.jsonl", sentences(4, 1)), conversation="mine")
    report = take(store, chat(tmp_path / "b.jsonl", sentences(4, 2)), conversation="mine")
    assert report.grown == 1
    assert {t.conversation for _, t in store.snapshot().turns()} == {"mine"}
    assert [t.seq for _, t in store.snapshot().turns()] == list(range(8))


def test_sessions_come_from_silence_where_the_source_has_none(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store")
    lines = [
        {"role": "user", "content": text, "timestamp": at}
        for text, at in [
            ("morning", "2025-05-01T09:00:00Z"),
            ("still morning", "2025-05-01T10:00:00Z"),
            ("evening", "2025-05-01T20:00:00Z"),
        ]
    ]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    take(store, file)
    assert [t.session for _, t in store.snapshot().turns()] == [
        "2025-05-01T09:00Z",
        "2025-05-01T09:00Z",
        "2025-05-01T20:00Z",
    ]


def test_a_dry_run_reports_and_writes_nothing(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store")
    before = sorted((p, p.stat().st_mtime_ns) for p in store.path.rglob("*"))
    report = take(store, chat(tmp_path / "a.jsonl", ["a", "b"]), dry_run=True)
    assert (report.added, report.stored_turns) == (2, 0)
    assert sorted((p, p.stat().st_mtime_ns) for p in store.path.rglob("*")) == before


def test_interleaved_conversations_are_put_together(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    samples = [
        json.loads(locomo(tmp_path / "x.json", name, {n: sentences(3, n)}).read_text())[0]
        for n, name in [(1, "one"), (1, "two"), (2, "one"), (2, "two")]
    ]
    file.write_text(json.dumps(samples))
    store = a_store(tmp_path / "store")
    report = take(store, file)
    assert report.new_conversations == 2
    assert report.stored_turns == 12


def test_turns_are_stored_although_the_index_cannot_follow(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store")
    (store.path / DERIVED).write_text("in the way")
    file = chat(tmp_path / "a.jsonl", sentences(5))
    report = take(store, file)
    assert report.stored_turns == 5
    (warned,) = report.warnings
    assert "nothing is lost" in warned.reason
    assert take(store, file).already == 5
    (store.path / DERIVED).unlink()
    healed = take(store, file)
    assert not healed.warnings
    assert len(top(store, "harbour lantern orchard bicycle violin")) > 0


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("what", ["store", "derived"])
def test_a_store_of_someone_else_is_read_and_never_written(
    memcli: Callable, environment: dict[str, str], tmp_path: Path, what: str
) -> None:
    store = Path(environment["MEMCLI_STORE"])
    assert memcli("ingest", chat(tmp_path / "a.jsonl", sentences(30), timed=True)).code == 0
    for path in [store, *store.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    if what == "derived":  # ours to write, but for the index
        for path in [store, *store.glob("*")]:
            os.chown(path, 65534, 65534)
        os.chown(store / DERIVED, 0, 0)
    before = sorted((str(p), p.stat().st_mtime_ns) for p in store.rglob("*"))
    place = shutil.copytree(store, Path("/tmp") / f"memcli-test-{os.getpid()}-{what}")
    try:
        for path in [place, *place.rglob("*")]:
            stat = (store / path.relative_to(place)).stat()
            os.chown(path, stat.st_uid, stat.st_gid)
        done = run_as_nobody(environment, store, "export", "harbour", "-s", str(place), "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["evidence"]
        assert b"missing or out of date" not in done.stderr
        done = run_as_nobody(environment, store, "add", "a new note", "-s", str(place))
        if what == "store":
            assert done.returncode in (1, 4, 5)
            assert b"Traceback" not in done.stderr
            assert b"ermission" in done.stderr
        else:
            assert done.returncode == 1
            assert b"the note is stored" in done.stderr
            assert Store.open(place).snapshot().records("turns") == 31
    finally:
        shutil.rmtree(place)
    assert sorted((str(p), p.stat().st_mtime_ns) for p in store.rglob("*")) == before


AS_NOBODY = """
import os, sys
from memcli.__main__ import main

def run(*arguments):
    sys.argv = ["memcli", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code

warm, *arguments = sys.argv[1:]
kept = os.dup(1), os.dup(2)
for stream in (1, 2):
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
run(*arguments, "-s", warm)  # loads what this takes: nobody may not read root's Python
for old, stream in zip(kept, (1, 2)):
    os.dup2(old, stream)
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.exit(run(*arguments))
"""


def run_as_nobody(
    environment: dict[str, str], warm: Path, *arguments: str
) -> subprocess.CompletedProcess[bytes]:
    copy = shutil.copytree(warm, warm.parent / f"warm-{time.perf_counter_ns()}")
    return subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(copy), *arguments],
        capture_output=True,
        env=environment | {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"},
        stdin=subprocess.DEVNULL,
        cwd="/",
        timeout=120,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "ids"), [(signal.SIGINT, True), (signal.SIGKILL, False)])
def test_an_interrupted_ingest_is_completed_by_the_next(
    environment: dict[str, str], memcli: Callable, tmp_path: Path, stop: int, ids: bool
) -> None:
    total = 21_000
    if ids:
        sessions = {n: sentences(100, n) for n in range(1, total // 100 + 1)}
        files = [locomo(tmp_path / "a.json", "long", sessions)]
    else:
        rows = sentences(total)
        files = [
            chat(tmp_path / f"{i:03}.jsonl", rows[i * 500 : (i + 1) * 500], timed=True)
            for i in range(total // 500)
        ]
    command = [sys.executable, "-m", "memcli", "ingest", *map(str, files), "--json"]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    )
    store = Path(environment["MEMCLI_STORE"])
    deadline = time.monotonic() + 90
    while committed(store) == 0 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(stop)
    out, err = process.communicate(timeout=60)
    kept = committed(store)
    assert 0 < kept < total, err
    assert out == b""
    if stop != signal.SIGKILL:
        assert process.returncode == 130
        assert b"interrupted" in err
    else:
        assert process.returncode == -signal.SIGKILL
    done = memcli("ingest", *files, "--json")
    assert done.code == 0, done.err
    assert done.json["stored_turns"] == total
    assert done.json["added"] == total - kept
    assert done.json["updated"] == 0
    assert memcli("verify").code == 0
    snapshot = Store.open(store).snapshot()
    assert open_index(snapshot, count=count_tokens_batch).index.n_turns == total
    if ids:
        assert [t.seq for _, t in snapshot.turns()] == list(range(total))


def committed(store: Path) -> int:
    if not (store / "store.json").exists():
        return 0
    return Store.open(store).snapshot().records("turns")


def test_talks_that_only_share_their_instructions_stay_apart(tmp_path: Path) -> None:
    """As training data has them, by the thousand."""
    store = a_store(tmp_path / "store")
    rows = [
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": f"{n}?"},
            ]
        }
        for n in range(600)
    ]
    file = tmp_path / "train.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    first = take(store, file)
    assert (first.added, first.new_conversations) == (1_200, 600)
    again = take(store, file)
    assert (again.added, again.already) == (0, 1_200)
