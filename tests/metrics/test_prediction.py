from __future__ import annotations

import math

import pytest

from app.metrics import prediction as p
from app.metrics.values import Interval
from app.protocol import Step

COSTS = p.PassCosts({1: 0.1, 3: 0.15, 5: 0.25}, draft_token_s=0.01)  # v(3)/v(1) = 1.5, r = 0.1


def step(proposed, accepted, verify_s, draft_s=0.0):
    judged = min(proposed, accepted + 1)
    return Step(0.0, accepted + 1, proposed, proposed, judged, accepted, draft_s, verify_s, 50, "draft-simple")


def evidence(steps, length=2):
    return p.Evidence(steps, plain_pass_s=0.1, length=length)


def around(x, width=0.01):
    return Interval(x, x - width, x + width)


@pytest.mark.parametrize(
    ("alpha", "k", "tokens"),
    [(0.5, 0, 1.0), (0.5, 2, 1.75), (0.8, 3, 1 + 0.8 + 0.64 + 0.512), (1.0, 4, 5.0), (0.0, 4, 1.0)],
)
def test_tokens_of_a_step(alpha, k, tokens):
    assert p.expected_tokens(alpha, k) == pytest.approx(tokens)
    if alpha < 1:
        assert p.expected_tokens(alpha, k) == pytest.approx((1 - alpha ** (k + 1)) / (1 - alpha))


def test_the_formula_by_hand():
    found = p.predict_fixed(0.5, 2, COSTS)

    # (1 + 0.5 + 0.25) tokens in 1.5 + 2 x 0.1 plain passes
    assert found.speedup == pytest.approx(1.75 / 1.7)
    assert found.ceiling == pytest.approx(3 / 1.7)
    assert (found.alpha, found.draft_tokens, found.verify_ratio) == (0.5, 2, pytest.approx(1.5))
    assert found.draft_ratio == pytest.approx(0.1)


def test_no_prediction_for_rows_that_were_never_measured():
    assert p.predict_fixed(0.5, 3, COSTS) is None


def test_plain_decoding_predicts_one():
    assert p.predict_fixed(0.7, 0, COSTS).speedup == 1.0


def test_a_rule_is_predicted_at_the_lengths_that_it_chose():
    steps = [step(2, 2, 0.15, 0.02), step(0, 0, 0.1), step(2, 0, 0.15, 0.02)]
    found = p.predict_chosen(0.5, evidence(steps, None), COSTS)

    # 1.75 + 1 + 1.75 tokens in 1.7 + 1 + 1.7 plain passes
    assert found.speedup == pytest.approx(4.5 / 4.4)
    assert found.ceiling == pytest.approx(7 / 4.4)
    assert found.draft_tokens == pytest.approx(4 / 3)
    assert p.predict_chosen(0.5, evidence([], None), COSTS) is None


def test_rows_that_only_the_steps_had_cost_what_the_steps_say():
    # four rows took 0.3 s, three plain passes
    found = p.predict_chosen(0.5, evidence([step(3, 3, 0.3)], None), p.PassCosts({1: 0.2}))
    assert found.speedup == pytest.approx(1.875 / 3)


def test_what_was_asked_for_is_predicted_if_its_cost_is_known():
    steps = [step(1, 1, 0.13)]
    assert p.predict(0.5, evidence(steps, 2), COSTS) == p.predict_fixed(0.5, 2, COSTS)
    for length in (3, None):
        assert p.predict(0.5, evidence(steps, length), COSTS) == p.predict_chosen(0.5, evidence(steps, length), COSTS)


def test_same_as_assumed_means_every_factor_is_one():
    # alpha 0.5 by position over these four: 1.75 tokens on average
    steps = [step(2, n, 0.15, 0.02) for n in (0, 0, 1, 2)]
    found = p.predict_fixed(0.5, 2, COSTS)
    assert p.factors(found, evidence(steps), COSTS) == pytest.approx(
        {"length": 1, "sample": 1, "position": 1, "verify": 1, "draft": 1}
    )
    assert p.cause(found, around(1.75 / 1.7), evidence(steps), COSTS) == ""


def test_factors_multiply_to_what_the_steps_achieved():
    steps = [step(2, 2, 0.2, 0.05), step(0, 0, 0.11), step(1, 1, 0.13, 0.01), step(2, 1, 0.16, 0.03)]
    found = p.predict_fixed(0.5, 2, COSTS)
    whole = math.prod(p.factors(found, evidence(steps), COSTS).values())

    emitted, took_s = 3 + 1 + 2 + 2, 0.2 + 0.05 + 0.11 + 0.13 + 0.01 + 0.16 + 0.03
    assert found.speedup * whole == pytest.approx(emitted / (took_s / 0.1))


def test_a_difference_within_the_interval_or_a_twentieth_has_no_cause():
    found = p.predict_fixed(0.5, 2, COSTS)
    assert not p.differs(found.speedup, Interval(1.2, 1.0, 1.4))
    assert not p.differs(1.04, Interval(1.0, 1.0, 1.0))
    assert p.differs(1.06, Interval(1.0, 1.0, 1.0))
    assert p.differs(0.94, Interval(1.0, 1.0, 1.0))


def told(alpha, steps, measured, k=2, costs=COSTS):
    return p.cause(p.predict_fixed(alpha, k, costs), around(measured), evidence(steps), costs)


def test_target_that_is_dearer_than_on_the_curve():
    steps = [step(2, n, 0.3, 0.02) for n in (0, 0, 1, 2)]
    assert told(0.5, steps, 1.75 / 3.2) == (
        "target compute-bound at 3 rows (3.00 × one row here, 1.50 × on the cost curve)"
    )


def test_draft_that_is_dearer_than_on_the_curve():
    steps = [step(2, n, 0.15, 0.2) for n in (0, 0, 1, 2)]
    assert told(0.5, steps, 1.75 / 3.5) == (
        "draft too dear (a drafted token costs 1.00 of a plain pass here, 0.10 on the cost curve)"
    )


def test_passes_and_drafts_that_are_cheaper_than_on_the_curve():
    steps = [step(2, n, 0.07, 0.02) for n in (0, 0, 1, 2)]
    assert told(0.5, steps, 1.75 / 0.9) == (
        "target less compute-bound than on the cost curve at 3 rows (0.70 × one row here, 1.50 × on the cost curve)"
    )
    dear = p.PassCosts({1: 0.1, 3: 0.15}, 0.1)
    steps = [step(2, n, 0.15, 0.0) for n in (0, 0, 1, 2)]
    assert told(0.5, steps, 1.75 / 1.5, costs=dear) == (
        "draft cheaper than on the cost curve (a drafted token costs 0.00 of a plain pass here, 1.00 on the cost curve)"
    )


def test_rows_that_make_the_difference_are_the_ones_named():
    # one row costs 1.3 plain passes here, in three steps; three rows cost what the curve says
    steps = [step(2, 2, 0.15, 0.02), *[step(0, 0, 0.13)] * 3]
    found = p.predict_chosen(1.0, evidence(steps, None), COSTS)
    words = p.cause(found, around(6 / 5.6, 0.001), evidence(steps, None), COSTS)
    assert words == "slower machine than for the plain answers (one row cost 1.30 × one row there)"


def test_prompt_that_is_unlike_the_sample():
    steps = [step(2, 2, 0.15, 0.02)] * 4
    assert told(0.5, steps, 3 / 1.7) == "prompt unlike the sample (alpha 1.00 here, 0.50 over all prompts)"


def test_drafts_that_are_shorter_than_asked():
    steps = [step(2, 2, 0.15, 0.02), *[step(0, 0, 0.1)] * 3]
    assert told(1.0, steps, 6 / 4.7) == ("drafts shorter than asked (0.5 of 2 on average, none in 75% of the steps)")


def test_acceptance_that_changes_with_position():
    costs = p.PassCosts({1: 0.1, 5: 0.11}, 0.0)
    steps = [step(4, 2, 0.11)] * 9  # 1 at positions 1 and 2, 0 at 3: alpha 18/27, which alone would keep 1.6
    words = p.cause(p.predict_fixed(2 / 3, 4, costs), around(30 / 11), evidence(steps, 4), costs)
    assert words == "acceptance falls with position (alpha 1.00 at 1, 0.00 at 3)"
    steps = [step(4, 4, 0.11)] * 5 + [step(4, 0, 0.11)] * 5  # 0.5 at 1, then 1; alpha 20/25
    words = p.cause(p.predict_fixed(0.8, 4, costs), around(30 / 11), evidence(steps, 4), costs)
    assert words == "acceptance rises with position (alpha 0.50 at 1, 1.00 at 4)"


def test_what_the_steps_do_not_show_is_not_made_up():
    steps = [step(2, n, 0.15, 0.02) for n in (0, 0, 1, 2)]
    assert told(0.5, steps, 0.5) == p.UNKNOWN
    assert told(0.5, [], 0.5) == p.UNKNOWN


def test_what_cannot_pay_says_which_side_is_to_blame():
    assert p.cannot_pay(p.predict_fixed(0.9, 2, COSTS)) == ""
    steep = p.PassCosts({1: 0.1, 5: 0.52}, 0.001)
    assert p.cannot_pay(p.predict_fixed(0.9, 4, steep)) == "target compute-bound: 5 rows cost 5.2 times one row"
    dear = p.PassCosts({1: 0.1, 3: 0.12}, 0.09)
    assert p.cannot_pay(p.predict_fixed(0.9, 2, dear)) == "draft too dear: a drafted token costs 0.90 of a plain pass"
