"""What answers save and lose together, and what earlier ones say of the next."""

import statistics
from collections import defaultdict

import pytest

from app.engine.evidence import Evidence
from app.engine.purse import CARRIED, EXPECTED_LOSS, Purse
from app.engine.worth import UsualWorth
from tests.engine.played_answers import recorded


def test_what_answers_did_not_lose_later_ones_may():
    """Each saves 0.3 %; what is won is not carried beyond what one may bear; a loss is paid back first."""
    purse, answer_s = Purse(), 10.0

    def answered(debt_s: float) -> Purse:
        purse.begin(answer_s, is_blind=False)
        purse.debt_s, purse.answer_s = debt_s, answer_s
        return purse.next()

    may_invest_s = []
    for debt_s in (0.0, 0.0, 0.0, 0.0, -5.0, 0.4, *[0.0] * 12):
        purse = answered(debt_s)
        purse.begin(answer_s, is_blind=False)
        may_invest_s.append(purse.to_invest_s(answer_s, 0.0))
    assert may_invest_s[:5] == pytest.approx([0.06, 0.09, 0.12, 0.15, 0.23]), "as much as one may bear"
    assert may_invest_s[5:11] == pytest.approx([0.03] * 6), "it lost 0.17 s beyond what was carried"
    assert may_invest_s[12] > 0.03
    assert min(may_invest_s) == pytest.approx(EXPECTED_LOSS * answer_s), "what any answer may is never withheld"
    for _ in range(20):
        purse = answered(0.0)
    purse.begin(answer_s, is_blind=False)
    assert purse.to_invest_s(answer_s, 0.0) == pytest.approx((EXPECTED_LOSS + CARRIED) * answer_s)


def test_a_short_answer_forgets_no_debt():
    purse = Purse()
    for took_s, debt_s in ((40.0, 0.0), (40.0, 1.5), (1.0, 0.0), (40.0, 0.0)):
        purse.begin(took_s, is_blind=False)
        purse.debt_s, purse.answer_s = debt_s, took_s
        purse = purse.next()
    assert purse.carried_s < -1.0


def test_what_earlier_answers_were_worth_fades_with_what_this_one_is():
    usual = UsualWorth()
    usual.answers.extend([1.6] * 12)
    worth = usual.begin(1.0)
    for _ in range(100):
        worth.observe(1, 1.05)
    assert worth.speedup() < 1.0
    assert worth.seen() < 1.0
    for _ in range(60_000):
        worth.observe(1, 1.05)
    assert worth.speedup() == pytest.approx(1 / 1.05, abs=1e-3)


@pytest.mark.parametrize("is_greedy", [True, False])
def test_words_drawn_with_the_targets_noise_are_kept_more_often_than_they_are_likely(is_greedy):
    known, kept = Evidence(), defaultdict(list)
    of_words = known.calibration_of("draft-simple", is_greedy)
    for answer in recorded(0.0 if is_greedy else 0.8):
        for agrees, probability in zip(answer.views[0].agrees, answer.views[0].probabilities, strict=True):
            kept[of_words.share(probability)].append(agrees)
    errors = {share: statistics.mean(found) - share for share, found in kept.items() if len(found) >= 50}
    assert len(errors) >= 8
    assert max(map(abs, errors.values())) < 0.09, errors
