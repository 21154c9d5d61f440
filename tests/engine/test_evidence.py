"""What a pair has taught, and what of it a later load begins with."""

import random

import pytest

from app.engine.auto_length import AutoLength
from app.engine.costs import Costs
from app.engine.evidence import EASE, N_APART, Evidence, EvidenceApart
from app.engine.worth import UsualWorth
from app.lessons import Counts, Lessons, sound
from tests.engine.played_answers import Machine, play, recorded

MACHINE = Machine(
    {1: 0.095, 2: 0.131, 3: 0.146, 4: 0.161, 5: 0.168, 6: 0.176, 7: 0.205, 8: 0.232, 9: 0.25}, 0.016, 0.003
)


def experienced():
    known, rng = MACHINE.evidence(), random.Random(3)
    for answer in recorded()[:4]:
        known.begin_answer()
        play(MACHINE, answer, AutoLength(known, 8, 128), rng)
    return known


def test_a_later_load_begins_where_the_earlier_one_ended():
    known, later = experienced(), MACHINE.evidence()
    lessons = known.lessons()
    later.recall(lessons)
    known.begin_answer()
    assert later.lessons().speedups == lessons.speedups
    usual = known.worth_of("draft-simple", lambda: 1.0).speedup()
    assert later.worth_of("draft-simple", lambda: 1.0).speedup() == pytest.approx(usual)
    assert usual > 1.1
    for probability in (0.1, 0.6, 0.999):
        share = known.calibration_of("draft-simple", is_greedy=True).share(probability)
        assert later.calibration_of("draft-simple", is_greedy=True).share(probability) == pytest.approx(share)


def test_an_answer_in_progress_is_in_the_lessons_once():
    known = experienced()
    before = known.lessons()
    known.begin_answer()
    assert known.lessons().speedups == before.speedups
    assert len(before.speedups["draft-simple"]) == 4


def test_a_pair_that_never_drafted_has_taught_nothing():
    assert Evidence().lessons() == Lessons()


def test_nonsense_is_not_learned():
    fresh = Evidence()
    fresh.recall(
        Lessons(
            speedups={"draft-simple": (-1.0, float("inf"), 1.2)},
            answers={"ngram:4": Counts((0, 3, 4), (0, 5, 2))},
            words={"draft-simple@greedy": Counts((1.0,), (2.0,)), "x@greedy": Counts((1.0,) * 10, (5.0,) * 10)},
        )
    )
    assert fresh.lessons().speedups == {"draft-simple": (1.2,)}
    assert fresh.lessons().answers == {"ngram:4": Counts((4,), (2,))}
    assert fresh.calibration_of("draft-simple", is_greedy=True).share(0.999) > 0.98


def test_what_drafts_are_worth_is_kept_apart_for_drawn_tokens_and_outlives_the_file():
    known, rng = MACHINE.evidence(), random.Random(3)
    for answer, is_greedy in zip(recorded()[:4], (True, False, False, True), strict=True):
        known.begin_answer()
        play(MACHINE, answer, AutoLength(known, 8, 128, is_greedy=is_greedy), rng)
    lessons = known.lessons()
    for ending in ("", "@sampled"):
        assert sum(len(lessons.speedups.get(view + ending, ())) for view in ("draft-simple", "draft-simple~")) >= 2
    assert sound(lessons) == lessons


def test_a_pair_is_new_to_drawn_tokens_however_many_greedy_answers_and_copies_it_has_seen():
    known, rng = MACHINE.evidence(), random.Random(3)
    for answer in recorded()[:4]:
        known.begin_answer()
        play(MACHINE, answer, AutoLength(known, 8, 128), rng)
        known.of("ngram:4").observe(3, 3)
    known.begin_answer()
    assert known.n_answers(of_models=True, is_greedy=True) == 4
    assert known.n_answers(of_models=True, is_greedy=False) == 0
    assert AutoLength(known, 8, 128, is_greedy=False)._is_new()
    assert not AutoLength(known, 8, 128)._is_new()


def test_without_a_draft_model_the_answers_with_copies_count():
    known = Evidence(Costs({1: 0.1, 2: 0.11}))
    for _ in range(3):
        known.begin_answer()
        known.of("ngram:4").observe(3, 3)
    known.begin_answer()
    for is_greedy in (True, False):
        assert known.n_answers(of_models=False, is_greedy=is_greedy) == 3
        assert not AutoLength(known, 8, 128, is_greedy=is_greedy)._is_new()


def test_everything_that_is_learned_outlives_the_file():
    known = Evidence(Costs({1: 0.1, 2: 0.11}))
    for is_greedy in (True, False):
        for one in (*known.calibrations_of_tree(is_greedy), known.calibration_of("draft-simple~" + EASE, is_greedy)):
            one.observe(0.9, is_kept=True)
    known.usual_worth["draft-simple~@sampled"] = UsualWorth()
    known.usual_worth["draft-simple~@sampled"].errors.append(0.5)
    lessons = known.lessons()
    assert sound(lessons) == lessons
    assert {"tree+@greedy", "tree~@sharp", "draft-simple~!@greedy"} <= set(lessons.words)
    again = Evidence()
    again.recall(lessons)
    assert again.lessons() == lessons
    assert list(again.usual_worth["draft-simple~@sampled"].errors) == [0.5]


def test_what_one_rule_has_taught_no_other_knows():
    ordinary = Evidence(Costs({1: 0.1, 2: 0.11, 4: 0.12}), draft_start=5)
    apart = EvidenceApart()
    strict, loose, shaped = apart.of(ordinary, 0, 0.3), apart.of(ordinary, 0, 0.03), apart.of(ordinary, 4, 0.3)
    loose.of("draft-simple").observe(40, 40)
    loose.begin_answer()
    assert "draft-simple" not in strict.usual
    assert (strict.draft_start, loose.draft_start, shaped.draft_start) == (5, 5, 5)
    assert strict.costs is loose.costs is ordinary.costs
    assert shaped.costs.verify_s(1) == 0.12
    assert apart.of(ordinary, 0, 0.03) is loose


def test_rules_that_nobody_uses_are_forgotten_before_those_in_use():
    ordinary, apart = Evidence(), EvidenceApart()
    used = apart.of(ordinary, 0, 0.3)
    for n in range(10 * N_APART):
        apart.of(ordinary, 0, 0.5 + n / 1000)
        assert apart.of(ordinary, 0, 0.3) is used
        assert len(apart._known) <= N_APART


def test_what_trees_taught_where_words_were_drawn_less_sharply_is_left_out():
    counts, known = Counts((400.0,) * 10, (0.0,) * 10), Evidence()
    known.recall(Lessons(words={"tree@sampled": counts, "tree~@sampled": counts, "tree+@sampled": counts}))
    assert known.lessons() == Evidence().lessons()
    known.recall(Lessons(words={"tree@sharp": counts, "tree@greedy": counts, "draft-simple@sampled": counts}))
    assert set(known.lessons().words) == {"tree@sharp", "tree@greedy", "draft-simple@sampled"}
