"""From a question to an evidence pack, and from a pack to an answer."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime, tzinfo

from memcli.app.wiring import parse_moment
from memcli.budgets import count_tokens_batch
from memcli.errors import UsageError
from memcli.evidence.lines import evidence_line
from memcli.evidence.pack import pack
from memcli.evidence.route import route
from memcli.records.indexed import Scope
from memcli.records.pack import Evidence, EvidencePack
from memcli.records.times import rfc3339
from memcli.search.opening import open_index
from memcli.search.turn_index import TurnIndex
from memcli.store.jsonl import Placement
from memcli.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with all that its answer depends on.

    Attributes:
        text: As asked.
        as_of: Reference time, aware.
        tz: Zone of days and shown times.
        tz_name: Its name.
        scope: Turns to draw on.
        budget: Most tokens of the pack, or None.
    """

    text: str
    as_of: datetime
    tz: tzinfo
    tz_name: str
    scope: Scope = field(default_factory=Scope)
    budget: int | None = 1500


@dataclass(frozen=True, slots=True)
class Found:
    """A pack and what the user should know about how it was made."""

    pack: EvidencePack
    warnings: tuple[str, ...]


def find_evidence(snapshot: Snapshot, question: Question) -> Found:
    """Return the evidence pack for a question; reads only the lines it shows.

    Raises:
        UsageError: If the question is empty.
    """
    if not question.text.strip():
        raise UsageError("the question is empty", hint='e.g. memcli ask "When did we meet?"')
    opened = open_index(snapshot, count=count_tokens_batch)
    routed = route(
        question.text,
        opened.index,
        as_of=question.as_of,
        tz=question.tz,
        scope=question.scope,
    )
    places = [Placement(r.turn.offset, r.turn.length) for r in routed.ranked]
    turns = {turn.id: turn for turn in snapshot.read_turns(places)}
    packed = pack(routed.ranked, turns, routed.question.weights, question.budget)
    made = EvidencePack(
        question=question.text,
        as_of=rfc3339(question.as_of),
        tz=question.tz_name,
        tier=routed.tier,
        windows=routed.windows,
        notes=routed.notes + _empty_scope(opened.index, question.scope),
        tokens=packed.tokens,
        budget=question.budget,
        dropped=packed.dropped,
        evidence=packed.evidence,
    )
    return Found(made, snapshot.warnings + opened.warnings)


def _empty_scope(index: TurnIndex, scope: Scope) -> tuple[str, ...]:
    """Return a note where no turn at all meets the user's conditions."""
    if scope == Scope() or index.within(None, None, {}, 1, scope):
        return ()
    named = [
        f"{f.name} {v!r}" for f in fields(scope) if isinstance(v := getattr(scope, f.name), str)
    ]
    what = ", ".join(named) or "that time"
    return (f"no stored turn is of {what} within the limits given",)


def pack_as_dict(pack: EvidencePack) -> dict[str, object]:
    """Return a pack as the JSON document that `memcli export --json` prints."""
    return {
        "question": pack.question,
        "as_of": pack.as_of,
        "tz": pack.tz,
        "tier": pack.tier,
        "gate": {
            "time": [
                {
                    "start": w.start.isoformat() if w.start else None,
                    "end": w.end.isoformat() if w.end else None,
                    "text": w.text,
                }
                for w in pack.windows
            ]
        },
        "notes": list(pack.notes),
        "tokens": pack.tokens,
        "budget": pack.budget,
        "dropped": pack.dropped,
        "evidence": [evidence_as_dict(e) for e in pack.evidence],
    }


def evidence_as_dict(evidence: Evidence) -> dict[str, object]:
    """Return one line of evidence as JSON values."""
    turn = evidence.turn
    return {
        "rank": evidence.rank,
        "id": turn.id,
        "native_id": turn.source.native_id,
        "conversation": turn.conversation,
        "session": turn.session,
        "title": turn.title,
        "speaker": turn.speaker,
        "role": turn.role,
        "time": turn.time,
        "branch": turn.branch,
        "text": evidence.text,
        "caption": turn.caption,
        "excerpt": evidence.is_excerpt,
        "channel": evidence.channel,
        "score": round(evidence.score, 6),
        "why": evidence.why,
    }


def pack_lines(pack: EvidencePack, tz: tzinfo) -> list[str]:
    """Return a pack as numbered text lines with ids, in chronological order.

    A turn's further lines are indented by a space, so that none can pass for another turn.
    """
    lines = (
        evidence_line(number, e.turn, e.text, tz, with_id=True)
        for number, e in enumerate(pack.evidence, 1)
    )
    return ["\n ".join(line.splitlines()) for line in lines]


def scope_of(
    conversation: str | None,
    session: str | None,
    speaker: str | None,
    since: str | None,
    until: str | None,
    *,
    tz: tzinfo,
) -> Scope:
    """Return the scope that options name; an end date covers its whole day.

    Raises:
        UsageError: If a time is none.
    """
    return Scope(
        conversation=conversation,
        session=session,
        speaker=speaker,
        since=None if since is None else _epoch(parse_moment(since, tz, end_of_day=False)),
        until=None if until is None else _epoch(parse_moment(until, tz, end_of_day=True)),
    )


def _epoch(at: datetime) -> int:
    return int(at.timestamp() // 1)
