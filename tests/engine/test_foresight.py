"""What the target's own rows tell of how well a drafter is going to do."""

import numpy as np
import pytest

from app.engine.auto_length import AutoLength
from app.engine.costs import Costs, DrafterCost
from app.engine.draft_length import PARTLY
from app.engine.evidence import EASE, Evidence
from app.engine.foresight import FEWEST, RECENT, Foresight
from app.engine.sampler import Sampler, confidence, peak
from app.engine.watching import WatchingChooser
from app.errors import DecodeError
from app.lessons import sound
from app.protocol import Sampling
from tests.engine.played_answers import Machine

MACHINE = Machine({1: 0.064, 2: 0.104, 4: 0.125, 8: 0.172, 16: 0.222}, 0.0165, 0.0036)


def seen(*peaks):
    sight = Foresight()
    for one in peaks:
        sight.sees(one)
    return sight


def taught(known, kind, peak_of_it, share, n=100):
    for i in range(n):
        known.calibration_of(kind + EASE, is_greedy=True).observe(peak_of_it, i < share * n)


def test_the_peak_of_a_row_is_the_probability_of_its_likeliest_token():
    row = np.random.default_rng(1).normal(0, 3, 5000).astype(np.float32)
    assert peak(row) == pytest.approx(confidence(row, int(row.argmax())))
    row[17] = 80.0
    assert peak(row) == pytest.approx(1.0)


def test_whoever_watches_changes_no_choice_and_sees_every_row():
    class First:
        def __init__(self):
            self.taken = []

        def choose(self, row, position):
            return int(row.argmax()) + position

        def accept(self, token):
            self.taken.append(token)

    sight, inner = Foresight(), First()
    chooser = WatchingChooser(inner, sight.sees)
    rows = np.random.default_rng(2).normal(0, 3, (5, 300)).astype(np.float32)
    assert [chooser.choose(row, 7) for row in rows] == [int(row.argmax()) + 7 for row in rows]
    chooser.accept(3)
    assert inner.taken == [3]
    assert sight.last(5) == pytest.approx([peak(row) for row in rows])


def test_a_row_that_is_none_is_refused_with_the_words_for_it():
    chooser = WatchingChooser(Sampler(Sampling(3, temperature=0.8), 5000), Foresight().sees)
    with pytest.raises(DecodeError, match="not a number"):
        chooser.choose(np.full(5000, np.nan, np.float32), 1)


def test_heads_are_not_foreseen_since_they_draft_no_further_than_they_are_many():
    costs = Costs({1: 0.1, 2: 0.11, 4: 0.12, 8: 0.13}, {"draft-mtp": DrafterCost(0.005, 0.001)})
    policy = AutoLength(Evidence(costs), 15, 512)
    assert not policy.foresees("draft-mtp")
    assert not policy.foresees("tree")
    assert AutoLength(MACHINE.evidence(), 15, 512).foresees("tree")


def test_it_is_blind_at_first_and_looks_at_what_is_recent():
    sight = seen(*[0.1] * (FEWEST - 1))
    assert sight.is_blind
    sight.sees(0.1)
    assert not sight.is_blind
    for _ in range(RECENT):
        sight.sees(0.99)
    assert sight.alpha(Evidence().calibration_of("draft-simple!", is_greedy=True)) > 0.97
    assert sight.last(0) == []


def test_what_it_tells_is_learned_and_counts_more_the_more_was_seen():
    known, sight = Evidence(), seen(*[0.97] * RECENT)
    before = known.foreseen("draft-simple", True, sight)
    taught(known, "draft-simple", 0.97, 0.4)
    after = known.foreseen("draft-simple", True, sight)
    assert before[0] > 0.9
    assert after[0] == pytest.approx(0.44, abs=0.03)
    assert after[1] > 2 * before[1]


def test_with_all_in_view_it_does_at_least_as_well_as_with_a_part():
    sight = seen(*[0.6] * RECENT)
    known = Evidence()
    taught(known, PARTLY, 0.6, 0.9)
    assert known.foreseen("draft-simple", True, sight)[0] > 0.8
    taught(known, "draft-simple", 0.6, 0.3, n=300)
    assert known.foreseen("draft-simple", True, sight)[0] < 0.4, "what is known of it itself goes first"
    fresh = Evidence()
    taught(fresh, "draft-simple", 0.6, 0.1)
    assert fresh.foreseen(PARTLY, True, sight)[0] < 0.2, "and a part does no better than all of it"


def test_what_was_learned_of_the_target_s_words_outlives_the_file():
    known = MACHINE.evidence()
    taught(known, "draft-simple", 0.97, 0.4)
    lessons = sound(known.lessons())
    again = Evidence()
    again.recall(lessons)
    sight = seen(*[0.97] * RECENT)
    assert again.foreseen("draft-simple", True, sight) == known.foreseen("draft-simple", True, sight)


@pytest.mark.parametrize(("peak_of_it", "is_asked"), [(0.99, True), (0.6, False)])
def test_catching_up_waits_for_what_the_target_tells(peak_of_it, is_asked):
    policy = AutoLength(MACHINE.evidence(), 15, 512)
    policy.foresight = Foresight()
    policy.begin(3.0)
    for n in range(RECENT):
        assert policy.ask("draft-simple", 80 + n).limit == 0 or not policy.foresight.is_blind
        policy.foresight.sees(peak_of_it)
    assert bool(policy.ask("draft-simple", 80 + RECENT).limit) == is_asked


def test_a_purse_that_catching_up_has_filled_does_not_end_what_pays():
    policy = AutoLength(MACHINE.evidence(), 15, 512)
    policy.begin(1.0)
    for _ in range(20):
        policy._worth("draft-simple", "draft-simple").observe(6, 2.0)
    policy.purse.invested_s = policy.purse.debt_s = 100.0
    assert policy.ask("draft-simple", 2).limit
    assert not policy.ask("draft-simple", 60).limit
