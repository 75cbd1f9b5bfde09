"""API keys: where they may come from, and how they are kept out of everything shown."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from memcli.errors import UsageError

OWN_VARIABLE = "MEMCLI_API_KEY"
"""The one variable whose key is also sent to a custom ``api_base``."""

_MASK = "[key]"
# What looks like a credential, for keys that a provider's own library found by itself.
_LOOKS_LIKE_KEY = re.compile(
    r"(?i)\b(?:sk|pk|rk|gsk|xai|hf|ghp|pplx|r8|nvapi)[-_][\w-]{12,}"
    r"|\bAIza[\w-]{20,}|(?<=\bbearer )[\w.~+/=-]{8,}|(?<=[?&]key=)[^\s&]+"
)


class Secret:
    """A key that shows itself only to ``reveal``."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key itself, for the header of a request and nothing else."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({_MASK})"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a secret is never serialised")


def redact(text: str, key: Secret | None) -> str:
    """Return ``text`` without the key and without anything that looks like one."""
    if key is not None:
        text = text.replace(key.reveal(), _MASK)
    return _LOOKS_LIKE_KEY.sub(_MASK, text)


def key_from_environment(
    model: str, api_base: str | None, environ: Mapping[str, str]
) -> Secret | None:
    """Return the key that the environment holds for a model, or None.

    `OWN_VARIABLE` comes first. A provider's variable (``ANTHROPIC_API_KEY`` for
    ``anthropic/…``, ``OPENAI_API_KEY`` for a bare name) is used only without an ``api_base``:
    it is never sent to a server its owner did not mean it for.

    Raises:
        UsageError: If the variable holds something that cannot be a key.
    """
    provider = model.partition("/")[0] if "/" in model else "openai"
    names = [OWN_VARIABLE]
    if api_base is None:
        names.append(re.sub(r"\W", "_", provider).upper() + "_API_KEY")
    for name in names:
        if environ.get(name, "").strip():
            return _parse(environ[name], f"the variable {name}")
    return None


def read_key_file(path: Path) -> Secret:
    """Return the key in a file that only its owner can read.

    Raises:
        UsageError: If the file cannot be read, is open to others, or holds no key.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
                raise UsageError(
                    f"{path}: a key file must be readable by its owner only",
                    hint=f"run `chmod 600 {path}`",
                )
            data = file.read(64 * 1024)
    except OSError as error:
        raise UsageError(f"{path}: cannot read the key file ({error.strerror})") from error
    return _parse(data.decode("utf-8", "replace"), str(path))


def _parse(text: str, origin: str) -> Secret:
    """Return the key in ``text``; the complaint names the origin, never the text."""
    value = text.strip()
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        raise UsageError(f"{origin} does not hold an API key", hint="it must be one word of ASCII")
    return Secret(value)
