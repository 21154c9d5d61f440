"""The side panel: how fast it is now, whether speculation pays, charts, past answers, and what can be done.

The charts come later (:meth:`SpeedPanel.install_charts`): they are not imported before the window is painted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.ui.font_size import font_bus, font_scale
from app.ui.panel_foot import PanelFoot
from app.ui.theme import GRID, named, number_font, text_font
from app.ui.tr import tr
from app.ui.wording import tip

if TYPE_CHECKING:
    from app.ui.answer_list import AnswerList
    from app.ui.charts import SpeedCharts
    from app.ui.figures import Fact
    from app.ui.standing import Standing

NO_NUMBER = "–"
QWIDGETSIZE_MAX = (1 << 24) - 1
CHARTS_PX = 300
"""Least height of the charts with the usual font; a lower panel scrolls."""

_OFFERS = {
    "": "",
    "record": tr("Record a baseline"),
    "record here": tr("Record on my own questions…"),
    "compare drafts": tr("Which draft is worth it?…"),
    "switch off": tr("Switch speculation off"),
}

_SPEED_TIP = tr(
    "Decode speed: emitted tokens after the first chunk ÷ the time from the first chunk to the last, engine time. "
    "While an answer runs: over the last 2 seconds."
)
_STATE_TIP = tr(
    "What speculation does: engaged (who drafts, how many tokens, why), paused by the controller (what drafting would "
    "cost), not engaged (why), or off."
)
_VERDICT_TIP = tr(
    "Decode speed with speculation ÷ without, from pairs of answers under like conditions (target file, quantisation, "
    "device, threads, context length, sampling). The interval holds with 95 % however often you look. It takes at "
    "least 6 pairs; acceptance plays no part in it."
)
_NOTE_TIP = tr(
    "Predicted speed-up: (1 - a^(k+1)) ÷ ((1 - a)(v(k+1)/v(1) + k·r)) with a = alpha, k = draft length, v = the cost "
    "of a pass by its rows, r = the cost of a drafted token ÷ v(1). Beside it what was measured, and the cause when "
    "the two differ."
)
_BASELINE_TIP = tr(
    "Baseline: decode speed with no drafter loaded or fed, on the same target file, quantisation, device, threads and "
    "context length; the median with its 95 % interval. Where there is none: answers of this session with speculation "
    "off, draft model in memory; they are held against drafted answers with the same draft model only, and named so. "
    "MTP heads inside of the target file are always in memory with it, and named, too. Each context length has a "
    "baseline of its own."
)

_COMPARED_TIP = tr(
    "Decode speed of the later answer ÷ that of the earlier one, if both count and were given under like conditions."
)


class SpeedPanel(QWidget):
    """Shows figures that others computed."""

    record_requested = Signal()
    record_own_requested = Signal()
    record_more_requested = Signal(int)
    """So many pairs of answers are wanted."""

    cancel_requested = Signal()
    export_requested = Signal()
    switch_off_requested = Signal()
    selection_changed = Signal(tuple)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.charts: SpeedCharts | None = None
        self.answers: AnswerList | None = None
        self._number = self._figure(number_font(13.0, bold=True), _SPEED_TIP, tr("Decode speed"))
        self._number.setObjectName("speed")
        self._number.setText(NO_NUMBER)
        self._unit = named(QLabel(tr("tok/s")), "muted")
        self._when = named(QLabel(""), "muted")
        self._when.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._state = self._figure(number_font(-0.5), _STATE_TIP, tr("Speculation"))
        self._verdict = self._figure(number_font(0.5, bold=True), _VERDICT_TIP, tr("Verdict"))
        self._note = named(self._figure(number_font(-0.5), _NOTE_TIP, tr("Predicted")), "muted")
        self._baseline = named(self._figure(number_font(-0.5), _BASELINE_TIP, tr("Baseline")), "muted")
        self._offer = QPushButton()
        self._offered = ""
        self._n_more = 0
        self._is_held = False
        self._offer.clicked.connect(self.on_offer_taken)
        self._place = QVBoxLayout()
        self._waiting = named(QLabel(tr("The charts appear with the first answer."), wordWrap=True), "muted")
        self._list_place = QVBoxLayout()
        self.below = QVBoxLayout()
        self._compared = self._figure(number_font(-0.5), _COMPARED_TIP, tr("Comparison"))
        self._facts = QGridLayout()
        self._fact_labels: list[tuple[QLabel, QLabel]] = []
        self.foot = PanelFoot()
        font_bus().changed.connect(self._fix_number)
        font_bus().changed.connect(self._fix_charts)
        self.foot.record_requested.connect(self.record_requested)
        self.foot.cancel_requested.connect(self.cancel_requested)
        self.foot.export_requested.connect(self.export_requested)
        self._build()

    def _figure(self, font: QFont, meaning: str, name: str) -> QLabel:
        label = QLabel(wordWrap=True)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setFont(font)
        label.setToolTip(tip(meaning))
        label.setAccessibleName(name)
        label.setAccessibleDescription(meaning)
        return label

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GRID // 2)
        self._number.setWordWrap(False)
        self._fix_number()
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
        self._offer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        for part in (self._offer, self._note, self._compared):
            part.hide()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self._scrolled(head), 1)
        outer.addWidget(self.foot)

    def _scrolled(self, head: QHBoxLayout) -> QScrollArea:
        inner = QVBoxLayout()
        inner.setContentsMargins(GRID // 2, GRID, GRID, GRID)
        inner.setSpacing(GRID // 2)
        inner.addLayout(head)
        for part in (self._state, self._verdict, self._note, self._offer, self._baseline):
            inner.addWidget(part)
        inner.addSpacing(GRID // 2)
        inner.addLayout(self._place, 1)
        inner.addLayout(self._list_place)
        inner.addWidget(self._compared)
        inner.addLayout(self._facts)
        inner.addLayout(self.below)
        page = QWidget()
        page.setLayout(inner)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return area

    # --- charts and answers ---------------------------------------------------------------------------

    def install_charts(self, charts: SpeedCharts) -> None:
        """Put the charts into their place, and the list of answers below them."""
        self._place.addWidget(charts, 1)
        self.charts = charts
        self._fix_charts()
        self._install_answers()
        self.show_charts(has_data=False)

    def do_without_charts(self, words: str) -> None:
        """Say in their place why there are no charts; answers can be chosen and compared nevertheless."""
        self._waiting.setText(words)
        self._waiting.setTextFormat(Qt.TextFormat.PlainText)
        self._install_answers()

    def _install_answers(self) -> None:
        from app.ui.answer_list import AnswerList

        self.answers = AnswerList()
        self.answers.selection_changed.connect(self.selection_changed)
        self._list_place.addWidget(self.answers)
        self.answers.hide()

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
        if self.answers is not None:
            self.answers.setVisible(self.answers.count() > 0)

    def show_answers(self, answers: Sequence[tuple[str, str]]) -> None:
        """List these (id, title), oldest first."""
        if self.answers is not None:
            self.answers.show_answers(answers)
            self.answers.setVisible(bool(answers))

    def show_comparison(self, words: str) -> None:
        """Say what two selected answers are against each other."""
        self._compared.setText(words)
        self._compared.setVisible(bool(words))

    # --- figures --------------------------------------------------------------------------------------

    def show_speed(self, tps: float | None, when: str) -> None:
        """Show the number, and whether it is of now or of the last answer."""
        number = NO_NUMBER if tps is None else f"{tps:.1f}"
        if number != self._number.text():
            is_as_wide = len(number) == len(self._number.text())  # figures are all of one width
            self._number.setText(number)
            if not is_as_wide:
                self._fix_number()
        if when != self._when.text():
            self._when.setText(when)
            if self._when.sizeHint().width() > self._when.minimumWidth():
                self._when.setFixedSize(self._when.sizeHint())
            self._number.setAccessibleDescription(
                tr("tokens per second, {when}. {speed_tip}").format(when=when, speed_tip=_SPEED_TIP)
            )

    def _fix_number(self) -> None:
        """Give number and word their sizes: text in a label of no fixed size has the whole panel laid out anew."""
        for label in (self._number, self._when):
            label.setMinimumSize(0, 0)
            label.setMaximumSize(QWIDGETSIZE_MAX, QWIDGETSIZE_MAX)
            label.setFixedSize(label.sizeHint())

    def _fix_charts(self) -> None:
        """Leave the charts room for their captions, however large these are."""
        if self.charts is not None:
            self.charts.setMinimumHeight(round(CHARTS_PX * font_scale()))

    def show_state(self, words: str) -> None:
        """Say what speculation does."""
        words = tr("Speculation {words}").format(words=words) if words else ""
        if words != self._state.text():
            self._state.setText(words)
            if self._is_held:
                tall = self._state.heightForWidth(self._state.width())
                self._state.setMinimumHeight(max(tall, self._state.minimumHeight()))

    def hold(self, *, is_held: bool) -> None:
        """While held, words that grow shorter leave their place free: what is below does not jump, nor grow anew."""
        self._is_held = is_held
        if not is_held:
            self._state.setMinimumHeight(0)

    def show_standing(self, standing: Standing) -> None:
        """Say whether speculation pays, and against what; offer the next step."""
        self._verdict.setText(standing.verdict)
        self._baseline.setText(standing.baseline)
        self._note.setText(standing.note)
        self._note.setVisible(bool(standing.note))
        self._offered, self._n_more = standing.offer, standing.n_more
        self._offer.setText(_offer_words(standing))
        self._offer.setVisible(bool(standing.offer))

    def on_offer_taken(self) -> None:
        """Do what was offered."""
        if self._offered == "record":
            self.record_requested.emit()
        elif self._offered == "record here":
            self.record_own_requested.emit()
        elif self._offered == "record more":
            self.record_more_requested.emit(self._n_more)
        elif self._offered == "compare drafts":
            self.foot.profile_requested.emit()
        elif self._offered:
            self.switch_off_requested.emit()

    @property
    def verdict(self) -> str:
        """What is said about whether speculation pays."""
        return str(self._verdict.text())

    @property
    def waiting(self) -> str:
        """What is said in the place of the charts, "" if they are there."""
        return "" if self._waiting.isHidden() else str(self._waiting.text())

    @property
    def state(self) -> str:
        """What is said about what speculation does."""
        return str(self._state.text())

    @property
    def note(self) -> str:
        """What is said about the prediction, and why something is left out."""
        return str(self._note.text())

    @property
    def offer(self) -> str:
        """What is offered as the next step, "" if nothing is."""
        return "" if self._offer.isHidden() else str(self._offer.text())

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
                    label.setToolTip(tip(facts[n].meaning))
                value.setAccessibleName(f"{facts[n].name}: {facts[n].value}")
                value.setAccessibleDescription(facts[n].meaning)

    def facts(self) -> dict[str, str]:
        """The figures as shown."""
        return {str(name.text()): str(value.text()) for name, value in self._fact_labels if not name.isHidden()}

    def show_recording(self, fraction: float | None, words: str, n_again: int = 0) -> None:
        """Show how far a recording has come, and how many more answers would make it a baseline; see the foot's."""
        self.foot.show_recording(fraction, words, n_again)

    def enable_actions(self, *, can_record: bool, can_export: bool) -> None:
        """Offer only what can be done now."""
        for button in (self.foot.record, self.foot.again):
            button.setEnabled(can_record)
        self.foot.export.setEnabled(can_export)
        self._offer.setEnabled(can_record or not self._offered.startswith("record"))

    def _add_fact_row(self) -> None:
        # A long value (why nothing was engaged) wraps: the panel is as wide as the person made it.
        name, value = named(QLabel(), "muted"), QLabel(wordWrap=True)
        name.setAlignment(Qt.AlignmentFlag.AlignTop)
        name.setFont(text_font(-0.5))
        value.setFont(number_font(-0.5))
        value.setAlignment(Qt.AlignmentFlag.AlignRight)
        value.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        row = len(self._fact_labels)
        self._facts.addWidget(name, row, 0)
        self._facts.addWidget(value, row, 1)
        self._fact_labels.append((name, value))


def _offer_words(standing: Standing) -> str:
    if standing.offer == "record more":
        return tr("Record %n more pair(s) of answers", None, standing.n_more)
    return _OFFERS[standing.offer]
