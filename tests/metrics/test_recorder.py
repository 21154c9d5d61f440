from __future__ import annotations

import time

import msgspec
import pytest

from app.cli.answer_lines import profile_lines
from app.errors import DecodeError, EngineDiedError, UsageError
from app.host.turn import told_words
from app.host.values import ChatRequest
from app.metrics.baseline import BaselineStore, record
from app.metrics.recorder import RunRecorder, SessionLog, spec_name
from app.placement import Placement
from app.protocol import (
    Chunk,
    Done,
    Engagement,
    ErrorInfo,
    Failed,
    NoticeInfo,
    Plan,
    Prefill,
    Sampling,
    Speculation,
    Started,
    Step,
)
from tests.fair_time import FairWatch
from tests.metrics.sessions import GREEDY, HELLO, NGRAM, OFF, events, loaded, plain_steps, run_of, session

SPECULATIVE = [
    Step(0.2, 1, 0, 0, 0, 0, 0.0, 0.0, 20, ""),
    Step(0.3, 5, 4, 4, 4, 4, 0.001, 0.09, 25, "ngram"),
    Step(0.5, 2, 4, 3, 2, 1, 0.001, 0.19, 27, "ngram"),
]


def recorder(**changes):
    return RunRecorder(**{"label": "a", "speculation": NGRAM, "sampling": GREEDY, **changes})


def test_run_holds_what_the_engine_said():
    run = run_of(SPECULATIVE, speculation=NGRAM, label="code", reason="")

    assert (run.prompt, run.spec_type, run.draft_tokens, run.temperature, run.seed) == ("code", "ngram", 4, 0.0, 7)
    assert (run.prompt_tokens, run.cached_tokens, run.tokens) == (20, 5, 8)
    assert (run.ttft_s, run.answer_s, run.prefill_s, run.draft_prefill_s) == (0.2, 0.5, 0.09, 0.0)
    assert run.prefill_tps == pytest.approx(15 / 0.09)
    assert run.decode_tps == pytest.approx(7 / 0.3)
    assert (run.proposed, run.judged, run.accepted) == (7, 6, 5)
    assert run.acceptance == pytest.approx(5 / 7)
    assert run.stop_reason == "length"
    assert run.engaged
    assert run.not_engaged == ""
    assert run.steps == tuple(SPECULATIVE)
    assert run.requested_at.endswith("+00:00")


def test_chunks_are_not_tokens():
    assert run_of(SPECULATIVE, speculation=NGRAM).tokens == 8
    assert len(run_of(SPECULATIVE, speculation=NGRAM).steps) == 3


def test_speculation_that_did_not_engage_says_why():
    one = recorder()
    for event in events(plain_steps(3, 10.0), engaged=False, reason="The prompt is too short."):
        one.on_event(event)
    run = one.finish()

    assert run.spec_type == "ngram"
    assert not run.engaged
    assert run.not_engaged == "The prompt is too short."


def test_a_part_that_did_not_engage_says_why():
    chain = Speculation(types=("ngram", "draft-simple"), draft_tokens=4)
    one = recorder(speculation=chain)
    for event in events(SPECULATIVE, engaged=True, reason="draft-simple: No draft model is chosen."):
        one.on_event(event)
    assert one.finish().engaged
    assert one.finish().not_engaged == "draft-simple: No draft model is chosen."


def test_a_drafter_that_failed_in_mid_answer_is_kept_in_the_run():
    one = recorder()
    notices = (NoticeInfo("drafter_failed", "Drafting stopped: no room."), NoticeInfo("context_full", "Full."))
    for event in events(SPECULATIVE, engaged=True):
        one.on_event(msgspec.structs.replace(event, notices=notices) if isinstance(event, Done) else event)
    assert one.finish().not_engaged == "Drafting stopped: no room."


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan("", 0, 0.1, "paused: expected 0.81x of plain speed", 0.0), "drafted: paused: expected 0.81x of plain"),
        (Plan("ngram", 4, 0.8, "expected 1.20x", 0.0), "drafted: no drafter had anything to propose."),
        (None, "drafted: no drafter had anything to propose."),
    ],
)
def test_an_answer_without_any_draft_says_why(plan, words):
    one = recorder()
    for event in events(plain_steps(5, 10.0), engaged=True):
        one.on_event(msgspec.structs.replace(event, plan=plan) if isinstance(event, Chunk) else event)
    run = one.finish()
    assert run.engaged
    assert words in run.not_engaged


def test_speculation_off_is_no_reason_to_explain():
    run = run_of(plain_steps(3, 10.0))

    assert (run.spec_type, run.draft_tokens, run.engaged, run.not_engaged) == ("none", 0, False, "")


@pytest.mark.parametrize(
    ("fault", "stop", "error"),
    [
        (None, "cancelled", ""),
        (DecodeError("llama_decode failed"), "failed", "llama_decode failed"),
        (EngineDiedError("The engine was killed"), "engine_died", "The engine was killed"),
    ],
)
def test_answer_without_an_end_keeps_what_came(fault, stop, error):
    one = recorder(speculation=OFF)
    for event in list(events(plain_steps(5, 10.0)))[:-1]:
        one.on_event(event)
    run = one.finish(fault)

    assert (run.stop_reason, run.error, run.tokens) == (stop, error, 5)
    assert run.prefill_s is None
    assert run.prefill_tps is None


def test_failed_event_is_a_failed_run():
    one = recorder()
    one.on_event(Failed(1, ErrorInfo("decode", "no memory")))
    run = one.finish()

    assert (run.stop_reason, run.error) == ("failed", "no memory")


def test_cancel_during_prefill_has_no_prefill_speed():
    one = recorder()
    one.on_event(Started(1, 2000, 0, Engagement(True, "ngram", 4)))
    one.on_event(Prefill(1, 512, 2000))
    one.on_event(Done(1, "cancelled", "", 0.8, 0.0))
    run = one.finish()

    assert (run.stop_reason, run.tokens, run.ttft_s, run.prefill_tps) == ("cancelled", 0, None, None)
    assert run.prefill_s == 0.8


def test_names_of_drafters():
    assert spec_name(Speculation(types=("ngram", "draft-simple"))) == "ngram,draft-simple"
    assert spec_name(Speculation(types=("none",))) == "none"
    assert spec_name(Speculation()) == "none"


# --- the session --------------------------------------------------------------------------------------


def answers(log: SessionLog, n: int, plain_tps: float, fast_tps: float, label: str = "") -> None:
    for i in range(n):
        wobble = 1 + 0.004 * (i % 3 - 1)
        log.add(run_of(plain_steps(40, plain_tps * wobble), label=label and f"{label}{i}"))
        log.add(run_of(plain_steps(40, fast_tps), speculation=NGRAM, label=label and f"{label}{i}"))


def test_session_judges_pairs_under_like_conditions(tmp_path):
    log = session(tmp_path)
    answers(log, 6, 50.0, 75.0, "p")
    metrics = log.to_metrics()

    (comparison,) = metrics.comparisons
    assert (comparison.verdict, comparison.n_pairs, comparison.spec_type) == ("pays", 6, "ngram")
    assert comparison.speedup.low < 1.5 < comparison.speedup.high
    assert [run.verdict for run in metrics.runs] == [None, "pays"] * 6
    assert metrics.runs[1].speedup == comparison.speedup
    by_id = {run.id: run for run in metrics.runs}
    assert all(by_id[fast].prompt == by_id[plain].prompt for fast, plain in comparison.pairs)


def test_free_chat_is_judged_too(tmp_path):
    log = session(tmp_path)
    answers(log, 6, 50.0, 40.0)

    assert log.comparison_of(log.runs[-1]).verdict == "costs"
    assert log.comparison_of(log.runs[0]) is None


@pytest.mark.parametrize("what", ["cancelled", "short", "not engaged", "died"])
def test_unfinished_short_and_unengaged_answers_enter_no_verdict(tmp_path, what):
    log = session(tmp_path)
    answers(log, 6, 50.0, 75.0)
    before = log.comparisons()
    if what == "cancelled":
        log.add(run_of(plain_steps(40, 1.0), speculation=NGRAM, stop="cancelled"))
        log.add(run_of(plain_steps(40, 1.0), stop="cancelled"))
    elif what == "short":
        log.add(run_of(plain_steps(8, 1.0), speculation=NGRAM))
        log.add(run_of(plain_steps(8, 1.0)))
    elif what == "not engaged":
        one = recorder()
        for event in events(plain_steps(40, 1.0), engaged=False, reason="No."):
            one.on_event(event)
        log.add(one.finish())
    else:
        one = recorder()
        for event in list(events(plain_steps(40, 1.0), engaged=True))[:-1]:
            one.on_event(event)
        log.add(one.finish(EngineDiedError("gone")))

    assert log.comparisons() == before


def test_other_threads_are_other_conditions(tmp_path):
    log = session(tmp_path)
    for _ in range(6):
        log.add(run_of(plain_steps(40, 50.0)))
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf", n_threads=8))
    for _ in range(6):
        log.add(run_of(plain_steps(40, 90.0), speculation=NGRAM))

    assert log.comparisons()[0].n_pairs == 0
    assert log.comparisons()[0].verdict == "cannot tell"


@pytest.mark.parametrize("name", ["target.gguf", "draft.gguf"])
def test_a_file_that_was_replaced_by_one_of_its_size_is_another(tmp_path, name):
    draft = tmp_path / "draft.gguf"
    draft.write_bytes(b"GGUF draft")
    log = session(tmp_path, draft)
    log.add(run_of(plain_steps(40, 50.0)))
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf", draft))
    for _ in range(2):
        log.add(run_of(plain_steps(40, 90.0), speculation=NGRAM))
    assert log.comparisons()[0].n_pairs == 0


def test_lengths_and_temperatures_are_judged_apart(tmp_path):
    log = session(tmp_path)
    for length in (2, 4):
        for temperature in (0.0, 0.8):
            log.add(
                run_of(
                    plain_steps(40, 60.0),
                    speculation=Speculation(types=("ngram",), draft_tokens=length),
                    sampling=Sampling(seed=1, temperature=temperature),
                )
            )
    found = [(c.draft_tokens, c.temperature) for c in log.comparisons()]
    assert found == [(2, 0.0), (2, 0.8), (4, 0.0), (4, 0.8)]


def test_recorded_baseline_comes_back_with_its_target_and_is_half_of_pairs(tmp_path):
    log = session(tmp_path)
    for i in range(6):
        log.add(run_of(plain_steps(40, 50.0 + i % 2), label=f"p{i}"))
    (baseline,) = record(log.runs, prompt_set="test")
    log.baselines.save(baseline)

    later = SessionLog(BaselineStore(tmp_path / "baselines"))
    assert later.baseline is None
    later.set_loaded(HELLO, loaded(tmp_path / "target.gguf"))
    assert later.baseline == baseline
    for _ in range(6):
        later.add(run_of(plain_steps(40, 80.0), speculation=NGRAM))
    (comparison,) = later.comparisons()
    assert comparison.verdict == "pays"
    assert {plain for _, plain in comparison.pairs} == {run.id for run in log.runs}


def test_baseline_recorded_in_this_session_is_not_counted_twice(tmp_path):
    log = session(tmp_path)
    for i in range(6):
        log.add(run_of(plain_steps(40, 50.0 + i % 2)))
    (log.baseline,) = record(log.runs, prompt_set="test")
    for _ in range(8):
        log.add(run_of(plain_steps(40, 80.0), speculation=NGRAM))

    assert log.comparisons()[0].n_pairs == 6


def test_another_target_drops_the_baseline(tmp_path):
    log = session(tmp_path)
    for _ in range(6):
        log.add(run_of(plain_steps(40, 50.0)))
    (log.baseline,) = record(log.runs, prompt_set="test")
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF another")
    log.set_loaded(HELLO, loaded(other))

    assert log.baseline is None


def test_a_verdict_stays_with_the_baseline_of_its_own_conditions(tmp_path):
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF another")
    log = session(tmp_path)
    for i in range(6):
        log.add(run_of(plain_steps(40, 50.0 + i % 2)))
    log.take_up(record(log.runs, prompt_set="first"))
    log.begin_anew()
    for _ in range(6):
        log.add(run_of(plain_steps(40, 80.0), speculation=NGRAM))
    (first,) = log.comparisons()
    assert first.verdict == "pays"

    log.set_loaded(HELLO, loaded(other))
    assert log.baseline is None
    assert log.comparisons() == (first,), "loading another model takes nothing back"
    for i in range(6):
        log.add(run_of(plain_steps(40, 50.0 + i % 2)))
    log.take_up(record(log.runs[6:], prompt_set="second"))
    assert log.comparisons() == (first,)
    assert [run.verdict for run in log.to_metrics().runs[:6]] == ["pays"] * 6
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf"))
    assert log.baseline.prompt_set == "first"
    assert log.comparisons() == (first,)


def test_a_baseline_that_comes_later_takes_no_pair_back(tmp_path):
    log = session(tmp_path)
    for i in range(6):
        log.add(run_of(plain_steps(40, 40.0 + i % 2), label=f"p{i}"))
    (stored,) = record(log.runs, prompt_set="stored")
    log.begin_anew()
    answers(log, 6, 50.0, 80.0, "p")
    before = log.comparisons()[0]
    assert {plain for _, plain in before.pairs} <= {run.id for run in log.runs}
    log.baselines.save(stored)
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf"))
    assert log.baseline == stored
    assert log.comparisons() == (before,)
    log.baseline = msgspec.structs.replace(stored, id="chosen")
    assert log.comparisons() == (before,)
    log.add(run_of(plain_steps(40, 80.0), speculation=NGRAM, label="p1"))
    after = log.comparisons()[0]
    assert after.pairs[:6] == before.pairs
    assert after.n_pairs == 7
    assert after.pairs[6][1] in {sample.run_id for sample in stored.samples}


@pytest.mark.parametrize("is_begun_anew", [False, True])
def test_choosing_again_changes_no_verdict(tmp_path, is_begun_anew):
    baselines = []
    for tps in (40.0, 78.0):
        log = session(tmp_path)
        for i in range(6):
            log.add(run_of(plain_steps(40, tps + i % 2)))
        baselines += record(log.runs, prompt_set=f"{tps:g}")
    log = session(tmp_path)
    for baseline in baselines:
        log.baseline = baseline
    if is_begun_anew:
        log.begin_anew()
    for _ in range(6):
        log.add(run_of(plain_steps(40, 80.0), speculation=NGRAM))
    before = log.comparisons()
    assert before[0].verdict == "cannot tell"
    for baseline in (*baselines, *reversed(baselines)):
        log.baseline = baseline
        assert log.comparisons() == before
    log.begin_anew()
    log.add(run_of(plain_steps(40, 80.0), speculation=NGRAM))
    assert log.comparisons()[0].pairs[0][1] == before[0].pairs[0][1], "nor the order in the next session"


def test_a_choice_holds_until_it_does_not_fit_what_is_loaded(tmp_path):
    log = session(tmp_path)
    for i in range(6):
        log.add(run_of(plain_steps(40, 50.0 + i % 2)))
    log.take_up(record(log.runs, prompt_set="found"))
    chosen = msgspec.structs.replace(log.baseline, id="chosen", name="chosen", n_threads=8)
    log.baseline = chosen
    log.add(run_of(plain_steps(40, 80.0), speculation=NGRAM))
    assert log.baseline == chosen, "an answer that it does not fit is told, and changes no choice"
    assert log.current_baseline().prompt_set == "found"
    assert log.current_baseline().id != "chosen"
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf"))
    assert log.baseline.id != "chosen"


def test_a_live_baseline_of_the_same_length_comes_before_a_recorded_one_of_another(tmp_path):
    log = session(tmp_path)
    for i in range(6):
        log.add(run_of(plain_steps(40, 50.0 + i % 2)))
    log.take_up(record(log.runs, prompt_set="short"))
    log.begin_anew()
    log.add(run_of(plain_steps(40, 20.0, n_ctx=3000), speculation=NGRAM))
    assert log.current_baseline().kind == "recorded", "better than none"
    log.add(run_of(plain_steps(40, 20.0, n_ctx=3000)))
    log.add(run_of(plain_steps(40, 25.0, n_ctx=3000), speculation=NGRAM))
    assert (log.current_baseline().kind, log.current_baseline().context_bucket) == ("live", 4096)
    assert log.to_metrics().baseline == log.current_baseline()
    log.add(run_of(plain_steps(40, 80.0), speculation=NGRAM))
    assert log.current_baseline().kind == "recorded"


def test_pairs_of_each_length_take_the_baseline_recorded_at_it(tmp_path):
    log = session(tmp_path)
    for n_ctx in (20, 3000):
        for i in range(6):
            log.add(run_of(plain_steps(40, 50.0 + i % 2, n_ctx=n_ctx)))
    log.take_up(record(log.runs, prompt_set="both"))
    log.begin_anew()
    for n_ctx in (20, 3000):
        for _ in range(3):
            log.add(run_of(plain_steps(40, 80.0, n_ctx=n_ctx), speculation=NGRAM))
    assert log.comparisons()[0].n_pairs == 6
    metrics = log.to_metrics()
    assert {metrics.baseline.context_bucket, *(b.context_bucket for b in metrics.baselines)} == {1024, 4096}


def test_samplers_and_bounds_of_drafts_are_conditions(tmp_path):
    log = session(tmp_path)
    for _ in range(6):
        log.add(run_of(plain_steps(40, 50.0), sampling=Sampling(seed=1, top_k=40)))
        log.add(run_of(plain_steps(40, 80.0), speculation=NGRAM, sampling=Sampling(seed=1, top_k=0)))
    (comparison,) = log.comparisons()
    assert comparison.n_pairs == 0
    assert log.runs[0].conditions.sampler == "top-k 40, top-p 0.95, min-p 0.05"
    log = session(tmp_path)
    for least, p_min in ((0, 0.0), (2, 0.0), (0, 0.5)):
        way = msgspec.structs.replace(NGRAM, draft_min=least, p_min=p_min)
        log.add(run_of(plain_steps(40, 80.0), speculation=way))
    assert [(c.draft_min, c.p_min) for c in log.comparisons()] == [(0, 0.0), (2, 0.0), (0, 0.5)]


@pytest.mark.parametrize(
    ("sampling", "words"),
    [
        (Sampling(seed=1, temperature=0.0), "no filter"),
        (Sampling(seed=1, top_k=0, top_p=1.0, min_p=0.0), "no filter"),
        (Sampling(seed=1, temperature=0.0, repeat_penalty=1.1), "repeat penalty 1.1, over 64 tokens"),
        (Sampling(seed=1, temperature=0.0, grammar="root ::= [a]"), "grammar"),
    ],
)
def test_what_the_choice_of_a_token_goes_through(sampling, words):
    assert recorder(sampling=sampling).finish().sampler == words


def test_what_else_is_worked_out_of_a_token_is_a_condition():
    watched = recorder(sampling=Sampling(seed=1, temperature=0.0))
    watched.told = told_words(ChatRequest(messages=(), token_details=True, n_top_logprobs=5))
    assert watched.finish().sampler == "token colours, log-probabilities of 5"
    assert told_words(ChatRequest(messages=())) == ()


def test_layers_on_a_device_are_a_condition():
    assert [Placement(("Vulkan0",), n).words for n in (-1, 1, 10)] == [
        "Vulkan0",
        "Vulkan0, 1 layer",
        "Vulkan0, 10 layers",
    ]
    assert Placement(n_layers=3).words == "CPU"


def test_subscribers_hear_of_every_change_until_they_leave(tmp_path):
    log, heard = session(tmp_path), []
    leave = log.subscribe(lambda: heard.append(len(log.runs)))
    log.add(run_of(plain_steps(20, 50.0)))
    log.baseline = None
    leave()
    leave()
    log.add(run_of(plain_steps(20, 50.0)))

    assert heard == [1, 1]


def test_live_baseline_is_of_plain_answers_in_the_same_context_bucket(tmp_path):
    log = session(tmp_path)
    log.add(run_of(plain_steps(40, 50.0)))
    log.add(run_of(plain_steps(40, 52.0)))
    log.add(run_of(plain_steps(40, 20.0, n_ctx=3000)))
    fast = log.add(run_of(plain_steps(40, 90.0), speculation=NGRAM))

    live = log.live_baseline(fast)
    assert (live.kind, live.n_runs, live.decode_tps.median) == ("live", 2, pytest.approx(51.0))


def test_live_baseline_leaves_out_answers_with_a_draft_model_loaded(tmp_path):
    """They make one of their own, for answers with that draft model: see test_beside_draft."""
    draft = tmp_path / "draft.gguf"
    draft.write_bytes(b"GGUF draft")
    log = session(tmp_path, draft)
    log.add(run_of(plain_steps(40, 30.0)))
    assert log.live_baseline(log.runs[0]).draft_file == "draft.gguf"
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf"))
    log.add(run_of(plain_steps(40, 50.0)))
    for run in log.runs:
        live = log.live_baseline(run)
        assert (live.draft_file, live.decode_tps.median) == (None, pytest.approx(50.0))


def test_session_without_a_model_can_be_exported():
    metrics = SessionLog().to_metrics()

    assert (metrics.target, metrics.baseline, metrics.runs) == (None, None, ())


def test_draft_model_of_the_session_outlives_a_load_of_the_target_alone(tmp_path):
    draft = tmp_path / "draft.gguf"
    draft.write_bytes(b"GGUF draft")
    log = session(tmp_path, draft)
    log.add(run_of(plain_steps(20, 50.0), speculation=NGRAM))
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf"))
    log.add(run_of(plain_steps(20, 50.0)))

    assert log.to_metrics().draft.file == "draft.gguf"
    assert [run.conditions.draft_file for run in log.runs] == ["draft.gguf", None]
    log.set_loaded(HELLO, loaded(draft))
    assert log.to_metrics().draft is None


def test_marked_answers_leave_verdicts_and_baselines_and_keep_their_first_reason(tmp_path):
    log = session(tmp_path)
    answers(log, 7, 50.0, 75.0)
    (before,) = log.comparisons()
    heard = []
    log.subscribe(lambda: heard.append(1))
    log.mark([log.runs[0].id, log.runs[1].id, "unknown"], excluded="the recording was interrupted")
    log.mark([log.runs[0].id], excluded="a warm-up", notes=("on battery",))
    (after,) = log.comparisons()

    assert len(heard) == 2
    assert (before.n_pairs, after.n_pairs) == (7, 6)
    assert (log.runs[0].excluded, log.runs[0].notes) == ("the recording was interrupted", ("on battery",))
    assert log.live_baselines()[0].n_runs == 6
    with pytest.raises(UsageError, match="there are 5"):
        record((run for run in log.runs[2::2] if run is not log.runs[2]), prompt_set="x")


def test_a_new_session_is_empty_and_keeps_the_baseline(tmp_path):
    log = session(tmp_path)
    answers(log, 6, 50.0, 75.0)
    (log.baseline,) = record((run for run in log.runs if run.spec_type == "none"), prompt_set="x")
    first = log.to_metrics()
    log.begin_anew("evening")
    second = log.to_metrics()

    assert (log.runs, log.comparisons(), second.runs) == ((), (), ())
    assert second.session.id != first.session.id
    assert second.session.name == "evening"
    assert second.baseline == first.baseline
    log.add(run_of(plain_steps(40, 75.0), speculation=NGRAM))
    assert log.comparisons()[0].n_pairs == 1


def test_every_context_bucket_has_its_live_baseline(tmp_path):
    log = session(tmp_path)
    assert log.live_baselines() == ()
    for n_ctx, tps in ((20, 50.0), (1500, 40.0), (20, 52.0)):
        log.add(run_of(plain_steps(40, tps, n_ctx=n_ctx)))

    found = [(b.context_bucket, b.n_runs, round(b.decode_tps.median)) for b in log.live_baselines()]
    assert found == [(1024, 2, 51), (2048, 1, 40)]


def test_a_long_session_takes_little_memory_and_is_judged_at_once(tmp_path):
    log = session(tmp_path)
    for _ in range(400):
        log.add(run_of(plain_steps(100, 50.0)))
        log.add(run_of(plain_steps(100, 60.0), speculation=NGRAM))
    n_bytes = sum(run.steps.n_bytes for run in log.runs)
    began_s = time.process_time()
    (comparison,) = log.comparisons()

    assert n_bytes <= 41 * 80_000
    assert comparison.n_pairs == 400
    assert time.process_time() - began_s < 1.0


def test_a_day_of_answers_in_many_ways_is_judged_answer_by_answer_at_once(tmp_path):
    """As of clients of the server, each with a temperature of its own."""
    log, steps = session(tmp_path), plain_steps(20, 50.0)
    run, plain = run_of(steps, speculation=NGRAM, sampling=Sampling(seed=1, temperature=0.5)), run_of(steps)
    plain = msgspec.structs.replace(plain, temperature=0.5, sampler=run.sampler)
    for n in range(3000):
        log.add(msgspec.structs.replace(plain, id=f"p{n}"))
        log.add(msgspec.structs.replace(run, id=f"d{n}", temperature=0.01 * (n % 60 + 1)))
    watch = FairWatch()
    for n in range(10):
        added = log.add(msgspec.structs.replace(run, id=f"e{n}", temperature=0.3))
        assert log.comparison_of(added).n_pairs == 50 + n + 1
        assert log.current_baseline().n_runs == 3000
    assert watch.took_s < 1.5
    assert sum(comparison.n_pairs for comparison in log.comparisons()) == 3010
    assert watch.took_s < 4


@pytest.mark.parametrize("n_rows", [0, 5])
def test_a_fixed_shape_is_noted_whoever_asked_for_it(n_rows):
    one = recorder(speculation=NGRAM)
    one.on_event(Started(1, 20, 0, Engagement(True, "ngram", 4), n_rows=n_rows))
    for event in list(events(plain_steps(5, 10.0)))[1:]:
        one.on_event(event)
    run = one.finish()
    assert run.fixed_shape == (n_rows > 0)
    assert any("fixed shape" in line for line in profile_lines(run)) == (n_rows > 0)
