from __future__ import annotations

import math
import random
import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.answer_lines import profile_lines
from app.metrics import stats
from app.metrics.pictures import pictures
from app.metrics.values import Interval
from app.protocol import Step
from tests.metrics.sessions import NGRAM, plain_steps, run_of, session


def step(t_s, emitted, proposed=0, judged=0, accepted=0, n_ctx=100):
    return Step(t_s, emitted, proposed, proposed, judged, accepted, 0.0, 0.0, n_ctx, "ngram" if proposed else "")


def test_decode_speed_counts_tokens_after_the_first_chunk():
    steps = [step(1.0, 1), step(1.5, 5, 4, 4, 4), step(2.0, 2, 4, 2, 1)]

    assert stats.decode_tps(steps) == 7.0
    assert stats.tokens(steps) == 8


@pytest.mark.parametrize("steps", [[], [step(1.0, 4)], [step(1.0, 1), step(1.0, 1)]])
def test_no_decode_speed_without_time_between_two_chunks(steps):
    assert stats.decode_tps(steps) is None


def test_acceptance_alpha_and_positions():
    steps = [step(0, 1), step(1, 5, 4, 4, 4), step(2, 1, 4, 1, 0), step(3, 3, 4, 3, 2), step(4, 1)]

    assert stats.acceptance(steps) == 6 / 12
    assert stats.alpha(steps) == 6 / 8
    assert stats.alpha_by_position(steps) == (2 / 3, 2 / 2, 1 / 2, 1 / 1)
    assert stats.tokens_per_step(steps) == 11 / 5


def test_figures_of_nothing_are_none_and_not_zero():
    plain = plain_steps(5, 50.0)

    assert stats.acceptance(plain) is None
    assert stats.alpha(plain) is None
    assert stats.alpha_by_position(plain) == ()
    assert stats.tokens_per_step([]) is None
    assert stats.prefill_tps(10, 0.0) is None
    assert stats.prefill_tps(0, 1.0) is None
    assert stats.median_interval([]) is None


def test_tokens_kept_none_after_a_stop_are_judged_and_not_accepted():
    # the target agreed with all four, but the second was the end of the text
    steps = [step(0, 1), step(1, 2, 4, 4, 2)]

    assert stats.alpha(steps) == 0.5
    assert stats.alpha_by_position(steps) == (1.0, 1.0, 0.0, 0.0)


def test_nodes_of_trees_are_those_of_passes_with_a_tree(tmp_path):
    """Of ten passes three had trees of 8 nodes, 3 deep; one had a chain, the others nothing."""
    steps = [step(0.1 * i, 1, n_ctx=20 + i) for i in range(11)]
    for i in (2, 4, 6):
        steps[i] = msgspec.structs.replace(steps[i], proposed=8, judged=1, rows=9, depth=3, verify_s=0.01)
    steps[8] = msgspec.structs.replace(steps[8], proposed=2, judged=1, verify_s=0.01)
    assert stats.tree_nodes(steps) == 8.0
    assert stats.tree_nodes(steps[:2]) is None
    log = session(tmp_path)
    run = log.add(run_of(steps * 2, speculation=NGRAM))
    assert any("token trees: 8.0 nodes, 3.0 deep, " in line for line in profile_lines(run))
    assert "trees of 8.0 nodes, 3.0 deep" in pictures(log.to_metrics())["rows"]


def test_context_bucket_is_the_class_of_the_middle_of_the_answer():
    assert stats.context_bucket([step(0, 1, n_ctx=900), step(1, 1, n_ctx=1148)]) == 1024
    assert stats.context_bucket([step(0, 1, n_ctx=900), step(1, 1, n_ctx=1150)]) == 2048
    assert stats.context_bucket([]) == 1024


@pytest.mark.parametrize(("n", "outer"), [(6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (15, 3), (20, 5)])
def test_median_interval_has_the_ranks_of_the_sign_test(n, outer):
    # ranks as in any table of the sign test at 5 %, two-sided
    found = stats.median_interval(random.Random(3).sample(range(n), n))

    assert found == Interval(stats.median(range(n)), outer, n - 1 - outer)


def test_median_interval_of_few_values_is_their_range():
    assert stats.median_interval([3.0]) == Interval(3.0, 3.0, 3.0)
    assert stats.median_interval([5.0, 1.0, 2.0]) == Interval(2.0, 1.0, 5.0)


@pytest.mark.parametrize("n", [6, 10, 17, 40])
def test_median_interval_holds_the_median_in_95_percent(n):
    rng = random.Random(n)
    held = 0
    for _ in range(2000):
        found = stats.median_interval([rng.expovariate(1.0) for _ in range(n)])
        held += found.low <= math.log(2) <= found.high
    assert held / 2000 >= 0.94  # 0.95 less three standard errors of 2,000 trials would be 0.935


def test_median_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="no values"):
        stats.median([])


@given(st.lists(st.tuples(st.floats(0.001, 3.0), st.integers(1, 32)), min_size=2, max_size=200))
def test_live_rate_is_tokens_after_the_step_that_opens_the_window(gaps):
    rate, t_s, seen = stats.LiveRate(), 0.0, []
    for gap, emitted in gaps:
        t_s += gap
        seen.append((t_s, emitted))
        live = rate.add(step(t_s, emitted))
        old = [i for i, (at, _) in enumerate(seen[:-1]) if at <= t_s - stats.LIVE_WINDOW_S]
        first = old[-1] if old else 0
        if len(seen) == 1:
            assert live is None
        else:
            expected = sum(n for _, n in seen[first + 1 :]) / (t_s - seen[first][0])
            assert live == pytest.approx(expected)


def test_live_rate_does_not_spike_when_tokens_come_in_bursts():
    rate = stats.LiveRate()
    rates = [rate.add(step(i * 0.2, 5)) for i in range(200)]  # 25 tokens a second throughout
    assert all(r == pytest.approx(25.0) for r in rates[1:])


def test_live_rate_of_a_model_slower_than_the_window():
    rate = stats.LiveRate()
    rates = [rate.add(step(i * 5.0, 1)) for i in range(4)]
    assert rates == [None, 0.2, 0.2, 0.2]


def test_live_rate_forgets_what_left_the_window():
    rate = stats.LiveRate()
    for one in (*plain_steps(50, 10.0), *plain_steps(300, 100.0, first_s=5.1)):
        rate.add(one)
    assert rate.tps == pytest.approx(100.0)


def test_ratios_are_taken_pair_by_pair():
    # the median of ratios, not the ratio of medians: 2, 3 and 0.5
    found = stats.ratio_interval([(2.0, 1.0), (30.0, 10.0), (50.0, 100.0), (1.0, None), (None, 1.0), (1.0, 0.0)])
    assert (found.low, found.median, found.high) == (0.5, 2.0, 3.0)
    assert stats.ratio_interval([(None, 1.0)]) is None


@pytest.mark.parametrize("n", [*range(1, 60), 300, 3001])
def test_the_ranks_of_an_interval_are_those_of_the_binomial_distribution_and_quick_to_find(n):
    began_s = time.process_time()
    found = stats.median_interval([float(i) for i in range(n)])
    took_s = time.process_time() - began_s
    rank = int(found.low) + 1
    below = sum(math.comb(n, i) for i in range(rank)) / 2**n
    assert rank == 1 or 2 * below <= 1 - stats.CONFIDENCE
    assert rank == max(1, n // 2) or 2 * (below + math.comb(n, rank) / 2**n) > 1 - stats.CONFIDENCE
    assert took_s < 0.1, "184 ms with coefficients made anew"
