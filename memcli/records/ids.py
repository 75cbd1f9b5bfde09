"""Ids that never depend on a position.

A turn's id is made of what the turn *is*: its conversation and the source's own message id,
or, where the source has none, its time, speaker, text and how many identical turns came
before it. So a second import adds nothing, a grown export adds only what grew, and "ok" said
twice is two turns. Departure from the papers, which number turns by position.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

ID_CHARS = 16
"""Base32 characters of an id after its one-letter prefix: 80 bits."""

_BYTES = ID_CHARS * 5 // 8


_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = tuple(first + second for first in _ALPHABET for second in _ALPHABET)
"""Two base32 characters for each ten bits; several times the speed of `base64.b32encode`."""


def _digest(*parts: str | None) -> str:
    """Return a lower-case base32 hash of the parts; None and "" differ."""
    data = b"".join([_framed(part) for part in parts])
    bits = int.from_bytes(hashlib.blake2b(data, digest_size=_BYTES).digest(), "big")
    return "".join([_PAIRS[bits >> shift & 1023] for shift in range(5 * ID_CHARS - 10, -1, -10)])


def _framed(part: str | None) -> bytes:
    """Return a part behind its length, so that no two lists of parts look the same."""
    if part is None:
        return b"1:1:\x00"
    data = part.encode("utf-8", "surrogatepass")
    return b"0:%d:%s" % (len(data), data)


@lru_cache(maxsize=1 << 14)
def native_turn_id(conversation: str, native_id: str, part: str) -> str:
    """Return the id of a turn whose message has an id of its own.

    Args:
        conversation: Conversation id.
        native_id: The source's message id.
        part: Which turn of that message, e.g. ``text`` or ``tool/0``: one message may hold
            words, thoughts and tool calls, each a turn.
    """
    return "t" + _digest("native", conversation, native_id, part)


def content_turn_id(
    conversation: str, time: str | None, speaker: str | None, text: str, occurrence: int
) -> str:
    """Return the id of a turn without an id of its own.

    Args:
        conversation: Conversation id.
        time: RFC 3339 or None.
        speaker: Name or None.
        text: Verbatim text.
        occurrence: How many identical turns of the conversation came before (0 for the first).
    """
    return "t" + _digest("content", conversation, time, speaker, text, str(occurrence))


def fingerprint(role: str, speaker: str | None, text: str, time: str | None) -> str:
    """Return a short hash by which the same turn is recognised in another export."""
    return _digest("fingerprint", role, speaker, text, time)
