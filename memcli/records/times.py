"""Times as they are stored: RFC 3339 in UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def rfc3339(at: datetime) -> str:
    """Return an aware time as RFC 3339 in UTC, with no more digits than it has."""
    utc = at.astimezone(UTC).replace(tzinfo=None)
    text = utc.isoformat(timespec="microseconds" if utc.microsecond else "seconds")
    return (text.rstrip("0") if utc.microsecond else text) + "Z"


def time_key(time: str | None) -> str:
    """Return what stored times are ordered by; an unknown one comes first.

    The texts themselves are not: ``18:00:01.5Z`` would come before ``18:00:01Z``.
    """
    return (time or "").rstrip("Z")
