"""How long to wait before the next try."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
"""A server that asks for a longer pause is not waited for: a person decides."""


def wait_s(tries: int, asked_s: float | None) -> float | None:
    """Return the seconds to wait after ``tries`` failed tries, or None to give up.

    Doubles from `FIRST_WAIT_S` up to `LONGEST_WAIT_S`; a server's own wish is followed when
    it is longer. No jitter: one person's calls do not stampede, and tests see exact waits.
    """
    if asked_s is not None and asked_s > LONGEST_WAIT_S:
        return None
    return max(min(FIRST_WAIT_S * 2.0 ** (tries - 1), LONGEST_WAIT_S), asked_s or 0.0)


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the wait a server asks for, in seconds ≥ 0; None when it names none we can read.

    Args:
        headers: Response headers, lower-case names.
        now: Current time, for the header's date form; the clock's by default.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    from email.utils import parsedate_to_datetime  # rarely needed, and it loads sockets

    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:  # "-0000" means UTC without a statement about the place
        moment = moment.replace(tzinfo=UTC)
    return max((moment - (now or datetime.now(UTC))).total_seconds(), 0.0)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
