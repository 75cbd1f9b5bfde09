"""Written dialogue, plain and Markdown."""

from __future__ import annotations

import pytest
from importers.reading import SHARED, as_input, drafts, events, iso, needs_shared, only, read_paths

from memcli.errors import SourceFormatError
from memcli.importers.contract import Rejected, Warned
from memcli.importers.detect import detect


def turns_of(text, name="talk.txt"):
    return [(turn.speaker, turn.text) for turn in drafts(events(as_input(text, name)))]


@needs_shared
def test_sample_dialogue():
    _, found = read_paths(SHARED / "samples" / "plain_text" / "dialogue.txt")["dialogue.txt"]
    assert [(t.speaker, t.text) for t in drafts(found)] == [
        ("Nadia", "Did you book the hut?"),
        ("Paul O'Dea", "Yes. Note: check-in is at 16:00.\n  It needs cash."),
        (
            "Nadia",
            "Great! Details: https://example.invalid/hut\nThe warden wrote:\n> Reminder: no dogs",
        ),
        ("Dr. Li (guest)", "我八点到。"),
        ("Nadia", "ok"),
        ("Nadia", "ok"),
    ]


@needs_shared
def test_sample_bracketed_times():
    _, found = read_paths(SHARED / "samples" / "plain_text" / "bracketed.txt")["bracketed.txt"]
    assert [(t.speaker, t.text, iso(t)) for t in drafts(found)] == [
        ("Ana", "Morning", "2024-02-11T09:00:00+00:00"),
        ("Bo", "Morning. Order is 40 sacks\n- rye\n- spelt", "2024-02-11T09:00:30+00:00"),
        ("Ana", "40, right", "2024-02-11T09:02:00+00:00"),
        ("Bo", "yes\n[inaudible] something", None),
        ("Ana", "impossible date", None),
    ]
    assert [w.where for w in only(found, Warned)] == ["bracketed.txt:9"]
    assert {t.title for t in drafts(found)} == {"Call with the mill"}


@needs_shared
def test_sample_markdown():
    _, found = read_paths(SHARED / "samples" / "plain_text" / "dialogue.md")["dialogue.md"]
    assert [(t.role, t.speaker, t.text) for t in drafts(found)] == [
        ("user", "Ines", "Use the brass one.\n\n```text\nInes: not a speaker line\n```"),
        ("user", "Bram", "Fine. 🏮"),
        ("user", "User", "one-line style"),
        ("assistant", "Assistant", "ok"),
    ]


def test_labels_and_single_words_are_text():
    assert turns_of("Ana: one\nNote: not a name\nNote: nor here\nBudget: 40\nAna: two\n") == [
        ("Ana", "one\nNote: not a name\nNote: nor here\nBudget: 40"),
        ("Ana", "two"),
    ]


def test_between_user_and_assistant_other_bold_words_are_text():
    answer = "Sure.\n\n**Day one:** walk\n**Day one:** rest\n### Kotlin\nx"
    text = f"**User:** plan?\n\n**Assistant:** {answer}"
    assert turns_of(text, "chat.md") == [("User", "plan?"), ("Assistant", answer)]


@pytest.mark.parametrize("word", ["Tool", "System", "You"])
def test_a_role_word_once_among_people_is_text(word):
    assert turns_of(f"Ana: one\nmore\nBo: two\n{word}: hammer\nAna: three\nBo: four\n")[1] == (
        "Bo",
        f"two\n{word}: hammer",
    )


def test_a_copied_chat_page():
    text = "You said:\nplan?\n\nChatGPT said:\nSure.\nPros: many\n\nYou said:\nthanks\n"
    found = drafts(events(as_input(text, "t.txt")))
    assert [(t.role, t.text) for t in found] == [
        ("user", "plan?"),
        ("assistant", "Sure.\nPros: many"),
        ("user", "thanks"),
    ]


def test_who_speaks_once_is_heard_where_every_line_is_a_turn():
    assert turns_of("Ana: hi\nBo: hey\nAna: ok\n") == [("Ana", "hi"), ("Bo", "hey"), ("Ana", "ok")]
    forced = drafts(events(as_input("Ana: hi\nBo: hey\n", "t.txt"), name="plain_text"))
    assert [turn.speaker for turn in forced] == ["Ana", "Bo"]


@pytest.mark.parametrize(
    "line", ["Ana (10:02): hi", "**Ana (10:02):** hi", "**Ana** (10:02): hi", "[10:02] Ana: hi"]
)
def test_a_time_may_stand_on_either_side_of_the_name(line):
    text = f"[2024-02-11 09:00] Bo: hey\n{line}\n"
    turn = drafts(events(as_input(text, "t.txt")))[1]
    assert (turn.speaker, turn.text, iso(turn)) == ("Ana", "hi", "2024-02-11T10:02:00+00:00")


def test_full_width_colons():
    assert turns_of("小明：你好\n阿华：嗨\n小明：再见\n阿华：好\n")[:2] == [
        ("小明", "你好"),
        ("阿华", "嗨"),
    ]


def test_a_fence_that_is_never_closed_hides_nobody():
    text = "Ana: look\n```\nAna: in code\n```\nBo: hm\n```python\nAna: really\nBo: yes\n"
    assert turns_of(text) == [
        ("Ana", "look\n```\nAna: in code\n```"),
        ("Bo", "hm\n```python"),
        ("Ana", "really"),
        ("Bo", "yes"),
    ]


def test_headings_that_repeat_are_speakers():
    assert turns_of("## Ana\nhi\n\n## Bo\nhey\n\n## Ana\nbye\n\n## Bo\nbye\n", "t.md") == [
        ("Ana", "hi"),
        ("Bo", "hey"),
        ("Ana", "bye"),
        ("Bo", "bye"),
    ]


def test_text_before_the_first_turn_is_kept_by_an_unknown_speaker():
    assert turns_of("Recorded in Brom.\n\nTwo people.\n\nAna: hi\nBo: hey\nAna: so\nBo: yes\n") == [
        (None, "Recorded in Brom."),
        (None, "Two people."),
        ("Ana", "hi"),
        ("Bo", "hey"),
        ("Ana", "so"),
        ("Bo", "yes"),
    ]


def test_a_bare_clock_after_midnight_is_the_next_day():
    text = "[2024-02-11 23:58] Ana: late\n[00:03] Bo: very\n[00:01] Ana: hm\n"
    assert [iso(t) for t in drafts(events(as_input(text, "t.txt")))] == [
        "2024-02-11T23:58:00+00:00",
        "2024-02-12T00:03:00+00:00",
        "2024-02-12T00:01:00+00:00",
    ]


def test_bytes_that_are_not_utf8_cost_their_line():
    found = events(as_input(b"Ana: one\nAna: caf\xe9\nAna: three\n", "t.txt"))
    assert [t.text for t in drafts(found)] == ["one", "three"]
    assert [r.where for r in only(found, Rejected)] == ["t.txt:2"]


def test_windows_line_ends_and_byte_order_marks_leave_no_trace():
    plain = turns_of("Ana: one\nmore\nAna: two\n")
    assert turns_of("\ufeffAna: one\r\nmore\r\nAna: two\r\n".encode()) == plain
    assert turns_of("Ana: one\r\nmore\r\nAna: two\r\n".encode("utf-16")) == plain


@pytest.mark.parametrize(
    "text",
    [
        "One paragraph of prose with a colon: it has no speakers.\nAnd another line.\n",
        "def f():\n    pass\nelse:\n    x\nelse:\n    y\n",
        "name: memcli\nversion: 1\nname: other\nversion: 2\n",
        "# Title\n\n## Getting Started\n\nText.\n\n## Next Moves\n\nMore text.\n",
        "Note: one\nNote: two\nWarning: three\nINFO: x\nINFO: y\n",
        "2024-01-01 ERROR something\n2024-01-02 ERROR something\n",
        "Host: a\nAccept: b\nHost: c\nAccept: d\n",
        "Name: Ida\nHarbour: Brom\nName: Udo\nHarbour: Elb\n",
        "Ana: hi\nBo: hey\n",
        "Metadata-Version: 2.1\nName: x\nClassifier: a\nClassifier: b\nProject-URL: c, d\n",
        "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: a\nTag: b\n",
        "# Provided by vim (virtual) packages:\na: b c\n# Provided by vim (virtual) packages:\nd\n",
        "## Harbour\nx\n\n## Harbour\ny\n",
        "libboat: a rule\nlibboat: another\n",
        "Year: 1\nMaker: a\nYear: 2\nMaker: b\n",
        "# Guide\n\n## User\n\nText.\n\n## Tool\n\nText.\n",
    ],
)
def test_text_that_is_no_dialogue_is_refused(text):
    with pytest.raises(SourceFormatError):
        detect(as_input(text, "t.txt"))


def test_prose_is_read_by_paragraph_when_the_user_insists():
    found = drafts(events(as_input("One.\nStill one.\n\nTwo.\n", "t.txt"), name="plain_text"))
    assert [(t.speaker, t.text, t.line) for t in found] == [
        (None, "One.\nStill one.", 1),
        (None, "Two.", 4),
    ]
