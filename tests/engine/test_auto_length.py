"""The controller on simulated machines and texts: close to the best fixed length, and never a loss."""

import random
import statistics

import pytest

from app.engine.acceptance import Acceptance
from app.engine.auto_length import AutoLength, Evidence
from app.engine.costs import Costs, DrafterCost, measure_rows
from app.engine.draft_length import Ask, FixedLength, RollingLength
from app.protocol import Step

MEMORY_BOUND = {1: 0.100, 2: 0.131, 3: 0.146, 4: 0.161, 5: 0.168, 6: 0.176, 7: 0.2, 8: 0.232, 9: 0.25, 16: 0.37}
COMPUTE_BOUND = {1: 0.038, 2: 0.069, 3: 0.094, 4: 0.119, 5: 0.15, 6: 0.18, 7: 0.2, 8: 0.23, 9: 0.25, 16: 0.275}
"""Seconds by row count, as seen on two cores with a 1.5B target in F16 and in Q4_K_M."""

TOKEN_S, CAUGHT_UP_S, PREFILL_S = 0.016, 0.004, 0.6
N_TOKENS, N_PROMPT, NOISE = 128, 50, 0.05


def evidence(rows_s):
    return Evidence(Costs(dict(rows_s), {"draft-simple": DrafterCost(TOKEN_S, CAUGHT_UP_S)}))


def simulate(rows_s, alpha, policy, rng):
    """Return the seconds of an answer whose draft tokens are kept with probability ``alpha(position)``."""
    spent_s, n, behind = PREFILL_S, 1, N_PROMPT
    while n < N_TOKENS:
        ask = policy.ask("draft-simple", behind)
        k = max(0, min(ask.limit, N_TOKENS - n - 1))
        draft_s = (TOKEN_S * k + CAUGHT_UP_S * ask.n_catch_up) * rng.gauss(1, NOISE) if k else 0.0
        kept = 0
        while kept < k and rng.random() < alpha(n):
            kept += 1
        verify_s = rows_s[k + 1] * rng.gauss(1, NOISE)
        name = "draft-simple" if k else ""
        step = Step(0.0, kept + 1, k, k, min(k, kept + 1), kept, draft_s, verify_s, 0, name)
        policy.observe(step, name, ask.n_catch_up)
        spent_s, n, behind = spent_s + draft_s + verify_s, n + kept + 1, 0 if k else behind + 1
    return spent_s


def mean_s(rows_s, alpha, make_policy, n=60):
    rng = random.Random(3)
    return statistics.mean(simulate(rows_s, alpha, make_policy(), rng) for _ in range(n))


def auto_s(rows_s, alpha, n_sessions=6, n_answers=10):
    """Mean over sessions of several answers each, since a session learns."""
    rng, answers = random.Random(5), []
    for _ in range(n_sessions):
        known = evidence(rows_s)
        for _ in range(n_answers):
            known.begin_answer()
            answers.append(simulate(rows_s, alpha, AutoLength(known, 8, 1024, prefill_s=PREFILL_S), rng))
    return statistics.mean(answers)


TEXTS = {
    "code": lambda _n: 0.88,
    "chat": lambda _n: 0.75,
    "prose": lambda _n: 0.64,
    "poor": lambda _n: 0.3,
    "hopeless": lambda _n: 0.05,
    "turning": lambda n: 0.9 if n < 64 else 0.2,
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("rows_s", [MEMORY_BOUND, COMPUTE_BOUND], ids=["memory-bound", "compute-bound"])
def test_auto_is_never_a_loss(rows_s, text):
    plain_s = mean_s(rows_s, TEXTS[text], lambda: FixedLength(0))
    assert plain_s / auto_s(rows_s, TEXTS[text]) >= 0.98


@pytest.mark.parametrize(("text", "share"), [("code", 0.98), ("chat", 0.95), ("prose", 0.92)])
def test_auto_is_close_to_the_best_fixed_length(text, share):
    best_s = min(mean_s(MEMORY_BOUND, TEXTS[text], lambda k=k: FixedLength(k)) for k in range(8))
    assert best_s / auto_s(MEMORY_BOUND, TEXTS[text]) >= share


def test_what_could_not_pay_even_at_its_best_is_never_asked():
    policy = AutoLength(evidence(COMPUTE_BOUND), 8, 1024)
    assert policy.ask("draft-simple", 0) == Ask(0)
    assert "could not pay" in policy.reason


def test_an_unknown_row_count_is_never_chosen():
    policy = AutoLength(evidence({1: 0.1, 4: 0.11}), 8, 1024)
    for _ in range(20):
        policy.evidence.of("draft-simple").observe(4, 4)
    assert policy.ask("draft-simple", 0).limit == 3


def test_a_long_prompt_is_not_caught_up_with_at_the_answer_s_expense():
    policy = AutoLength(evidence(MEMORY_BOUND), 8, 1024)
    ask = policy.ask("draft-simple", 4000)
    assert ask.limit > 0
    assert ask.n_catch_up < 100


def test_an_ngram_draft_is_cut_to_what_pays():
    policy = AutoLength(evidence(COMPUTE_BOUND), 15, 1024)
    sure, unsure = policy.evidence.of("ngram:16"), policy.evidence.of("ngram:3")
    for _ in range(40):
        sure.observe(15, 15)
        unsure.observe(1, 0)
    assert policy.trim("ngram", "ngram:16", 15) == 15
    assert policy.trim("ngram", "ngram:3", 15) == 0
    assert policy.trim("draft-simple", "draft-simple", 5) == 5


def test_rolling_follows_acceptance_alone():
    policy = RollingLength(8)
    for _ in range(40):
        policy.observe(Step(0, 1, 5, 5, 1, 0, 0, 0, 0, "ngram"), "ngram", 0)
    assert policy.ask("ngram", 0).limit == 3
    for _ in range(40):
        policy.observe(Step(0, 6, 5, 5, 5, 5, 0, 0, 0, "ngram"), "ngram", 0)
    assert policy.ask("ngram", 0).limit == 8


def test_costs_follow_a_drift_and_shrug_off_an_outlier():
    costs = Costs(dict(MEMORY_BOUND))
    costs.observe_verify(1, 5.0)
    assert costs.verify_s(1) < 0.12
    for _ in range(60):
        costs.observe_verify(1, 0.15)
    assert costs.verify_s(1) == pytest.approx(0.15, rel=0.05)
    assert costs.verify_s(4) > 1.2 * MEMORY_BOUND[4]  # a busier machine is busier for all row counts
    assert costs.verify_s(11) is None


def test_rows_are_measured_within_the_budget_and_the_bounds():
    asked = []

    def run(n):
        asked.append(n)
        return 0.01 * n

    found = measure_rows(run, 9, 10.0)
    assert set(found) == {1, 2, 3, 4, 5, 6, 7, 8, 9}
    assert max(asked) == 9
    assert measure_rows(lambda n: 1.0 * n, 32, 0.5) == {1: 1.0}


def test_acceptance_learns_by_position_and_carries_a_little_over():
    acceptance = Acceptance(0.5)
    for _ in range(50):
        acceptance.observe(2, 1)
    expected = acceptance.expected_tokens(3)
    assert expected[0] == 1.0
    assert expected[1] - expected[0] > 0.9
    assert expected[2] - expected[1] < 0.2
    carried = acceptance.carried()
    assert carried.n_evidence() <= 12.01
    assert carried.alpha() == pytest.approx(acceptance.alpha(), abs=0.05)


def test_a_drafter_that_pays_again_is_no_longer_counted_as_paused():
    policy = AutoLength(evidence(MEMORY_BOUND), 8, 1024)
    for _ in range(60):
        policy.evidence.of("draft-simple").observe(1, 0)
    assert policy.ask("draft-simple", 0) == Ask(0)
    assert policy._pauses
    for _ in range(60):
        policy.evidence.of("draft-simple").observe(5, 5)
    assert policy.ask("draft-simple", 0).limit > 1
    assert not policy._pauses


def test_a_long_prefill_lets_the_purse_bear_more():
    short, long = (AutoLength(evidence(MEMORY_BOUND), 8, 1024) for _ in range(2))
    long.begin(60.0)
    assert long._allowance() > short._allowance()
