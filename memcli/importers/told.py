"""What an export has told already: the same message twice, or one id for two texts.

Exports list messages in the order of their ids, so what was seen is kept as sorted numbers,
sixteen bytes a message, however long the chat.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from typing import Literal

from memcli.importers.contract import Repeated, Warned

_DIGITS = re.compile(r"[0-9]{1,15}(?:[.][0-9]{6})?|[0-9]{16,18}", re.ASCII)
_WIDE = 1 << 63


class Told:
    """The messages of one conversation that were told so far, by id and content."""

    def __init__(self) -> None:
        self._ids, self._contents = array("q"), array("q")
        self._others: dict[str, int] = {}

    def note(self, native_id: str, content: object) -> Literal["new", "again", "other"]:
        """Take in a message; say whether its id is new or was told with this content or another.

        Args:
            native_id: The message's id.
            content: What it says; hashable.
        """
        mark = hash(content) % _WIDE
        number = _number(native_id)
        if number is not None and (not self._ids or number > self._ids[-1]):
            self._ids.append(number)
            self._contents.append(mark)
            return "new"
        known = self._known(native_id, number)
        if known is None:
            self._others[native_id] = mark
            return "new"
        return "again" if known == mark else "other"

    def judge(self, where: str, native_id: str, content: object) -> Repeated | Warned | None:
        """Return what is odd about a message: told again, or its id taken; None for a new one.

        Where the id stands for another text already, the message must do without one.
        """
        match self.note(native_id, content):
            case "again":
                return Repeated(where=where)
            case "other":
                reason = f"id {native_id[:60]} stands for another text already"
                return Warned(where=where, reason=reason)
        return None

    def _known(self, native_id: str, number: int | None) -> int | None:
        """Return the mark of what was told under an id, or None."""
        if number is not None:
            at = bisect_left(self._ids, number)
            if at < len(self._ids) and self._ids[at] == number:
                return self._contents[at]
        return self._others.get(native_id)


def _number(native_id: str) -> int | None:
    """Return an id of digits, or of digits with six decimals, as a number."""
    if not _DIGITS.fullmatch(native_id) or (native_id[0] == "0" and native_id != "0"):
        return None
    whole, _, decimals = native_id.partition(".")
    return int(whole) * 1_000_000 + int(decimals) if decimals else int(whole)
