"""Pages whose axis is time: speed, acceptance and draft length; and what each step took."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from app.ui.chart_data import Curve, assemble, column, grounded, nice_top, straighten
from app.ui.chart_pages import (
    ACCEPTANCE,
    LENGTH,
    ROWS,
    SHARE_RANGE,
    SHARE_TICKS,
    SPEED,
    STEPS,
    ChartStack,
    Scene,
    share,
    with_lossy,
)
from app.ui.chart_plot import ChartPlot, Line
from app.ui.chart_style import N_SERIES, key, look, pen_of, tint
from app.ui.theme import colours
from app.ui.tr import tr
from app.ui.trace import DRAFTERS, Trace
from app.ui.wording import drafter_name

if TYPE_CHECKING:
    from app.ui.chart_data import Values

_MS = 1000.0
_LENGTHS = (4.0, 8.0, 16.0, 32.0, 1024.0)


def _highest(curves: list[Curve], least: float) -> float:
    """Return the highest value of some curves."""
    tops = [float(np.nanmax(y)) for _x, y in curves if len(y) and not np.isnan(y).all()]
    return max([*tops, least])


def _length_of(code: int) -> Callable[[Trace, slice], Values]:
    def pick(trace: Trace, within: slice) -> Values:
        limit, who = np.array(trace.limit[within]), np.array(trace.drafter[within])
        shown: Values = np.where((who == code) & (limit > 0), np.array(trace.proposed[within]), np.nan)
        return shown

    return pick


def _limit(trace: Trace, within: slice) -> Values:
    limit = np.array(trace.limit[within])
    shown: Values = np.where(limit > 0, limit, np.nan)
    return shown


def _paused(trace: Trace, within: slice) -> Values:
    limit = np.array(trace.limit[within])
    shown: Values = np.where(limit == 0, 0.0, np.nan)
    return shown


def _step_ms(trace: Trace, within: slice) -> Values:
    took: Values = (np.array(trace.draft_s[within]) + np.array(trace.verify_s[within])) * _MS
    return took


def _draft_ms(trace: Trace, within: slice) -> Values:
    took: Values = np.array(trace.draft_s[within]) * _MS
    return took


def _depth(trace: Trace, within: slice) -> Values:
    depth = np.array(trace.depth[within])
    shown: Values = np.where(depth > 0, depth, np.nan)
    return shown


def place_of(scene: Scene, at: float) -> tuple[Trace, int] | None:
    """Return the answer at a moment and the index of its point there."""
    trace = scene.timeline.at(at)
    if trace is None:
        return None
    n = max(0, bisect_right(trace.at_s, at) - 1)
    return trace, n


def title_of(trace: Trace) -> str:
    """Name an answer."""
    name = tr("answer {number}").format(number=trace.number) if trace.number else tr("the answer that runs")
    return with_lossy(name, [trace])


class TimePage:
    """Speed over the baseline, acceptance, and the length of drafts, one time axis."""

    name = tr("Over time")
    is_over_time = True

    def __init__(self) -> None:
        self.stack = ChartStack()
        self.speed = self.stack.add(tr("Chart of decode speed over time"), SPEED, 4)
        self.acceptance = self.stack.add(tr("Chart of draft acceptance over time"), ACCEPTANCE, 3)
        self.length = self.stack.add(tr("Chart of draft length, drafter and pauses over time"), LENGTH, 3)
        self.acceptance.show_ticks("left", SHARE_TICKS)
        self._top_tps, self._top_length = 0.0, 0.0
        self.speed_lines = {name: self.speed.line(depth) for name, depth in (("plain", 0), ("drafted", 1))}
        self.acceptance_line = self.acceptance.line()
        self._chosen = [(self.speed.line(2), self.acceptance.line(2)) for _ in range(N_SERIES)]
        self._paused = self.length.line()
        self._limit = self.length.line()
        self._lengths = [self.length.line(1) for _ in DRAFTERS]

    def draw(self, scene: Scene) -> None:
        """Draw the stretch."""
        drafted, plain, chosen = scene.others(is_plain=False), scene.others(is_plain=True), scene.chosen()
        curves = [
            self._draw(self.speed_lines["drafted"], drafted, "tps", scene, "drafted"),
            self._draw(self.speed_lines["plain"], plain, "tps", scene, "plain"),
        ]
        self._draw(self.acceptance_line, drafted, "acceptance", scene, "drafted")
        for n, (speed, acceptance) in enumerate(self._chosen):
            mine = chosen[n : n + 1]
            if not (mine or speed.is_shown or acceptance.is_shown):
                continue
            curves.append(self._draw(speed, mine, "tps", scene, n))
            self._draw(acceptance, mine, "acceptance", scene, n)
        self._draw_lengths([*drafted, *(trace for trace in chosen if not trace.is_plain)], scene)
        self.speed.show_band(scene.band)
        self._top_tps = nice_top(_highest(curves, scene.band.high if scene.band else 1.0), self._top_tps)
        self.speed.show_range(scene.stretch, (0.0, self._top_tps))
        self.acceptance.show_range(scene.stretch, SHARE_RANGE)
        self.length.show_range(scene.stretch, (-0.12 * self._top_length, 1.15 * self._top_length))

    def _draw(self, line: Line, traces: list[Trace], name: str, scene: Scene, look_of: str | int) -> Curve:
        name_of_pen = "dimmed" if scene.selected else look_of
        pen = look(look_of).pen if isinstance(look_of, int) else pen_of(str(name_of_pen))
        curve = assemble(traces, column(name), scene.stretch, self.speed.px)
        line.show(curve, pen)
        return curve

    def _draw_lengths(self, traces: list[Trace], scene: Scene) -> None:
        curves: list[Curve] = []
        seen = {code for trace in traces for code in trace.drafters}
        for code, line in enumerate(self._lengths):
            if code in seen or line.is_shown:
                curves.append(straighten(assemble(traces, _length_of(code), scene.stretch, self.length.px)))
                line.show(curves[-1], look(code).pen)
        limit = straighten(assemble(traces, _limit, scene.stretch, self.length.px))
        self._limit.show(limit, pen_of("limit"))
        pauses = straighten(assemble(traces, _paused, scene.stretch, self.length.px))
        self._paused.show(pauses, pen_of("paused"))
        longest = _highest([limit, *curves], 4.0)
        before, self._top_length = self._top_length, next((n for n in _LENGTHS if n >= longest), longest)
        if before != self._top_length:
            half = self._top_length / 2
            self.length.show_ticks("left", [(0, "0"), (half, f"{half:g}"), (self._top_length, f"{self._top_length:g}")])

    def describe(self, scene: Scene) -> None:
        """Say which line is what."""
        scheme = colours()
        drafted = [trace for trace in scene.timeline.traces if not trace.is_plain]
        marks = [
            key(scheme.accent, "━", with_lossy(tr("drafted"), drafted)),
            key(scheme.plain, "╌", tr("plain")),
        ]
        if scene.selected:
            marks = [key(look(n).colour, "━", title_of(trace)) for n, trace in enumerate(scene.chosen())]
        name = tr("baseline, draft in memory") if scene.band and scene.band.is_beside_draft else tr("baseline")
        band = [key(scheme.muted, "▒", name)] if scene.band else []
        self.stack.say(0, tr("<b>Decode speed</b>, tok/s: {marks}").format(marks=" &nbsp;".join([*marks, *band])))
        self.stack.say(1, tr("<b>Draft acceptance</b>, accepted ÷ proposed"))
        used = {code for trace in drafted for code in trace.drafters}
        names = [
            key(look(n).colour, "━", with_lossy(drafter_name(DRAFTERS[n]), [t for t in drafted if n in t.drafters]))
            for n in sorted(used)
        ]
        marks = [*names, key(scheme.muted, "┈", tr("limit")), key(scheme.muted, "▬", tr("paused"))]
        self.stack.say(2, tr("<b>Draft length</b>: {marks}").format(marks=" &nbsp;".join(marks)))

    def values_at(self, scene: Scene, at: float) -> str:
        """Say speed, acceptance, length and drafter at a moment."""
        if (found := place_of(scene, at)) is None:
            return ""
        trace, n = found
        parts = [
            tr("{at_s:.1f} s, {title_of}: {tps:.1f} tok/s").format(
                at_s=trace.at_s[n], title_of=title_of(trace), tps=trace.tps[n]
            )
        ]
        if trace.is_plain:
            return tr("{parts}, plain").format(parts=parts[0])
        if not math.isnan(trace.acceptance[n]):
            parts.append(tr("accepted {share}").format(share=share(trace.acceptance[n])))
        who = drafter_name(DRAFTERS[int(trace.drafter[n])]) if trace.drafter[n] >= 0 else tr("nothing drafted yet")
        length = tr("length {proposed:.1f} of {limit:.0f}, {who}").format(
            proposed=trace.proposed[n], limit=trace.limit[n], who=who
        )
        parts.append(length if trace.limit[n] else tr("paused by the controller"))
        return ", ".join(parts)

    def places(self) -> tuple[float, ...]:
        """Any moment has values."""
        return ()


class StepsPage:
    """What a step took: drafting and verifying, and the rows of its pass."""

    name = tr("Steps")
    is_over_time = True

    def __init__(self) -> None:
        self.stack = ChartStack()
        self.plot: ChartPlot = self.stack.add(tr("Chart of draft and verify time of the steps"), STEPS, 3)
        self.rows: ChartPlot = self.stack.add(tr("Chart of the target's rows, used and wasted"), ROWS, 2)
        self._whole, self._draft = self.plot.line(), self.plot.line(1)
        self._all_rows, self._used, self._depth = self.rows.line(), self.rows.line(1), self.rows.line(2)
        self._top_ms = self._top_rows = 0.0

    def draw(self, scene: Scene) -> None:
        """Draw the stretch."""
        traces = scene.chosen() or list(scene.timeline.traces)
        whole = grounded(assemble(traces, _step_ms, scene.stretch, self.plot.px))
        draft = grounded(assemble(traces, _draft_ms, scene.stretch, self.plot.px))
        self._whole.show(whole, look(0).pen, fill=tint(look(0).colour, 50))
        self._draft.show(draft, look(1).pen, fill=tint(look(1).colour, 90))
        self._top_ms = nice_top(_highest([whole], 1.0), self._top_ms)
        self.plot.show_range(scene.stretch, (0.0, self._top_ms))
        self._draw_rows(traces, scene)

    def _draw_rows(self, traces: list[Trace], scene: Scene) -> None:
        rows = grounded(assemble(traces, column("rows"), scene.stretch, self.rows.px))
        used = grounded(assemble(traces, column("emitted"), scene.stretch, self.rows.px))
        self._all_rows.show(rows, look(0).pen, fill=tint(look(0).colour, 50))
        self._used.show(used, look(1).pen, fill=tint(look(1).colour, 90))
        self._depth.show(straighten(assemble(traces, _depth, scene.stretch, self.rows.px)), look(2).pen)
        self._top_rows = nice_top(_highest([rows], 2.0), self._top_rows)
        self.rows.show_range(scene.stretch, (0.0, self._top_rows))

    def describe(self, scene: Scene) -> None:
        """Say which area is what."""
        marks = tr("{upper} on top of {lower}").format(
            upper=key(look(0).colour, "━", tr("verifying")), lower=key(look(1).colour, "╌", tr("drafting"))
        )
        words = (
            tr("<b>Time of a step</b> of the selected answers, ms: {marks}")
            if scene.selected
            else tr("<b>Time of a step</b>, ms: {marks}")
        )
        self.stack.say(0, words.format(marks=marks))
        rows = [key(look(0).colour, "━", tr("wasted")), key(look(1).colour, "╌", tr("used"))]
        if any(max(trace.depth, default=0.0) for trace in scene.timeline.traces):
            rows.append(key(look(2).colour, "┈", tr("depth of the token trees")))
        self.stack.say(1, tr("<b>Rows of a pass</b>: {marks}").format(marks=" &nbsp;".join(rows)))

    def values_at(self, scene: Scene, at: float) -> str:
        """Say what the step at a moment took."""
        if (found := place_of(scene, at)) is None:
            return ""
        trace, n = found
        draft_ms, verify_ms = trace.draft_s[n] * _MS, trace.verify_s[n] * _MS
        words = tr(
            "{at_s:.1f} s, {title_of}: drafting {draft_ms:.1f} ms, verifying {verify_ms:.1f} ms, {rows:.1f} rows, "
            "{wasted:.1f} wasted"
        ).format(
            at_s=trace.at_s[n],
            title_of=title_of(trace),
            draft_ms=draft_ms,
            verify_ms=verify_ms,
            rows=trace.rows[n],
            wasted=trace.rows[n] - trace.emitted[n],
        )
        deep = tr("{words}, trees {depth:.1f} deep").format(words=words, depth=trace.depth[n])
        return deep if trace.depth[n] else words

    def places(self) -> tuple[float, ...]:
        """Any moment has values."""
        return ()
