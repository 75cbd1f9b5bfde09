"""A long transcript in outline: a number for each turn, and a few fingerprints to ask for."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator

from memcli.importers.identity import SURE_TURNS

ENDS = 100
"""Fingerprints kept of each end."""

SPREAD = 200
"""Fingerprints kept in between, at most; at least half as many."""


class Outline:
    """What is kept of a transcript of any length to recognise it: eight bytes a turn.

    Attributes:
        numbers: A hash of each turn's fingerprint, in order; valid within this process.
    """

    def __init__(self) -> None:
        self.numbers = array("q")
        self._first: list[str] = []
        self._last = deque[str](maxlen=ENDS)
        self._spread: list[str] = []
        self._step = 1

    def add(self, fingerprint: str) -> None:
        """Take in the next turn."""
        if len(self._first) < ENDS:
            self._first.append(fingerprint)
        if len(self.numbers) % self._step == 0:
            self._spread.append(fingerprint)
            if len(self._spread) > SPREAD:
                self._spread = self._spread[::2]
                self._step *= 2
        self._last.append(fingerprint)
        self.numbers.append(hash(fingerprint))

    @property
    def asked(self) -> list[str]:
        """The fingerprints of both ends and of turns evenly between, each once."""
        return list(dict.fromkeys([*self._first, *self._spread, *self._last]))


def shared_beginning(stored: array[int], given: array[int]) -> int | None:
    """Return how many turns at the beginning of one transcript are all that another shares.

    That is so where one begins with all of the other, where the given one is a stretch of the
    stored one, and where it begins amid the stored one and goes on beyond its end: what is
    new then follows the end. None where the two differ in any other way.

    Args:
        stored: Numbers of the turns that are known, in order.
        given: Numbers of the turns of the other one.
    """
    for start in _places(given[:SURE_TURNS], stored):
        shared = min(len(stored) - start, len(given))
        if stored[start : start + shared] == given[:shared]:
            return shared
    return None


def _places(wanted: array[int], within: array[int]) -> Iterator[int]:
    """Yield where a few numbers stand in a row, in order."""
    if len(within) < len(wanted):
        if wanted[: len(within)] == within:
            yield 0
        return
    data, sought, size = within.tobytes(), wanted.tobytes(), within.itemsize
    at = data.find(sought)
    while at >= 0:
        if at % size == 0:
            yield at // size
        at = data.find(sought, at + 1)
