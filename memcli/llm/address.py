"""Where an OpenAI-compatible server listens, from what a person typed."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit, urlunsplit

from memcli.errors import UsageError

_ENDPOINT = "/chat/completions"
_VERSION = re.compile(r"v\d+\w*")
_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server's chat-completions endpoint.

    Attributes:
        url: The endpoint.
        shown: The base for messages: no query string.
        is_loopback: True when it is this machine; no proxy is used then.
        is_azure: True for Azure's hosts, whose protocol differs.
    """

    url: str
    shown: str
    is_loopback: bool
    is_azure: bool


def parse_address(api_base: str) -> Address:
    """Return the endpoint of a base URL.

    ``host:port``, a trailing slash, ``/v1`` or none and the full endpoint are all
    understood: ``/v1`` is added unless the path already has a version part
    (``/v1beta/openai``). Without a scheme this machine means http, any other https.

    Raises:
        UsageError: If it is no http(s) URL with a host, or holds a user name or password.
    """
    parts = _split(api_base.strip())
    host = parts.hostname or ""
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            "the api base holds a user name or password",
            hint="give the key in MEMCLI_API_KEY or a key file",
        )
    path = parts.path.rstrip("/").removesuffix(_ENDPOINT)
    if not any(_VERSION.fullmatch(part) for part in path.split("/")):
        path += "/v1"
    return Address(
        url=urlunsplit((parts.scheme, parts.netloc, path + _ENDPOINT, parts.query, "")),
        shown=urlunsplit((parts.scheme, parts.netloc, path, "", "")),
        is_loopback=_is_loopback(host),
        is_azure=host.endswith(_AZURE_HOSTS),
    )


def _split(api_base: str) -> SplitResult:
    try:
        if "://" not in api_base:
            host = urlsplit(f"//{api_base}").hostname or ""
            api_base = f"{'http' if _is_loopback(host) else 'https'}://{api_base}"
        parts = urlsplit(api_base)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(
            "the api base is not an http or https address",
            hint="for example http://localhost:11434/v1",
        )
    return parts


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
