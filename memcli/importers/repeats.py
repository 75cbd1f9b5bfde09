"""Turns that a source holds more than once under the same message id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memcli.importers.contract import Draft, Event, Repeated


def once(events: Iterable[Event], seen: dict[int, int]) -> Iterator[Event]:
    """Yield events, turns that the file holds again as `Repeated`.

    A later turn of the same id and part that says something else is yielded: the newest
    counts. ``seen`` maps hashes of (conversation, message id, part) to hashes of what was
    said: two ints a turn, so a large export stays small in memory.
    """
    for event in events:
        if not isinstance(event, Draft) or event.conversation is None or event.native_id is None:
            yield event
            continue
        said = hash((event.role, event.text, event.caption))
        turn = hash((event.conversation, event.native_id, event.part))
        is_repeated = seen.get(turn) == said
        seen.setdefault(turn, said)
        yield Repeated(where=event.native_id) if is_repeated else event
