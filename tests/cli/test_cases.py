"""Faults that users of other tools reported, from the first command to the last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def case(shared: Path):
    return lambda name: next((shared / "cases").glob(f"{name}-*")) / "input"


def by_rank(document: dict) -> list[dict]:
    return sorted(document["evidence"], key=lambda evidence: evidence["rank"])


def test_a_chatgpt_array_is_named_and_searchable(memcli, case):
    done = memcli("ingest", case("01"), "--json")
    assert done.json["files"][0]["format"] == "chatgpt"
    assert done.json["added"] == 4
    assert len(memcli("inspect", "sessions", "--jsonl").lines) == 2
    best = by_rank(memcli("export", "Halden", "--json").json)[0]
    assert best["text"] == "The Halden 40."
    assert best["title"] == "Pumps"


def test_an_unknown_json_file_is_refused_not_read_as_text(memcli, tmp_path):
    (tmp_path / "odd.json").write_text('{"Ana": "hi", "Bo": "hello"}')
    done = memcli("ingest", "odd.json")
    assert done.code == 1
    assert "odd.json" in done.err
    assert memcli("inspect", "stats").code == 4  # no store was made


def test_an_abandoned_branch_is_kept_and_marked(memcli, case):
    memcli("ingest", case("02"))
    turns = memcli("inspect", "turns", "--jsonl").lines
    visible = [turn["source"]["native_id"] for turn in turns if turn["branch"] == "active"]
    assert visible == ["b1", "b_new", "b3"]
    assert by_rank(memcli("export", "slogan bread", "--json").json)[0]["branch"] == "active"
    hits = memcli("export", "rust sleeps", "--json").json["evidence"]
    rust = [hit for hit in hits if "Rust" in hit["text"]]
    assert [hit["branch"] for hit in rust] == ["abandoned"] * len(rust)
    assert "(abandoned branch)" in memcli("export", "rust never sleeps").out


def test_shards_in_a_folder_are_one_export_and_twice_is_once(memcli, case):
    first = memcli("ingest", case("03"), "--json")
    assert (first.code, first.json["added"]) == (0, 4)
    again = memcli("ingest", case("03"), case("03"), "--json")
    assert (again.code, again.json["added"], again.json["stored_turns"]) == (0, 0, 4)
    assert len(memcli("inspect", "sessions", "--jsonl").lines) == 2


def test_an_unknown_time_stays_unknown(memcli, case):
    done = memcli("ingest", case("04"))
    assert "2 turns have no time" in done.out
    turns = memcli("inspect", "turns", "--jsonl").lines
    undated = [turn for turn in turns if turn["time"] is None]
    assert [turn["source"]["native_id"] for turn in undated] == ["n1", "n2"]
    words = " ".join(turn["text"] for turn in undated)
    found = memcli("export", words, "--since", "1970-01-01", "--json").json["evidence"]
    assert not {turn["id"] for turn in undated} & {hit["id"] for hit in found}


def test_a_turn_that_only_used_a_tool_is_kept_and_found(memcli, case):
    assert memcli("ingest", case("05"), "--json").json["added"] == 4
    turns = memcli("inspect", "turns", "--jsonl").lines
    assert [turn["role"] for turn in turns] == ["user", "tool", "tool", "assistant"]
    assert turns[1]["source"]["native_id"] == turns[2]["source"]["native_id"]
    assert "tide_table" in turns[1]["text"]
    found = by_rank(memcli("export", "High water", "--json").json)
    assert "High water 14:05" in [hit["text"] for hit in found]


def test_words_told_in_two_kinds_of_records_count_once(memcli, case):
    for name, told in (
        ("rollout-2025-10-01T09-00-00-old.jsonl",
         ["glaze recipe?", "Two parts ash.", "again", "again"]),
        ("rollout-2026-08-25T09-00-00-new.jsonl", ["cone six?", "1222 C"]),
    ):  # fmt: skip
        memcli("ingest", case("07") / name, MEMCLI_STORE=name)
        turns = memcli("inspect", "turns", "--jsonl", MEMCLI_STORE=name).lines
        talk = [turn["text"] for turn in turns if turn["role"] in ("user", "assistant")]
        assert talk == told
        others = {turn["role"] for turn in turns} - {"user", "assistant"}
        assert others <= {"injected", "developer", "tool", "reasoning"}


def test_day_and_month_never_swap_within_a_file(memcli, case):
    memcli("ingest", case("08") / "chat.txt")
    times = [turn["time"][:10] for turn in memcli("inspect", "turns", "--jsonl").lines]
    assert times == ["2020-12-30", "2021-01-02", "2021-01-13"]
    refused = memcli("ingest", case("08") / "ambiguous.txt")
    assert refused.code == 1
    assert "--date-order dmy or mdy" in refused.err
    assert memcli("ingest", case("08") / "ambiguous.txt", "--date-order", "dmy").code == 0
    latest = max(turn["time"] for turn in memcli("inspect", "turns", "--jsonl").lines)
    assert latest == "2021-04-05T09:00:00Z"


def test_invisible_characters_neither_glue_nor_rename(memcli, case):
    memcli("ingest", case("09"))
    turns = memcli("inspect", "turns", "--jsonl").lines
    ios = [turn for turn in turns if turn["source"]["file"] == "ios.txt"]
    assert [turn["text"].count("\n") for turn in ios] == [0, 0, 1]
    assert (ios[1]["speaker"], ios[1]["time"]) == ("Ola", "2021-10-14T15:35:00Z")
    assert ios[1]["text"].startswith("<attached: ")
    assert ios[1]["caption"].startswith("image: ")
    spanish = [turn for turn in turns if turn["source"]["file"] == "es.txt"]
    told = [(turn["speaker"], turn["time"]) for turn in spanish]
    assert told == [("Ines", "2025-03-28T21:29:00Z"), ("Bram", "2025-03-29T01:23:00Z")]


def test_escapes_that_are_no_json_are_repaired_and_told(memcli, case):
    done = memcli("ingest", case("10"), "--json")
    assert (done.code, done.json["added"], len(done.json["warnings"])) == (0, 2, 1)
    first, second = memcli("inspect", "turns", "--jsonl").lines
    assert (first["text"], first["time"]) == ("meet late", "2023-11-04T21:30:00Z")
    assert (second["text"], second["speaker"]) == ("tab\x0bhere", "user2")


def test_records_written_several_times_count_once(memcli, case):
    done = memcli("ingest", case("06"), "--json")
    assert (done.json["added"], done.json["duplicates"]) == (4, 2)


def test_line_separators_inside_a_text_survive(memcli, case):
    source = case("11") / "messages.jsonl"
    memcli("ingest", source)
    lines = [line for line in source.read_bytes().split(b"\n") if line.strip()]
    wanted = [json.loads(line)["content"] for line in lines]
    assert [turn["text"] for turn in memcli("inspect", "turns", "--jsonl").lines] == wanted


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("don't use agents", "Please don't use agents here"),
        ("Downloads/transcripts", "Saved in Downloads/transcripts"),
        ("ask-codex", "run ask-codex on it"),
        ("20.04", "ubuntu 20.04 box"),
        ('"--error-on-warnings"', 'flag "--error-on-warnings" fails'),
        ("C++", "C++ or C"),
        ("OR", "Portland, OR is wet"),
    ],
)
def test_punctuation_in_a_question_means_itself(memcli, tmp_path, query, text):
    texts = [
        "Please don't use agents here",
        "Saved in Downloads/transcripts",
        "run ask-codex on it",
        "just ask someone",
        "ubuntu 20.04 box",
        'flag "--error-on-warnings" fails',
        "C++ or C",
        "Portland, OR is wet",
    ]
    lines = [json.dumps({"role": "user", "content": each}) for each in texts]
    (tmp_path / "messages.jsonl").write_text("\n".join(lines))
    memcli("ingest", "messages.jsonl", "--annotator", "none")
    assert by_rank(memcli("export", query, "--json").json)[0]["text"] == text


@pytest.mark.parametrize("query", ['"', "***", "'", "()", "AND", "a:b", "\\", "what is it?"])
def test_no_question_is_a_syntax_error(memcli, harbour_store, query):
    done = memcli("export", query, "-s", harbour_store)
    assert done.code == 0
    assert "Traceback" not in done.err
