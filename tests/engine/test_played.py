"""What benchmarks rest on: steps counted and replayed without a target, and two sessions that go the same way."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from app.engine.engage import sharpness_of
from app.engine.evidence import Evidence
from app.engine.session import Session
from app.engine.template import Renderer
from tests.benchmarks.interrupted import go_on
from tests.benchmarks.played import Player, Text
from tests.benchmarks.replay import LENGTHS, NGRAM_LENGTHS, Curve, Words, play, played_s
from tests.benchmarks.speculation import fixed_lengths
from tests.engine.sessions import GREEDY, WARM, answer, load
from tests.engine.test_trees import PROMPTS
from tests.fixtures import tiny


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


@pytest.fixture(scope="module")
def repeating(tmp_path_factory):
    """A pair that says few words over and over, in changing order: n-gram drafts now and then, and is often wrong."""
    return tiny.llama_pair(tmp_path_factory.mktemp("repeating"), chain=tiny.words(24))


@pytest.mark.parametrize("sampling", [GREEDY, WARM])
@pytest.mark.parametrize("types", [("ngram",), ("draft-simple",), ("ngram", "draft-simple")])
@pytest.mark.parametrize("length", [1, 3, 8, 16])
def test_fixed_lengths_are_replayed_as_the_loop_takes_them(repeating, sampling, types, length):
    session = Session(Renderer())
    load(session, repeating.target, repeating.draft, n_ctx=512)
    words = Words(session._pair, 512)
    try:
        plain = answer(session, PROMPTS[1], sampling, max_tokens=120)
        prompt = session._prompting.said[: plain.started.prompt_tokens]
        agrees = (
            words.agreement(prompt, plain.token_ids, sampling, likeliest=False) if "draft-simple" in types else None
        )
        played = play(prompt, plain.token_ids, agrees, length, has_ngram="ngram" in types)
        did = answer(session, PROMPTS[1], sampling, types, length, max_tokens=120).steps[1:]
    finally:
        words.close()
        session.close()
    assert [(one.n_draft, one.n_emitted) for one in played] == [(step.proposed, step.emitted) for step in did]
    assert [one.by_model for one in played] == [step.drafter == "draft-simple" for step in did]
    assert sum(step.proposed > 0 for step in did) > 3
    curve = Curve(dict.fromkeys(range(1, 18), 1.0), 0.01, 0.001)
    n_drafted = sum(s.proposed for s in did if s.drafter == "draft-simple")
    caught_up_s = sum(curve.catch_up_s(s.n_caught_up) for s in played)
    searched_s = sum(one.search_s for one in played)
    assert played_s(curve, played) == pytest.approx(len(did) + 0.01 * n_drafted + caught_up_s + searched_s)
    assert searched_s < 5.0  # a clock on the wall, of a machine that may be busy
    for before, one in pairwise(played):
        if one.by_model and before.by_model:  # the last word of a draft that was kept whole was not fed to the drafter
            assert one.n_caught_up == (before.n_emitted == before.n_draft + 1)
        elif one.by_model:
            assert one.n_caught_up >= before.n_emitted


def test_the_fixed_lengths_are_those_that_can_be_chosen(tiny_pair):
    session = Session(Renderer())
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512)
    pair = session._pair
    try:
        both = fixed_lengths(pair, ("ngram", "draft-simple"), exact=False)
        assert both == {"ngram": NGRAM_LENGTHS, "draft-simple": LENGTHS, "ngram,draft-simple": LENGTHS}
        pair.n_rows_alike = 4
        assert fixed_lengths(pair, ("ngram",), exact=True) == {"ngram": (1, 2, 3)}
        assert fixed_lengths(pair, ("draft-mtp",), exact=True) == {}
    finally:
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
