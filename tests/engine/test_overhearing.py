"""N-gram drafts that nobody verified teach all the same: what came in their place is known."""

import random

import pytest

from app.engine.auto_length import AutoLength
from app.engine.draft_length import FixedLength
from app.engine.drafters.draft_model import DraftModelDrafter
from app.engine.drafters.ngram import NgramDrafter
from app.engine.evidence import Evidence
from app.engine.prompt_cache import Held
from app.engine.speculate import speculate
from app.protocol import Sampling, Step
from tests.engine.played_answers import play_copies, repeating
from tests.engine.scripted import ScriptedMemory
from tests.engine.test_auto_length import COMPUTE_BOUND, MACHINES, N_MAX, evidence
from tests.engine.test_speculate import AnyDraft, _generation

LENGTHS = (0, 4, 8, 15)


def auto(known):
    known.begin_answer()
    return AutoLength(known, N_MAX, 1024, models=frozenset())


@pytest.mark.parametrize(
    ("name", "n_vain", "run"),
    [*((name, 40, (8, 24)) for name in MACHINES), ("steep", 80, (2, 40)), ("compute-bound", 80, (2, 40))],
)
def test_an_answer_that_repeats_itself_after_drafts_in_vain_is_drafted_again(name, n_vain, run):
    machine, to_best, to_plain = MACHINES[name], [], []
    for seed in range(3):
        answer = repeating(random.Random(seed), n_vain, run=run)
        fixed = [play_copies(machine, answer, FixedLength(k), random.Random(1)) for k in LENGTHS]
        before_s, after_s = play_copies(machine, answer, auto(machine.evidence()), random.Random(1))
        to_best.append(min(after for _before, after in fixed) / after_s)
        to_plain.append(fixed[0][0] / before_s)
    assert min(to_best) >= 0.9, to_best
    assert min(to_plain) >= 1.0, to_plain


class Overhearing(FixedLength):
    """A policy that uses no draft, and notes what it overhears."""

    def __init__(self, k, *, uses=False):
        super().__init__(k)
        self.uses, self.heard = uses, []

    def trim(self, name, kind, n_draft):
        return n_draft if self.uses else 0

    def overhears(self, name, kind, n_judged, n_kept):
        self.heard.append((name, kind, n_judged, n_kept))


def test_the_loop_tells_how_unused_drafts_would_have_done():
    plain = [t for o in speculate(_generation(Sampling(5), max_tokens=6)) for t in o.token_ids]
    drafts = [[plain[1], plain[2]], [plain[2] + 1], [], [plain[4]]]
    g = _generation(Sampling(5), drafter=AnyDraft(drafts), max_tokens=6)
    g.length = Overhearing(4)
    assert [t for o in speculate(g) for t in o.token_ids] == plain
    assert [(n_judged, n_kept) for _name, _kind, n_judged, n_kept in g.length.heard] == [(1, 1), (1, 0), (1, 1)]


def test_what_is_used_is_not_overheard():
    g = _generation(Sampling(5), drafter=AnyDraft([[1, 2]] * 9), max_tokens=12)
    g.length = Overhearing(4, uses=True)
    assert len([t for o in speculate(g) for t in o.token_ids]) == 12
    assert g.length.heard == []


def test_copies_are_overheard_where_a_model_drafts_instead():
    class OfModels(Overhearing):
        def trim(self, name, kind, n_draft):
            return n_draft if name != "ngram" else 0

    target, drafts = ScriptedMemory(n_tail=1), ScriptedMemory(n_tail=1)  # which soon repeat themselves
    g = _generation(Sampling(5, temperature=0.0), max_tokens=40, target=target)
    g.drafters = (NgramDrafter(), DraftModelDrafter(drafts, Held(), g.chooser))
    g.length = OfModels(4)
    for drafter in g.drafters:
        drafter.begin(g.tokens)
    assert len([t for o in speculate(g) for t in o.token_ids]) == 40
    assert g.length.heard
    assert {name for name, *_ in g.length.heard} == {"ngram"}
    assert all(0 <= n_kept <= n_judged and n_judged for *_names, n_judged, n_kept in g.length.heard)


def test_what_is_overheard_of_a_copy_counts_and_of_a_model_does_not():
    policy = auto(evidence(COMPUTE_BOUND))
    for _ in range(12):
        policy.overhears("ngram", "ngram:8", 1, 0)
        policy.overhears("draft-simple", "draft-simple", 1, 0)
    assert policy.trim("ngram", "ngram:8", 15) == 0
    assert policy.evidence.of("ngram:8").alpha() < 0.3
    assert policy.evidence.of("draft-simple").alpha() == Evidence().of("draft-simple").alpha()
    for _ in range(60):
        policy.overhears("ngram", "ngram:8", 1, 1)
    assert policy.trim("ngram", "ngram:8", 15) > 0


def test_nothing_is_overheard_where_more_is_kept_than_the_text_says():
    policy = auto(evidence(COMPUTE_BOUND))
    policy.can_compare = False
    before = policy.evidence.of("ngram:8").alpha()
    for _ in range(12):
        policy.overhears("ngram", "ngram:8", 1, 0)
    assert policy.evidence.of("ngram:8").alpha() == before


def test_a_copy_that_is_not_used_is_given_as_no_reason():
    policy = auto(evidence(COMPUTE_BOUND))
    assert policy.ask("ngram", 0).limit
    assert policy.trim("ngram", "ngram:32", 15)
    assert policy.plan("ngram", 15).reason == "a place that agrees on 32 tokens"
    for _ in range(30):
        policy.overhears("ngram", "ngram:32", 1, 0)
    assert policy.ask("ngram", 0).limit
    assert not policy.trim("ngram", "ngram:32", 15)
    assert policy.plan("", 15).reason == "no place agrees for long enough to pay"


def test_looking_up_takes_nothing_of_what_drafts_may_cost():
    lengths = []
    for lookup_s in (0.0, 0.002):
        policy = auto(evidence(COMPUTE_BOUND))
        policy.begin(1.0)
        for _ in range(200):
            policy.observe(Step(0, 1, 15, 0, 0, 0, lookup_s, COMPUTE_BOUND[1], 0, ""), "", 0)
        lengths.append(policy.trim("ngram", "ngram:8", 15))
    assert lengths[0] == lengths[1] > 0
