"""`memcli ask` and `memcli export`: from a question to evidence and an answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli._input import text_or_stdin
from memcli.cli._options import (
    AsOfOption,
    AtOption,
    BudgetOption,
    ConversationOption,
    JsonlOption,
    JsonOption,
    SessionOption,
    SinceOption,
    SpeakerOption,
    StoreOption,
    TzOption,
    UntilOption,
)
from memcli.cli._output import inert, json_document, json_lines, line, note, one_format
from memcli.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from memcli.app.evidence import Question
    from memcli.app.wiring import Config
    from memcli.records.answers import Answer, Answered
    from memcli.records.pack import EvidencePack
    from memcli.store.snapshot import Snapshot
    from memcli.store.store import Store

NOTHING = 3

QuestionArgument = Annotated[
    str | None,
    typer.Argument(help="In quotes; - or nothing reads a pipe.", metavar="QUESTION"),
]
TimingOption = Annotated[bool, typer.Option("--timing", help="Report milliseconds on stderr.")]
StatusOption = Annotated[
    bool, typer.Option("--exit-status", help="Exit 3 when nothing was found or answered.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(ask)
    app.command()(export)


def export(
    question: QuestionArgument = None,
    store: StoreOption = None,
    as_of: AsOfOption = None,
    tz: TzOption = None,
    conversation: ConversationOption = None,
    session: SessionOption = None,
    speaker: SpeakerOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    budget: BudgetOption = None,
    json: JsonOption = False,
    jsonl: JsonlOption = False,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Fenced, to paste before a question.")
    ] = False,
    timing: TimingOption = False,
    exit_status: StatusOption = False,
) -> None:
    """Print the evidence pack for a question: cited turns within a token budget.

    Example: memcli export "When did Mara move the workshop?" --json | jq .evidence
    """
    from memcli.app import evidence as use
    from memcli.app.wiring import load_config

    one_format(json, jsonl)
    if prompt and (json or jsonl):
        raise UsageError("--prompt contradicts --json and --jsonl", hint="give one of them")
    started = time.perf_counter()
    limits = (conversation, session, speaker, since, until)
    snapshot, asked = _asked(load_config(), question, store, as_of, tz, limits, budget)
    if prompt:
        asked = _with_room_for_the_fence(asked)
    found = use.find_evidence(snapshot, asked)
    pack = found.pack
    _notes(found.warnings + pack.notes)
    if json:
        json_document(use.pack_as_dict(pack))
    elif jsonl:
        json_lines(use.evidence_as_dict(each) for each in pack.evidence)
    elif prompt:
        from memcli.app.prompting import pack_prompt

        line(pack_prompt(pack, asked.tz))
    else:
        for each in use.pack_lines(pack, asked.tz):
            line(inert(each))
        _summary(pack)
    _timing(timing, started)
    if exit_status and pack.tier == "none":
        raise typer.Exit(NOTHING)


def ask(
    question: QuestionArgument = None,
    store: StoreOption = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Model that answers.", metavar="NAME")
    ] = None,
    api_base: Annotated[
        str | None,
        typer.Option("--api-base", help="OpenAI-compatible server.", metavar="URL"),
    ] = None,
    reader: Annotated[
        str | None,
        typer.Option("--reader", help="llm, or extractive: quote, no model.", metavar="NAME"),
    ] = None,
    as_of: AsOfOption = None,
    tz: TzOption = None,
    conversation: ConversationOption = None,
    session: SessionOption = None,
    speaker: SpeakerOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    budget: BudgetOption = None,
    always_read: Annotated[
        bool, typer.Option("--always-read", help="Ask the model even if nothing matches.")
    ] = False,
    strategies: Annotated[
        bool,
        typer.Option(
            "--strategies/--no-strategies", help="Show the model the lessons that fit, if any."
        ),
    ] = True,
    at: AtOption = None,
    json: JsonOption = False,
    timing: TimingOption = False,
    exit_status: StatusOption = False,
) -> None:
    """Answer a question from what is stored, with citations, or abstain.

    Example: memcli ask "When did Mara move the workshop?"
    """
    from memcli.app import answer as use
    from memcli.app.evidence import find_evidence
    from memcli.app.wiring import load_config
    from memcli.records.answers import Abstained

    started = time.perf_counter()
    config = load_config()
    limits = (conversation, session, speaker, since, until)
    snapshot, asked = _asked(config, question, store, as_of, tz, limits, budget, at)
    who = use.choose_reader(config, reader, model)
    client = use.connect_model(config, model, api_base) if who == "llm" else None
    found = find_evidence(snapshot, asked)
    _notes(found.warnings + found.pack.notes)
    is_read = client is not None and (always_read or found.pack.tier != "none")
    lessons = use.strategies_for(config, snapshot, asked.text) if strategies and is_read else None
    answered = use.answer(found.pack, asked.tz, client, always_read=always_read, strategies=lessons)
    if json:
        ids = lessons.ids if lessons else ()
        json_document(use.answer_as_dict(answered, found.pack, ids))
    else:
        has_turns = snapshot.records("turns") > 0
        lessons_only = 0 if has_turns else snapshot.records("nodes")
        _show_answer(answered, found.pack, asked, lessons_only=lessons_only)
    if lessons:
        note(f"strategies: {', '.join(lessons.ids)}")
    _spend(answered, is_quoted=client is None, is_chosen=reader is not None)
    _timing(timing, started)
    if exit_status and isinstance(answered, Abstained):
        raise typer.Exit(NOTHING)


def _asked(
    config: Config,
    question: str | None,
    store: Path | None,
    as_of: str | None,
    tz: str | None,
    limits: tuple[str | None, str | None, str | None, str | None, str | None],
    budget: str | None,
    at: str | None = None,
) -> tuple[Snapshot, Question]:
    """Return the snapshot to ask and the question with all it depends on."""
    from memcli.app.evidence import Question, scope_of
    from memcli.app.stores import open_store, zone_of
    from memcli.app.wiring import parse_as_of, parse_budget, store_path

    text = text_or_stdin(question)
    opened = open_store(store_path(config, store))
    snapshot = opened.snapshot() if at is None else _state_at(opened, at)
    settings = snapshot.manifest.settings
    name, days = zone_of(config, tz, settings)
    limit = config.resolve("budget", budget, settings).value or "none"
    asked = Question(
        text=text,
        as_of=parse_as_of(as_of, days),
        tz=days,
        tz_name=name,
        scope=scope_of(*limits, tz=days),
        budget=parse_budget(limit),
    )
    return snapshot, asked


def _state_at(store: Store, at: str) -> Snapshot:
    from memcli.app.checkpoints import state_at

    return state_at(store, at)


def _with_room_for_the_fence(asked: Question) -> Question:
    from dataclasses import replace

    from memcli.app.prompting import PROMPT_TOKENS

    if asked.budget is None:
        return asked
    return replace(asked, budget=max(0, asked.budget - PROMPT_TOKENS))


def _notes(notes: tuple[str, ...]) -> None:
    for each in notes:
        note(inert(each))


def _summary(pack: EvidencePack) -> None:
    """Say on stderr what the lines on stdout are."""
    if pack.tier == "none":
        nearest = "; these came nearest" if pack.evidence else ""
        note(f"nothing stored matches the question{nearest}")
    spans = ", ".join(f"{w.text!r} = {w.start or '…'} to {w.end or '…'}" for w in pack.windows)
    note(
        inert(
            f"{len(pack.evidence)} turns, at most {pack.tokens:,} tokens, {pack.tier}, "
            f"as of {pack.as_of}" + (f"; {spans}" if spans else "")
        )
    )
    if pack.dropped:
        note(f"{pack.dropped} more did not fit the budget of {pack.budget:,} tokens")


def _nothing(pack: EvidencePack, lessons_only: int) -> str:
    """Return why nothing was answered, and where to look next."""
    if lessons_only:
        return f"this store holds no turns, only {lessons_only:,} records of lessons: memcli query"
    nearest = " (`memcli export` shows what came nearest)" if pack.evidence else ""
    return f"nothing stored matches the question{nearest}"


def _show_answer(
    answered: Answer, pack: EvidencePack, asked: Question, *, lessons_only: int = 0
) -> None:
    """Print the answer and the lines it cites; quoted evidence is its own answer."""
    from memcli.reader import EXTRACTIVE
    from memcli.records.answers import Answered

    if not isinstance(answered, Answered):
        line(inert(answered.text))
        if answered.reason == "no_evidence":
            note(_nothing(pack, lessons_only))
        return
    if answered.model != EXTRACTIVE:
        line(inert(answered.text))
        line()
    for text in _cited_lines(answered, pack, asked):
        line(inert(text))
    if pack.tier == "weak":
        note("only part of the question matches anything stored: look before you trust it")
    if not answered.citations_valid:
        wrong = ", ".join(f"[{each}]" for each in answered.unknown_citations)
        note(f"the answer cites {wrong}, which is not in the evidence" if wrong else _UNCITED)


def _cited_lines(answered: Answered, pack: EvidencePack, asked: Question) -> list[str]:
    """Return the evidence lines of the cited turns, in the order of their first citation."""
    from memcli.app.evidence import pack_lines

    lines = zip(pack.evidence, pack_lines(pack, asked.tz), strict=True)
    by_id = {evidence.turn.id: text for evidence, text in lines}
    return [by_id[each] for each in answered.citations]


_UNCITED = "the answer cites nothing: do not trust it unseen"


def _spend(answered: Answer, *, is_quoted: bool, is_chosen: bool) -> None:
    from memcli.records.answers import Answered

    if is_quoted and not is_chosen and isinstance(answered, Answered):
        note("no model is configured: this quotes the best evidence (see `memcli config model`)")
    usage = answered.usage
    if usage is not None:
        cost = f", ${usage.cost_usd:.4f}" if usage.cost_usd is not None else ""
        note(
            f"{inert(answered.model)}: {usage.prompt_tokens:,} + "
            f"{usage.completion_tokens:,} tokens{cost}"
        )


def _timing(wanted: bool, started: float) -> None:
    if wanted:
        note(f"{(time.perf_counter() - started) * 1000:.1f} ms")
