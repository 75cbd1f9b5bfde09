"""ShareGPT data: names of speakers, slices of one chat, prompts told twice, damage."""

from __future__ import annotations

import pytest
from reading import SHARED, as_input, as_lines, drafts, events, needs_shared, only, read_paths

from memcli.importers.contract import Ignored, Rejected, Repeated


def said(speaker, value):
    return {"from": speaker, "value": value}


def talk(*turns, **more):
    return {"conversations": list(turns), **more}


def test_speakers_become_roles():
    names = ["human", "gpt", "system", "function_call", "observation", "user", "assistant"]
    found = drafts(events(as_input([talk(*[said(name, name) for name in names], id="a")])))
    assert [d.role for d in found] == [
        "user",
        "assistant",
        "system",
        "tool",
        "tool",
        "user",
        "assistant",
    ]
    assert {d.text for d in found} == set(names)


def test_slices_of_one_chat_are_one_conversation():
    items = [talk(said("human", "a"), id="x_0"), talk(said("gpt", "b"), id="x_1"), talk(id="y")]
    found = events(as_input(items))
    assert [(d.conversation, d.session) for d in drafts(found)] == [("x", "x_0"), ("x", "x_1")]
    assert only(found, Ignored) == [Ignored(kind="empty conversation")]


def test_items_without_an_id_are_kept_apart():
    found = drafts(events(as_lines([talk(said("human", "a")), talk(said("human", "a"))])))
    assert [(d.conversation, d.group, d.line) for d in found] == [(None, 0, 1), (None, 1, 2)]


def test_a_prompt_told_beside_and_within_counts_once():
    found = events(
        as_input([talk(said("system", "Be brief"), said("human", "a"), system="Be brief")])
    )
    assert [(d.role, d.text) for d in drafts(found)] == [("system", "Be brief"), ("user", "a")]
    assert len(only(found, Repeated)) == 1


def test_openai_keys_under_conversations():
    (found,) = drafts(events(as_input([talk({"role": "user", "content": "hi"}, id="a")])))
    assert (found.role, found.text) == ("user", "hi")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (talk("x"), "turn is no object"),
        (talk(said("robot", "x")), "no known speaker"),
        (talk(said("human", None)), "record without text"),
        ({"conversations": "x"}, "without a list"),
        (3, "no object"),
    ],
)
def test_a_damaged_record_costs_only_itself(value, reason):
    found = events(as_input([talk(said("human", "fine"), id="a"), value]))
    assert [d.text for d in drafts(found)] == ["fine"]
    assert [reason in each.reason for each in only(found, Rejected)] == [True]


@needs_shared
def test_the_sample_reads_whole():
    (name, found), *_ = read_paths(SHARED / "samples" / "sharegpt").values()
    assert name == "sharegpt"
    assert (len(drafts(found)), len(only(found, Repeated))) == (13, 1)
    assert only(found, Rejected) == []
