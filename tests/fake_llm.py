"""A real HTTP server in a thread that speaks chat-completions, well or badly, as scripted.

The role of a request is the name of its JSON schema, or ``text`` when it asks for none.
Each role has a list of steps, one a call; the last one repeats.

    with FakeLLM({"text": [status(429, retry_after="1"), say("Friday [1]")]}) as fake:
        ...
        assert fake.seen[0].body["max_tokens"] == 128
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

USAGE = {
    "prompt_tokens": 11,
    "completion_tokens": 7,
    "total_tokens": 18,
    "prompt_tokens_details": {"cached_tokens": 5},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What the server does with one request.

    ``end`` says how the body is sent: whole, not at all (``hang``), broken off before the
    announced length (``break_off``), or the connection reset without a reply (``reset``).
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    end: str = "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request as it came in."""

    role: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


def completion(
    message: Mapping[str, Any], finish: str | None, usage: object = USAGE
) -> dict[str, Any]:
    """Return the JSON of a chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    whole = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [choice],
        "usage": usage,
    }
    return {key: value for key, value in whole.items() if value is not None}


def send_json(value: object, code: int = 200, **headers: str) -> Step:
    return Step(
        status=code,
        body=json.dumps(value).encode(),
        headers={"Content-Type": "application/json", **headers},
    )


def say(
    text: str | None, *, finish: str | None = "stop", usage: object = USAGE, **more: Any
) -> Step:
    """Return an ordinary reply; ``more`` are further fields of the message."""
    return send_json(completion({"content": text, **more}, finish, usage))


def status(code: int, words: str = "scripted", *, retry_after: str | None = None) -> Step:
    """Return an error in OpenAI's shape."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return send_json({"error": {"message": words, "type": "scripted"}}, code, **headers)


def html(code: int = 200) -> Step:
    page = b"<!doctype html><html><body><h1>Welcome to the gateway</h1></body></html>"
    return Step(status=code, body=page, headers={"Content-Type": "text/html"})


def raw(body: bytes) -> Step:
    return Step(body=body, headers={"Content-Type": "application/json"})


def hang() -> Step:
    return Step(end="hang")


def reset() -> Step:
    return Step(end="reset")


def break_off() -> Step:
    return Step(body=say("Friday [1]").body, end="break_off")


class FakeLLM:
    """The server; a context manager. ``url`` is its base, ``seen`` the request log."""

    def __init__(self, script: Mapping[str, Sequence[Step]]) -> None:
        self.seen: list[Seen] = []
        self._script = script
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = False
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def next_step(self, seen: Seen) -> Step:
        """Log a request and return what to do with it."""
        with self._lock:
            number = sum(earlier.role == seen.role for earlier in self.seen)
            self.seen.append(seen)
        steps = self._script[seen.role]
        return steps[min(number, len(steps) - 1)]


def _handler_for(fake: FakeLLM) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 5

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            wanted = body.get("response_format", {}).get("json_schema", {})
            step = fake.next_step(
                Seen(
                    role=wanted.get("name", "text"),
                    path=self.path,
                    headers=dict(self.headers.items()),
                    body=body,
                )
            )
            self.close_connection = True
            if step.end == "hang":
                fake.closing.wait(30)
            elif step.end == "reset":
                # A zero linger makes the close send RST instead of FIN.
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
            else:
                self._reply(step)

        def _reply(self, step: Step) -> None:
            self.send_response(step.status)
            for name, value in step.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(step.body)))
            self.send_header("Connection", "close")
            self.end_headers()
            half = len(step.body) // 2
            self.wfile.write(step.body[:half] if step.end == "break_off" else step.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing: pytest owns the output."""

    return Handler
