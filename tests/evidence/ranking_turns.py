"""Turns for the ranking and routing tests."""

from __future__ import annotations

from memcli.records.evidence import Branch, Role
from memcli.records.indexed import IndexedTurn
from memcli.search.tokens import tokens


def said(
    seq: int,
    speaker: str | None,
    text: str,
    *,
    session: str = "s1",
    conversation: str = "c1",
    time: str | None = None,
    role: Role = "user",
    branch: Branch = "active",
) -> IndexedTurn:
    """Return the turn ``t<seq>`` as the index would."""
    return IndexedTurn(
        id=f"t{seq}",
        conversation=conversation,
        session=session,
        seq=seq,
        speaker=speaker,
        role=role,
        branch=branch,
        time=time,
        tokens=1,
        offset=0,
        length=0,
        terms=" ".join(tokens(f"{text}\n{speaker or ''}")),
    )


TALK = [
    said(0, "Mara", "Good morning Odo, how was your weekend?"),
    said(1, "Odo", "Windy! We took the old boat out with my brother"),
    said(2, "Mara", "Nice, which harbour did you sail to in the end?"),
    said(3, "Odo", "The small one near the white cliffs, it was crowded"),
    said(4, "Mara", "I have never been there, was it worth the trip?"),
    said(5, "Odo", "Totally, though lunch was expensive"),
]
