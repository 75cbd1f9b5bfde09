"""ChatGPT exports: trees, branches, shards, cut files."""

from __future__ import annotations

import json
import zipfile

import pytest
from importers.reading import (
    SHARED,
    as_input,
    drafts,
    events,
    iso,
    needs_shared,
    only,
    read_paths,
    refusals,
)

from memcli.importers.contract import Ignored, Rejected, Repeated, Warned

SAMPLE = SHARED / "samples" / "chatgpt_export" / "conversations.json"
CASES = SHARED / "cases"


def message(key, text="words", *, role="user", time=None, **more):
    content = more.pop("content", {"content_type": "text", "parts": [text]})
    return {
        "id": key,
        "author": {"role": role, "name": more.pop("name", None)},
        "create_time": time,
        "content": content,
        "recipient": more.pop("recipient", "all"),
        "metadata": more.pop("metadata", {}),
    }


def chat(*nodes, current=None, **more):
    """Return a conversation of (id, parent, message) triples; children follow from parents."""
    mapping = {
        key: {
            "id": key,
            "message": said,
            "parent": parent,
            "children": [other for other, above, _ in nodes if above == key],
        }
        for key, parent, said in nodes
    }
    return {"id": "c", "title": "T", "current_node": current, "mapping": mapping} | more


def linear(*messages, **more):
    nodes = [(m["id"], p and p["id"], m) for p, m in zip((None, *messages), messages, strict=False)]
    return chat(*nodes, current=messages[-1]["id"], **more)


@needs_shared
def test_sample_visible_path_branches_and_roles():
    name, found = read_paths(SAMPLE)["conversations.json"]
    turns = drafts(found)
    assert name == "chatgpt"
    assert [(t.native_id, t.role, t.branch) for t in turns] == [
        ("s0", "system", "active"),
        ("s1", "injected", "active"),
        ("u1", "user", "active"),
        ("a_old", "assistant", "abandoned"),
        ("u_dead", "user", "abandoned"),
        ("a_new", "assistant", "active"),
        ("u2", "user", "active"),
        ("t_call", "tool", "active"),
        ("t_res", "tool", "active"),
        ("th", "reasoning", "active"),
        ("a3", "assistant", "active"),
        ("u4", "user", "active"),
        ("x1", "user", "active"),
        ("x2", "assistant", "active"),
    ]
    by_id = {t.native_id: t for t in turns}
    assert iso(by_id["u1"]) == "2024-04-30T18:00:10.123456+00:00"
    assert (by_id["u2"].text, by_id["u2"].caption) == (
        "How many frames in the photo? 🐝🏽",
        "hive.png",
    )
    assert by_id["t_call"].text == "python(count_frames('hive.png'))"
    assert (by_id["t_res"].text, by_id["t_res"].speaker) == ("9", "python")
    assert by_id["a3"].text == "I count nine frames 【1†hive】.\n\nشكرا"
    assert (by_id["u4"].text, by_id["u4"].time) == ("Thanks", None)
    assert [by_id[key].title for key in ("u1", "x1")] == ["Hive naming", None]
    assert len({t.conversation for t in turns}) == 2
    assert all(t.session == t.conversation for t in turns)
    assert [e.kind for e in only(found, Ignored)] == ["node without message"] * 3


@needs_shared
def test_shards_and_companions_in_a_folder_and_in_a_zip(tmp_path):
    folder = SHARED / "samples" / "chatgpt_export_sharded"
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        for path in folder.iterdir():
            opened.write(path, f"export/{path.name}")
        opened.writestr("export/chat.html", "<html>")
        opened.writestr("export/photo.png", b"\x89PNG\x00")
    for found, refused in ((read_paths(folder), refusals(folder)),
                           (read_paths(archive), refusals(archive))):  # fmt: skip
        assert len(found) == 2
        turns = [t for _, e in found.values() for t in drafts(e)]
        assert len({(t.conversation, t.native_id) for t in turns}) == 14
        assert [name.rpartition("/")[2] for name in refused] in (
            ["expected.json"],
            ["export.zip!export/expected.json"],
        )


@needs_shared
def test_case_01_array_times_and_titles():
    _, found = read_paths(CASES / "01-chatgpt-array" / "input")["conversations.json"]
    assert [(t.role, t.text, t.title) for t in drafts(found)] == [
        ("user", "How deep is the north well?", "Wells"),
        ("assistant", "18 metres.", "Wells"),
        ("user", "Which pump did we buy?", "Pumps"),
        ("assistant", "The Halden 40.", "Pumps"),
    ]
    assert iso(drafts(found)[0]) == "2024-04-30T18:00:01.500000+00:00"


@needs_shared
def test_case_02_the_dropped_answer_is_kept_and_marked():
    _, found = read_paths(CASES / "02-chatgpt-branch" / "input")["conversations.json"]
    visible = [t.native_id for t in drafts(found) if t.branch == "active"]
    assert visible == ["b1", "b_new", "b3"]
    [dropped] = [t for t in drafts(found) if t.branch == "abandoned"]
    assert dropped.text == "Rust never sleeps here."


@needs_shared
def test_case_03_shards_leave_user_json_out():
    folder = CASES / "03-chatgpt-shards" / "input"
    assert sum(len(drafts(found)) for _, found in read_paths(folder).values()) == 4
    assert refusals(folder) == {}
    assert list(refusals(folder / "user.json")) == ["user.json"]


@needs_shared
def test_case_04_unknown_times_stay_unknown():
    _, found = read_paths(CASES / "04-chatgpt-null-time" / "input")["conversations.json"]
    assert [(t.native_id, t.time) for t in drafts(found)[-2:]] == [("n1", None), ("n2", None)]
    assert len({t.conversation for t in drafts(found)}) == 3


@needs_shared
def test_a_renamed_copy_is_recognised(tmp_path):
    (tmp_path / "notes.txt").write_bytes(SAMPLE.read_bytes())
    assert read_paths(tmp_path)["notes.txt"][0] == "chatgpt"


@needs_shared
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_a_cut_array_keeps_whole_conversations_and_rejects_the_rest(tmp_path, share):
    chats = json.loads(SAMPLE.read_text())
    data = json.dumps(chats * 3).encode()
    whole = json.dumps(chats[:1]).encode()
    found = events(as_input(data[: max(int(len(data) * share), len(whole) + 5)]))
    assert drafts(found)
    assert ["cut off" in r.reason for r in only(found, Rejected)] == [True]
    assert only(found, Rejected)[0].raw or share > 0.98


@needs_shared
def test_a_file_cut_inside_its_first_conversation_is_still_named():
    found = events(as_input(SAMPLE.read_bytes()[:3000]))
    assert [type(each) for each in found] == [Rejected]


def test_a_conversation_given_twice_is_repeated():
    one = linear(message("a"), message("b", role="assistant"))
    found = events(as_input([one, one]))
    assert [t.native_id for t in drafts(found)] == ["a", "b"]
    assert [r.where for r in only(found, Repeated)] == ["a", "b"]


def test_object_with_conversations_and_single_conversation():
    one = linear(message("a"))
    for value in ({"conversations": [one]}, one, [one]):
        assert [t.text for t in drafts(events(as_input(value)))] == ["words"]


def test_older_flat_messages():
    old = {"id": "c", "title": "Old", "create_time": 1.7e9, "messages": [
        {"role": "user", "content": "hi"},
        message("m2", "hello", role="assistant", time=1.7e9),
        "broken",
    ]}  # fmt: skip
    found = events(as_input([old]))
    assert [(t.role, t.text, t.native_id) for t in drafts(found)] == [
        ("user", "hi", None),
        ("assistant", "hello", "m2"),
    ]
    assert len(only(found, Rejected)) == 1


@pytest.mark.parametrize(
    ("nodes", "current", "expected"),
    [
        pytest.param(
            [("a", "gone", message("a")), ("b", "a", message("b"))], "b", ["a+", "b+"],
            id="the parent is not in the file",
        ),
        pytest.param(
            [("a", "b", message("a")), ("b", "a", message("b"))], "b", ["a+", "b+"], id="cycle",
        ),
        pytest.param([("a", "a", message("a"))], "a", ["a+"], id="its own parent"),
        pytest.param(
            [
                ("r", None, message("r")),
                ("x", "r", message("x", time=1.5e9)),
                ("y", "r", message("y", time=1.4e9)),
            ],
            "gone", ["r+", "y-", "x+"], id="newest leaf stands for a current node that is gone",
        ),
        pytest.param(
            [
                ("r", None, message("r")),
                ("x", "r", message("x", time=1.5e9)),
                ("y", "r", message("y", time=1.4e9)),
                ("z", "y", message("z")),
            ],
            None, ["r+", "y-", "z-", "x+"], id="a leaf without time takes that of its ancestor",
        ),
        pytest.param(
            [("p", None, message("p")), ("q", None, message("q"))], "q", ["p+", "q+"],
            id="two trees, both told",
        ),
    ],
)  # fmt: skip
def test_damaged_links_lose_no_turn(nodes, current, expected):
    turns = drafts(events(as_input([chat(*nodes, current=current)])))
    assert [t.native_id + ("+" if t.branch == "active" else "-") for t in turns] == expected


@pytest.mark.parametrize(
    ("content", "text", "caption"),
    [
        ({"content_type": "text", "parts": [""]}, "", None),
        ({"content_type": "text", "parts": []}, "", None),
        ("plain", "plain", None),
        ({"content_type": "multimodal_text", "parts": [
            {"content_type": "audio_transcription", "text": "spoken"},
            {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://f1"},
        ]}, "spoken", "sediment://f1"),
        ({"content_type": "multimodal_text", "parts": [
            {"asset_pointer": "sediment://f2", "metadata": {"dalle": {"prompt": "a red boat"}}},
        ]}, "", "sediment://f2: a red boat"),
        ({"content_type": "tether_quote", "title": "A", "url": "u", "text": "q"}, "A\nu\nq", None),
        ({"content_type": "system_error", "name": "E", "text": "boom"}, "E\nboom", None),
        ({"content_type": "yet_unknown", "words": "kept"}, "kept", None),
    ],
)  # fmt: skip
def test_every_kind_of_content_is_kept(content, text, caption):
    found = drafts(events(as_input([linear(message("a", content=content), message("b"))])))
    assert (found[0].text, found[0].caption) == (text, caption)


@pytest.mark.parametrize(
    ("changes", "role"),
    [
        ({"role": "assistant", "recipient": "bio"}, "tool"),
        ({"role": "assistant", "content": {"content_type": "reasoning_recap", "content": "x"}},
         "reasoning"),
        ({"role": "user", "metadata": {"is_visually_hidden_from_conversation": True}}, "injected"),
        ({"role": "system", "metadata": {"is_user_system_message": True}}, "injected"),
        ({"role": "tool", "name": "bio"}, "tool"),
        ({"role": "developer"}, "developer"),
    ],
)  # fmt: skip
def test_what_is_no_talk_is_marked(changes, role):
    [turn] = drafts(events(as_input([linear(message("a", **changes))])))
    assert turn.role == role


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (message("x") | {"content": None}, "record without text"),
        (message("x") | {"content": {"content_type": "text"}}, "record without text"),
        (message("x") | {"author": None}, "no known role: null"),
        (message("x") | {"author": {"role": "wizard"}}, 'no known role: "wizard"'),
        ("text", "message is no object"),
    ],
)
def test_a_damaged_message_costs_only_itself(broken, reason):
    value = chat(
        ("a", None, message("a")), ("x", "a", broken), ("b", "x", message("b")), current="b"
    )
    found = events(as_input([value]))
    assert [t.native_id for t in drafts(found)] == ["a", "b"]
    assert [(r.where, r.reason) for r in only(found, Rejected)] == [("file.json#1/x", reason)]


def test_damaged_conversations_cost_only_themselves():
    good = linear(message("a"))
    found = events(as_input([good, "x", {"id": "no mapping"}, good | {"id": "d"}]))
    assert [t.conversation for t in drafts(found)] == ["c", "d"]
    assert [r.where for r in only(found, Rejected)] == ["file.json#2", "file.json#3"]


def test_an_odd_time_warns_and_stays_unknown():
    found = events(as_input([linear(message("a", time="soon"))]))
    assert drafts(found)[0].time is None
    assert len(only(found, Warned)) == 1


def test_a_lone_surrogate_is_kept():
    data = json.dumps([linear(message("a", "half \ud83d emoji"))])
    assert drafts(events(as_input(data)))[0].text == "half \ud83d emoji"


@pytest.mark.slow
def test_memory_is_that_of_one_conversation(tmp_path):
    import tracemalloc

    body = json.dumps(linear(*(message(f"m{n}", "x" * 2000) for n in range(50))))[1:]
    path = tmp_path / "big.json"
    with path.open("w") as stream:
        stream.write("[")
        for number in range(200):
            comma = "," if number else ""
            stream.write(f'{comma}{{"conversation_id": "{number}", {body}')
        stream.write("]")
    tracemalloc.start()
    count = sum(1 for _ in _stream(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 200 * 50
    assert path.stat().st_size > 20e6
    assert peak < 12e6


def _stream(path):
    from datetime import UTC

    from memcli.importers.contract import ReadOptions
    from memcli.importers.detect import gather

    [source] = gather([path])
    yield from source.format.read(source.input, ReadOptions(tz=UTC))
