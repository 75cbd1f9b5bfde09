"""Which model to ask, where it is served, and how patiently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memcli.errors import UsageError
from memcli.llm.keys import Secret

_AZURE = ("azure/", "azure_ai/")
# Prefixes by which litellm users name a server of their own; the server does not know them.
_OWN_SERVER = (
    "openai/",
    "custom_openai/",
    "openai_like/",
    "ollama/",
    "ollama_chat/",
    "hosted_vllm/",
    "lm_studio/",
    "llamafile/",
)
# What the door itself decides; the rest of a request is the user's to set.
_OURS = frozenset(
    {
        "api_base",
        "api_key",
        "drop_params",
        "max_retries",
        "messages",
        "model",
        "n",
        "num_retries",
        "response_format",
        "stream",
        "timeout",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Which model, where, and how patiently.

    Attributes:
        model: ``provider/name`` as litellm writes it. With an ``api_base`` the server's own
            name; one leading ``openai/``, ``ollama/`` or the like is taken off.
        api_base: Base URL of an OpenAI-compatible server, or None.
        api_key: None where the server needs none or litellm finds the provider's own.
        timeout_s: Seconds for one try, from connecting to the last byte.
        max_retries: Further tries after a transient failure.
        max_repairs: Further tries after a reply that is empty or not the JSON asked for.
        headroom_tokens: Room for thinking beside the answer; None: by the model's family.
        options: Passed through to the server (``temperature``, ``reasoning_effort`` …).
    """

    model: str
    api_base: str | None = None
    api_key: Secret | None = None
    timeout_s: float = 120.0
    max_retries: int = 2
    max_repairs: int = 1
    headroom_tokens: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse what makes no sense before anything is sent.

        Raises:
            UsageError: If the model has no name or an option is the door's own to decide.
        """
        if not self.model.strip():
            raise UsageError("the model has no name", hint="set --model or the model setting")
        if reserved := sorted(_OURS & self.options.keys()):
            raise UsageError(f"model option {reserved[0]!r} is not yours to set")

    @property
    def is_azure(self) -> bool:
        """True when the name asks for Azure, whose protocol differs."""
        return self.model.startswith(_AZURE)

    @property
    def served_name(self) -> str:
        """The model's name as a server of one's own knows it: one known prefix taken off."""
        prefix = next((known for known in _OWN_SERVER if self.model.startswith(known)), "")
        return self.model.removeprefix(prefix)
