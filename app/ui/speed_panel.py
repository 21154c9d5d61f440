"""The side panel: how fast it is now, whether speculation pays, two charts, and what can be done about it.

The charts come later (:meth:`SpeedPanel.install_charts`): they are not imported before the window is painted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.ui.panel_foot import PanelFoot
from app.ui.theme import GRID, named, number_font, text_font

if TYPE_CHECKING:
    from app.ui.charts import SpeedCharts

NO_NUMBER = "–"


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure with its name; ``meaning`` is its definition, shown on hover."""

    name: str
    value: str
    meaning: str


class SpeedPanel(QWidget):
    """Shows figures that others computed."""

    record_requested = Signal()
    cancel_requested = Signal()
    export_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.charts: SpeedCharts | None = None
        self._number = QLabel(NO_NUMBER)
        self._number.setFont(number_font(13.0, bold=True))
        self._number.setAccessibleName("Decode speed")
        self._unit = named(QLabel("tok/s"), "muted")
        self._when = named(QLabel(""), "muted")
        self._verdict = QLabel(wordWrap=True)
        self._verdict.setFont(number_font(0.5, bold=True))
        self._baseline = named(QLabel(wordWrap=True), "muted")
        self._baseline.setFont(number_font(-0.5))
        self._place = QVBoxLayout()
        self._waiting = named(QLabel("The charts appear with the first answer.", wordWrap=True), "muted")
        self._facts = QGridLayout()
        self._fact_labels: list[tuple[QLabel, QLabel]] = []
        self.foot = PanelFoot()
        self.foot.record_requested.connect(self.record_requested)
        self.foot.cancel_requested.connect(self.cancel_requested)
        self.foot.export_requested.connect(self.export_requested)
        self._build()

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GRID // 2)
        head.addWidget(self._number, 0, Qt.AlignmentFlag.AlignBaseline)
        head.addWidget(self._unit, 0, Qt.AlignmentFlag.AlignBaseline)
        head.addStretch()
        head.addWidget(self._when, 0, Qt.AlignmentFlag.AlignBaseline)
        self._place.setContentsMargins(0, 0, 0, 0)
        self._waiting.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._place.addWidget(self._waiting, 1)
        self._facts.setHorizontalSpacing(GRID)
        self._facts.setVerticalSpacing(2)
        self._facts.setColumnStretch(1, 1)
        inner = QVBoxLayout()
        inner.setContentsMargins(GRID // 2, GRID, GRID, GRID)
        inner.setSpacing(GRID // 2)
        inner.addLayout(head)
        inner.addWidget(self._verdict)
        inner.addWidget(self._baseline)
        inner.addSpacing(GRID // 2)
        inner.addLayout(self._place, 1)
        inner.addSpacing(GRID // 2)
        inner.addLayout(self._facts)
        page = QWidget()
        page.setLayout(inner)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(area, 1)
        outer.addWidget(self.foot)

    # --- content --------------------------------------------------------------------------------------

    def install_charts(self, charts: SpeedCharts) -> None:
        """Put the charts into their place."""
        self._place.addWidget(charts, 1)
        self.charts = charts
        self.show_charts(has_data=False)

    def remove_charts(self) -> None:
        """Let go of the charts. Some of what pyqtgraph makes has no parent, and would outlast the window."""
        if self.charts is not None:
            self.charts.deleteLater()
            self.charts = None

    def show_charts(self, *, has_data: bool) -> None:
        """Show the charts once there is something in them."""
        if self.charts is not None:
            self.charts.setVisible(has_data)
            self._waiting.setHidden(has_data)

    def show_speed(self, tps: float | None, when: str) -> None:
        """Show the number, and whether it is of now or of the last answer."""
        self._number.setText(NO_NUMBER if tps is None else f"{tps:.1f}")
        self._when.setText(when)
        self._number.setAccessibleDescription(f"{self._number.text()} tokens per second, {when}")

    def show_verdict(self, words: str, baseline: str) -> None:
        """Say whether speculation pays, and against what."""
        self._verdict.setText(words)
        self._baseline.setText(baseline)

    @property
    def verdict(self) -> str:
        """What is said about whether speculation pays."""
        return str(self._verdict.text())

    @property
    def baseline_words(self) -> str:
        """What is said about the baseline."""
        return str(self._baseline.text())

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show these figures, one a line."""
        while len(self._fact_labels) < len(facts):
            self._add_fact_row()
        for n, (name, value) in enumerate(self._fact_labels):
            shown = n < len(facts)
            name.setVisible(shown)
            value.setVisible(shown)
            if shown:
                name.setText(facts[n].name)
                value.setText(facts[n].value)
                for label in (name, value):
                    label.setToolTip(facts[n].meaning)
                value.setAccessibleName(f"{facts[n].name}: {facts[n].value}")

    def facts(self) -> dict[str, str]:
        """The figures as shown."""
        return {str(name.text()): str(value.text()) for name, value in self._fact_labels if not name.isHidden()}

    def show_recording(self, fraction: float | None, words: str) -> None:
        """Show how far a recording has come; ``None``: none is running, ``words`` may say why it cannot start."""
        self.foot.show_recording(fraction, words)

    def enable_actions(self, *, can_record: bool, can_export: bool) -> None:
        """Offer only what can be done now."""
        self.foot.record.setEnabled(can_record)
        self.foot.export.setEnabled(can_export)

    def _add_fact_row(self) -> None:
        # A long value (why nothing was engaged) wraps: the panel is as wide as the person made it.
        name, value = named(QLabel(), "muted"), QLabel(wordWrap=True)
        name.setAlignment(Qt.AlignmentFlag.AlignTop)
        name.setFont(text_font(-0.5))
        value.setFont(number_font(-0.5))
        value.setAlignment(Qt.AlignmentFlag.AlignRight)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = len(self._fact_labels)
        self._facts.addWidget(name, row, 0)
        self._facts.addWidget(value, row, 1)
        self._fact_labels.append((name, value))
