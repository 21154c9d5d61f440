"""A machine on which drafting is dearer than at load, for a while or for good: learned, and what it costs ends."""

import random
import statistics

import pytest

from app.engine.auto_length import AutoLength
from tests.engine.played_answers import NAME, Machine, fixed_s, invented, play

N_MAX, N_TOKENS = 15, 300
ROWS_S = {1: 0.09, 2: 0.131, 3: 0.147, 4: 0.161, 5: 0.17, 6: 0.176, 7: 0.2, 8: 0.232, 9: 0.25, 12: 0.3, 16: 0.4}
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
    assert min(later) >= 0.96, later
