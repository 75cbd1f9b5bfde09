"""Long talks without ids are stored in parts: nothing doubled, nothing lost, order kept."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memcli.app.ingest import BUFFER_DRAFTS

pytestmark = pytest.mark.slow

LONG = 2 * BUFFER_DRAFTS + 300
START = datetime(2024, 1, 2, 9)


def lines(first, last):
    """Return turns by number; every seventh says the same in the same minute as the one before."""
    said = []
    for number in range(first, last):
        at = START + timedelta(minutes=number - number % 7)
        who = "Ana" if number % 7 < 2 else "Bo"
        words = "ok" if number % 7 < 2 else f"turn {number}"
        said.append(f"{at:%Y-%m-%d %H:%M} {who}: {words}\n")
    return "".join(said)


def ingest(memcli, tmp_path, text, name="talk.txt"):
    (tmp_path / name).write_text(text)
    done = memcli("ingest", name, "--annotator", "none", "--json")
    assert done.code == 0, done.err
    return done.json


def test_a_long_talk_is_stored_once_however_often_and_far_it_is_read(memcli, tmp_path):
    first = ingest(memcli, tmp_path, lines(0, LONG))
    assert (first["added"], first["new_conversations"]) == (LONG, 1)
    again = ingest(memcli, tmp_path, lines(0, LONG), "renamed.txt")
    assert (again["added"], again["already_there"]) == (0, LONG)
    shorter = ingest(memcli, tmp_path, lines(0, LONG - 100))
    assert (shorter["added"], shorter["already_there"]) == (0, LONG - 100)
    grown = ingest(memcli, tmp_path, lines(0, LONG + 50))
    assert (grown["added"], grown["grown_conversations"]) == (50, 1)
    turns = memcli("inspect", "turns", "--jsonl").lines
    assert [turn["seq"] for turn in turns] == list(range(LONG + 50))
    assert len({turn["id"] for turn in turns}) == LONG + 50
    assert [turn["text"] for turn in turns if turn["seq"] in (0, 1, 9_998)] == [
        "ok",
        "ok",
        "turn 9998" if 9_998 % 7 > 1 else "ok",
    ]


def test_one_that_starts_earlier_doubles_nothing(memcli, tmp_path):
    ingest(memcli, tmp_path, lines(1_000, LONG))
    whole = ingest(memcli, tmp_path, lines(0, LONG))
    assert (whole["added"], whole["already_there"]) == (1_000, LONG - 1_000)
    assert whole["new_conversations"] == 0


def test_a_line_edited_amid_it_is_one_new_turn(memcli, tmp_path):
    text = lines(0, LONG)
    ingest(memcli, tmp_path, text)
    edited = ingest(memcli, tmp_path, text.replace("turn 5000\n", "turn 5000, edited\n"))
    assert (edited["added"], edited["already_there"]) == (1, LONG - 1)


def test_one_that_starts_later_and_goes_on_doubles_nothing(memcli, tmp_path):
    ingest(memcli, tmp_path, lines(0, LONG))
    later = ingest(memcli, tmp_path, lines(2_000, LONG + 400))
    assert (later["added"], later["already_there"]) == (400, LONG - 2_000)
    assert later["new_conversations"] == 0


def test_a_short_one_is_found_amid_a_longer_one(memcli, tmp_path):
    ingest(memcli, tmp_path, lines(3_000, 3_600), "then.txt")
    whole = ingest(memcli, tmp_path, lines(0, LONG))
    assert (whole["added"], whole["already_there"]) == (LONG - 600, 600)
    assert whole["new_conversations"] == 0
