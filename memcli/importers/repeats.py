"""Turns that a source holds more than once under the same message id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from memcli.importers.contract import Draft, Event, Repeated, Warned
from memcli.importers.table import Table


def once(events: Iterable[Event], seen: Table) -> Iterator[Event]:
    """Yield events, turns that the file holds again as `Repeated`.

    A later turn of the same id and part that says something else is another turn: it is told,
    with a warning, and does without the id. ``seen`` maps hashes of (conversation, message
    id, part) to hashes of what was said: so a large export stays small in memory.
    """
    for event in events:
        if not isinstance(event, Draft) or event.conversation is None or event.native_id is None:
            yield event
            continue
        said = hash((event.role, event.text, event.caption))
        turn = hash((event.conversation, event.native_id, event.part))
        known = seen.get(turn)
        if known is None:
            seen.put(turn, said)
            yield event
        elif known == said:
            yield Repeated(where=event.native_id)
        else:
            reason = "the id stands for another text already"
            yield Warned(where=event.native_id, reason=reason)
            yield replace(event, native_id=None)
