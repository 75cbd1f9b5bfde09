"""Which conversation is this, which of its turns are new, and where do they belong?

A second import must add nothing, a grown export only what grew, one that starts later must
double nothing, and "ok" said twice must stay two turns. So drafts are matched against the
turns that are already known: by the source's own message ids, else by lining up the two
sequences. Ids come from what a turn is (``records/ids.py``), order from the merged sequence,
sessions from the source or from silence. Pure: what is known is handed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from difflib import Match, SequenceMatcher
from itertools import count, islice, takewhile
from pathlib import PurePath
from typing import Protocol

from memcli.importers.contract import Draft
from memcli.importers.sequence import Slot, merge, number, place_by_time, sessions
from memcli.records.evidence import Source, Turn
from memcli.records.ids import content_turn_id, fingerprint, native_turn_id
from memcli.records.times import rfc3339

SURE_TURNS = 3
"""Lined-up turns that make two transcripts the same chat when neither begins the other."""

SURE_SHARE = 0.8
"""Share of the overlapping stretch that must line up, edits and deletions aside."""


_NAMES_TRIED = 3
"""Conversations looked at because the file's name would give theirs."""

TAIL_TURNS = 64
"""Last turns of a conversation that show where and in which session it goes on."""


class Known(Protocol):
    """What is already stored or about to be."""

    def turns(self, conversation: str, since: int | None = None) -> list[Turn]:
        """Return the conversation's turns in order, from a place on if given."""

    def end(self, conversation: str, size: int) -> list[Turn]:
        """Return the last ``size`` turns of the conversation in order."""

    def by_id(self, ids: Sequence[str]) -> list[Turn]:
        """Return the turns with these ids, by (seq, time, id)."""

    def conversations_with(
        self, prints: Sequence[str], but: AbstractSet[str] = frozenset()
    ) -> list[str]:
        """Return conversations that may be an export of these turns, the likeliest first.

        Args:
            prints: Fingerprints of the turns.
            but: Conversations that are out of the question.
        """

    def knows(self, conversation: str, prints: Sequence[str]) -> bool:
        """Return whether a turn of the conversation has one of these fingerprints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A batch of drafts of one conversation, settled against what is known.

    Attributes:
        conversation: The conversation they belong to.
        added: New turns, in order.
        updated: New records of known turns whose content changed.
        moved: New records of known turns that only made room for others.
        already: How many drafts are stored already, unchanged.
        repeated: How many drafts the batch itself held more than once.
        grown: Whether a known conversation gained turns.
    """

    conversation: str
    added: tuple[Turn, ...]
    updated: tuple[Turn, ...]
    moved: tuple[Turn, ...]
    already: int
    repeated: int
    grown: bool


def settle(
    drafts: Sequence[Draft],
    known: Known,
    *,
    format_name: str,
    file: str,
    conversation: str | None = None,
    taken: AbstractSet[str] = frozenset(),
) -> Settled:
    """Return what a batch of drafts of one conversation adds to what is known.

    Args:
        drafts: In source order, all with the same ``conversation`` and ``group``.
        known: Turns already stored.
        format_name: For `Source.format`.
        file: For `Source.file`.
        conversation: The user's own choice of conversation.
        taken: Conversations that earlier groups of the same input turned out to be.
    """
    name = conversation or drafts[0].conversation
    if name is None:
        name = _recognise(drafts, file, known, taken) or _new_name(drafts, file, known, taken)
    before = _that_matters(drafts, known, name)
    match, unique = _match(drafts, before, name)
    place = len(before) if _is_side_task(drafts) else place_by_time(_first_time(drafts), before)
    merged = merge(match, unique, len(before), place)
    turns = _build(drafts, merged, before, name, format_name, file)
    repeated = len(drafts) - len(unique)
    return _compare(turns, before, name, matched=len(match), repeated=repeated)


def name_of_new(
    drafts: Sequence[Draft], file: str, known: Known, prints: Sequence[str]
) -> str | None:
    """Return the name of a conversation that is surely new, or None where it may be known.

    So a long transcript without ids can be stored in parts instead of being held whole.

    Args:
        drafts: How it begins.
        file: For the name.
        known: Turns already stored.
        prints: Fingerprints of turns from all over it.
    """
    if known.conversations_with(prints):
        return None
    return _new_name(drafts, file, known, frozenset())


def settle_next(
    drafts: Sequence[Draft], known: Known, *, format_name: str, file: str, conversation: str
) -> Settled:
    """Return the next part of a conversation that is surely new: all of it goes to the end."""
    before = known.end(conversation, TAIL_TURNS)
    slots = merge({}, range(len(drafts)), len(before), len(before))
    taken = _ids_taken(drafts, known, conversation)
    turns = _build(drafts, slots, before, conversation, format_name, file, taken)
    return _compare(turns, before, conversation, matched=0, repeated=0)


def _ids_taken(drafts: Sequence[Draft], known: Known, name: str) -> set[str]:
    """Return the ids, of those that these drafts may get, that earlier parts have taken."""
    taken: set[str] = set()
    wanted = {(_time_of(draft), draft.speaker, draft.text) for draft in drafts}
    occurrence = 0
    while wanted:
        ids = {content_turn_id(name, *key, occurrence): key for key in wanted}
        found = {turn.id for turn in known.by_id(sorted(ids))}
        taken |= found
        wanted = {ids[each] for each in found}
        occurrence += 1
    return taken


# --- which conversation -------------------------------------------------------------------


def _recognise(
    drafts: Sequence[Draft], file: str, known: Known, taken: AbstractSet[str]
) -> str | None:
    """Return the known conversation that these drafts are an export of, or None.

    First asked are those that the file's own name would give, so that of many alike each
    finds its own again; then those that share turns.
    """
    prints = [print_of(draft) for draft in drafts]
    for name in _likely(drafts, prints, file, known, taken):
        others = [_print_of_turn(turn) for turn in known.turns(name)]
        if is_same_chat(others, prints):
            return name
    return None


def _likely(
    drafts: Sequence[Draft],
    prints: Sequence[str],
    file: str,
    known: Known,
    taken: AbstractSet[str],
) -> Iterator[str]:
    free = (name for name in _names(drafts, file) if name not in taken)
    yield from takewhile(lambda name: known.end(name, 1), islice(free, _NAMES_TRIED))
    yield from known.conversations_with(prints, taken)


def is_same_chat(known: Sequence[str], given: Sequence[str]) -> bool:
    """Return whether two sequences of fingerprints are exports of the same chat.

    They are when they are equal; when one begins with all of the other (two turns or more);
    or when at least `SURE_TURNS` turns line up and, within the stretch where they overlap,
    `SURE_SHARE` of the turns do. A shared greeting or system prompt is not enough.
    """
    if list(known) == list(given):
        return True
    shorter = min(len(known), len(given))
    if shorter >= 2 and list(known[:shorter]) == list(given[:shorter]):
        return True
    blocks = [b for b in _blocks(known, given) if b.size]
    lined_up = sum(b.size for b in blocks)
    if lined_up < SURE_TURNS:
        return False
    first, last = blocks[0], blocks[-1]
    head = min(first.a, first.b)
    tail = min(len(known) - last.a - last.size, len(given) - last.b - last.size)
    inner = max(last.a + last.size - first.a, last.b + last.size - first.b)
    return lined_up >= SURE_SHARE * (head + inner + tail)


def _new_name(drafts: Sequence[Draft], file: str, known: Known, taken: AbstractSet[str]) -> str:
    """Return the first name of the file's that is not in use."""
    return next(n for n in _names(drafts, file) if n not in taken and not known.end(n, 1))


def _names(drafts: Sequence[Draft], file: str) -> Iterator[str]:
    """Yield names: the file's stem and a hash of how the talk begins, then numbered ones."""
    stem = re.sub(r"[^\w-]+", "-", PurePath(file.rpartition("!")[2]).stem).strip("-")[:40]
    begin = fingerprint("", None, "\n".join(print_of(d) for d in drafts[:3]), None)[:6]
    name = f"{stem or 'chat'}-{begin}"
    yield name
    yield from (f"{name}-{number}" for number in count(2))


# --- which turns --------------------------------------------------------------------------


def _that_matters(drafts: Sequence[Draft], known: Known, name: str) -> list[Turn]:
    """Return the known turns of the conversation on which the outcome depends.

    Drafts that are all new and no earlier than the end go there, so the end is enough; drafts
    that are all known by ids of their own stay where they are. Otherwise all turns from the
    first known one on matter, or simply all. So a long conversation grows as cheaply as a
    short one.
    """
    native = all(draft.native_id is not None for draft in drafts)
    ids = [_first_id(draft, name) for draft in drafts]
    there = known.by_id(ids)
    if not there:
        is_new = native or not known.knows(name, [print_of(draft) for draft in drafts])
        end = known.end(name, TAIL_TURNS) if is_new else []
        goes_on = is_new and place_by_time(_first_time(drafts), end) == len(end)
        return end if goes_on else known.turns(name)
    found = {turn.id for turn in there}
    if not native or ids[0] not in found:
        return known.turns(name)
    return there if found.issuperset(ids) else known.turns(name, there[0].seq)


def _first_id(draft: Draft, name: str) -> str:
    """Return the id of the draft's turn, or that of the first one exactly like it."""
    if draft.native_id is not None:
        return native_turn_id(name, draft.native_id, draft.part)
    return content_turn_id(name, _time_of(draft), draft.speaker, draft.text, 0)


def _match(
    drafts: Sequence[Draft], before: Sequence[Turn], name: str
) -> tuple[dict[int, int], list[int]]:
    """Return (draft index → known index, indexes of the drafts that are not repeats)."""
    position = {turn.id: i for i, turn in enumerate(before)}
    match: dict[int, int] = {}
    unique: list[int] = []
    seen: set[str] = set()
    for i, draft in enumerate(drafts):
        if draft.native_id is None:
            unique.append(i)
            continue
        turn_id = native_turn_id(name, draft.native_id, draft.part)
        if turn_id in seen:
            continue
        seen.add(turn_id)
        unique.append(i)
        if turn_id in position:
            match[i] = position[turn_id]
    match.update(_line_up(drafts, before))
    return match, unique


def _line_up(drafts: Sequence[Draft], before: Sequence[Turn]) -> dict[int, int]:
    """Match the drafts without ids of their own to the known turns without, by sequence.

    Where the source names sessions, a turn is only looked for in its own: the slices of a
    long chat each may end with the same thanks.
    """
    mine = [i for i, draft in enumerate(drafts) if draft.native_id is None]
    theirs = [i for i, turn in enumerate(before) if turn.source.native_id is None]
    if not mine or not theirs:
        return {}
    known = [_print_of_turn(before[i]) for i in theirs]
    given = [print_of(drafts[i]) for i in mine]
    stated = [drafts[i].session for i in mine]
    if None not in stated:
        known = [f"{before[i].session}\n{each}" for i, each in zip(theirs, known, strict=True)]
        given = [f"{session}\n{each}" for session, each in zip(stated, given, strict=True)]
    return {
        mine[block.b + k]: theirs[block.a + k]
        for block in _blocks(known, given)
        for k in range(block.size)
    }


def _blocks(known: Sequence[str], given: Sequence[str]) -> Sequence[Match]:
    """Return the stretches that line up, in order.

    One sequence that is a run of the other lines up whole. A long common beginning is set
    apart first, which costs linear time; a short one says too little: many chats begin alike.
    """
    size = min(len(known), len(given))
    start = _find_run(known, given) if len(known) > size else _find_run(given, known)
    if start is not None:
        return [Match(start, 0, size) if len(known) > size else Match(0, start, size)]
    same = next((i for i in range(size) if known[i] != given[i]), size)
    if same < size // 2:
        same = 0
    matcher = SequenceMatcher(None, known[same:], given[same:], autojunk=False)
    rest = [Match(b.a + same, b.b + same, b.size) for b in matcher.get_matching_blocks()]
    return [Match(0, 0, same), *rest] if same else rest


def _find_run(longer: Sequence[str], shorter: Sequence[str]) -> int | None:
    """Return where in the longer sequence all of the shorter stands, the first such place."""
    size = len(shorter)
    for start in range(len(longer) - size + 1):
        if all(longer[start + i] == shorter[i] for i in range(size)):
            return start
    return None


def print_of(draft: Draft) -> str:
    """Return the fingerprint by which a draft is recognised in another export."""
    return fingerprint(draft.role, draft.speaker, draft.text, _time_of(draft))


def _print_of_turn(turn: Turn) -> str:
    return fingerprint(turn.role, turn.speaker, turn.text, turn.time)


def _build(
    drafts: Sequence[Draft],
    slots: Sequence[Slot],
    before: Sequence[Turn],
    name: str,
    format_name: str,
    file: str,
    taken: Iterable[str] = (),
) -> list[Turn]:
    """Return the merged conversation's turns that a draft speaks of or whose place moved."""
    places = number([None if s.known is None else before[s.known].seq for s in slots])
    sittings = sessions(slots, drafts, before)
    ids = {turn.id for turn in before}.union(taken)
    built: list[Turn] = []
    for slot, place, session in zip(slots, places, sittings, strict=True):
        old = None if slot.known is None else before[slot.known]
        if slot.draft is not None:
            draft = drafts[slot.draft]
            turn_id = old.id if old else _new_id(draft, name, ids)
            ids.add(turn_id)
            turn = _turn(draft, turn_id, name, session, place, format_name, file)
            if old is not None:
                turn = replace(old, seq=place) if draft.is_copy else _keep_known(turn, old)
            built.append(turn)
        elif old is not None and old.seq != place:
            built.append(replace(old, seq=place))
    return built


def _new_id(draft: Draft, name: str, ids: set[str]) -> str:
    if draft.native_id is not None:
        return native_turn_id(name, draft.native_id, draft.part)
    occurrence = 0
    time = _time_of(draft)
    while (made := content_turn_id(name, time, draft.speaker, draft.text, occurrence)) in ids:
        occurrence += 1
    return made


def _turn(
    draft: Draft, turn_id: str, name: str, session: str, seq: int, format_name: str, file: str
) -> Turn:
    return Turn(
        id=turn_id,
        conversation=name,
        session=session,
        seq=seq,
        speaker=draft.speaker,
        role=draft.role,
        text=draft.text,
        time=_time_of(draft),
        time_granularity=draft.time.granularity if draft.time else None,
        source=Source(format=format_name, file=file, native_id=draft.native_id, line=draft.line),
        branch=draft.branch,
        caption=draft.caption,
        title=draft.title,
    )


def _keep_known(turn: Turn, old: Turn) -> Turn:
    """Return the known turn with the export's content; where it was found first stays."""
    return replace(turn, source=old.source, title=old.title, tokens=old.tokens, extra=old.extra)


def _compare(
    turns: Iterable[Turn], before: Sequence[Turn], name: str, *, matched: int, repeated: int
) -> Settled:
    old = {turn.id: turn for turn in before}
    added = tuple(t for t in turns if t.id not in old)
    changed = [t for t in turns if t.id in old and t != old[t.id]]
    updated = tuple(t for t in changed if replace(t, seq=old[t.id].seq) != old[t.id])
    moved = tuple(t for t in changed if replace(t, seq=old[t.id].seq) == old[t.id])
    return Settled(
        conversation=name,
        added=added,
        updated=updated,
        moved=moved,
        already=matched - len(updated),
        repeated=repeated,
        grown=bool(before and added),
    )


def _is_side_task(drafts: Sequence[Draft]) -> bool:
    """Whether all of it is a subagent's own talk.

    It is a session of its own beside the main talk; amid that talk's places it would only
    part neighbours and move every later turn.
    """
    return all(draft.branch == "sidechain" for draft in drafts)


def _first_time(drafts: Sequence[Draft]) -> str | None:
    return next((_time_of(draft) for draft in drafts if draft.time), None)


def _time_of(draft: Draft) -> str | None:
    return rfc3339(draft.time.at) if draft.time else None
