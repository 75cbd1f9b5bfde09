"""A map of numbers for logs of any length: a third of the memory of a dictionary."""

from __future__ import annotations

from array import array

_MASK = (1 << 64) - 1
_SPREAD = 0x9E3779B97F4A7C15
"""Spreads neighbouring numbers over the slots (Knuth, multiplicative hashing)."""
_FIRST_BITS = 10


class Table:
    """Signed 64-bit numbers by signed 64-bit numbers; entries are never taken out.

    Open addressing with linear probing, at most two thirds full: 24 to 48 bytes an entry.
    The key 0 is kept as 1: keys are hashes, of which no two need be told apart surely.
    """

    def __init__(self) -> None:
        self._bits, self._count = _FIRST_BITS, 0
        self._keys, self._values = _empty(_FIRST_BITS), _empty(_FIRST_BITS)

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: int) -> bool:
        return self._keys[self._slot(key or 1)] != 0

    def get(self, key: int) -> int | None:
        """Return the number kept under a key, or None."""
        slot = self._slot(key or 1)
        return self._values[slot] if self._keys[slot] else None

    def put(self, key: int, value: int) -> None:
        """Keep a number under a key, in place of another."""
        slot = self._slot(key or 1)
        if not self._keys[slot]:
            self._keys[slot] = key or 1
            self._count += 1
        self._values[slot] = value
        if 3 * self._count > 2 << self._bits:
            self._grow()

    def _slot(self, key: int) -> int:
        """Return the slot that holds a key, or the free one where it belongs."""
        keys, last = self._keys, (1 << self._bits) - 1
        slot = (key * _SPREAD & _MASK) >> (64 - self._bits)
        while keys[slot] not in (0, key):
            slot = (slot + 1) & last
        return slot

    def _grow(self) -> None:
        keys, values = self._keys, self._values
        self._bits += 1
        self._keys, self._values = _empty(self._bits), _empty(self._bits)
        for key, value in zip(keys, values, strict=True):
            if key:
                slot = self._slot(key)
                self._keys[slot], self._values[slot] = key, value


def _empty(bits: int) -> array[int]:
    return array("q", bytes(8 << bits))
