"""What chunks tell of their tokens when asked, on the real llama.cpp."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from app.engine.cancel import CancelFlag
from app.engine.session import Session
from app.engine.template import Renderer
from app.engine.token_details import NotingChooser
from app.protocol import Chunk, decode_event, encode
from app.token_details import TokenDetail
from tests.engine.sessions import load, request


@pytest.fixture(scope="module")
def ask(tiny_pair):
    """Ask a real session and return the chunks."""
    session = Session(Renderer())
    load(session, tiny_pair.target)

    def chunks(types=(), **how):
        command = request("one two three one two", types=types, **how)
        events = session.generate(command, received_s=time.perf_counter(), cancel=CancelFlag())
        return [event for event in events if isinstance(event, Chunk)]

    yield chunks
    session.close()


class First:
    """A chooser that always takes token 2."""

    def choose(self, _row, _position):
        return 2

    def accept(self, token):
        self.accepted = token


def test_the_probability_is_the_softmax_of_the_whole_row():
    inner = First()
    noting = NotingChooser(inner)
    row = np.log(np.array([0.5, 0.2, 0.25, 0.05], dtype=np.float32)) + 1000
    assert noting.choose(row, 0) == 2
    noting.accept(2)
    noting.note_text(3)
    assert inner.accepted == 2
    (told,) = noting.take()
    assert told.n_chars == 3
    assert told.probability == pytest.approx(0.25, rel=1e-4)
    assert noting.take() == ()


@pytest.mark.parametrize("types", [(), ("ngram",)])
def test_characters_of_the_tokens_add_up_to_the_text(ask, types):
    plain, told = ask(types), ask(types, token_details=True)
    for chunk in told:
        assert len(chunk.details) == len(chunk.token_ids) == chunk.step.emitted
        assert sum(detail.n_chars for detail in chunk.details) == len(chunk.text)
        assert all(0 < detail.probability <= 1 for detail in chunk.details)
    # AND the answer is the same one, and says nothing more when it is not asked
    assert ids(told) == ids(plain)
    assert all(chunk.details == () and b"details" not in encode(chunk) for chunk in plain)


def test_a_greedy_choice_is_never_less_likely_than_an_even_share(ask):
    told = ask(token_details=True)
    assert min(detail.probability for chunk in told for detail in chunk.details) > 1 / 1000


def test_details_cross_the_pipe():
    chunk = decode_event(
        b'{"type":"chunk","id":1,"text":"ab","token_ids":[5],"drafted":[false],"step":{"t_s":1,"emitted":1,"limit":0,'
        b'"proposed":0,"judged":0,"accepted":0,"draft_s":0,"verify_s":0,"n_ctx":9,"drafter":""},"details":[[2,0.5]]}'
    )
    assert chunk.details == (TokenDetail(2, 0.5),)
    assert decode_event(encode(chunk)) == chunk


def ids(chunks):
    return list(itertools.chain.from_iterable(chunk.token_ids for chunk in chunks))
