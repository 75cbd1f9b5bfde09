"""Bad input gets words and an exit code, and costs only itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

GOOD = b'{"role": "user", "content": "The ferry leaves at 07:40."}\n'


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("empty.jsonl", b"", "empty"),
        ("prose.txt", b"Just some prose without anybody speaking.\nAnd more of it.\n", "prose"),
        ("odd.json", b'{"a": [1, 2, 3]}', "odd.json"),
        ("half.json", b'[{"role": "user", "content": "hi"', "half.json"),
        ("binary.bin", bytes(range(256)) * 20, "binary"),
        ("cut.zip", b"PK\x03\x04" + b"\x00" * 100, "cut.zip"),
    ],
)
def test_what_is_no_transcript_is_refused_by_name(memcli, tmp_path, name, data, says):
    (tmp_path / name).write_bytes(data)
    done = memcli("ingest", name)
    assert done.code in (1, 6)
    assert says in done.err
    assert "Traceback" not in done.err


def test_one_bad_file_among_good_ones_costs_only_itself(memcli, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(GOOD)
    (folder / "b.json").write_bytes(b'{"no": "transcript"}')
    (folder / "c.jsonl").write_bytes(GOOD.replace(b"07:40", b"09:15"))
    done = memcli("ingest", folder, "--json", "--rejects", "rejects.jsonl")
    assert done.code == 6
    assert done.json["added"] == 2
    (reject,) = [json.loads(line) for line in (tmp_path / "rejects.jsonl").read_text().splitlines()]
    assert reject["where"] == "b.json"


def test_a_damaged_record_is_named_by_line_and_the_rest_is_stored(memcli, tmp_path):
    lines = [GOOD, b'{"role": "user", "content": "bro\xff\xfeken"}\n', b"not json\n"]
    lines += [b'{"role": "user"}\n', GOOD.replace(b"ferry", b"bus")]
    (tmp_path / "log.jsonl").write_bytes(b"".join(lines))
    done = memcli("ingest", "log.jsonl", "--json")
    assert done.code == 6
    assert done.json["added"] == 2
    assert [r["where"] for r in done.json["rejected"]] == [f"log.jsonl:{n}" for n in (2, 3, 4)]
    read = done.json
    assert read["read"] == read["added"] + read["already_there"] + len(read["rejected"])


def test_a_turn_of_two_megabytes_is_stored_whole_and_found_by_its_last_word(memcli, tmp_path):
    text = "lorem ipsum dolor " * 120_000 + "zyzzyva"
    (tmp_path / "big.jsonl").write_text(json.dumps({"role": "user", "content": text}))
    assert memcli("ingest", "big.jsonl", "--annotator", "none").code == 0
    (hit,) = memcli("export", "zyzzyva", "--json").json["evidence"]
    assert hit["excerpt"] is True
    assert "zyzzyva" in hit["text"]
    assert len(hit["text"]) < 10_000
    (turn,) = memcli("inspect", "turns", "--jsonl").lines
    assert turn["text"] == text


def test_a_zip_is_read_in_place(memcli, tmp_path):
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        archive.writestr("day/one.jsonl", GOOD.decode())
    done = memcli("ingest", "logs.zip", "--json")
    assert (done.code, done.json["added"]) == (0, 1)


def test_a_truncated_zip_is_refused_and_the_store_unharmed(memcli, tmp_path):
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one.jsonl", GOOD.decode() * 1000)
    (tmp_path / "cut.zip").write_bytes(whole.read_bytes()[:-40])
    memcli("add", "before")
    done = memcli("ingest", "cut.zip")
    assert done.code == 1
    assert "cut.zip" in done.err
    assert memcli("verify").code == 0


def edit(store: Path, change) -> None:
    file = store / "turns.jsonl"
    file.write_bytes(change(file.read_bytes()))


@pytest.mark.parametrize("command", [("export", "boat"), ("add", "note"), ("verify",)])
def test_a_hand_edited_file_is_exit_4_and_left_as_it_is(memcli, harbour, command):
    edit(harbour, lambda data: data[:-200] + data[-200:].replace(b"e", b"3"))
    before = (harbour / "turns.jsonl").read_bytes()
    done = memcli(*command, "-s", harbour)
    assert done.code == 4
    assert "turns.jsonl" in done.out + done.err
    assert (harbour / "turns.jsonl").read_bytes() == before


def test_a_shortened_file_is_refused_by_writers_until_repair_names_what_is_gone(memcli, harbour):
    memcli("add", "one more", "-s", harbour)
    edit(harbour, lambda data: data[:-10])
    assert memcli("add", "next", "-s", harbour).code == 4
    reading = memcli("export", "boat", "-s", harbour)
    assert reading.code == 0
    assert "turns.jsonl has" in reading.err
    repaired = memcli("verify", "--repair", "--yes", "-s", harbour)
    assert "missing" in repaired.err
    assert repaired.code == 0
    assert memcli("add", "next", "-s", harbour).code == 0


def test_a_store_of_a_newer_memcli_is_exit_4_and_says_so(memcli, harbour):
    manifest = harbour / "store.json"
    manifest.write_text(manifest.read_text().replace('"schema_version":1', '"schema_version":99'))
    done = memcli("ask", "boat?", "-s", harbour)
    assert done.code == 4
    assert "99" in done.err


def test_a_missing_spacy_pipeline_is_told_before_anything_is_stored(memcli, tmp_path):
    (tmp_path / "log.jsonl").write_bytes(GOOD)
    done = memcli("ingest", "log.jsonl", MEMCLI_SPACY_MODEL="xx_no_such_model")
    assert done.code == 1
    assert "xx_no_such_model" in done.err
    assert memcli("inspect", "stats").code == 4


AS_NOBODY = """
import os, sys
from memcli.cli import app

def run(*arguments):
    try:
        app(list(arguments), standalone_mode=False)
    except Exception as error:
        print(type(error).__name__, flush=True)

scratch, store = sys.argv[1:]
# The interpreter may lie where nobody can read: everything is imported first.
run("add", "warm", "-s", scratch)
run("export", "warm walnuts", "-s", scratch)
run("export", "walnuts", "-s", store)
print("--- as nobody", flush=True)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
run("export", "Who is allergic to walnuts?", "-s", store)
run("add", "note", "-s", store)
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root to become another")
def test_another_user_can_read_a_read_only_store_and_cannot_write(
    harbour_store, environment, open_folder
):
    harbour = Path(shutil.copytree(harbour_store, open_folder / "harbour"))
    for path in [harbour, *harbour.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(open_folder / "scratch"), str(harbour)],
        env=environment | {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    out = done.stdout.partition("--- as nobody\n")[2]
    assert "allergic to walnuts" in out, done.stderr
    assert out.splitlines()[-1] == "StoreReadOnly"


def test_the_default_store_is_made_private(memcli, environment, tmp_path):
    environment.pop("MEMCLI_STORE")
    memcli("add", "secret")
    store = tmp_path / "home" / "data" / "memcli" / "store"
    assert store.is_dir()
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in store.rglob("*")}
    assert {modes["turns.jsonl"], modes["store.json"]} == {"0o600"}
    assert oct(store.stat().st_mode & 0o777) == "0o700"


def test_derived_data_may_be_deleted_at_any_time(memcli, harbour):
    shutil.rmtree(harbour / "derived")
    command = ("export", "Who is allergic to walnuts?", "-s", harbour, "--json")
    without = memcli(*command, "--as-of", "2024-10-01")
    assert "index" in without.err
    memcli("compact", "-s", harbour)
    again = memcli(*command, "--as-of", "2024-10-01")
    assert again.out == without.out
    assert again.err == ""


def test_a_format_forced_upon_a_folder_costs_only_the_files_that_are_not_of_it(memcli, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("Ann: hello\nBob: hi\nAnn: bye\n")
    (folder / "b.txt").write_text("Nobody speaks here.\nNot here either.\n")
    done = memcli("ingest", folder, "--format", "plain_text", "--json")
    assert (done.code, done.json["added"]) == (6, 3)
    alone = memcli("ingest", folder / "b.txt", "--format", "plain_text")
    assert alone.code == 1
    assert "Ann: hello" in alone.err
