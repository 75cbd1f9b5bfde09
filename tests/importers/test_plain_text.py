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


def test_text_without_a_speaker_is_refused_even_when_the_user_insists():
    for text in ("One.\nStill one.\n\nTwo.\n", "2024-05-03 18:20:01 INFO: up\n", "Note: hm\n"):
        with pytest.raises(SourceFormatError) as caught:
            events(as_input(text, "t.txt"), name="plain_text")
        assert caught.value.message == "t.txt: no line begins with a speaker"
        assert '"2024-05-31 18:20 Ann: hello"' in caught.value.hint


TALK = "Ann: hi there\nBob: hello\nAnn: bye\n"
TALKED = [("Ann", "hi there"), ("Bob", "hello"), ("Ann", "bye")]


@pytest.mark.parametrize("above", ["# Title\n", "Intro.\n", "An intro\n\n", "3 May 2024\n", "\n\n"])
def test_what_stands_above_the_first_turn_changes_no_speaker(above):
    found = [turn for turn in turns_of(above + TALK) if turn[0]]
    assert found == TALKED
    longer = above + TALK + "Bob: yes\nCleo: I am allergic to nuts\nAnn: ok\n"
    assert ("Cleo", "I am allergic to nuts") in turns_of(longer)


@pytest.mark.parametrize(
    ("lines", "speaks"),
    [
        ("Cleo: I am allergic", True),
        ("two lines.\nCleo: I am allergic", True),
        ("two lines\n\nCleo: I am allergic", True),
        ("two lines, of\nCleo: I am allergic", False),
        ("- rye\nBudget: forty sacks", False),
        ("Note: remember", False),
        ("Cleo: https://cleo.invalid", True),
        ("https: what", False),
        ("Budget: 40 %", False),
    ],
)
def test_a_name_seen_once_speaks_where_a_turn_may_begin(lines, speaks):
    name = lines.split("\n")[-1].partition(":")[0]
    found = turns_of(f"Ann: one\nBob: two\nAnn: three\nBob: four\n{lines}\nAnn: six\n")
    assert (name in [speaker for speaker, _ in found]) is speaks
    assert speaks or lines in found[3][1]


def test_a_doubtful_name_is_kept_as_words_and_told():
    text = "Ann: one\nmore\nBob: the list:\nRigging: hemp\nBallast: stones\nAnn: two\nBob: three\n"
    found = events(as_input(text, "t.txt"))
    assert drafts(found)[1].text == "the list:\nRigging: hemp\nBallast: stones"
    assert [w.where for w in only(found, Warned)] == ["t.txt:4", "t.txt:5"]
    assert "'Rigging:' is taken for words of Bob" in only(found, Warned)[0].reason


def test_many_doubtful_names_are_counted():
    items = "".join(f"Rope{chr(97 + n)}: some words\n" for n in range(26))
    text = f"Ann: one\nmore\nBob: list:\n{items}Ann: two\nBob: three\n"
    found = events(as_input(text, "t.txt"), name="plain_text")
    assert [turn.speaker for turn in drafts(found)] == ["Ann", "Bob", "Ann", "Bob"]
    assert only(found, Warned)[-1].reason.startswith("6 more names")


@pytest.mark.parametrize(
    ("stamp", "at", "granularity"),
    [
        ("2024-05-03 18:20", "2024-05-03T18:20:00+00:00", "minute"),
        ("2024-05-03, 18:20", "2024-05-03T18:20:00+00:00", "minute"),
        ("2024/05/03 18:20", "2024-05-03T18:20:00+00:00", "minute"),
        ("2024-05-03 18:20:05", "2024-05-03T18:20:05+00:00", "second"),
        ("2024-05-03T18:20:00Z", "2024-05-03T18:20:00+00:00", "second"),
        ("2024-05-03 18:20 +0200", "2024-05-03T16:20:00+00:00", "minute"),
        ("2024-05-03 18:20 UTC", "2024-05-03T18:20:00+00:00", "minute"),
        ("2024-05-03T18:20+02:00", "2024-05-03T16:20:00+00:00", "minute"),
        ("3 May 2024, 18:20", "2024-05-03T18:20:00+00:00", "minute"),
        ("3 May 2024 at 6:20 pm", "2024-05-03T18:20:00+00:00", "minute"),
        ("May 3, 2024 6:20 pm", "2024-05-03T18:20:00+00:00", "minute"),
        ("18:20", "2024-05-02T18:20:00+00:00", "minute"),
        ("6:20 p.m.", "2024-05-02T18:20:00+00:00", "minute"),
    ],
)
def test_a_time_without_brackets_before_the_name(stamp, at, granularity):
    text = f"2024-05-02 09:00 Bram: first\n{stamp} Ysolde: Hi\nmore: hm\n{stamp} Bram: ho\n"
    found = drafts(events(as_input(text, "t.txt")))
    assert [t.speaker for t in found] == ["Bram", "Ysolde", "Bram"]
    assert (found[1].text, iso(found[1])) == ("Hi\nmore: hm", at)
    assert found[1].time.granularity == granularity


def test_clocks_without_any_date_are_no_time():
    found = drafts(events(as_input("18:20 Ann: a\n18:21 Bob: b\n18:22 Ann: c\n", "t.txt")))
    assert [(t.speaker, t.time) for t in found] == [("Ann", None), ("Bob", None), ("Ann", None)]


def test_a_clock_inside_dated_turns_does_not_make_a_speaker():
    text = (
        "2024-05-03 18:20 Ann: plan:\n18:30 Supper: late\n"
        "2024-05-03 18:21 Bob: ok\n2024-05-03 18:22 Ann: good\n"
    )
    assert turns_of(text)[0] == ("Ann", "plan:\n18:30 Supper: late")


@pytest.mark.parametrize(
    ("last", "dates", "warned"),
    [
        ("13.05.2024", ["2024-05-03", "2024-05-04", "2024-05-13"], 0),
        ("05.13.2024", ["2024-03-05", "2024-04-05", "2024-05-13"], 0),
        ("12.05.2024", [None, None, None], 1),
    ],
)
def test_numeric_dates_are_read_where_the_file_proves_their_order(last, dates, warned):
    text = f"03.05.2024 18:20 Ann: a\n04.05.2024 18:20 Bob: b\n{last} 18:20 Ann: c\n"
    found = events(as_input(text, "t.txt"))
    assert [t.text for t in drafts(found)] == ["a", "b", "c"]
    assert [iso(t) and iso(t)[:10] for t in drafts(found)] == dates
    assert len(only(found, Warned)) == warned


def test_dates_of_contradicting_order_are_left_out():
    text = "13.05.2024 18:20 Ann: a\n05.13.2024 18:20 Bob: b\n05.13.2024 18:20 Ann: c\n"
    found = events(as_input(text, "t.txt"))
    assert [t.time for t in drafts(found)] == [None] * 3
    assert len(only(found, Warned)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "## 2024-05-19", "### Sunday, 19 May 2024", "Sunday 19 May 2024", "--- 2024-05-19 ---",
        "**19 May 2024**", "2024-05-19 (Sun)", "May 19th, 2024:", "[2024-05-19]",
        "== 2024-05-19 ==", "19.05.2024",
    ],
)  # fmt: skip
def test_a_date_on_its_own_line_dates_the_turns_below(line):
    text = f"{line}\n\nAnn: hi\n18:20 Bob: yo\n\n{line}\n\nAnn: bye\nBob: yes\nit was\n"
    found = drafts(events(as_input(text, "t.txt")))
    assert [(t.speaker, t.text) for t in found] == [
        ("Ann", "hi"), ("Bob", "yo"), ("Ann", "bye"), ("Bob", "yes\nit was"),
    ]  # fmt: skip
    day, minute = "2024-05-19T00:00:00+00:00", "2024-05-19T18:20:00+00:00"
    assert [iso(t) for t in found] == [day, minute, day, day]
    assert [t.time.granularity for t in found] == ["day", "minute", "day", "day"]


@pytest.mark.parametrize(
    "words",
    [
        "it's on\n3 May 2024", "3 May", "## 3 May 2024, a long day", "May 2024",
        "\n3 May 2024\nwe left", "2024-05-03 18:20", "**Sunday**", "on 3 May 2024.", "1234 5678",
    ],
)  # fmt: skip
def test_a_line_that_is_hardly_a_date_stays_text(words):
    found = drafts(events(as_input(f"Ann: so\n{words}\nBob: ok\nAnn: a\nBob: b\n", "t.txt")))
    assert found[0].text == f"so\n{words}"
    assert [t.time for t in found] == [None] * 4


def test_a_date_that_is_the_whole_answer_is_words():
    text = "Bob:\nwhen?\n\nAnn:\n\n3 May 2024\n\nBob:\nok\n\nAnn:\nyes\n"
    assert turns_of(text)[1] == ("Ann", "3 May 2024")


def test_dates_as_headings_of_an_answer_are_its_words():
    answer = "The trip:\n\n## 3 May 2024\n\nOut.\n\n## 4 May 2024\n\nBack."
    assert turns_of(f"**User:** when?\n\n**Assistant:** {answer}\n", "c.md")[1] == (
        "Assistant",
        answer,
    )


def test_an_impossible_day_dates_nothing_and_is_told():
    text = "## 2024-02-29\n\nAnn: a\n\n## 2024-02-30\n\nBob: b\n10:00 Ann: c\nBob: d\n"
    found = events(as_input(text, "t.txt"))
    assert [iso(t) for t in drafts(found)] == ["2024-02-29T00:00:00+00:00", None, None, None]
    assert [w.where for w in only(found, Warned)] == ["t.txt:5"]


@pytest.mark.parametrize(
    "line",
    ["**Ann (20:15):** x", "Ann (20:15): x", "Ann [20:15]: x", "Ann (2024-05-31 20:15): x"],
)
def test_a_time_behind_the_name_takes_the_date_above(line):
    found = drafts(events(as_input(f"## 2024-05-31\n\nBo: a\n{line}\nBo: b\n", "t.txt")))
    assert (found[1].speaker, iso(found[1])) == ("Ann", "2024-05-31T20:15:00+00:00")


NO_DIALOGUE = {
    "pylog": (
        "2024-05-03 18:20:01 INFO: started\n"
        "2024-05-03 18:20:02 ERROR: no\n"
        "2024-05-03 18:20:03 INFO: x\n"
    ),
    "pylog2": (
        "2024-05-03 18:20:01,123 INFO module: msg\n2024-05-03 18:20:01,124 WARNING module: msg\n"
    ),
    "pylog3": ("INFO:root:hello\nERROR:root:x\n"),
    "err": ("ERROR: a\nERROR: b\nINFO: c\nERROR: d\n"),
    "mixlog": (
        "2024-05-03 18:20:01 Server: listening\n"
        "2024-05-03 18:20:02 Database: connected\n"
        "2024-05-03 18:20:03 Server: request\n"
        "2024-05-03 18:20:03 Database: up\n"
    ),
    "brlog": (
        "[2024-05-03 18:20:01] INFO: a\n"
        "[2024-05-03 18:20:02] production.ERROR: b\n"
        "[2024-05-03 18:20:02] INFO: b\n"
    ),
    "syslog": (
        "May  3 18:20:01 host sshd[12]: x\n"
        "May  3 18:20:02 host kernel: y\n"
        "May 13 18:20:02 host kernel: y\n"
        "May 13 18:20:02 host kernel: z\n"
    ),
    "syslog2": (
        "2024-05-03T18:20:01+02:00 host kernel: x\n"
        "2024-05-03T18:20:02+02:00 host kernel: y\n"
        "2024-05-03T18:20:03+02:00 host systemd: y\n"
    ),
    "gitlog": (
        "commit abc\n"
        "Author: Ann Lee <a@b.invalid>\n"
        "Date:   Fri May 3 18:20:01 2024 +0200\n"
        "\n"
        "    Fix: it\n"
        "\n"
        "commit abd\n"
        "Author: Bo Lee <a@b.invalid>\n"
        "Date:   Fri May 3 18:20:01 2024 +0200\n"
        "\n"
        "    Add: it\n"
    ),
    "chlog": (
        "# Changelog\n"
        "\n"
        "## 2024-05-03\n"
        "\n"
        "- Added: x\n"
        "- Fixed: y\n"
        "\n"
        "## 2024-05-01\n"
        "\n"
        "### Added\n"
        "- z\n"
    ),
    "chlog2": ("## 2024-05-03\nAdded: x\nFixed: y\n## 2024-05-01\nAdded: z\nFixed: y\n"),
    "kv": ("Harbour: Brom\nMaker: Udo\nKeel: oak\nMast: pine\n"),
    "recipe": (
        "Flour: 200 g\nSugar: 50 g\nButter: 100 g\n\nFlour: 300 g\nSugar: 20 g\nButter: 1 kg\n"
    ),
    "recipe2": ("# Cake\nFlour: 200 g\nSugar: 50 g\nButter: some\nMix: well\n"),
    "yaml": (
        "# Config\nName: x\nResources:\n  Bucket:\n    Type: y\nOutputs:\n  Bucket:\n    Value: z\n"
    ),
    "yaml2": ("---\nversion: 3\nservices:\n  web: x\n  db: y\n"),
    "http": (
        "HTTP/1.1 200 OK\n"
        "Server: nginx\n"
        "Content-Type: text/html\n"
        "Set-Cookie: a=b\n"
        "Set-Cookie: c=d\n"
        "Connection: close\n"
    ),
    "http2": ("GET / HTTP/1.1\nHost: a.invalid\nUser-Agent: curl\nAccept: */*\n"),
    "csv": ("time,name,text\n2024-05-03 18:20,Ann,hi\n2024-05-03 18:21,Bob,yo\n"),
    "csv2": ("2024-05-03 18:20;Ann: a;hi\n2024-05-03 18:21;Bob: b;yo\n"),
    "agenda": (
        "09:00 Keynote: Jane\n10:00 Talk: x\n10:30 Break: tea\n11:00 Talk: y\n12:00 Lunch: soup\n"
    ),
    "agenda2": ("09:00 Arrival: hall\n10:00 Sailing: bay\n12:00 Picnic: beach\n"),
    "metrics": (
        "2024-05-03 18:20 Pump: 21.5\n"
        "2024-05-03 18:21 Valve: 40 %\n"
        "2024-05-03 18:22 Pump: 22\n"
        "2024-05-03 18:22 Valve: 41 %\n"
    ),
    "prose": (
        "It was 3 May 2024 when we left.\n"
        "\n"
        "3 May 2024\n"
        "\n"
        "The day: it was long. The boat: late.\n"
        "We left at\n"
        "18:20 and Ann said: go.\n"
        "18:30 we were there: late.\n"
    ),
    "diary": ("## 3 May 2024\n\nWe left. Weather: fine.\n\n## 4 May 2024\n\nWe came back.\n"),
    "biblio": (
        "Smith (2019): A study of keels.\nJones (2020): More keels.\nSmith (2021): Yet more.\n"
    ),
    "timeline": ("1994: founded\n2001: sold\n2024-05-03: closed\n2024-05-04: opened\n"),
    "nginx": ("2024/05/03 18:20:01 [error] 1#0: x\n2024/05/03 18:20:02 [warn] 1#0: y\n"),
    "go": (
        "2024/05/03 18:20:01 listening on: 80\n"
        "2024/05/03 18:20:02 request from: x\n"
        "2024/05/03 18:20:03 listening on: 81\n"
    ),
    "k8s": ("2024-05-03T18:20:00Z stdout F msg: x\n2024-05-03T18:20:00Z stdout F msg: y\n"),
    "java": (
        "2024-05-03 18:20:01.123  INFO 1234 --- [main] o.s.Foo : Started\n"
        "2024-05-03 18:20:02.123  INFO 1234 --- [main] o.s.Foo : Up\n"
    ),
    "exc": (
        "2024-05-03 18:20:01 ValueError: bad\n"
        "2024-05-03 18:20:02 KeyError: 'x'\n"
        "2024-05-03 18:20:02 ValueError: worse\n"
    ),
}


@pytest.mark.parametrize("kind", NO_DIALOGUE)
def test_logs_lists_and_prose_are_no_dialogue(kind):
    with pytest.raises(SourceFormatError) as caught:
        detect(as_input(NO_DIALOGUE[kind], "t.txt"))
    assert "WhatsApp" not in caught.value.message
