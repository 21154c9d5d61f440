"""What MTP heads cost is known before the first draft, and no single slow one shuts them out."""

import random

import pytest

from app.engine.auto_length import AutoLength
from app.engine.costs import Costs, DrafterCost
from app.engine.evidence import Evidence
from app.protocol import Step
from tests.engine.sessions import answer, load
from tests.engine.test_mtp import KINDS, write

NAME = "draft-mtp"
ROWS_S = {1: 0.1, 2: 0.11, 3: 0.12, 4: 0.13, 5: 0.14, 6: 0.15, 7: 0.16, 8: 0.17, 9: 0.2}
TOKEN_S, CAUGHT_UP_S, ALPHA, N_TOKENS = 0.01, 0.0003, 0.8, 128


def play(known, n_prompt, rng, first_s=0.0):
    """Play an answer with heads that are right on a share; return its speed-up and what was drafted."""
    known.begin_answer()
    policy = AutoLength(known, 8, N_TOKENS, models=frozenset([NAME]))
    policy.begin(n_prompt * 0.01)
    at, spent_s, held, n_drafted = 1, 0.0, 0, 0
    while at < N_TOKENS:
        n_text = n_prompt + at - 1
        ask = policy.ask(NAME, n_text - held)
        limit, agrees, draft_s = max(0, min(ask.limit, N_TOKENS - at - 1)), [], 0.0
        while len(agrees) < limit:
            agrees.append(rng.random() < ALPHA)
            if not ask.goes_on(rng.betavariate(7.2, 0.8) if agrees[-1] else rng.betavariate(1.6, 2.0)):
                break
        k = policy.trim(NAME, NAME, len(agrees)) if agrees else 0
        if agrees:
            draft_s, held = TOKEN_S * len(agrees) + CAUGHT_UP_S * ask.n_catch_up + first_s, n_text
            first_s = 0.0
        n_kept = next((i for i, agree in enumerate(agrees[:k]) if not agree), k)
        verify_s = ROWS_S[k + 1]
        step = Step(0.0, n_kept + 1, limit, k, min(k, n_kept + 1), n_kept, draft_s, verify_s, n_text, NAME if k else "")
        policy.observe(step, NAME if k else "", ask.n_catch_up)
        n_drafted, spent_s, at = n_drafted + k, spent_s + draft_s + verify_s, at + n_kept + 1
    return (N_TOKENS - 1) * ROWS_S[1] / spent_s, n_drafted


def first_speedups(drafters, n_prompt, seed, first_s=0.0):
    known, rng = Evidence(Costs(dict(ROWS_S), drafters)), random.Random(seed)
    return [play(known, n_prompt, rng, first_s * (i == 0))[0] for i in range(4)]


@pytest.mark.parametrize("n_prompt", [30, 200, 300, 600, 1000, 3000])
@pytest.mark.parametrize("known", [True, False])
def test_a_long_first_prompt_does_not_shut_heads_out(n_prompt, known):
    """What the first draft took is mostly catching up with the prompt: it is booked as that."""
    for seed in range(5):
        drafters = {NAME: DrafterCost(TOKEN_S, CAUGHT_UP_S)} if known else {}
        speedups = first_speedups(drafters, n_prompt, seed)
        assert min(speedups) > 0.99
        assert speedups[-1] > 1.5, speedups


@pytest.mark.parametrize("first_s", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("known", [True, False])
def test_a_slow_first_draft_does_not_shut_heads_out(first_s, known):
    for seed in range(5):
        drafters = {NAME: DrafterCost(TOKEN_S, CAUGHT_UP_S)} if known else {}
        speedups = first_speedups(drafters, 30, seed, first_s)
        assert speedups[-1] > 1.4, speedups


def test_drafting_and_catching_up_are_learned_apart():
    cost = DrafterCost(0.01, 0.001)
    for _ in range(60):
        cost.observe(4, 4 * 0.02 + 500 * 0.003, 500)
        cost.observe(4, 4 * 0.02, 0)
    assert cost.token_s == pytest.approx(0.02, rel=0.01)
    assert cost.caught_up_token_s == pytest.approx(0.003, rel=0.01)


def test_catching_up_with_a_step_cannot_have_taken_longer_than_the_draft_it_was_for():
    cost = DrafterCost(0.01, 0.5)
    for _ in range(40):
        cost.observe(4, 4 * 0.01 + 3 * 0.001, 3)
    assert cost.catch_up_s(3) < 0.05
    assert cost.token_s == pytest.approx(0.01, rel=0.3)


def test_catching_up_with_a_few_tokens_is_never_free_for_good():
    """One fast draft after a dear time tells that it was less, not that it is nothing: that could not grow again."""
    cost = DrafterCost(0.01, 0.004, 0.04)
    for _ in range(12):
        cost.observe(1, 0.05 + 0.3, 20)
    for _ in range(6):
        cost.observe(2, 0.08, 0)
    for _ in range(10):
        cost.observe(1, 0.012, 1)
    for _ in range(60):
        cost.observe(1, 0.01 + 0.05, 20)
    assert cost.catch_up_s(20) == pytest.approx(0.05, rel=0.1)
    assert cost.catch_up_s(8) > 0.005


def test_what_catching_up_with_a_few_tokens_cost_at_first_is_known_again():
    for few_s in (0.04, None):
        cost = DrafterCost(0.01, 0.004, few_s)
        for _ in range(15):
            cost.observe(1, 0.01 + 1.0, 20)
        dear_s = cost.catch_up_s(8)
        for _ in range(600):
            cost.relax()
        assert cost.catch_up_s(8) < 0.2 * dear_s
        assert [cost.catch_up_s(n) for n in (8, 20)] == pytest.approx(
            [DrafterCost(0.01, 0.004, few_s).catch_up_s(n) for n in (8, 20)], rel=0.01
        )


def test_who_was_heard_and_drafted_nothing_taught_what_catching_up_costs():
    costs = Costs({1: 0.04}, {NAME: DrafterCost(0.01, 0.001, 0.02)})
    for _ in range(50):
        costs.observe_draft(NAME, 0, 0.0, 1)
    assert costs.draft_s(NAME, 0, 24) == pytest.approx(DrafterCost(0.01, 0.001, 0.02).catch_up_s(24))
    for _ in range(50):
        costs.observe_draft(NAME, 0, 1.0, 24)
    assert costs.draft_s(NAME, 0, 24) == pytest.approx(1.0, rel=0.05)


def _shut(policy):
    costs = policy.evidence.costs
    while policy.worth_preparing(NAME):
        costs.observe_draft(NAME, 4, 4.0)
        for n_rows in range(2, 10):
            costs.observe_verify(n_rows, 20 * ROWS_S[n_rows])
        costs.drift = 1.0


def test_what_shut_the_door_opens_it_again():
    """A busy minute makes drafting dear: what was learned in it is forgotten where nothing else could contradict it."""
    policy = AutoLength(Evidence(Costs(dict(ROWS_S), {NAME: DrafterCost(TOKEN_S, CAUGHT_UP_S)})), 8, 4000)
    policy.begin(1.0)
    _shut(policy)
    for n_steps in range(400):
        if policy.ask(NAME, 1).limit:
            break
        policy.observe(Step(0.0, 1, 0, 0, 0, 0, 0.0, ROWS_S[1], n_steps, ""), "", 0)
    assert 0 < n_steps < 400


def test_n_grams_come_back_too():
    policy = AutoLength(Evidence(Costs(dict(ROWS_S))), 8, 4000)
    while policy.ask("ngram", 0).limit:
        for n_rows in range(2, 10):
            policy.evidence.costs.observe_verify(n_rows, 20 * ROWS_S[1] * n_rows)
        policy.evidence.costs.drift = 1.0
    assert any(policy.ask("ngram", 0).limit for _ in range(400))


def test_a_drafter_that_cannot_pay_by_its_first_measurement_is_never_asked():
    policy = AutoLength(Evidence(Costs(dict(ROWS_S), {NAME: DrafterCost(1.0, 0.1)})), 8, 4000)
    policy.begin(1.0)
    for n_steps in range(600):
        assert policy.ask(NAME, 1).limit == 0
        policy.observe(Step(0.0, 1, 0, 0, 0, 0, 0.0, ROWS_S[1], n_steps, ""), "", 0)


def test_a_running_state_that_cuts_drafts_is_named(session, tmp_path):
    load(session, *write("embedded", tmp_path), n_ctx=1024, draft_max=15)
    got = answer(session, "so it was", types=("ngram", NAME), k=15)
    assert got.started.engagement.draft_tokens == 8
    said = [notice.message for notice in got.started.notices if notice.code == "draft_cut"]
    assert len(said) == 1
    assert "8 tokens instead of 15" in said[0]
    assert not answer(session, "so it was", types=("ngram",), k=8).started.notices


def test_a_chain_of_heads_that_cuts_drafts_is_named_and_known_to_the_controller(session, tmp_path):
    load(session, *write("chain", tmp_path), n_ctx=1024)
    got = answer(session, "so it was", types=(NAME,), k=8)
    assert got.started.engagement.draft_tokens == 2
    assert [notice.code for notice in got.started.notices] == ["draft_cut"]
    assert "2 tokens instead of 8" in got.started.notices[0].message
    both = answer(session, "so it was", types=("ngram", NAME), k=8)
    assert both.started.engagement.draft_tokens == 8  # n-grams are as long as they may
    assert "2 tokens instead of 8" in both.started.notices[0].message
    assert not answer(session, "so it was", types=(NAME,), k=2).started.notices
    assert session._pair.evidence.costs.longest(NAME, 8) == 2


def test_what_no_head_can_draft_is_no_promise():
    """Eight tokens would pay; two, all that this chain can draft, do not: it is never asked."""
    rows_s = {1: 0.1, 2: 0.3, 3: 0.31, 9: 0.32}
    known = Evidence(Costs(rows_s, {NAME: DrafterCost(0.001, 0.0001, n_max=2)}))
    assert not AutoLength(known, 8, 4000).worth_preparing(NAME)
    assert AutoLength(Evidence(Costs(rows_s, {NAME: DrafterCost(0.001, 0.0001)})), 8, 4000).worth_preparing(NAME)


@pytest.mark.parametrize("kind", KINDS)
def test_heads_are_measured_and_warmed_up_when_they_are_loaded(session, tmp_path, kind):
    load(session, *write(kind, tmp_path), n_ctx=1024)
    pair = session._pair
    cost = pair.evidence.costs.drafters[NAME]
    assert 0 < cost.token_s < 1
    assert (cost.caught_up_token_s > 0) == (kind != "assistant")
    assert ("tree" in pair.evidence.costs.drafters) == (kind != "assistant")
    assert pair.target.context.n_past == 0
    assert pair.target.context.watcher is None


def test_the_last_word_of_a_draft_that_was_kept_whole_does_not_make_the_others_dear():
    """A pass of two tokens takes as long as two passes: 15 ms a word, and 15 to catch up with the one before."""
    costs = Costs({1: 0.06, 2: 0.09}, {NAME: DrafterCost(0.015, 0.003, 0.04, next_s=0.0145)})
    for _ in range(40):
        costs.observe_draft(NAME, 1, 0.030, 1)
        costs.observe_draft(NAME, 3, 0.060, 1)
        costs.observe_draft(NAME, 2, 0.030, 0)
    assert costs.draft_s(NAME, 4) == pytest.approx(0.06, rel=0.05)
    assert costs.draft_s(NAME, 0, 1) == pytest.approx(0.0145, rel=0.05)
    kept_whole, never = [1.0, 2.0], [1.0, 1.0]
    assert costs.best_speedup(NAME, kept_whole) == pytest.approx(2 * 0.06 / (0.09 + 0.0295), rel=0.01)
    assert costs.best_speedup(NAME, never) == pytest.approx(0.06 / (0.09 + 0.015), rel=0.01)
