"""The order of a conversation when an export is merged with what is known.

Known turns keep their places; new ones go where the export has them. Sessions come from the
source, or from silence. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memcli.importers.contract import Draft
from memcli.records.evidence import Turn
from memcli.records.times import time_key

SILENCE = timedelta(hours=6)
"""A longer pause starts a new session where the source has none of its own."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the merged conversation: a draft, a known turn, or both."""

    draft: int | None
    known: int | None


def place_by_time(time: str | None, before: Sequence[Turn]) -> int:
    """Return before which known turn an unmatched stretch that starts then belongs.

    After the last turn that is not later; turns without a time have no say, and a stretch
    without one goes to the end.
    """
    place = len(before)
    if time is None:
        return place
    for k in reversed(range(len(before))):
        if before[k].time is not None:
            if time_key(before[k].time) <= time_key(time):
                break
            place = k
    return place


def merge(match: dict[int, int], unique: Sequence[int], known: int, place: int) -> list[Slot]:
    """Return the merged order: known turns keep theirs, new ones follow the one before them.

    New drafts ahead of the first matched one go right before it.

    Args:
        match: Index of the known turn of each matched draft.
        unique: Indexes of the drafts, in order.
        known: How many known turns there are.
        place: Before which of them the drafts go where none is matched.
    """
    draft_of = {k: d for d, k in match.items()}
    leading: list[int] = []
    after: dict[int, list[int]] = {}
    cursor: int | None = None
    for i in unique:
        if i in match:
            cursor = match[i]
        elif cursor is None:
            leading.append(i)
        else:
            after.setdefault(cursor, []).append(i)
    first = min((match[i] for i in unique if i in match), default=place)
    slots: list[Slot] = []
    for k in range(known + 1):
        if k == first:
            slots += [Slot(i, None) for i in leading]
        if k < known:
            slots.append(Slot(draft_of.get(k), k))
            slots += [Slot(i, None) for i in after.get(k, [])]
    return slots


def number(known: Sequence[int | None]) -> list[int]:
    """Return strictly increasing places that keep known ones wherever there is room.

    Places before the first known one count down from it and may be negative, so an export
    that starts earlier moves nothing.
    """
    first, start = next(
        ((i, place) for i, place in enumerate(known) if place is not None), (len(known), 0)
    )
    if first == len(known):
        return list(range(len(known)))
    places = list(range(start - first, start))
    for place in known[first:]:
        least = places[-1] + 1 if places else start
        places.append(least if place is None else max(place, least))
    return places


def sessions(slots: Sequence[Slot], drafts: Sequence[Draft], before: Sequence[Turn]) -> list[str]:
    """Return each slot's session: the source's, else that of its sitting.

    A sitting is a stretch without a pause of more than `SILENCE`. It keeps the session that a
    known turn of it has; a new one is named after its first known time.
    """
    stated = [_stated_session(slot, drafts, before) for slot in slots]
    times = [_slot_time(slot, drafts, before) for slot in slots]
    result = list(stated)
    for start, end in _sittings(times):
        known = next((s for s in stated[start:end] if s is not None), None)
        current = known or _sitting_name(times[start:end])
        for i in range(start, end):
            current = stated[i] or current
            result[i] = current
    return [session or "" for session in result]


def _stated_session(slot: Slot, drafts: Sequence[Draft], before: Sequence[Turn]) -> str | None:
    if slot.draft is not None and drafts[slot.draft].session is not None:
        return drafts[slot.draft].session
    return None if slot.known is None else before[slot.known].session


def _slot_time(slot: Slot, drafts: Sequence[Draft], before: Sequence[Turn]) -> datetime | None:
    if slot.draft is not None:
        moment = drafts[slot.draft].time
        return moment.at if moment else None
    time = before[slot.known].time if slot.known is not None else None
    return datetime.fromisoformat(time) if time else None


def _sittings(times: Sequence[datetime | None]) -> list[tuple[int, int]]:
    """Return (start, end) of the stretches without a long silence; unknown times join on."""
    borders = [0]
    last: datetime | None = None
    for i, time in enumerate(times):
        if time is not None and last is not None and time - last > SILENCE:
            borders.append(i)
        last = time or last
    return [(a, b) for a, b in zip(borders, [*borders[1:], len(times)], strict=True) if a < b]


def _sitting_name(times: Sequence[datetime | None]) -> str:
    first = next((time for time in times if time is not None), None)
    return "undated" if first is None else first.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
