"""Heads that draft from the first token on take in the prompt as the target evaluates it: no row waits for the rest."""

import time
from dataclasses import dataclass, field

import numpy as np
import pytest
from msgspec import structs

from app.engine.cancel import CancelFlag
from app.engine.session import Session
from app.engine.template import Renderer
from app.errors import DecodeError
from app.protocol import Done, Prefill
from tests.engine.sessions import GREEDY, answer, load, request
from tests.engine.test_mtp import KINDS, write
from tests.fixtures import tiny

N_CTX = 2048
N_PREFILL = 128
CHAIN = tiny.anything()
LONG = tuple(CHAIN[i * 5 % 300] for i in range(1000))
SAME_ROUNDING = 0.02
DRAFTING = (GREEDY, ("draft-mtp",), 3)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def session(kind, tmp_path):
    session = Session(Renderer())
    load(session, *write(kind, tmp_path), n_ctx=N_CTX)
    yield session
    session.close()


def ask(token_ids, k=3, max_tokens=24, **how):
    return structs.replace(request("", GREEDY, ("draft-mtp",), k, max_tokens, **how), prompt=tuple(token_ids))


@dataclass
class Reading:
    """How the memories stood after each batch of the prompt."""

    progress: list[Prefill] = field(default_factory=list)
    n_behind: list[int] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)
    done: Done | None = None
    proposed: list[tuple[int, int]] = field(default_factory=list)
    token_ids: list[int] = field(default_factory=list)
    cached: int = 0


def read(session, command, cancel_at=None) -> Reading:
    """Answer, and look at the heads meanwhile; raise the flag after so many batches of the prompt if asked to."""
    seen, cancel, pair = Reading(), CancelFlag(), session._pair
    memory = pair.heads.memory
    for event in session.generate(command, received_s=time.perf_counter(), cancel=cancel):
        match event:
            case Prefill():
                seen.progress.append(event)
                seen.n_behind.append(memory.n_behind(pair.target.context.n_past))
                seen.n_rows.append(len(memory._rows))
                if len(seen.progress) == cancel_at:
                    cancel.set()
            case Done():
                seen.done = event
            case _ if hasattr(event, "step"):
                seen.proposed.append((event.step.proposed, event.step.accepted))
                seen.token_ids += event.token_ids
            case _:
                seen.cached = event.cached_tokens
    return seen


def test_no_more_rows_are_held_than_a_batch_of_the_prompt_has(session):
    seen = read(session, ask(LONG))
    assert max(seen.n_rows) <= N_PREFILL + 2
    assert max(seen.n_behind) <= 1
    assert [one.done for one in seen.progress] == sorted({one.done for one in seen.progress})
    assert (seen.progress[-1].done, seen.progress[-1].total) == (len(LONG), len(LONG))
    assert len(session._pair.heads.memory._rows) < N_PREFILL
    assert seen.done.draft_prefill_s > 0


def test_the_controller_still_decides_whether_the_prompt_is_worth_feeding(session, kind):
    """It charges the heads for what they take in, so they take in nothing that it has not asked for."""
    seen = read(session, ask(LONG, "auto", max_tokens=1))
    if kind != "assistant":
        assert seen.n_behind[-1] == len(LONG)
        assert seen.n_rows[-1] == len(LONG)
    plain = read(session, structs.replace(ask(LONG, max_tokens=1), speculation=request("", types=()).speculation))
    assert plain.done.draft_prefill_s < 0.01


@pytest.mark.parametrize("n_batches", [1, 3, 7])
def test_a_prompt_that_is_broken_off_leaves_both_where_it_stood(session, n_batches):
    fresh = read(session, ask(LONG))
    session._pair.target.forget()
    broken = read(session, ask(LONG), cancel_at=n_batches)
    n_past = session._pair.target.context.n_past
    assert broken.done.stop_reason == "cancelled"
    assert n_past <= N_PREFILL * n_batches
    assert session._pair.heads.memory.n_behind(n_past) <= 1
    again = read(session, ask(LONG))
    assert again.cached == n_past
    assert (again.token_ids, again.proposed) == (fresh.token_ids, fresh.proposed)
    assert again.progress[-1].total == len(LONG) - n_past


@pytest.mark.parametrize("at", [1, 129, 640, 998, 999])
def test_after_an_edit_the_heads_draft_what_new_ones_draft(session, kind, at):
    """The row that they would go on with is gone: the target is asked for it again, one token further back."""
    edited = [*LONG[:at], CHAIN[7], *LONG[at + 1 :]]
    heads = session._pair.heads
    fresh = read(session, ask(edited, reuse_memory=False))
    row = heads.context.row().copy()
    heads.memory.keep(0)
    read(session, ask(LONG, reuse_memory=False))
    warm = read(session, ask(edited))
    assert (warm.token_ids, warm.proposed) == (fresh.token_ids, fresh.proposed)
    assert (
        np.abs(heads.context.row() - row).max() < SAME_ROUNDING
    )  # heads that begin anew at the edit say something else
    if kind not in ("embedded", "sidecar"):  # those have a running state, and go back as far as they must
        assert warm.cached >= at - 1


def test_the_same_again_and_what_follows_it_need_no_more_than_without_heads(session, kind):
    first = read(session, ask(LONG))
    again = read(session, ask(LONG))
    assert again.cached == len(LONG) - 1
    assert (again.token_ids, again.proposed) == (first.token_ids, first.proposed)
    longer = [*LONG, *again.token_ids, *CHAIN[:9]]
    follows = read(session, ask(longer))
    assert follows.cached == len(LONG) + len(again.token_ids) - 1
    fresh = read(session, ask(longer, reuse_memory=False))
    assert follows.token_ids == fresh.token_ids


class Refusing:
    """Heads that fail from a position on."""

    def __init__(self, heads, position: int) -> None:
        self._heads, self._position = heads, position

    def __getattr__(self, name):
        return getattr(self._heads, name)

    def decode(self, tokens, hidden, position):
        if position >= self._position:
            raise DecodeError("no room")
        self._heads.decode(tokens, hidden, position)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "assistant"], indirect=True)
def test_heads_that_fail_in_the_prompt_leave_the_answer_at_plain_speed(session):
    plain = answer(session, "the cat of the hot day " * 20, max_tokens=24)
    memory = session._pair.heads.memory
    heads = memory.heads
    memory.heads = Refusing(heads, 200)
    got = answer(session, "the cat of the hot day " * 20, *DRAFTING, max_tokens=24, reuse_memory=False)
    memory.heads = heads
    assert got.token_ids == plain.token_ids
    assert [notice.code for notice in got.done.notices] == ["drafter_failed"]
    assert not any(step.proposed for step in got.steps)
    back = answer(session, "the cat of the hot day " * 20, *DRAFTING, max_tokens=24)
    assert back.token_ids == plain.token_ids
    assert sum(step.accepted for step in back.steps) > 0
