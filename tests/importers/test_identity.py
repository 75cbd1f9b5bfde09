"""Which conversation, which turns: nothing doubled, nothing lost, whatever the export."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.importers.contract import Draft, Moment
from memcli.importers.identity import Settled, is_same_chat, settle
from memcli.records.evidence import Turn
from memcli.records.ids import fingerprint
from memcli.records.times import time_key

START = datetime(2025, 1, 1, 9, tzinfo=UTC)


class Memory:
    """All that is known, in a dict: every answer by looking at everything."""

    def __init__(self) -> None:
        self.by: dict[str, Turn] = {}

    def add(self, settled: Settled) -> None:
        self.by |= {turn.id: turn for turn in (*settled.added, *settled.updated, *settled.moved)}

    def turns(self, conversation: str, since: int | None = None) -> list[Turn]:
        found = [
            turn
            for turn in self.by.values()
            if turn.conversation == conversation and (since is None or turn.seq >= since)
        ]
        return sorted(found, key=lambda t: (t.seq, time_key(t.time), t.id))

    def end(self, conversation: str, size: int) -> list[Turn]:
        return self.turns(conversation)[-size:]

    def by_id(self, ids: Sequence[str]) -> list[Turn]:
        found = [self.by[name] for name in set(ids) if name in self.by]
        return sorted(found, key=lambda t: (t.seq, time_key(t.time), t.id))

    def conversations_with(
        self, prints: Sequence[str], but: AbstractSet[str] = frozenset()
    ) -> list[str]:
        counts: dict[str, int] = {}
        for turn in self.by.values():
            if fingerprint(turn.role, turn.speaker, turn.text, turn.time) in prints:
                counts[turn.conversation] = counts.get(turn.conversation, 0) + 1
        return sorted(counts.keys() - but, key=lambda name: (-counts[name], name))

    def knows(self, conversation: str, prints: Sequence[str]) -> bool:
        return conversation in self.conversations_with(prints)


def take(
    memory: Memory,
    drafts: Sequence[Draft],
    *,
    file: str = "chat.jsonl",
    conversation: str | None = None,
    taken: frozenset[str] = frozenset(),
) -> Settled:
    settled = settle(
        drafts,
        memory,
        format_name="test",
        file=file,
        conversation=conversation,
        taken=taken,
    )
    memory.add(settled)
    return settled


def say(text: str, who: str = "Mara", minute: int | None = None, **more: object) -> Draft:
    at = None if minute is None else START + timedelta(minutes=minute)
    time = None if at is None else Moment(at=at, granularity="second", zone_assumed=False)
    return Draft(role="user", text=text, speaker=who, time=time, **more)


def texts(memory: Memory, conversation: str) -> list[str]:
    return [turn.text for turn in memory.turns(conversation)]


said = st.lists(
    st.tuples(st.sampled_from(["Mara", "Jonas"]), st.sampled_from(["ok", "yes", "a", "b", "c"])),
    min_size=3,
    max_size=14,
)


def native(rows: Sequence[tuple[str, str]], *, timed: bool) -> list[Draft]:
    return [
        say(text, who, i if timed else None, conversation="c", native_id=f"m{i}")
        for i, (who, text) in enumerate(rows)
    ]


def bare(rows: Sequence[tuple[str, str]], *, timed: bool) -> list[Draft]:
    return [say(text, who, i if timed else None) for i, (who, text) in enumerate(rows)]


KINDS = pytest.mark.parametrize("make", [native, bare])
TIMED = pytest.mark.parametrize("timed", [True, False])


@KINDS
@TIMED
@given(rows=said)
def test_a_second_import_adds_nothing(make, timed: bool, rows) -> None:
    memory = Memory()
    first = take(memory, make(rows, timed=timed))
    assert len(first.added) == len(rows)
    before = dict(memory.by)
    again = take(memory, make(rows, timed=timed), file="renamed (1).jsonl")
    assert (again.added, again.updated, again.already) == ((), (), len(rows))
    assert again.conversation == first.conversation
    assert memory.by == before


@KINDS
@TIMED
@given(rows=said, cut=st.integers(2, 14))
def test_a_grown_export_adds_only_what_grew(make, timed: bool, rows, cut: int) -> None:
    drafts, memory = make(rows, timed=timed), Memory()
    cut = min(cut, len(drafts))
    name = take(memory, drafts[:cut]).conversation
    grown = take(memory, drafts)
    assert grown.conversation == name
    assert len(grown.added) == len(rows) - cut
    assert grown.updated == ()
    assert texts(memory, name) == [text for _, text in rows]


@KINDS
@TIMED
@given(rows=said, start=st.integers(0, 11))
def test_an_export_that_starts_later_doubles_nothing(make, timed: bool, rows, start: int) -> None:
    drafts, memory = make(rows, timed=timed), Memory()
    start = min(start, len(drafts) - 3)
    name = take(memory, drafts[start:]).conversation
    whole = take(memory, drafts)
    assert whole.conversation == name
    assert len(whole.added) == start
    assert texts(memory, name) == [text for _, text in rows]
    assert take(memory, drafts[start:]).added == ()


@TIMED
@given(rows=said, data=st.data())
def test_parts_of_a_talk_with_ids_come_together_in_any_order(timed: bool, rows, data) -> None:
    drafts, memory = native(rows, timed=timed), Memory()
    cuts = sorted(data.draw(st.sets(st.integers(1, len(drafts) - 1), max_size=3)))
    parts = [drafts[a:b] for a, b in zip([0, *cuts], [*cuts, len(drafts)], strict=True)]
    for part in data.draw(st.permutations(parts)):
        take(memory, part)
    assert sorted(t.source.native_id for t in memory.turns("c")) == sorted(
        d.native_id for d in drafts
    )
    if timed:
        assert texts(memory, "c") == [text for _, text in rows]
    before = dict(memory.by)
    assert take(memory, drafts).added == ()
    assert memory.by.keys() == before.keys()


@KINDS
@given(rows=said, size=st.integers(1, 5))
def test_batches_of_a_talk_make_what_one_batch_makes(make, rows, size: int) -> None:
    drafts = make(rows, timed=True)
    whole, parts = Memory(), Memory()
    take(whole, drafts, conversation="c")
    for i in range(0, len(drafts), size):
        take(parts, drafts[i : i + size], conversation="c")
    assert parts.turns("c") == whole.turns("c")


def test_a_long_talk_goes_on_at_its_end() -> None:
    memory = Memory()
    take(memory, [say(f"word {i}", conversation="c", native_id=f"m{i}") for i in range(300)])
    more = take(memory, [say("new", conversation="c", native_id="n1")])
    assert [turn.seq for turn in more.added] == [300]
    assert more.grown
    middle = take(
        memory,
        [
            say("word 298", conversation="c", native_id="m298"),
            say("inserted", conversation="c", native_id="n2"),
            say("word 299", conversation="c", native_id="m299"),
        ],
    )
    assert [turn.text for turn in middle.added] == ["inserted"]
    assert texts(memory, "c")[-4:] == ["word 298", "inserted", "word 299", "new"]


def test_an_edited_message_updates_its_turn() -> None:
    memory = Memory()
    take(memory, [say("teh", conversation="c", native_id="m1")])
    settled = take(memory, [say("the", conversation="c", native_id="m1")], file="later.json")
    assert settled.added == ()
    (turn,) = settled.updated
    assert (turn.text, turn.source.file) == ("the", "chat.jsonl")


def test_a_message_repeated_in_one_batch_is_counted_not_stored() -> None:
    memory = Memory()
    once = say("hello", conversation="c", native_id="m1")
    settled = take(memory, [once, once])
    assert (len(settled.added), settled.repeated) == (1, 1)


def test_one_message_may_be_several_turns() -> None:
    memory = Memory()
    parts = [say("x", conversation="c", native_id="m1", part=p) for p in ("text", "tool/0")]
    assert len(take(memory, parts).added) == 2


def test_ok_said_twice_is_two_turns() -> None:
    memory = Memory()
    assert len(take(memory, [say("ok"), say("ok"), say("ok")]).added) == 3
    assert len(take(memory, [say("ok"), say("ok"), say("ok"), say("ok")]).added) == 1


def test_the_user_decides_the_conversation() -> None:
    memory = Memory()
    take(memory, [say("one"), say("two"), say("three")], conversation="mine")
    other = take(memory, [say("four", conversation="theirs", native_id="x")], conversation="mine")
    assert other.conversation == "mine"
    assert texts(memory, "mine") == ["one", "two", "three", "four"]


def test_two_identical_conversations_of_one_file_stay_two() -> None:
    memory = Memory()
    chat = [say("hi"), say("hello", "Jonas"), say("bye")]

    def read_file() -> list[Settled]:
        first = take(memory, chat)
        return [first, take(memory, chat, taken=frozenset({first.conversation}))]

    one, two = read_file()
    assert one.conversation != two.conversation
    assert len(memory.by) == 6
    assert [len(s.added) for s in read_file()] == [0, 0]
    assert len(memory.by) == 6


SYSTEM, QUESTION = say("You are helpful.", "system"), say("What is a monad?")


@pytest.mark.parametrize(
    "other",
    [
        [SYSTEM, QUESTION, say("Something else."), say("Thanks")],
        [SYSTEM, say("And a functor?"), say("A mapping.")],
        [SYSTEM],
    ],
)
def test_a_shared_beginning_is_not_the_same_chat(other: list[Draft]) -> None:
    memory = Memory()
    known = take(memory, [SYSTEM, QUESTION, say("A burrito."), say("I see"), say("Thanks")])
    assert take(memory, other).conversation != known.conversation


@pytest.mark.parametrize(
    ("known", "given_", "same"),
    [
        ("abcde", "abcde", True),
        ("a", "a", True),
        ("abcde", "ab", True),
        ("ab", "abcde", True),
        ("abcde", "a", False),
        ("abcdefgh", "fghij", True),
        ("abcdefgh", "defgh", True),
        ("oabocdef", "ocd", True),
        ("oabodefg", "odefghij", True),
        ("abcdefghij", "abcdXfghij", True),
        ("abcdefghij", "abcdfghij", True),
        ("abcdefgh", "ghi", False),
        ("abxc", "abyd", False),
        ("abpqrs", "abtuvw", False),
        ("abc", "xyz", False),
    ],
)
def test_what_makes_two_exports_the_same_chat(known: str, given_: str, same: bool) -> None:
    assert is_same_chat(known, given_) is same
    assert is_same_chat(given_, known) is same


@given(st.text("abc", max_size=9), st.text("abc", max_size=9))
def test_being_the_same_chat_holds_both_ways_for_equals(one: str, other: str) -> None:
    assert is_same_chat(one, one)
    if len(one) >= 3:
        assert is_same_chat(one, other + one)
        assert is_same_chat(other + one + other, one)
    if len(one) >= 2:
        assert is_same_chat(one, one + other)
        assert is_same_chat(one + other, one)


def test_a_subagents_talk_moves_nothing_of_the_main_talk():
    known = Memory()
    main = [
        Draft(
            role="user",
            text=f"turn {n}",
            conversation="c",
            session="c",
            native_id=str(n),
            time=Moment(at=START + timedelta(minutes=n), granularity="second", zone_assumed=False),
        )
        for n in range(6)
    ]
    side = [
        replace(main[n], text=f"side {n}", session="agent-1", native_id=f"s{n}", branch="sidechain")
        for n in (2, 3)
    ]
    for drafts in (main, side):
        settled = settle(drafts, known, format_name="claude_code", file="f")
        assert settled.moved == settled.updated == ()
        known.add(settled)
    assert [turn.session for turn in known.turns("c")] == ["c"] * 6 + ["agent-1"] * 2


def test_slices_of_one_chat_may_end_alike() -> None:
    memory = Memory()
    first = [say(text, conversation="xyz", session="xyz_0") for text in ("hi", "thanks")]
    second = [say(text, conversation="xyz", session="xyz_1") for text in ("more?", "thanks")]
    for _ in range(2):
        take(memory, first)
        take(memory, second)
    assert texts(memory, "xyz") == ["hi", "thanks", "more?", "thanks"]


@pytest.mark.parametrize("names", [("chat.jsonl", "chat.jsonl"), ("chat.jsonl", "copy.jsonl")])
def test_many_chats_alike_are_each_found_again(names) -> None:
    memory = Memory()
    alike = [say("hi"), say("hello")]
    for file in names:
        taken = set[str]()
        for _ in range(20):
            taken.add(take(memory, alike, file=file, taken=frozenset(taken)).conversation)
        assert len(taken) == 20
    assert len(memory.by) == 40
