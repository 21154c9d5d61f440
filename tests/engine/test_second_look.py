"""What loading met on a busy machine is seen again in a pause, and leaves the memories as they were."""

import math
import threading

import pytest

from app.engine.cancel import CancelFlag
from app.engine.second_look import Pauses
from tests.engine.sessions import GREEDY, WARM, answer, load
from tests.engine.test_mtp import write

PROMPT = "the cat of the hot day and the long word"
BUSY = 5.0


@pytest.fixture
def pair(session, tiny_pair):
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=1024)
    return session


def make_busy(session):
    """Let the pair believe what a busy machine would have told it."""
    costs = session._pair.evidence.costs
    true_s = dict(costs.base_s)
    costs.base_s = {n: 4 * s * (1 if n == 1 else BUSY) for n, s in true_s.items()}
    for cost in costs.drafters.values():
        cost.token_s *= 4 * BUSY
    return true_s


def dearness(session, true_s):
    """Return how many times too dear rows are held, in the middle."""
    costs = session._pair.evidence.costs
    ratios = sorted(costs.verify_s(n) / costs.verify_s(1) / (true_s[n] / true_s[1]) for n in true_s if 1 < n <= 16)
    return ratios[len(ratios) // 2]


def memories(session):
    pair = session._pair
    return [(part.context.n_past, list(part.held.tokens)) for part in (pair.target, pair.draft) if part is not None]


def test_what_a_busy_machine_said_is_corrected_in_the_pause_after_the_first_answer(pair):
    true_s = make_busy(pair)
    answer(pair, PROMPT, WARM, ("draft-simple",), "auto")
    token_s = pair._pair.evidence.costs.drafters["draft-simple"].token_s
    before = memories(pair)
    assert dearness(pair, true_s) > BUSY / 2
    pair.rest(CancelFlag())
    assert dearness(pair, true_s) < BUSY / 2
    assert pair._pair.evidence.costs.drafters["draft-simple"].token_s < token_s
    assert memories(pair) == before


@pytest.mark.parametrize("types", [("draft-simple",), ("ngram", "draft-simple"), ("tree",)])
def test_an_answer_after_the_pause_is_the_one_without_it(pair, types):
    want = [answer(pair, f"{PROMPT} {i}", WARM, types, "auto", max_tokens=32).token_ids for i in range(3)]
    for i in range(3):
        got = answer(pair, f"{PROMPT} {i}", WARM, types, "auto", max_tokens=32)
        assert got.token_ids == want[i]
        pair._pauses = Pauses()
        pair.rest(CancelFlag())
    again = answer(pair, f"{PROMPT} 2", WARM, types, "auto", max_tokens=32)
    assert again.token_ids == want[2]
    assert again.started.cached_tokens == again.started.prompt_tokens - 1, "the memory still holds the prompt"


@pytest.mark.parametrize("kind", ["embedded", "shared"])
def test_heads_that_watch_their_target_see_nothing_of_it(session, kind, tmp_path):
    load(session, *write(kind, tmp_path), n_ctx=512)
    want = [answer(session, f"{PROMPT} {i}", GREEDY, ("draft-mtp",), "auto", max_tokens=24) for i in range(2)]
    for i in range(2):
        got = answer(session, f"{PROMPT} {i}", GREEDY, ("draft-mtp",), "auto", max_tokens=24)
        assert got.token_ids == want[i].token_ids
        before = memories(session)
        session._pauses = Pauses()
        session.rest(CancelFlag())
        assert memories(session) == before


@pytest.mark.parametrize(("types", "k"), [((), 4), (("ngram",), "auto"), (("draft-simple",), 4)])
def test_who_needs_no_costs_does_not_pay_for_them(pair, types, k):
    true_s = make_busy(pair)
    answer(pair, PROMPT, WARM, types, k)
    pair.rest(CancelFlag())
    assert dearness(pair, true_s) > BUSY / 2
    assert pair._pauses.plain_s is None


def test_whatever_is_asked_next_ends_it(pair):
    true_s = make_busy(pair)
    answer(pair, PROMPT, WARM, ("draft-simple",), "auto")
    before, ended = memories(pair), CancelFlag()
    ended.set()
    pair.rest(ended)
    assert dearness(pair, true_s) > BUSY / 2
    for after_s in (0.0, 0.002, 0.01, 0.03):
        answer(pair, PROMPT, WARM, ("draft-simple",), "auto")
        before, flag = memories(pair), CancelFlag()
        timer = threading.Timer(after_s, flag.set)
        timer.start()
        pair.rest(flag)
        timer.join()
        assert memories(pair) == before
    assert answer(pair, PROMPT, WARM, ("draft-simple",), "auto").token_ids == answer(pair, PROMPT, WARM).token_ids


def test_it_is_seen_again_only_on_another_machine_and_seldom(pair):
    make_busy(pair)
    answer(pair, PROMPT, WARM, ("draft-simple",), "auto")
    pair.rest(CancelFlag())
    pauses, plain_s = pair._pauses, pair._pauses.plain_s
    assert plain_s is not None
    for factor, answered_s, is_seen in ((1.05, 1e9, False), (1.5, 0.0, False), (1.5, 1e9, True), (0.6, 1e9, True)):
        answer(pair, PROMPT, WARM, ("draft-simple",), "auto", max_tokens=4)
        pauses.plain_s, pauses.answered_s = pair._pair.evidence.costs.verify_s(1) * factor, answered_s
        pair.rest(CancelFlag())
        assert (pauses.answered_s == 0.0) == is_seen, (factor, answered_s)


def test_one_that_was_refused_is_tried_again_after_a_while(pair):
    answer(pair, PROMPT, WARM, ("draft-simple",), "auto")
    ended = CancelFlag()
    ended.set()
    pair.rest(ended)
    pauses = pair._pauses
    assert pauses.plain_s is None
    assert pauses.tried_s > 0
    make_busy(pair)
    pauses.tried_s = 1e9
    answer(pair, PROMPT, WARM, ("draft-simple",), "auto", max_tokens=4)
    pair.rest(CancelFlag())
    assert pauses.plain_s is None, "not so soon"
    pauses.tried_s = 0.0
    answer(pair, PROMPT, WARM, ("draft-simple",), "auto", max_tokens=4)
    pair.rest(CancelFlag())
    assert pauses.plain_s is not None


def test_another_pair_is_not_measured_for_an_answer_of_the_last_one(pair, tiny_pair):
    answer(pair, PROMPT, WARM, ("draft-simple",), "auto")
    pair.rest(CancelFlag())
    answer(pair, PROMPT, WARM, ("draft-simple",), "auto")
    pair.unload()
    load(pair, tiny_pair.target, tiny_pair.draft, n_ctx=512)
    pair.rest(CancelFlag())
    assert pair._pauses.plain_s is None


def test_a_pause_in_which_something_else_is_busy_tells_nothing(pair):
    answer(pair, PROMPT, WARM, ("draft-simple",), "auto")
    costs = pair._pair.evidence.costs
    costs.base_s = {n: s / 50 for n, s in costs.base_s.items()}
    before = dict(costs.base_s)
    pair.rest(CancelFlag())
    assert costs.base_s == before


def test_costs_that_were_not_measured_again_go_on_as_they_are(pair):
    costs = pair._pair.evidence.costs
    costs.base_s, costs.drift = {1: 0.1, 2: 0.15, 4: 0.3, 8: 0.5, 16: 0.9}, 2.0
    few_s = costs.draft_s("tree", 3, 8)
    costs.renew({1: 0.1, 8: 0.2}, {})
    found = {n: costs.verify_s(n) for n in costs.base_s}
    assert found == pytest.approx({1: 0.2, 2: 0.3, 4: 0.4, 8: 0.4, 16: 1.8}), (
        "rows against one row, whose cost is known"
    )
    assert math.isclose(costs.draft_s("tree", 3, 8), few_s)


def test_a_fixed_shape_learns_of_it_too(pair):
    make_busy(pair)
    answer(pair, PROMPT, WARM, ("draft-simple",), "auto")
    of_shape = pair._pair.evidence_for(5, 0.0)
    before_s = of_shape.costs.verify_s(5)
    pair.rest(CancelFlag())
    assert pair._pair.evidence_for(5, 0.0) is of_shape
    assert of_shape.costs.verify_s(5) < before_s / 2
