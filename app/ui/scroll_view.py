"""A view onto a page that is taller than any widget should be: its scroll bar, and who moved it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from app.ui.tr import tr


class ScrollView(QAbstractScrollArea):
    """Knows when it is the person who scrolls; children of its viewport are placed by others."""

    resized = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.is_scrolling = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)  # or widths would jump when it comes
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Conversation"))
        self.viewport().setAutoFillBackground(False)
        self.verticalScrollBar().actionTriggered.connect(self.on_action)
        self.verticalScrollBar().setSingleStep(24)

    def show_extent(self, total: int, value: int) -> None:
        """Set how tall the page is and where we are in it, without that counting as scrolling."""
        bar = self.verticalScrollBar()
        page = self.viewport().height()
        if (bar.maximum(), bar.pageStep(), bar.value()) == (max(0, total - page), page, value):
            return
        with QSignalBlocker(bar):
            bar.setRange(0, max(0, total - page))
            bar.setPageStep(page)
            bar.setValue(value)
        bar.update()

    def on_action(self) -> None:
        """Note that a value change is coming from the person (bar, wheel or keys)."""
        self.is_scrolling = True
        QTimer.singleShot(0, self, self.on_settled)

    def on_settled(self) -> None:
        """Note that the person's scrolling has been taken in."""
        self.is_scrolling = False

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        """Leave moving to whoever places the children."""

    def viewportEvent(self, event: QEvent) -> bool:
        """Tell of a new size."""
        if event.type() == QEvent.Type.Resize:
            self.resized.emit()
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll by line, by page and to the ends."""
        bar = self.verticalScrollBar()
        action = {
            Qt.Key.Key_Home: bar.SliderAction.SliderToMinimum,
            Qt.Key.Key_End: bar.SliderAction.SliderToMaximum,
        }.get(Qt.Key(event.key()))
        if action is not None:
            bar.triggerAction(action)
        else:
            super().keyPressEvent(event)
