"""Options that commands share, each spelled once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", "-s", help="Store directory.", metavar="DIR", show_default=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
JsonlOption = Annotated[bool, typer.Option("--jsonl", help="One JSON record a line.")]
TzOption = Annotated[
    str | None,
    typer.Option(
        "--tz", help="Zone of times without one and of days, e.g. Europe/Berlin.", metavar="ZONE"
    ),
]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of", help="Answer as of this time, e.g. 2024-05-31; default now.", metavar="TIME"
    ),
]
AtOption = Annotated[
    str | None,
    typer.Option(
        "--at",
        help="The state of this checkpoint (`memcli inspect checkpoints`), or best.",
        metavar="NAME",
    ),
]
WaitOption = Annotated[
    float, typer.Option("--wait", help="Seconds to wait for another writer.", metavar="SECONDS")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
ConversationOption = Annotated[
    str | None, typer.Option("--conversation", help="Only this conversation.", metavar="ID")
]
SessionOption = Annotated[
    str | None, typer.Option("--session", help="Only this session.", metavar="ID")
]
SpeakerOption = Annotated[
    str | None, typer.Option("--speaker", help="Only what this speaker said.", metavar="NAME")
]
SinceOption = Annotated[
    str | None, typer.Option("--since", help="Only from then on, e.g. 2024-05-01.", metavar="TIME")
]
UntilOption = Annotated[
    str | None,
    typer.Option("--until", help="Only up to then; a date covers its whole day.", metavar="TIME"),
]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        "--budget",
        help="At most so many tokens of evidence (50 or more), or none.",
        metavar="TOKENS",
    ),
]
