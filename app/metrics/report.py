"""A session in words, a table and charts: ``report.md`` with SVG files beside it, ``report.html`` all in one file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from app.metrics.atomic import replacing
from app.metrics.export import Metrics
from app.metrics.pictures import PAGE, pictures, way_words
from app.metrics.values import BESIDE_DRAFT, Interval, Run, RunConditions, is_lossy

MOST_ROWS = 1000
"""Longer tables nobody reads; the rest is in ``metrics.csv``."""

HEADER = (
    "run",
    "prompt",
    "speculation",
    "tokens",
    "TTFT s",
    "prefill tok/s",
    "answer s",
    "decode tok/s",
    "accept",
    "alpha",
    "tokens/step",
    "end",
)
_TEXT_COLUMNS = 3

_MEANINGS = (
    "Decode speed: tokens after the first step ÷ time from the first step to the last, engine time.",
    "Accept: accepted ÷ proposed. Alpha: accepted ÷ judged. Tokens per step: tokens ÷ passes of the target.",
    "Verdicts rest on paired answers under like conditions, at least six pairs, never on acceptance.",
    "Their intervals stay valid however often they are looked at.",
)

_MARKS = re.compile(r"[\\`*\[\]]")

_STYLE = """
:root { color-scheme: light dark; --base: #ffffff; --text: #1a2026; --muted: #55606b; --grid: #dfe4e8;
        --drafted: #0e6f8a; --plain: #a14f00; }
@media (prefers-color-scheme: dark) { :root { --base: #1b2025; --text: #e5e9ed; --muted: #9daab6; --grid: #39424b;
        --drafted: #4cc3dc; --plain: #f0a35e; } }
body { background: var(--base); color: var(--text); font: 15px/1.5 "Segoe UI", system-ui, sans-serif;
       max-width: 1000px; margin: 2rem auto; padding: 0 1rem; }
svg { max-width: 100%; height: auto; display: block; margin: 1rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 3px 9px; border-bottom: 1px solid var(--grid); text-align: right; white-space: nowrap; }
.t { text-align: left; }
.note, footer { color: var(--muted); }
"""


def write_report(metrics: Metrics, path: Path, images: Sequence[str] = ()) -> None:
    """Write ``report.md``, which shows the images of these names from beside it.

    Raises:
        ExportError: the file cannot be written.
    """
    with replacing(path) as file:
        file.write("\n".join(_markdown(metrics, images)).encode() + b"\n")


def write_html(metrics: Metrics, path: Path) -> None:
    """Write ``report.html``: everything in one file that reaches for nothing else.

    Raises:
        ExportError: the file cannot be written.
    """
    with replacing(path) as file:
        for part in _html(metrics):
            file.write(part.encode() + b"\n")


def facts(metrics: Metrics) -> list[str]:
    """Say what was measured, where and when."""
    app, machine, session = metrics.app, metrics.machine, metrics.session
    said = [f"Slipstream {app.version}, llama-cpp-python {app.llama_cpp_python}, llama.cpp {app.llama_cpp_commit}"]
    memory = f"{machine.memory_bytes / 2**30:.1f} GiB"
    said.append(f"{machine.os}; {machine.cpu}, {machine.cores} cores, {memory}; {machine.device}")
    if session is not None:
        named = f" “{session.name}”" if session.name else ""
        private = "; prompts and paths are left out" if session.redacted else ""
        said.append(f"Session{named} of {session.started_at[:16].replace('T', ' ')} UTC{private}")
    for role, model in (("Target", metrics.target), ("Draft model", metrics.draft)):
        if model:
            said.append(
                f"{role}: {model.name} ({model.architecture}, {model.quantisation}, {model.bytes / 1e6:,.0f} MB)"
            )
    said.append(f"Baseline: {baseline_words(metrics)}")
    return said


def verdicts(metrics: Metrics) -> list[tuple[str, str, int]]:
    """Return for each kind of speculation what was asked, the verdict in words, and the number of pairs."""
    return [
        (f"{way_words(c)}, temperature {c.temperature:g}{condition_words(c.conditions)}", c.words, c.n_pairs)
        for c in metrics.comparisons
    ]


def condition_words(conditions: RunConditions | None) -> str:
    """Say what a verdict was measured on, as the end of a sentence; "" where that is not known."""
    if conditions is None:
        return ""
    said = [f"; {conditions.target_file} ({conditions.quantisation}) on {conditions.device}"]
    said.append(f"{conditions.n_threads} threads")
    if conditions.draft_file:
        where = f" on {conditions.draft_device}" if conditions.draft_device else ""
        said.append(f"draft model {conditions.draft_file}{where}")
    if conditions.on_battery is not None:
        said.append("on battery" if conditions.on_battery else "on mains power")
    said += [f"power mode {conditions.power_mode}"] if conditions.power_mode else []
    return ", ".join(said)


def row_of(run: Run) -> tuple[str, ...]:
    """Return the figures of a run as the tables show them."""
    accept = f"{run.accepted}/{run.proposed} ({run.acceptance:.1%})" if run.acceptance is not None else "–"
    engaged = "" if run.engaged or run.spec_type == "none" else " (not engaged)"
    return (
        run.id,
        " ".join(run.prompt.split())[:40],
        way_words(run) + engaged,
        str(run.tokens),
        number(run.ttft_s, 3),
        number(run.prefill_tps, 0),
        number(run.answer_s, 2),
        number(run.decode_tps, 1),
        accept,
        number(run.alpha, 2),
        number(run.tokens_per_step, 2),
        run.stop_reason,
    )


def remarks(runs: Sequence[Run]) -> list[str]:
    """Say which answers do not count, and what else went on during others."""
    said = [f"{run.id} does not count: {run.excluded}." for run in runs if run.excluded]
    said += [f"{run.id} broke off: {run.error}" for run in runs if run.error]
    said += [
        f"{run.id} is lossy: acceptance was lenient (P = {run.lenient:g}), the answer may not be the model's own words."
        for run in runs
        if is_lossy(run)
    ]
    said += [f"{run.id}: {words}." for run in runs if (words := rows_words(run))]
    return said + [f"{run.id}: {'; '.join(run.notes)}." for run in runs if run.notes]


def rows_words(run: Run) -> str:
    """Say what passes took where they had other rows than chains need; "" where they had not."""
    if not run.rows or (run.tree_depth is None and not run.fixed_shape):
        return ""
    kind = "fixed shape" if run.fixed_shape else "token trees"
    deep = f", trees {run.tree_depth:.1f} deep" if run.tree_depth is not None else ""
    nodes = f", {run.proposed} nodes drafted" if run.tree_depth is not None else ""
    return f"{kind}: {run.rows} rows, {run.rows_wasted} wasted ({run.rows_wasted / run.rows:.0%}){nodes}{deep}"


def baseline_words(metrics: Metrics) -> str:
    """Say what the speeds are held against."""
    baseline = metrics.baseline
    if baseline is None:
        return "none"
    words = "recorded on " + baseline.prompt_set if baseline.kind == "recorded" else "this session's plain answers"
    words = BESIDE_DRAFT if baseline.draft_file else words
    words += ", the target's MTP heads in memory" if baseline.mtp_heads else ""
    noted = f" ({'; '.join(baseline.notes)})" if baseline.notes else ""
    return f"{interval(baseline.decode_tps)} tok/s, {baseline.n_runs} answers, {words}{noted}"


def interval(band: Interval) -> str:
    """Return a speed with its interval."""
    return f"{band.median:.1f} ({band.low:.1f}–{band.high:.1f})"


def number(value: float | None, digits: int) -> str:
    """Return a figure as the reports show it."""
    return "–" if value is None else f"{value:.{digits}f}"


def _markdown(metrics: Metrics, images: Sequence[str]) -> Iterator[str]:
    yield "# Slipstream: measured session\n"
    for fact in facts(metrics):
        yield f"- {_literal(fact)}"
    yield "\n## Does speculation pay?\n"
    for asked, sentence, n_pairs in verdicts(metrics):
        yield f"- {_literal(asked)}: **{_literal(sentence)}**, {n_pairs} pairs"
    if not metrics.comparisons:
        yield "No answer with speculation engaged was measured."
    if images:
        yield "\n## Charts\n"
        yield from (f"![{Path(name).stem}]({name})\n" for name in images)
    yield "\n## Runs\n"
    yield "| " + " | ".join(HEADER) + " |"
    marks = ["---"] * _TEXT_COLUMNS + ["--:"] * (len(HEADER) - _TEXT_COLUMNS - 1) + ["---"]
    yield "|" + "|".join(marks) + "|"
    for run in metrics.runs[:MOST_ROWS]:
        yield "| " + " | ".join(_literal(cell).replace("|", "\\|") for cell in row_of(run)) + " |"
    yield from _rest(metrics)
    yield ""
    yield from (f"- {_literal(remark)}" for remark in remarks(metrics.runs[:MOST_ROWS]))
    yield from ("", *_MEANINGS)


def _literal(text: str) -> str:
    """Return text that Markdown leaves as it is: no link, no picture that a reader would fetch, no HTML."""
    return _MARKS.sub(r"\\\g<0>", " ".join(text.split())).replace("<", "&lt;")


def _rest(metrics: Metrics) -> Iterator[str]:
    if (more := len(metrics.runs) - MOST_ROWS) > 0:
        yield f"\n{more:,} more runs are in metrics.csv."


def _html(metrics: Metrics) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield "<title>Slipstream: measured session</title>"
    yield f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>Slipstream: measured session</h1>\n<ul>"
    yield from (f"<li>{escape(fact)}</li>" for fact in facts(metrics))
    yield "</ul>\n<h2>Does speculation pay?</h2>\n<ul>"
    for asked, sentence, n_pairs in verdicts(metrics):
        yield f"<li>{escape(asked)}: <b>{escape(sentence)}</b>, {n_pairs} pairs</li>"
    if not metrics.comparisons:
        yield "<li>No answer with speculation engaged was measured.</li>"
    yield "</ul>"
    yield from pictures(metrics, PAGE).values()
    yield '<h2>Runs</h2>\n<div class="wide"><table>\n<tr>'
    yield "".join(f"<th{_side(n)}>{escape(name)}</th>" for n, name in enumerate(HEADER)) + "</tr>"
    for run in metrics.runs[:MOST_ROWS]:
        yield "<tr>" + "".join(f"<td{_side(n)}>{escape(cell)}</td>" for n, cell in enumerate(row_of(run))) + "</tr>"
    yield "</table></div>"
    yield from (f'<p class="note">{escape(words.strip())}</p>' for words in _rest(metrics))
    yield from (f'<p class="note">{escape(remark)}</p>' for remark in remarks(metrics.runs[:MOST_ROWS]))
    yield "<footer>" + "".join(f"<p>{escape(meaning)}</p>" for meaning in _MEANINGS) + "</footer>\n</body>\n</html>"


def _side(column: int) -> str:
    return ' class="t"' if column < _TEXT_COLUMNS or column == len(HEADER) - 1 else ""
