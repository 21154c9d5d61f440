"""A memory whose short-sighted layers keep only what they see: smaller, and as right as the whole one.

Such layers forget what has left their window, so a text cannot be rewound to where that would be needed again.
"""

from __future__ import annotations

import pytest

from app.engine.session import Session
from app.engine.template import Renderer
from app.placement import Placement
from tests.engine.sessions import GREEDY, WARM, answer, load
from tests.fixtures import tiny, tiny_mtp

LONG = "the time there was when all of them said so " * 30
SMALL = Placement(n_batch=128, keeps_window=False)
WHOLE = Placement(n_batch=128)
N_CTX = 4096


@pytest.fixture
def session():
    one = Session(Renderer())
    yield one
    one.close()


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return tiny_mtp.gemma4_pair(tmp_path_factory.mktemp("gemma4"))


def said(session, pair, placement, prompts, **how):
    load(session, pair.target, pair.draft, n_ctx=N_CTX, placement=placement)
    return [answer(session, prompt, GREEDY, ("draft-mtp",), **how) for prompt in prompts]


def test_going_back_further_than_the_window_begins_anew_and_says_the_same(session, pair):
    prompts = [LONG, LONG[: len(LONG) // 2] + " but then", LONG[:60]]
    whole = said(session, pair, WHOLE, prompts)
    small = said(session, pair, SMALL, prompts)
    assert [one.token_ids for one in small] == [one.token_ids for one in whole]
    assert whole[1].started.cached_tokens > 100
    assert [one.started.cached_tokens for one in small] == [0, 0, 0]


def test_drafts_are_rewound_within_the_window(session, pair):
    (whole,) = said(session, pair, WHOLE, [LONG], k=5, max_tokens=150)
    (small,) = said(session, pair, SMALL, [LONG], k=5, max_tokens=150)
    assert small.token_ids == whole.token_ids
    assert any(step.accepted < step.proposed for step in small.steps)  # else nothing was rewound
    assert any(step.accepted for step in small.steps)


def test_a_longer_prompt_goes_on_from_what_is_there(session, pair):
    first, second = said(session, pair, SMALL, [LONG, LONG + " and"], max_tokens=1)
    assert second.started.cached_tokens >= first.started.prompt_tokens - 1


@pytest.mark.parametrize("sampling", [GREEDY, WARM])
def test_a_draft_model_and_a_target_with_short_windows_say_what_whole_ones_say(session, tmp_path, sampling):
    """Drafts of all lengths and texts that go back: the draft's memory forgets, too, and begins anew where it must."""
    pair = tiny_mtp.gemma4_draft_pair(tmp_path, chain=tiny.words(24))
    long = LONG[: len(LONG) // 2]
    prompts = [long, long + " and then", long[: len(long) // 2] + " but then", long[:60]]
    ways = ((("ngram",), 8), (("draft-simple",), 3), (("ngram", "draft-simple"), "auto"))
    load(session, pair.target, pair.draft, n_ctx=N_CTX, placement=WHOLE, draft_placement=WHOLE)
    plain = [answer(session, prompt, sampling, reuse_memory=False).token_ids for prompt in prompts]
    for target, draft in ((WHOLE, SMALL), (SMALL, SMALL)):
        load(session, pair.target, pair.draft, n_ctx=N_CTX, placement=target, draft_placement=draft)
        assert [session._pair.target.context.keeps_window, session._pair.draft.context.keeps_window] == [
            target.keeps_window,
            draft.keeps_window,
        ]
        steps = []
        for types, k in ways:
            got = [answer(session, prompt, sampling, types, k) for prompt in prompts]
            assert [one.token_ids for one in got] == plain, (types, k)
            steps += [step for one in got for step in one.steps]
        for drafter in ("ngram", "draft-simple"):
            drafted = [step for step in steps if step.drafter == drafter]
            assert sum(step.accepted for step in drafted) > 10, drafter
        assert any(step.accepted < step.judged for step in steps)  # else nothing was rewound
