"""The loop on the scripted model: lossless, in lockstep, whatever the draft, the limits and the cancels."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.draft_length import FixedLength
from app.engine.drafters.draft_model import DraftModelDrafter
from app.engine.drafters.ngram import NgramDrafter
from app.engine.prompt_cache import Held
from app.engine.sampler import Sampler
from app.engine.speculate import Generation, speculate
from app.errors import DecodeError
from app.protocol import Sampling
from tests.engine.scripted import ScriptedMemory

PROMPT = [1, 2, 3, 4, 5, 1, 2, 3]


class AnyDraft:
    """Drafts what it is told to, right or wrong."""

    name = kind = "ngram"

    def n_unseen(self, tokens):
        return 0

    def n_behind(self, tokens):
        return 0

    def __init__(self, drafts):
        self.drafts = list(drafts)
        self.seen = None

    def begin(self, tokens):
        self.seen = list(tokens)

    def draft(self, tokens, ask):
        return (self.drafts.pop(0) if self.drafts else [])[: ask.limit]

    def accept(self, tokens):
        self.seen = list(tokens)

    def close(self):
        pass


def _generation(sampling, *, drafter=None, k=4, max_tokens=40, target=None, is_last=lambda _t: False, prompt=PROMPT):
    target = target or ScriptedMemory()
    missing = prompt[target.n_past :]
    for at in range(0, len(missing), target.n_batch):
        target.decode(missing[at : at + target.n_batch], 1)
    return Generation(
        target=target,
        tokens=list(prompt),
        chooser=Sampler(sampling, target.n_vocab, prompt),
        is_last=is_last,
        max_tokens=max_tokens,
        drafters=(drafter,) if drafter else (),
        length=FixedLength(k),
        origin_s=time.perf_counter(),
    )


def _tokens(g):
    outcomes = list(speculate(g))
    return [t for o in outcomes for t in o.token_ids], outcomes


SAMPLINGS = (
    Sampling(5, temperature=0.0),
    Sampling(5, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0),
    Sampling(6, temperature=0.8, repeat_penalty=1.3, penalty_last_n=16),
)


def _drafters(sampler, blur, seed_tokens):
    memory = ScriptedMemory(blur=blur)
    return {
        "ngram": (NgramDrafter(),),
        "draft": (DraftModelDrafter(memory, Held(), sampler),),
        "p_min": (DraftModelDrafter(ScriptedMemory(blur=blur), Held(), sampler, p_min=0.5),),
        "chain": (NgramDrafter(), DraftModelDrafter(ScriptedMemory(blur=blur), Held(), sampler)),
        "any": (AnyDraft(seed_tokens),),
    }


@given(
    st.sampled_from(SAMPLINGS),
    st.sampled_from(["ngram", "draft", "p_min", "chain", "any"]),
    st.integers(0, 31),
    st.floats(0, 1),
    st.integers(1, 60),
    st.lists(st.lists(st.integers(0, 39), max_size=12), max_size=60),
)
@settings(max_examples=150, deadline=None)
def test_text_does_not_depend_on_the_draft(sampling, name, k, blur, max_tokens, drafts):
    plain, _ = _tokens(_generation(sampling, max_tokens=max_tokens))
    g = _generation(sampling, max_tokens=max_tokens, k=k)
    g.drafters = _drafters(g.chooser, blur, drafts)[name]
    for drafter in g.drafters:
        drafter.begin(g.tokens)
    got, outcomes = _tokens(g)
    assert got == plain
    assert len(got) == max_tokens
    _check_facts(outcomes, len(PROMPT))


def _check_facts(outcomes, n_prompt):
    n_ctx = n_prompt
    for o in outcomes:
        s = o.step
        assert s.emitted == len(o.token_ids) == len(o.drafted) >= 1
        assert 0 <= s.accepted <= s.judged <= s.proposed <= s.limit
        assert sum(o.drafted) == s.accepted
        assert s.judged - s.accepted in (0, 1)
        assert (s.drafter != "") == (s.proposed > 0)
        n_ctx += s.emitted
        assert s.n_ctx == n_ctx - 1
    assert [o.step.t_s for o in outcomes] == sorted(o.step.t_s for o in outcomes)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_closing_at_any_step_leaves_both_memories_right(data):
    sampling = data.draw(st.sampled_from(SAMPLINGS))
    target, draft_memory, held = ScriptedMemory(), ScriptedMemory(blur=0.3), Held()
    prompt = list(PROMPT)
    for _turn in range(data.draw(st.integers(1, 4))):
        g = _generation(sampling, target=target, prompt=prompt, k=data.draw(st.integers(0, 8)))
        drafter = DraftModelDrafter(draft_memory, held, g.chooser)
        g.drafters = (drafter,)
        drafter.begin(g.tokens)
        loop = speculate(g)
        for _ in range(data.draw(st.integers(1, 10))):
            if next(loop, None) is None:
                break
        loop.close()
        drafter.close()
        assert target.held == g.tokens[: target.n_past]
        assert target.n_past == len(g.tokens) - 1
        assert draft_memory.held == held.tokens == g.tokens[: held.end]
        # The next turn edits the conversation somewhere and goes on.
        n_keep = data.draw(st.integers(1, len(g.tokens)))
        prompt = [*g.tokens[:n_keep], *data.draw(st.lists(st.integers(0, 39), min_size=1, max_size=5))]
        target.rewind(min(n_keep, target.n_past))
        fresh, _ = _tokens(_generation(sampling, prompt=prompt))
        again = _generation(sampling, prompt=prompt, target=target)
        assert _tokens(again)[0] == fresh
        target.rewind(len(prompt) - 1)


def test_the_last_token_ends_the_answer_and_nothing_after_it_is_kept():
    sampling = SAMPLINGS[0]
    plain, _ = _tokens(_generation(sampling))
    for last in range(len(plain)):
        left = [last]

        def is_last(_token, left=left):
            left[0] -= 1
            return left[0] < 0

        g = _generation(sampling, drafter=AnyDraft([plain[1:9], plain[9:20], plain[20:30]]), k=8, is_last=is_last)
        g.drafters[0].begin(g.tokens)
        got, outcomes = _tokens(g)
        assert got == plain[: last + 1]
        assert g.target.held == g.tokens[:-1]
        assert g.drafters[0].seen == (g.tokens if last else PROMPT)
        assert outcomes[-1].step.accepted <= outcomes[-1].step.emitted


def test_the_context_ends_with_every_slot_used_and_none_overrun():
    sampling = SAMPLINGS[0]
    plain, _ = _tokens(_generation(sampling, target=ScriptedMemory(n_ctx=30), max_tokens=1000))
    g = _generation(sampling, target=ScriptedMemory(n_ctx=30), max_tokens=1000, k=31)
    g.drafters = (DraftModelDrafter(ScriptedMemory(n_ctx=20), Held(), g.chooser),)
    g.drafters[0].begin(g.tokens)
    got, _ = _tokens(g)
    assert got == plain
    assert g.target.n_past == 30
    assert len(got) == 30 - len(PROMPT) + 1


def test_an_answer_of_one_token_needs_no_step():
    g = _generation(SAMPLINGS[0], max_tokens=1)
    got, outcomes = _tokens(g)
    assert len(got) == len(outcomes) == 1
    assert g.target.n_past == len(PROMPT)


@pytest.mark.parametrize("fail_at", [2, 3, 5])
def test_a_target_that_fails_leaves_confirmed_tokens_only(fail_at):
    target = ScriptedMemory()
    g = _generation(SAMPLINGS[1], target=target, drafter=NgramDrafter())
    g.drafters[0].begin(g.tokens)
    target.fail_at = fail_at
    with pytest.raises(DecodeError):
        list(speculate(g))
    assert target.held == g.tokens[:-1]


def test_a_drafter_that_fails_costs_its_speed_up_and_not_the_answer():
    plain, _ = _tokens(_generation(SAMPLINGS[1]))
    g = _generation(SAMPLINGS[1])
    memory = ScriptedMemory(blur=0.2)
    g.drafters = (DraftModelDrafter(memory, Held(), g.chooser),)
    g.drafters[0].begin(g.tokens)
    memory.fail_at = 9
    got, outcomes = _tokens(g)
    assert got == plain
    assert "scripted failure" in g.drafter_fault
    assert outcomes[1].step.proposed > 0
    assert outcomes[-1].step.drafter == ""


def test_shared_noise_agrees_more_often_than_the_most_likely_token():
    """The point of drafting with the target's own noise, on a pair that agrees only roughly."""
    sampling = Sampling(3, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)

    class MostLikely(DraftModelDrafter):
        def __init__(self, memory, held, _sampler):
            super().__init__(memory, held, Sampler(Sampling(0, temperature=0.0), 40))

    alphas = {}
    for make in (DraftModelDrafter, MostLikely):
        g = _generation(sampling, target=ScriptedMemory(n_ctx=4096, peakedness=1.5), max_tokens=1500)
        g.drafters = (make(ScriptedMemory(n_ctx=4096, peakedness=1.5, blur=0.3), Held(), g.chooser),)
        g.drafters[0].begin(g.tokens)
        _, outcomes = _tokens(g)
        alphas[make] = sum(o.step.accepted for o in outcomes) / sum(o.step.judged for o in outcomes)
    assert alphas[DraftModelDrafter] > alphas[MostLikely] + 0.05
