from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from app.metrics.verdict import (
    ALPHA,
    DRIFT,
    LAI_START,
    MIN_PAIRS,
    SESSION_DEVIATION,
    VERDICT_ALPHA,
    Sample,
    judge,
    pair_up,
    student_bound,
    student_inside,
    t_bound,
)

T_975 = {1: 12.7062, 2: 4.3027, 5: 2.5706, 8: 2.3060, 11: 2.2010, 30: 2.0423}  # any table of Student's t
SPEEDUPS = (0.8, 0.98, 1.0, 1.02, 1.3)


@pytest.mark.parametrize(("dof", "t"), T_975.items())
def test_student_agrees_with_the_tables(dof, t):
    assert student_inside(t, dof) == pytest.approx(0.95, abs=5e-6)
    assert student_bound(0.05, dof) == pytest.approx(t, rel=1e-4)


def test_width_at_twelve_pairs_is_within_the_bar():
    assert t_bound(12) / student_bound(ALPHA, 11) <= 1.6


def test_standard_error_bound_shrinks_with_every_pair():
    halves = [t_bound(n) / math.sqrt(n) for n in range(MIN_PAIRS, 300)]
    assert halves == sorted(halves, reverse=True)


@pytest.mark.parametrize("error", [ALPHA, VERDICT_ALPHA])
def test_chance_of_ever_missing_is_what_it_should_be_by_numbers_alone(error):
    """Check the extended Ville bound without the code's own algebra: integrate the t density of LAI_START pairs."""
    dof = LAI_START - 1
    constant = math.gamma((dof + 1) / 2) / (math.sqrt(dof * math.pi) * math.gamma(dof / 2))

    def density(t):
        return constant * (1 + t * t / dof) ** (-(dof + 1) / 2)

    def mixture(t):
        return (1 + t * t / dof) ** (LAI_START / 2) / math.sqrt(LAI_START)

    bound, n_cells = t_bound(LAI_START, error), 20_000
    width = bound / n_cells
    inside = [(i + 0.5) * width for i in range(n_cells)]
    beyond = 1 - 2 * width * sum(map(density, inside))
    later = 2 * width * sum(mixture(t) * density(t) for t in inside) / mixture(bound)
    early = sum(1 - student_inside(t_bound(n, error), n - 1) for n in range(MIN_PAIRS, LAI_START))
    assert beyond + later + early == pytest.approx(error, abs=1e-4)


@pytest.mark.parametrize("n", [0, 5])
def test_fewer_than_six_pairs_are_no_verdict(n):
    verdict = judge([0.3] * n)

    assert (verdict.word, verdict.speedup, verdict.pairs_needed) == ("cannot tell", None, 6 - n)
    assert verdict.sentence == f"cannot tell yet ({6 - n} more pair{'' if n == 5 else 's'} needed)"


def test_clear_gain_pays():
    verdict = judge([math.log(1.4) + d for d in (0.01, -0.01, 0.02, -0.02, 0.0, 0.01, -0.01, 0.0)])

    assert verdict.word == "pays"
    assert verdict.speedup.low > 1.3
    assert verdict.speedup.median == pytest.approx(1.4)
    assert verdict.sentence.startswith("pays 1.40× (1.3")


def test_clear_loss_costs():
    verdict = judge([math.log(0.88) + d for d in (0.01, -0.01, 0.01, -0.01, 0.0, 0.01, -0.01, 0.0)])

    assert verdict.word == "costs"
    assert verdict.sentence.startswith("costs 12% (")


def test_small_effect_says_how_many_more_pairs():
    verdict = judge([0.02 + d for d in (0.05, -0.05, 0.03, -0.03, 0.04, -0.04)])

    assert verdict.word == "cannot tell"
    assert 5 < verdict.pairs_needed < 100
    more = judge([0.02 + d for d in (0.05, -0.05, 0.03, -0.03, 0.04, -0.04)] * (verdict.pairs_needed // 6 + 2))
    assert more.word == "pays"


def test_no_effect_never_asks_for_ever_more_pairs():
    verdict = judge([0.05, -0.05, 0.03, -0.03, 0.04, -0.04])

    assert verdict.pairs_needed is None
    assert "over 400 more pairs needed" in verdict.sentence


def watch(truth, noises, n_stored=0):
    """Look after every pair; tell whether an interval missed the truth, and whether a verdict was ever not so.

    Of the first ``n_stored`` pairs the plain half is from an earlier session.
    """
    ratios, missed, wrong = [], False, False
    for noise in noises:
        ratios.append(math.log(truth) + noise)
        verdict = judge(ratios, min(n_stored, len(ratios)))
        if verdict.speedup is not None:
            missed |= not verdict.speedup.low <= truth <= verdict.speedup.high
            wrong |= (verdict.word == "pays" and truth <= 1) or (verdict.word == "costs" and truth >= 1)
    return missed, wrong


N_LOOKS = 40
BLOCK = 6


def steady(rng):
    """Normal noise of 5 %."""
    return [rng.gauss(0, 0.05) for _ in range(N_LOOKS)]


def heavy_tailed(rng):
    """Student's t with three degrees of freedom: now and then another program takes the processor."""
    return [0.03 * rng.gauss(0, 1) / math.sqrt(rng.gammavariate(1.5, 1) / 1.5) for _ in range(N_LOOKS)]


def recorded_noise():
    """What is left of recorded pairs without their mean: the noise of real answers, in order."""
    pairs = json.loads((Path(__file__).parent / "traces" / "paired-runs.json").read_text(encoding="utf-8"))["pairs"]
    ratios = [math.log(pair["drafted_tps"] / pair["plain_tps"]) for pair in pairs]
    mean = math.fsum(ratios) / len(ratios)
    return [ratio - mean for ratio in ratios]


RECORDED = recorded_noise()


def recorded(rng):
    """Pieces of the recording, each from anywhere in it and in its order: neighbours are not independent."""
    found = []
    while len(found) < N_LOOKS:
        start = rng.randrange(len(RECORDED))
        found += [RECORDED[(start + i) % len(RECORDED)] for i in range(BLOCK)]
    return found[:N_LOOKS]


def shuffled(rng):
    """Recorded noise in any order."""
    return rng.choices(RECORDED, k=N_LOOKS)


def check_coverage(n_trials):
    for noise in (steady, heavy_tailed, recorded, shuffled):
        for truth in SPEEDUPS:
            rng = random.Random(f"{truth} {noise.__name__}")
            outcomes = [watch(truth, noise(rng)) for _ in range(n_trials)]
            missed, wrong = (sum(found) / n_trials for found in zip(*outcomes, strict=True))
            print(f"{noise.__name__:13} {truth:4}: interval missed {missed:.1%}, verdict wrong {wrong:.1%}")
            assert missed <= 0.05, (truth, noise)
            assert wrong <= 0.025, (truth, noise)


def test_interval_holds_the_truth_however_often_it_is_looked_at():
    check_coverage(300)


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_interval_holds_the_truth_however_often_it_is_looked_at_in_full():
    check_coverage(1000)


def quiet(rng):
    """Noise of half a per cent: what a stored baseline is off by is all that is left."""
    return [rng.gauss(0, 0.005) for _ in range(N_LOOKS)]


def with_offset(noises, rng, n_stored):
    """Add what all pairs with plain halves of an earlier session have in common."""
    offset = rng.gauss(0, SESSION_DEVIATION)
    return [noise + offset * (n < n_stored) for n, noise in enumerate(noises)]


def check_coverage_of_stored(n_trials):
    for noise in (quiet, steady, recorded):
        for n_stored in (6, N_LOOKS):
            for truth in SPEEDUPS:
                rng = random.Random(f"{truth} {noise.__name__} {n_stored}")
                tried = [watch(truth, with_offset(noise(rng), rng, n_stored), n_stored) for _ in range(n_trials)]
                missed, wrong = (sum(found) / n_trials for found in zip(*tried, strict=True))
                print(f"{noise.__name__:8} {n_stored:2} stored {truth:4}: missed {missed:.1%}, wrong {wrong:.1%}")
                assert missed <= 0.05, (truth, noise, n_stored)
                assert wrong <= 0.025, (truth, noise, n_stored)


def test_a_baseline_of_another_session_may_be_off_and_misleads_no_more_often():
    check_coverage_of_stored(200)


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_a_baseline_of_another_session_may_be_off_and_misleads_no_more_often_in_full():
    check_coverage_of_stored(1000)


def test_without_that_allowance_it_would_mislead():
    rng = random.Random(3)
    wrong = [watch(1.0, with_offset(quiet(rng), rng, N_LOOKS))[1] for _ in range(100)]
    assert sum(wrong) > 50


def test_a_small_effect_needs_plain_answers_of_this_session():
    ratios = [0.03 + d for d in (0.005, -0.005, 0.003, -0.003, 0.004, -0.004)]
    assert judge(ratios).word == "pays"
    stored = judge(ratios, 6)
    assert (stored.word, stored.pairs_needed, stored.drift) == ("cannot tell", None, DRIFT)
    assert stored.sentence.endswith("(plain answers of this session needed)")
    half = judge(ratios * 2, 6)
    assert half.drift == pytest.approx(DRIFT / 2)
    assert judge([0.3 + ratio for ratio in ratios], 6).word == "pays"


def test_the_recording_is_noise_that_no_model_made():
    """It has what makes real noise hard: a wide spread, a tail, and many pairs."""
    n = len(RECORDED)
    deviation = math.sqrt(math.fsum(noise * noise for noise in RECORDED) / n)
    assert n >= 150
    assert max(map(abs, RECORDED)) > 3 * deviation


def test_ordinary_interval_would_miss_when_looked_at_often():
    """The reason for all this: the same watching with Student's interval."""
    rng, missed = random.Random(5), 0
    for _ in range(300):
        ratios, out = [], False
        for n in range(1, 41):
            ratios.append(rng.gauss(0, 0.05))
            if n >= MIN_PAIRS:
                mean = sum(ratios) / n
                error = math.sqrt(sum((r - mean) ** 2 for r in ratios) / (n - 1) / n)
                out |= abs(mean) > student_bound(0.05, n - 1) * error
        missed += out
    assert missed / 300 > 0.12


def sample(identity, prompt="", tps=50.0, bucket=1024):
    return Sample(identity, prompt, tps, bucket)


def ids(pairs):
    return [(pair.speculative.run_id, pair.plain.run_id) for pair in pairs]


def test_pairs_are_of_the_same_prompt_and_each_is_used_once():
    arrivals = [
        (sample("p1", "a"), False),
        (sample("p2", "b"), False),
        (sample("s1", "b"), True),
        (sample("s2", "b"), True),
        (sample("s3", "a"), True),
    ]
    assert ids(pair_up(arrivals)) == [("s1", "p2"), ("s3", "p1")]


def test_plain_answer_may_come_after():
    assert ids(pair_up([(sample("s1", "a"), True), (sample("p1", "a"), False)])) == [("s1", "p1")]


def test_other_context_bucket_does_not_pair():
    assert pair_up([(sample("p1", "a", bucket=2048), False), (sample("s1", "a"), True)]) == []


def test_free_chat_pairs_with_any_plain_answer_of_its_bucket_its_own_kind_first():
    plain = [(sample("p1", "recorded"), False), (sample("p2"), False), (sample("p3", "recorded too"), False)]
    chat = [(sample("s1"), True), (sample("s2"), True), (sample("s3"), True), (sample("s4"), True)]

    assert ids(pair_up([*plain, *chat])) == [("s1", "p2"), ("s2", "p3"), ("s3", "p1")]


def test_named_prompt_does_not_pair_with_free_chat():
    assert pair_up([(sample("p1"), False), (sample("s1", "a"), True)]) == []
    assert pair_up([(sample("s1", "a"), True), (sample("p1"), False)]) == []


def test_pairs_never_change_with_what_comes_later():
    rng = random.Random(11)
    arrivals = [(sample(f"r{i}", rng.choice(["", "a", "b"])), rng.random() < 0.5) for i in range(60)]
    whole = pair_up(arrivals)
    for n in range(60):
        part = pair_up(arrivals[:n])
        assert part == whole[: len(part)]
