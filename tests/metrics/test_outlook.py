"""What the answers so far foretell, beside what an answer measured."""

import pytest

from app.metrics.outlook import outlook
from app.metrics.stats import acceptance, alpha, decode_tps, tokens
from app.metrics.values import Interval, Run, RunConditions
from app.protocol import Step

PLAIN_S = 0.02
BASELINE = Interval(50.0, 49.0, 51.0)


def conditions(**changed):
    values = {
        "target_file": "t.gguf",
        "target_bytes": 1,
        "target_fingerprint": "f",
        "quantisation": "Q4_0",
        "device": "CPU",
        "n_threads": 2,
        "context_bucket": 1024,
        "sampled": False,
        "llama_cpp_commit": "c",
    }
    return RunConditions(**{**values, **changed})


def run_of(name, kept, *, length=4, verify_s=0.03, draft_s=0.001, **changed):
    """Make an answer whose steps keep these counts of their drafts; ``None`` is a plain step."""
    steps, t_s = [Step(0.1, 1, 0, 0, 0, 0, 0.0, 0.0, 10, "")], 0.1
    for count in kept:
        k = 0 if count is None else length
        n = count or 0
        took_s = PLAIN_S if count is None else verify_s
        t_s += took_s + draft_s * k
        steps.append(Step(t_s, n + 1, k, k, min(k, n + 1), n, draft_s * k, took_s, 20, "ngram" if k else ""))
    is_plain = all(count is None for count in kept)
    return Run(
        id=name,
        prompt="",
        requested_at="",
        spec_type="none" if is_plain else "ngram",
        draft_tokens=0 if is_plain else length,
        temperature=0.0,
        seed=1,
        prompt_tokens=5,
        cached_tokens=0,
        tokens=tokens(steps),
        ttft_s=0.1,
        answer_s=t_s,
        prefill_s=0.1,
        draft_prefill_s=0.0,
        prefill_tps=50.0,
        decode_tps=decode_tps(steps),
        proposed=sum(s.proposed for s in steps),
        judged=sum(s.judged for s in steps),
        accepted=sum(s.accepted for s in steps),
        acceptance=acceptance(steps),
        alpha=alpha(steps),
        alpha_by_position=(),
        tokens_per_step=None,
        stop_reason="eos",
        engaged=not is_plain,
        conditions=conditions(**changed),
        steps=tuple(steps),
    )


PLAIN = run_of("plain", [None] * 40)
MIXED = [4, 2, 0, 4, 1, 3, 4, 2, 0, 4] * 3


def test_the_prediction_is_that_of_the_formula():
    drafted = run_of("a", MIXED)
    told = outlook(drafted, [PLAIN, drafted], BASELINE)
    a, k, v, r = drafted.alpha, 4, 0.03 / PLAIN_S, 0.001 / PLAIN_S
    assert told.prediction.speedup == pytest.approx((1 - a ** (k + 1)) / ((1 - a) * (v + k * r)))
    assert told.measured.median == pytest.approx(drafted.decode_tps / BASELINE.median)
    assert told.measured.low < told.measured.median < told.measured.high
    assert told.hopeless == ""


def test_a_prompt_unlike_the_others_is_named():
    good = [run_of(f"g{n}", [4, 4, 3, 4] * 8) for n in range(4)]
    bad = run_of("bad", [0, 0, 1, 0] * 8)
    told = outlook(bad, [PLAIN, *good, bad], BASELINE)
    assert told.measured.high < told.prediction.speedup
    assert "prompt unlike the sample" in told.cause


def test_passes_that_became_dear_are_named():
    before = [run_of(f"b{n}", MIXED) for n in range(4)]
    slow = run_of("slow", MIXED, verify_s=0.09)
    told = outlook(slow, [PLAIN, *before, slow], BASELINE)
    assert "target compute-bound at 5 rows" in told.cause


def test_a_way_that_cannot_pay_is_told():
    drafted = run_of("a", MIXED, verify_s=0.11)
    told = outlook(drafted, [PLAIN, drafted], None)
    assert told.measured is None
    assert told.hopeless.startswith("target compute-bound: 5 rows cost 5.5 times one row")


@pytest.mark.parametrize("changed", [{"n_threads": 4}, {"context_bucket": 2048}, {"target_fingerprint": "g"}])
def test_nothing_is_foretold_from_unlike_answers(changed):
    drafted = run_of("a", MIXED)
    assert outlook(drafted, [run_of("plain", [None] * 40, **changed), drafted], BASELINE) is None


def test_one_row_passes_of_the_answer_itself_will_do():
    drafted = run_of("a", [None, 4, 2, None, 0, 4, 1, 3] * 4)
    assert outlook(drafted, [drafted], None) is not None


@pytest.mark.parametrize("run", [PLAIN, run_of("short", [4, 4])])
def test_nothing_is_foretold_for_plain_or_short_answers(run):
    assert outlook(run, [PLAIN, run], BASELINE) is None
