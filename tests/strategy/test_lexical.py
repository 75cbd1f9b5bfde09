"""Choosing lessons by words: notes on cases and long instructions do not crowd lessons out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.search.lessons import MemoryLessons
from memcli.strategy.lexical import entries, nearest
from memcli.strategy.limits import Limits

TOPICS = ("current ratio", "quick ratio", "net margin", "asset turnover", "dividend yield")
ADVICE = "Write the units next to each input and round only the final figure."


def full_memory(notes: int) -> MemoryLessons:
    """A lesson a topic and many notes on cases of it, each repeating the words of its case."""
    lessons = MemoryLessons()
    for number, topic in enumerate(TOPICS):
        lessons.put(f"n0{number}", topic, f"Lesson {topic} :: divide as it says. {ADVICE}")
        for note in range(notes):
            lessons.put(
                f"n{number}{note:03}",
                f"case note {topic} example {note}",
                f"Case note on {topic} (seen in: firm {note} lists figures, find the {topic}). "
                f"{ADVICE}",
            )
    return lessons


@pytest.mark.parametrize("notes", [0, 1, 12, 80])
@pytest.mark.parametrize("topic", TOPICS)
def test_notes_on_cases_do_not_crowd_out_their_lesson(topic, notes):
    found = entries(
        f"A firm lists figures of 5 and 7. Find the {topic}.", full_memory(notes), Limits()
    )
    assert f"n0{TOPICS.index(topic)}" in found[:2]


def test_each_part_of_a_task_gets_its_lesson():
    task = "\n".join(f"{n}. What is the {topic} of the firm?" for n, topic in enumerate(TOPICS))
    found = entries(task, full_memory(30), Limits())
    assert {f"n0{number}" for number in range(len(TOPICS))} <= set(found)


def test_a_list_of_all_options_does_not_hide_what_is_asked():
    lessons = MemoryLessons()
    names = [f"{a}{b}" for a in ("Debt", "Lease", "Stock", "Tax") for b in ("Rate", "Term", "Cost")]
    for number, name in enumerate(names):
        lessons.put(f"n{number:02}", name, f"{name}: said of word{number} thing{number}.")
    options = f"You are an expert. Choose among {','.join(names)}. Answer with one name.\n"
    found = entries(options + "What fits the word7 of a thing7?", lessons, Limits(max_entries=1))
    assert found == ["n07"]


def test_nearest_adds_more_of_the_same_topic_after_the_entries():
    lessons = full_memory(10)
    found = nearest("Find the quick ratio.", lessons, 8)
    assert found[0] == "n01"
    assert len(found) == len(set(found)) == 8


@pytest.mark.parametrize("text", ["", "   \n", "the of and", "?", "zebra", "…。！"])
def test_a_text_that_names_nothing_finds_nothing(text):
    assert entries(text, full_memory(3), Limits()) == []
    assert nearest(text, full_memory(3), 5) == []


def test_an_empty_memory_gives_nothing():
    assert entries("current ratio", MemoryLessons(), Limits()) == []


def test_texts_without_spaces_find_their_lessons():
    lessons = MemoryLessons()
    lessons.put("n01", "流動比率", "流動資産を流動負債で割る。")
    lessons.put("n02", "配当利回り", "配当を株価で割る。")
    assert entries("この会社の流動比率は？答えてください。", lessons, Limits())[0] == "n01"


WORDS = st.sampled_from(
    ["current", "ratio", "quick", "margin", "note", "case", "firm", "yield", "\n", ". "]
)


@given(st.lists(WORDS, max_size=40).map(" ".join), st.integers(1, 6), st.randoms())
def test_entries_are_bounded_known_and_the_same_whatever_the_order_of_learning(text, most, rng):
    lessons, shuffled = MemoryLessons(), MemoryLessons()
    rows = [(f"n{n}", f"{topic} {n % 3}", f"on {topic} {n}") for n, topic in enumerate(TOPICS * 3)]
    for row in rows:
        lessons.put(*row)
    rng.shuffle(rows)
    for row in rows:
        shuffled.put(*row)
    found = entries(text, lessons, Limits(max_entries=most))
    assert len(found) == len(set(found)) <= most
    assert found == entries(text, shuffled, Limits(max_entries=most))
    assert set(found) <= {row[0] for row in rows}
