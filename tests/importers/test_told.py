"""Messages told again, whatever the order of their ids."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.importers.told import Told

IDS = st.integers(0, 30).map(str) | st.sampled_from(
    ["1709540000.000200", "1709540000.000300", "x", "007", "9" * 30, "-4", "1.5"]
)


@given(st.lists(st.tuples(IDS, st.sampled_from(["a", "b"]))))
def test_it_agrees_with_a_plain_dictionary(messages):
    told, plain = Told(), dict[str, str]()
    for native_id, text in messages:
        known = plain.setdefault(native_id, text) if native_id in plain else None
        plain.setdefault(native_id, text)
        wanted = "new" if known is None else "again" if known == text else "other"
        assert told.note(native_id, text) == wanted
