"""A turn as a document of the search index, and back.

The searched words of a turn are its text, its picture's caption and its speaker's name; the
session's date is added in words, so that "May 2023" finds what was said then. All of it goes
through one tokenizer. Everything needed to rank a hit is stored beside the words, so that a
query reads from ``turns.jsonl`` only the lines it shows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from memcli.records.evidence import Turn
from memcli.records.ids import fingerprint
from memcli.records.indexed import IndexedTurn
from memcli.search.passages import measured_passages
from memcli.search.tokens import tokens

if TYPE_CHECKING:
    import tantivy

DOCUMENT_VERSION = 2
"""Grows with every change of the fields below or of the tokenizer: older indexes are rebuilt."""

TERMS, ID, CONVERSATION, SESSION, SPEAKER = "terms", "id", "conversation", "session", "speaker"
SESSION_NAME, PLACE, PRINT = "name", "place", "print"
TIME, SEQ, OFFSET, TIE, META = "time", "seq", "offset", "tie", "meta"

MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]


def build_schema() -> tantivy.Schema:
    """Return the index schema: searched words, exact keys, time, and the stored rest."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field(TERMS, stored=True, tokenizer_name="whitespace", index_option="freq")
    for key in (ID, CONVERSATION, SESSION, SESSION_NAME, SPEAKER, PLACE, PRINT):
        builder.add_text_field(key, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field(TIME, indexed=True, fast=True)
    builder.add_integer_field(SEQ, indexed=True, fast=True)
    builder.add_unsigned_field(OFFSET, fast=True)
    builder.add_unsigned_field(TIE, fast=True)
    builder.add_bytes_field(META, stored=True)
    return builder.build()


def date_words(time: str | None) -> str:
    """Return a time's day in words (``8 may 2023``), "" when unknown."""
    if time is None:
        return ""
    year, month, day = time[:4], int(time[5:7]), int(time[8:10])
    return f"{day} {MONTHS[month - 1]} {year}"


def document_terms(turn: Turn) -> list[str]:
    """Return the search terms of a turn: text, caption, speaker, date."""
    parts = (turn.text, turn.caption or "", turn.speaker or "", date_words(turn.time))
    return tokens("\n".join(part for part in parts if part))


def epoch_seconds(time: str) -> int:
    """Return the epoch second of an RFC 3339 time, rounded down."""
    return int(datetime.fromisoformat(time).timestamp() // 1)


def place_key(conversation: str, session: str, seq: int) -> str:
    """Return the exact key by which a neighbour of a turn is found."""
    return f"{session_key(conversation, session)}:{seq}"


@lru_cache(maxsize=1 << 10)
def session_key(conversation: str, session: str) -> str:
    """Return the exact key by which the turns of a session are found."""
    data = f"{conversation}\x00{session}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def exact_key(text: str) -> str:
    """Return a text as an exact key: bounded, free of lone surrogates."""
    if len(text) <= 200 and text.isprintable():
        return text
    data = text.encode("utf-8", "surrogatepass")
    return "#" + hashlib.blake2b(data, digest_size=16).hexdigest()


def to_document(
    turn: Turn,
    words: Sequence[str],
    offset: int,
    length: int,
    count: Callable[[Sequence[str]], list[int]],
) -> tantivy.Document:
    """Return the index document of a turn.

    Args:
        turn: The turn.
        words: Its `document_terms`.
        offset: Byte offset of its line in the turns file.
        length: Bytes of that line.
        count: Counts the tokens of several texts (only called for long turns).
    """
    import tantivy

    document = tantivy.Document()
    document.add_text(TERMS, " ".join(words))
    document.add_text(ID, turn.id)
    document.add_text(CONVERSATION, exact_key(turn.conversation))
    document.add_text(SESSION, session_key(turn.conversation, turn.session))
    document.add_text(SESSION_NAME, exact_key(turn.session))
    document.add_text(PLACE, place_key(turn.conversation, turn.session, turn.seq))
    document.add_text(PRINT, fingerprint(turn.role, turn.speaker, turn.text, turn.time))
    if turn.speaker:
        document.add_text(SPEAKER, exact_key(turn.speaker.casefold()))
    if turn.time:
        document.add_integer(TIME, epoch_seconds(turn.time))
    document.add_integer(SEQ, turn.seq)
    document.add_unsigned(OFFSET, offset)
    document.add_unsigned(TIE, int.from_bytes(turn.id.encode()[1:9], "big"))
    document.add_bytes(META, _meta(turn, offset, length, count))
    return document


def _meta(
    turn: Turn, offset: int, length: int, count: Callable[[Sequence[str]], list[int]]
) -> bytes:
    from memcli.records.codec import dumps

    passages = measured_passages(turn.text, turn.tokens, count)
    return dumps(
        [
            turn.id,
            turn.conversation,
            turn.session,
            turn.seq,
            turn.speaker,
            turn.role,
            turn.branch,
            turn.time,
            turn.tokens,
            offset,
            length,
            [n for pair in passages for n in pair],
        ]
    )


def from_document(document: Any) -> IndexedTurn:
    """Return what the index knows of a turn."""
    data = bytes(document[META][0])
    try:
        row = orjson.loads(data)
    except orjson.JSONDecodeError:
        from memcli.records.codec import loads

        row = loads(data)
    flat = row[11]
    return IndexedTurn(
        id=row[0],
        conversation=row[1],
        session=row[2],
        seq=row[3],
        speaker=row[4],
        role=row[5],
        branch=row[6],
        time=row[7],
        tokens=row[8],
        offset=row[9],
        length=row[10],
        terms=document[TERMS][0],
        passages=tuple(zip(flat[::2], flat[1::2], strict=True)),
    )
