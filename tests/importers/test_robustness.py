"""Laws that hold for every format: nothing raises, every record is accounted for."""

from __future__ import annotations

import copy
import json
import time
from datetime import UTC

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from importers.reading import Bytes, as_input, as_lines, drafts, events, only

from memcli.importers.contract import (
    RAW_CHARS,
    Draft,
    Ignored,
    ReadOptions,
    Rejected,
    Repeated,
    Warned,
)
from memcli.importers.detect import format_named
from memcli.importers.foreign import foreign

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def node(key, parent, children, **message):
    said = {
        "id": key,
        "author": {"role": "user", "name": None},
        "create_time": 1714500001.5,
        "content": {"content_type": "text", "parts": [f"words of {key}"]},
        "recipient": "all",
        "metadata": {"attachments": [{"id": "f", "name": "f.png"}]},
    }
    return {"id": key, "parent": parent, "children": children, "message": said | message}


def record(uuid, parent, content, kind="user", **more):
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s",
        "timestamp": "2026-01-05T10:00:00Z",
        "message": {"role": kind, "content": content, "model": "m"},
    } | more


CHATGPT = [
    {
        "id": "c",
        "title": "T",
        "current_node": "b",
        "mapping": {
            "r": {"id": "r", "parent": None, "children": ["a"], "message": None},
            "a": node("a", "r", ["b", "d"]),
            "b": node("b", "a", [], author={"role": "assistant"}, recipient="bio"),
            "d": node("d", "a", [], content={"content_type": "thoughts", "thoughts": [{}]}),
        },
    }
]  # fmt: skip
CLAUDE = [
    {"type": "summary", "summary": "S", "leafUuid": "u2"},
    record("u1", None, "hello"),
    record("u2", "u1", [{"type": "text", "text": "hi"}, {"type": "thinking"}], "assistant"),
    record("u3", "u2", [{"type": "tool_result", "content": [{"type": "text", "text": "r"}]}]),
    record("u4", "u1", "again", isSidechain=True, agentId="x"),
    {"type": "system", "subtype": "info", "content": "Model changed", "uuid": "u5"},
]  # fmt: skip
OPENAI = [
    {"role": "user", "content": "a", "timestamp": 1714665800, "name": "N"},
    {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "content": [{"type": "text", "text": "r"}]},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]},
]  # fmt: skip
LOCOMO = [
    {
        "sample_id": "s",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "A", "dia_id": "D1:1", "text": "x", "img_url": ["u"]},
                {"speaker": "B", "dia_id": "D1:2", "text": "y", "blip_caption": "c"},
            ],
        },
        "qa": [{"question": "?"}],
    }
]
LONGMEMEVAL = [
    {
        "question_id": "q",
        "question": "?",
        "haystack_session_ids": ["a", "b"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
        "haystack_sessions": [
            [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}],
            [{"role": "user", "content": "z"}],
        ],
    }
]
DOCUMENTS = {
    "chatgpt": (CHATGPT, as_input),
    "claude_code": (CLAUDE, as_lines),
    "openai_chat": (OPENAI, as_lines),
    "locomo": (LOCOMO, as_input),
    "longmemeval": (LONGMEMEVAL, as_input),
}


def places(value, path=()):
    """Return the path of every value inside a JSON document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [path] if path else []
    for key, each in inner:
        found += places(each, (*path, key)) if isinstance(each, dict | list) else [(*path, key)]
    return found


def replaced(document, path, value):
    """Return a copy of a document with one value replaced."""
    changed = copy.deepcopy(document)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return changed


def accounted(found):
    """Return the number of records that events account for, a message of many turns once."""
    messages = {(e.line, e.native_id, e.session) for e in found if isinstance(e, Draft) and e.line}
    single = [e for e in found if isinstance(e, Draft) and not e.line]
    parts = {"thinking without text"}
    rest = [
        e for e in found
        if isinstance(e, Rejected | Repeated) or (isinstance(e, Ignored) and e.kind not in parts)
    ]  # fmt: skip
    return len(messages) + len(single) + len(rest)


@pytest.mark.parametrize("name", DOCUMENTS)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_value_in_any_place_is_read_or_rejected(name, data):
    document, packed = DOCUMENTS[name]
    path = data.draw(st.sampled_from(places(document)))
    changed = replaced(document, path, data.draw(JSON))
    found = events(packed(changed), name=name)
    assert found
    assert all(isinstance(e, Draft | Rejected | Repeated | Ignored | Warned) for e in found)
    for event in drafts(found):
        assert isinstance(event.text, str)
        assert event.time is None or event.time.at.tzinfo is UTC
        for field in ("conversation", "session", "native_id", "speaker", "caption", "title"):
            assert getattr(event, field) is None or isinstance(getattr(event, field), str)
    if packed is as_lines:  # every line is one record, whatever it holds
        spoken = {e.line for e in drafts(found)}
        others = [e for e in found if isinstance(e, Rejected | Repeated)]
        ignored = [e for e in only(found, Ignored) if e.kind != "thinking without text"]
        silent = sum(e.kind == "thinking without text" for e in only(found, Ignored))
        count = len(spoken) + len(others) + len(ignored)
        assert count <= len(document) <= count + silent


@pytest.mark.parametrize("name", DOCUMENTS)
def test_whole_documents_are_accounted_for_exactly(name):
    document, packed = DOCUMENTS[name]
    found = events(packed(document))
    records = {"chatgpt": 4, "claude_code": 6, "openai_chat": 4, "locomo": 3, "longmemeval": 4}
    assert accounted(found) == records[name]
    assert not only(found, Rejected)
    assert not only(found, Warned)


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("share", [0.1, 0.37, 0.5, 0.81, 0.97])
def test_a_file_cut_anywhere_never_raises_and_says_so(name, share):
    document, packed = DOCUMENTS[name]
    with packed(document).open() as stream:
        whole = stream.read()
    found = events(Bytes(whole[: int(len(whole) * share)], "cut"), name=name)
    assert only(found, Rejected)


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=400), name=st.sampled_from([*DOCUMENTS, "plain_text"]))
def test_arbitrary_bytes_never_raise(data, name):
    source = Bytes(b"Ana: hi\nAna: so\n" + data if name == "plain_text" else data, "x")
    for event in format_named(name).read(source, ReadOptions(tz=UTC)):
        assert not isinstance(event, Rejected) or len(event.raw) <= RAW_CHARS


@settings(max_examples=60, deadline=None)
@given(lines=st.lists(st.text(max_size=30).map(lambda t: t.replace("\r", "")), max_size=8))
def test_every_line_of_a_text_is_kept(lines):
    """What is no header, title, rule or blank line is found again in some turn."""
    body = "\n".join(lines).split("\n")
    text = "\n".join(["Ana: start", *body, "Ana: end", ""])
    found = drafts(events(as_input(text, "t.txt"), name="plain_text"))
    told = "\n".join(turn.text for turn in found)
    names = tuple(turn.speaker for turn in found if turn.speaker)
    for line in body:
        is_header = line.lstrip("#*_[( ").startswith(names)
        assert is_header or line.strip() in told or line.strip() in ("---", "***", "___")


@pytest.mark.parametrize(
    ("name", "deep"),
    [
        ("openai_chat", lambda d: [{"role": "user", "content": d}, OPENAI[0]]),
        ("openai_chat", lambda d: [{"role": "assistant", "tool_calls": d}, OPENAI[0]]),
        ("claude_code", lambda d: [
            record("a", None, [{"type": "tool_use", "name": "f", "input": d}]), CLAUDE[1],
        ]),
        ("chatgpt", lambda d: replaced(CHATGPT, (0, "mapping", "a", "message", "content"), d)),
        ("locomo", lambda d: replaced(LOCOMO, (0, "conversation", "session_1", 0), d)),
        ("longmemeval", lambda d: replaced(LONGMEMEVAL, (0, "haystack_sessions", 0, 0, "role"), d)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("depth", [100, 900, 1020, 50_000])
def test_deep_nesting_costs_one_record(name, deep, depth):
    marked = json.dumps(deep("DEEP")).replace('"DEEP"', "[" * depth + "]" * depth)
    values = json.loads(json.dumps(deep("DEEP")))
    if DOCUMENTS[name][1] is as_lines:
        marked = "\n".join(
            json.dumps(v).replace('"DEEP"', "[" * depth + "]" * depth) for v in values
        )
    found = events(as_input(marked, "deep"), name=name)
    assert found
    assert only(found, Rejected) or drafts(found)


def test_a_turn_of_two_megabytes_is_kept():
    text = "müsli " * 350_000
    for source, name in (
        (as_lines([{"role": "user", "content": text}] * 2), "openai_chat"),
        (as_input(f"Ana: hi\nBo: {text}\nAna: bye\nBo: bye\n", "t.txt"), "plain_text"),
        (as_lines([record("a", None, text), record("b", "a", "x")]), "claude_code"),
    ):
        found = events(source)
        assert format_named(name).recognise(source)
        assert text.strip() in {turn.text.strip() for turn in drafts(found)}


@pytest.mark.parametrize(
    "line",
    [
        "[" * 20_000,
        "(" * 20_000 + ":",
        "*" * 20_000,
        "A " * 20_000,
        "**" + "A " * 20_000 + "**",
        "[2024-02-11 09:00] " * 2_000,
        "#" * 20_000,
        "1" * 20_000 + ":",
        "\u200e" * 20_000,
        "Ana" + " " * 20_000 + ":",
        "12/12/12, 12:12 " * 2_000,
        "2024-05-03 18:20 " * 2_000,
        "2024-05-03 18:20 " + "A " * 20_000,
        "May 3, " * 5_000,
        "-- " * 20_000 + "2024",
        "18:20" + " " * 20_000 + "Ana: x",
        "Ana [" * 5_000,
        "## " + "2024-05-03 " * 5,
        "-- " * 25 + "2024",
        "<system-reminder>" * 5_000,
    ],
)
def test_no_line_makes_recognition_slow(line):
    text = "\n".join([line, "Ana: one", line, "Ana: two"] * 4)
    source = as_input(text, "t.txt")
    started = time.process_time()
    events(source, name="plain_text")
    foreign(source, frozenset())
    events(as_lines([record("a", None, line), record("b", "a", line)]), name="claude_code")
    assert time.process_time() - started < 2


def test_reading_twice_gives_the_same_events():
    for document, packed in DOCUMENTS.values():
        assert events(packed(document)) == events(packed(document))
