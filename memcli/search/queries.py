"""What is asked of tantivy: any of the terms, a conversation's places, a scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from memcli.records.indexed import Scope
from memcli.search.document import (
    CONVERSATION,
    SEQ,
    SESSION_NAME,
    SPEAKER,
    TERMS,
    TIME,
    exact_key,
)

if TYPE_CHECKING:
    import tantivy

_LAST = 1 << 62
"""Beyond every place and every second."""


def everything() -> tantivy.Query:
    """Return a query for all turns."""
    import tantivy

    return tantivy.Query.all_query()


def any_term(schema: tantivy.Schema, weights: Mapping[str, float]) -> tantivy.Query:
    """Return a query for turns with any of the terms, each with its weight."""
    import tantivy

    make = tantivy.Query
    return make.boolean_query(
        [
            (
                tantivy.Occur.Should,
                make.boost_query(make.term_query(schema, TERMS, term, "freq"), weight),
            )
            for term, weight in weights.items()
        ]
    )


def at_places(schema: tantivy.Schema, conversation: str, since: int | None) -> tantivy.Query:
    """Return a query for a conversation's turns, from a place on if given; all score alike."""
    import tantivy

    must, make = tantivy.Occur.Must, tantivy.Query
    wanted = [(must, make.term_query(schema, CONVERSATION, exact_key(conversation), "basic"))]
    if since is not None:
        kind = tantivy.FieldType.Integer
        wanted.append((must, make.range_query(schema, SEQ, kind, since, _LAST)))
    return make.const_score_query(make.boolean_query(wanted), 1.0)


def scoped(schema: tantivy.Schema, query: tantivy.Query, scope: Scope | None) -> tantivy.Query:
    """Return the query restricted to a scope, its scores unchanged."""
    import tantivy

    conditions = _conditions(schema, scope) if scope is not None else []
    if not conditions:
        return query
    must = tantivy.Occur.Must
    free = [(must, tantivy.Query.const_score_query(one, 0.0)) for one in conditions]
    return tantivy.Query.boolean_query([(must, query), *free])


def _conditions(schema: tantivy.Schema, scope: Scope) -> list[tantivy.Query]:
    import tantivy

    keys = {
        CONVERSATION: scope.conversation and exact_key(scope.conversation),
        SESSION_NAME: scope.session and exact_key(scope.session),
        SPEAKER: scope.speaker and exact_key(scope.speaker.casefold()),
    }
    found = [tantivy.Query.term_query(schema, f, v, "basic") for f, v in keys.items() if v]
    if scope.since is not None or scope.until is not None:
        kind = tantivy.FieldType.Integer
        lower = scope.since if scope.since is not None else -_LAST
        upper = scope.until if scope.until is not None else _LAST
        found.append(tantivy.Query.range_query(schema, TIME, kind, lower, upper))
    return found


def narrowed(scope: Scope, since: int | None, until: int | None) -> Scope:
    """Return the scope further limited to a span."""
    lows = [s for s in (scope.since, since) if s is not None]
    highs = [u for u in (scope.until, until) if u is not None]
    return replace(scope, since=max(lows, default=None), until=min(highs, default=None))
