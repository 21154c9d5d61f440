"""A machine on which drafting is dearer than at load, for a while or for good: learned, and what it costs ends."""

import random
import statistics

import pytest

from app.engine.auto_length import AutoLength
from app.engine.costs import Costs, DrafterCost
from tests.engine.played_answers import NAME, Machine, Repeating, fixed_s, invented, play, play_both, play_copies

N_MAX, N_TOKENS = 15, 300
ROWS_S = {1: 0.09, 2: 0.131, 3: 0.147, 4: 0.161, 5: 0.17, 6: 0.176, 7: 0.2, 8: 0.232, 9: 0.25, 12: 0.3, 16: 0.4}
SCARCE_S = {1: 0.038, 2: 0.069, 3: 0.095, 4: 0.119, 6: 0.18, 8: 0.23, 12: 0.3, 16: 0.275}
"""Seconds by row count where every further row costs most of what the first one does."""

AT_LOAD = Machine(ROWS_S, 0.014, 0.004)


@pytest.mark.parametrize("alpha", [0.8, 0.9])
@pytest.mark.parametrize("times", [3, 4, 6])
def test_drafting_that_is_dearer_than_at_load_is_not_tried_for_ever(times, alpha):
    """A shared GPU, paging, a long context: after three answers that is known, and tried again next to never."""
    machine, later = Machine(ROWS_S, times * AT_LOAD.token_s, times * AT_LOAD.caught_up_token_s), []
    for seed in range(4):
        known, rng = AT_LOAD.evidence(), random.Random(seed)
        known.costs.drafters[NAME].few_s = 0.06
        for n in range(10):
            answer = invented(alpha, rng, N_TOKENS)
            known.begin_answer()
            took_s = play(machine, answer, AutoLength(known, N_MAX, N_TOKENS, models=frozenset({NAME})), rng)
            if n > 2:
                later.append(fixed_s(machine, answer, 0) / took_s)
    assert statistics.mean(later) >= 0.995, later
    assert sum(speedup < 0.98 for speedup in later) <= 1, later
    assert min(later) >= 0.95, later


def edited(rng, n_tokens, share):
    """Invent an answer of one paragraph again and again, a share of its tokens other ones each time."""
    words = iter(range(1000, 1_000_000))
    paragraph, tokens = [next(words) for _ in range(60)], []
    while len(tokens) < n_tokens:
        tokens += [next(words) if rng.random() < share else token for token in paragraph]
    return Repeating([next(words) for _ in range(60)], tokens[:n_tokens], n_tokens)


@pytest.mark.parametrize("share", [0.08, 0.12])
def test_copies_that_hardly_pay_cost_little(share):
    """Copies that agree on many tokens until the next edit seem surer than they are."""
    machine, speedups = Machine(SCARCE_S, 0, 0), []
    for seed in range(6):
        known = machine.evidence()
        for n in range(6):
            answer, rng = edited(random.Random(n + 100 * seed), N_TOKENS, share), random.Random(n)
            known.begin_answer()
            took_s = sum(play_copies(machine, answer, AutoLength(known, N_MAX, N_TOKENS, models=frozenset()), rng))
            speedups.append((N_TOKENS - 1) * SCARCE_S[1] / took_s)
    assert min(speedups) >= 0.968, speedups


@pytest.mark.parametrize("alpha", [0.8, 0.95])
def test_a_draft_model_reads_no_file_of_which_copies_write_the_answer(alpha):
    """Reading the file and what was copied of it takes longer than its drafts of the few other words save."""
    machine, ratios = AT_LOAD, []
    for seed in range(4):
        known, alone = machine.evidence(), machine.evidence()
        known.recall(taught(machine).lessons())
        for n in range(8):
            rng = random.Random(n + 100 * seed)
            file = list(range(1000, 1500))
            tokens = [rng.randrange(10_000, 1_000_000) if rng.random() < 0.06 else token for token in file[:N_TOKENS]]
            answer, agrees = Repeating(file, tokens, 0), [rng.random() < alpha for _ in tokens]
            for evidence in (known, alone):
                evidence.begin_answer()
            policies = AutoLength(known, N_MAX, N_TOKENS), AutoLength(alone, N_MAX, N_TOKENS, models=frozenset())
            took_s = play_both(machine, answer, agrees, policies[0], random.Random(n))
            ratios.append(sum(play_copies(machine, answer, policies[1], random.Random(n))) / took_s)
    assert statistics.mean(ratios[i] for i in range(len(ratios)) if i % 8 >= 2) >= 0.99, ratios


def taught(machine):
    """Return what answers teach in which the draft model pays."""
    known = machine.evidence()
    for n in range(6):
        known.begin_answer()
        play(machine, invented(0.9, random.Random(n), N_TOKENS), AutoLength(known, N_MAX, N_TOKENS), random.Random(n))
    return known


@pytest.mark.parametrize("n_prompt", [100, 300])
def test_a_draft_model_is_back_after_answers_that_were_copied(n_prompt):
    """What copies brought of the last answers is soon forgotten where they bring nothing."""
    machine, known = AT_LOAD, taught(AT_LOAD)
    known.count(400, 380)
    ratios = []
    for n in range(4):
        answer = invented(0.9, random.Random(n), N_TOKENS, n_prompt=n_prompt)
        known.begin_answer()
        took_s = play(machine, answer, AutoLength(known, N_MAX, N_TOKENS), random.Random(n))
        ratios.append(min(fixed_s(machine, answer, k) for k in range(9)) / took_s)
    assert ratios[0] >= 0.85, ratios
    assert statistics.mean(ratios[1:]) >= 0.97, ratios


def test_copies_that_rows_were_too_dear_for_are_tried_again():
    """Ten answers on a busy machine, ten on one that is calm again."""
    rows_s, calm = SCARCE_S, []
    busy = {n: s * (2.0 if n > 1 else 1) for n, s in rows_s.items()}
    for seed in range(4):
        known = Machine(rows_s, 0, 0).evidence()
        for n in range(20):
            answer, rng = edited(random.Random(n + 100 * seed), N_TOKENS, 0.02), random.Random(n)
            known.begin_answer()
            policy = AutoLength(known, N_MAX, N_TOKENS, models=frozenset())
            took_s = sum(play_copies(Machine(busy if n < 10 else rows_s, 0, 0), answer, policy, rng))
            calm += [(N_TOKENS - 1) * rows_s[1] / took_s] if n >= 15 else []
    assert statistics.mean(calm) >= 1.1, calm


def test_rows_that_somebody_uses_cost_what_they_cost_him():
    """A model whose door is shut brings nothing back that another drafter has just learned."""
    costs = Costs(dict(ROWS_S), {NAME: DrafterCost(1.0, 0.1)})
    for n in range(400):
        costs.observe_verify(4, 2 * ROWS_S[4]) if n % 16 == 0 else costs.observe_verify(1, ROWS_S[1])
        learned_s = costs.base_s[4]
        costs.relax(NAME)
        assert costs.base_s[4] == learned_s
    for _ in range(400):
        costs.observe_verify(1, ROWS_S[1])
        costs.relax(NAME)
    assert costs.base_s[4] == pytest.approx(ROWS_S[4], rel=0.05)
