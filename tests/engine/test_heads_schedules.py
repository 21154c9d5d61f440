"""Random schedules of a session with MTP heads on the real llama.cpp, hybrids among them: each answer is compared.

A schedule is a conversation of several turns: plain, with heads, with n-grams or both, some cancelled, some stopped at
a string; then the text is the same, longer, or edited. Another session answers the same from an empty memory every
time, so what the first one has accumulated is never swept away by the comparison.
"""

from __future__ import annotations

import collections
import random

import numpy as np
import pytest

from app.engine.session import Session
from app.engine.template import Renderer
from tests.engine.sessions import GREEDY, WARM, answer, load
from tests.engine.test_mtp import KINDS, write

N_TURNS = 8
WORDS = ("the", "of", "and", "to", "in", "is", "it", "you", "that", "he", "was", "for", "on", "are", "with", "as")
WAYS = ((), ("ngram",), ("draft-mtp",), ("ngram", "draft-mtp"))
SAME_ROUNDING = 0.02
"""Logits that are evaluated in other portions lie closer than this."""


@pytest.fixture
def sessions():
    both = Session(Renderer()), Session(Renderer())
    yield both
    for session in both:
        session.close()


def _one_turn(both, rng, text, seen):
    """Answer in some way, and by plain decoding from an empty memory; the one is the other, or its beginning."""
    session, fresh = both
    types, k, sampling = rng.choice(WAYS), rng.choice([1, 3, 8, "auto", "rolling"]), rng.choice([GREEDY, WARM])
    how = rng.choice([{}, {"cancel_after": rng.randint(1, 6)}, {"stop": (rng.choice(WORDS),)}])
    n = rng.choice([1, 2, 9, 24])
    got = answer(session, text, sampling, types, k, max_tokens=n, **how)
    plain = answer(fresh, text, sampling, max_tokens=n, reuse_memory=False, stop=how.get("stop", ()))
    n_said = len(got.token_ids)
    assert got.token_ids == plain.token_ids[:n_said]
    assert n_said == len(plain.token_ids) or got.done.stop_reason == "cancelled"
    seen["cached"] += got.started.cached_tokens > 0
    seen["cancelled"] += got.done.stop_reason == "cancelled"
    seen["kept"] += sum(step.accepted for step in got.steps)
    seen["rejected"] += sum(step.judged - step.accepted for step in got.steps)


def _next(rng, text):
    """Return the next text: the same, longer, or edited."""
    match rng.choice(["same", "more", "edit"]):
        case "more":
            text += " " + " ".join(rng.choices(WORDS, k=rng.randint(1, 12)))
        case "edit":
            text = text[: rng.randint(1, len(text))] + " " + rng.choice(WORDS)
    return text[-400:]


def _answer_and_row(session, text, **how):
    """Return an answer, and the logits after its prompt."""
    answer(session, text, GREEDY, ("draft-mtp",), 3, max_tokens=1, **how)  # its token is that of the prompt's last row
    row = session._pair.target.context.row(0).copy()
    return answer(session, text, GREEDY, ("draft-mtp",), 3, max_tokens=24, **how), row


def _compare(both, text):
    """The state is that of an empty memory: the same logits, the same answer, and the same drafts from the heads."""
    (warm, row), (fresh, fresh_row) = _answer_and_row(both[0], text), _answer_and_row(both[1], text, reuse_memory=False)
    assert np.abs(row - fresh_row).max() < SAME_ROUNDING
    assert warm.token_ids == fresh.token_ids
    assert [(s.proposed, s.accepted) for s in warm.steps] == [(s.proposed, s.accepted) for s in fresh.steps]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_schedules", [3, pytest.param(200, marks=pytest.mark.full)])
def test_random_schedules_end_where_a_fresh_session_ends(sessions, tmp_path, kind, n_schedules):
    files, seen = write(kind, tmp_path), collections.Counter()
    load(sessions[1], *files, n_ctx=1024)
    for schedule in range(n_schedules):
        rng = random.Random(schedule)
        sessions[0].unload()
        load(sessions[0], *files, n_ctx=1024)
        text = "the cat of the hot day"
        for _turn in range(N_TURNS):
            _one_turn(sessions, rng, text, seen)
            _compare(sessions, text)
            text = _next(rng, text)
            seen["compared"] += 1
    print(f"\n{kind}, {n_schedules} schedules: {dict(seen)}")
    assert all(seen[what] for what in ("cached", "cancelled", "kept", "rejected")), seen
