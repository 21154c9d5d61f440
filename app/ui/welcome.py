"""What an empty conversation shows: what to do first, in what state the model is, three prompts to try.

Where only the starter is here, it also suggests a pair for this machine, shows how far that has come, and offers to
switch to it; meanwhile the starter answers.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.ui import motion
from app.ui.font_size import font_bus, font_scale
from app.ui.theme import GRID, colours, follow, named, text_font
from app.ui.tr import tr

EXAMPLES = (
    tr("Explain speculative decoding to a curious teenager, in five sentences."),
    tr("Write a Python function that counts the words in a text file, with a short example."),
    tr("Make a table of five European capitals with their countries and rivers."),
)
_MAX_WIDTH_PX, _LEAST_WIDTH_PX, _AROUND_PX = 560, 160, 5 * GRID
_CARD = "QFrame#suggestion { background: %(base)s; border: 1px solid %(border)s; border-radius: 8px; }"
_PRIMARY = """
QPushButton { background: %(accent)s; color: %(on_accent)s; border: 2px solid %(accent)s; border-radius: 6px;
              padding: 4px 16px; }
QPushButton:focus { border-color: %(text)s; }
"""


class Suggestion(QFrame):
    """A pair for this machine: what it is, what it takes, and one button for what comes next."""

    get_requested = Signal()
    pause_requested = Signal()
    switch_requested = Signal()
    others_requested = Signal()
    dismissed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("suggestion")
        self._caption = named(QLabel(tr("Recommended for this computer")), "muted")
        self._caption.setFont(text_font(-0.5))
        self.title = QLabel(wordWrap=True)
        self.title.setFont(text_font(1.5, bold=True))
        self.facts = named(QLabel(wordWrap=True), "muted")
        self.words = QLabel(wordWrap=True)
        self.progress = QProgressBar(textVisible=False)
        self.main = QPushButton()
        self.others = QPushButton(tr("&Other models…"))
        self.later = QPushButton(tr("&Not now"))
        self._action = self.get_requested
        self.main.clicked.connect(lambda: self._action.emit())
        self.others.clicked.connect(self.others_requested)
        self.later.clicked.connect(self.dismissed)
        self.later.setToolTip(tr("Do not suggest a pair again. Models (Ctrl+M) has them all."))
        for label in (self.title, self.facts, self.words):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self._build()
        follow(self._tint)
        self.hide()

    def _build(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self.main)
        buttons.addWidget(self.others)
        buttons.addStretch(1)
        buttons.addWidget(self.later)
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * GRID, GRID + 4, 2 * GRID, GRID + 4)
        column.setSpacing(GRID // 2)
        column.addWidget(self._caption)
        column.addWidget(self.title)
        column.addWidget(self.facts)
        column.addWidget(self.progress)
        column.addWidget(self.words)
        column.addSpacing(GRID // 2)
        column.addLayout(buttons)

    def show_pair(self, title: str, facts: str) -> None:
        """Name the pair and what it takes."""
        self.title.setText(title)
        self.facts.setText(facts)
        self.setAccessibleName(tr("Recommended for this computer: {title}. {facts}").format(title=title, facts=facts))
        self.progress.setAccessibleName(tr("Download of {title}").format(title=title))

    def offer(self, words: str, button: str = tr("&Get pair")) -> None:
        """Offer to get it, or to try again."""
        self._set(words, button, self.get_requested)
        self.later.show()

    def show_running(self, words: str, percent: int | None) -> None:
        """Show how far it is; None while nobody can tell."""
        self._set(words, tr("&Pause"), self.pause_requested)
        if percent is None:
            motion.show_busy(self.progress)
        else:
            self.progress.setRange(0, 100)
            self.progress.setValue(percent)
        self.progress.show()
        self.later.hide()

    def offer_switch(self, words: str) -> None:
        """Offer to chat with it."""
        self._set(words, tr("&Switch to it"), self.switch_requested)
        self.later.show()

    def _set(self, words: str, button: str, action: object) -> None:
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.main.setText(button)
        self.main.setAccessibleName(f"{button.replace('&', '')}: {self.title.text()}")
        self._action = action  # type: ignore[assignment]  # a bound signal has no name of its own in the stubs
        self.progress.hide()

    def _tint(self) -> None:
        scheme = colours()._asdict()
        self.setStyleSheet(_CARD % scheme)
        self.main.setStyleSheet(_PRIMARY % scheme)


class Example(QPushButton):
    """A question to begin with, broken into lines where it is too long for one: a button does not do it."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words, self._width_px = words, _MAX_WIDTH_PX
        named(self, "example")
        self._break()

    def fit(self, width_px: int) -> None:
        """Break the lines for a button of this width."""
        if width_px != self._width_px:
            self._width_px = width_px
            self._break()

    def _break(self) -> None:
        metrics, width_px = self.fontMetrics(), self._width_px - 6 * GRID
        lines = [""]
        for word in self._words.split(" "):
            longer = f"{lines[-1]} {word}".strip()
            if lines[-1] and metrics.horizontalAdvance(longer) > width_px:
                lines.append(word)
            else:
                lines[-1] = longer
        self.setText("\n".join(lines))

    def changeEvent(self, event: QEvent) -> None:
        """Break the lines anew for another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._break()


class Welcome(QScrollArea):
    """An invitation to write."""

    example_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Welcome"))
        title = QLabel(tr("Ask something"), wordWrap=True, alignment=Qt.AlignmentFlag.AlignHCenter)
        title.setFont(text_font(8.0, bold=True))
        self._state = named(QLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignHCenter), "state")
        self._state.setTextFormat(Qt.TextFormat.PlainText)
        self.suggestion = Suggestion()
        column = QVBoxLayout()
        column.setSpacing(GRID)
        column.addWidget(title)
        column.addWidget(self._state)
        column.addSpacing(GRID)
        self._examples = [self._example(words) for words in EXAMPLES]
        for example in self._examples:
            column.addWidget(example)
        column.addSpacing(GRID)
        column.addWidget(self.suggestion)
        block = self._block = QWidget()
        block.setLayout(column)
        inside = QWidget()
        row = QHBoxLayout()  # which centres what is narrower, and asks it how high it is at that width
        row.addWidget(block)
        outer = QVBoxLayout(inside)
        outer.addStretch(2)
        outer.addLayout(row)
        outer.addStretch(3)
        self.setWidget(inside)
        for part in (self.viewport(), inside):
            part.setAutoFillBackground(False)
        font_bus().changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        width_px = round(_MAX_WIDTH_PX * font_scale())
        self._block.setMaximumWidth(width_px)
        for example in self._examples:
            example.fit(max(_LEAST_WIDTH_PX, min(width_px, self.viewport().width() - _AROUND_PX)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the examples anew."""
        super().resizeEvent(event)
        self._fit()

    def show_state(self, words: str) -> None:
        """Say in what state the model is."""
        self._state.setText(words)

    def _example(self, words: str) -> Example:
        button = Example(words)
        button.setAccessibleName(tr("Try: {words}").format(words=words))
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda: self.example_chosen.emit(words))
        return button
