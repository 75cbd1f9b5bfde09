"""The one-minute tour: real commands on a bundled conversation, each shown before it runs."""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

from memcli.cli._output import line

TRANSCRIPT = "transcripts/harbour.txt"
AS_OF = "2024-10-01"
STEPS: tuple[tuple[str, list[str]], ...] = (
    ("Store a transcript, verbatim. A second time adds nothing.", ["ingest", "{transcript}"]),
    ("What is in it?", ["inspect", "sessions"]),
    (
        "The evidence for a question, within a token budget.",
        ["export", "When did Mara move the workshop?", "--as-of", AS_OF, "--budget", "300"],
    ),
    (
        "An answer. Without a model it quotes the best evidence.",
        ["ask", "What is Odo's boat called?", "--as-of", AS_OF, "--reader", "extractive"],
    ),
    (
        "Something nobody ever said: it abstains.",
        ["ask", "Which novel won the literature prize?", "--reader", "extractive"],
    ),
)


def run(keep: Path | None) -> None:
    """Run the steps in a store that is removed afterwards, or kept in ``keep``."""
    from memcli.app.samples import sample

    transcript = sample(TRANSCRIPT)
    with tempfile.TemporaryDirectory(prefix="memcli-demo-") as folder:
        store = keep if keep is not None else Path(folder) / "store"
        for words, template in STEPS:
            arguments = [part.replace("{transcript}", str(transcript)) for part in template]
            line(f"\n# {words}")
            shown = [part.replace("{transcript}", transcript.name) for part in template]
            line(f"$ memcli {shlex.join(shown)}")
            sys.stdout.flush()
            _command([*arguments, "--store", str(store)])
    if keep is not None:
        line(f"\nThe store is in {keep}: try `memcli ask -s {shlex.quote(str(keep))} QUESTION`.")


def _command(arguments: list[str]) -> None:
    from memcli.cli import app

    app(arguments, standalone_mode=False)
    sys.stdout.flush()
    sys.stderr.flush()
