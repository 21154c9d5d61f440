"""Target and draft may differ by up to 128 tokens: what one of them has no token for never breaks an answer."""

import pytest

from app.protocol import Sampling
from tests.engine.sessions import GREEDY, WARM, answer, load
from tests.fixtures import tiny

FEWER = tiny.N_VOCAB - len(tiny.WORDS) - 4  # without "e", "t", "a" and "o"
PENALISED = Sampling(seed=3, temperature=0.8, repeat_penalty=1.3)


@pytest.mark.parametrize("sampling", [GREEDY, WARM, PENALISED])
def test_a_draft_with_more_tokens_proposes_none_that_the_target_lacks(session, tmp_path, tiny_pair, sampling):
    target = tiny.llama(tmp_path / "fewer.gguf", n_tokens=FEWER)
    assert "draft-simple" in load(session, target, tiny_pair.draft).drafters
    plain = answer(session, "the cat", sampling, max_tokens=80)
    got = answer(session, "the cat", sampling, ("draft-simple",), max_tokens=80)
    assert got.token_ids == plain.token_ids
    assert got.done.notices == ()
    assert sum(step.accepted for step in got.steps) > 0


@pytest.mark.parametrize("sampling", [GREEDY, WARM, PENALISED])
@pytest.mark.parametrize("prompt", ["why", "to eat"])  # the draft has the tokens of the first
def test_a_draft_with_fewer_tokens_gives_up_where_it_cannot_follow(session, tmp_path, tiny_pair, prompt, sampling):
    fewer = tiny.llama(tmp_path / "fewer.gguf", n_tokens=FEWER)
    assert "draft-simple" in load(session, tiny_pair.target, fewer).drafters
    plain = answer(session, prompt, sampling, max_tokens=80)
    assert max(plain.token_ids) >= FEWER
    got = answer(session, prompt, sampling, ("draft-simple", "ngram"), max_tokens=80)
    assert got.token_ids == plain.token_ids
    assert [notice.code for notice in got.done.notices] == ["drafter_failed"]
