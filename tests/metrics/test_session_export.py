"""All forms of an export: what they say is what the JSON holds; progress, cancelling, size, other people's files."""

from __future__ import annotations

import csv
import html
import json
import re
import threading
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import ExportError
from app.metrics.baseline import record
from app.metrics.curves import curves
from app.metrics.export import in_blocks, read_json, write_json
from app.metrics.pictures import PAGE, PAPER, pictures
from app.metrics.report import HEADER, row_of
from app.metrics.session_export import FILES, export_session, open_session, prepared, write_session
from app.metrics.stats import LiveRate
from app.metrics.tables import write_steps_csv
from app.protocol import Step
from app.ui.figures import facts_of
from tests.metrics.sessions import NGRAM, plain_steps, run_of, session
from tests.metrics.test_export import check_recomputes, recomputed, runs

SVG = "{http://www.w3.org/2000/svg}"


def drafted_steps(n, *, kept=3, pace_s=0.04):
    first = Step(0.2, 1, 0, 0, 0, 0, 0.0, 0.0, 21, "")
    return [first] + [
        Step(0.2 + i * pace_s, kept + 1, 4, 4, 4, kept, 0.001, 0.03, 21 + i * (kept + 1), "ngram") for i in range(1, n)
    ]


@pytest.fixture
def log(tmp_path):
    log = session(tmp_path)
    for i in range(7):
        log.add(run_of(plain_steps(60, 50.0 + i), label=f"p{i}"))
        log.add(run_of(drafted_steps(60, kept=1 + i % 3), speculation=NGRAM, label=f"p{i}"))
    (log.baseline,) = record((run for run in log.runs if run.spec_type == "none"), prompt_set="seven")
    return log


# --- every form says the same -----------------------------------------------------------------------------


def shown(value, digits):
    return "–" if value is None else f"{value:.{digits}f}"


def cells_of(run):
    """The table's figures of a run, by someone who has its steps alone."""
    found = recomputed(run)
    share = "–"
    if found["acceptance"] is not None:
        share = f"{found['accepted']}/{found['proposed']} ({found['acceptance']:.1%})"
    return [
        str(found["tokens"]),
        shown(found["ttft_s"], 3),
        shown(found["prefill_tps"], 0),
        shown(found["answer_s"], 2),
        shown(found["decode_tps"], 1),
        share,
        shown(found["alpha"], 2),
        shown(found["tokens_per_step"], 2),
        run["stop_reason"],
    ]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=st.lists(runs(), max_size=6))
def test_every_form_shows_the_figures_that_follow_from_the_steps(tmp_path, made):
    log = session(tmp_path)
    for run in made:
        log.add(run)
    export_session(log.to_metrics(), tmp_path / "out")
    document = json.loads((tmp_path / "out" / "metrics.json").read_bytes())
    check_recomputes(document)

    markdown = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    table = [line.split(" | ") for line in markdown.splitlines() if re.match(r"\| [0-9a-f]{12} ", line)]
    rows = re.findall(r"<tr>(<td.*?)</tr>", page)
    with (tmp_path / "out" / "metrics.csv").open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    assert len(table) == len(rows) == len(records) == len(made)
    for run, line, row, one in zip(document["runs"], table, rows, records, strict=True):
        cells = [html.unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
        assert [cell.removesuffix(" |") for cell in line[3:]] == cells[3:] == cells_of(run)
        for name, value in recomputed(run).items():
            if name != "alpha_by_position":
                assert one[name] == ("" if value is None else str(value)), name


@settings(max_examples=25, deadline=None)
@given(run=runs())
def test_a_figure_of_the_panel_is_the_exported_one(run):
    document = json.loads(msgspec.json.encode(msgspec.structs.replace(run, steps=tuple(run.steps))))
    found, panel = recomputed(document), {fact.name: fact.value for fact in facts_of(run)}

    assert panel["Tokens per step"] == shown(found["tokens_per_step"], 2)
    assert panel["Alpha, per token"].partition(" ")[0] == shown(found["alpha"], 2)
    share = "–"
    if found["acceptance"] is not None:
        share = f"{found['accepted']:,}/{found['proposed']:,} ({found['acceptance']:.1%})"
    assert panel["Acceptance"] == share
    for name, field, digits, unit in (
        ("First token", "ttft_s", 2, " s"),
        ("Answer time", "answer_s", 2, " s"),
        ("Prefill", "prefill_tps", 0, " tok/s"),
    ):
        assert panel[name] == ("–" if found[field] is None else f"{found[field]:,.{digits}f}{unit}")


def test_the_panel_says_what_does_not_count_and_why(log):
    log.mark([log.runs[0].id], excluded="the recording was interrupted", notes=("on battery",))
    panel = {fact.name: fact.value for fact in facts_of(log.runs[0])}

    assert (panel["Does not count"], panel["Meanwhile"]) == ("the recording was interrupted", "on battery")
    assert "Does not count" not in {fact.name for fact in facts_of(log.runs[1])}


def test_many_tokens_of_a_step_are_so_many_tokens(log, tmp_path):
    """No form takes a step, or a chunk, for a token."""
    run = log.runs[5]
    assert run.tokens == 1 + 59 * 4
    assert row_of(run)[HEADER.index("tokens")] == "237"
    assert row_of(run)[HEADER.index("decode tok/s")] == f"{59 * 4 / (59 * 0.04):.1f}"
    (curve,) = [curve for curve in curves(log.runs) if curve.run_id == run.id]
    assert curve.speed[-1][1] == pytest.approx(100.0)


def test_a_point_of_a_curve_is_what_the_live_chart_showed(log):
    for run, curve in zip(log.runs, curves(log.runs), strict=True):
        rate, live = LiveRate(), {}
        for step in run.steps:
            live[round(step.t_s - run.steps[0].t_s, 9)] = rate.add(step)
        start_s = curve.speed[-1][0] - (run.steps[-1].t_s - run.steps[0].t_s)
        for at_s, tps in curve.speed:
            assert tps == pytest.approx(live[round(at_s - start_s, 9)])


# --- charts and pages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("inks", [PAPER, PAGE])
def test_charts_are_whole_documents_that_reach_for_nothing(log, inks):
    drawn = pictures(log.to_metrics(), inks)

    assert list(drawn) == ["speed", "acceptance", "positions", "verdicts"]
    for drawing in drawn.values():
        root = ElementTree.fromstring(drawing)
        assert root.tag == f"{SVG}svg"
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg')|url\(|<image|<script", drawing)
    lines = ElementTree.fromstring(drawn["speed"]).findall(f"{SVG}polyline")
    assert len(lines) == len(log.runs)
    assert sum("stroke-dasharray" in line.attrib for line in lines) == 7, "plain ones are dashed"


def test_a_session_of_many_long_answers_is_a_small_picture(tmp_path):
    log = session(tmp_path)
    log.add(run_of(plain_steps(30_000, 200.0)))
    assert len(pictures(log.to_metrics())["speed"]) < 80_000


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a|b", "![x](http://x)", "</svg>"])
def test_names_are_text_and_nothing_else(tmp_path, name):
    log = session(tmp_path)
    log.add(run_of(plain_steps(40, 50.0), label=name))
    export_session(log.to_metrics(), tmp_path / "out", redact=False)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    markdown = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")

    assert "<script>" not in page + markdown
    assert html.escape(name) in page
    row = next(line for line in markdown.splitlines() if log.runs[0].id in line)
    assert len(re.findall(r"(?<!\\)\|", row)) == len(HEADER) + 1


def test_marked_answers_and_notes_are_named_in_the_reports(log, tmp_path):
    log.mark([log.runs[0].id], excluded="the recording was interrupted")
    log.mark([log.runs[1].id], notes=("on battery",))
    export_session(log.to_metrics(), tmp_path / "out")

    for name in ("report.md", "report.html"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert f"{log.runs[0].id} does not count: the recording was interrupted." in text
        assert f"{log.runs[1].id}: on battery." in text
    found = open_session(tmp_path / "out")
    assert found.runs[0].excluded == "the recording was interrupted"
    assert found.runs[1].notes == ("on battery",)


# --- progress, cancelling, reading ------------------------------------------------------------------------


def test_progress_goes_from_nothing_to_all_on_the_thread_that_writes(tmp_path):
    log = session(tmp_path)
    for _ in range(3):
        log.add(run_of(plain_steps(9000, 200.0)))
    told = []
    write_session(
        prepared(log.to_metrics()), tmp_path / "out", lambda share: told.append((share, threading.get_ident()))
    )

    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert len(shares) > 10
    assert shares[-1] == 1.0
    assert {ident for _, ident in told} == {threading.get_ident()}


def test_an_export_that_is_stopped_leaves_no_half_of_a_file(log, tmp_path):
    def stop(share):
        if share > 0.4:
            raise ExportError("The export was cancelled.")

    with pytest.raises(ExportError, match="cancelled"):
        export_session(log.to_metrics(), tmp_path / "out", on_progress=stop)
    left = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert set(left) <= set(FILES)
    assert all(not name.startswith(".") for name in left)


def test_steps_of_a_foreign_file_are_written_as_they_are(log, tmp_path):
    """A drafter's name may hold anything there."""
    step = Step(0.5, 1, 0, 0, 0, 0, 0.0, 0.1, 20, 'a "quoted", name],[')
    run = msgspec.structs.replace(log.runs[0], steps=(step, step))
    write_steps_csv([run, log.runs[1]], tmp_path / "steps.csv")
    with (tmp_path / "steps.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))

    assert [row["drafter"] for row in rows[:2]] == [step.drafter] * 2
    assert [float(row["t_s"]) for row in rows[2:]] == [step.t_s for step in log.runs[1].steps]
    assert [int(row["step"]) for row in rows] == [0, 1, *range(60)]


def test_a_file_that_was_laid_out_anew_reads_the_same(log, tmp_path):
    path = tmp_path / "metrics.json"
    write_json(log.to_metrics(), path)
    path.write_text(json.dumps(json.loads(path.read_bytes()), indent=3, sort_keys=True))

    assert read_json(path) == log.to_metrics()


@pytest.mark.parametrize("wrong", [{"emitted": -1}, {"n_ctx": 2**40}, {"drafter": 3}])
def test_steps_that_are_none_are_refused(log, tmp_path, wrong):
    path = tmp_path / "metrics.json"
    write_json(log.to_metrics(), path)
    document = json.loads(path.read_bytes())
    document["runs"][0]["steps"][3].update(wrong)
    path.write_text(json.dumps(document))

    with pytest.raises(ExportError, match="not an export"):
        read_json(path)


def test_exports_of_before_this_version_open(tmp_path):
    """Schema 1 only ever gained fields: this file was written by the first version."""
    found = open_session(Path(__file__).parent / "traces" / "first-version.json")

    assert [run.spec_type for run in found.runs] == ["none", "ngram"]
    assert found.session is None
    assert found.runs[1].excluded == ""
    export_session(found, tmp_path / "out")
    assert open_session(tmp_path / "out").runs[1].steps == found.runs[1].steps


def test_blocks_lose_nothing():
    assert [len(block) for block in in_blocks(range(10), 4)] == [4, 4, 2]
    assert list(in_blocks([], 4)) == []
