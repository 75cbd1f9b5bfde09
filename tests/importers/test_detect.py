"""Recognition: what is named, what is refused, and that names of files decide nothing."""

from __future__ import annotations

import json
import shutil

import pytest
from importers.reading import (
    SHARED,
    Bytes,
    as_input,
    as_lines,
    drafts,
    events,
    needs_shared,
    only,
    refusals,
)

from memcli.errors import SourceFormatError, UsageError
from memcli.importers.contract import Rejected
from memcli.importers.detect import Source, detect, format_named, formats, gather
from memcli.importers.inputs import Unreadable

SAMPLES = SHARED / "samples"

OURS = {
    "plain_text": "plain_text",
    "chatgpt_export": "chatgpt",
    "chatgpt_export_sharded": "chatgpt",
    "openai_chat_json": "openai_chat",
    "openai_chat_jsonl": "openai_chat",
    "longmemeval": "longmemeval",
    "locomo": "locomo",
    "claude_code_session": "claude_code",
    "whatsapp": "whatsapp",
    "telegram": "telegram",
    "discord": "discord",
    "slack": "slack",
    "claude_ai_export": "claude_ai",
    "codex_rollout": "codex",
    "gemini_cli": "gemini_cli",
    "openai_finetune_jsonl": "openai_finetune",
    "sharegpt": "sharegpt",
    "vtt_srt": "webvtt srt",
}
IMPORTERS = frozenset(" ".join(OURS.values()).split())


def of_folder(path):
    return [each for each in gather([path]) if not _is_note(each)]


def _is_note(each):
    name = each.input.name if isinstance(each, Source) else each.name
    return name == "expected.json"


@needs_shared
@pytest.mark.parametrize(("folder", "name"), OURS.items())
def test_our_samples_are_recognised(folder, name):
    found = of_folder(SAMPLES / folder)
    assert found
    assert {each.format.name for each in found} == set(name.split())
    assert all(each.evidence for each in found)


_BESIDE = {"expected.json", "user.json", "users.json", "channels.json"}


@needs_shared
@pytest.mark.parametrize("suffix", ["", ".txt", ".md", ".dat2", ".json"])
def test_renamed_samples_are_recognised_by_content(tmp_path, suffix):
    for folder, name in OURS.items():
        for number, path in enumerate(sorted((SAMPLES / folder).rglob("*"))):
            if path.is_file() and path.name not in _BESIDE \
                    and "manifest" not in path.name:  # fmt: skip
                shutil.copy(path, tmp_path / f"{name}-{number}-{folder}{suffix}")
    found = list(gather([tmp_path]))
    for each in found:
        if isinstance(each, Source):
            assert each.format.name in each.input.name.partition("-")[0].split()
        else:  # text in a .json file is refused, never guessed at
            assert each.name.startswith("plain_text-")
            assert suffix == ".json"


@needs_shared
def test_formats_of_others_are_never_taken_for_ours():
    foreign = [path for path in sorted(SAMPLES.iterdir()) if path.name not in OURS]
    for folder in foreign:
        for each in of_folder(folder):
            if isinstance(each, Source):
                assert each.format.name not in IMPORTERS, each.input.name


@needs_shared
@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("cursor/cursor_export.md", "Cursor"),
        ("cursor/state.vscdb", "Cursor"),
    ],
)
def test_a_format_without_importer_is_named(path, label):
    [found] = gather([SAMPLES / path])
    if isinstance(found, Source):
        assert found.format.name not in IMPORTERS
    else:
        assert label in found.error.message


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"\x00\x01\x02binary", "binary data"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "binary data"),
        (b"{}", "an empty JSON object"),
        (b"[]", "a JSON array of no objects"),
        (b"[1, 2]", "a JSON array of no objects"),
        (b'{"a": 1, "b": 2}', "a JSON object with a, b"),
        (b'[{"x": 1}]', "a JSON array of objects with x"),
        (b'{"x": 1}\n{"x": 2}\n', "JSON lines with x"),
        (b'{"messages": []}', "a JSON object with messages"),
        (b'{"role": "user", "content": "cut', "does not parse"),
        (b'{"a": 1', "does not parse"),
        (b"Just a sentence.", "without repeated speaker names"),
    ],
)
def test_what_is_unknown_is_described_and_refused(data, part):
    with pytest.raises(SourceFormatError) as caught:
        detect(Bytes(data, "thing.json"))
    assert caught.value.message.startswith("thing.json: ")
    assert part in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("name", ["x.txt", "x.md", "x.json", "x"])
@pytest.mark.parametrize(
    "text",
    [
        '{"Ana": "hi",\n"Bo": "hey"}\nAna: one\nBo: two\nAna: three\n',
        '[{"Ana": 1}]\nAna: one\nBo: two\nAna: three\nBo: four\n',
    ],
)
def test_what_begins_like_json_is_never_dialogue(name, text):
    with pytest.raises(SourceFormatError):
        detect(as_input(text, name))


def test_dialogue_in_a_json_file_is_refused_unless_insisted_on():
    talk = as_input("Ana: one\nBo: two\nAna: three\nBo: four\n", "talk.json")
    with pytest.raises(SourceFormatError):
        detect(talk)
    assert detect(talk, name="plain-text").evidence == "as --format says"


def test_a_first_item_larger_than_the_head_is_seen():
    big = [{"role": "user", "content": "x" * 400_000}, {"role": "user", "content": "y"}]
    assert detect(as_input(big)).format.name == "openai_chat"
    assert detect(as_lines(big)).format.name == "openai_chat"
    assert detect(as_input({"messages": big})).format.name == "openai_chat"


@pytest.mark.parametrize("gap", [0, 300_000, 20_000_000])
def test_a_large_object_is_recognised_by_its_members_and_read_whole(gap):
    """Beyond some size an object is sampled; what is read is all of it."""
    said = [{"role": "user", "content": text} for text in ("a" * gap, "b", "c")]
    assert len(drafts(events(as_input({"model": "m", "messages": said, "n": 1})))) == 3
    told = [{"id": k, "type": "message", "from": "A", "text": "x" * gap} for k in (1, 2)]
    chat = {"name": "N", "type": "private_group", "id": 4, "messages": told}
    assert len(drafts(events(as_input(chat)))) == 2
    account = {"about": "", "chats": {"about": "", "list": [chat]}}
    assert len(drafts(events(as_input(account)))) == 2
    cut = json.dumps(account)[:-5]
    assert detect(as_input(cut)).format.name == "telegram"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"model": "m", "messages": [{"role": "user", "content": "kept"}] * 3}, "openai_chat"),
        ([{"session_1": [{"speaker": "A", "dia_id": "D1:1", "text": "x"}] * 3}], "locomo"),
        (
            [{"question_id": "q", "haystack_sessions": [[{"role": "user", "content": "x"}] * 3]}],
            "longmemeval",
        ),
    ],
)
def test_a_file_cut_in_its_only_record_is_named_and_the_loss_is_told(value, name):
    found = events(as_input(json.dumps(value)[:-6]))
    assert detect(as_input(json.dumps(value)[:-6])).format.name == name
    assert len(only(found, Rejected)) == 1
    assert len(drafts(found)) == (2 if name == "openai_chat" else 0)


def test_formats_come_by_rank_and_name_and_are_found_by_either_spelling():
    order = [(each.rank, each.name) for each in formats()]
    assert order == sorted(order)
    assert {name for _, name in order} >= IMPORTERS
    assert format_named("openai-chat") is format_named("openai_chat")


def test_an_unknown_format_name_lists_the_known_ones():
    with pytest.raises(UsageError) as caught:
        format_named("klingon")
    assert "openai_chat" in caught.value.hint


@pytest.mark.parametrize("name", sorted(IMPORTERS))
@pytest.mark.parametrize("data", [b"{", b"[", b'"x"', b"Some words.", b"[[]]", b"\xff\xfe\xff"])
def test_a_format_that_is_insisted_on_rejects_what_it_cannot_read(name, data):
    if name in ("plain_text", "whatsapp"):  # nobody speaks: the whole file is refused
        with pytest.raises(SourceFormatError):
            events(Bytes(data, "x"), name=name)
        return
    for event in events(Bytes(data, "x"), name=name):
        assert type(event).__name__ in ("Rejected", "Draft", "Warned")


def test_one_bad_file_in_a_folder_leaves_the_good_ones(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([{"role": "user", "content": "hi"}]))
    (tmp_path / "b.json").write_text("{broken")
    (tmp_path / "c.json").write_text("")
    (tmp_path / "d.txt").write_text("Ana: hi\nBo: hey\nAna: so\nBo: yes\n")
    found = list(gather([tmp_path]))
    assert [type(each) for each in found] == [Source, Unreadable, Unreadable, Source]
    assert list(refusals(tmp_path)) == ["b.json", "c.json"]


def test_companions_are_left_out_only_beside_their_export(tmp_path):
    (tmp_path / "user.json").write_text('{"id": "u"}')
    assert list(refusals(tmp_path)) == ["user.json"]
    chat = {"title": "T", "mapping": {"a": {"message": None, "parent": None, "children": []}}}
    (tmp_path / "conversations.json").write_text(json.dumps([chat]))
    assert refusals(tmp_path) == {}


def test_utf16_json_is_recognised_and_read():
    data = json.dumps([{"role": "user", "content": "köln 🐝"}], ensure_ascii=False)
    for encoding in ("utf-16", "utf-8-sig"):
        [draft] = events(Bytes(data.encode(encoding), "x"))
        assert draft.text == "köln 🐝"
