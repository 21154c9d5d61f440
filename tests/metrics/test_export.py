"""The export, and the promise that every figure in it recomputes from its own steps and times."""

from __future__ import annotations

import csv
import json
import math
import uuid
from collections import Counter

import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import DecodeError, EngineDiedError, ExportError
from app.metrics.baseline import BaselineStore, record
from app.metrics.compare import compare
from app.metrics.export import Comparison, Metrics, metrics_json, read_json, write_json
from app.metrics.pictures import way_words
from app.metrics.power import Power
from app.metrics.recorder import RunRecorder, SessionLog
from app.metrics.session_export import export_session, prepared
from app.metrics.stats import median_interval
from app.metrics.tables import write_runs_csv, write_steps_csv
from app.metrics.values import Run, RunConditions
from app.metrics.verdict import t_bound
from app.paths import resource
from app.protocol import Chunk, Done, Engagement, Sampling, Speculation, Started, Step
from tests.metrics.sessions import HELLO, NGRAM, loaded, plain_steps, run_of, session

NESTED = b'{"schema":' + b"[" * 200_000
SCHEMA = json.loads(resource("metrics.schema.json").read_text(encoding="utf-8"))


def validate(document, kind="metrics"):
    chosen = {"$schema": SCHEMA["$schema"], "$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{kind}"}
    jsonschema.Draft202012Validator(chosen).validate(document)


# --- recomputing, by someone who has the JSON file and its definitions alone -------------------------------


def ratio(numerator, denominator):
    return numerator / denominator if denominator else None


def recomputed(run):
    steps = run["steps"]
    total = {name: sum(step[name] for step in steps) for name in ("emitted", "proposed", "judged", "accepted")}
    times = [step["t_s"] for step in steps]
    after_first = total["emitted"] - steps[0]["emitted"] if steps else 0
    span_s = times[-1] - times[0] if steps else 0
    longest = max((step["judged"] for step in steps), default=0)
    judged_at = [sum(step["judged"] >= i for step in steps) for i in range(1, longest + 1)]
    kept_at = [sum(step["accepted"] >= i for step in steps) for i in range(1, longest + 1)]
    evaluated = run["prompt_tokens"] - run["cached_tokens"]
    prefilled = bool(steps) and run["prefill_s"] is not None
    passes = [step for step in steps if step["verify_s"] > 0 and run["spec_type"] != "none"]
    n_rows = sum(step.get("rows") or step["proposed"] + 1 for step in passes)
    depths = [step["depth"] for step in steps if step.get("depth") and run["spec_type"] != "none"]
    return {
        "tokens": total["emitted"],
        "rows": n_rows,
        "rows_wasted": n_rows - sum(step["emitted"] for step in passes),
        "tree_depth": ratio(sum(depths), len(depths)),
        "proposed": total["proposed"],
        "judged": total["judged"],
        "accepted": total["accepted"],
        "acceptance": ratio(total["accepted"], total["proposed"]),
        "alpha": ratio(total["accepted"], total["judged"]),
        "alpha_by_position": [k / j for k, j in zip(kept_at, judged_at, strict=True)],
        "tokens_per_step": ratio(total["emitted"], len(steps)),
        "ttft_s": times[0] if steps else None,
        "answer_s": times[-1] if steps else None,
        "decode_tps": ratio(after_first, span_s),
        "prefill_tps": ratio(evaluated, run["prefill_s"]) if prefilled and evaluated else None,
    }


def check_recomputes(document):
    for run in document["runs"]:
        assert {name: run[name] for name in recomputed(run)} == recomputed(run)
    speeds = {run["id"]: run["decode_tps"] for run in document["runs"]}
    steps = {run["id"]: run["steps"] for run in document["runs"]}
    for baseline in (*filter(None, [document["baseline"]]), *document["baselines"]):
        check_baseline(baseline, speeds, steps)
        steps |= {sample["run_id"]: sample["steps"] for sample in baseline["samples"] if sample["steps"]}
        speeds |= {sample["run_id"]: sample["decode_tps"] for sample in baseline["samples"]}
    for comparison in document["comparisons"]:
        check_comparison(comparison, speeds, document["runs"])
        assert all(bucket_of(steps[fast]) == bucket_of(steps[plain]) for fast, plain in comparison["pairs"])


def bucket_of(steps):
    """The smallest of 1,024, 2,048, 4,096 … that the mean of the first and the last position does not exceed."""
    middle = (steps[0]["n_ctx"] + steps[-1]["n_ctx"]) / 2
    return max(1024, 2 ** math.ceil(math.log2(middle)))


def check_baseline(baseline, speeds, steps_of):
    band = median_interval([sample["decode_tps"] for sample in baseline["samples"]])
    assert baseline["decode_tps"] == msgspec.to_builtins(band)
    assert baseline["n_runs"] == len(baseline["samples"])
    for sample in baseline["samples"]:
        steps = sample["steps"]
        if baseline["kind"] == "live":
            assert sample["decode_tps"] == speeds[sample["run_id"]], "its answers are runs of the export"
            steps = steps_of[sample["run_id"]]
        assert sample["decode_tps"] == speed_of(steps)
        assert bucket_of(steps) == baseline["context_bucket"]


def speed_of(steps):
    tokens = sum(step["emitted"] for step in steps) - steps[0]["emitted"]
    return tokens / (steps[-1]["t_s"] - steps[0]["t_s"])


def check_comparison(comparison, speeds, runs):
    ratios = [math.log(speeds[fast] / speeds[plain]) for fast, plain in comparison["pairs"]]
    assert comparison["n_pairs"] == len(ratios)
    if len(ratios) < 6:
        assert (comparison["speedup"], comparison["verdict"]) == (None, "cannot tell")
    else:
        n, mean = len(ratios), math.fsum(ratios) / len(ratios)
        deviation = math.sqrt(math.fsum((r - mean) ** 2 for r in ratios) / (n - 1))
        here = {run["id"] for run in runs}
        drift = 0.05 * (sum(plain not in here for _, plain in comparison["pairs"]) / n)
        assert comparison["drift"] == drift
        half = t_bound(n) * deviation / math.sqrt(n) + drift
        low, high = math.exp(mean - half), math.exp(mean + half)
        assert comparison["speedup"] == {"median": math.exp(mean), "low": low, "high": high}
        needed = t_bound(n, 0.025) * deviation / math.sqrt(n) + drift
        word = "cannot tell" if abs(mean) <= needed else "pays" if mean > 0 else "costs"
        assert comparison["verdict"] == word
    check_halves(comparison, {run["id"]: run for run in runs})
    used = [identity for pair in comparison["pairs"] for identity in pair]
    assert max(Counter(used).values(), default=1) == 1
    for run in runs:
        if run["id"] in {fast for fast, _ in comparison["pairs"]}:
            assert (run["speedup"], run["verdict"]) == (comparison["speedup"], comparison["verdict"])


def check_halves(comparison, by_id):
    """Plain halves have no draft model in memory, or the very one of the speculative answer, and these are counted."""
    names = ("draft_file", "draft_fingerprint", "draft_device")
    beside = 0
    for fast, plain in comparison["pairs"]:
        if plain not in by_id:
            continue
        assert not by_id[plain]["engaged"]
        if by_id[plain]["conditions"]["draft_file"] is not None:
            drafts = [[by_id[one]["conditions"][name] for name in names] for one in (fast, plain)]
            assert drafts[0] == drafts[1]
            beside += 1
    assert comparison["n_beside_draft"] == beside
    assert bool(comparison["against"]) == (beside > 0)


@st.composite
def steps_of_a_run(draw):
    steps, t_s, n_ctx = [], draw(st.floats(0.001, 2.0)), draw(st.integers(1, 3000))
    for i in range(draw(st.integers(0, 12))):
        t_s += draw(st.floats(0.0, 0.5))
        proposed = draw(st.integers(0, 31)) if i else 0
        judged = draw(st.integers(0, proposed))
        accepted = draw(st.integers(max(0, judged - 1), judged))
        n_ctx += accepted + 1
        rows, depth = draw(st.sampled_from([(0, 0), (proposed + 3, 0), (proposed + 2, judged)]))
        figures = (proposed, proposed, judged, accepted, 0.001, 0.01, n_ctx, "ngram", rows, depth)
        steps.append(Step(t_s, accepted + 1, *figures))
    return steps


@st.composite
def runs(draw):
    speculation = draw(st.sampled_from([Speculation(), NGRAM, Speculation(types=("ngram",), draft_tokens=31)]))
    engaged = speculation.types != () and draw(st.booleans())
    recorder = RunRecorder(
        label=draw(st.sampled_from(["", "a", 'b, "c"\n', "ü=1+1"])),
        speculation=speculation,
        sampling=Sampling(seed=draw(st.integers(0, 2**32 - 1)), temperature=draw(st.sampled_from([0.0, 0.8]))),
    )
    ending = draw(st.sampled_from(["done", "done", "done", "cancel", "failed", "died", "before start"]))
    if ending == "before start":
        return recorder.finish(DecodeError("out of memory"))
    prompt_tokens = draw(st.integers(1, 3000))
    cached = draw(st.integers(0, prompt_tokens - 1))
    recorder.on_event(Started(1, prompt_tokens, cached, Engagement(engaged, "ngram", 4, "" if engaged else "No.")))
    for step in draw(steps_of_a_run()):
        recorder.on_event(Chunk(1, "x", tuple(range(step.emitted)), (False,) * step.emitted, step))
    if ending == "done":
        stop = draw(st.sampled_from(["eos", "stop", "length", "cancelled"]))
        prefill_s = draw(st.just(0.0) | st.floats(1e-6, 2.0))
        recorder.on_event(Done(1, stop, "", prefill_s, draw(st.floats(0.0, 2.0))))
    faults = {"failed": DecodeError("no"), "died": EngineDiedError("killed")}
    return recorder.finish(faults.get(ending))


LENGTHS = (20, 900, 1500, 3000)
ANSWERS = st.tuples(st.floats(30.0, 90.0), st.sampled_from(LENGTHS[:3]))  # a speed, and where in the context


def bucket_at(n_ctx):
    return bucket_of([{"n_ctx": n_ctx}, {"n_ctx": n_ctx + 39}])


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=st.lists(runs(), max_size=10))
def test_every_figure_recomputes_from_the_exported_file_alone(tmp_path, made):
    log = session(tmp_path)
    for run in made:
        log.add(run)
    path = tmp_path / "metrics.json"
    write_json(log.to_metrics(), path)
    document = json.loads(path.read_bytes())

    validate(document)
    check_recomputes(document)
    assert read_json(path) == log.to_metrics()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    plain=st.lists(ANSWERS, min_size=16, max_size=20),
    drafted=st.lists(ANSWERS, min_size=1, max_size=20),
    is_recorded=st.booleans(),
)
def test_verdicts_and_baseline_recompute_too(tmp_path, plain, drafted, is_recorded):
    log = session(tmp_path)
    for tps, n_ctx in plain:
        log.add(run_of(plain_steps(40, tps, n_ctx=n_ctx)))
    if is_recorded:
        log.take_up(record(log.runs, prompt_set="test"))
    for tps, n_ctx in drafted:
        log.add(run_of(plain_steps(40, tps * 1.1, n_ctx=n_ctx), speculation=NGRAM))
    document = json.loads(b"".join(metrics_json(log.to_metrics())))

    validate(document)
    check_recomputes(document)
    by_bucket = [Counter(bucket_at(n_ctx) for _, n_ctx in some) for some in (plain, drafted)]
    assert document["comparisons"][0]["n_pairs"] == (by_bucket[0] & by_bucket[1]).total()
    assert document["baseline"]["context_bucket"] in by_bucket[0]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    speeds=st.lists(st.floats(30.0, 90.0), min_size=6, max_size=8),
    lengths=st.lists(st.sampled_from(LENGTHS[2:]), min_size=10, max_size=10),
    redact=st.booleans(),
)
def test_verdicts_against_stored_baselines_recompute_from_the_file_alone(tmp_path, speeds, lengths, redact):
    """Two targets, each with a baseline from a session that is gone: the export has the steps of both."""
    other, home = tmp_path / "other.gguf", tmp_path / uuid.uuid4().hex
    home.mkdir()
    other.write_bytes(b"GGUF the other one")
    store = BaselineStore(home / "baselines")
    before, log = session(home), session(home)
    for target in (home / "target.gguf", other):
        before.set_loaded(HELLO, loaded(target))
        plain = [before.add(run_of(plain_steps(40, tps), label=f"my {i}")) for i, tps in enumerate(speeds)]
        plain += [before.add(run_of(plain_steps(40, 40.0, n_ctx=n))) for n in lengths]
        for baseline in record(plain, prompt_set="mine"):
            store.save(baseline)
    for target in (home / "target.gguf", other):
        log.set_loaded(HELLO, loaded(target))
        for n_ctx in (*lengths, *[20] * len(speeds)):
            log.add(run_of(plain_steps(40, 60.0, n_ctx=n_ctx), speculation=NGRAM))
    document = json.loads(b"".join(metrics_json(prepared(log.to_metrics(), redact=redact))))

    validate(document)
    check_recomputes(document)
    counted = Counter(map(bucket_at, (*lengths, *[20] * len(speeds))))
    enough = [n for n in counted.values() if n >= 6]
    assert [c["n_pairs"] for c in document["comparisons"]] == [sum(enough)] * 2
    assert (document["baseline"]["target_file"], len(document["baselines"])) == ("other.gguf", 2 * len(enough) - 1)
    assert redact == (b"my 1" not in json.dumps(document).encode())


# --- forms --------------------------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path):
    found = session(tmp_path)
    for i in range(7):
        found.add(run_of(plain_steps(40, 50.0 + i), label=f"prompt {i}"))
        found.add(run_of(plain_steps(40, 80.0 + i), speculation=NGRAM, label=f"prompt {i}"))
    (found.baseline,) = record((run for run in found.runs if run.spec_type == "none"), prompt_set="seven")
    return found


def test_export_writes_every_form(log, tmp_path):
    out = tmp_path / "new" / "folder"
    paths = export_session(log.to_metrics(), out)

    names = sorted(p.name for p in out.iterdir())
    assert names == [
        *("metrics.csv", "metrics.json", "report.html", "report.md"),
        *("speed.svg", "steps.csv", "verdicts.svg"),
    ]
    assert set(paths) == set(out.iterdir())


def test_json_is_one_line_a_step(log, tmp_path):
    write_json(log.to_metrics(), tmp_path / "metrics.json")
    lines = (tmp_path / "metrics.json").read_text(encoding="utf-8").splitlines()

    assert sum(line.startswith('{"t_s"') for line in lines) == sum(len(run.steps) for run in log.runs)
    assert lines[0] == '{"schema":"slipstream.metrics/1",'
    document = json.loads("\n".join(lines))
    validate(document)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)  # whichever of the shapes it is


def test_file_names_only_and_no_folders(log, tmp_path):
    text = b"".join(metrics_json(log.to_metrics())).decode()

    assert "target.gguf" in text
    assert str(tmp_path) not in text


def test_csv_of_runs_and_steps(log, tmp_path):
    write_runs_csv(log.to_metrics().runs, tmp_path / "metrics.csv")
    write_steps_csv(log.runs, tmp_path / "steps.csv")
    with (tmp_path / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "steps.csv").open(encoding="utf-8", newline="") as file:
        steps = list(csv.DictReader(file))

    assert [row["id"] for row in rows] == [run.id for run in log.runs]
    assert [float(row["decode_tps"]) for row in rows] == [run.decode_tps for run in log.runs]
    assert (rows[1]["verdict"], rows[1]["target_file"], rows[0]["speedup_low"]) == ("pays", "target.gguf", "")
    assert [float(step["t_s"]) for step in steps] == [step.t_s for run in log.runs for step in run.steps]
    assert steps[41]["run"] == log.runs[1].id
    assert steps[41]["step"] == "1"


def test_report_says_the_verdict_in_words(log, tmp_path):
    export_session(log.to_metrics(), tmp_path, redact=False)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")

    assert "**pays 1.5" in text
    assert "recorded on seven" in text
    assert text.count("| prompt 3 |") == 2


def test_a_baseline_of_no_answers_in_an_export_from_elsewhere_is_reported_all_the_same(log, tmp_path):
    path = tmp_path / "metrics.json"
    empty = msgspec.structs.replace(log.baseline, samples=())
    write_json(msgspec.structs.replace(log.to_metrics(), baseline=empty), path)
    export_session(read_json(path), tmp_path / "out", redact=False)
    assert "recorded on seven" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


def test_a_fixed_shape_is_named_where_its_verdict_is(tmp_path):
    log = session(tmp_path)
    for way in (NGRAM, msgspec.structs.replace(NGRAM, fixed_shape=True)):
        for _ in range(6):
            log.add(run_of(plain_steps(40, 80.0), speculation=way))
    metrics = log.to_metrics()
    assert [c.fixed_shape for c in metrics.comparisons] == [False, True]
    assert len({way_words(c) for c in metrics.comparisons}) == 2
    validate(json.loads(b"".join(metrics_json(metrics))))


def test_report_says_what_a_verdict_was_measured_on(tmp_path):
    draft = tmp_path / "draft.gguf"
    draft.write_bytes(b"GGUF draft")
    log = session(tmp_path, draft)
    for _ in range(6):
        way = msgspec.structs.replace(NGRAM, draft_min=2, p_min=0.5)
        log.add(run_of(plain_steps(40, 80.0), speculation=way, power=Power(on_battery=True, power_mode="balanced")))
    export_session(log.to_metrics(), tmp_path / "out")
    measured_on = "target.gguf (Q4_1) on CPU, 2 threads, draft model draft.gguf, on battery, power mode balanced"
    for name in ("report.md", "report.html"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert f"ngram, length 4, at least 2, p_min 0.5, temperature 0; {measured_on}" in text


def test_reading_back_gives_the_same(log, tmp_path):
    metrics = log.to_metrics()
    write_json(metrics, tmp_path / "metrics.json")

    assert read_json(tmp_path / "metrics.json") == metrics


def test_fields_of_later_versions_are_no_hindrance(log, tmp_path):
    document = json.loads(b"".join(metrics_json(log.to_metrics())))
    document["weather"] = "rain"
    document["runs"][0]["mood"] = 1
    path = tmp_path / "metrics.json"
    path.write_text(json.dumps(document))

    assert read_json(path) == log.to_metrics()
    validate(document)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "not an export"),
        (b"\xff", "not an export"),
        (b'{"schema": 3}', "not an export"),
        (NESTED, "not an export"),
        (None, "Cannot read"),
    ],
)
def test_reading_something_else_is_an_error_in_words(tmp_path, content, words):
    path = tmp_path / "metrics.json"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ExportError, match=words):
        read_json(path)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda d: d["runs"][0].pop("decode_tps"), "decode_tps"),
        (lambda d: d["runs"][0].update(stop_reason="tired"), "tired"),
        (lambda d: d["runs"][0]["steps"][3].update(emitted=-1), "-1"),
        (lambda d: d.update(schema="slipstream.metrics/2"), "slipstream.metrics/1"),
        (lambda d: d["runs"][0].update(requested_at="yesterday"), "yesterday"),
        (lambda d: d["baseline"].pop("n_threads"), "baseline"),
    ],
)
def test_schema_sees_what_is_wrong(log, change, where):
    document = json.loads(b"".join(metrics_json(log.to_metrics())))
    change(document)

    with pytest.raises(jsonschema.ValidationError, match=where):
        validate(document)


def test_other_schema_is_refused(log, tmp_path):
    write_json(msgspec.structs.replace(log.to_metrics(), schema="slipstream.metrics/2"), tmp_path / "m.json")

    with pytest.raises(ExportError, match=r"schema slipstream\.metrics/2"):
        read_json(tmp_path / "m.json")


def test_failed_write_leaves_the_old_file_and_nothing_else(log, tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text("old")

    def runs_that_break():
        yield log.runs[0]
        raise OSError(28, "No space left on device")

    with pytest.raises(ExportError, match="No space left"):
        write_steps_csv(runs_that_break(), path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.glob("*steps.csv*")] == ["steps.csv"]


def test_figures_of_an_unused_session_are_valid(tmp_path):
    log = SessionLog(BaselineStore(tmp_path / "b"))
    log.set_loaded(HELLO, loaded(tmp_path / "gone.gguf"))
    document = json.loads(b"".join(metrics_json(log.to_metrics())))

    validate(document)
    assert document["runs"] == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [("metrics", Metrics), ("run", Run), ("step", Step), ("comparison", Comparison), ("conditions", RunConditions)],
)
def test_every_field_that_is_written_is_described(kind, value):
    assert set(value.__struct_encode_fields__) <= set(SCHEMA["$defs"][kind]["properties"])


def test_answers_whose_drafts_were_kept_short_are_another_comparison(tmp_path):
    log = session(tmp_path)
    for _ in range(6):
        log.add(run_of(plain_steps(40, 10.0), label="p"))
        log.add(run_of(plain_steps(40, 11.0), speculation=NGRAM, label="p", n_exact=2))
        log.add(run_of(plain_steps(40, 5.0), speculation=NGRAM, label="p"))
    kept, free = log.comparisons()
    assert (kept.n_exact, kept.n_pairs, free.n_exact, free.n_pairs) == (2, 6, 0, 6)
    assert kept.speedup.median == pytest.approx(1.1)
    assert free.speedup.median == pytest.approx(0.5)
    names = {way.way for way in compare(log.to_metrics(), log.to_metrics()).ways}
    assert {"ngram, length 4 kept to 2, greedy", "ngram, length 4, greedy"} <= names
