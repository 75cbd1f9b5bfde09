"""A pack as a prompt takes it: numbered without ids, fenced, labelled as data."""

from __future__ import annotations

from datetime import tzinfo

from memcli.evidence.lines import evidence_line
from memcli.reader import EvidenceLine, fence_for, numbered
from memcli.records.marks import EVIDENCE_HEAD
from memcli.records.pack import EvidencePack

PROMPT_TOKENS = 60
"""Most tokens of what `pack_prompt` puts around the lines; kept free in the budget."""


def reader_lines(pack: EvidencePack, tz: tzinfo) -> list[EvidenceLine]:
    """Return a pack as a reader takes it: without ids, which would eat half its budget."""
    return [
        EvidenceLine(
            id=e.turn.id,
            text=evidence_line(number, e.turn, e.text, tz, with_id=False).partition("] ")[2],
            rank=e.rank,
        )
        for number, e in enumerate(pack.evidence, 1)
    ]


def pack_prompt(pack: EvidencePack, tz: tzinfo) -> str:
    """Return a pack as a block to paste before a question: fenced and labelled as data."""
    lines = numbered(reader_lines(pack, tz))
    fence = fence_for(lines, pack.question)
    return f"{EVIDENCE_HEAD}\n<{fence}>\n{lines}\n</{fence}>"
