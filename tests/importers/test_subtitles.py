"""WebVTT and SubRip: voices, names, joined cues, entities, damage."""

from __future__ import annotations

import pytest
from reading import SHARED, as_input, drafts, events, needs_shared, only, read_paths

from memcli.importers.contract import Ignored, Rejected


def vtt(*cues, head="WEBVTT"):
    blocks = [f"00:00:{n:02}.000 --> 00:00:{n:02}.900\n{text}" for n, text in enumerate(cues, 1)]
    return as_input("\n\n".join([head, *blocks]) + "\n", "talk.vtt")


def srt(*cues):
    blocks = [
        f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\n{text}" for n, text in enumerate(cues, 1)
    ]
    return as_input("\n\n".join(blocks) + "\n", "talk.srt")


def said(found):
    return [(d.speaker, d.text) for d in drafts(found)]


def test_a_voice_says_who_speaks_and_cues_of_one_are_one_turn():
    found = events(
        vtt("<v Odile Marsh>Hello &amp; welcome.</v>", "<v Odile Marsh>12 &lt; 15.", "alone")
    )
    assert said(found) == [("Odile Marsh", "Hello & welcome.\n12 < 15."), (None, "alone")]
    first, last = drafts(found)
    assert (first.native_id, first.time, first.line) == ("00:00:01.000–00:00:02.900", None, 3)
    assert last.native_id == "00:00:03.000–00:00:03.900"


def test_a_cue_may_hold_several_voices_and_other_markup_stays():
    found = events(vtt("<v.loud Ann>Yes.</v> <v Bo><i>No.</i></v>"))
    assert said(found) == [("Ann", "Yes."), ("Bo", "<i>No.</i>")]


def test_times_outside_the_norm_crlf_and_a_mark_are_read():
    cues = "0:0:14.435 --> 0:0:18.275\r\nhi\r\n\r\n05:01.2 --> 05:02.0\r\nho"
    text = f"\ufeffWEBVTT - a title\r\n\r\n{cues}"
    assert said(events(as_input(text, "x.vtt"))) == [(None, "hi"), (None, "ho")]


def test_names_before_a_colon_count_when_they_are_names():
    found = events(
        vtt("Odile Marsh: The plan: start", "and finish", "Remy: at 10:30", "Remy: yes", "Note: x")
    )
    assert said(found) == [
        ("Odile Marsh", "The plan: start"),
        (None, "and finish"),
        ("Remy", "at 10:30\nyes"),
        (None, "Note: x"),
    ]


def test_what_is_no_talk_is_told():
    found = events(vtt("", "hi", head="WEBVTT\n\nNOTE by hand\nmore\n\nSTYLE\n::cue {}"))
    assert said(found) == [(None, "hi")]
    kinds = [each.kind for each in only(found, Ignored)]
    assert kinds == ["WEBVTT", "NOTE", "STYLE", "empty cue"]


def test_subrip():
    found = events(srt("ODILE: Flow goes A --> B", "- Yes.\n- No.", "", ">> REMY: [laughs] 好"))
    assert said(found) == [
        ("ODILE", "Flow goes A --> B"),
        (None, "- Yes.\n- No."),
        ("REMY", "[laughs] 好"),
    ]


def test_entities_are_no_part_of_subrip():
    assert said(events(srt("a &amp; b"))) == [(None, "a &amp; b")]


@pytest.mark.parametrize("text", ["lost words", "7\nlost words", "00:00 -> 00:01\nlost"])
def test_text_without_times_is_rejected_and_costs_only_itself(text):
    data = f"WEBVTT\n\n00:01.000 --> 00:02.000\nhi\n\n{text}\n\n00:03.000 --> 00:04.000\nho\n"
    found = events(as_input(data, "x.vtt"))
    assert said(found) == [(None, "hi"), (None, "ho")]
    assert [each.where for each in only(found, Rejected)] == ["x.vtt:6"]


def test_a_line_that_is_not_utf8_is_rejected():
    found = events(as_input(b"WEBVTT\n\n00:01.000 --> 00:02.000\n\xff\nhi\n", "x.vtt"))
    assert said(found) == [(None, "hi")]
    assert len(only(found, Rejected)) == 1


def test_a_second_import_adds_nothing(memcli, tmp_path):
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Hello there.</v>\n\n00:03.000 --> 00:04.000\n"
    (tmp_path / "a.vtt").write_text(text + "<v Bo>Hello, Ann.</v>\n")
    assert memcli("ingest", "a.vtt", "--json").json["added"] == 2
    assert memcli("ingest", "a.vtt", "--json").json["added"] == 0


@needs_shared
def test_the_samples_read_whole():
    found = read_paths(SHARED / "samples" / "vtt_srt")
    assert {name: kind for name, (kind, _) in found.items()} == {
        "teams.vtt": "webvtt",
        "zoom.vtt": "webvtt",
        "meeting.srt": "srt",
    }
    assert said(found["teams.vtt"][1]) == [
        ("Odile Marsh", "Hello & welcome.\nThe budget is\n12 < 15 k."),
        ("Remy Holt", "Agreed."),
        (None, "no speaker here"),
    ]
    assert [speaker for speaker, _ in said(found["zoom.vtt"][1])] == [
        "Odile Marsh",
        None,
        "Remy Holt",
    ]
    assert len(drafts(found["meeting.srt"][1])) == 3
