"""What a paused draft model says of text that came without it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.costs import Costs, DrafterCost
from app.engine.draft_length import Ask
from app.engine.drafters.draft_model import DraftModelDrafter
from app.engine.prompt_cache import Held
from app.engine.review import Place, plain_steps_at_best
from app.engine.sampler import Sampler
from app.protocol import Sampling
from tests.engine.scripted import ScriptedMemory

TEXT = [(7 * i + i * i) % 40 for i in range(60)]
NAME = "draft-simple"


def drafter_of(memory, sampling):
    sampler = Sampler(sampling, memory.n_vocab, TEXT[:9])
    return DraftModelDrafter(memory, Held(), sampler)


def said_at(position, sampling):
    """Return what a drafter that has seen the text up to there drafts first."""
    drafter = drafter_of(ScriptedMemory(blur=0.4), sampling)
    (token,) = drafter.draft(TEXT[:position], Ask(1, drafter.n_behind(TEXT[:position])))
    return token


@pytest.mark.parametrize("sampling", [Sampling(temperature=0.0, seed=3), Sampling(temperature=0.9, top_k=12, seed=3)])
@settings(max_examples=60, deadline=None)
@given(st.integers(1, 58), st.integers(0, 58), st.integers(1, 32), st.integers(2, 64))
def test_it_says_of_each_token_what_it_would_have_drafted_there(sampling, n_review, n_held, n_rows_max, n_batch):
    memory = ScriptedMemory(blur=0.4, n_rows_max=min(n_rows_max, n_batch), n_batch=n_batch)
    drafter, heard = drafter_of(memory, sampling), []
    if n_held:
        drafter.begin(TEXT[: n_held + 1])
    ask = Ask(2, drafter.n_behind(TEXT), n_review=n_review, hears=lambda places: heard.extend(places) or True)
    draft = drafter.draft(TEXT, ask)
    n = min(n_review, memory.n_rows_max - 1, len(TEXT) - 1 - n_held)
    assert [place.is_kept for place in heard] == [said_at(i, sampling) == TEXT[i] for i in range(60 - n, 60)]
    assert all(0 < place.probability <= 1 for place in heard)
    assert draft[0] == said_at(60, sampling)
    assert memory.held == [*TEXT, draft[0]]


def test_it_drafts_nothing_when_that_does_not_pay_and_goes_on_later():
    sampling = Sampling(seed=3, temperature=0.0)
    drafter = drafter_of(ScriptedMemory(blur=0.4), sampling)
    assert drafter.draft(TEXT[:40], Ask(4, 39, n_review=8, hears=lambda _places: False)) == []
    assert drafter.n_behind(TEXT[:41]) == 0
    assert drafter.draft(TEXT[:41], Ask(1, 0))[0] == said_at(41, sampling)


@pytest.mark.parametrize("has_grammar", [False, True])
def test_where_a_choice_depends_on_what_was_said_since_it_says_nothing_of_the_past(has_grammar):
    memory = ScriptedMemory(blur=0.4)
    drafter = drafter_of(memory, Sampling(seed=3, temperature=0.0, repeat_penalty=1.0 if has_grammar else 1.3))
    if has_grammar:
        drafter._sampler.keep_to(AnyGrammar())
    heard = []
    assert drafter.draft(TEXT, Ask(2, 59, n_review=20, hears=heard.append))
    assert heard == []
    assert {n_rows for _, n_rows in memory.batches} == {1}


class AnyGrammar:
    """Allows everything."""

    def allowed(self, candidates):
        return candidates

    def accept(self, token):
        pass

    def clone(self):
        return self

    def close(self):
        pass


def test_successive_places_cost_what_the_best_length_takes():
    costs = Costs({1: 0.1, 2: 0.15, 4: 0.16, 8: 0.2}, {NAME: DrafterCost(0.01)})
    kept, missed = Place(0.9, is_kept=True), Place(0.3, is_kept=False)
    assert plain_steps_at_best([kept] * 24, costs, NAME, 7) == pytest.approx(3 * 0.27 / 0.1)
    assert plain_steps_at_best([missed] * 10, costs, NAME, 7) == pytest.approx(10 * 0.16 / 0.1)
    assert plain_steps_at_best([kept, missed] * 6, costs, NAME, 7) == pytest.approx(6 * 0.16 / 0.1)
    assert plain_steps_at_best([kept] * 8, Costs(), NAME, 7) is None


def test_a_text_that_ends_within_a_draft_counts_for_what_it_has():
    costs = Costs({1: 0.1, 2: 0.11, 3: 0.12, 4: 0.16}, {NAME: DrafterCost(0.0)})
    kept = Place(0.9, is_kept=True)
    assert plain_steps_at_best([kept] * 2, costs, NAME, 3) == pytest.approx(0.16 / 0.1 * 2 / 4)
