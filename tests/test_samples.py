"""The bundled stores are sound, and what an ingest of the bundled transcripts gives today."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.app.strategy_store import log_differences
from memcli.store.store import Store
from memcli.store.verify import verify

SAMPLES = Path(__file__).resolve().parents[1] / "sample_stores"
STORES = {"harbour": "harbour.txt", "oven-timer": "oven-timer.jsonl"}


@pytest.mark.parametrize("name", STORES)
def test_a_sample_store_is_sound(name):
    report = verify(SAMPLES / name)
    assert report.is_sound
    assert report.files["turns"].superseded == 0


def test_the_sample_of_lessons_is_sound_and_its_log_explains_its_edges(memcli):
    store = SAMPLES / "agent-lessons"
    assert verify(store).is_sound
    assert log_differences(Store.open(store).snapshot()) == []
    stream = SAMPLES / "streams" / "unit-prices.jsonl"
    found = memcli("train", stream, "--model", "gpt-4o", "--dry-run", "--json").json
    assert found["estimate"]["steps"] == 12


@pytest.mark.parametrize(("name", "transcript"), STORES.items())
def test_a_sample_store_holds_what_an_ingest_of_its_transcript_gives(memcli, name, transcript):
    memcli("ingest", SAMPLES / "transcripts" / transcript, "--annotator", "none")
    fresh = memcli("inspect", "turns", "--jsonl").out
    assert memcli("inspect", "turns", "--jsonl", "-s", SAMPLES / name).out == fresh


def test_looking_at_a_sample_store_writes_nothing(memcli):
    before = sorted(SAMPLES.rglob("*"))
    assert memcli("export", "Who is allergic?", "-s", SAMPLES / "harbour").code == 0
    assert memcli("inspect", "anchors", "-s", SAMPLES / "harbour").code == 0
    assert sorted(SAMPLES.rglob("*")) == before


def test_the_sample_stores_open_without_their_index():
    for name in STORES:
        assert Store.open(SAMPLES / name).snapshot().records("turns") > 40
