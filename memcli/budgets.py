"""The one token counter: cl100k_base, offline.

tiktoken reads the tokenizer from the copy that the litellm package carries, found without
importing litellm, so nothing is ever downloaded. Imported lazily: a query never counts, it
uses the counts stored at ingest.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from memcli.errors import MemcliError

if TYPE_CHECKING:
    import tiktoken

ENCODING = "cl100k_base"


@lru_cache(maxsize=1)
def _encoding() -> tiktoken.Encoding:
    """Return the tokenizer, loaded once from files on this machine."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        raise MemcliError(
            "the litellm package, which carries the tokenizer file, is not installed",
            hint="reinstall memcli with its dependencies",
        )
    folder = Path(spec.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        import tiktoken

        return tiktoken.get_encoding(ENCODING)
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


def count_tokens(text: str) -> int:
    """Return the number of cl100k_base tokens of ``text``; special tokens count as text."""
    return len(_encoding().encode_ordinary(text))


def count_tokens_batch(texts: Sequence[str]) -> list[int]:
    """Return `count_tokens` of each text, in order."""
    encode = _encoding().encode_ordinary
    return [len(encode(text)) for text in texts]
