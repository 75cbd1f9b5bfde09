"""How the lines of a Claude Code log hang together: which branch is live, which was left.

A line names its parent. Two prompts under one parent are an edit, two replies a new attempt:
the later in the file is live. What is no talk may stand between a parent and the prompt
(what an editor has open, a command's wrapper): it belongs to the branch. No fork are the
blocks of one reply, which may share a parent, and results of parallel calls. Links may be
missing or go round in circles; no line is lost by that. About fifty bytes a line.
"""

from __future__ import annotations

from array import array
from typing import Any, Final

from memcli.importers.claude_words import content_of, is_failure, is_prompt, is_sidechain, kind_of
from memcli.importers.fields import object_of, text_of
from memcli.importers.table import Table

_NONE: Final = -1
_TALK, _BETWEEN, _HEAD = range(3)
_UNKNOWN, _ASKED, _LIVE, _LEFT = range(4)
_MOST_BETWEEN: Final = 64
"""Lines between a parent and a prompt that are looked through."""


class Links:
    """The lines noted so far, in file order; a line that is written again counts once."""

    def __init__(self) -> None:
        self._places = Table()
        self._parents = array("q")
        self._branches = array("q")
        self._kinds, self._states = array("b"), array("b")
        self._before = dict[int, int]()
        self._left: set[tuple[int, int]] | None = None

    def __contains__(self, uuid: str) -> bool:
        return hash(uuid) in self._places

    def note(self, record: dict[str, Any]) -> None:
        """Take in one line of the log."""
        uuid = text_of(record, "uuid")
        if uuid is None or uuid in self:
            return
        place, parent = len(self._parents), text_of(record, "parentUuid")
        self._places.put(hash(uuid), place)
        self._parents.append(_NONE if parent is None else hash(parent))
        kind = _kind(record)
        reply = text_of(object_of(record, "message"), "id")
        is_reply = record.get("type") == "assistant" and reply is not None
        self._branches.append(hash(reply) if is_reply else hash(uuid))
        self._kinds.append(kind)
        self._states.append(_UNKNOWN)
        if parent is None and (before := text_of(record, "logicalParentUuid")):
            self._before[place] = hash(before)  # compaction: the talk goes on behind it

    def is_left(self, uuid: str) -> bool:
        """Say whether a line stands on a branch that another one replaced."""
        if self._left is None:
            self._left = self._branches_left()
        place = self._places.get(hash(uuid))
        if not self._left or place is None:
            return False
        return self._state(place) == _LEFT

    def _branches_left(self) -> set[tuple[int, int]]:
        """Return (parent, branch) of every branch that a later one of its parent replaced."""
        live, left = Table(), set[tuple[int, int]]()
        for place, kind in enumerate(self._kinds):
            steps = 0
            while kind == _HEAD and (parent := self._parent(place)) != _NONE:
                branch, last = self._branches[place], live.get(parent + 1)
                if last is not None and last != branch:
                    left.add((parent, last))
                    left.discard((parent, branch))
                live.put(parent + 1, branch)
                steps += 1
                if self._kinds[parent] != _BETWEEN or steps == _MOST_BETWEEN:
                    break
                place = parent
        return left

    def _parent(self, place: int) -> int:
        """Return the parent's place, `_NONE` for a root, a missing one, or the line itself."""
        key = self._parents[place]
        parent = None if key == _NONE else self._places.get(key)
        return _NONE if parent is None or parent == place else parent

    def _state(self, place: int) -> int:
        """Return whether a line is live or left: its own branch, or one that it hangs on."""
        path = list[int]()
        while place != _NONE and self._states[place] == _UNKNOWN:
            self._states[place] = _ASKED
            path.append(place)
            parent = self._parent(place)
            if self._left and (parent, self._branches[place]) in self._left:
                self._states[place] = _LEFT
                break
            before = self._before.get(place)
            if parent == _NONE and before is not None:
                earlier = self._places.get(before)
                parent = _NONE if earlier is None else earlier
            place = parent
        end = self._states[place] if place != _NONE else _LIVE
        state = _LEFT if end == _LEFT else _LIVE
        for each in path:
            self._states[each] = state
        return state


def _kind(record: dict[str, Any]) -> int:
    """Return whether a line begins a branch, is other talk, or stands between."""
    if is_sidechain(record):
        return _TALK
    if record.get("type") == "assistant":
        has_id = text_of(object_of(record, "message"), "id") is not None
        return _BETWEEN if is_failure(record) else _HEAD if has_id else _TALK
    if is_prompt(record):
        return _HEAD
    is_answer = record.get("type") == "user" and _has_result(content_of(record))
    return _TALK if is_answer or kind_of(record) == "queued_command" else _BETWEEN


def _has_result(content: object) -> bool:
    parts = content if isinstance(content, list) else ()
    return any(isinstance(part, dict) and part.get("type") == "tool_result" for part in parts)
