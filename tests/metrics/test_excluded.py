"""Answers during which the machine slept, or somebody set its clock, count in no ranking and no bench, either."""

from __future__ import annotations

import msgspec
import pytest

from app.cli.bench_rows import Summary
from app.host.trials import Measured, Trial
from app.metrics.profile import Candidate, Trialled, row_of
from app.metrics.prompts import Prompt
from app.protocol import ChatMessage, Speculation
from tests.metrics.sessions import NGRAM, OFF, plain_steps, run_of

SLEPT = "the computer slept for 600 s meanwhile"
NGRAM_4 = Candidate(spec_type="ngram", draft_tokens=4)
PROMPT = Prompt("p", (ChatMessage("user", "x"),), "chat")


def run(tps, speculation: Speculation, excluded=""):
    made = run_of(plain_steps(40, tps), speculation=speculation, label="p")
    return msgspec.structs.replace(made, excluded=excluded)


@pytest.mark.parametrize("slept", ["speculative", "plain"])
def test_a_profile_takes_no_answer_that_the_machine_slept_in(slept):
    good = [
        Trialled(candidate=NGRAM_4, prompt="p", round=i, speculative=run(20.0, NGRAM), plain=run(10.0, OFF))
        for i in range(6)
    ]
    runs = {"speculative": run(20.0, NGRAM), "plain": run(10.0, OFF)}
    runs[slept] = run(0.01 if slept == "plain" else 20.0, OFF if slept == "plain" else NGRAM, SLEPT)
    bad = Trialled(candidate=NGRAM_4, prompt="p", round=6, **runs)

    assert bad.log_ratio is None
    assert row_of(NGRAM_4, [*good, bad]).n_pairs == 6
    assert row_of(NGRAM_4, [bad, bad]).speedup is None
    if slept == "speculative":
        assert row_of(NGRAM_4, [bad]).answer_s is None


def test_a_bench_takes_no_answer_that_the_machine_slept_in():
    measured = [
        Measured(Trial(PROMPT, way, n), run(tps, way, excluded), (1, 2), "x")
        for n, excluded in enumerate(["", "", SLEPT])
        for way, tps in ((OFF, 0.01 if excluded else 10.0), (NGRAM, 20.0))
    ]
    plain, drafted = Summary(measured, (OFF, NGRAM), ()).rows()

    assert (plain.n_runs, drafted.n_runs, drafted.n_pairs) == (2, 2, 2)
    assert plain.decode_tps.low == pytest.approx(10.0)
    assert drafted.decode_ratio.high == pytest.approx(2.0)
