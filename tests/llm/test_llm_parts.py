"""The pure parts of the LLM door."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import UsageError
from memcli.llm.address import parse_address
from memcli.llm.client import ModelSettings, connect
from memcli.llm.families import THINKING_TOKENS, profile_of
from memcli.llm.json_reply import find_object, without_thoughts
from memcli.llm.retry import LONGEST_WAIT_S, retry_after_s, wait_s


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
        ("http://localhost:11434/", "http://localhost:11434/v1/chat/completions"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1/chat/completions"),
        (" localhost:8080 ", "http://localhost:8080/v1/chat/completions"),
        ("[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
        ("llm.example.org", "https://llm.example.org/v1/chat/completions"),
        ("https://x.example/api/v1", "https://x.example/api/v1/chat/completions"),
        ("https://x.example/api", "https://x.example/api/v1/chat/completions"),
        ("https://x.example/v1beta/openai/", "https://x.example/v1beta/openai/chat/completions"),
        ("https://x.example/v1/chat/completions", "https://x.example/v1/chat/completions"),
        ("https://x.example/v1?team=a", "https://x.example/v1/chat/completions?team=a"),
    ],
)
def test_address(typed: str, url: str) -> None:
    address = parse_address(typed)
    assert address.url == url
    assert "?" not in address.shown
    assert parse_address(url).url == url


@pytest.mark.parametrize(
    "typed",
    ["", "http://", "ftp://x/v1", "http://x:port", "http://x:99999", "file:///v1", "http://[::1"],
)
def test_what_is_no_address(typed: str) -> None:
    with pytest.raises(UsageError):
        parse_address(typed)


def test_credentials_in_an_address_are_refused_unseen() -> None:
    with pytest.raises(UsageError) as caught:
        parse_address("https://me:pa55word@x.example/v1")
    assert "pa55word" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("typed", "is_loopback"),
    [
        ("localhost:1", True),
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1", True),
        ("http://llm.localhost", True),
        ("http://10.0.0.1", False),
        ("http://localhost.example.org", False),
    ],
)
def test_loopback(typed: str, is_loopback: bool) -> None:
    assert parse_address(typed).is_loopback is is_loopback


@pytest.mark.parametrize(
    ("model", "api_base", "place"),
    [
        ("openai/x", "http://localhost:1/v1", "http://localhost:1/v1"),
        ("azure/x", "http://localhost:1/v1", "the provider (through litellm)"),
        ("x", "https://me.openai.azure.com", "the provider (through litellm)"),
        ("openai/x", None, "the provider (through litellm)"),
    ],
)
def test_the_way_to_a_model(model: str, api_base: str | None, place: str) -> None:
    assert connect(ModelSettings(model=model, api_base=api_base)).place == place


@pytest.mark.parametrize(
    ("model", "served"),
    [
        ("openai/qwen3", "qwen3"),
        ("ollama/llama3:8b", "llama3:8b"),
        ("hosted_vllm/org/name", "org/name"),
        ("openai/openai/gpt-x", "openai/gpt-x"),
        ("meta-llama/Llama-3", "meta-llama/Llama-3"),
        ("qwen3", "qwen3"),
    ],
)
def test_the_name_a_server_of_ones_own_knows(model: str, served: str) -> None:
    assert ModelSettings(model=model).served_name == served


@pytest.mark.parametrize(
    "settings",
    [
        ModelSettings(model=" "),
        ModelSettings(model="m", options={"stream": True}),
        ModelSettings(model="m", options={"api_key": "x"}),
    ],
)
def test_settings_that_make_no_sense(settings: ModelSettings) -> None:
    with pytest.raises(UsageError):
        connect(settings)


@pytest.mark.parametrize(
    ("model", "temperature", "limit", "headroom"),
    [
        ("openai/gpt-5-mini", False, "max_completion_tokens", THINKING_TOKENS),
        ("gpt-5.2", False, "max_completion_tokens", THINKING_TOKENS),
        ("gpt-5-chat-latest", True, "max_completion_tokens", 0),
        ("o3-mini", False, "max_completion_tokens", THINKING_TOKENS),
        ("gpt-4o", True, "max_tokens", 0),
        ("openrouter/openai/o4-mini", False, "max_completion_tokens", THINKING_TOKENS),
        ("ollama/qwen3:8b", True, "max_tokens", THINKING_TOKENS),
        ("qwen3-30b-instruct", True, "max_tokens", 0),
        ("deepseek-r1:7b", True, "max_tokens", THINKING_TOKENS),
        ("gpt-oss:20b", True, "max_tokens", THINKING_TOKENS),
        ("gemini/gemini-2.5-flash", True, "max_tokens", THINKING_TOKENS),
        ("llama3.1:8b", True, "max_tokens", 0),
        ("olmo-2", True, "max_tokens", 0),
    ],
)
def test_families(model: str, temperature: bool, limit: str, headroom: int) -> None:
    sent = profile_of(model).parameters(128, None)
    assert ("temperature" in sent) is temperature
    assert sent[limit] == 128 + headroom


@given(st.integers(1, 40), st.none() | st.floats(0, 100))
def test_waits_are_bounded_and_honour_the_server(tries: int, asked: float | None) -> None:
    wait = wait_s(tries, asked)
    if asked is not None and asked > LONGEST_WAIT_S:
        assert wait is None
    else:
        assert wait is not None
        assert (asked or 0) <= wait <= LONGEST_WAIT_S


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "Mon, 06 Jul 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 06 Jul 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after": "Mon, 06 Jul 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after_s(headers, datetime(2026, 7, 6, 12, tzinfo=UTC)) == expected


SCHEMA = {
    "properties": {
        "n": {"type": "integer"},
        "label": {"enum": ["a", "b"]},
        "ids": {"type": ["array", "null"]},
    }
}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"n": 1, "label": "a", "ids": null}', ""),
        ('x {"s": "}"} {"n": 1, "label": "b", "ids": ["{"]} y', ""),
        ('{"a": {"n": 1}} ```\n{"n": 1, "label": "a", "ids": []}\n```', ""),
        ("", "no JSON object"),
        ("[1]", "no JSON object"),
        ('{"n": 1, "label": "a"}', "'ids' is missing"),
        ('{"n": true, "label": "a", "ids": []}', "'n' is not of type integer"),
        ('{"n": 1.5, "label": "a", "ids": []}', "'n' is not of type integer"),
        ('{"n": 1, "label": "c", "ids": []}', "'label' is not one of a, b"),
        ('{"n": NaN, "label": "a", "ids": []}', "'n' is not of type integer"),
        ('{"n": 1, "label": "a", "ids": ["two\nlines"]}', ""),
        ('{"n": 1, "label": "a", "ids": [}', "no JSON object"),
    ],
)
def test_find_object(text: str, fault: str) -> None:
    value, said = find_object(text, SCHEMA)
    assert (value is None) is bool(fault)
    assert fault in said


@pytest.mark.parametrize(
    ("written", "text"),
    [("42", "42"), ("-1.5", "-1.5"), ('"42"', "42"), ("true", None), ("[4]", None)],
)
def test_a_number_where_a_text_is_wanted_is_that_text(written: str, text: str | None) -> None:
    schema = {"properties": {"answer": {"type": "string"}}}
    value, fault = find_object(f'{{"answer": {written}}}', schema)
    assert (value["answer"] if value else None) == text
    assert bool(fault) is (text is None)


@given(st.text(alphabet='{}[]"\\<think>/` \nab1:,', max_size=200))
def test_no_reply_breaks_the_parser(text: str) -> None:
    value, fault = find_object(without_thoughts(text), SCHEMA)
    assert (value is None) is bool(fault)


def test_deep_nesting_is_no_crash() -> None:
    assert find_object("{" * 200_000 + '"a":' * 10, SCHEMA)[0] is None
    assert find_object('{"a":' * 100_000 + "1" + "}" * 100_000, SCHEMA)[0] is None
