"""Claude Code sessions that begin with copies of another one: each line is stored once."""

from __future__ import annotations

import json

import pytest


def line(uuid, text, session, **more):
    return {
        "type": "user", "uuid": uuid, "parentUuid": None, "sessionId": session,
        "timestamp": "2026-01-05T10:00:00.000Z", "message": {"role": "user", "content": text},
    } | more  # fmt: skip


FIRST = [line("a", "ok", "s1"), line("b", "go on", "s1"), line("b2", "ok", "s1")]
COPIES = {
    "under the old session": FIRST,
    "under the new session": [each | {"sessionId": "s2"} for each in FIRST],
    "forked": [
        each | {"sessionId": "s2", "forkedFrom": {"sessionId": "s1", "messageUuid": each["uuid"]}}
        for each in FIRST
    ],
}


@pytest.mark.parametrize("order", [("s1", "s2"), ("s2", "s1")])
@pytest.mark.parametrize("kind", COPIES)
def test_a_resumed_or_forked_session_adds_only_what_is_its_own(memcli, tmp_path, kind, order):
    files = {"s1": FIRST, "s2": [*COPIES[kind], line("c", "ok", "s2")]}
    for name, lines in files.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    options = ("--json", "--annotator", "none")
    done = [memcli("ingest", f"{name}.jsonl", *options).json for name in order]
    assert sum(each["added"] for each in done) == done[-1]["stored_turns"] == 4
    for name in (*order, *order):
        again = memcli("ingest", f"{name}.jsonl", *options).json
        assert (again["added"], again["updated"], again["stored_turns"]) == (0, 0, 4)
        parts = ("added", "already_there", "updated", "duplicates")
        assert again["read"] == sum(again[part] for part in parts)
    both = memcli("ingest", "s1.jsonl", "s2.jsonl", *options, MEMCLI_STORE=str(tmp_path / "x")).json
    assert (both["added"], both["stored_turns"]) == (4, 4)
