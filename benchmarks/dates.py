"""How many date expressions are read exactly, how many plain texts are mistaken, how fast.

Run: ``python benchmarks/dates.py [RESULT.json]``. The reference is Wednesday 2023-06-14 10:00 UTC.
The lists are our own; an expected window is written by hand from the table of
``memcli.evidence.dates``. "Inside" puts the expression into a question.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

from memcli.evidence.dates import DateReading, read_dates

REFERENCE = datetime(2023, 6, 14, 10, tzinfo=UTC)
QUESTION = "What did Mara tell Odo about the sailing boat {}?"

Expected = tuple[str, str]
"""First and last day, "" when open; ("", "") stands for no window."""

THIRTY: dict[str, Expected] = {
    "yesterday": ("2023-06-13", "2023-06-13"),
    "last Friday": ("2023-06-09", "2023-06-09"),
    "last week": ("2023-06-05", "2023-06-11"),
    "last month": ("2023-05-01", "2023-05-31"),
    "two weeks ago": ("2023-05-31", "2023-05-31"),
    "3 days ago": ("2023-06-11", "2023-06-11"),
    "last year": ("2022-01-01", "2022-12-31"),
    "in May 2023": ("2023-05-01", "2023-05-31"),
    "May 8th": ("2023-05-08", "2023-05-08"),
    "1:56 pm on 8 May, 2023": ("2023-05-08", "2023-05-08"),
    "2023/05/20 (Sat) 02:21": ("2023-05-20", "2023-05-20"),
    "from March to June": ("2023-03-01", "2023-06-30"),
    "between 1 May and 15 May 2023": ("2023-05-01", "2023-05-15"),
    "since April": ("2023-04-01", "2023-06-14"),
    "before June 2023": ("", "2023-05-31"),
    "after 10 June 2023": ("2023-06-11", ""),
    "last Tuesday": ("2023-06-13", "2023-06-13"),
    "on Friday": ("2023-06-09", "2023-06-09"),
    "the day before yesterday": ("2023-06-12", "2023-06-12"),
    "two weeks before my birthday": ("", ""),
    "last summer": ("2022-06-01", "2022-08-31"),
    "in the first week of May": ("2023-05-01", "2023-05-07"),
    "last weekend": ("2023-06-10", "2023-06-11"),
    "in 2022": ("2022-01-01", "2022-12-31"),
    "in Q1 2023": ("2023-01-01", "2023-03-31"),
    "a couple of months ago": ("2023-04-01", "2023-04-30"),
    "earlier today": ("2023-06-14", "2023-06-14"),
    "at 3pm yesterday": ("2023-06-13", "2023-06-13"),
    "over the past 10 days": ("2023-06-04", "2023-06-14"),
    "at Christmas": ("2022-12-25", "2022-12-25"),
}
"""The thirty expressions that public date libraries were compared on."""

MORE: dict[str, Expected] = {
    "in May": ("2023-05-01", "2023-05-31"),
    "in may": ("2023-05-01", "2023-05-31"),
    "in march": ("2023-03-01", "2023-03-31"),
    "in June": ("2023-06-01", "2023-06-30"),
    "in October": ("2022-10-01", "2022-10-31"),
    "in May last year": ("2022-05-01", "2022-05-31"),
    "last May": ("2023-05-01", "2023-05-31"),
    "last June": ("2022-06-01", "2022-06-30"),
    "on 8 May 2023": ("2023-05-08", "2023-05-08"),
    "on the 8th of May": ("2023-05-08", "2023-05-08"),
    "on the second of January": ("2023-01-02", "2023-01-02"),
    "in the fall of '22": ("2022-09-01", "2022-11-30"),
    "from the 8th to the 12th of May": ("2023-05-08", "2023-05-12"),
    "from May 2023 onwards": ("2023-05-01", ""),
    "2 yrs ago": ("2021-01-01", "2021-12-31"),
    "by March": ("", "2023-03-31"),
    "on May 8, 2021": ("2021-05-08", "2021-05-08"),
    "on May 8,2021": ("2021-05-08", "2021-05-08"),
    "on Dec 24": ("2022-12-24", "2022-12-24"),
    "on 29 February": ("2020-02-29", "2020-02-29"),
    "on 2023-05-08": ("2023-05-08", "2023-05-08"),
    "on 20.05.2023": ("2023-05-20", "2023-05-20"),
    "on 5/20/2023": ("2023-05-20", "2023-05-20"),
    "on Saturday, May 20": ("2023-05-20", "2023-05-20"),
    "on the 8th": ("2023-06-08", "2023-06-08"),
    "between 1 and 15 May 2023": ("2023-05-01", "2023-05-15"),
    "from May 1-15": ("2023-05-01", "2023-05-15"),
    "from 28 April to 3 May": ("2023-04-28", "2023-05-03"),
    "between December and February": ("2022-12-01", "2023-02-28"),
    "between 2019 and 2021": ("2019-01-01", "2021-12-31"),
    "from Monday to Wednesday": ("2023-06-05", "2023-06-07"),
    "since last week": ("2023-06-05", "2023-06-14"),
    "since 2021": ("2021-01-01", "2023-06-14"),
    "before last week": ("", "2023-06-04"),
    "until May 10": ("", "2023-05-10"),
    "by the end of May": ("", "2023-05-31"),
    "after Christmas": ("2022-12-26", ""),
    "the week before last": ("2023-05-29", "2023-06-04"),
    "the week before Christmas": ("2022-12-18", "2022-12-24"),
    "two days after Christmas": ("2022-12-27", "2022-12-27"),
    "the week of May 8": ("2023-05-08", "2023-05-14"),
    "this morning": ("2023-06-14", "2023-06-14"),
    "tonight": ("2023-06-14", "2023-06-14"),
    "last night": ("2023-06-13", "2023-06-13"),
    "Friday evening": ("2023-06-09", "2023-06-09"),
    "on Friday last week": ("2023-06-09", "2023-06-09"),
    "this week": ("2023-06-12", "2023-06-18"),
    "this Friday": ("2023-06-16", "2023-06-16"),
    "next Friday": ("2023-06-23", "2023-06-23"),
    "next month": ("2023-07-01", "2023-07-31"),
    "in the past year": ("2022-06-14", "2023-06-14"),
    "during the last three weeks": ("2023-05-24", "2023-06-14"),
    "over the last few months": ("2023-01-14", "2023-06-14"),
    "six months ago": ("2022-12-01", "2022-12-31"),
    "a year ago": ("2022-01-01", "2022-12-31"),
    "an hour ago": ("2023-06-14", "2023-06-14"),
    "in the summer of 2022": ("2022-06-01", "2022-08-31"),
    "over the winter": ("2022-12-01", "2023-02-28"),
    "in early May": ("2023-05-01", "2023-05-10"),
    "in mid-2022": ("2022-05-01", "2022-08-31"),
    "at the end of 2022": ("2022-09-01", "2022-12-31"),
    "in the first half of 2022": ("2022-01-01", "2022-06-30"),
    "on the last Friday of May": ("2023-05-26", "2023-05-26"),
    "in the third quarter of 2022": ("2022-07-01", "2022-09-30"),
    "on New Year's Eve": ("2022-12-31", "2022-12-31"),
    "on Halloween 2021": ("2021-10-31", "2021-10-31"),
    "at Easter": ("2023-04-09", "2023-04-09"),
    "in the 90s": ("1990-01-01", "1999-12-31"),
    "in the 2010s": ("2010-01-01", "2019-12-31"),
    "am 8. März 2023": ("2023-03-08", "2023-03-08"),
    "el 3 de mayo de 2023": ("2023-05-03", "2023-05-03"),
    "2023年5月8日": ("2023-05-08", "2023-05-08"),
}
"""More of the same kinds, with and without years, open and closed, three other languages."""

DATE_FREE: tuple[str, ...] = (
    "May I borrow the book that Odo may have read?",
    "Did the soldiers march all the way to the sun?",
    "What did April say to June about the garden?",
    "Where does May's dog sleep?",
    "Is Jan the second of three sisters?",
    "Which summer job did Mara like?",
    "Does it happen every now and then?",
    "Which Ubuntu is it, 20.04 or version 1.2.3?",
    "Is the shop open 24/7 or 9-5?",
    "What is Odo's number, 555-2022-1234?",
    "Who won 3/4 of the votes with a 16:9 screen?",
    "Did they sell 1990 widgets for $2022?",
    "What is the last thing Mara said?",
    "Who came first, and who was second?",
    "How many days does the trip take?",
    "Who arrived last in the March madness?",
    "This may be wrong, but who called?",
    "THIS MAY BE WRONG, WHO SAT IN THE SUN?",
    "Is there a spring in the mattress, or a fall in prices?",
    "What colour is the sun?",
    "Does the train leave at 3pm or 15:30?",
    "How long ago did people first sail?",
    "Which day is best for yoga?",
    "Did Odo walk 2000 steps in 20 minutes?",
    "Who sings Ruby Tuesday?",
    "Is Wednesday Addams her favourite?",
    "Does she work at Sun Microsystems?",
    "What is in the Christmas box next to the door?",
    "How does Odo like his Christmas tree?",
    "Which error is ERR_2023_05 in app-2022.log?",
    "Who is in her 20s and likes jazz?",
    "Did August Meyer write to Summer Lee?",
    "What happened the day after?",
    "Does Mara run on Fridays?",
    "What does Mara do every Friday?",
    "What happens at the end of the day?",
    "What did Mara do after that?",
    "Who is next in the line?",
    "Is room 2022 at 1800 Main Street?",
    "Who reads USA Today at the station?",
    "What is 10.0.0.1 and what listens on port 2049?",
    "Did April, May and June visit Augusta?",
    "What did Mara see in the next room?",
    "Is the fourth floor above the third?",
    "Did you hear from May?",
    "Was the letter written by April?",
    "In may cases, who works on Sun hardware?",
    "Is it ten days of rain, or day by day from one to two?",
    "Did Dec sit in Jan's chair in the second half?",
    "Is the score between 5 and 10, or 2-1 until then?",
    "What did Mara say about Christmas?",
    "What did they say about June and Dawn?",
    "How many months are in a year?",
    "Does he mean the year or the week?",
    "Is 2001 a space odyssey?",
    "Was the weather nice during the day?",
)
"""Texts without a date; each trap is a word or number that has one of a date's shapes."""

PROSE = "I really like how the new boat turned out, and the paint on its hull is holding up well."


def main() -> None:
    """Measure, print, and write the result where asked."""
    result = {
        "command": "python benchmarks/dates.py",
        "commit": _commit(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "reference": REFERENCE.isoformat(),
        "thirty": _score(THIRTY),
        "more": _score(MORE),
        "date_free": {
            "texts": len(DATE_FREE),
            "false": [text for text in DATE_FREE if _read(text).windows],
        },
        "microseconds": _speed(),
    }
    written = json.dumps(result, indent=2, ensure_ascii=False)
    print(written)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(written + "\n", encoding="utf-8")


def _read(text: str) -> DateReading:
    return read_dates(text, reference=REFERENCE, tz=UTC)


def is_exact(text: str, expected: Expected) -> bool:
    """Say whether a text gives the one expected window, or none where none is expected."""
    start, end = (date.fromisoformat(day) if day else None for day in expected)
    wanted = [] if start is end is None else [(start, end)]
    return [(window.start, window.end) for window in _read(text).windows] == wanted


def _score(expressions: dict[str, Expected]) -> dict[str, object]:
    inside = {text: QUESTION.format(text) for text in expressions}
    return {
        "expressions": len(expressions),
        "exact_alone": sum(is_exact(text, want) for text, want in expressions.items()),
        "exact_inside": sum(is_exact(inside[text], want) for text, want in expressions.items()),
        "missed_inside": [
            text for text, want in expressions.items() if not is_exact(inside[text], want)
        ],
    }


def _speed() -> dict[str, float]:
    questions = [QUESTION.format(text) for text in THIRTY]
    return {
        "question_with_date_mean": _per_call(lambda: [_read(text) for text in questions], 30),
        "date_free_question_mean": _per_call(
            lambda: [_read(text) for text in DATE_FREE], len(DATE_FREE)
        ),
        "plain_turn_of_88_characters": _per_call(lambda: _read(PROSE), 1),
    }


def _per_call(work: Callable[[], object], calls: int) -> float:
    """Return the best of seven timings, in microseconds a call."""
    rounds = max(1, 2000 // calls)
    best = float("inf")
    for _ in range(7):
        began = time.perf_counter()
        for _ in range(rounds):
            work()
        best = min(best, time.perf_counter() - began)
    return round(best / rounds / calls * 1e6, 2)


def _commit() -> str:
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
