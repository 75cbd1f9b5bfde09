"""`memcli ingest`: transcripts into a store, and what happened to them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli._options import JsonOption, StoreOption, TzOption, WaitOption
from memcli.cli._output import inert, json_document, line, note
from memcli.errors import UsageError
from memcli.importers.contract import DateOrder  # typer reads it at run time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from memcli.app.ingest import IngestReport
    from memcli.app.tool_logs import Tool
    from memcli.app.wiring import Config
    from memcli.evidence.annotate import Annotator
    from memcli.importers.detect import Source
    from memcli.importers.inputs import Unreadable
    from memcli.store.store import Store

SOME_REJECTED = 6
_ZONE_HELP = "wrong? undo, then ingest with --tz"
_SHOWN = 10


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(ingest)


def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Files, folders, zips, or - for stdin.", metavar="PATH..."),
    ] = None,
    store: StoreOption = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", help="Take this format instead of recognising it.", metavar="NAME"
        ),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Find the sessions of claude-code, codex, gemini or cursor; a dry run at first.",
            metavar="TOOL",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Store what --from finds the first time, too.")
    ] = False,
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
    list_formats: Annotated[
        bool, typer.Option("--list-formats", help="Show what can be read, read nothing.")
    ] = False,
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

    if list_formats:
        _show_formats(json)
        return
    check_setting("annotator", annotator)
    config = load_config()
    at = now()
    path = store_path(config, store)
    tool = _tool(from_, format_)
    sources = _tool_sources(tool, config, paths) if tool else _sources(paths, format_)
    dry_run = dry_run or _is_trial(tool, path, yes)
    annotates = choose_annotator(config, path, annotator)
    opened, made = open_or_create(path, now=at, scratch=dry_run, tz=tz)
    if made and not dry_run:
        kept = f"; it keeps {tz} as its zone" if tz else ""
        note(f"created a store in {opened.path}{kept}")
    name, zone = zone_of(config, tz, opened.snapshot().manifest.settings)
    options = use.IngestOptions(
        format=format_,
        tz=zone,
        date_order=date_order,
        conversation=conversation,
        tool=tool.name if tool else None,
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


def _show_formats(json: bool) -> None:
    """Print the formats that can be read, and which of them --from finds by itself."""
    from memcli.app.ingest import known_formats

    found = known_formats()
    if json:
        json_document({"formats": found})
        return
    width = max(len(each["name"] or "") for each in found)
    for each in found:
        origin = f" (--from {each['from']})" if each["from"] else ""
        line(f"{each['name']:<{width}}  {each['label']}{origin}")


def _tool(from_: str | None, format_: str | None) -> Tool | None:
    from memcli.app.tool_logs import tool_named

    if from_ is not None and format_ is not None:
        raise UsageError("--from and --format contradict each other", hint="give one of them")
    return None if from_ is None else tool_named(from_)


def _sources(paths: Sequence[str] | None, format_: str | None) -> list[Source | Unreadable]:
    from memcli.app.ingest import find_sources

    if not paths:
        raise UsageError(
            "nothing to read is named", hint="give a PATH, or a tool: --from claude-code"
        )
    return find_sources(paths, format_)


def _tool_sources(
    tool: Tool, config: Config, paths: Sequence[str] | None
) -> list[Source | Unreadable]:
    """Return a tool's sessions; files of other formats among them are told and left out."""
    from memcli.app.ingest import find_sources
    from memcli.app.tool_logs import find_logs, of_tool
    from memcli.app.wiring import machine

    found = find_sources(find_logs(tool, machine(config), paths or ()), None)
    kept, others = of_tool(tool, found)
    _some([f"{name}: is not of {tool.label}" for name in others], "left out")
    return kept


def _is_trial(tool: Tool | None, path: Path, yes: bool) -> bool:
    """Say whether this is a first look at a tool's sessions, which stores nothing; tell it."""
    from memcli.app.tool_logs import is_first_time

    if tool is None or yes or not is_first_time(tool, path):
        return False
    note(f"first time from {tool.label}: a dry run, nothing is stored; add --yes to store it")
    return True


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
