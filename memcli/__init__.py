"""memcli: a memory for LLM agents and people in plain files.

The names below are the public library; everything else may change. They load on first use,
so ``import memcli`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memcli.app.answer import answer
    from memcli.app.evidence import Question, find_evidence
    from memcli.app.ingest import IngestOptions, IngestReport, find_sources, ingest
    from memcli.errors import MemcliError
    from memcli.llm.client import ModelSettings, connect
    from memcli.records.answers import REFUSAL, Abstained, Answered
    from memcli.records.evidence import Turn
    from memcli.records.indexed import Scope
    from memcli.records.pack import Evidence, EvidencePack
    from memcli.store.store import Store

__version__ = "0.1.0"

__all__ = [
    "REFUSAL",
    "Abstained",
    "Answered",
    "Evidence",
    "EvidencePack",
    "IngestOptions",
    "IngestReport",
    "MemcliError",
    "ModelSettings",
    "Question",
    "Scope",
    "Store",
    "Turn",
    "answer",
    "connect",
    "find_evidence",
    "find_sources",
    "ingest",
]

_HOME = {
    "REFUSAL": "memcli.records.answers",
    "Abstained": "memcli.records.answers",
    "Answered": "memcli.records.answers",
    "Evidence": "memcli.records.pack",
    "EvidencePack": "memcli.records.pack",
    "IngestOptions": "memcli.app.ingest",
    "IngestReport": "memcli.app.ingest",
    "MemcliError": "memcli.errors",
    "ModelSettings": "memcli.llm.client",
    "Question": "memcli.app.evidence",
    "Scope": "memcli.records.indexed",
    "Store": "memcli.store.store",
    "Turn": "memcli.records.evidence",
    "answer": "memcli.app.answer",
    "connect": "memcli.llm.client",
    "find_evidence": "memcli.app.evidence",
    "find_sources": "memcli.app.ingest",
    "ingest": "memcli.app.ingest",
}


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'memcli' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
