"""Finding words in the open conversation: how often they stand there, where, and from one place to the next."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit

from app.ui.theme import GRID, IconButton, named, number_font
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.transcript import Transcript

_PAUSE_MS = 120
_SLICE_S, _FIRST_SLICE_S = 0.008, 0.02
_END = object()


class _Field(QLineEdit):
    """Enter goes on, Shift+Enter back, Esc closes."""

    stepped = Signal(int)
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.stepped.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class FindBar(QFrame):
    """A field, *3 of 17*, and arrows; hidden until it is asked for."""

    closed = Signal()

    def __init__(self, transcript: Transcript) -> None:
        super().__init__()
        named(self, "find")
        self._transcript = transcript
        self._places: list[tuple[int, int]] = []  # message, and which place in it
        self._here = -1
        self._stay: tuple[int, int] | None = None
        self._scan: Iterator[None] | None = None
        self._slice = QTimer(self, singleShot=True, interval=0)
        self._slice.timeout.connect(self.on_slice)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.search)
        self.field = _Field(placeholderText=tr("Find in this conversation"))
        self.field.setAccessibleName(tr("Find in this conversation"))
        self.field.stepped.connect(self.step)
        self.field.left.connect(self.leave)
        self.field.textChanged.connect(lambda _text: self._pause.start())
        self.count = named(QLabel(), "status")
        self.count.setFont(number_font(-0.5))
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID, GRID // 2, GRID // 2, GRID // 2)
        row.setSpacing(GRID // 2)
        row.addWidget(self.field, 1)
        row.addWidget(self.count)
        for icon, words, step in (
            ("up", tr("Previous place (Shift+Enter)"), -1),
            ("down", tr("Next place (Enter)"), 1),
        ):
            button = IconButton(icon, words)
            button.clicked.connect(lambda _checked=False, n=step: self.step(n))
            row.addWidget(button)
        close = IconButton("close", tr("Close the search (Esc)"))
        close.clicked.connect(self.leave)
        row.addWidget(close)
        self.hide()

    def open(self, words: str = "") -> None:
        """Show the bar, and search for these words if there are any."""
        self.show()
        if words:
            self.field.setText(words)
        self.field.setFocus()
        self.field.selectAll()
        self.search()

    def leave(self) -> None:
        """Hide the bar and the marks."""
        self._pause.stop()
        self._slice.stop()
        self.hide()
        self._places, self._scan = [], None
        self._transcript.show_found("")
        self.closed.emit()

    def search(self) -> None:
        """Find all places; go to the last one, which is nearest to what was just said."""
        self._pause.stop()
        self._transcript.show_found(self.field.text())
        self._begin(None)

    def count_again(self) -> None:
        """Count what has been said meanwhile; stay where we are."""
        if not self.isHidden() and self.field.text():
            self._transcript.show_found(self.field.text())
            self._begin(self.here)

    def step(self, step: int) -> None:
        """Go to the next place, or the one before; round at the ends, once all are found."""
        if self._pause.isActive():
            self.search()
        elif self._places and (self._scan is None or 0 <= self._here + step < len(self._places)):
            self._here = (self._here + step) % len(self._places)
            self._show()

    def _begin(self, stay: tuple[int, int] | None) -> None:
        """Look through all messages, the newest first, for a moment now and then in pauses; stay at a place."""
        self._places, self._here, self._stay = [], -1, stay
        self._scan = self._look() if self.field.text() else None
        self.on_slice()

    def on_slice(self) -> None:
        """Look for a moment."""
        end_s = monotonic() + (_FIRST_SLICE_S if not self._places else _SLICE_S)
        had_any = bool(self._places)
        while self._scan is not None and monotonic() < end_s:
            if next(self._scan, _END) is _END:
                self._scan = None
        if self._scan is not None:
            self._slice.start()
        if self._places and not had_any and self._stay is None:
            self._show()
        else:
            self._say()

    def _look(self) -> Iterator[None]:
        wanted = self.field.text().lower()
        for number in range(self._transcript.n_messages - 1, -1, -1):
            if number >= self._transcript.n_messages:  # it has just been taken away
                continue
            seen = yield from self._transcript.read_seen(number)
            here = [(number, hit) for hit in range(sum(part.count(wanted) for part in seen))]
            self._places[:0] = here
            if self._stay in here or (here and self._here < 0):
                self._here = here.index(self._stay) if self._stay in here else len(here) - 1
            elif self._here >= 0:
                self._here += len(here)
            yield

    @property
    def here(self) -> tuple[int, int] | None:
        """The message that is looked at, and which place in it."""
        return self._places[self._here] if self._places else None

    def _show(self) -> None:
        self._say()
        if self.here is not None:
            self._transcript.go_to_message(*self.here)

    def _say(self) -> None:
        if self._scan is not None:
            words = tr("{n_places} so far…").format(n_places=len(self._places))
        elif self._places:
            words = tr("{here} of {n_places}").format(here=self._here + 1, n_places=len(self._places))
        else:
            words = tr("not found") if self.field.text() else ""
        self.count.setText(words)
        self.count.setAccessibleName(words)
