"""What the benchmarks of token trees rest on: steps counted without a target, and two sessions that go the same way."""

from __future__ import annotations

import random

import pytest

from app.engine.engage import sharpness_of
from app.engine.evidence import Evidence
from app.engine.session import Session
from app.engine.template import Renderer
from tests.benchmarks.interrupted import go_on
from tests.benchmarks.played import Player, Text
from tests.engine.sessions import GREEDY, WARM, answer, load
from tests.engine.test_trees import PROMPTS


@pytest.mark.parametrize("sampling", [GREEDY, WARM])
def test_steps_are_counted_as_the_loop_takes_them(tiny_pair, sampling):
    session = Session(Renderer())
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512, trees=True)
    pair, prompt = session._pair, PROMPTS[1]
    player = Player(pair.draft.model, 512, 1, pair.target.model.n_vocab, sharpness_of(pair))
    try:
        plain = answer(session, prompt, sampling, max_tokens=80)
        text = Text(session._prompting.said[: plain.started.prompt_tokens], plain.token_ids, sampling)
        for types, evidence in ((("draft-simple",), None), (("tree",), Evidence())):
            steps = answer(session, prompt, sampling, types, 5, max_tokens=80).steps[1:]
            count = player.count([text], 5, evidence)
            assert (count.n_steps, count.n_tokens) == (len(steps), len(plain.token_ids) - 1)
            assert count.n_branched == sum(step.depth > 0 for step in steps)
            assert count.n_fed > 0
    finally:
        player.close()
        session.close()


def test_a_conversation_with_trees_goes_as_one_without(tiny_pair):
    drafting, plain = Session(Renderer()), Session(Renderer())
    try:
        load(drafting, tiny_pair.target, tiny_pair.draft, n_ctx=256, trees=True)
        load(plain, tiny_pair.target, n_ctx=256)
        seen = go_on(drafting, plain, random.Random(3), 60, exact=True)
    finally:
        drafting.close()
        plain.close()
    assert not seen.margins
    assert seen.n_reused > 30
    assert sum(step.depth > 0 for step in seen.steps) > 5
    assert min(seen.ends["length"], seen.ends["cancelled"], seen.ends["closed"]) > 0, seen.ends
