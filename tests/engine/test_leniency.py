"""Lenient acceptance: what it keeps, what is proposed to it, and that it teaches lossless answers nothing."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from app.engine.draft_length import FixedLength
from app.engine.drafters.draft_model import DraftModelDrafter
from app.engine.leniency import is_typical
from app.engine.prompt_cache import Held
from app.engine.sampler import Sampler
from app.engine.session import Session
from app.engine.speculate import Generation, speculate
from app.engine.template import Renderer
from app.protocol import Sampling
from tests.engine.scripted import ScriptedMemory
from tests.engine.sessions import WARM, answer, load
from tests.engine.test_auto_trees import PAIRS

N_VOCAB, N_TOKENS, N_ANSWERS = 40, 120, 6
DRAWN = Sampling(seed=4, temperature=0.8)


@pytest.mark.parametrize("share", [1.0, 0.3, 0.03])
def test_the_likeliest_is_always_typical_and_the_more_so_the_smaller_p(share):
    rng, sampler = np.random.default_rng(1), Sampler(DRAWN, N_VOCAB)
    n_typical = {share: 0, share / 4: 0}
    for _ in range(50):
        row = (rng.standard_normal(N_VOCAB) * rng.choice([0.5, 2, 6])).astype(np.float32)
        assert is_typical(sampler, row, int(row.argmax()), share)
        for p in n_typical:
            n_typical[p] += sum(is_typical(sampler, row, token, p) for token in range(N_VOCAB))
    assert n_typical[share] < n_typical[share / 4]
    sampler.close()


def test_a_view_that_does_not_draw_goes_on_with_its_sampler():
    sampling = Sampling(seed=4, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, repeat_penalty=50.0, penalty_last_n=8)
    sampler = Sampler(sampling, N_VOCAB)
    row = np.linspace(1, 2, N_VOCAB, dtype=np.float32)
    view = sampler.likeliest()
    assert {view.choose(row, n) for n in range(9)} == {N_VOCAB - 1}
    assert len({sampler.choose(row, n) for n in range(9)}) > 1
    sampler.accept(N_VOCAB - 1)
    copy = view.clone()
    assert copy.choose(row, 1) == view.choose(row, 1) == N_VOCAB - 2, "what was taken is penalised"
    copy.accept(N_VOCAB - 2)
    assert (copy.choose(row, 2), view.choose(row, 2)) == (N_VOCAB - 3, N_VOCAB - 2)
    assert [token for token, _share in view.ranked(row, 2, 2)] == [N_VOCAB - 2, N_VOCAB - 3]
    copy.close()
    sampler.close()


def tokens_per_step(pair: str, share: float) -> float:
    """Return it over some answers of a scripted pair; share 0 is the ordinary rule."""
    peakedness, blur = PAIRS[pair]
    how = {"n_vocab": N_VOCAB, "n_ctx": 512, "peakedness": peakedness}
    target, draft, held, n_steps = ScriptedMemory(**how), ScriptedMemory(**how, blur=blur), Held(), 0
    for n in range(N_ANSWERS):
        prompt = [random.Random(n * 100 + i).randrange(N_VOCAB) for i in range(20)]
        target.rewind(0)
        target.decode(prompt, 1)
        sampler = Sampler(DRAWN, N_VOCAB, prompt)
        drafter = DraftModelDrafter(draft, held, sampler.likeliest() if share else sampler)
        g = Generation(
            *(target, list(prompt), sampler, lambda _token: False, N_TOKENS, (drafter,), FixedLength(4)),
            time.perf_counter(),
            keeps=(lambda row, token, sampler=sampler: is_typical(sampler, row, token, share)) if share else None,
        )
        n_steps += sum(1 for _ in speculate(g)) - 1
        drafter.close()
        sampler.close()
    return N_ANSWERS * (N_TOKENS - 1) / n_steps


@pytest.mark.parametrize("pair", PAIRS)
def test_it_gives_more_tokens_a_step_and_the_more_the_smaller_p(pair):
    found = [tokens_per_step(pair, share) for share in (0.0, 0.3, 0.1, 0.03)]
    assert found == sorted(found), found
    assert found[-1] > found[0] or pair == "sure"


def test_lossy_answers_teach_lossless_ones_nothing(tiny_pair):
    session = Session(Renderer())
    try:
        load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512, trees=True)
        evidence = session._pair.evidence
        for types in (("draft-simple",), ("tree",)):
            answer(session, "abc", WARM, types, "auto", max_tokens=64, speculation={"lenient": 0.05})
            answer(session, "abc", WARM, types, "auto", max_tokens=8, speculation={"lenient": 0.05})
        assert not evidence.usual_worth
        assert not any(sum(one.judged) for one in evidence.calibrations.values())
        answer(session, "abc", WARM, ("draft-simple",), "auto", max_tokens=64)
        assert evidence.worth
    finally:
        session.close()


def test_where_words_change_anyway_drafts_are_as_long_as_was_asked_for(tiny_pair, tiny_k_quants):
    session = Session(Renderer())
    try:
        if load(session, tiny_k_quants, tiny_pair.draft, n_ctx=512).n_rows_alike > 15:
            pytest.skip("no kernel of this machine changes with the rows")
        got = answer(session, "abc", WARM, ("draft-simple",), 15, max_tokens=48, speculation={"lenient": 0.1})
        assert max(step.proposed for step in got.steps) == 15
        assert not got.started.engagement.n_exact
        assert not got.started.notices
    finally:
        session.close()
