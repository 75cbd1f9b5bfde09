"""Generator, reflector, curator: what they are shown, and what of their replies counts."""

from __future__ import annotations

import math

import pytest
from scripted import Scripted, curated, labelled, predicted, reflected

from memcli.strategy.asking import TAGS, neutral
from memcli.strategy.curator import Case, curate
from memcli.strategy.generator import Generated, generate, influence_of, transitions
from memcli.strategy.proposals import Add, Merge
from memcli.strategy.reflector import Attempt, labels_of, reflect, tags_of

LOADED = ("n00001", "n00002", "n00003")
PAIRS = (("n00001", "n00002"), ("n00002", "n00003"))


class TestGenerator:
    def test_it_sees_lessons_then_question_and_no_empty_block(self):
        ask = Scripted(generate=predicted(" 42 ", "n00001"))
        made = generate(ask, "Six times seven?", memory="[n00001] Multiply.\n", loaded=LOADED)
        assert (made.answer, made.influence) == ("42", ("n00001",))
        text = ask.prompts("generate")[0]
        assert "<memory>\n[n00001] Multiply.\n</memory>\n\n<question>\nSix times" in text
        generate(ask, "Six?", memory="", loaded=())
        assert "<memory>\n" not in ask.prompts("generate")[1]

    @pytest.mark.parametrize(
        ("named", "influence", "dropped"),
        [
            (["n00001", "ghost", "n00001"], ("n00001",), 1),
            (["n00001", "n00002", "n00001"], ("n00001", "n00002", "n00001"), 0),
            (["[n00003]", " n00003 ", 5, None], ("n00003",), 2),
            ([], (), 0),
        ],
    )
    def test_unknown_ids_go_before_repeats_collapse(self, named, influence, dropped):
        found, discarded = influence_of(named, LOADED)
        assert (found, discarded["not_loaded"]) == (influence, dropped)

    def test_transitions_are_adjacent_pairs_each_once(self):
        assert transitions(["a", "b", "a", "b", "c"]) == (("a", "b"), ("b", "a"), ("b", "c"))
        assert transitions(["a"]) == ()


class TestReflector:
    def test_it_sees_the_attempt_and_the_expected_answer(self):
        ask = Scripted(reflect=reflected(labelled(*PAIRS[0]), insight="NEW <<x>> & y"))
        found = reflect(ask, attempt(is_right=False))
        text = ask.prompts("reflect")[0]
        for part in (
            "<prediction>\n41\n</prediction>",
            "<feedback>\nThe prediction is incorrect. Expected: 42\n</feedback>",
            "<transitions>\nn00001 -> n00002\nn00002 -> n00003\n</transitions>",
        ):
            assert part in text
        assert found.text == "key_insight: NEW <<x>> & y"
        assert [(label.source, label.confidence) for label in found.labels] == [("n00001", 0.5)]

    @pytest.mark.parametrize(
        ("item", "reason"),
        [
            ("helpful", "label_bad_field"),
            (labelled("n00001", "n00003"), "label_outside_trace"),
            (labelled("n00002", "n00001"), "label_outside_trace"),
            (labelled(*PAIRS[0], label="great"), "label_unknown"),
            (labelled(*PAIRS[0], confidence=None), "confidence_missing"),
            ({"source": "n00001", "target": "n00002", "label": "helpful"}, "confidence_missing"),
            (labelled(*PAIRS[0], confidence="0.9"), "confidence_not_a_number"),
            (labelled(*PAIRS[0], confidence=math.nan), "confidence_not_a_number"),
            (labelled(*PAIRS[0], confidence=True), "confidence_not_a_number"),
            (labelled(*PAIRS[0], confidence=math.inf), "confidence_out_of_range"),
            (labelled(*PAIRS[0], confidence=-0.1), "confidence_out_of_range"),
            (labelled(*PAIRS[0], confidence=1.01), "confidence_out_of_range"),
            (labelled(*PAIRS[0], confidence=10**400), "confidence_out_of_range"),
            (labelled(*PAIRS[0], confidence=-(10**400)), "confidence_out_of_range"),
        ],
    )
    def test_a_label_that_does_not_count_is_counted_by_reason(self, item, reason):
        assert labels_of([item], PAIRS) == ([], {reason: 1})

    def test_the_first_label_of_a_pair_counts(self):
        again = labelled(*PAIRS[0], label="harmful", confidence=1)
        labels, dropped = labels_of([labelled(*PAIRS[0]), again, labelled(*PAIRS[1])], PAIRS)
        assert [(label.source, label.label) for label in labels] == [
            ("n00001", "helpful"),
            ("n00002", "helpful"),
        ]
        assert dropped == {"label_repeated": 1}

    def test_tags_are_kept_for_loaded_lessons(self):
        raw = [{"id": "n00001", "tag": "Helpful"}, {"id": "ghost", "tag": "helpful"}, "x", {}]
        assert tags_of(raw, LOADED) == ({"n00001": "helpful"}, {"tag_invalid": 3})


class TestCurator:
    def test_it_sees_the_reflection_verbatim_and_steps_without_an_edge(self):
        ask = Scripted(curate=curated({"type": "ADD", "content": "Do.", "section": "others"}))
        found = curate(ask, case())
        text = ask.prompts("curate")[0]
        assert "<reflection>\nkey_insight: NEW-LESSON <<a b>> c\n</reflection>" in text
        assert "<transitions>\nn00001 -> n00002\n</transitions>" in text
        assert 'the second "$2".' in text
        assert found.proposals == (Add(section="others", key="", content="Do.", handle="$1"),)

    def test_it_may_merge_only_where_that_was_asked_for(self):
        merge = {"type": "MERGE", "id": "n00001", "target": "n00002"}
        refused = curate(Scripted(curate=curated(merge)), case())
        assert (refused.proposals, refused.discarded) == ((), {"unknown_operation": 1})
        allowed = curate(Scripted(curate=curated(merge)), case(), may_merge=True)
        assert allowed.proposals == (Merge(id="n00001", target="n00002"),)


@pytest.mark.parametrize("tag", TAGS)
def test_no_text_can_open_or_close_a_block(tag):
    for text in (
        f"</{tag}>",
        f"< / {tag.upper()} >",
        f"<{tag}>",
        f"＜／{tag}＞",
        f"<\u200b/{tag[0]}\u00ad{tag[1:]}>",
    ):
        assert not set("<＜") & set(neutral(f"a {text}"))
    assert neutral("a < b <indexes> <div>") == "a < b <indexes> <div>"


def attempt(*, is_right):
    return Attempt(
        question="Six times seven?",
        generated=Generated(answer="41", reasoning="", influence=LOADED),
        memory="[n00001] Multiply.\n",
        loaded=LOADED,
        expected="42",
        is_right=is_right,
        transitions=PAIRS,
    )


def case():
    return Case(
        question="?",
        reflection="key_insight: NEW-LESSON <<a b>> c",
        memory="",
        transitions=PAIRS[:1],
        index="n00001 | x [others]",
    )
