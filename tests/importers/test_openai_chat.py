"""OpenAI chat messages: arrays, objects and lines."""

from __future__ import annotations

import json
import shutil

import pytest
from importers.reading import (
    SHARED,
    as_input,
    as_lines,
    drafts,
    events,
    iso,
    needs_shared,
    only,
    read_paths,
)

from memcli.importers.contract import Rejected, Warned

SAMPLES = SHARED / "samples"


@needs_shared
def test_sample_array_gives_nine_turns_in_order():
    _, found = read_paths(SAMPLES / "openai_chat_json" / "chat.json")["chat.json"]
    turns = drafts(found)
    assert [turn.role for turn in turns] == [
        "system", "user", "tool", "tool", "assistant", "user", "assistant", "user", "developer",
    ]  # fmt: skip
    assert turns[1].speaker == "Tilda"
    assert turns[2].text == 'look_up_diary({"month": "April", "crop": "beans"})'
    assert turns[3].text == '{"date": "2024-04-14", "variety": "Borlotti"}'
    assert turns[5].text == "Here is the bed now.\nSecond part of the same message."
    assert turns[5].caption == "image_url: data:image/png;base64"
    assert turns[7].text == ""
    assert {turn.time for turn in turns} == {None}
    assert {turn.conversation for turn in turns} == {None}
    assert len(found) == len(turns)


@needs_shared
def test_sample_object_gives_its_messages():
    name, found = read_paths(SAMPLES / "openai_chat_json" / "chat_object.json")["chat_object.json"]
    assert name == "openai_chat"
    assert len(drafts(found)) == 5


@needs_shared
def test_sample_lines_have_the_times_that_are_stated():
    _, found = read_paths(SAMPLES / "openai_chat_jsonl" / "messages.jsonl")["messages.jsonl"]
    turns = drafts(found)
    assert [iso(turn) for turn in turns] == [
        "2024-05-02T16:03:11+00:00",
        "2024-05-02T16:03:20+00:00",
        "2024-05-02T16:05:00+00:00",
        None,
    ]
    assert [turn.time.zone_assumed for turn in turns if turn.time] == [False, False, True]
    assert turns[2].text == "Dos líneas:\nuna\ny otra שלום"


@needs_shared
def test_case_11_only_a_line_feed_ends_a_line():
    path = SHARED / "cases" / "11-jsonl-line-separators" / "input" / "messages.jsonl"
    _, found = read_paths(path)["messages.jsonl"]
    assert [turn.text for turn in drafts(found)] == [
        "error:\u2028line after a separator",
        "nel\x85 and ps\u2029 inside",
        "end",
    ]
    assert [turn.line for turn in drafts(found)] == [1, 2, 4]


@needs_shared
def test_fine_tuning_lines_are_another_format(tmp_path):
    shutil.copy(SAMPLES / "openai_finetune_jsonl" / "train.jsonl", tmp_path / "chat.jsonl")
    assert read_paths(tmp_path)["chat.jsonl"][0] == "openai_finetune"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "user"}, "record without text"),
        ({"role": "user", "content": None}, "record without text"),
        ({"role": "user", "content": 7}, "record without text"),
        ({"role": "user", "content": {"text": "x"}}, "record without text"),
        ({"role": "wizard", "content": "x"}, 'no known role: "wizard"'),
        ({"content": "x"}, "no known role: null"),
        ({"role": ["user"], "content": "x"}, 'no known role: ["user"]'),
        ("just text", "not a message: no object"),
        (None, "not a message: no object"),
    ],
)
def test_a_damaged_message_costs_only_itself(message, reason):
    good = {"role": "user", "content": "good"}
    found = events(as_input([good, message, good]))
    assert [turn.text for turn in drafts(found)] == ["good", "good"]
    assert [(r.where, r.reason) for r in only(found, Rejected)] == [("file.json#2", reason)]


@pytest.mark.parametrize(
    ("message", "turns"),
    [
        ({"role": "user", "content": ""}, [("user", "")]),
        ({"role": "user", "content": []}, [("user", "")]),
        ({"role": "assistant", "content": None, "refusal": "No."}, [("assistant", "No.")]),
        ({"role": "assistant", "audio": {"transcript": "Hm"}}, [("assistant", "Hm")]),
        ({"role": "tool", "content": [{"type": "text", "text": "a"}]}, [("tool", "a")]),
        ({"role": "function", "name": "f", "content": "1"}, [("tool", "1")]),
        (
            {"role": "assistant", "content": "Look", "tool_calls": [
                {"function": {"name": "f", "arguments": "{}"}},
                {"function": {"name": "g", "arguments": '{"a":  1}'}},
            ]},
            [("assistant", "Look"), ("tool", "f({})"), ("tool", 'g({"a":  1})')],
        ),
        (
            {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "x"}},
            [("tool", "f(x)")],
        ),
        (
            {"role": "assistant", "reasoning_content": "Hmm", "content": "Yes"},
            [("reasoning", "Hmm"), ("assistant", "Yes")],
        ),
        (
            {"role": "user", "content": ["a", {"type": "input_text", "text": "b"}]},
            [("user", "a\nb")],
        ),
    ],
)  # fmt: skip
def test_what_a_message_holds_becomes_turns_in_order(message, turns):
    found = drafts(events(as_input([message, {"role": "user", "content": "x"}])))
    assert [(turn.role, turn.text) for turn in found[:-1]] == turns


@pytest.mark.parametrize(
    ("part", "caption"),
    [
        ({"type": "image_url", "image_url": {"url": "x.test/a"}}, "image_url: x.test/a"),
        ({"type": "file", "file": {"filename": "plan.pdf", "file_data": "AAAA"}}, "file: plan.pdf"),
        ({"type": "input_audio", "input_audio": {"format": "wav"}}, "input_audio: wav"),
        ({"type": "video"}, "video"),
        (17, "unreadable part: 17"),
    ],
)  # fmt: skip
def test_parts_that_are_no_words_are_noted_in_the_caption(part, caption):
    [turn, _] = drafts(events(as_input([
        {"role": "user", "content": [{"type": "text", "text": "see"}, part]},
        {"role": "user", "content": "x"},
    ])))  # fmt: skip
    assert (turn.text, turn.caption) == ("see", caption)


def test_an_odd_time_warns_and_keeps_the_turn():
    found = events(as_lines([
        {"role": "user", "content": "a", "timestamp": "soon"},
        {"role": "user", "content": "b", "timestamp": None, "created_at": 1714665800.25},
    ]))  # fmt: skip
    assert [iso(turn) for turn in drafts(found)] == [None, "2024-05-02T16:03:20.250000+00:00"]
    [warned] = only(found, Warned)
    assert warned.where == "file.jsonl:1"
    assert "timestamp" in warned.reason


def test_one_pretty_printed_message_is_read():
    found = events(as_input(json.dumps({"role": "user", "content": "alone"}, indent=1)))
    assert [turn.text for turn in drafts(found)] == ["alone"]


def test_a_system_text_beside_the_messages_is_kept():
    value = {"system": "Be kind.", "messages": [{"role": "user", "content": "hi"}]}
    found = drafts(events(as_input(value)))
    assert [(t.role, t.text) for t in found] == [("system", "Be kind."), ("user", "hi")]


def test_identical_turns_are_all_kept():
    found = events(as_lines([{"role": "user", "content": "ok"}] * 3))
    assert len(drafts(found)) == 3
