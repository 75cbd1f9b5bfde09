"""Ids are hashes of what a turn is, and stay what they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.records.ids import content_turn_id, fingerprint, native_turn_id
from memcli.records.times import time_key

words = st.one_of(st.none(), st.text(max_size=9))


def test_ids_never_change() -> None:
    """A store written once must be recognised for ever: these are on people's disks."""
    assert native_turn_id("talk", "D1:3", "text") == NATIVE
    assert content_turn_id("talk", "2023-05-08T13:56:00Z", "Mara", "ok", 1) == CONTENT
    assert fingerprint("user", None, "a\ud800b", None) == PRINT


NATIVE = "t3u7ydqc6bcu44hom"
CONTENT = "tzjamjc3i2fbgiurs"
PRINT = "qkn72oo7cil5zfcw"


@given(st.lists(st.tuples(words, words, st.text(max_size=9)), unique=True, max_size=20))
def test_different_turns_have_different_ids(turns: list[tuple[str | None, str | None, str]]):
    made = {content_turn_id("c", time, speaker, text, 0) for time, speaker, text in turns}
    assert len(made) == len(turns)
    assert all(len(name) == 17 and name[0] == "t" and name.isalnum() for name in made)


def test_parts_of_an_id_do_not_run_together() -> None:
    assert native_turn_id("ab", "c", "text") != native_turn_id("a", "bc", "text")
    assert fingerprint("user", None, "", None) != fingerprint("user", "", "", None)


def test_times_are_ordered_as_times() -> None:
    times = ["2025-01-01T09:00:00Z", "2025-01-01T09:00:00.5Z", "2025-01-01T09:00:00.52Z"]
    assert sorted([times[2], times[0], times[1]], key=time_key) == times
    assert time_key(None) < time_key(times[0])
