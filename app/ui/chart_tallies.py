"""Pages of what has added up: alpha by draft position, speed and acceptance by context position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg

from app.ui.chart_data import nice_top
from app.ui.chart_pages import (
    CONTEXT_ACCEPTANCE,
    CONTEXT_SPEED,
    POSITION,
    SHARE_RANGE,
    SHARE_TICKS,
    ChartStack,
    Scene,
    share,
    with_lossy,
)
from app.ui.chart_plot import ChartPlot
from app.ui.chart_style import N_SERIES, Look, key, look
from app.ui.chart_time import title_of
from app.ui.tally import ContextBin, ContextTally, PositionTally, context_of, positions_of
from app.ui.tr import tr

_MARK_PX = 7
_MOST_MARKS = 24


@dataclass(frozen=True, slots=True)
class _Group:
    """Answers that are summed up in one series."""

    title: str
    positions: PositionTally
    context: ContextTally


def _groups(scene: Scene) -> list[_Group]:
    """Return each selected answer, or else the drafted ones and the plain ones together."""
    if chosen := scene.chosen():
        return [_Group(title_of(trace), trace.positions, trace.context) for trace in chosen]
    groups = []
    for title, is_plain in ((tr("drafted"), False), (tr("plain"), True)):
        traces = [trace for trace in scene.timeline.traces if trace.is_plain == is_plain and trace.at_s]
        if traces:
            positions = positions_of(trace.positions for trace in traces)
            context = context_of(trace.context for trace in traces)
            groups.append(_Group(with_lossy(title, traces), positions, context))
    return groups


class _Series:
    """Lines with marks, one for each group."""

    def __init__(self, plot: ChartPlot) -> None:
        self._items: list[Any] = [pg.PlotDataItem(antialias=True) for _ in range(N_SERIES)]
        self._shown: list[object] = [None] * N_SERIES
        for item in self._items:
            item.hide()
            plot.plot.addItem(item, ignoreBounds=True)

    def show(self, curves: list[tuple[list[float], list[float]]]) -> None:
        """Draw these, those that have changed."""
        for n, item in enumerate(self._items):
            drawn = (curves[n], look(n).colour) if n < len(curves) and curves[n][0] else None
            if drawn == self._shown[n]:
                continue
            self._shown[n] = drawn
            item.setVisible(drawn is not None)
            if drawn is not None:
                self._draw(item, drawn[0], look(n))

    def _draw(self, item: Any, curve: tuple[list[float], list[float]], style: Look) -> None:  # noqa: ANN401 - untyped
        item.setData(
            np.array(curve[0]),
            np.array(curve[1]),
            pen=style.pen,
            symbol=style.mark if len(curve[0]) <= _MOST_MARKS else None,
            symbolSize=_MARK_PX,
            symbolBrush=style.colour,
            symbolPen=None,
        )


def _legend(groups: list[_Group]) -> str:
    return " &nbsp;".join(key(look(n).colour, look(n).glyph, group.title) for n, group in enumerate(groups))


class PositionPage:
    """Alpha by draft position."""

    name = tr("By draft position")
    is_over_time = False

    def __init__(self) -> None:
        self.stack = ChartStack()
        self.plot = self.stack.add(tr("Chart of alpha by draft position"), POSITION, 1)
        self.plot.show_ticks("left", SHARE_TICKS)
        self._series = _Series(self.plot)
        self._longest = 0

    def _drawn(self, scene: Scene) -> list[_Group]:
        return [group for group in _groups(scene) if group.positions.judged]

    def draw(self, scene: Scene) -> None:
        """Draw alpha of each group."""
        alphas = [group.positions.alpha for group in self._drawn(scene)]
        self._series.show([([float(n) for n in range(1, len(a) + 1)], list(a)) for a in alphas])
        longest = max([4, *(len(alpha) for alpha in alphas)])
        if longest != self._longest:
            self._longest = longest
            step = -(-longest // 8)
            self.plot.show_ticks("bottom", [(float(n), str(n)) for n in range(1, longest + 1, step)])
        self.plot.show_range((0.5, longest + 0.5), SHARE_RANGE)

    def describe(self, scene: Scene) -> None:
        """Say which line is what."""
        self.stack.say(
            0,
            tr("<b>Alpha by draft position</b>, kept ÷ judged: {legend}").format(
                legend=_legend(self._drawn(scene)) or tr("nothing yet")
            ),
        )

    def values_at(self, scene: Scene, at: float) -> str:
        """Say alpha at a position, with the counts it comes from."""
        n = round(at) - 1
        parts = []
        for group in self._drawn(scene):
            tally = group.positions
            if 0 <= n < len(tally.judged):
                counts = tr("{kept:,} of {judged:,}").format(kept=tally.kept[n], judged=tally.judged[n])
                parts.append(
                    tr("{title} alpha {kept:.2f} ({counts})").format(
                        title=group.title, kept=tally.kept[n] / tally.judged[n], counts=counts
                    )
                )
        return tr("Position {n}: {parts}").format(n=n + 1, parts=", ".join(parts)) if parts else ""

    def places(self) -> tuple[float, ...]:
        """Every position."""
        return tuple(float(n) for n in range(1, self._longest + 1))


class ContextPage:
    """Speed and acceptance by context position."""

    name = tr("By context position")
    is_over_time = False

    def __init__(self) -> None:
        self.stack = ChartStack()
        self.speed = self.stack.add(tr("Chart of decode speed by context position"), CONTEXT_SPEED, 3)
        self.acceptance = self.stack.add(tr("Chart of acceptance by context position"), CONTEXT_ACCEPTANCE, 2)
        self.acceptance.show_ticks("left", SHARE_TICKS)
        self._speeds, self._acceptances = _Series(self.speed), _Series(self.acceptance)
        self._top_tps = self._top_tokens = 0.0
        self._places: tuple[float, ...] = ()

    def draw(self, scene: Scene) -> None:
        """Draw both for each group."""
        groups = _groups(scene)
        speeds = [_curve(group.context, lambda held: held.tps) for group in groups]
        self._places = tuple(sorted({middle for x, _y in speeds for middle in x}))
        self._speeds.show(speeds)
        self._acceptances.show([_curve(group.context, lambda held: held.acceptance) for group in groups])
        self._top_tps = nice_top(max([1.0, *(tps for _x, y in speeds for tps in y)]), self._top_tps)
        longest = max([64.0, *(x[-1] for x, _y in speeds if x)])
        self._top_tokens = nice_top(longest, self._top_tokens)
        self.speed.show_range((0.0, self._top_tokens), (0.0, self._top_tps))
        self.acceptance.show_range((0.0, self._top_tokens), SHARE_RANGE)

    def describe(self, scene: Scene) -> None:
        """Say which line is what."""
        self.stack.say(
            0,
            tr("<b>Decode speed by context</b>, tok/s: {legend}").format(
                legend=_legend(_groups(scene)) or tr("nothing yet")
            ),
        )
        self.stack.say(1, tr("<b>Acceptance by context</b>, accepted ÷ proposed; below: tokens in the context"))

    def values_at(self, scene: Scene, at: float) -> str:
        """Say what happened at a context position."""
        parts = []
        for group in _groups(scene):
            held = group.context.bins.get(int(at // group.context.width))
            if held is not None and held.tps is not None:
                words = (
                    tr("{title} {tps:.1f} tok/s ({n_tokens:,} tokens)")
                    if held.acceptance is None
                    else tr("{title} {tps:.1f} tok/s, accepted {share} ({n_tokens:,} tokens)")
                )
                accepted = share(held.acceptance) if held.acceptance is not None else ""
                parts.append(words.format(title=group.title, tps=held.tps, share=accepted, n_tokens=held.n_tokens))
        return tr("At {at:,.0f} tokens: {parts}").format(at=at, parts="; ".join(parts)) if parts else ""

    def places(self) -> tuple[float, ...]:
        """The middle of every bin."""
        return self._places


def _curve(tally: ContextTally, pick: Callable[[ContextBin], float | None]) -> tuple[list[float], list[float]]:
    known = [(middle, value) for middle, held in tally.rows() if (value := pick(held)) is not None]
    return [middle for middle, _value in known], [value for _middle, value in known]
