"""A recording whose engine, the real one, is killed in the midst of it: nothing counts, and it can be done again."""

from __future__ import annotations

import os
import signal
from contextlib import aclosing

import pytest

from app.errors import EngineDiedError
from app.host import PairChoice
from app.metrics.prompts import Prompt
from app.metrics.verdict import usable
from app.protocol import ChatMessage, Sampling, Speculation
from app.ui.recording import INTERRUPTED, Recording, RecordingPlan
from tests.host.real_host import run

PROMPTS = tuple(Prompt(f"p{n}", (ChatMessage("user", f"the cat of the hot day {n}"),), "own") for n in range(6))
PLAN = RecordingPlan(PROMPTS, "own questions", max_tokens=24)
DRAFTING = Speculation(types=("draft-simple",), draft_tokens=3)
GREEDY = Sampling(seed=1, temperature=0.0)


def recording_of(host):
    return Recording(host, GREEDY, DRAFTING, lambda _event, _way: None)


def kill_engine_of(host):
    os.kill(host.session._hello.pid, signal.SIGKILL)


async def carry_out(recording, pair, before_answer):
    """Record; tell how many times it has said how far it is."""
    n = 0
    async with aclosing(recording.run(pair, PLAN)) as steps:
        async for _ in steps:
            n += 1
            before_answer(n)


@pytest.mark.linux
@pytest.mark.parametrize("n_answers", [3, 8])
def test_a_killed_recording_counts_nowhere_and_can_be_done_again(tiny_pair, n_answers, expect_log):
    """Killed among the plain answers of the target alone, and among those with the draft model."""
    chosen = PairChoice(str(tiny_pair.target), str(tiny_pair.draft), n_ctx=512)
    expect_log("WARNING app.engine.client: The engine process has ended")

    async def body(host):
        await host.load(chosen)
        recording = recording_of(host)
        with pytest.raises(EngineDiedError):
            await carry_out(recording, chosen, lambda n: n == n_answers + 1 and kill_engine_of(host))
        assert recording.baselines == ()
        runs = host.session.runs
        assert len(runs) >= n_answers
        assert not any(usable(one) for one in runs)
        assert {one.excluded for one in runs if one.stop_reason in ("eos", "length")} >= {INTERRUPTED}
        assert host.session.comparisons() == ()
        assert host.session.live_baselines() == ()
        await host.restart(chosen)
        again = recording_of(host)
        await carry_out(again, chosen, lambda _n: None)
        assert host.state.pair == chosen
        return again.baselines, host.session

    (baseline,), session = run(body)
    assert (baseline.n_runs, baseline.draft_file) == (6, None)
    session.take_up((baseline,))
    (comparison,) = session.comparisons()
    assert (comparison.n_pairs, comparison.n_beside_draft) == (6, 0)
