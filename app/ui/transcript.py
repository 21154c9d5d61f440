"""The conversation as it reads, following its end until the person scrolls away.

Long conversations are built from their end; older messages join when the person scrolls up to them. Growing
answers are flushed once a frame, all of them by one timer that rests when nothing grows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeGuard

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QStackedLayout, QVBoxLayout, QWidget

from app.ui.theme import GRID, IconButton
from app.ui.welcome import Welcome

if TYPE_CHECKING:
    from app.chat.conversation import Message
    from app.metrics.token_trace import TokenTrace
    from app.ui.message import AnswerView, QuestionView

TEXT_WIDTH_PX = 760
FRAME_MS = 16
PAGE_MESSAGES = 40

_NEAR_END_PX = 24
_NEAR_TOP_PX = 300
_SETTLE_MS = 200


FinishAnswer = Callable[["AnswerView", "Message"], None]


class Transcript(QWidget):
    """Questions and answers of one conversation, or the welcome of an empty one."""

    example_chosen = Signal(str)
    link_clicked = Signal(QUrl)
    restart_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._older: list[Message] = []
        self._views: list[QuestionView | AnswerView] = []
        self._growing: AnswerView | None = None
        self._traces: dict[int, TokenTrace] = {}
        self._are_tokens_shown = True
        self._is_following = True
        self._held_from_end: int | None = None
        self._release = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._release.timeout.connect(self.on_settled)
        self.welcome = Welcome()
        self.welcome.example_chosen.connect(self.example_chosen)
        self._page = _Page()
        self._area = _ScrollArea(self._page)
        self._column = QVBoxLayout()
        self._column.setSpacing(GRID)
        self._column.addStretch()
        self._build()
        self._frame = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._frame.timeout.connect(self.on_frame)
        bar = self._area.verticalScrollBar()
        bar.rangeChanged.connect(self.on_range_changed)
        bar.valueChanged.connect(self.on_scrolled)

    def _build(self) -> None:
        centred = QWidget(maximumWidth=TEXT_WIDTH_PX + 2 * GRID)
        centred.setLayout(self._column)
        self._rows = QHBoxLayout(self._page)  # which centres what is narrower
        self._rows.setContentsMargins(GRID, GRID, GRID, 2 * GRID)
        self._rows.addWidget(centred)
        self._column.setContentsMargins(GRID, 0, GRID, 0)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(self._area)
        self._to_end = IconButton("down", "Go to the newest message (Ctrl+End)", self._area)
        self._to_end.setAutoRaise(False)
        self._to_end.clicked.connect(self.go_to_end)
        self._to_end.hide()
        self._area.installEventFilter(self)

    # --- content --------------------------------------------------------------------------------------

    @property
    def views(self) -> Sequence[QuestionView | AnswerView]:
        """What is built so far, oldest first."""
        return self._views

    @property
    def last_answer(self) -> AnswerView | None:
        """The newest answer, if there is one."""
        return next((view for view in reversed(self._views) if _is_answer(view)), None)

    def show_messages(self, messages: Sequence[Message], finish: FinishAnswer) -> None:
        """Show a whole conversation from its end; ``finish`` writes the words around a stored answer."""
        self.clear()
        self._finish = finish
        visible = [message for message in messages if message.role != "system"]
        self._older = visible[:-PAGE_MESSAGES]
        for message in visible[-PAGE_MESSAGES:]:
            self._add(self._view_of(message))
        self._stack.setCurrentWidget(self._area if self._views else self.welcome)
        self.go_to_end()

    def clear(self) -> None:
        """Show the welcome of an empty conversation."""
        self._frame.stop()
        self.on_settled()
        self._growing, self._older = None, []
        for view in self._views:
            self._column.removeWidget(view)
            view.hide()
            view.deleteLater()
        self._views = []
        self._is_following = True
        self._stack.setCurrentWidget(self.welcome)

    def add_question(self, text: str) -> QuestionView:
        """Show a question and go to it."""
        view = _question(text)
        self._add(view)
        self.go_to_end()
        return view

    def begin_answer(self) -> AnswerView:
        """Show an empty answer that will grow."""
        view = self._make_answer()
        view.grew.connect(self.on_grew)
        self._growing = view
        self._add(view)
        return view

    def end_answer(self, view: AnswerView) -> None:
        """Show a grown answer in its final form."""
        view.close_text()
        if self._growing is view:
            self._growing = None

    def remove(self, view: QuestionView | AnswerView) -> None:
        """Take a message away."""
        if view in self._views:
            self._views.remove(view)
            self._column.removeWidget(view)
            view.hide()
            view.deleteLater()
        if self._growing is view:
            self._growing = None
        if not self._views:
            self._stack.setCurrentWidget(self.welcome)

    def keep_tokens(self, message_id: int, trace: TokenTrace | None) -> None:
        """Remember the tokens of an answer as long as the program runs, for when its conversation is opened again."""
        if trace is not None and message_id:
            self._traces[message_id] = trace

    def show_tokens(self, *, is_on: bool) -> None:
        """Show or hide the marks of tokens in all answers that have them."""
        self._are_tokens_shown = is_on
        for view in self._views:
            if _is_answer(view) and view.token_colours is not None:
                view.token_colours.show(is_on=is_on)

    def withdraw_restart(self) -> None:
        """Take all restart buttons away."""
        for view in self._views:
            if _is_answer(view):
                view.withdraw_restart()

    def _view_of(self, message: Message) -> QuestionView | AnswerView:
        if message.role == "user":
            return _question(message.text)
        view = self._make_answer()
        view.add_text(message.text)
        view.close_text()
        if message.id in self._traces and self._are_tokens_shown:
            view.trace_tokens(self._traces[message.id])
        self._finish(view, message)
        return view

    def _make_answer(self) -> AnswerView:
        from app.ui.message import AnswerView  # after the first paint: Markdown is not needed before

        view = AnswerView()
        view.link_clicked.connect(self.link_clicked)
        view.restart_requested.connect(self.restart_requested)
        return view

    def _add(self, view: QuestionView | AnswerView) -> None:
        self._views.append(view)
        self._column.insertWidget(self._column.count() - 1, view)
        self._stack.setCurrentWidget(self._area)

    def _build_older(self) -> None:
        """Put one more page on top; what is on the screen stays where it is."""
        page, self._older = self._older[-PAGE_MESSAGES:], self._older[:-PAGE_MESSAGES]
        bar = self._area.verticalScrollBar()
        self._held_from_end = bar.maximum() - bar.value()
        self._release.start()
        for message in reversed(page):
            view = self._view_of(message)
            self._views.insert(0, view)
            self._column.insertWidget(0, view)

    def on_settled(self) -> None:
        """Stop holding the place: the messages that were built on top have their heights by now."""
        self._held_from_end = None

    # --- following ------------------------------------------------------------------------------------

    @property
    def is_following(self) -> bool:
        """Whether the view stays at the end while text arrives."""
        return self._is_following

    def go_to_end(self) -> None:
        """Scroll to the end and follow it from now on."""
        self._is_following = True
        bar = self._area.verticalScrollBar()
        bar.setValue(bar.maximum())
        self._to_end.hide()

    def on_grew(self) -> None:
        """Flush with the next frame."""
        if not self._frame.isActive():
            self._frame.start()

    def on_frame(self) -> None:
        """Show what has arrived since the last frame."""
        if self._growing is not None:
            self._growing.flush()
            if self._growing.needs_flush:
                self._frame.start()

    def on_range_changed(self, _low: int, high: int) -> None:
        """Stay at the end, if that is where we are."""
        if self._held_from_end is not None:
            self._area.verticalScrollBar().setValue(high - self._held_from_end)
        elif self._is_following:
            self._area.verticalScrollBar().setValue(high)
        else:
            self._place_button()

    def on_scrolled(self, value: int) -> None:
        """Follow the end only while the person is there; build older messages on the way up."""
        bar = self._area.verticalScrollBar()
        if bar.isSliderDown() or self._area.is_scrolling:
            self._is_following = value >= bar.maximum() - _NEAR_END_PX
            self._held_from_end = None
        self._place_button()
        if self._older and value < _NEAR_TOP_PX and bar.maximum() > 0:
            QTimer.singleShot(0, self, self.on_top_reached)

    def on_top_reached(self) -> None:
        """Build older messages."""
        if self._older and self._held_from_end is None and self._area.verticalScrollBar().value() < _NEAR_TOP_PX:
            self._build_older()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the button in its corner."""
        if watched is self._area and event.type() == QEvent.Type.Resize:
            self._place_button()
        return super().eventFilter(watched, event)

    def _place_button(self) -> None:
        self._to_end.setVisible(not self._is_following)
        size = self._to_end.sizeHint()
        area = self._area.viewport().geometry()
        self._to_end.setGeometry(
            area.right() - size.width() - GRID, area.bottom() - size.height() - GRID, size.width(), size.height()
        )
        self._to_end.raise_()


def _question(text: str) -> QuestionView:
    from app.ui.message import QuestionView  # after the first paint, like answers

    return QuestionView(text)


def _is_answer(view: QuestionView | AnswerView) -> TypeGuard[AnswerView]:
    return hasattr(view, "flush")


class _Page(QWidget):
    """What is scrolled: never wider than the view."""

    def minimumSizeHint(self) -> QSize:
        """Be as narrow as need be."""
        return QSize(0, super().minimumSizeHint().height())


class _ScrollArea(QScrollArea):
    """A scroll area that knows when it is the person who scrolls."""

    def __init__(self, page: QWidget) -> None:
        super().__init__()
        self.is_scrolling = False
        self.setWidget(page)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Conversation")
        self.verticalScrollBar().actionTriggered.connect(self.on_action)
        self.verticalScrollBar().setSingleStep(24)

    def on_action(self) -> None:
        """Note that a value change is coming from the person (bar, wheel or keys)."""
        self.is_scrolling = True
        QTimer.singleShot(0, self, self.on_settled)

    def on_settled(self) -> None:
        """Note that the person's scrolling has been taken in."""
        self.is_scrolling = False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll by page and to the ends."""
        bar = self.verticalScrollBar()
        action = {
            Qt.Key.Key_Home: bar.SliderAction.SliderToMinimum,
            Qt.Key.Key_End: bar.SliderAction.SliderToMaximum,
        }.get(Qt.Key(event.key()))
        if action is not None:
            bar.triggerAction(action)
        else:
            super().keyPressEvent(event)
