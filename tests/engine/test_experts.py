"""Models with experts: what passes cost and how they round is seen on rows that take different ways."""

import pytest

from app.engine.cancel import CancelFlag
from app.engine.llama import Context, Model, Shape
from app.engine.warm_up import learn_rows, time_drafting, words
from app.protocol import MeasureCosts
from tests.engine.sessions import GREEDY, WARM, answer, load
from tests.fixtures import tiny, tiny_moe

REPEATS = "of the hot day and of the hot day and of the hot day and of the hot day and"


class Listening(Context):
    """A context that remembers what it was given."""

    def __init__(self, model, shape):
        self.heard = []
        super().__init__(model, shape)

    def decode(self, tokens, n_rows):
        self.heard.append(list(tokens))
        super().decode(tokens, n_rows)


@pytest.fixture
def context(tmp_path):
    model = Model(str(tiny_moe.llama_moe(tmp_path / "moe.gguf")))
    context = Listening(model, Shape(n_ctx=512, n_threads=1, n_rows_max=16))
    yield context, model
    context.close()
    model.close()


def test_rows_that_are_measured_at_load_are_different_words(context):
    context, model = context
    rows = learn_rows(context, words(model, 16))
    assert rows.n_alike >= 1
    for tokens in (tokens for tokens in context.heard if len(tokens) >= 8):
        assert len(set(tokens)) > len(tokens) / 2, tokens
    context.heard.clear()
    time_drafting(context, words(model, 64))
    assert all(len(set(tokens)) > min(4, len(tokens) - 1) for tokens in context.heard)


def test_words_are_different_ones_and_go_on_anywhere(context):
    _, model = context
    text = words(model, 400)
    assert len(text) == 400
    assert words(model, 5, 100) == text[100:105]
    assert len(set(text)) > 20


@pytest.mark.parametrize("quantisation", ["Q8_0", "Q4_0"])
def test_speculation_does_not_change_the_text_of_experts(session, tmp_path, quantisation):
    how = {"quantisation": quantisation, "chain": tiny.words(24)}
    target = tiny_moe.llama_moe(tmp_path / "moe.gguf", **how)
    draft = tiny.llama(tmp_path / "draft.gguf", **how)
    loaded = load(session, target, draft, n_ctx=1024)
    assert loaded.n_rows_alike >= 1
    for sampling in (GREEDY, WARM):
        plain = answer(session, REPEATS, sampling, max_tokens=80)
        for types in (("ngram",), ("draft-simple",), ("ngram", "draft-simple")):
            for k in (1, 3, 8, "auto"):
                got = answer(session, REPEATS, sampling, types, k, max_tokens=80)
                assert got.token_ids == plain.token_ids, (types, k)


def test_the_cost_curve_of_experts_is_measured(session, tmp_path):
    load(session, tiny_moe.llama_moe(tmp_path / "moe.gguf"), n_ctx=512)
    measured = session.measure_costs(MeasureCosts(id=3, n_rows=(1, 4, 8), positions=(0, 60), repeat=2), CancelFlag())
    assert [row.n_rows for at in measured.costs for row in at.rows] == [1, 4, 8] * 2
    assert all(row.median_s > 0 for at in measured.costs for row in at.rows)
