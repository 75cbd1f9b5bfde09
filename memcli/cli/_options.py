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
    typer.Option("--tz", help="Zone of times that state none, and of days.", metavar="ZONE"),
]
AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", help="Reference time of the question; now if absent.", metavar="TIME"),
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
    str | None, typer.Option("--since", help="Only from this day or time on.", metavar="TIME")
]
UntilOption = Annotated[
    str | None,
    typer.Option("--until", help="Only up to this day (all of it) or time.", metavar="TIME"),
]
BudgetOption = Annotated[
    str | None,
    typer.Option("--budget", help="Most tokens of the pack, or none.", metavar="TOKENS"),
]
