"""From an evidence pack to an answer: by a model, or by quoting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memcli import reader
from memcli.app.evidence import evidence_as_dict, pack_as_dict
from memcli.app.prompting import reader_lines
from memcli.app.wiring import Config, parse_seconds, parse_tokens
from memcli.errors import UsageError
from memcli.llm.client import Client, ModelSettings, connect
from memcli.llm.keys import Secret, key_from_environment, read_key_file
from memcli.records.answers import Answer, Answered
from memcli.records.pack import EvidencePack

if TYPE_CHECKING:
    from memcli.store.snapshot import Snapshot
    from memcli.strategy.retriever import Retrieved

Reader = Literal["llm", "extractive"]


def choose_reader(config: Config, reader_name: str | None, model: str | None) -> Reader:
    """Return who answers: a model when one is configured, else quoted evidence.

    Raises:
        UsageError: If the reader is unknown, or a model is needed and none is named.
    """
    if reader_name not in (None, "llm", "extractive"):
        raise UsageError(f"no reader is called {reader_name!r}", hint="llm or extractive")
    configured = config.resolve("model", model).value is not None
    if reader_name == "llm" and not configured:
        raise UsageError(
            "no model is configured", hint="give --model, or run `memcli config model NAME`"
        )
    if reader_name == "extractive" or not configured:
        return "extractive"
    return "llm"


def connect_model(config: Config, model: str | None, api_base: str | None) -> Client:
    """Return the client for the configured model.

    Raises:
        UsageError: If the key file or a setting is unusable.
    """
    return connect(model_settings(config, model, api_base))


def model_settings(config: Config, model: str | None, api_base: str | None) -> ModelSettings:
    """Return which model to ask, where and how, from options and configuration.

    Raises:
        UsageError: If none is named, or the key file or a setting is unusable.
    """
    name = config.resolve("model", model).value
    if name is None:
        raise UsageError("no model is configured", hint="give --model")
    base = config.resolve("api_base", api_base).value
    timeout = config.resolve("timeout").value or "120"
    return ModelSettings(
        model=name,
        api_base=base,
        api_key=_key(config, name, base),
        timeout_s=parse_seconds(timeout),
    )


def _key(config: Config, model: str, api_base: str | None) -> Secret | None:
    file = config.resolve("api_key_file").value
    if file is not None:
        return read_key_file(Path(file).expanduser())
    return key_from_environment(model, api_base, config.environment)


def answer(
    pack: EvidencePack,
    tz: tzinfo,
    client: Client | None,
    *,
    always_read: bool = False,
    strategies: Retrieved | None = None,
) -> Answer:
    """Return an answer with citations, or an abstention.

    Args:
        pack: The evidence.
        tz: Zone of shown times.
        client: The model to ask once; None quotes the best evidence.
        always_read: Ask even where nothing matched.
        strategies: Lessons that the reader sees beside the evidence.

    Raises:
        LLMError: If the model gave no usable reply.
    """
    lines = reader_lines(pack, tz)
    if client is None:
        return reader.extractive(lines, pack.question, tier=pack.tier)
    return reader.read(
        lines,
        pack.question,
        pack.as_of,
        client,
        tier=pack.tier,
        always_read=always_read,
        strategies=strategies.memory if strategies else "",
    )


def strategies_for(config: Config, snapshot: Snapshot, question: str) -> Retrieved | None:
    """Return the lessons that go with a question, found by words; None without one.

    Raises:
        UsageError: If the setting ``strategy_tokens`` makes no sense.
    """
    if not snapshot.records("nodes"):
        return None
    from memcli.app.query import run_query
    from memcli.strategy.limits import Limits
    from memcli.strategy.retriever import Settings

    tokens = config.resolve("strategy_tokens", None, snapshot.manifest.settings).value or "0"
    settings = Settings(name="lexical", limits=Limits(memory_tokens=parse_tokens(tokens)))
    found = run_query(snapshot, question, settings).retrieved
    return found if found.nodes else None


def answer_as_dict(
    answer: Answer, pack: EvidencePack, strategies: Sequence[str] = ()
) -> dict[str, object]:
    """Return an answer and its evidence as the JSON document that `memcli ask` prints.

    Args:
        answer: What was answered.
        pack: From which evidence.
        strategies: Ids of the lessons that the reader saw.
    """
    document: dict[str, object] = {
        "answer": answer.text,
        "abstained": not isinstance(answer, Answered),
        "model": answer.model,
        "usage": asdict(answer.usage) if answer.usage else None,
    }
    if isinstance(answer, Answered):
        numbered = {e.turn.id: (n, e) for n, e in enumerate(pack.evidence, 1)}
        document["citations"] = [
            {"number": numbered[each][0], **evidence_as_dict(numbered[each][1])}
            for each in answer.citations
        ]
        document["citations_valid"] = answer.citations_valid
        document["unknown_citations"] = list(answer.unknown_citations)
    else:
        document |= {"reason": answer.reason, "citations": [], "citations_valid": True}
        document["unknown_citations"] = []
    return document | {"strategies": list(strategies), "pack": pack_as_dict(pack)}
