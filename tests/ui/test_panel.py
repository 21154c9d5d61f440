"""The speed panel: figures, charts, recording a baseline, export."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from time import monotonic

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QScrollArea

from app.host import ChatRequest
from app.metrics.stats import decode_tps
from app.protocol import Step
from app.ui.figures import Fact
from app.ui.standing import Standing
from app.ui.trace import GAP_S, LiveTrace, Timeline
from tests.doubles import POEM, Answer

ROOT = Path(__file__).resolve().parents[2]
LONG = f"{POEM} {POEM} {POEM}"


def step(t_s, emitted=1, proposed=0, accepted=0):
    return Step(t_s, emitted, proposed, proposed, min(proposed, accepted + 1), accepted, 0.0, 0.01, 10, "")


def test_a_burst_does_not_spike():
    live = LiveTrace(is_plain=False, starts_s=0.0)
    for n in range(200):
        live.add(step(n * 0.1, emitted=5 if n % 10 == 0 else 1, proposed=4, accepted=4 if n % 10 == 0 else 0))
    steady = live.trace.tps[40:]
    assert min(steady) > 12
    assert max(steady) < 17


def test_points_are_thinned_however_many_steps():
    live = LiveTrace(is_plain=True, starts_s=0.0)
    for n in range(20_000):
        live.add(step(n * 0.001))
    assert len(live.trace.at_s) <= 401


def test_acceptance_is_over_the_last_two_seconds():
    live = LiveTrace(is_plain=False, starts_s=0.0)
    for n in range(100):
        live.add(step(n * 0.1, proposed=4, accepted=4 if n < 50 else 0))
    assert live.trace.acceptance[0] == 1.0
    assert live.acceptance == 0.0


def test_answers_stand_one_after_another():
    timeline = Timeline()
    first = timeline.begin(is_plain=True)
    for n in range(10):
        first.add(step(5 + n * 0.1))
    second = timeline.begin(is_plain=False)
    assert timeline.traces[0].at_s[-1] == pytest.approx(0.9)
    assert second.trace.starts_s == pytest.approx(0.9 + GAP_S)


def test_the_panel_shows_the_figures_of_the_session(program):
    async def story():
        panel = program.window.panel
        assert panel.verdict == "Does speculation pay? Not measured yet."
        assert not panel.foot.export.isEnabled()
        await program.ask("one")
        (run,) = program.host.session.runs
        assert panel._number.text() == f"{decode_tps(run.steps):.1f}"
        facts = panel.facts()
        assert facts["Acceptance"] == f"{run.accepted}/{run.proposed} ({run.acceptance:.1%})"
        assert facts["Tokens per step"] == f"{run.tokens_per_step:.2f}"
        assert panel.verdict == "Does speculation pay? Cannot tell yet (needs about 6 more pairs of answers)"
        program.window.pair_bar.toggle_speculation()
        await program.ask("plain")
        assert panel.baseline_words.startswith("Baseline 50.0 tok/s")
        assert "this session, speculation off" in panel.baseline_words
        assert panel.foot.export.isEnabled()
        assert panel.foot.record.isEnabled()

    program.run(story)


def test_turning_speculation_off_and_on_with_a_draft_model_gives_a_verdict_and_names_what_it_rests_on(program):
    program.answers = (Answer(LONG),)

    async def story():
        panel, bar = program.window.panel, program.window.pair_bar
        await program.until(lambda: panel.charts is not None)
        program.controller.engine.pick_drafter("starter")
        await program.until(lambda: not program.controller.engine.is_loading)
        for n in range(6):
            await program.ask(f"with it, {n}")
            bar.toggle_speculation()
            await program.ask(f"without it, {n}")
            assert "no baseline" not in panel.note
            bar.toggle_speculation()
        assert panel.verdict.startswith("Speculation pays")
        beside = "answers of this session with speculation off, draft model in memory"
        assert panel.note.startswith(f"Held against {beside}.")
        assert "speculation off, draft model in memory (" in panel.baseline_words, "of the length of the last answer"
        assert "more within 2,048 tokens for a 95 % interval)" in panel.baseline_words
        panel.charts.redraw()
        assert "baseline, draft in memory" in panel.charts.page.stack.caption(0)
        assert program.host.session.comparisons()[0].n_beside_draft == 6
        assert panel.offer == ""

    program.run(story)


def test_what_is_offered_follows_the_switch_at_once(program):
    program.answers = (Answer(LONG, accepted=(0,)),)

    async def story():
        panel, bar = program.window.panel, program.window.pair_bar
        for n in range(6):
            await program.ask(f"with it, {n}")
            bar.toggle_speculation()
            await program.ask(f"without it, {n}")
            bar.toggle_speculation()
        assert panel.verdict.startswith("Speculation costs")
        assert panel.offer == "Switch speculation off"
        bar.toggle_speculation()
        assert panel.offer == ""
        bar.toggle_speculation()
        assert panel.offer == "Switch speculation off"

    program.run(story)


def test_a_long_figure_wraps_and_pushes_nothing_out_of_the_panel(program):
    async def story():
        await program.ask("one")
        panel = program.window.panel
        why = "The target keeps a running state (recurrent layers) that llama.cpp cannot rewind for this architecture."
        panel.show_facts((Fact("Drafting", f"not engaged: {why}", "What drafted."),))
        page = panel.findChild(QScrollArea).widget()
        await program.until(lambda: page.width() == page.parentWidget().width())
        assert page.minimumSizeHint().width() <= panel.minimumWidth()

    program.run(story)


def test_the_charts_show_every_answer_and_the_band(program):
    async def story():
        await program.until(lambda: program.window.panel.charts is not None)
        charts = program.window.panel.charts
        assert not charts.isVisible(), "empty charts say nothing"
        await program.ask("one")
        program.window.pair_bar.toggle_speculation()
        await program.ask("two")
        assert charts.isVisible()
        charts.redraw()
        lines = charts.page.speed_lines
        assert lines["plain"].is_shown
        assert lines["drafted"].is_shown
        assert np.nanmax(lines["plain"].curve[1]) == pytest.approx(50.0, rel=0.01)
        assert charts.page.speed._area.isVisible()
        assert charts.page.speed._median.value() == pytest.approx(50.0, rel=0.01)
        assert "baseline" in charts.page.stack.caption(0)

    program.run(story)


def test_each_curve_is_that_of_its_own_answer_whoever_else_asks(program):
    program.answers = (Answer(LONG, pace_s=0.02, burst=7), Answer(pace_s=0.01), Answer(LONG, burst=10_000))

    async def from_elsewhere():
        async for _ in program.host.answer(ChatRequest(prompt="from elsewhere")):
            pass

    async def story():
        await program.until(lambda: program.window.panel.charts is not None)
        other = asyncio.ensure_future(from_elsewhere())
        await program.until(lambda: program.host.state.phase == "answering")
        await program.ask("waits for the other, then speaks")
        await other
        await program.ask("says all at one go")
        traces = program.window.panel.charts._scene.timeline.traces
        again = Timeline.of_runs(program.host.session.runs).traces
        assert [(t.run_id, t.number, t.starts_s, t.at_s, t.tps, t.limit) for t in traces] == [
            (t.run_id, t.number, t.starts_s, t.at_s, t.tps, t.limit) for t in again
        ]

    program.run(story)


WITHOUT_PYQTGRAPH = """
import json, sys
from pathlib import Path
sys.modules["pyqtgraph"] = None  # the import fails as it does where the package is not installed
from app.ui.app import make_application, open_window
from app.ui.chart_control import ChartControl
from tests.metrics.test_compare import answered
theme, window = open_window(make_application())
window.build()
session = answered(Path(sys.argv[1]), 50.0, 80.0)
control, panel = ChartControl(window, session), window.panel
before = panel.waiting
control.install()
control.begin(is_plain=True)
control.mark_stale()
control.end()
control.refresh()
panel.answers.select([session.runs[0].id, session.runs[1].id])
print(json.dumps([before, panel.waiting, panel.answers.count(), panel._compared.text()]))
"""


def test_a_panel_without_charts_says_why_and_lists_the_answers(tmp_path):
    command = [sys.executable, "-c", WITHOUT_PYQTGRAPH, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    before, after, n_answers, comparison = json.loads(done.stdout)
    assert before == "The charts appear with the first answer."
    assert after.startswith("The charts cannot be shown: ")
    assert "pyqtgraph" in after
    assert after.endswith("A part of Slipstream is missing or damaged: install it again.")
    assert n_answers == 14
    assert comparison.startswith("Answer 2 against 1: ")


def test_nothing_is_drawn_while_hidden(program):
    async def story():
        await program.until(lambda: program.window.panel.charts is not None)
        charts = program.window.panel.charts
        program.window.toggle_panel()
        await program.ask("one")
        charts.mark_stale()
        await asyncio.sleep(0.05)
        assert not charts.page.speed_lines["drafted"].is_shown
        assert charts.pace.cost_s == 0.0
        program.window.toggle_panel()
        await program.until(lambda: charts.page.speed_lines["drafted"].is_shown)

    program.run(story)


def test_what_is_due_soon_is_drawn_with_the_steps_and_what_came_last_though_nothing_follows(program):
    def steps(first, last):
        return tuple(step(n * 0.1) for n in range(first, last))

    async def story():
        await program.until(lambda: program.window.panel.charts is not None)
        control, charts = program.controller.panel, program.window.panel.charts
        charts.pace.least_ms = charts.pace.most_ms = 60_000
        control.on_began(False)
        control.on_steps(steps(0, 20))
        (trace,) = control._charts.timeline.traces
        assert len(trace.at_s) == 0, "no drawing is due, and nothing is taken in for nobody"
        assert control._show.isActive()
        control._next_s = monotonic() + 0.09
        charts.pace.least_ms = charts.pace.most_ms = 1000
        control.on_steps(steps(20, 40))
        n_drawn = len(trace.at_s)
        assert n_drawn > 30, "it is nearly due, and the window is awake"
        control.on_steps(steps(40, 50))
        assert len(trace.at_s) == n_drawn
        await program.until(lambda: len(trace.at_s) == n_drawn + 10)
        control.on_ended()

    program.run(story)


def test_steps_that_nobody_sees_are_taken_in_now_and_then_and_at_the_end(program):
    async def story():
        control = program.controller.panel
        await program.until(lambda: program.window.panel.charts is not None)
        program.window.toggle_panel()
        control.on_began(False)
        control.on_steps(tuple(step(n * 0.1) for n in range(600)))
        (trace,) = control._charts.timeline.traces
        n_first = len(trace.at_s)
        assert n_first > 500
        control.on_steps(tuple(step(n * 0.1) for n in range(600, 700)))
        assert len(trace.at_s) == n_first
        assert control._charts.tps == pytest.approx(10)
        assert len(trace.at_s) == n_first + 100
        control.on_ended()

    program.run(story)


def test_the_panel_speaks_of_now_while_an_answer_runs(program):
    program.answers = (Answer(text=LONG, pace_s=0.02),)

    async def story():
        program.send("go")
        await program.until(lambda: program.window.panel._when.text() == "now")
        assert float(program.window.panel._number.text()) > 10
        assert not program.window.panel.foot.record.isEnabled()
        await program.until(lambda: not program.controller.answering.is_busy)
        assert program.window.panel._when.text() == "last answer"

    program.run(story)


def test_past_answers_can_be_chosen_and_compared(program):
    async def story():
        panel = program.window.panel
        await program.until(lambda: panel.charts is not None)
        await program.ask("one")
        assert panel.state.startswith("Speculation engaged: n-gram")
        program.window.pair_bar.toggle_speculation()
        await program.ask("two")
        assert panel.state.startswith("Speculation off")
        first, second = program.host.session.runs
        assert panel.answers.count() == 2
        assert panel.facts()["Drafting"] == "off"
        panel.answers.select([first.id])
        assert panel.facts()["Acceptance"].startswith(f"{first.accepted}/{first.proposed}")
        assert panel.charts._scene.selected == (first.id,)
        panel.answers.select([first.id, second.id])
        assert panel._compared.text().startswith("Answer 2 against 1: ")
        panel.answers.select([])
        assert panel._compared.isHidden()
        assert panel.charts.time_range.is_following

    program.run(story)


def test_what_is_offered_is_done_with_a_click(program):
    async def story():
        panel, asked = program.window.panel, []
        panel.record_requested.connect(lambda: asked.append("record"))
        panel.show_standing(Standing("It costs.", "", offer="switch off"))
        panel._offer.click()
        assert not program.controller.choices.settings.speculation
        assert panel.offer == ""
        panel.show_standing(Standing("Cannot tell.", "", offer="record"))
        panel._offer.click()
        assert asked == ["record"]
        panel.cancel_requested.emit()

    program.run(story)


def test_words_that_grow_shorter_do_not_move_what_is_below(program):
    async def story():
        panel = program.window.panel
        panel.hold(is_held=True)
        panel.show_state(
            "engaged: n-gram, length 4, because this length is expected to be the fastest by far; saved 2 s"
        )
        await program.until(lambda: panel._state.height() >= panel._state.heightForWidth(panel._state.width()) > 0)
        tall = panel._state.height()
        panel.show_state("engaged")
        await asyncio.sleep(0.05)
        assert panel._state.height() >= tall
        panel.hold(is_held=False)
        await program.until(lambda: panel._state.height() < tall)

    program.run(story)


def test_a_new_number_lays_nothing_out_anew(program):
    async def story():
        panel = program.window.panel
        await program.until(lambda: panel.charts is not None and program.controller.roofline.gauge.words)  # come late
        panel.show_speed(23.4, "now")
        await asyncio.sleep(0.05)
        page, watch = panel.findChild(QScrollArea).widget(), LayoutWatch()
        page.installEventFilter(watch)
        panel.show_speed(24.5, "now")
        await asyncio.sleep(0.05)
        assert not watch.n_seen
        panel.show_speed(124.5, "now")
        await program.until(lambda: watch.n_seen)
        assert panel._number.width() >= panel._number.sizeHint().width(), "it is not cut"
        page.removeEventFilter(watch)

    program.run(story)


class LayoutWatch(QObject):
    """Counts how often a widget is to be laid out anew."""

    n_seen = 0

    def eventFilter(self, _watched, event):  # noqa: N802 - Qt's name
        self.n_seen += event.type() == QEvent.Type.LayoutRequest
        return False
