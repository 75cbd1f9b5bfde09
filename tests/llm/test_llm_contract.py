"""One contract, both ways to a model: what a server does → reply or error."""

from __future__ import annotations

import socket
import time
import traceback
from collections.abc import Callable

import fake_llm
import pytest
from fake_llm import FakeLLM, Step, completion, send_json

from memcli.errors import LLMError, LLMRejected, LLMReplyCut, LLMReplyInvalid, LLMUnavailable
from memcli.llm.client import Client, ModelSettings, Reply, connect
from memcli.llm.keys import Secret
from memcli.llm.litellm_path import LitellmPath
from memcli.llm.transport import Schema

KEY = "sk-never-to-be-shown-0123456789"
HELLO = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "When?"}]
VERDICT = Schema(
    name="judge",
    schema={
        "type": "object",
        "properties": {"why": {"type": "string"}, "correct": {"type": "boolean"}},
        "required": ["why", "correct"],
        "additionalProperties": False,
    },
)
Door = Callable[..., Client]


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture(params=["http", pytest.param("litellm", marks=pytest.mark.slow)])
def door(request: pytest.FixtureRequest, waits: list[float]) -> Door:
    """Return a function that connects to a base URL the way under test."""

    def open_door(url: str, *, model: str = "openai/fake", **more: object) -> Client:
        settings = ModelSettings(
            model=model, api_base=url, api_key=Secret(KEY), **{"timeout_s": 10.0, **more}
        )
        if request.param == "http":
            return connect(settings, sleep=waits.append)
        path = LitellmPath(api_base=f"{url}/v1", key=settings.api_key)
        return Client(settings, path, sleep=waits.append)

    return open_door


def ask(door: Door, steps: list[Step], **more: object) -> tuple[Reply, FakeLLM]:
    with FakeLLM({"text": steps}) as fake:
        return door(fake.url, **more).complete(HELLO, max_tokens=64, role="reader"), fake


def fail(door: Door, steps: list[Step], **more: object) -> tuple[LLMError, FakeLLM]:
    with FakeLLM({"text": steps}) as fake, pytest.raises(LLMError) as caught:
        door(fake.url, **more).complete(HELLO, max_tokens=64, role="reader")
    return caught.value, fake


def test_reply(door: Door, waits: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    reply, fake = ask(door, [fake_llm.say(" On Friday [1]. ")])
    assert reply.text == "On Friday [1]."
    assert (reply.finish_reason, reply.attempts, reply.data, waits) == ("stop", 1, None, [])
    assert reply.usage is not None
    counts = (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.cached_tokens)
    assert counts == (11, 7, 5)
    assert reply.usage.cost_usd is None
    assert 0 < reply.seconds < 60
    (seen,) = fake.seen
    assert seen.path == "/v1/chat/completions"
    headers = {name.lower(): value for name, value in seen.headers.items()}
    assert headers["authorization"] == f"Bearer {KEY}"
    assert seen.body["model"] == "fake"
    assert seen.body["messages"] == HELLO
    assert (seen.body["max_tokens"], seen.body["temperature"]) == (64, 0)
    assert capsys.readouterr().out == ""


def test_a_server_without_counts_leaves_usage_unknown(door: Door) -> None:
    assert ask(door, [fake_llm.say("x", usage=None)])[0].usage is None


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>Friday? No.</think>\nMonday [2]", "Monday [2]"),
        ("so it is Friday</think>Monday [2]", "Monday [2]"),
        ("He typed <think> twice.", "He typed <think> twice."),
    ],
)
def test_thinking_is_not_the_answer(door: Door, content: str, text: str) -> None:
    assert ask(door, [fake_llm.say(content)])[0].text == text


TRANSIENT = {
    "429": fake_llm.status(429, "slow down"),
    "500": fake_llm.status(500),
    "502 page": fake_llm.html(502),
    "503": fake_llm.status(503),
    "reset": fake_llm.reset(),
    "broken off": fake_llm.break_off(),
    "429 inside a 200": send_json({"error": {"message": "busy", "code": 429}}),
}


@pytest.mark.parametrize("step", TRANSIENT.values(), ids=TRANSIENT)
def test_transient_failure_is_tried_again(door: Door, waits: list[float], step: Step) -> None:
    reply, fake = ask(door, [step, step, fake_llm.say("Friday")])
    assert (reply.text, reply.attempts, len(fake.seen)) == ("Friday", 3, 3)
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("step", TRANSIENT.values(), ids=TRANSIENT)
def test_transient_failure_that_stays(door: Door, waits: list[float], step: Step) -> None:
    error, fake = fail(door, [step], max_retries=3)
    assert type(error) is LLMUnavailable
    assert len(fake.seen) == 4
    assert waits == [0.5, 1.0, 2.0]
    assert "4 tries" in error.message
    assert error.hint


def test_retry_after_is_followed(door: Door, waits: list[float]) -> None:
    ask(door, [fake_llm.status(429, retry_after="7"), fake_llm.say("x")])
    assert waits == [7.0]


def test_retry_after_beyond_patience_is_told(door: Door, waits: list[float]) -> None:
    error, fake = fail(door, [fake_llm.status(429, retry_after="3600")])
    assert type(error) is LLMUnavailable
    assert (len(fake.seen), waits) == (1, [])
    assert "3600 s" in error.hint


def test_hanging_server_times_out(door: Door, waits: list[float]) -> None:
    start = time.monotonic()
    error, fake = fail(door, [fake_llm.hang()], timeout_s=0.2, max_retries=1)
    assert type(error) is LLMUnavailable
    assert "0.2 s" in error.message
    assert len(fake.seen) == 2
    assert time.monotonic() - start < 20


def test_nobody_listens(door: Door, waits: list[float]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: refused at once
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(LLMUnavailable) as caught:
            door(url).complete(HELLO, max_tokens=64, role="reader")
    assert "running" in caught.value.hint
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("code", [400, 401, 403, 404, 413])
def test_refusal_is_not_tried_again(door: Door, waits: list[float], code: int) -> None:
    error, fake = fail(door, [fake_llm.status(code, "no model of that name")])
    assert type(error) is LLMRejected
    assert (len(fake.seen), waits) == (1, [])
    assert "no model of that name" in error.message
    assert str(code) in error.message


def test_unprocessable_request(door: Door, waits: list[float]) -> None:
    error, _ = fail(door, [fake_llm.status(422)])  # litellm itself sends it twice
    assert type(error) is LLMRejected
    assert "422" in error.message
    assert waits == []


def test_an_error_inside_a_200_is_a_refusal(door: Door) -> None:
    error, _ = fail(door, [send_json({"error": {"message": "no such thing"}})])
    assert type(error) is LLMRejected


INVALID = {
    "page": fake_llm.html(),
    "truncated": fake_llm.raw(b'{"choices": [{"message": {"content": "Fri'),
    "no choices": send_json({"object": "chat.completion"}),
    "empty choices": send_json({"choices": []}),
    "not an object": fake_llm.raw(b"[1]"),
    "empty body": fake_llm.raw(b""),
}


@pytest.mark.parametrize("step", INVALID.values(), ids=INVALID)
def test_what_is_no_completion(door: Door, step: Step) -> None:
    error, fake = fail(door, [step])
    assert type(error) is LLMReplyInvalid
    assert len(fake.seen) == 1
    assert error.hint


@pytest.mark.parametrize("content", [None, "", " \n", "<think>hmm</think>"])
@pytest.mark.parametrize("finish", ["stop", "content_filter"])
def test_empty_reply(door: Door, content: str | None, finish: str) -> None:
    error, fake = fail(door, [fake_llm.say(content, finish=finish)])
    assert type(error) is LLMReplyInvalid
    assert "empty" in error.message
    assert len(fake.seen) == (2 if finish == "stop" else 1)


def test_an_empty_reply_gets_one_more_try(door: Door) -> None:
    reply, fake = ask(door, [fake_llm.say(""), fake_llm.say("Friday [1]")])
    assert (reply.text, reply.attempts, len(fake.seen)) == ("Friday [1]", 2, 2)


@pytest.mark.parametrize("content", [None, "", "<think>the first line says that"])
def test_reply_cut_before_it_said_anything(door: Door, content: str | None) -> None:
    error, _ = fail(door, [fake_llm.say(content, finish="length")])
    assert type(error) is LLMReplyCut


def test_reply_cut_after_it_said_something(door: Door) -> None:
    reply, _ = ask(door, [fake_llm.say("On Friday, becau", finish="length")])
    assert (reply.text, reply.finish_reason) == ("On Friday, becau", "length")


@pytest.mark.parametrize(
    ("words", "lost", "gained"),
    [
        ("Unsupported value: 'temperature' does not support 0", "temperature", None),
        (
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "max_tokens",
            "max_completion_tokens",
        ),
    ],
)
def test_learns_what_the_model_refuses(
    door: Door, waits: list[float], words: str, lost: str, gained: str | None
) -> None:
    steps = [fake_llm.status(400, words), fake_llm.say("Friday")]
    with FakeLLM({"text": steps}) as fake:
        client = door(fake.url)
        assert client.complete(HELLO, max_tokens=64, role="reader").attempts == 2
        assert client.complete(HELLO, max_tokens=64, role="reader").attempts == 1
    assert lost in fake.seen[0].body
    assert all(lost not in seen.body for seen in fake.seen[1:])
    assert gained is None or fake.seen[1].body[gained] == 64
    assert waits == []


def judge(door: Door, *steps: Step) -> tuple[Reply, FakeLLM]:
    with FakeLLM({"judge": steps, "text": steps}) as fake:
        return door(fake.url).complete(HELLO, schema=VERDICT, max_tokens=64, role="judge"), fake


GOOD = '{"why": "same {day}", "correct": true}'


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here you are: {GOOD} Anything else?",
        f'<think>{{"why": "no", "correct": false}}</think>{GOOD}',
        f'{{"unrelated": 1}} {GOOD}',
    ],
)
def test_json(door: Door, content: str) -> None:
    reply, fake = judge(door, fake_llm.say(content))
    assert reply.data == {"why": "same {day}", "correct": True}
    assert reply.attempts == 1
    wanted = fake.seen[0].body["response_format"]
    assert wanted["type"] == "json_schema"
    assert wanted["json_schema"]["strict"] is True
    assert list(wanted["json_schema"]["schema"]["properties"]) == ["why", "correct"]


@pytest.mark.parametrize(
    "bad", ["no JSON", '{"why": "cut', '{"why": "x"}', '{"why": "x", "correct": "yes"}']
)
def test_json_is_repaired_once(door: Door, bad: str) -> None:
    reply, fake = judge(door, fake_llm.say(bad), fake_llm.say(GOOD))
    assert reply.data is not None
    assert reply.attempts == 2
    assert reply.usage is not None
    assert reply.usage.prompt_tokens == 22
    first, again = (seen.body["messages"] for seen in fake.seen)
    assert again[-1]["content"].endswith("Reply again with the JSON object only.")
    if bad.endswith("}"):  # an object that does not fit is shown again, else nothing is
        assert again[-2] == {"role": "assistant", "content": bad}
    else:
        assert len(again) == len(first)
        assert again[-1]["content"].startswith(first[-1]["content"])


def test_json_that_stays_wrong_is_an_error(door: Door) -> None:
    with FakeLLM({"judge": [fake_llm.say("no JSON")]}) as fake:
        with pytest.raises(LLMReplyInvalid) as caught:
            door(fake.url).complete(HELLO, schema=VERDICT, max_tokens=64, role="judge")
        assert len(fake.seen) == 2
    assert caught.value.raw == "no JSON"


def test_schema_goes_into_words_where_the_server_offers_none(door: Door) -> None:
    refused = fake_llm.status(400, "This response_format type is unavailable now")
    with FakeLLM({"judge": [refused], "text": [fake_llm.say(GOOD)]}) as fake:
        reply = door(fake.url).complete(HELLO, schema=VERDICT, max_tokens=64, role="judge")
    assert reply.data is not None
    first, second = (seen.body["messages"] for seen in fake.seen)
    assert len(first) == len(second)
    assert second[-1]["content"].startswith(first[-1]["content"])
    assert '"correct"' in second[-1]["content"]


def test_options_pass_through_and_win(door: Door) -> None:
    _, fake = ask(door, [fake_llm.say("x")], options={"temperature": 0.7, "top_p": 0.5})
    assert (fake.seen[0].body["temperature"], fake.seen[0].body["top_p"]) == (0.7, 0.5)


@pytest.mark.parametrize(("headroom", "sent"), [(None, 64 + 4_096), (0, 64), (100, 164)])
def test_thinking_models_get_room(door: Door, headroom: int | None, sent: int) -> None:
    model = "openai/gpt-oss-20b"
    _, fake = ask(door, [fake_llm.say("x")], model=model, headroom_tokens=headroom)
    assert fake.seen[0].body["max_tokens"] == sent


def test_lone_surrogates_do_not_break_a_request(door: Door) -> None:
    with FakeLLM({"text": [fake_llm.say("x")]}) as fake:
        message = [{"role": "user", "content": "broken \ud83d emoji"}]
        door(fake.url).complete(message, max_tokens=64, role="reader")
    assert fake.seen[0].body["messages"][0]["content"] == "broken \ufffd emoji"


LEAKS = {
    "401": fake_llm.status(401, f"Incorrect API key provided: {KEY}."),
    "429": fake_llm.status(429, f"quota of {KEY}"),
    "page": Step(status=500, body=f"<b>{KEY}</b>".encode(), headers={"Content-Type": "text/html"}),
    "invalid": fake_llm.raw(f'["{KEY}"]'.encode()),
    "other key": fake_llm.status(400, "Authorization: Bearer sk-proj-abcdefghijklmnop"),
}


@pytest.mark.parametrize("step", LEAKS.values(), ids=LEAKS)
def test_no_error_shows_a_key(
    door: Door, step: Step, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    error, _ = fail(door, [step], max_retries=0)
    shown = [*traceback.format_exception(error), repr(error), error.hint, caplog.text]
    shown += [getattr(error, "raw", ""), *capfd.readouterr()]
    assert KEY not in "\n".join(shown)
    assert "abcdefghijklmnop" not in "\n".join(shown)


def test_error_is_one_inert_line(door: Door) -> None:
    error, _ = fail(door, [fake_llm.status(400, "\x1b[31mred\x1b[0m\nline " + "x" * 5_000)])
    assert error.message.isprintable()
    assert len(error.message) < 500


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ("gpt-x-2026-01-01", "gpt-x-2026-01-01"),
        ("org/name", "org/name"),
        ("/home/me/models/a.gguf", "a.gguf"),
        ("C:\\models\\a.gguf", "a.gguf"),
        ("", "openai/fake"),
    ],
)
def test_the_model_is_named_without_its_folder(door: Door, stated: str, shown: str) -> None:
    body = completion({"content": "x"}, "stop") | {"model": stated}
    assert ask(door, [send_json(body)])[0].model == shown


def test_content_in_parts(door: Door, request: pytest.FixtureRequest) -> None:
    if "litellm" in request.node.name:
        pytest.skip("litellm's own reply type has no parts")
    parts = [{"type": "text", "text": "On "}, {"type": "text", "text": "Friday"}]
    step = send_json(completion({"content": parts}, "stop"))
    assert ask(door, [step])[0].text == "On Friday"
