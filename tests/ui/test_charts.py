"""The charts: what they draw is what was measured, in bounded memory and few points; zoom, values, pictures."""

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QImage, QWheelEvent
from PySide6.QtTest import QTest

from app.errors import ExportError
from app.metrics.stats import acceptance, alpha_by_position, decode_tps
from app.protocol import Step
from app.ui.chart_data import assemble, column, nice_top, straighten, thin
from app.ui.chart_picture import save_picture
from app.ui.chart_range import FOLLOW_S, TimeRange
from app.ui.chart_style import GLYPHS, MARKS, N_SERIES, look
from app.ui.charts import SpeedCharts
from app.ui.tally import MAX_BINS, ContextTally, PositionTally, context_of, positions_of
from app.ui.theme import DARK, LIGHT
from app.ui.trace import FRESH_POINTS, KEPT_POINTS, MAX_POINTS, Band, LiveTrace, Timeline

WIDTH_PX = 240


def step(t_s, kept=0, limit=4, n_ctx=10, drafter="ngram"):
    proposed = limit
    judged = min(proposed, kept + 1)
    return Step(t_s, kept + 1, limit, proposed, judged, kept, 0.001 * proposed, 0.02, n_ctx, drafter)


kept_counts = st.lists(st.integers(0, 4), min_size=2, max_size=60)


def run_of(kept, pace_s=0.1):
    return [step(n * pace_s, k, n_ctx=10 + 7 * n) for n, k in enumerate(kept)]


# --- tallies ------------------------------------------------------------------------------------------


@given(kept_counts)
@settings(max_examples=60, deadline=None)
def test_alpha_by_position_is_that_of_the_export(kept):
    tally = PositionTally()
    for one in run_of(kept):
        tally.add(one)
    assert tally.alpha == alpha_by_position(run_of(kept))


@given(kept_counts)
@settings(max_examples=60, deadline=None)
def test_the_bins_of_the_context_add_up_to_the_answer(kept):
    steps = run_of(kept)
    tally = ContextTally()
    for one in steps:
        tally.add(one)
    rows = [held for _middle, held in tally.rows()]
    n_tokens, seconds = sum(held.n_tokens for held in rows), math.fsum(held.seconds for held in rows)
    assert n_tokens / seconds == pytest.approx(decode_tps(steps))
    proposed = sum(held.proposed for held in rows)
    assert sum(held.accepted for held in rows) / proposed == pytest.approx(acceptance(steps[1:]))


def test_the_bins_of_a_long_context_stay_few():
    tally = ContextTally()
    for n in range(3000):
        tally.add(step(n * 0.1, n_ctx=n * 40))
    assert len(tally.bins) <= MAX_BINS
    assert sum(held.n_tokens for held in tally.bins.values()) == 2999


def test_tallies_of_answers_sum_up_whatever_their_bins():
    short, long = ContextTally(), ContextTally()
    for n in range(20):
        short.add(step(n * 0.1, n_ctx=n))
    for n in range(3000):
        long.add(step(n * 0.1, n_ctx=n * 40))
    total = context_of([short, long])
    assert sum(held.n_tokens for held in total.bins.values()) == 19 + 2999
    a, b = PositionTally(), PositionTally()
    a.add(step(0, kept=1))
    b.add(step(0, kept=4))
    assert positions_of([a, b]).judged == [2, 2, 1, 1]
    assert positions_of([a, b]).kept == [2, 1, 1, 1]


# --- traces -------------------------------------------------------------------------------------------


def test_an_hour_of_steps_takes_as_much_memory_as_minutes():
    live = LiveTrace(is_plain=False, starts_s=0.0)
    most = 0
    for n in range(60_000):
        live.add(step(n * 0.06, kept=n % 5))
        most = max(most, len(live.trace.at_s))
    trace = live.trace
    assert most <= MAX_POINTS
    names = ("at_s", "tps", "acceptance", "limit", "proposed", "drafter", "draft_s", "verify_s")
    assert len({len(getattr(trace, name)) for name in names}) == 1
    assert np.all(np.diff(trace.at_s) > 0)
    assert np.allclose(np.diff(trace.at_s)[-FRESH_POINTS // 2 :], 0.06), "what is new is not thinned"
    old = np.diff(trace.at_s)[: KEPT_POINTS // 2]
    assert trace.at_s[0] < 10, "what is old is still there"
    assert old.max() < 2.5 * old.min(), "and evenly"
    assert len(live.finish().at_s) <= KEPT_POINTS


def test_the_first_draft_that_is_kept_is_no_spike():
    live = LiveTrace(is_plain=False, starts_s=0.0)
    for n in range(400):
        live.add(step(n * 0.03, kept=4 if n % 8 == 1 else 0))
    steady = 12 / 8 / 0.03
    assert max(live.trace.tps) < 1.25 * steady


def test_a_pause_and_the_drafter_are_on_the_axis_of_time():
    live = LiveTrace(is_plain=False, starts_s=0.0)
    for n in range(100):
        is_paused = n >= 50
        live.add(step(n * 0.1, limit=0 if is_paused else 4, drafter="" if is_paused else "draft-simple"))
    trace = live.trace
    assert set(trace.limit[:40]) == {4.0}
    assert set(trace.limit[-40:]) == {0.0}
    assert set(trace.drafter[:40]) == {1.0}
    assert math.isnan(trace.acceptance[-1])


def test_timeline_finds_the_answer_at_a_moment():
    timeline = Timeline()
    for _ in range(2):
        live = timeline.begin(is_plain=False)
        for n in range(50):
            live.add(step(n * 0.1))
    first, second = timeline.traces
    assert timeline.at(1.0) is first
    assert timeline.at(second.starts_s + 1) is second
    assert timeline.at(second.ends_s + 9) is second
    assert timeline.at(-1.0) is None


# --- points -------------------------------------------------------------------------------------------


def test_thinning_keeps_extremes_when_many_points_share_a_pixel():
    x = np.linspace(0, 100, 100_000)
    y = np.sin(x)
    y[50_000] = 9.0
    thin_x, thin_y = thin(x, y, (0.0, 100.0), WIDTH_PX)
    assert len(thin_x) <= 2 * WIDTH_PX + 2
    assert thin_y.max() == 9.0
    assert np.all(np.diff(thin_x) >= 0)


def test_thinning_averages_a_few_points_and_leaves_out_nothing_known():
    x = np.arange(600) * 0.1
    y = np.where(np.arange(600) % 2, np.nan, 5.0)
    thin_x, thin_y = thin(x, y, (0.0, 60.0), WIDTH_PX)
    assert len(thin_x) <= WIDTH_PX + 1
    assert np.nanmax(thin_y) == np.nanmin(thin_y) == 5.0


def test_few_points_are_drawn_as_they_are():
    x = np.arange(10.0)
    assert thin(x, x, (0.0, 10.0), WIDTH_PX)[1] is x


def test_curves_of_answers_do_not_touch():
    timeline = Timeline()
    for _ in range(3):
        live = timeline.begin(is_plain=False)
        for n in range(30):
            live.add(step(n * 0.1))
    x, y = assemble(timeline.traces, column("tps"), (0.0, 20.0), WIDTH_PX)
    assert np.isnan(y).sum() == 3
    assert len(x) == len(y) == sum(len(trace.at_s) for trace in timeline.traces) + 3


def test_level_stretches_are_drawn_by_their_ends():
    x = np.arange(8.0)
    y = np.array([4.0, 4, 4, 2, 2, np.nan, np.nan, np.nan])
    kept_x, kept_y = straighten((x, y))
    assert list(kept_x) == [0, 2, 3, 4, 5, 7]
    assert list(kept_y[:4]) == [4, 4, 2, 2]


def test_the_axis_stands_still_until_it_must_move():
    top = nice_top(23.0, 0.0)
    assert top == 30
    assert nice_top(28.0, top) == top
    assert nice_top(14.0, top) == top
    assert nice_top(31.0, top) == 40
    assert nice_top(2.0, top) == 3


# --- the stretch --------------------------------------------------------------------------------------


def test_following_shows_the_last_minute_and_moves_in_steps():
    stretch = TimeRange()
    assert stretch.limits(0.0)[0] == 0.0
    seen = {stretch.limits(at / 10)[1] for at in range(1000, 1100)}
    assert len(seen) <= 6
    first, last = stretch.limits(100.3)
    assert last - first == FOLLOW_S
    assert first <= 100.3 <= last
    calm = TimeRange(is_calm=True)
    assert len({calm.limits(at / 10)[1] for at in range(1000, 1100)}) <= 2


def test_zoom_keeps_what_is_below_the_pointer():
    stretch = TimeRange()
    stretch.zoom(0.5, 80.0, 100.0)
    first, last = stretch.limits(100.0)
    assert (80 - first) / (last - first) == pytest.approx((80 - 42) / 60)
    assert not stretch.is_following
    for _ in range(40):
        stretch.zoom(0.5, 80.0, 100.0)
    first, last = stretch.limits(100.0)
    assert last - first >= 0.49
    for _ in range(40):
        stretch.zoom(2.0, None, 100.0)
    assert stretch.limits(100.0)[0] == 0.0
    assert stretch.words == "the whole session"


def test_moving_stays_within_what_there_is():
    stretch = TimeRange()
    stretch.pan(-1e6, 200.0)
    assert stretch.limits(200.0)[0] == 0.0
    stretch.pan(1e6, 200.0)
    assert stretch.limits(200.0)[0] < 200.0
    stretch.follow()
    assert stretch.is_following


# --- colours ------------------------------------------------------------------------------------------


def _luminance(colour):
    channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("name", "scheme"), [("light", LIGHT), ("dark", DARK)])
def test_series_can_be_told_from_the_ground_and_without_colour(theme, name, scheme):
    theme.choose(name)
    looks = [look(n) for n in range(N_SERIES)]
    for one in looks:
        low, high = sorted((_luminance(one.colour), _luminance(scheme.base)))
        assert (high + 0.05) / (low + 0.05) >= 3, one.colour
    assert len({one.colour for one in looks}) == len(set(MARKS)) == len(set(GLYPHS)) == N_SERIES
    assert len({(one.pen.style(), one.mark) for one in looks}) == N_SERIES


# --- the widget ---------------------------------------------------------------------------------------


@pytest.fixture
def charts(put):
    """Charts of a plain answer and a drafted one, each of 20 seconds."""
    timeline = Timeline()
    for number, is_plain in enumerate((True, False), start=1):
        live = timeline.begin(is_plain=is_plain)
        for n in range(400):
            limit = 0 if is_plain or 200 <= n < 300 else 4
            live.add(step(n * 0.05, kept=min(limit, n % 5), limit=limit, n_ctx=n * 3, drafter="ngram" if limit else ""))
        live.trace.run_id, live.trace.number = f"run-{number}", number
    charts = SpeedCharts()
    charts.show_timeline(timeline, is_following=True)
    charts.show_band(Band(20.0, 19.0, 21.0))
    put(charts, 300, 460)
    charts.redraw()
    yield charts
    charts.setParent(None)
    charts.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_the_page_of_time_says_everything_at_a_moment(charts):
    drafted = charts._scene.timeline.traces[1]
    charts.on_pointed(drafted.starts_s + 5.0)
    assert charts.values.startswith(f"{drafted.starts_s + 5.0:.1f} s, answer 2: ")
    assert "tok/s, accepted" in charts.values
    assert "length 4.0 of 4, n-gram" in charts.values
    charts.on_pointed(drafted.starts_s + 12.0)
    assert charts.values.endswith("paused by the controller")
    charts.on_pointed(5.0)
    assert charts.values == "5.0 s, answer 1: 20.0 tok/s, plain"
    charts.on_pointed(None)
    assert "Point at" in charts.values


def test_every_page_draws_and_has_values(charts):
    said = {}
    for number in range(4):
        charts.show_page(number)
        charts.redraw()
        plot = charts.page.stack.plots[0]
        first, last = plot.x_range
        charts.on_pointed(2.0 if number == 2 else first + 0.3 * (last - first))
        said[charts.page.name] = charts.values
        assert QAccessible.queryAccessibleInterface(plot).text(QAccessible.Text.Description)
    assert "verifying 20.0 ms, " in said["Steps"]
    assert "wasted" in said["Steps"]
    assert "Position 2: drafted alpha 0.75" in said["By draft position"]
    assert "tok/s" in said["By context position"]


def test_rows_that_were_used_and_wasted_and_the_depth_of_trees_are_drawn(charts):
    timeline = Timeline()
    live = timeline.begin(is_plain=False, is_lossy=True)
    for n in range(200):
        live.add(msgspec.structs.replace(step(n * 0.05, kept=2, limit=6, drafter="tree"), rows=8, depth=3))
    charts.show_timeline(timeline, is_following=True)
    charts.show_page(1)
    charts.redraw()
    rows = charts.page.rows
    drawn = {max(item.yData[~np.isnan(item.yData)]) for item in rows.plot.listDataItems() if item.isVisible()}
    assert drawn == {8.0, 3.0}
    assert "depth of the token trees" in charts.page.stack.caption(1)
    charts.on_pointed(4.0)
    assert charts.values.endswith("8.0 rows, 5.0 wasted, trees 3.0 deep")
    assert "lossy" in charts.values


def test_alpha_drawn_is_alpha_counted(charts):
    charts.show_page(2)
    charts.redraw()
    item = charts.page._series._items[0]
    assert tuple(item.yData) == charts._scene.timeline.traces[1].positions.alpha
    assert list(item.xData) == [1, 2, 3, 4]


def test_the_keyboard_reads_zooms_and_moves(charts):
    plot = charts.page.stack.plots[0]
    plot.setFocus()
    QTest.keyClick(plot, Qt.Key.Key_Left)
    read = charts.values
    QTest.keyClick(plot, Qt.Key.Key_Left)
    assert read != charts.values != ""
    before = charts.time_range.limits(40.0)
    QTest.keyClick(plot, Qt.Key.Key_Plus)
    after = charts.time_range.limits(40.0)
    assert after[1] - after[0] < before[1] - before[0]
    assert not charts.time_range.is_following
    QTest.keyClick(plot, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert charts.time_range.limits(40.0)[0] < after[0]
    QTest.keyClick(plot, Qt.Key.Key_Home)
    assert charts.time_range.words == "the whole session"
    QTest.keyClick(plot, Qt.Key.Key_End)
    assert charts.time_range.is_following


def test_the_keyboard_goes_from_position_to_position(charts):
    charts.show_page(2)
    charts.redraw()
    charts.on_nudged(1)
    assert charts.values.startswith("Position 4")
    charts.on_nudged(-1)
    assert charts.values.startswith("Position 3")


def test_the_wheel_zooms_with_ctrl_and_scrolls_without(charts):
    viewport = charts.page.stack.plots[0]._view.viewport()

    def turn(modifiers):
        at = QPointF(150, 30)
        event = QWheelEvent(
            at,
            viewport.mapToGlobal(at),
            QPoint(),
            QPoint(0, 120),
            Qt.MouseButton.NoButton,
            modifiers,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QGuiApplication.sendEvent(viewport, event)
        return event.isAccepted()

    turn(Qt.KeyboardModifier.NoModifier)
    assert charts.time_range.is_following
    turn(Qt.KeyboardModifier.ControlModifier)
    assert not charts.time_range.is_following


def test_dragging_moves_and_a_double_click_is_live_again(charts):
    viewport = charts.page.stack.plots[0]._view.viewport()
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=QPoint(120, 30))
    QTest.mouseMove(viewport, QPoint(200, 30))
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=QPoint(200, 30))
    QTest.mouseDClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(200, 30))
    assert charts.time_range.is_following
    QTest.mouseMove(viewport, QPoint(180, 30))
    assert "answer" in charts.values
    QGuiApplication.sendEvent(viewport, QEvent(QEvent.Type.Leave))
    assert "answer" not in charts.values


def test_selected_answers_stand_out_and_are_compared(charts):
    charts.show_selected(("run-1", "run-2"))
    charts.redraw()
    assert [speed.is_shown for speed, _acceptance in charts.page._chosen] == [True, True, False, False, False, False]
    assert not charts.page.speed_lines["drafted"].is_shown
    assert "answer 1" in charts.page.stack.caption(0)
    assert not charts.time_range.is_following
    charts.show_page(3)
    charts.redraw()
    assert "answer 2" in charts.page.stack.caption(0)
    charts.show_selected(())
    assert charts.time_range.is_following


def test_the_area_of_the_steps_ends_where_their_line_is(charts):
    charts.show_page(1)
    charts.redraw()
    path = charts.page._whole._item._getFillPath()
    second = charts._scene.timeline.traces[1]
    assert path.contains(QPointF(10.0, 19.0))
    assert not path.contains(QPointF(10.0, 21.0)), "a step of the plain answer takes 20 ms"
    assert path.contains(QPointF(second.starts_s + 5.0, 23.0)), "one of the drafted answer 24 ms"
    assert path.contains(QPointF(second.ends_s - 1.0, 1.0))
    assert not path.contains(QPointF((charts._scene.timeline.traces[0].ends_s + second.at_s[0]) / 2, 1.0))


def test_nothing_is_drawn_twice(charts):
    line = charts.page.speed_lines["drafted"]
    drawn = line.curve
    charts.redraw()
    assert line.curve is drawn, "a curve that shows what it showed is left alone"


def test_hidden_charts_are_not_drawn(charts):
    charts.hide()
    charts._scene.timeline.begin(is_plain=False)
    charts.mark_stale()
    charts.note_change()
    QTest.qWait(250)
    assert charts._is_stale
    charts.show()
    QTest.qWait(50)
    assert not charts._is_stale


def test_charts_that_are_hidden_before_they_are_drawn_are_not_drawn(charts):
    charts.mark_stale()
    charts.hide()
    QTest.qWait(50)
    assert charts._is_stale


def test_painting_is_counted_to_the_cost_of_a_drawing(charts):
    charts.pace.next_ms()
    charts.pace._cost_s = 0.0
    charts.page.speed._view.viewport().repaint()
    assert charts.pace.cost_s > 0.0


@pytest.mark.parametrize("name", ["charts.png", "charts.svg", "charts"])
def test_pictures_hold_the_curves(charts, tmp_path, name):
    written = save_picture(charts.page.stack, tmp_path / name)
    if written.suffix == ".svg":
        text = written.read_text()
        assert LIGHT.accent in text
        assert "polyline" in text or "<path" in text
        assert "Decode speed" in text
    else:
        image = QImage(str(written))
        assert image.width() >= 2 * charts.page.stack.width()
        assert written.suffix == ".png"


def test_a_picture_that_cannot_be_written_says_so(charts, tmp_path):
    for name in ("missing/a.png", "missing/a.svg"):
        with pytest.raises(ExportError, match="Cannot write"):
            save_picture(charts.page.stack, tmp_path / name)


def test_an_hour_is_drawn_with_few_points(charts):
    timeline = Timeline()
    live = timeline.begin(is_plain=False)
    for n in range(20_000):
        live.add(step(n * 0.18, kept=n % 5))
    charts.show_timeline(timeline, is_following=False)
    charts.redraw()
    assert len(charts.page.speed_lines["drafted"].curve[0]) <= 2 * charts.page.speed.px + 3
