"""A memory whose short-sighted layers keep only what they see: smaller, and as right as the whole one.

Such layers forget what has left their window, so a text cannot be rewound to where that would be needed again.
"""

from __future__ import annotations

import pytest

from app.engine.session import Session
from app.engine.template import Renderer
from app.placement import Placement
from tests.engine.sessions import GREEDY, answer, load
from tests.fixtures import tiny_mtp

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
