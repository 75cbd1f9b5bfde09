"""What each model family takes: temperature, the name of the length limit, thinking room.

A table of what is known beforehand; what a server refuses on the way is learnt from its own
words (`Profile.after_refusal`), so an unknown model costs one refused request, not a failure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from memcli.llm.transport import Schema

THINKING_TOKENS = 4_096
"""Room added to an answer's limit for models that think before they speak."""

LimitField = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How requests to one model are shaped.

    Attributes:
        takes_temperature: False where the model refuses to be given one.
        limit_field: The parameter that bounds the reply's length.
        headroom_tokens: Tokens added to that bound for thinking.
        takes_schema: True when the server constrains decoding to a JSON schema.
    """

    takes_temperature: bool = True
    limit_field: LimitField = "max_tokens"
    headroom_tokens: int = 0
    takes_schema: bool = True

    def parameters(self, max_tokens: int, schema: Schema | None) -> dict[str, Any]:
        """Return the request's parameters for an answer of at most ``max_tokens`` tokens."""
        found: dict[str, Any] = {self.limit_field: max_tokens + self.headroom_tokens}
        if self.takes_temperature:
            found["temperature"] = 0
        if schema is not None and self.takes_schema:
            shape = {"name": schema.name, "strict": True, "schema": dict(schema.schema)}
            found["response_format"] = {"type": "json_schema", "json_schema": shape}
        return found

    def after_refusal(self, words: str, sent: Mapping[str, Any]) -> Profile:
        """Return a profile without what a 400 complains of; the same one if that is nothing.

        Args:
            words: The server's message.
            sent: The parameters of the refused request.
        """
        said = words.casefold()
        if "response_format" in sent and ("response_format" in said or "json_schema" in said):
            return replace(self, takes_schema=False)
        if "max_tokens" in sent and "max_completion_tokens" in said:
            return replace(self, limit_field="max_completion_tokens")
        if "temperature" in sent and "temperature" in said:
            return replace(self, takes_temperature=False)
        return self


_THINKS = Profile(headroom_tokens=THINKING_TOKENS)
_OPENAI_THINKS = replace(_THINKS, takes_temperature=False, limit_field="max_completion_tokens")

# First match wins; tried on the last part of the model's name, lower case.
_FAMILIES: tuple[tuple[str, Profile], ...] = (
    (r"gpt-5[\w.]*-chat", Profile(limit_field="max_completion_tokens")),
    (r"(o[1-9]|gpt-[5-9])\b", _OPENAI_THINKS),
    (r"gpt-oss|deepseek-(r\d|reasoner)|qwq|qwen-?3(?!.*instruct)|magistral", _THINKS),
    (r"gemini-(2\.5|[3-9])|grok-[3-9]|glm-[4-9]\.[5-9]|kimi-k\d.*thinking|minimax-m\d", _THINKS),
    (r".*(thinking|reasoning)", _THINKS),
)


def profile_of(model: str) -> Profile:
    """Return the profile of a model by its name, ``provider/`` and ``:tag`` allowed."""
    name = model.casefold().rpartition("/")[2]
    for pattern, profile in _FAMILIES:
        if re.match(pattern, name):
            return profile
    return Profile()
