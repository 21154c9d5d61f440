"""What all pages of charts have: charts below one another with captions, what they are to show, what they mean.

A page shows a :class:`Scene`. It is made when it is first asked for, and drawn only while it can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.ui.chart_plot import ChartPlot
from app.ui.chart_style import N_SERIES
from app.ui.pace import Pace
from app.ui.theme import colours, text_font
from app.ui.tr import tr
from app.ui.trace import Band, Timeline, Trace
from app.ui.wording import tip

SPEED = tr(
    "Decode speed: emitted tokens after the first chunk ÷ the time from the first chunk to the last, engine time, "
    "over a sliding window of 2 seconds. The band is the baseline: the median of plain answers with its 95 % interval."
)
ACCEPTANCE = tr("Acceptance: draft tokens kept ÷ draft tokens sent to the target, over the last 2 seconds.")
LENGTH = tr(
    "Draft length: how many tokens the drafter guessed before the target checked them, a step, and who drafted. The "
    "controller chooses the limit before each step; while it pauses nothing is drafted."
)
STEPS = tr("Step: one pass of the target. Verify time is that pass, draft time what guessing before it took.")
ROWS = tr(
    "Rows: positions that the target computed in a pass. Those that gave a token are used; rejected draft tokens and "
    "padding are wasted. The nodes of a token tree are its rows but the first, its depth the longest way through it."
)
POSITION = tr(
    "Alpha by position: of the draft tokens at this place in a draft that the target ruled on, the share it kept. "
    "It usually falls with the position."
)
CONTEXT_SPEED = tr("Decode speed by how many tokens were in the context: emitted tokens ÷ the time they took.")
CONTEXT_ACCEPTANCE = tr("Acceptance by how many tokens were in the context: draft tokens kept ÷ sent to the target.")
KEYS = tr(
    "\nCtrl + wheel or + − zooms, dragging or Shift + ← → moves, ← → reads values, double click or End is live again."
)

SHARE_RANGE = (-0.08, 1.12)
SHARE_TICKS = [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")]


@dataclass(frozen=True, slots=True)
class Scene:
    """What is to be shown: the answers, those of them that are selected, the baseline, the stretch of time."""

    timeline: Timeline = field(default_factory=Timeline)
    selected: tuple[str, ...] = ()
    band: Band | None = None
    stretch: tuple[float, float] = (0.0, 60.0)

    def chosen(self) -> list[Trace]:
        """Return the selected answers that can be shown, as many as can be told apart."""
        return [trace for trace in self.timeline.traces if trace.run_id in self.selected][-N_SERIES:]

    def others(self, *, is_plain: bool) -> list[Trace]:
        """Return the answers of a kind that are not selected."""
        return [t for t in self.timeline.traces if t.is_plain == is_plain and t.run_id not in self.selected]


def with_lossy(name: str, traces: Sequence[Trace]) -> str:
    """Return what several answers are called together, with the word for those whose words may have changed."""
    n_lossy = sum(trace.is_lossy for trace in traces)
    if not n_lossy:
        return name
    some = tr("{name}, lossy in some answers")
    return (tr("{name}, lossy") if n_lossy == len(traces) else some).format(name=name)


def share(value: float) -> str:
    """Return a share as per cent."""
    return f"{value:.0%}"


class ChartStack(QWidget):
    """Charts one below the other, each with a caption."""

    pointed = Signal(object)
    nudged = Signal(int)
    zoomed = Signal(float, object)
    panned = Signal(float)
    asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.plots: list[ChartPlot] = []
        self._captions: list[QLabel] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)

    def add(self, name: str, meaning: str, stretch: int) -> ChartPlot:
        """Add a chart with its caption."""
        caption = QLabel(wordWrap=True)
        caption.setTextFormat(Qt.TextFormat.RichText)
        caption.setFont(text_font(-0.5))
        caption.setToolTip(tip(meaning + KEYS))
        caption.setAccessibleDescription(meaning)
        plot = ChartPlot(name, meaning + KEYS)
        for signal in ("pointed", "nudged", "zoomed", "panned", "asked"):
            getattr(plot, signal).connect(getattr(self, signal))
        self._column.addWidget(caption)
        self._column.addWidget(plot, stretch)
        self._captions.append(caption)
        self.plots.append(plot)
        return plot

    def meter(self, pace: Pace) -> None:
        """Have what painting takes counted."""
        for plot in self.plots:
            plot.meter(pace)

    def say(self, n: int, words: str) -> None:
        """Set the caption of the n-th chart."""
        if self._captions[n].text() != words:
            self._captions[n].setText(words)

    def caption(self, n: int) -> str:
        """Return the caption of the n-th chart."""
        return str(self._captions[n].text())

    def show_cursor(self, at: float | None) -> None:
        """Mark a place in all charts."""
        for plot in self.plots:
            plot.show_cursor(at)

    def restyle(self) -> None:
        """Put on the colours."""
        for plot in self.plots:
            plot.dress(colours(), has_bottom=plot is self.plots[-1])


class Page(Protocol):
    """One way to look at the answers."""

    name: str
    stack: ChartStack
    is_over_time: bool
    """Whether the x axis is the session's time, so that it can follow, zoom and move."""

    def draw(self, scene: Scene) -> None:
        """Draw what there is now."""

    def values_at(self, scene: Scene, at: float) -> str:
        """Say what is drawn at a place of the x axis; "" if nothing is."""

    def places(self) -> tuple[float, ...]:
        """Return the places on the x axis that have values; empty where any place has."""

    def describe(self, scene: Scene) -> None:
        """Set the captions, in the present colours."""
