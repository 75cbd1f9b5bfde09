"""The commands: parse, call one use case, print.

Owns arguments, output and exit codes. A command imports what it runs inside its function, so
that ``memcli --help`` and a query load nothing they do not use.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

import typer

from memcli.cli import ask, care, ingest, inspect, lessons, query, setup, show, train, write
from memcli.cli._output import ReaderGoneError
from memcli.errors import MemcliError, UsageError

INTERRUPTED = 130

app = typer.Typer(
    name="memcli",
    help="A memory in plain files: transcripts in, cited answers out.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit codes: 0 done, 1 failure, 2 usage, 3 nothing found (--exit-status), 4 store missing "
        "or damaged, 5 store locked, 6 some records rejected, 7 model unavailable, 130 interrupted."
    ),
)

for module in (ingest, write, ask, query, train, lessons, inspect, show, care, setup):
    module.register(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        from memcli import __version__

        typer.echo(f"memcli {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    store: Annotated[
        str | None, typer.Option("--store", "-s", help="Store directory.", metavar="DIR")
    ] = None,
    _debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks; allowed anywhere.")
    ] = False,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    """Options that come before the command."""
    if store is not None:
        os.environ["MEMCLI_STORE"] = store


def main() -> None:
    """Run the command line; ends the process with the promised exit code."""
    _use_utf8()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a stop is a stop, asked either way
    debug = _take_debug(sys.argv)
    try:
        _refuse_empty_store(sys.argv)
        status = _run()
    except MemcliError as error:
        if debug:
            raise
        _complain(error.message, error.hint)
        status = error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted; what was reported as stored is stored", "")
        status = INTERRUPTED
    except (ReaderGoneError, BrokenPipeError):
        _drop_output()
        status = 0
    except OSError as error:
        if debug:
            raise
        _drop_output()
        _complain(f"{error.filename or 'output'}: {error.strerror or error}", "")
        status = 1
    except Exception as error:
        if debug:
            raise
        _complain(
            f"unexpected {type(error).__name__}: {error}", "run again with --debug and report it"
        )
        status = 1
    sys.exit(status)


def _refuse_empty_store(arguments: Sequence[str]) -> None:
    """Refuse ``-s ""``, the trace of an unset variable: as a path it is the current folder."""
    follows = [after for option, after in pairwise(arguments) if option in ("-s", "--store")]
    if "" in follows or "--store=" in arguments:
        raise UsageError("--store is empty", hint="is a variable unset?")


def _drop_output() -> None:
    """Let what is still buffered go nowhere, quietly."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run() -> int:
    """Run the command, usage errors shown, and return the exit code."""
    try:
        result = app(standalone_mode=False)
        sys.stdout.flush()
    except Exception as error:
        show = getattr(error, "show", None)
        if show is None or isinstance(error, MemcliError):
            raise
        show()
        return int(getattr(error, "exit_code", 2))
    return result if isinstance(result, int) else 0


def _take_debug(arguments: list[str]) -> bool:
    """Remove ``--debug`` from the arguments, wherever it stands before ``--``."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    found = "--debug" in arguments[:end]
    arguments[:end] = [each for each in arguments[:end] if each != "--debug"]
    return found


def _use_utf8() -> None:
    """Write UTF-8 whatever the locale says; never fail on a character."""
    if sys.stdout is None:  # closed by the caller: there is nobody to print for
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - lives as long as the process
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def _complain(message: str, hint: str) -> None:
    from memcli.cli._output import inert, note

    note(inert(f"memcli: {message}" + (f"\n  {hint}" if hint else "")))
