"""`memcli undo`, `memcli compact`, `memcli verify`: keeping a store whole."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli._options import JsonOption, StoreOption, WaitOption, YesOption
from memcli.cli._output import inert, json_document, line, note
from memcli.errors import UsageError
from memcli.store.layout import KINDS

if TYPE_CHECKING:
    from memcli.store.manifest import Manifest
    from memcli.store.verify import Report

DAMAGED = 4


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(undo)
    app.command()(compact)
    app.command()(verify)


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something is taken away; without a terminal ``--yes`` is needed.

    Raises:
        UsageError: If there is nobody to ask.
        typer.Abort: If the answer is no.
    """
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{question} Nobody is here to say so.", hint="add --yes")
    typer.confirm(question, abort=True, err=True)


def undo(
    store: StoreOption = None,
    yes: YesOption = False,
    wait: WaitOption = 0.0,
    json: JsonOption = False,
) -> None:
    """Take back the last step: an ingest, a note, a lesson, a training run, a setting.

    Example: memcli undo --yes
    """
    from memcli.app import care
    from memcli.app.stores import open_store
    from memcli.app.wiring import load_config, now, store_path

    opened = open_store(store_path(load_config(), store))
    manifest = opened.snapshot().manifest
    command = manifest.before[0].command if manifest.before else "last step"
    confirm(f"Take back the {command} of {manifest.committed_at}?", yes=yes)
    before, after = care.undo(opened, now=now(), wait_s=wait)
    counts = {kind: [_records(m, kind) for m in (before, after)] for kind in KINDS}
    if json:
        turns = counts["turns"]
        document = {"undone": command, "turns_before": turns[0], "turns_after": turns[1]}
        json_document({**document, "records": counts})
        return
    changed = [f"{kind} {was:,} → {now:,}" for kind, (was, now) in counts.items() if was != now]
    line(f"took back the {command}; records: {', '.join(changed) or 'as before'}")


def _records(manifest: Manifest, kind: str) -> int:
    entry = manifest.files.get(kind)
    return entry.records if entry else 0


def compact(store: StoreOption = None, wait: WaitOption = 0.0, json: JsonOption = False) -> None:
    """Drop superseded records and rebuild what is derived from them.

    Example: memcli compact
    """
    from memcli.app import care
    from memcli.app.stores import open_store
    from memcli.app.wiring import load_config, now, store_path

    opened = open_store(store_path(load_config(), store))
    report = care.compact(opened, now=now(), wait_s=wait)
    if json:
        json_document(
            {
                "records_before": dict(report.records_before),
                "records_after": dict(report.records_after),
                "bytes_before": dict(report.bytes_before),
                "bytes_after": dict(report.bytes_after),
                "checkpoints": list(report.checkpoints),
            }
        )
        return
    for kind, records in report.records_before.items():
        line(f"{kind}: {records:,} records, {report.records_after[kind]:,} kept")
    if report.records_before == report.records_after:
        line("nothing was superseded")


def verify(
    store: StoreOption = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Go back to the newest state that is whole.")
    ] = False,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Check every record, count, length and hash; exit 4 when something is wrong.

    Example: memcli verify --json | jq .findings
    """
    from memcli.app import care
    from memcli.app.wiring import load_config, now, store_path

    path = store_path(load_config(), store)
    if repair:
        confirm("Cut what was never committed and go back to the newest whole state?", yes=yes)
        done = care.repair_store(path, now=now())
        for words in (*(f"missing: {m}" for m in done.missing), *(f"kept: {k}" for k in done.kept)):
            note(inert(words))
    report = care.verify_store(path)
    json_document(_as_json(report)) if json else _show(report)
    if any(finding.severity != "note" for finding in report.findings):
        raise typer.Exit(DAMAGED)


def _as_json(report: Report) -> dict[str, object]:
    return {
        "store": str(report.path),
        "commit": report.commit,
        "sound": report.is_sound,
        "files": {
            kind: {
                "name": f.name,
                "bytes": f.bytes,
                "records": f.records,
                "superseded": f.superseded,
            }
            for kind, f in report.files.items()
        },
        "findings": [
            {"severity": f.severity, "where": f.where, "what": f.what} for f in report.findings
        ],
    }


def _show(report: Report) -> None:
    for finding in report.findings:
        line(inert(f"{finding.severity}: {finding.where}: {finding.what}"))
    for kind, file in report.files.items():
        line(
            f"{kind}: {file.records:,} records, {file.superseded:,} superseded, "
            f"{file.bytes:,} bytes"
        )
    if all(finding.severity == "note" for finding in report.findings):
        line(f"all well, commit {report.commit}")
