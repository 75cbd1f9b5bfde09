"""A manifest survives its line, keeps what it does not know, and rotates through eight."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_helpers import NOW

from memcli.errors import StoreDamaged
from memcli.store.disk import Disk
from memcli.store.layout import KEPT_MANIFESTS, KINDS, generation_name
from memcli.store.manifest import (
    FileEntry,
    Manifest,
    decode,
    earlier_files,
    encode,
    read_manifest,
    save,
)

numbers = st.integers(0, 2**53)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def entries(kind):
    names = st.builds(generation_name, st.just(kind), st.integers(0, 99))
    return st.builds(
        FileEntry,
        name=names | st.just(f"checkpoints/best-1.{kind}.jsonl"),
        bytes=numbers,
        records=numbers,
        tail=st.text(),
        crc=numbers,
        epoch=numbers,
    )


files = st.fixed_dictionaries({}, optional={kind: entries(kind) for kind in KINDS})
settings = st.dictionaries(st.text(), json_values, max_size=4)
own_names = {"files", "before", "settings", "batch", "commit", "command", "committed_at"}
manifests = st.builds(
    Manifest,
    commit=numbers,
    committed_at=st.text(),
    command=st.text(),
    batch=st.none() | st.text(),
    settings=settings,
    files=files,
    extra=settings.map(
        lambda d: {k: v for k, v in d.items() if k not in own_names | {"check", "schema_version"}}
    ),
)


@given(manifests, st.text(), st.none() | st.text(), settings, files)
def test_a_manifest_survives_its_line(manifest, command, batch, wanted, now_files):
    after = manifest.next(command=command, now=NOW, batch=batch, settings=wanted, files=now_files)
    assert decode(encode(after), Path("store.json")) == after
    assert after.extra == manifest.extra
    assert after.commit == manifest.commit + 1


@given(manifests, st.data())
def test_any_changed_byte_is_noticed(manifest, data):
    line = bytearray(encode(manifest)[:-1])
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] = data.draw(st.integers(32, 126).filter(lambda byte: byte != line[at]))
    try:
        found = decode(bytes(line), Path("store.json"))
    except StoreDamaged:
        return
    assert found == manifest  # only a change that JSON does not see, as \u0041 for A


@given(st.integers(0, 20), st.integers(0, 20))
def test_undo_points_are_bounded_and_a_batch_is_one(ahead, of_batch):
    manifest = Manifest(commit=1, committed_at="", command="init")
    for number in range(ahead):
        manifest = manifest.next(
            command="add", now=NOW, batch=None, settings={"n": number}, files={}
        )
    start = manifest
    for number in range(of_batch):
        manifest = manifest.next(
            command="ingest", now=NOW, batch="b", settings={"n": -number}, files={}
        )
    assert len(manifest.before) == min(ahead + bool(of_batch), KEPT_MANIFESTS)
    if of_batch:
        assert manifest.before[0].settings == start.settings
        assert manifest.before[0].command == "ingest"


@pytest.mark.parametrize(
    "name",
    [
        "../turns.jsonl",
        "/etc/turns.jsonl",
        "nodes.jsonl",
        "turns.g0.jsonl",
        "checkpoints/../turns.jsonl",
        "checkpoints/../x.turns.jsonl",
        "checkpoints/x.nodes.jsonl",
        "store.json",
    ],
)
def test_no_manifest_names_a_file_that_is_not_the_kinds_own(name):
    entry = FileEntry(name=name, bytes=0, records=0, tail="", crc=0, epoch=1)
    line = encode(Manifest(commit=1, committed_at="", command="", files={"turns": entry}))
    with pytest.raises(StoreDamaged, match="is no file of turns"):
        decode(line, Path("store.json"))


def test_eight_earlier_ones_are_kept_newest_first(tmp_path):
    for commit in range(1, 13):
        save(Disk(), tmp_path, Manifest(commit=commit, committed_at="", command=""))
    kept = [decode(file.read_bytes(), file).commit for file in earlier_files(tmp_path)]
    assert read_manifest(tmp_path).commit == 12
    assert kept == [11, 10, 9, 8, 7, 6, 5, 4]
    assert len(list(tmp_path.iterdir())) == 1 + KEPT_MANIFESTS


@pytest.mark.parametrize("gap", [1, 4, 8])
def test_a_gap_in_the_earlier_ones_costs_nothing(tmp_path, gap):
    for commit in range(1, 13):
        save(Disk(), tmp_path, Manifest(commit=commit, committed_at="", command=""))
    (tmp_path / f"store.json.{gap}").unlink()
    before = {decode(file.read_bytes(), file).commit for file in earlier_files(tmp_path)}
    save(Disk(), tmp_path, Manifest(commit=13, committed_at="", command=""))
    after = {decode(file.read_bytes(), file).commit for file in earlier_files(tmp_path)}
    assert after == before | {12}
