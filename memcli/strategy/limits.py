"""The bounds of one retrieval (Algorithm 1 and Appendix B of the paper)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hard limits: what is retrieved stays constant while the memory grows.

    Attributes:
        max_sections: Sections that a retriever may name.
        max_entries: Valid entry ids that it may name.
        max_nodes: Loaded nodes.
        memory_tokens: Tokens of the serialised list of loaded nodes.
        max_hops: A node at this depth is loaded but not expanded.
        fan_out: Out-edges of a node that are considered, by posterior weight.
    """

    max_sections: int = 2
    max_entries: int = 6
    max_nodes: int = 12
    memory_tokens: int = 2_500
    max_hops: int = 2
    fan_out: int = 2
