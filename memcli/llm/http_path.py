"""The light way: chat-completions over httpx, for any OpenAI-compatible server.

A whole process with one call takes a fraction of a second here; litellm's import alone takes
several. httpx is imported inside the call.
"""

from __future__ import annotations

import json
import re
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memcli.llm.address import Address
from memcli.llm.keys import Secret
from memcli.llm.retry import retry_after_s
from memcli.llm.transport import Failure, RawReply, Request, read_completion
from memcli.records import codec

if TYPE_CHECKING:
    import ssl

    import httpx

CONNECT_TIMEOUT_S = 10.0
LARGEST_REPLY_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False)
class HttpPath:
    """A transport to one OpenAI-compatible endpoint; for one thread.

    The connection is kept open for the next call where the server allows it: a handshake can
    cost more than a short reply.
    """

    address: Address
    key: Secret | None
    _kept: list[httpx.Client] = field(default_factory=list)

    @property
    def place(self) -> str:
        """The server's base address."""
        return self.address.shown

    def send(self, request: Request) -> RawReply | Failure:
        """Return the reply to one request; see `Transport.send`."""
        import httpx

        deadline = time.monotonic() + request.timeout_s
        body = {"model": request.model, "messages": request.messages, **request.parameters}
        try:
            with self._client().stream(
                "POST",
                self.address.url,
                content=_encoded(body),
                headers=self._headers(),
                timeout=_timeout(request.timeout_s),
            ) as response:
                return _read(response, deadline)
        except httpx.TimeoutException:
            return Failure(kind="timeout", words=f"no answer within {request.timeout_s:g} s")
        except httpx.RequestError as error:
            return Failure(kind="unreachable", words=str(error) or type(error).__name__)

    def _client(self) -> httpx.Client:
        """Return the client of this path, made at the first call and closed with the process."""
        import httpx

        if not self._kept:
            client = httpx.Client(
                trust_env=not self.address.is_loopback,  # a proxy cannot reach this machine for us
                verify=self._tls(),
            )
            self._kept.append(client)
            weakref.finalize(self, client.close)
        return self._kept[0]

    def _tls(self) -> ssl.SSLContext | bool:
        """Return how certificates are checked; for plain http no authorities are loaded."""
        if self.address.url.startswith("https:"):
            return True
        import ssl

        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody; http never asks it

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key.reveal()}"
        return headers


def _timeout(timeout_s: float) -> httpx.Timeout:
    import httpx

    return httpx.Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s))


def _encoded(body: Mapping[str, Any]) -> bytes:
    """Return the request's JSON; keys keep their order, which constrained decoding follows."""
    return json.dumps(body).encode("ascii")


def _read(response: httpx.Response, deadline: float) -> RawReply | Failure:
    """Return what a response holds; the deadline also ends a body that only trickles."""
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if time.monotonic() > deadline:
            return Failure(kind="timeout", words="the reply did not end in time")
        if len(body) > LARGEST_REPLY_BYTES:
            return Failure(kind="invalid", words="the reply is larger than 16 MiB")
    text = body.decode("utf-8", "replace")
    if not response.is_success:
        return Failure(
            kind="status",
            status=response.status_code,
            words=server_words(text),
            retry_after_s=retry_after_s(response.headers),
        )
    try:
        payload = codec.loads(text)
    except (ValueError, RecursionError):
        return Failure(
            kind="invalid", words=f"the reply is not JSON: {server_words(text)}", raw=text
        )
    return read_completion(payload, text)


def server_words(body: str) -> str:
    """Return the message inside an error body: JSON of the usual shapes, HTML or text."""
    try:
        value = codec.loads(body)
    except (ValueError, RecursionError):
        return re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", " ", body)
    for name in ("error", "message", "detail"):
        if isinstance(value, dict) and value.get(name):
            value = value[name]
    return value if isinstance(value, str) else body
