"""The controller under clocks, lengths and drafters as no machine has them: it keeps its limits."""

import math
import random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.auto_length import AutoLength
from app.engine.costs import Costs, DrafterCost
from app.engine.evidence import Evidence
from app.lessons import Lessons, sound
from app.protocol import Plan, Step
from tests.engine.played_answers import Machine, fixed_s, invented, play

SECONDS = st.floats(1e-7, 30_000.0) | st.sampled_from([1e-7, 0.04, 3600.0, 28_800.0])
"""From less than any pass takes to a night in which the machine slept."""

KINDS = ("draft-simple", "draft-mtp", "ngram")
BEHIND = st.sampled_from([0, 1, 5, 63, 64, 65, 5_000, 1_000_000])
PROBABILITIES = st.lists(st.floats(0.0, 1.0), min_size=31, max_size=31)
STEPS = st.tuples(
    st.sampled_from(KINDS), BEHIND, st.sampled_from([0, 0, 100]), PROBABILITIES, st.floats(0, 1), SECONDS, SECONDS
)
ANSWERS = st.tuples(st.sampled_from([1, 2, 50, 10**9]), st.booleans(), SECONDS, st.lists(STEPS, max_size=12))
COSTS = st.tuples(SECONDS, st.floats(0.0, 2.0), SECONDS, SECONDS)


def take_step(policy, n_max, step):
    name, n_behind, n_unseen, probabilities, n_right, draft_s, verify_s = step
    ask = policy.ask(name, n_behind, n_unseen)
    assert 0 <= ask.limit <= n_max
    assert 0 <= ask.n_catch_up <= n_behind + n_unseen
    n_drafted = 0
    while n_drafted < ask.limit:
        n_drafted += 1
        if ask.goes_on is not None and not ask.goes_on(probabilities[n_drafted - 1]):
            break
    kind = "ngram:4" if name == "ngram" else name
    k = policy.trim(name, kind, n_drafted) if n_drafted else 0
    assert 0 <= k <= n_drafted
    n_kept = round(n_right * k)
    facts = (k, min(k, n_kept + 1), n_kept, draft_s if n_drafted else 0.0, verify_s)
    policy.observe(Step(0.0, n_kept + 1, ask.limit, *facts, 0, name if k else ""), kind, ask.n_catch_up)
    plan = policy.plan(name if k else "", ask.limit)
    assert math.isfinite(plan.debt_s)
    assert 0 <= plan.alpha <= 1
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([0, 1, 8, 31]), COSTS, st.lists(ANSWERS, min_size=1, max_size=4))
def test_whatever_the_clock_says_it_stays_within_its_limits_and_its_lessons_can_be_kept(n_max, costs, answers):
    one_s, growth, token_s, caught_up_s = costs
    rows_s = {n: one_s * (1 + growth * (n - 1)) for n in (1, 2, 4, 8, 16, 32) if n <= n_max + 1}
    known = Evidence(Costs(rows_s, {"draft-simple": DrafterCost(token_s, caught_up_s)}))
    for max_tokens, is_greedy, prefill_s, steps in answers:
        known.begin_answer()
        policy = AutoLength(known, n_max, max_tokens, is_greedy)
        policy.begin(prefill_s)
        for step in steps:
            take_step(policy, n_max, step)
        taught = known.lessons()
        assert msgspec.json.decode(msgspec.json.encode(taught), type=Lessons) == taught
    again = Evidence()
    again.recall(sound(taught))
    again.begin_answer()


def test_what_a_pair_knows_does_not_grow_with_its_answers_and_short_ones_cost_nothing():
    rows_s = {1: 0.1, 2: 0.135, 3: 0.165, 4: 0.19, 5: 0.215, 6: 0.24, 7: 0.27, 8: 0.3, 9: 0.33, 16: 0.5}
    machine, rng = Machine(rows_s, 0.02, 0.004), random.Random(2)
    known, sizes, ratios = machine.evidence(), [], []
    for _ in range(1_000):
        answer = invented(rng.choice([0.05, 0.3, 0.6, 0.9]), rng, rng.choice([2, 3, 16]))
        known.begin_answer()
        took_s = play(machine, answer, AutoLength(known, 8, 16), rng)
        ratios.append((took_s + answer.prefill_s) / (fixed_s(machine, answer, 0) + answer.prefill_s))
        sizes.append(len(msgspec.json.encode(known.lessons())))
    assert max(sizes) < 10_000
    assert max(sizes[500:]) < 1.2 * max(sizes[:500])
    assert 0.9 < known.costs.drift < 1.1
    assert max(ratios) < 1.05  # the machine's noise is in it
    assert sum(ratios) / len(ratios) < 1.01
