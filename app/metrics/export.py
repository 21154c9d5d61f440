"""``metrics.json`` (schema ``slipstream.metrics/1``), ``metrics.csv``, ``steps.csv`` and ``report.md``.

The JSON holds the raw steps and request times, so every figure in it can be recomputed from it. It is
written run by run, a step a line: readable in an editor, and never held in memory as a whole.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from app.errors import ExportError
from app.metrics.atomic import replacing
from app.metrics.baseline import Baseline
from app.metrics.values import AppInfo, Interval, MachineInfo, ModelFacts, Run, VerdictWord
from app.protocol import DraftTokens, Step

SCHEMA = "slipstream.metrics/1"

_ROWS_AT_ONCE = 4096
_encoder = msgspec.json.Encoder()


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Speculation of one kind and length against plain decoding, with the pairs that the verdict rests on.

    ``pairs`` are (speculative run, plain run) ids; a plain id is a run of this export or a sample of its baseline.
    """

    spec_type: str
    draft_tokens: DraftTokens
    temperature: float
    target_file: str
    draft_file: str | None
    n_pairs: int
    speedup: Interval | None
    verdict: VerdictWord
    pairs_needed: int | None
    sentence: str
    pairs: tuple[tuple[str, str], ...]


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a session measured."""

    schema: str = SCHEMA
    app: AppInfo
    machine: MachineInfo
    target: ModelFacts | None
    draft: ModelFacts | None
    baseline: Baseline | None
    comparisons: tuple[Comparison, ...] = ()
    runs: tuple[Run, ...] = ()


def metrics_json(metrics: Metrics) -> Iterator[bytes]:
    """Yield the JSON in pieces: one line a top-level field, a run's figures, a step."""
    yield b"{"
    for name in Metrics.__struct_fields__:
        if name != "runs":
            yield b'"' + name.encode() + b'":' + _encoder.encode(getattr(metrics, name)) + b",\n"
    yield b'"runs":['
    for i, run in enumerate(metrics.runs):
        yield b",\n" if i else b"\n"
        yield from _run_json(run)
    yield b"\n]}\n"


def write_json(metrics: Metrics, path: Path) -> None:
    """Write ``metrics.json``.

    Raises:
        ExportError: the file cannot be written.
    """
    with replacing(path) as file:
        file.writelines(metrics_json(metrics))


def read_json(path: Path) -> Metrics:
    """Read an export, of this machine or another, of this version or a later one of schema 1.

    Raises:
        ExportError: the file cannot be read, or is no such export.
    """
    try:
        metrics = msgspec.json.decode(path.read_bytes(), type=Metrics)
    except OSError as fault:
        raise ExportError(f"Cannot read {path}: {fault.strerror}", "Check the path.") from fault
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise ExportError(f"{path} is not an export of Slipstream: {fault}", "Choose a metrics.json.") from fault
    if metrics.schema != SCHEMA:
        raise ExportError(
            f"{path} has the schema {metrics.schema}; this version reads {SCHEMA}.", "Open it with a newer version."
        )
    return metrics


def write_runs_csv(runs: Iterable[Run], path: Path) -> None:
    """Write ``metrics.csv``: one row a run, intervals as three columns.

    Raises:
        ExportError: the file cannot be written.
    """
    left_out = {"steps", "speedup", "alpha_by_position", "conditions"}
    plain = [name for name in Run.__struct_fields__ if name not in left_out]
    conditions = ("target_file", "quantisation", "device", "n_threads", "context_bucket", "draft_file")
    header = [*plain, "speedup_median", "speedup_low", "speedup_high", "alpha_by_position", *conditions]

    def row(run: Run) -> list[object]:
        speedup = run.speedup
        return [
            *(getattr(run, name) for name in plain),
            *((speedup.median, speedup.low, speedup.high) if speedup else ("", "", "")),
            " ".join(map(repr, run.alpha_by_position)),
            *(getattr(run.conditions, name) if run.conditions else "" for name in conditions),
        ]

    _write_csv(header, (row(run) for run in runs), path)


def write_steps_csv(runs: Iterable[Run], path: Path) -> None:
    """Write ``steps.csv``: one row a step, with the id of its run.

    Raises:
        ExportError: the file cannot be written.
    """
    fields = Step.__struct_fields__
    rows = ((run.id, i, *msgspec.structs.astuple(step)) for run in runs for i, step in enumerate(run.steps))
    _write_csv(["run", "step", *fields], rows, path)


def write_report(metrics: Metrics, path: Path) -> None:
    """Write ``report.md``: the session in words and one table, for a person or an issue thread.

    Raises:
        ExportError: the file cannot be written.
    """
    with replacing(path) as file:
        file.write("\n".join(_report(metrics)).encode() + b"\n")


def export_session(metrics: Metrics, folder: Path) -> tuple[Path, ...]:
    """Write all text forms into a folder; return their paths.

    Raises:
        ExportError: a file cannot be written.
    """
    paths = tuple(folder / name for name in ("metrics.json", "metrics.csv", "steps.csv", "report.md"))
    write_json(metrics, paths[0])
    write_runs_csv(metrics.runs, paths[1])
    write_steps_csv(metrics.runs, paths[2])
    write_report(metrics, paths[3])
    return paths


def _run_json(run: Run) -> Iterator[bytes]:
    figures = _encoder.encode(msgspec.structs.replace(run, steps=()))
    if not run.steps:
        yield figures
        return
    yield figures.removesuffix(b"[]}") + b"[\n"
    for start in range(0, len(run.steps), _ROWS_AT_ONCE):
        yield b",\n" if start else b""
        yield b",\n".join(map(_encoder.encode, run.steps[start : start + _ROWS_AT_ONCE]))
    yield b"]}"


def _write_csv(header: Sequence[str], rows: Iterable[Iterable[Any]], path: Path) -> None:
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        text.flush()
        text.detach()


def _report(metrics: Metrics) -> Iterator[str]:
    yield "# Slipstream: measured session\n"
    app, machine = metrics.app, metrics.machine
    yield f"- Slipstream {app.version}, llama-cpp-python {app.llama_cpp_python}, llama.cpp {app.llama_cpp_commit}"
    memory = f"{machine.memory_bytes / 2**30:.1f} GiB"
    yield f"- {machine.os}; {machine.cpu}, {machine.cores} cores, {memory}; {machine.device}"
    for role, model in (("Target", metrics.target), ("Draft model", metrics.draft)):
        if model:
            yield f"- {role}: {model.name} ({model.architecture}, {model.quantisation}, {model.bytes / 1e6:,.0f} MB)"
    yield f"- Baseline: {_baseline_words(metrics.baseline)}\n"
    yield "## Does speculation pay?\n"
    for comparison in metrics.comparisons:
        kind = _kind(comparison.spec_type, comparison.draft_tokens)
        asked = f"{kind}, temperature {comparison.temperature:g}"
        yield f"- {asked}: **{comparison.sentence}**, {comparison.n_pairs} pairs"
    if not metrics.comparisons:
        yield "No answer with speculation engaged was measured."
    yield "\n## Runs\n"
    yield "| run | prompt | speculation | tokens | TTFT s | answer s | decode tok/s | accept | tokens/step | end |"
    yield "|---|---|---|--:|--:|--:|--:|--:|--:|---|"
    for run in metrics.runs:
        yield _report_row(run)
    yield "\nDecode speed: tokens after the first step ÷ time from the first step to the last, engine time."
    yield "Accept: accepted ÷ proposed. Verdicts rest on paired answers under like conditions, never on acceptance."


def _report_row(run: Run) -> str:
    accept = f"{run.accepted}/{run.proposed} ({run.acceptance:.1%})" if run.acceptance is not None else "–"
    kind = _kind(run.spec_type, run.draft_tokens) + ("" if run.engaged or run.spec_type == "none" else " (not engaged)")
    cells = (
        run.id,
        " ".join(run.prompt.replace("|", "\\|").split())[:40],
        kind,
        str(run.tokens),
        _number(run.ttft_s, 3),
        _number(run.answer_s, 2),
        _number(run.decode_tps, 1),
        accept,
        _number(run.tokens_per_step, 2),
        run.stop_reason,
    )
    return "| " + " | ".join(cells) + " |"


def _baseline_words(baseline: Baseline | None) -> str:
    if baseline is None:
        return "none"
    band = baseline.decode_tps
    words = "recorded on " + baseline.prompt_set if baseline.kind == "recorded" else "this session's plain answers"
    return f"{band.median:.1f} tok/s ({band.low:.1f}–{band.high:.1f}), {baseline.n_runs} answers, {words}"


def _kind(spec_type: str, draft_tokens: DraftTokens) -> str:
    return "off" if spec_type == "none" else f"{spec_type}, length {draft_tokens}"


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
