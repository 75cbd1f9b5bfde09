"""Whole records behind a damaged one are found again, whatever it does to quotes and brackets."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importers.damage import DAMAGED, KINDS, TEXTS
from importers.reading import Bytes, drafts, events, only

from memcli.importers.contract import Rejected
from memcli.importers.mending import mended

DAMAGE = {
    "a quote too many": lambda record: record.replace(TEXTS[DAMAGED], 'blue " paint'),
    "a quote missing": lambda record: record.replace(f'{TEXTS[DAMAGED]}"', TEXTS[DAMAGED]),
    "a brace missing": lambda record: record[:-1],
    "a brace too many": lambda record: record + "}",
    "two braces too many": lambda record: record + "}}",
    "a comma missing": lambda record: record + " ",
    "cut short": lambda record: record[: len(record) // 2],
    "cut in its first quote": lambda record: record[:3],
    "garbage": lambda record: '#!" { [',
}
ARRAYS = ["openai_array", "slack", "telegram_chat", "telegram_account", "discord"]


def damaged_document(kind, damage):
    """Return a document whose third record is damaged as text."""
    records = [kind.record(number, text, "c1") for number, text in enumerate(TEXTS)]
    whole = json.dumps(records[DAMAGED])
    packed = kind.pack(records, "c1")
    assert packed.count(whole) == 1
    odd = packed.replace(whole, DAMAGE[damage](whole))
    return odd.replace(", {", " {") if damage == "a comma missing" else odd


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("kind", [KINDS[name] for name in ARRAYS], ids=ARRAYS)
def test_the_records_around_the_damage_are_read_and_it_is_told(kind, damage):
    source = Bytes(damaged_document(kind, damage).encode(), "odd.json")
    found = events(source, name=kind.name)
    told = [turn.text for turn in drafts(found)]
    assert [text for k, text in enumerate(TEXTS) if k != DAMAGED and text not in told] == []
    assert TEXTS[DAMAGED] in told or only(found, Rejected)
    assert all(told.count(text) == 1 for text in told)


@pytest.mark.parametrize("damage", sorted(set(DAMAGE) - {"a comma missing"}))
@pytest.mark.parametrize("name", ["chatgpt", "claude_ai", "sharegpt", "locomo", "longmemeval"])
def test_a_damaged_conversation_costs_only_itself(name, damage):
    kind = KINDS[name]

    def one(mark, words):
        said = [kind.record(number, f"{text} {words}", mark) for number, text in enumerate(TEXTS)]
        return json.loads(kind.pack(said, mark))[0]

    first, odd, last = (json.dumps(one(f"c{k}", f"no. {k}")) for k in range(3))
    odd = DAMAGE[damage](odd.replace(f"{TEXTS[DAMAGED]} no. 1", TEXTS[DAMAGED]))
    found = events(Bytes(f"[{first}, {odd}, {last}]".encode(), "odd.json"), name=name)
    told = [turn.text for turn in drafts(found)]
    for number in (0, 2):
        assert [text for text in TEXTS if f"{text} no. {number}" not in told] == []
    assert only(found, Rejected) or TEXTS[DAMAGED] in told


def test_objects_inside_a_record_are_no_records():
    records = [{"id": k, "text": f"w{k}", "mentions": [{"id": 8}, {"id": 9}]} for k in range(4)]
    whole = [json.dumps(record) for record in records]
    raw = ", ".join([whole[1].replace("w1", 'w"1'), *whole[2:]]) + "]}"
    damage, *found = mended(raw.encode(), records[0])
    assert [each.value for each in found] == records[2:]
    assert b'w"1' in damage.lost


@given(raw=st.binary(max_size=80))
def test_arbitrary_bytes_come_to_an_end(raw):
    for each in mended(raw, {"id": 1}):
        assert each.value is None or not each.lost


def test_a_long_stretch_of_damage_is_cut_to_be_shown():
    [damage] = mended(b'{"id": ' + b"x" * 100_000, {"id": 1})
    assert len(damage.lost) <= 16_000
