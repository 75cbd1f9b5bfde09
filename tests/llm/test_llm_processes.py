"""What a whole process loads, prints and reaches."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time

import fake_llm
import pytest
from fake_llm import FakeLLM

from memcli.errors import LLMReplyInvalid, LLMUnavailable
from memcli.llm.client import ModelSettings, connect
from memcli.llm.http_path import LARGEST_REPLY_BYTES

HEAVY = "print([m for m in ('httpx', 'litellm', 'openai', 'ssl', 'tiktoken') if m in sys.modules])"
ASK = """
import sys
from memcli.llm.client import Client, ModelSettings, connect
from memcli.llm.litellm_path import LitellmPath
settings = ModelSettings(model="openai/gpt-4o-mini", api_base=sys.argv[1])
client = {client}
reply = client.complete([{{"role": "user", "content": "x"}}], max_tokens=8, role="reader")
print(reply.text, reply.usage.cost_usd, file=sys.stderr)
print([m for m in ("httpx", "litellm") if m in sys.modules])
"""


def python(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", **environment} if environment else None,
    )


@pytest.mark.parametrize("module", ["memcli.llm.client", "memcli.reader", "memcli.prompts"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    done = python(f"import sys, {module}; {HEAVY}")
    assert done.stdout == "[]\n"


def test_the_light_way_never_loads_litellm() -> None:
    with FakeLLM({"text": [fake_llm.say("Friday")]}) as fake:
        done = python(ASK.format(client="connect(settings)"), fake.url)
    assert done.stdout == "['httpx']\n"
    assert done.stderr == "Friday None\n"


@pytest.mark.slow
def test_litellm_prints_nothing_and_knows_prices_offline() -> None:
    way = 'Client(settings, LitellmPath(api_base=settings.api_base + "/v1", key=Secret("k")))'
    code = ASK.replace("import sys", "import sys\nfrom memcli.llm.keys import Secret")
    step = fake_llm.say("Friday")
    with FakeLLM({"text": [fake_llm.status(500), step]}) as fake:
        done = python(code.format(client=way), fake.url)
    assert done.stdout == "['httpx', 'litellm']\n"
    name, cost = done.stderr.split()[-2:]
    assert name == "Friday"
    assert 0 < float(cost) < 0.001


def test_no_proxy_stands_between_us_and_this_machine() -> None:
    dead = "http://127.0.0.1:9"
    with FakeLLM({"text": [fake_llm.say("Friday")]}) as fake:
        code = ASK.format(client="connect(settings)")
        done = python(code, fake.url, HTTP_PROXY=dead, http_proxy=dead, ALL_PROXY=dead)
    assert done.stderr == "Friday None\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [(b'{"choices": [{"index": 0}]}', "no message"), (b" " * (LARGEST_REPLY_BYTES + 1), "larger")],
)
def test_a_direct_reply_that_is_none(body: bytes, said: str) -> None:
    with FakeLLM({"text": [fake_llm.raw(body)]}) as fake:
        client = connect(ModelSettings(model="m", api_base=fake.url))
        with pytest.raises(LLMReplyInvalid, match=said):
            client.complete([{"role": "user", "content": "x"}], max_tokens=8, role="reader")


def test_https_is_not_given_up_for_a_server_without_it() -> None:
    with FakeLLM({"text": [fake_llm.say("Friday")]}) as fake:
        url = fake.url.replace("http:", "https:")
        client = connect(ModelSettings(model="m", api_base=url, max_retries=0))
        with pytest.raises(LLMUnavailable):
            client.complete([{"role": "user", "content": "x"}], max_tokens=8, role="reader")
    assert fake.seen == []


def test_a_reply_that_only_trickles_ends_at_the_deadline() -> None:
    """Each byte comes well within the read time-out; the whole exchange does not."""
    stop = threading.Event()

    def trickle(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            with contextlib.suppress(ConnectionError):  # the client has hung up
                while not stop.wait(0.05):
                    connection.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=trickle, args=(server,))
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        client = connect(ModelSettings(model="m", api_base=url, timeout_s=0.3, max_retries=0))
        start = time.monotonic()
        with pytest.raises(LLMUnavailable, match="in time"):
            client.complete([{"role": "user", "content": "x"}], max_tokens=8, role="reader")
        assert time.monotonic() - start < 10
        stop.set()
        thread.join()


NO_KEY = """
import sys
from memcli.errors import LLMError
from memcli.llm.client import ModelSettings, connect
for model in sys.argv[1:]:
    try:
        connect(ModelSettings(model=model)).complete(
            [{"role": "user", "content": "x"}], max_tokens=8, role="reader"
        )
    except LLMError as error:
        print(error.code, "|", error.message, "|", error.hint)
"""


@pytest.mark.slow
def test_a_missing_key_or_library_is_told_at_once_and_quietly() -> None:
    """Settled before any request: no retry, nothing on stderr, no traceback in the message."""
    models = ("openai/gpt-4o-mini", "gemini/gemini-2.5-flash", "anthropic/claude-x", "nobody/x")
    done = python(NO_KEY, *models, HOME="/nonexistent")
    lines = done.stdout.splitlines()
    assert [line.split(" | ")[0] for line in lines] == ["llm_rejected"] * len(models)
    variables = ("OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROP", "")
    for line, variable in zip(lines, variables, strict=True):
        assert variable in line
        assert "Traceback" not in line
    assert all("MEMCLI_API_KEY" in line for line in lines[:3])
    assert done.stderr == ""
