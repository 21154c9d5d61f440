"""Rewinding a memory with recurrent layers: the state is always that of the tokens it claims to hold."""

import random

import numpy as np
import pytest

from app.engine.cancel import CancelFlag
from app.engine.llama import Context, DecodeCancelledError, Model, Shape
from app.engine.session import Session
from app.engine.template import Renderer
from tests.engine.sessions import GREEDY, answer, load
from tests.fixtures import tiny_mtp

N_ROWS, N_SNAPSHOTS = 9, 8


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    model = Model(str(tiny_mtp.qwen35_embedded(tmp_path_factory.mktemp("hybrid") / "tiny.gguf")))
    yield model
    model.close()


def _context(model, n_snapshots=N_SNAPSHOTS):
    return Context(model, Shape(n_ctx=512, n_threads=1, n_rows_max=N_ROWS, n_snapshots=n_snapshots, n_batch=64))


def _fresh_row(model, tokens):
    context = _context(model)
    for at in range(0, len(tokens), 40):
        context.decode(tokens[at : at + 40], 1)
    row = context.row(0).copy()
    context.close()
    return row


def _check(model, context, tokens, n_rows):
    assert np.abs(_fresh_row(model, tokens) - context.row(n_rows - 1)).max() < 0.02


@pytest.mark.parametrize("schedules", [pytest.param(12), pytest.param(200, marks=pytest.mark.full)])
def test_random_rewinds_and_marks_leave_the_right_state(model, schedules):
    rng = random.Random(1)
    n_exact = n_back = 0
    for _ in range(schedules):
        context, tokens = _context(model), []
        for _op in range(25):
            choice = rng.random()
            if choice < 0.6 or len(tokens) < 3:
                new = [rng.randrange(5, 300) for _ in range(rng.choice([1, 1, 2, 4, 5, 9]))]
                context.decode(new, len(new))
                tokens += new
                _check(model, context, tokens, len(new))
                if rng.random() < 0.3:
                    context.mark()
            else:
                want = max(0, len(tokens) - rng.choice([1, 1, 2, 3, 4, 8, 20]))
                context.rewind(want)
                n_exact, n_back = n_exact + (context.n_past == want), n_back + (context.n_past < want)
                del tokens[context.n_past :]
        context.close()
    assert n_exact
    assert n_back  # both ways were gone


def test_only_rows_of_the_last_decode_are_dropped_and_only_once(model):
    context = _context(model)
    context.decode(list(range(10, 22)), 1)
    context.decode([30], 1)
    context.rewind(12)  # seq_rm says yes to this and leaves a wrong state: the last decode had one row
    assert context.n_past == 0
    context.decode(list(range(10, 22)), 1)
    context.mark()
    context.decode([30, 31, 32, 33], 4)
    context.rewind(14)
    assert context.n_past == 14
    context.rewind(13)
    assert context.n_past == 12  # the mark
    context.close()


@pytest.mark.parametrize("n_snapshots", [0, N_SNAPSHOTS])
@pytest.mark.parametrize("is_marked", [False, True])
def test_a_decode_that_is_cancelled_leaves_no_wrong_state(model, n_snapshots, is_marked):
    tokens, flag = list(range(10, 30)), CancelFlag()
    context = _context(model, n_snapshots)
    context.decode(tokens, 1)
    if is_marked:
        context.mark()
    flag.set()
    with context.cancelled_by(flag), pytest.raises(DecodeCancelledError):
        context.decode([40, 41, 42], 1)
    # llama.cpp took the three tokens back by itself, from a state that was never written
    assert context.n_past == (len(tokens) if is_marked else 0)
    tokens += [40, 41, 42]
    context.decode(tokens[context.n_past :], 1)
    _check(model, context, tokens, 1)
    context.close()


def test_without_snapshots_nothing_can_be_drafted(model):
    context = _context(model, n_snapshots=0)
    assert context.n_draft_max == 0
    context.close()


@pytest.mark.parametrize("types", [(), ("ngram",), ("draft-mtp",)])
def test_an_edit_goes_on_from_the_checkpoint_before_it(tmp_path, types):
    """The question before is marked; what came after it is another now, and only that is evaluated again."""
    session = Session(Renderer())
    load(session, tiny_mtp.qwen35_embedded(tmp_path / "tiny.gguf"), n_ctx=2048)
    first = [("user", "the time there was when all of them said so " * 8)]
    try:
        said = answer(session, first, GREEDY, types, max_tokens=30)
        talk = [*first, ("assistant", said.text), ("user", "and how many of them were there")]
        answer(session, talk, GREEDY, types, max_tokens=30)
        edited = [*talk[:-1], ("user", "but what did they do then")]
        warm = answer(session, edited, GREEDY, types, max_tokens=30)
        assert warm.started.cached_tokens >= said.started.prompt_tokens - 1
        again = answer(session, first, GREEDY, types, max_tokens=30)
        assert again.started.cached_tokens == said.started.prompt_tokens - 1
        for got, messages in ((warm, edited), (again, first)):
            fresh = answer(session, messages, GREEDY, (), max_tokens=30, reuse_memory=False)
            assert fresh.started.cached_tokens == 0
            assert got.token_ids == fresh.token_ids
    finally:
        session.close()
