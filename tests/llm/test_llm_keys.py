"""Keys: where they come from, and that nothing shows them."""

import copy
import pickle
from pathlib import Path

import pytest

from memcli.errors import UsageError
from memcli.llm.client import ModelSettings
from memcli.llm.keys import Secret, key_from_environment, read_key_file, redact

KEY = "abcd-1234-efgh"


def test_a_secret_shows_itself_only_when_asked() -> None:
    secret = Secret(KEY)
    settings = ModelSettings(model="m", api_key=secret)
    for shown in (str(secret), repr(secret), f"{secret}", repr(settings), repr([secret])):
        assert KEY not in shown
    assert secret.reveal() == KEY
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            leave(secret)


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_key_file(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "key"
    path.write_text(f"  {KEY}\n")
    path.chmod(mode)
    assert read_key_file(path).reveal() == KEY


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o606, 0o660])
def test_key_file_open_to_others_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "key"
    path.write_text(KEY)
    path.chmod(mode)
    with pytest.raises(UsageError) as caught:
        read_key_file(path)
    assert "chmod 600" in caught.value.hint


@pytest.mark.parametrize(
    "content", [b"", b" \n", b"two words", b"a\nb", "schlüssel".encode(), b"\xff\xfe"]
)
def test_what_is_no_key_is_refused_unseen(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(UsageError) as caught:
        read_key_file(path)
    assert caught.value.message == f"{path} does not hold an API key"


def test_missing_key_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_key_file(tmp_path / "none")
    with pytest.raises(UsageError, match="cannot read"):
        read_key_file(tmp_path)


ENVIRON = {"OPENAI_API_KEY": "open", "ANTHROPIC_API_KEY": "anth", "TOGETHER_AI_API_KEY": "toge"}


@pytest.mark.parametrize(
    ("model", "api_base", "environ", "expected"),
    [
        ("gpt-5-mini", None, ENVIRON, "open"),
        ("openai/gpt-5-mini", None, ENVIRON, "open"),
        ("anthropic/claude", None, ENVIRON, "anth"),
        ("together_ai/org/name", None, ENVIRON, "toge"),
        ("mistral/small", None, ENVIRON, None),
        ("gpt-5-mini", None, {"OPENAI_API_KEY": "  "}, None),
        ("openai/x", "http://localhost:1", ENVIRON, None),
        ("openai/x", "http://localhost:1", {**ENVIRON, "MEMCLI_API_KEY": "own"}, "own"),
        ("openai/x", None, {**ENVIRON, "MEMCLI_API_KEY": " own\n"}, "own"),
    ],
)
def test_key_from_environment(
    model: str, api_base: str | None, environ: dict[str, str], expected: str | None
) -> None:
    key = key_from_environment(model, api_base, environ)
    assert (key.reveal() if key else None) == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"bad key {KEY}!", "bad key [key]!"),
        ("Incorrect: sk-proj-AbCdEf0123456789", "Incorrect: [key]"),
        ("Authorization: Bearer eyJhbGciOi.xyz", "Authorization: Bearer [key]"),
        ("GET /v1?key=AbC&x=1", "GET /v1?key=[key]&x=1"),
        ("the task-oriented risk-free model", "the task-oriented risk-free model"),
    ],
)
def test_redact(text: str, shown: str) -> None:
    assert redact(text, Secret(KEY)) == shown
