"""`memcli init`, `memcli ingest`, `memcli add`: what puts something into a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli._options import JsonOption, StoreOption, TzOption, WaitOption
from memcli.cli._output import inert, json_document, line, note
from memcli.importers.contract import DateOrder  # typer reads it at run time

if TYPE_CHECKING:
    from datetime import tzinfo

    from memcli.app.ingest import IngestReport
    from memcli.evidence.annotate import Annotator
    from memcli.store.store import Store

SOME_REJECTED = 6
_ZONE_HELP = "wrong? undo, then ingest with --tz"
_SHOWN = 10


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(init)
    app.command()(ingest)
    app.command()(add)


def init(
    directory: Annotated[
        Path | None, typer.Argument(help="Where; the default store if absent.", metavar="[DIR]")
    ] = None,
    store: StoreOption = None,
    tz: TzOption = None,
) -> None:
    """Create an empty store.

    Example: memcli init notes --tz Europe/Berlin
    """
    from memcli.app.stores import create_store
    from memcli.app.wiring import load_config, now, store_path

    path = store_path(load_config(), directory or store)
    create_store(path, tz=tz, now=now())
    line(str(path))


def ingest(
    paths: Annotated[
        list[str], typer.Argument(help="Files, folders, zips, or - for stdin.", metavar="PATH...")
    ],
    store: StoreOption = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", help="Take this format instead of recognising it.", metavar="NAME"
        ),
    ] = None,
    tz: TzOption = None,
    date_order: Annotated[
        DateOrder | None,
        typer.Option("--date-order", help="What 3/4/2021 means where a file does not prove it."),
    ] = None,
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", help="Put the turns in this conversation.", metavar="NAME"),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report only, store nothing.")] = False,
    rejects: Annotated[
        Path | None,
        typer.Option("--rejects", help="Write rejected records here, as JSONL.", metavar="FILE"),
    ] = None,
    annotator: Annotated[
        str | None,
        typer.Option("--annotator", help="rules, spacy (slower) or none.", metavar="NAME"),
    ] = None,
    wait: WaitOption = 0.0,
    json: JsonOption = False,
) -> None:
    """Store transcripts, verbatim and once.

    Example: memcli ingest ~/exports/chatgpt.zip ~/.claude/projects/app
    """
    from memcli.app import ingest as use
    from memcli.app.settings import choose_annotator
    from memcli.app.stores import open_or_create, zone_of
    from memcli.app.wiring import check_setting, load_config, now, store_path
    from memcli.cli._progress import progress_bar

    check_setting("annotator", annotator)
    config = load_config()
    at = now()
    sources = use.find_sources(paths, format_)
    path = store_path(config, store)
    annotates = choose_annotator(config, path, annotator)
    opened, made = open_or_create(path, now=at, scratch=dry_run)
    if made and not dry_run:
        note(f"created a store in {opened.path}")
    name, zone = zone_of(config, tz, opened.snapshot().manifest.settings)
    options = use.IngestOptions(
        format=format_,
        tz=zone,
        date_order=date_order,
        conversation=conversation,
        dry_run=dry_run,
        wait_s=wait,
    )
    with progress_bar("turns") as progress:
        report = use.ingest(opened, sources, options, now=at, progress=progress)
    if rejects is not None:
        _write_rejects(rejects, report)
    if not dry_run:
        _annotate(opened, annotates, zone)
    json_document(report.as_dict()) if json else _show_report(report, name)
    if report.all_rejected():
        raise typer.Exit(SOME_REJECTED)


def _annotate(store: Store, annotator: Annotator, zone: tzinfo) -> None:
    """Annotate what is new; the turns are stored and searchable whatever happens here."""
    from memcli.app.annotations import annotate_store
    from memcli.app.wiring import now
    from memcli.cli._progress import progress_bar
    from memcli.errors import MemcliError

    try:
        with progress_bar("annotated") as progress:
            report = annotate_store(store, annotator, tz=zone, now=now(), progress=progress)
    except KeyboardInterrupt:
        note("annotation stopped; the turns are stored, the next ingest goes on with it")
        raise
    except MemcliError as error:
        note(inert(f"the turns are stored, but not annotated: {error.message}"))
        return
    for warning in report.warnings:
        note(inert(warning))


def _write_rejects(path: Path, report: IngestReport) -> None:
    from memcli.records.codec import dumps

    rows = [{"where": r.where, "reason": r.reason, "raw": r.raw} for r in report.all_rejected()]
    path.write_bytes(b"".join(dumps(row) + b"\n" for row in rows))


def _show_report(report: IngestReport, tz: str) -> None:
    for file in report.files:
        note(inert(f"{file['file']}: {file['format']} ({file['evidence']})"))
    line(f"read {report.read:,} turns" + (" (dry run, nothing stored)" if report.dry_run else ""))
    line(f"  added         {report.added:,}")
    line(f"  already there {report.already:,}")
    line(f"  grown         {report.grown:,} conversations")
    line(f"  rejected      {len(report.all_rejected()):,}")
    for count, words in (
        (report.duplicates, "duplicate records skipped"),
        (report.updated, "turns updated"),
        (report.no_time, "turns have no time"),
        (report.zone_assumed, f"turns state no zone, read as {tz} ({_ZONE_HELP})"),
    ):
        if count:
            line(f"  {count:,} {words}")
    for kind, count in sorted(report.ignored.items()):
        line(f"  {count:,} records are no talk: {kind}")
    _some([f"{r.where}: {r.reason}" for r in report.all_rejected()], "rejected")
    _some([f"{w.where}: {w.reason}" for w in report.warnings], "warning")
    line(f"the store holds {report.stored_turns:,} turns")


def _some(rows: list[str], kind: str) -> None:
    for row in rows[:_SHOWN]:
        note(inert(f"{kind}: {row}"))
    if len(rows) > _SHOWN:
        note(f"{kind}: and {len(rows) - _SHOWN:,} more (--json or --rejects shows all)")


def add(
    text: Annotated[str, typer.Argument(help="The note, or - for stdin.")],
    store: StoreOption = None,
    conversation: Annotated[
        str, typer.Option("--conversation", help="Conversation of the note.", metavar="NAME")
    ] = "notes",
    speaker: Annotated[
        str | None, typer.Option("--speaker", help="Who says it.", metavar="NAME")
    ] = None,
    wait: WaitOption = 0.0,
    json: JsonOption = False,
) -> None:
    """Store a note as a turn.

    Example: memcli add "The boiler man comes on Thursday."
    """
    from memcli.app.notes import add_note
    from memcli.app.stores import open_or_create
    from memcli.app.wiring import load_config, now, store_path
    from memcli.cli._input import text_or_stdin
    from memcli.records.codec import turn_to_dict

    at = now()
    opened, made = open_or_create(store_path(load_config(), store), now=at)
    if made:
        note(f"created a store in {opened.path}")
    turn = add_note(
        opened,
        text_or_stdin(text),
        conversation=conversation,
        speaker=speaker,
        now=at,
        wait_s=wait,
    )
    json_document({"turn": turn_to_dict(turn)}) if json else line(turn.id)
