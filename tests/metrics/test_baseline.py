from __future__ import annotations

import msgspec
import pytest

from app.errors import ExportError, UsageError
from app.metrics.baseline import MIN_RUNS, BaselineStore, differences, fingerprint, record, staleness
from app.metrics.stats import decode_tps
from app.protocol import Sampling
from tests.metrics.sessions import NGRAM, plain_steps, run_of, session


@pytest.fixture
def runs(tmp_path):
    log = session(tmp_path)
    for i in range(8):
        log.add(run_of(plain_steps(40, 50.0 + i), label=f"p{i}"))
    return log.runs


def changed(run, **conditions):
    return msgspec.structs.replace(run, conditions=msgspec.structs.replace(run.conditions, **conditions))


def at_length(runs, n_ctx):
    """The same answers so far on in the context; their conditions are left as they are."""
    there = ([msgspec.structs.replace(step, n_ctx=n_ctx) for step in run.steps] for run in runs)
    return [msgspec.structs.replace(run, steps=steps) for run, steps in zip(runs, there, strict=True)]


def test_baseline_is_the_median_with_the_conditions(runs):
    (baseline,) = record(runs, prompt_set="eight")

    assert baseline.decode_tps.median == pytest.approx(53.5)
    assert (baseline.decode_tps.low, baseline.decode_tps.high) == (pytest.approx(50.0), pytest.approx(57.0))
    assert (baseline.n_runs, baseline.prompt_set, baseline.name, baseline.kind) == (8, "eight", "eight", "recorded")
    assert (baseline.target_file, baseline.quantisation, baseline.device) == ("target.gguf", "Q4_1", "CPU")
    assert (baseline.n_threads, baseline.context_bucket, baseline.sampled) == (2, 1024, False)
    assert [sample.run_id for sample in baseline.samples] == [run.id for run in runs]


def test_fed_drafter_is_no_baseline(tmp_path, runs):
    log = session(tmp_path)
    log.add(run_of(plain_steps(40, 50.0), speculation=NGRAM))

    with pytest.raises(UsageError, match="drafter loaded or fed"):
        record((*runs, *log.runs), prompt_set="x")


def test_loaded_draft_model_is_no_baseline(tmp_path):
    draft = tmp_path / "draft.gguf"
    draft.write_bytes(b"GGUF")
    log = session(tmp_path, draft)
    for _ in range(8):
        log.add(run_of(plain_steps(40, 50.0)))

    with pytest.raises(UsageError, match="drafter loaded or fed") as caught:
        record(log.runs, prompt_set="x")
    assert "Load the target alone" in caught.value.hint


def test_too_few_complete_answers_are_no_baseline(runs):
    cancelled = [msgspec.structs.replace(run, stop_reason="cancelled") for run in runs[: 9 - MIN_RUNS]]

    with pytest.raises(UsageError, match=f"needs {MIN_RUNS} complete answers.*there are 5"):
        record((*cancelled, *runs[9 - MIN_RUNS :]), prompt_set="x")


def test_unlike_conditions_are_not_averaged(runs):
    with pytest.raises(UsageError, match="ran with 4 threads, not with 2"):
        record((*runs, changed(runs[0], n_threads=4)), prompt_set="x")


def test_context_buckets_are_baselines_of_their_own(runs):
    longer = [changed(run, context_bucket=4096) for run in runs[:6]]

    assert [b.context_bucket for b in record((*longer, *runs), prompt_set="x")] == [1024, 4096]
    assert [b.context_bucket for b in record((*longer[:3], *runs), prompt_set="x")] == [1024]


def growing(log, *speeds):
    """Add plain answers of a conversation that grows: with each tuple of speeds some of the next length."""
    return [
        log.add(run_of(plain_steps(40, tps, n_ctx=900 * 2**n), label=f"question {n} {i}"))
        for n, several in enumerate(speeds)
        for i, tps in enumerate(several)
    ]


def test_a_conversation_that_grows_past_its_lengths_makes_no_baseline_but_says_how_many_answers_of_which_there_are(
    tmp_path,
):
    log = session(tmp_path)
    asked = growing(log, (50.0, 51.0), (49.0, 49.5, 50.0), (48.5,))
    with pytest.raises(UsageError, match=r"like context length; by tokens of context there are 1,024: 2; 2,048: 3; 4,"):
        record(asked, prompt_set="own questions")
    for n_ctx in (1000, 2000, 4000):
        log.add(run_of(plain_steps(40, 70.0, n_ctx=n_ctx), speculation=NGRAM))
    assert [c.n_pairs for c in log.comparisons()] == [3], "they are halves of pairs nevertheless"
    assert [(b.context_bucket, b.n_runs) for b in log.live_baselines()] == [(1024, 2), (2048, 3), (4096, 1)]


def test_a_neighbour_of_like_speed_changes_nothing_of_a_baseline(tmp_path):
    """An interval of two lengths holds the median of neither: 11 answers at 50 and one at 48 said 50 of both."""
    log = session(tmp_path)
    asked = growing(log, (50.0, 50.2, 50.4, 50.1, 50.3, 50.5), (48.0, 48.5, 49.0, 48.2, 48.4))
    (baseline,) = record(asked, prompt_set="x")
    live = log.live_baseline(log.runs[0])
    assert (baseline.n_runs, baseline.decode_tps) == (live.n_runs, live.decode_tps)
    assert baseline.n_runs == 6
    assert baseline.decode_tps.low == pytest.approx(50.0)
    live = log.live_baseline(log.runs[-1])
    assert (live.n_runs, live.context_bucket) == (5, 2048)
    assert live.decode_tps.high == pytest.approx(49.0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"target_fingerprint": "other"}, "another file of the name target.gguf, with other contents"),
        ({"target_fingerprint": ""}, "contents of target.gguf could not be read"),
        ({"target_fingerprint": "other", "target_file": "b.gguf"}, "another target file (target.gguf, not b.gguf)"),
        ({"quantisation": "Q8_0"}, "quantisation is Q4_1, not Q8_0"),
        ({"device": "GPU"}, "ran on CPU, not on GPU"),
        ({"n_threads": 8}, "with 2 threads, not with 8"),
        ({"memory": "q8_0/q8_0"}, "memory was f16/bf16, not q8_0/q8_0"),
        ({"llama_cpp_commit": "fff"}, "llama.cpp abc1234, not on fff"),
        ({"sampled": True}, "sampled, the other greedy"),
        ({"sampler": "top-k 1"}, "its sampler was no filter, not top-k 1"),
        ({"context_bucket": 8192}, "within 1,024 tokens of context, not within 8,192"),
    ],
)
def test_refusal_says_why(runs, change, reason):
    (baseline,) = record(runs, prompt_set="x")
    now = changed(runs[0], **change).conditions

    (said,) = differences(baseline, now)
    assert reason in said
    assert differences(baseline, runs[0].conditions) == []


def test_unreadable_target_is_like_nothing(tmp_path, runs):
    assert fingerprint(tmp_path / "gone.gguf") == ""
    unknown = changed(runs[0], target_fingerprint="").conditions
    assert differences(unknown, unknown)


def test_fingerprint_follows_content_and_not_the_name(tmp_path):
    first, copy, other = tmp_path / "a", tmp_path / "b", tmp_path / "c"
    data = bytearray(3 * 1024 * 1024)
    first.write_bytes(data)
    copy.write_bytes(data)
    data[-1] = 1
    other.write_bytes(data)

    assert fingerprint(first) == fingerprint(copy) != fingerprint(other)


def test_store_keeps_finds_renames_and_forgets(tmp_path, runs):
    store = BaselineStore(tmp_path / "kept")
    assert store.all() == []
    (old,) = record(runs[:6], prompt_set="x")
    (new,) = record(runs, prompt_set="y")
    new = msgspec.structs.replace(new, recorded_at="2999-01-01T00:00:00+00:00")
    store.save(old)
    store.save(new)

    assert BaselineStore(tmp_path / "kept").all() == [new, old]
    assert store.fitting(runs[0].conditions) == (new,)
    assert store.fitting(changed(runs[0], n_threads=3).conditions) == ()
    assert store.refusals(changed(runs[0], n_threads=3).conditions) == [
        ("y", ["it ran with 2 threads, not with 3"]),
        ("x", ["it ran with 2 threads, not with 3"]),
    ]
    assert store.rename(old, "quiet evening").name == "quiet evening"
    store.delete(new)
    store.delete(new)
    assert [b.name for b in store.all()] == ["quiet evening"]


def test_greedy_and_sampled_baselines_do_not_mix(tmp_path, runs):
    store = BaselineStore(tmp_path / "kept")
    (greedy,) = record(runs, prompt_set="x")
    store.save(greedy)
    log = session(tmp_path)
    sampled = log.add(run_of(plain_steps(40, 50.0), sampling=Sampling(seed=1)))

    assert store.fitting(sampled.conditions) == ()
    assert store.fitting(sampled.conditions, runs[0].conditions) == (greedy,)


def test_each_context_bucket_has_its_newest_baseline(tmp_path, runs):
    store = BaselineStore(tmp_path / "kept")
    longer = [changed(run, context_bucket=4096) for run in at_length(runs, 3000)]
    for n, found in enumerate(
        (*record(runs, prompt_set="x"), *record(longer, prompt_set="y"), *record(runs, prompt_set="z"))
    ):
        store.save(msgspec.structs.replace(found, recorded_at=f"2026-01-0{n + 1}T00:00:00+00:00"))
    assert [(b.prompt_set, b.context_bucket) for b in store.fitting(runs[0].conditions)] == [("z", 1024), ("y", 4096)]


def test_a_baseline_keeps_the_steps_that_its_speeds_follow_from(tmp_path, runs):
    store = BaselineStore(tmp_path / "kept")
    (baseline,) = record(runs, prompt_set="x")
    assert [sample.steps for sample in baseline.samples] == [run.steps for run in runs]
    store.save(baseline)
    (kept,) = store.all()
    assert kept == baseline
    assert [decode_tps(sample.steps) for sample in kept.samples] == [run.decode_tps for run in runs]
    path = tmp_path / "kept" / f"{baseline.id}.json"
    path.write_bytes(path.read_bytes().replace(b'"decode_tps":50.0', b'"decode_tps":60.0'))
    assert store.all() == [], "a speed that its steps do not give"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"samples": ()}, "it holds no answers"),
        ({"context_bucket": -5}, "it is of another context length than its steps"),
        ({"context_bucket": 1_048_576}, "it is of another context length than its steps"),
    ],
)
def test_a_file_without_answers_or_of_another_length_than_its_steps_is_no_baseline(
    tmp_path, runs, change, said, caplog
):
    store = BaselineStore(tmp_path / "kept")
    (baseline,) = record(runs, prompt_set="x")
    store.save(msgspec.structs.replace(baseline, **change))
    with caplog.at_level("INFO"):
        assert store.all() == []
    assert said in caplog.text


def test_an_older_file_without_steps_is_of_the_length_it_says(tmp_path, runs):
    store = BaselineStore(tmp_path / "kept")
    (baseline,) = record(runs, prompt_set="x")
    bare = tuple(msgspec.structs.replace(sample, steps=()) for sample in baseline.samples)
    store.save(msgspec.structs.replace(baseline, samples=bare, context_bucket=4096))
    assert [one.context_bucket for one in store.all()] == [4096]


@pytest.mark.parametrize("content", [b'{"half":', b'{"nested":' + b"[" * 200_000, b"\xff"])
def test_broken_file_is_left_alone_and_skipped(tmp_path, runs, content):
    store = BaselineStore(tmp_path / "kept")
    (baseline,) = record(runs, prompt_set="x")
    store.save(baseline)
    broken = tmp_path / "kept" / "broken.json"
    broken.write_bytes(content)

    assert store.all() == [baseline]
    assert broken.read_bytes() == content


def test_folder_that_cannot_be_made_is_an_error_in_words(tmp_path, runs):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    (baseline,) = record(runs, prompt_set="x")

    with pytest.raises(ExportError, match="Cannot write"):
        BaselineStore(in_the_way / "kept").save(baseline)


def test_what_has_changed_since_makes_it_stale(runs):
    (baseline,) = record(runs, prompt_set="x")
    now = runs[0].conditions
    assert staleness(baseline, now) == []
    elsewhere = msgspec.structs.replace(now, context_bucket=8192, sampled=True)
    assert staleness(baseline, elsewhere) == [], "there may be others for these"
    later = msgspec.structs.replace(now, app_version="9.9", llama_cpp_commit="fff")
    assert staleness(baseline, later) == [
        "it ran on llama.cpp abc1234, not on fff",
        "it ran with Slipstream 0.1.0, not with Slipstream 9.9",
    ]
    baseline = msgspec.structs.replace(baseline, power_mode="balanced", on_battery=False)
    assert staleness(baseline, now) == []
    assert staleness(baseline, msgspec.structs.replace(now, on_battery=True, power_mode="low-power")) == [
        "it ran on mains power, not on battery",
        "the power mode was balanced, not low-power",
    ]
