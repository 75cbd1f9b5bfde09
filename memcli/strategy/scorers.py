"""How a prediction is scored against the expected answer; nothing of a model is evaluated.

A scorer takes (prediction, expected) and returns a `Score`. The user's own is a Python
function named ``module:function`` that returns True or False, or (right, total).
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

_NUMBER = re.compile(
    r"""(?P<open>\()?\s*
        (?P<sign>[-+]?)\s*[$€£¥₹]?\s*(?P<late_sign>[-+]?)\s*
        (?P<digits>(?:\d{1,3}(?:,\d{2,3})+|\d+)(?:\.\d*)?|\.\d+)
        (?P<exponent>[eE][-+]?\d{1,3})?
        \s*[$€£¥₹%]?\s*(?P<close>\))?\.?""",
    re.VERBOSE,
)
_MINUS: Final = str.maketrans({"−": "-", "–": "-", "﹣": "-", "－": "-"})


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
    """Score 1 for the same number, as floats are equal (ACE scores Formula so).

    Thousands separators, one currency sign and a percent sign are dropped on both sides
    (``5%`` is 5), a number in parentheses is negative. Text around the number makes it none.
    """
    said, wanted = number(prediction), number(expected)
    if said is None or wanted is None:
        return _one(False)
    return _one(said == wanted or abs(said - wanted) <= tolerance)


def number(text: str) -> float | None:
    """Return the finite number that a text is, or None: nothing is evaluated."""
    plain = unicodedata.normalize("NFKC", text).translate(_MINUS).strip().strip("'\"`")
    match = _NUMBER.fullmatch(plain.strip())
    if match is None or (match["open"] is None) != (match["close"] is None):
        return None
    signs = match["sign"] + match["late_sign"]
    if len(signs) > 1 or (signs and match["open"]):
        return None
    value = float(match["digits"].replace(",", "") + (match["exponent"] or ""))
    is_negative = signs == "-" or match["open"] is not None
    return (-value if is_negative else value) if math.isfinite(value) else None


def tags(prediction: str, expected: str) -> Score:
    """Score an ordered list parted by commas, tag by tag; case and quotes aside (as FiNER).

    Missing tags are wrong; tags beyond the expected ones make the last one wrong, so that a
    longer list is never all right.
    """
    said, wanted = _tags(prediction), _tags(expected)
    right = sum(a == b for a, b in zip(said, wanted, strict=False))
    if len(said) > len(wanted):
        right = min(right, len(wanted) - 1)
    return Score(right, len(wanted))


def contains(prediction: str, expected: str) -> Score:
    """Score 1 where the expected words stand in the prediction, as whole words, case aside."""
    wanted = re.escape(_plain(expected).casefold())
    return _one(re.search(rf"(?<!\w){wanted}(?!\w)", _plain(prediction).casefold()) is not None)


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
        return _read(found(prediction, expected), name)

    return score


def _read(result: object, name: str) -> Score:
    match result:
        case bool():
            return _one(result)
        case (int(right), int(total)) if 0 <= right <= total and total > 0:
            return Score(right, total)
        case _:
            raise MemcliError(
                f"the scorer {name} returned {result!r}",
                hint="it must return True, False or (right, total)",
            )
