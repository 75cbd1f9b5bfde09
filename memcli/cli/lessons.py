"""`memcli node` and `memcli feedback`: lessons and their edges, changed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli._options import JsonOption, StoreOption, WaitOption, YesOption
from memcli.cli._output import inert, json_document, line, note

if TYPE_CHECKING:
    from memcli.app.lessons import Verdict
    from memcli.records.strategy import StrategyNode
    from memcli.store.store import Store
    from memcli.strategy.operations import Change
    from memcli.strategy.proposals import Proposal

KeyOption = Annotated[
    str | None, typer.Option("--key", help="What it is about, at most 12 words.", metavar="TEXT")
]
SectionOption = Annotated[
    str | None, typer.Option("--section", help="Section of the playbook.", metavar="NAME")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    node = typer.Typer(
        help="Add, edit or remove a lesson by hand.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    node.command("add")(add)
    node.command("edit")(edit)
    node.command("remove")(remove)
    app.add_typer(node, name="node")
    app.command()(feedback)


def add(
    text: Annotated[str | None, typer.Argument(help="The lesson, or -.", metavar="TEXT")] = None,
    store: StoreOption = None,
    key: KeyOption = None,
    section: SectionOption = "strategies_and_insights",
    link: Annotated[
        list[str] | None,
        typer.Option("--link", help="A lesson that it belongs with; repeatable.", metavar="ID"),
    ] = None,
    wait: WaitOption = 0.0,
    json: JsonOption = False,
) -> None:
    """Add a lesson; edges join it with the linked ones, in both directions.

    Example: memcli node add "Convert units before you substitute." --key "unit conversion"
    """
    from memcli.app.lessons import store_for
    from memcli.app.wiring import load_config, now, store_path
    from memcli.cli._input import text_or_stdin
    from memcli.strategy.proposals import Add

    content = text_or_stdin(text)
    proposal = Add(
        section=_known(section) or "", key=key or "", content=content, links=tuple(link or ())
    )
    opened = store_for(store_path(load_config(), store), proposal, now=now())
    _apply(opened, proposal, wait, json)


def edit(
    node_id: Annotated[str, typer.Argument(help="The lesson.", metavar="ID")],
    text: Annotated[
        str | None, typer.Argument(help="Its new words, or -; none keeps them.", metavar="[TEXT]")
    ] = None,
    store: StoreOption = None,
    key: KeyOption = None,
    section: SectionOption = None,
    wait: WaitOption = 0.0,
    json: JsonOption = False,
) -> None:
    """Change a lesson's words, key or section; its edges stay.

    Example: memcli node edit n00001 --key "units and conversion"
    """
    from memcli.cli._input import text_or_stdin
    from memcli.strategy.proposals import Update

    content = text_or_stdin(text) if text is not None else None
    proposal = Update(id=node_id, content=content, key=key, section=_known(section))
    _apply(_opened(store), proposal, wait, json)


def remove(
    node_id: Annotated[str, typer.Argument(help="The lesson.", metavar="ID")],
    store: StoreOption = None,
    yes: YesOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    wait: WaitOption = 0.0,
    json: JsonOption = False,
) -> None:
    """Remove a lesson and its edges; the log keeps that they were there.

    Example: memcli node remove n00001 --dry-run
    """
    from memcli.cli.care import confirm
    from memcli.strategy.proposals import Remove

    if not dry_run:
        confirm(f"Remove {node_id} and its edges?", yes=yes)
    _apply(_opened(store), Remove(id=node_id), wait, json, dry_run=dry_run)


def feedback(
    trace: Annotated[
        Path, typer.Argument(help="A trace, as `query --trace` saves it.", metavar="TRACE.json")
    ],
    verdict: Annotated[str, typer.Argument(help="helpful or harmful.", metavar="VERDICT")],
    store: StoreOption = None,
    confidence: Annotated[
        float, typer.Option("--confidence", help="How sure, from 0 to 1.", metavar="C")
    ] = 1.0,
    influence: Annotated[
        str | None,
        typer.Option(
            "--influence", help="Lessons used, in order, where the trace names none.", metavar="IDS"
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take an earlier label of it back first.")
    ] = False,
    wait: WaitOption = 0.0,
    json: JsonOption = False,
) -> None:
    """Say that the lessons of a trace helped or harmed; moves the edges between them.

    Example: memcli feedback trace.json helpful --influence n00001,n00002
    """
    from dataclasses import asdict

    from memcli.app.lessons import give_feedback, read_trace_file
    from memcli.app.wiring import now
    from memcli.records.strategy_codec import edge_to_dict

    used = None if influence is None else [each.strip() for each in influence.split(",")]
    saved = read_trace_file(trace, used)
    given = give_feedback(
        _opened(store),
        saved,
        _verdict(verdict),
        confidence=confidence,
        replace=replace,
        now=now(),
        wait_s=wait,
    )
    if json:
        edges = [edge_to_dict(edge) for edge in given.edges]
        json_document({**asdict(given), "edges": edges})
        return
    for edge in given.edges:
        line(inert(f"{edge.source} → {edge.target}: S {edge.s:g}, F {edge.f:g}"))
    for source, target in given.without_edge:
        note(inert(f"{source} → {target} has no edge and moves nothing"))


def _verdict(text: str) -> Verdict:
    from memcli.errors import UsageError

    match text:
        case "helpful" | "harmful":
            return text
        case _:
            raise UsageError(f"{text!r} is no verdict", hint="helpful or harmful")


def _known(section: str | None) -> str | None:
    from memcli.errors import UsageError
    from memcli.records.strategy import SECTIONS

    if section is not None and section not in SECTIONS:
        raise UsageError(f"no section is called {section!r}", hint=f"one of {', '.join(SECTIONS)}")
    return section


def _opened(store: Path | None) -> Store:
    from memcli.app.stores import open_store
    from memcli.app.wiring import load_config, store_path

    return open_store(store_path(load_config(), store))


def _apply(
    store: Store, proposal: Proposal, wait: float, json: bool, *, dry_run: bool = False
) -> None:
    from memcli.app.lessons import apply_by_hand
    from memcli.app.wiring import now

    node, change = apply_by_hand(store, proposal, now=now(), wait_s=wait, dry_run=dry_run)
    _show(node, change, json, dry_run)


def _show(node: StrategyNode, change: Change, json: bool, dry_run: bool) -> None:
    from memcli.records.strategy_codec import edge_to_dict, node_to_dict

    if json:
        edges = [edge_to_dict(edge) for edge in change.edges]
        json_document({"node": node_to_dict(node), "edges": edges, "dry_run": dry_run})
        return
    would = "would be " if dry_run else ""
    done = f", {would}removed" if node.status == "removed" else ""
    line(inert(f"{node.id} {node.key} [{node.section}] revision {node.revision}{done}"))
    for edge in change.edges:
        gone = f" {would}removed" if edge.status == "removed" else ""
        line(inert(f"  {edge.source} → {edge.target}{gone}"))
