"""Every given sample, through the real command line, against its note of what is in it."""

from __future__ import annotations

import json
import shutil

import pytest

from memcli.importers.detect import formats


@pytest.fixture
def ingested(memcli, shared, tmp_path):
    """Ingest a sample's folder (or one file of it); return its note, the report, the turns."""

    def ingest(name, file=""):
        folder = tmp_path / name
        shutil.copytree(shared / "samples" / name, folder)
        note = json.loads((folder / "expected.json").read_text())
        (folder / "expected.json").unlink()
        done = memcli("ingest", folder / file, "--json", "--annotator", "none")
        assert (done.code, done.json["rejected"]) == (0, [])
        again = memcli("ingest", folder / file, "--json", "--annotator", "none").json
        assert (again["added"], again["stored_turns"]) == (0, done.json["stored_turns"])
        turns = memcli("inspect", "turns", "--jsonl").lines
        assert len(turns) == done.json["added"]
        return note, done.json, turns

    return ingest


def _ids(turns, **wanted):
    """Return the native ids of the turns with these values, in order."""
    found = [turn for turn in turns if all(turn[key] == value for key, value in wanted.items())]
    return [turn["source"]["native_id"] for turn in sorted(found, key=_place)]


def _place(turn):
    return (turn["conversation"], turn["seq"])


def _count(turns, **wanted):
    return len(_ids(turns, **wanted))


def test_chatgpt(ingested):
    note, _, turns = ingested("chatgpt_export")
    visible = [turn for turn in turns if turn["branch"] == "active"]
    talk = [turn for turn in visible if turn["role"] in ("user", "assistant")]
    wanted = [line.split()[:2] for path in note["visible_path"].values() for line in path]
    assert sorted((t["source"]["native_id"], t["role"]) for t in talk) == sorted(map(tuple, wanted))
    assert set(_ids(turns, branch="abandoned")) == set(note["off_path"])
    hidden = [*_ids(turns, role="system"), *_ids(turns, role="injected")]
    assert set(hidden) == set(note["hidden"])
    worked = [*_ids(turns, role="tool"), *_ids(turns, role="reasoning")]
    assert set(worked) == set(note["tool_or_reasoning"])
    assert len({turn["conversation"] for turn in turns}) == note["non_empty"]


def test_chatgpt_in_shards(ingested):
    note, _, turns = ingested("chatgpt_export_sharded")
    assert len({turn["conversation"] for turn in turns}) == note["unique_conversations"]
    assert len(set(_ids(turns))) == len(turns)


def test_claude_ai(ingested):
    note, _, turns = ingested("claude_ai_export")
    assert len({turn["conversation"] for turn in turns}) == note["non_empty"]
    assert len(set(_ids(turns))) == note["messages"]
    assert _count(turns, branch="abandoned") == 1
    assert _count(turns, role="reasoning") == 1
    assert _count(turns, role="tool") == 2


def test_claude_code(ingested):
    note, report, turns = ingested("claude_code_session")

    def named(*keys):
        return {word.split()[0] for key in keys for word in note[key] if word[:2].islower()}

    by_end = {turn["source"]["native_id"][-2:]: turn for turn in turns}
    main = {end: t for end, t in by_end.items() if t["branch"] != "sidechain"}
    assert {e for e, t in main.items() if t["role"] == "user"} == named("human_prompts")
    assert {e for e, t in main.items() if t["role"] == "assistant"} == named("assistant_text")
    assert {e for e, t in main.items() if t["role"] == "tool"} == named("tool")
    assert {e for e, t in main.items() if t["role"] == "reasoning"} == named("thinking")
    assert {e for e, t in main.items() if t["role"] == "injected"} == {"c9", "ca", "d5"}
    assert by_end["d1"]["branch"] == "abandoned"
    assert _count(turns, branch="sidechain") == note["subagent_turns"]
    assert report["duplicates"] == 1


def test_codex(ingested):
    note, _, turns = ingested("codex_rollout")
    first = [t for t in turns if "2025-04-30" in t["source"]["file"]]
    second = [t for t in turns if "2026-08-25" in t["source"]["file"]]
    assert [t["text"] for t in first if t["role"] == "user"] == note["first_file"]["user"]
    assert [t["text"] for t in first if t["role"] == "assistant"] == note["first_file"]["assistant"]
    assert _count(first, role="tool") == 2 * note["first_file"]["tool_pairs"]
    put_in = sum(t["role"] in ("injected", "developer") for t in first)
    assert put_in == note["first_file"]["injected"]
    for role, count in note["second_file"].items():
        assert _count(second, role=role) == count


def test_gemini_cli(ingested):
    note, _, turns = ingested("gemini_cli")
    old = [t for t in turns if t["source"]["file"].endswith(".json")]
    new = [t for t in turns if t["source"]["file"].endswith(".jsonl")]
    roles = [turn["role"] for turn in old]
    wanted = note["json_turns"]
    assert (roles.count("user"), roles.count("assistant")) == (wanted["user"], wanted["gemini"])
    assert roles.count("system") == wanted["info"]
    talk = [t for t in new if t["branch"] == "active" and t["role"] in ("user", "assistant")]
    ends = [t["source"]["native_id"][-3:] for t in talk]
    assert ends == [line.split()[0] for line in note["jsonl_final"]]
    assert [each[-3:] for each in _ids(new, role="injected")] == note["jsonl_injected"]
    assert [each[-3:] for each in _ids(new, branch="abandoned")] == note["rewound"]


@pytest.mark.parametrize("name", ["openai_chat_json", "openai_chat_jsonl"])
def test_openai_chat(ingested, name):
    note, _, turns = ingested(name, "chat.json" if name.endswith("json") else "")
    assert len(turns) == note["messages"]
    if "roles" in note:  # a message that calls a tool is a tool turn here
        roles = [turn["role"] for turn in turns]
        calls = sum(turn["text"].startswith("look_up") for turn in turns)
        assert roles.count("assistant") + calls == note["roles"]["assistant"]
        assert roles.count("tool") - calls == note["roles"]["tool"]
    times = note.get("times_utc", [None] * len(turns))
    known = [time for time in times if time and time.endswith("Z")]
    assert [turn["time"] for turn in turns][: len(known)] == known


def test_openai_finetune(ingested):
    note, _, turns = ingested("openai_finetune_jsonl")
    assert len(turns) == note["messages"]
    assert len({turn["conversation"] for turn in turns}) == note["conversations"]


def test_sharegpt(ingested):
    note, _, turns = ingested("sharegpt")
    assert len(turns) == note["messages"]
    assert len({turn["session"] for turn in turns}) == note["non_empty"]


def test_locomo(ingested):
    note, _, turns = ingested("locomo")
    assert len(turns) == note["turns"]
    assert len({turn["session"] for turn in turns}) == note["sessions_with_turns"]


def test_longmemeval(ingested):
    note, _, turns = ingested("longmemeval")
    assert len(turns) == note["turns"]
    sessions = {(turn["conversation"], turn["session"]) for turn in turns}
    assert len(sessions) == note["session_occurrences"]


def test_telegram(ingested):
    note, report, turns = ingested("telegram", "result_full_account.json")
    assert len({turn["conversation"] for turn in turns}) == note["full_account_chats"]
    group = [turn for turn in turns if turn["conversation"].endswith("4242")]
    assert _count(group, role="user") == note["messages"]
    assert _count(group, role="system") == note["service"]
    assert report["not_talk"] == {"unsupported message": note["unsupported"]}


def test_discord(ingested):
    note, _, turns = ingested("discord")
    assert len(turns) == note["messages"]
    assert _count(turns, role="system") == note["of_which_system"]


def test_slack(ingested):
    note, report, turns = ingested("slack")
    assert (len(report["files"]), len(turns)) == (note["files"], note["records"])
    assert len({turn["conversation"] for turn in turns}) == 1


def test_whatsapp(ingested):
    note, _, turns = ingested("whatsapp")
    for name in ("android_us", "android_de", "ios_uk", "ios_12h_nnbsp", "es_pm", "ar_rtl"):
        file = [turn for turn in turns if turn["source"]["file"] == f"{name}.txt"]
        assert _count(file, role="user") == note[name]["messages"]
        assert _count(file, role="system") == note[name].get("system", 0)


def test_plain_text(ingested):
    note, _, turns = ingested("plain_text")
    keys = {"dialogue.txt": "dialogue", "bracketed.txt": "bracketed", "dialogue.md": "dialogue_md"}
    for file, key in keys.items():
        told = [turn for turn in turns if turn["source"]["file"] == file]
        assert len(told) == note[key]["turns"]
        speakers = note[key].get("speakers")
        assert speakers is None or {turn["speaker"] for turn in told} == set(speakers)


def test_subtitles(ingested):
    """Cues of one speaker are joined, so a speaker said twice in a row is one turn."""
    note, report, turns = ingested("vtt_srt")
    for file in ("teams", "zoom"):
        told = [t for t in turns if t["source"]["file"] == f"{file}.vtt"]
        speakers = note[file]["speakers"]
        joined = [s for k, s in enumerate(speakers) if k == 0 or s is None or s != speakers[k - 1]]
        assert [turn["speaker"] for turn in told] == joined
    assert _count([t for t in turns if t["source"]["format"] == "srt"]) == note["srt"]["non_empty"]
    assert report["not_talk"]["empty cue"] == note["srt"]["cues"] - note["srt"]["non_empty"]


@pytest.mark.skipif(
    "cursor" not in {each.name for each in formats()}, reason="there is no importer for it yet"
)
def test_cursor(ingested):
    note, _, turns = ingested("cursor")
    files = {"cursor_export.md": "md", "cursor_export_ko.md": "md_ko"}
    for file, key in files.items():
        told = [turn for turn in turns if turn["source"]["file"] == file]
        assert len(told) == note[f"{key}_turns"]
    stored = [turn for turn in turns if turn["source"]["file"] not in files]
    assert len({turn["source"]["native_id"] for turn in stored}) == note["db_bubbles"]
