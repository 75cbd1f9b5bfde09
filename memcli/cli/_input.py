"""Reading standard input only when that is meant."""

from __future__ import annotations

import os
import stat
import sys

from memcli.errors import UsageError


def text_or_stdin(argument: str | None) -> str:
    """Return the argument, or standard input for ``-`` and for none at all.

    Without an argument stdin is read only when it is a real pipe or file, so a script without
    input never hangs.

    Raises:
        UsageError: If there is neither an argument nor input, or the input is not UTF-8.
    """
    if argument is not None and argument != "-":
        return argument
    if argument == "-" or _is_pipe_or_file():
        return _decoded(sys.stdin.buffer.read()).rstrip("\n")
    raise UsageError("no text given", hint="give it as an argument, or pipe it in")


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"standard input is not UTF-8 (byte {error.start})", hint="convert it, e.g. with iconv"
        ) from error


def _is_pipe_or_file() -> bool:
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)
