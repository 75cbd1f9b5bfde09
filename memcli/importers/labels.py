"""Words that stand before a colon and are nobody's name: headings, fields, log levels."""

from __future__ import annotations

from functools import lru_cache

_LABELS_WORDS = """
    note notes ps p.s nb n.b fyi btw todo fixme warning warn info debug error fatal critical trace
    notice caution important tip hint reminder example examples e.g i.e update edit edited summary
    overview introduction intro background details description context result results conclusion
    conclusions abstract references reference source sources usage setup installation install
    requirements prerequisites step steps question answer questions answers q a task goal goals
    input output title subject date time from to cc bcc re fwd sent received reply-to author authors
    version license name names address phone email mail url link links http https ftp mailto file
    files path host status accept cookie location content-type else try finally except default case
    return public private protected agenda attendees participants present minutes action actions
    items topic topics chapter section part figure table appendix pros cons monday tuesday wednesday
    thursday friday saturday sunday today tomorrow yesterday total price quantity ingredients
    directions method features changes changelog added changed fixed fixes bug removed deprecated
    security breaking dependencies documentation performance internal improvements age year month
    day city town country state zip size color colour weight height width length type kind category
    id key value status classifier generator tag dynamic keywords maintainer platform requires
    provides metadata mime page format encoding value values option options default defaults
    pros cons status role company department salary rating score duration location place room
    venue project meeting recording recorded transcript weather mood temperature humidity keynote
    talk talks break breakfast lunch dinner session workshop panel registration doors
    opening closing budget timeline deadline
    """
_LABELS = frozenset(_LABELS_WORDS.split())
_LEVELS_WORDS = """
    info debug error fatal critical trace warn warning severe verbose
    """
_LEVELS = frozenset(_LEVELS_WORDS.split())
_MACHINES_WORDS = """
    server database db worker kernel scheduler daemon cron mainthread http httpd sshd nginx systemd
    """
_MACHINES = frozenset(_MACHINES_WORDS.split())


def _words(name: str) -> list[str]:
    bare = name.partition("(")[0].casefold().replace("-", " ")
    return [word.rstrip(".") for word in bare.split()]


@lru_cache(maxsize=4_096)
def is_label(name: str) -> bool:
    """Say whether a name is a heading word, a log level or a field name, not a person."""
    return any(word in _LABELS for word in _words(name))


@lru_cache(maxsize=4_096)
def is_log_word(name: str) -> bool:
    """Say whether a name holds a log level, an error or a service: ``app.ERROR``, ``KeyError``."""
    parts = name.casefold().replace("-", " ").replace(".", " ").replace("_", " ").split()
    return any(
        part in _LEVELS or part in _MACHINES or part.endswith(("error", "exception", "warning"))
        for part in parts
    )
