"""Whoever keeps a ledger is told of every request, of use or not."""

from __future__ import annotations

import fake_llm
import pytest
from fake_llm import FakeLLM

from memcli.errors import LLMReplyInvalid
from memcli.llm.client import ModelSettings, connect
from memcli.llm.transport import Schema

SCHEMA = Schema(
    name="judge",
    schema={"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]},
)


def observed(*steps):
    seen = []
    with FakeLLM({"judge": list(steps)}) as fake:
        client = connect(
            ModelSettings(model="fake", api_base=fake.url),
            observe=seen.append,
            sleep=lambda _: None,
        )
        try:
            client.complete(
                [{"role": "user", "content": "?"}], schema=SCHEMA, max_tokens=9, role="judge"
            )
        except LLMReplyInvalid:
            seen.append("failed")
    return seen


@pytest.mark.parametrize(
    ("steps", "outcomes"),
    [
        ([fake_llm.say('{"ok": true}')], ["ok"]),
        ([fake_llm.status(500), fake_llm.say('{"ok": true}')], ["status_500", "ok"]),
        ([fake_llm.say(""), fake_llm.say('{"ok": true}')], ["empty", "ok"]),
        ([fake_llm.say("no"), fake_llm.say('{"ok": true}')], ["misfit", "ok"]),
        ([fake_llm.say("no"), fake_llm.say("no")], ["misfit", "misfit", "failed"]),
    ],
)
def test_every_request_is_told_with_its_outcome(steps, outcomes):
    seen = observed(*steps)
    assert [each if each == "failed" else each.outcome for each in seen] == outcomes
    requests = [each for each in seen if each != "failed"]
    assert [each.number for each in requests] == list(range(1, len(requests) + 1))
    assert {each.role for each in requests} == {"judge"}
    assert all(each.seconds >= 0 for each in requests)
    told = [each.usage is not None for each in requests]
    assert told == [outcome != "status_500" for outcome in outcomes if outcome != "failed"]
