"""How a prediction is scored against the expected answer; nothing of a model is evaluated.

A scorer takes (prediction, expected) and returns a `Score`. The user's own is a Python
function named ``module:function`` that returns True or False (1.0 or 0.0 will do), or
(right, total).
"""

from __future__ import annotations

import importlib
import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from memcli.errors import MemcliError, UsageError


@dataclass(frozen=True, slots=True)
class Score:
    """How many parts of an answer are right; plain questions have one part."""

    right: int
    total: int

    @property
    def is_right(self) -> bool:
        """Whether all of it is."""
        return self.right == self.total


Scorer = Callable[[str, str], Score]

# What it reads has no two blanks in a row, so no blank here is repeated: matching is linear.
_NUMBER = re.compile(
    r"""(?P<sign>[-+]?)[ ]?\$?[ ]?
        (?P<open>\()?[ ]?(?P<inner_sign>[-+]?)[ ]?\$?[ ]?(?P<late_sign>[-+]?)[ ]?
        (?P<digits>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)
        [ ]?[$%]?[ ]?(?P<close>\))?[ ]?[$%]?\.?""",
    re.VERBOSE,
)
_MINUS: Final = str.maketrans({"−": "-", "–": "-"})


def scorer(name: str, *, tolerance: float = 0.0) -> Scorer:
    """Return a scorer by its name.

    Args:
        name: ``exact``, ``numeric``, ``tags``, ``contains`` or ``module:function``.
        tolerance: How far ``numeric`` may be off, in units of the answer.

    Raises:
        UsageError: If there is none of that name, or the tolerance is not a number ≥ 0.
    """
    if not math.isfinite(tolerance) or tolerance < 0:
        raise UsageError(f"--tolerance {tolerance} is not a number of at least 0")
    if tolerance and name != "numeric":
        raise UsageError("--tolerance is for the scorer numeric", hint="--scorer numeric")
    named: dict[str, Scorer] = {
        "exact": exact,
        "numeric": partial(numeric, tolerance=tolerance),
        "tags": tags,
        "contains": contains,
    }
    if name in named:
        return named[name]
    if ":" in name:
        return _own(name)
    raise UsageError(
        f"no scorer is called {name!r}", hint=f"one of {', '.join(named)}, or module:function"
    )


def exact(prediction: str, expected: str) -> Score:
    """Score 1 for the same text; white space around and inside, and Unicode forms, aside."""
    return _one(_plain(prediction) == _plain(expected))


def numeric(prediction: str, expected: str, *, tolerance: float = 0.0) -> Score:
    """Score 1 for the same number: floats are equal once commas are gone (ACE on Formula).

    What ACE reads as a finite number, `number` reads as the same one; it reads some more.
    Where a number is expected, all else is wrong; NaN and infinity equal nothing. Where
    anything but a number is expected, the same text is right, as in ACE.
    """
    said, wanted = number(prediction), number(expected)
    if wanted is None:
        return _one(not _is_endless(expected) and _plain(prediction) == _plain(expected))
    if said is None:
        return _one(False)
    return _one(said == wanted or abs(said - wanted) <= tolerance)


def number(text: str) -> float | None:
    """Return the finite number that a text is, or None: nothing is evaluated.

    Dropped: commas wherever they stand, a currency sign before or after, a percent sign (so
    ``5%`` is 5), quotes around, one full stop at the end. Parentheses make it negative, as in
    ``$(1,234)``. Any other text around it makes it none; so do fractions and powers (``10²``).
    """
    match = _NUMBER.fullmatch(_figures(text))
    if match is None or (match["open"] is None) != (match["close"] is None):
        return None
    signs = match["sign"] + match["inner_sign"] + match["late_sign"]
    if len(signs) > 1 or (signs and match["open"]):
        return None
    value = float(match["digits"])
    is_negative = signs == "-" or match["open"] is not None
    return (-value if is_negative else value) if math.isfinite(value) else None


def _figures(text: str) -> str:
    """Return the text in plain signs, without commas, outer quotes and repeated blanks.

    Empty where a sign only looks like a digit once it is made plain.
    """
    if any(unicodedata.category(char) == "No" for char in text):
        return ""
    plain = unicodedata.normalize("NFKC", text).translate(_MINUS).replace(",", "")
    signs = ("$" if unicodedata.category(char) == "Sc" else char for char in plain)
    return " ".join("".join(signs).strip().strip("'\"`").split())


def _is_endless(text: str) -> bool:
    """Return True for NaN, the infinities and what is too large for a float."""
    try:
        return not math.isfinite(float(text.replace(",", "")))
    except ValueError:
        return False


def tags(prediction: str, expected: str) -> Score:
    """Score an ordered list parted by commas, tag by tag; case and quotes aside (ACE on FiNER).

    Missing tags are wrong. A departure: tags beyond the expected ones make the last one wrong,
    so that a longer list is never all right; ACE cuts them off unseen.
    """
    said, wanted = _tags(prediction), _tags(expected)
    right = sum(a == b for a, b in zip(said, wanted, strict=False))
    if len(said) > len(wanted):
        right = min(right, len(wanted) - 1)
    return Score(right, len(wanted))


def contains(prediction: str, expected: str) -> Score:
    """Score 1 where the expected words stand in the prediction, as whole words, case aside.

    Nor is an expected ``5`` found inside ``5.25``, ``1,500`` or ``-5``.
    """
    wanted = _plain(expected).casefold()
    said = _plain(prediction).translate(_MINUS).casefold()
    before = r"(?<!\w)(?<!\d[.,])(?<!\s[-.])(?<!^[-.])" if wanted[:1].isdigit() else r"(?<!\w)"
    after = r"(?!\w)(?![.,]\d)" if wanted[-1:].isdigit() else r"(?!\w)"
    found = re.search(f"{before}{re.escape(wanted.translate(_MINUS))}{after}", said)
    return _one(found is not None)


def _one(is_right: bool) -> Score:
    return Score(int(is_right), 1)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _tags(text: str) -> list[str]:
    return [
        tag.strip().strip("'\"`[]").strip().casefold() for tag in text.strip("[] \n").split(",")
    ]


def _own(name: str) -> Scorer:
    """Return the user's own scorer."""
    module, _, function = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"no scorer {name!r}: {error}", hint="as in my_scorers:close") from error
    if not callable(found):
        raise UsageError(f"{name!r} is not a function")

    def score(prediction: str, expected: str) -> Score:
        try:
            result = found(prediction, expected)
        except Exception as error:  # the user's code may raise anything
            raise MemcliError(
                f"the scorer {name} failed: {type(error).__name__}: {error}",
                hint="it must take any text as a prediction",
            ) from error
        return _read(result, name)

    return score


def _read(result: object, name: str) -> Score:
    match result:
        case bool() | 0 | 1:
            return _one(bool(result))
        case (int(right), int(total)) if 0 <= right <= total and total > 0:
            return Score(right, total)
        case _:
            raise MemcliError(
                f"the scorer {name} returned {result!r}",
                hint="it must return True, False or (right, total)",
            )
