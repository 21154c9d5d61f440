"""Log-probabilities of an answer's tokens, as an API asks for them."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from app.engine.cancel import CancelFlag
from app.engine.session import Session
from app.engine.template import Renderer
from app.engine.token_details import LogprobChooser
from app.errors import UsageError
from app.protocol import Chunk
from tests.engine.sessions import load, request


class First:
    """Chooses the first token whatever the row."""

    def choose(self, row, position):
        return 0

    def accept(self, token):
        pass


def test_the_likeliest_come_first_and_the_choice_has_its_own_whatever_its_rank():
    chooser = LogprobChooser(First(), 2, lambda token: bytes([97 + token]))
    chooser.choose(np.log(np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32)), 0)
    (told,) = chooser.take()
    assert told.piece == b"a"
    assert told.logprob == pytest.approx(math.log(0.1), abs=1e-6)
    assert [piece for piece, _ in told.top] == [b"d", b"c"]
    assert [math.exp(one) for _, one in told.top] == pytest.approx([0.4, 0.3], abs=1e-6)
    assert chooser.take() == ()


def test_an_infinite_row_entry_is_no_trouble():
    chooser = LogprobChooser(First(), 1, lambda token: b"x")
    chooser.choose(np.array([0.0, -np.inf], dtype=np.float32), 0)
    assert chooser.take()[0].logprob == 0.0


@pytest.fixture(scope="module")
def session(tiny_pair):
    made = Session(Renderer())
    load(made, tiny_pair.target, tiny_pair.draft)
    yield made
    made.close()


def told(session, **how):
    command = request("the cat", n_top_logprobs=3, max_tokens=12, reuse_memory=False, **how)
    events = session.generate(command, received_s=time.perf_counter(), cancel=CancelFlag())
    return [(chunk.token_ids, chunk.logprobs) for chunk in events if isinstance(chunk, Chunk)]


def test_each_emitted_token_has_one_and_drafts_change_none(session):
    found = told(session, types=("draft-simple",), k=3)
    assert any(len(tokens) > 1 for tokens, _ in found)
    assert all(len(tokens) == len(logprobs) for tokens, logprobs in found)
    every = [one for _, logprobs in found for one in logprobs]
    assert all(len(one.top) == 3 and one.logprob == one.top[0][1] for one in every)  # greedy
    plain = [one for _, logprobs in told(session) for one in logprobs]
    assert [one.piece for one in plain] == [one.piece for one in every]
    assert [one.logprob for one in plain] == pytest.approx([one.logprob for one in every], abs=1e-3)


def test_more_than_the_api_gives_are_refused(session):
    with pytest.raises(UsageError, match="21 log-prob"):
        list(session.generate(request("x", n_top_logprobs=21), received_s=0.0, cancel=CancelFlag()))
