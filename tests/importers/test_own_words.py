"""What memcli put into a prompt is not taken in again; the words around it are."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.importers.contract import Draft, Ignored
from memcli.importers.own_words import (
    EVIDENCE_KIND,
    STRATEGIES_KIND,
    taken_out,
    without_own_words,
)
from memcli.reader import EvidenceLine, fence_for, numbered, reader_messages, strategies_block
from memcli.records.marks import EVIDENCE_HEAD


def pack(*lines):
    shown = numbered([EvidenceLine(id=str(n), text=text) for n, text in enumerate(lines)])
    fence = fence_for(shown)
    return f"{EVIDENCE_HEAD}\n<{fence}>\n{shown}\n</{fence}>"


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        ("", "", ""),
        ("", "\n\nWho is allergic?", "Who is allergic?"),
        ("Read this:\n\n", "\n", "Read this:\n\n\n"),
        ("Read this:\n\n", "", "Read this:"),
        ("a ", " b", "a  b"),
        ("", "\r\n  Who?", "  Who?"),
    ],
)
def test_the_words_around_a_pack_are_kept(before, after, left):
    assert taken_out(before + pack("Ann: no nuts") + after) == (left, [EVIDENCE_KIND])


@pytest.mark.parametrize(
    "said", ["</evidence>\nnot mine", "< / EVIDENCE >", "a\n\n[7] b", "<evidence>\n[1] x"]
)
def test_a_pack_that_quotes_tags_is_taken_out_whole(said):
    assert taken_out(pack(said, "<evidence-2>") + "\nWho?") == ("Who?", [EVIDENCE_KIND])


def test_lessons_are_taken_out():
    block = strategies_block("[str-1] Cite the newest.\n[str-2] Say what is not known.")
    assert taken_out(f"Hi.{block}Bye.") == ("Hi.\n\nBye.", [STRATEGIES_KIND])


def test_a_readers_own_prompt_in_a_log_holds_no_evidence():
    lines = [EvidenceLine(id="t1", text="Ann: no walnuts"), EvidenceLine(id="t2", text="Bo: ok")]
    lessons = "[str-1] Cite the newest."
    messages = reader_messages(lines, "Who can not eat nuts?", "2026-01-01", strategies=lessons)
    left = "\n".join(taken_out(message["content"])[0] for message in messages)
    assert "walnuts" not in left
    assert "Cite the newest" not in left
    assert "Who can not eat nuts?" in left


def test_a_pack_escaped_within_json_is_taken_out():
    text = json.dumps({"stdout": pack('Ann: no "nuts"', "Bo: ok")})
    assert taken_out(text) == ('{"stdout": ""}', [EVIDENCE_KIND])


@pytest.mark.parametrize("is_json", [False, True])
def test_a_pack_that_was_cut_off_ends_with_its_lines(is_json):
    text = pack("a\nb", "c").rpartition("\n</")[0] + "\nWho?"
    shown = json.dumps(text)[1:-1] if is_json else text
    assert taken_out(shown)[0] == "Who?"


@pytest.mark.parametrize(
    "text",
    [
        "<evidence>\n[1] mine\n</evidence>",
        "<strategies>\nwin\n</strategies>",
        "<evidence>\n[1] x\n</evidence>\n\nThe question is open at last.",
        EVIDENCE_HEAD,
        f"Why does it say {EVIDENCE_HEAD}?",
    ],
)
def test_what_only_resembles_a_block_is_kept(text):
    assert taken_out(text) == (text, [])


@given(st.text(), st.text(), st.lists(st.text(max_size=20), min_size=1, max_size=3))
def test_what_is_left_is_what_stood_around(before, after, lines):
    left, kinds = taken_out(before + "|" + pack(*lines) + "|" + after)
    assert (left, kinds) == (f"{before}||{after}", [EVIDENCE_KIND])


def test_many_packs_take_linear_time():
    text = (pack("x") + "\n") * 20_000
    assert len(taken_out(text)[1]) == 20_000


def test_a_turn_of_nothing_else_is_no_talk():
    turns = [Draft(role="tool", text=pack("a")), Draft(role="user", text=pack("a") + "\nHm?")]
    found = list(without_own_words([*turns, Draft(role="user", text="")]))
    assert found == [
        Ignored(kind=EVIDENCE_KIND),
        Ignored(kind=EVIDENCE_KIND),
        Draft(role="user", text="Hm?"),
        Draft(role="user", text=""),
    ]


def test_what_was_exported_is_not_taken_in_again(memcli, tmp_path):
    talk = [{"role": "user", "content": "Ann is allergic to walnuts."}]
    (tmp_path / "talk.json").write_text(json.dumps(talk))
    assert memcli("ingest", "talk.json", "--annotator", "none").code == 0
    given = memcli("export", "Who is allergic to walnuts?", "--prompt").out
    asked = {"type": "input_text", "text": f"{given}\nWho must not eat the cake?"}
    message = {"type": "message", "role": "user", "content": [asked]}
    log = [
        {"timestamp": "2026-02-01T08:00:00Z", "type": "session_meta", "payload": {"id": "s"}},
        {"timestamp": "2026-02-01T08:00:01Z", "type": "response_item", "payload": message},
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, log)) + "\n")
    done = memcli("ingest", "log.jsonl", "--json", "--annotator", "none")
    assert done.json["not_talk"][EVIDENCE_KIND] == 1
    assert done.json["added"] == 1
    turns = memcli("inspect", "turns", "--jsonl").lines
    assert sorted(turn["text"].strip() for turn in turns) == [
        "Ann is allergic to walnuts.",
        "Who must not eat the cake?",
    ]
