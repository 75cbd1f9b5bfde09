"""Why a turn is among the evidence, in a few words for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from memcli.evidence.dates import Window
from memcli.evidence.ranking import Question, Scored
from memcli.records.pack import Channel
from memcli.search.tokens import tokens, tokens_with_spans

SHOWN_WORDS = 3
"""Matching words that are named, the weightiest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What a question's routing rests on.

    Attributes:
        question: The question.
        words: The verbatim word of the question for each of its terms.
        speakers: The speakers it names first.
        anchors: Terms whose hubs were followed, the weightiest first.
        windows: Spans of days it names.
        tz: Zone in which days are counted.
    """

    question: Question
    words: Mapping[str, str]
    speakers: frozenset[str]
    anchors: Sequence[str]
    windows: Sequence[Window]
    tz: tzinfo


def verbatim_words(text: str) -> dict[str, str]:
    """Return, for each term of a text, the verbatim words it first came from."""
    words: dict[str, str] = {}
    for token in tokens_with_spans(text):
        words.setdefault(token.text, text[token.start : token.end])
    return words


def reason(item: Scored, channel: Channel, grounds: Grounds) -> str:
    """Return one line, e.g. ``matches "sailing", "boat"; said by Mara``."""
    speaker = item.turn.speaker if item.turn.speaker in grounds.speakers else None
    name = set(tokens(speaker or ""))
    held = [t for t in grounds.question.content if t in item.held and t not in name]
    parts = []
    if channel == "cooccurrence":
        parts.append(_links(item, grounds))
    if channel == "time":
        parts.append(_day(item, grounds))
    if held:
        named = ", ".join(f'"{grounds.words[term]}"' for term in held[:SHOWN_WORDS])
        parts.append(f"matches {named}")
    elif item.score > 0 and not item.held:
        parts.append("stands near turns that match")
    if speaker:
        parts.append(f"said by {speaker}")
    return "; ".join(part for part in parts if part)


def _links(item: Scored, grounds: Grounds) -> str:
    """Return the anchors that the turn holds: as stems, for no text is at hand here."""
    words = set(item.turn.terms.split(" "))
    held = [f'"{anchor}"' for anchor in grounds.anchors if anchor in words][:SHOWN_WORDS]
    return f"shares {', '.join(held)} (stems) with the best turns"


def _day(item: Scored, grounds: Grounds) -> str:
    """Return the turn's day and the words of the question that name it."""
    if item.turn.time is None:
        return ""
    day = datetime.fromisoformat(item.turn.time).astimezone(grounds.tz).date()
    named = [window for window in grounds.windows if _holds(window, day)]
    if named:
        return f'on {day}, named by "{named[0].text}"'
    before = [window for window in grounds.windows if window.end is None or window.end < day]
    after = f' soon after "{before[-1].text}"' if before else f' near "{grounds.windows[0].text}"'
    return f"on {day},{after}"


def _holds(window: Window, day: date) -> bool:
    return (window.start is None or window.start <= day) and (
        window.end is None or day <= window.end
    )
