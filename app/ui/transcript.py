"""The conversation as it reads, following its end until the person scrolls away.

Only messages near the screen have widgets, however many there are. Of the others the height is known, or guessed until
they are first seen; what stands on the screen stays where it is when a guess is put right. Growing answers are flushed
once a frame, by one timer that rests when nothing grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QTimer, QUrl, Signal
from PySide6.QtWidgets import QStackedLayout, QWidget

from app.ui.heights import Heights
from app.ui.scroll_view import ScrollView
from app.ui.theme import GRID, IconButton
from app.ui.welcome import Welcome

if TYPE_CHECKING:
    from app.chat.conversation import Message
    from app.metrics.token_trace import TokenTrace
    from app.ui.message import AnswerView, MessageView, QuestionView

TEXT_WIDTH_PX = 760
FRAME_MS = 40
"""Looks a second cost processor time that the engine could use: 25 are smooth for text."""

_NEAR_END_PX = 24
_REACH = 0.5
"""So many screens above and below the one that is seen are built."""
_KEPT = 2.0
"""So many screens away they are taken down again."""
_FOOT_PX = 44
_TURNS = 6

FinishAnswer = Callable[["AnswerView", "Message"], None]


@dataclass(slots=True, eq=False)
class _Item:
    """A message: its value, and its view while it has one."""

    role: str
    text: str
    message: Message | None = None
    view: MessageView | None = None
    status: str = ""
    mark: str = ""
    alternatives: tuple[int, int] = (1, 1)
    thought_s: float | None = None
    trace: TokenTrace | None = None


class Transcript(QWidget):
    """Questions and answers of one conversation, or the welcome of an empty one."""

    example_chosen = Signal(str)
    link_clicked = Signal(QUrl)
    restart_requested = Signal()
    asked = Signal(int, str)  # number of the message, a MessageAction

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[_Item] = []
        self._heights = Heights()
        self._growing: AnswerView | None = None
        self._traces: dict[int, TokenTrace] = {}
        self._are_tokens_shown = True
        self._is_following = True
        self._is_placing = False
        self._width = 0
        self._query = ""
        self._finish: FinishAnswer | None = None
        self._anchor: tuple[_Item, tuple[int, int], int] | None = None
        self.welcome = Welcome()
        self.welcome.example_chosen.connect(self.example_chosen)
        self._area = ScrollView()
        self._page = self._area.viewport()
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(self._area)
        self._to_end = IconButton("down", "Go to the newest message (Ctrl+End)", self._area)
        self._to_end.setAutoRaise(False)
        self._to_end.clicked.connect(self.go_to_end)
        self._to_end.hide()
        self._frame = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._frame.timeout.connect(self.on_frame)
        self._area.resized.connect(self.on_resized)
        self._area.verticalScrollBar().valueChanged.connect(self.on_scrolled)

    # --- content --------------------------------------------------------------------------------------

    @property
    def views(self) -> Sequence[MessageView]:
        """What is built, oldest first."""
        return [item.view for item in self._items if item.view is not None]

    @property
    def n_messages(self) -> int:
        """How many messages there are, built or not."""
        return len(self._items)

    @property
    def last_answer(self) -> AnswerView | None:
        """The newest answer that is built, if there is one."""
        return next((view for view in reversed(list(self._answers()))), None)

    def _answers(self) -> Iterator[AnswerView]:
        for item in self._items:
            if item.role == "assistant" and item.view is not None:
                yield item.view  # type: ignore[misc]  # the view of an answer

    def show_messages(self, messages: Sequence[Message], finish: FinishAnswer) -> None:
        """Show a whole conversation from its end; ``finish`` writes the words around a stored answer."""
        self.clear()
        self._finish = finish
        for message in messages:
            if message.role != "system":
                self._items.append(_Item(message.role, message.text, message))
                self._heights.append(self._guess(message.text))
        self._stack.setCurrentWidget(self._area if self._items else self.welcome)
        self.go_to_end()

    def clear(self) -> None:
        """Show the welcome of an empty conversation."""
        self._frame.stop()
        self._growing, self._anchor = None, None
        for item in self._items:
            self._drop(item)
        self._items = []
        self._heights.cut(0)
        self._is_following = True
        self._stack.setCurrentWidget(self.welcome)

    def add_question(self, text: str) -> QuestionView:
        """Show a question and go to it."""
        view = _question(text)
        self._connect(view)
        self._add(_Item("user", text, view=view))
        self.go_to_end()
        return view

    def begin_answer(self) -> AnswerView:
        """Show an empty answer that will grow."""
        view = self._make_answer()
        view.grew.connect(self.on_grew)
        self._growing = view
        self._add(_Item("assistant", "", view=view))
        self._place()
        return view

    def end_answer(self, view: AnswerView) -> None:
        """Show a grown answer in its final form."""
        view.close_text()
        if self._growing is view:
            self._growing = None
        self._place()

    def remove(self, view: MessageView) -> None:
        """Take the last message away."""
        item = next((item for item in self._items if item.view is view), None)
        if item is not None:
            number = self._items.index(item)
            heights = [self._heights[n] for n in range(number + 1, len(self._items))]
            self._items.pop(number)
            self._heights.cut(number)
            for height in heights:
                self._heights.append(height)
            self._drop(item)
        if self._growing is view:
            self._growing = None
        if not self._items:
            self._stack.setCurrentWidget(self.welcome)
        self._place()

    def show_alternatives(self, number: int, chosen: int, n_all: int) -> None:
        """Say of a message which of how many alternatives it is, counted from 1."""
        item = self._items[number]
        item.alternatives = (chosen, n_all)
        if item.view is not None:
            item.view.foot.show_alternatives(chosen, n_all)

    def keep_tokens(self, message_id: int, trace: TokenTrace | None) -> None:
        """Remember the tokens of an answer as long as the program runs, for when its conversation is opened again."""
        if trace is not None and message_id:
            self._traces[message_id] = trace

    def show_tokens(self, *, is_on: bool) -> None:
        """Show or hide the marks of tokens in all answers that have them."""
        self._are_tokens_shown = is_on
        for view in self._answers():
            if view.token_colours is not None:
                view.token_colours.show(is_on=is_on)

    def withdraw_restart(self) -> None:
        """Take all restart buttons away."""
        for view in self._answers():
            view.withdraw_restart()

    # --- views ----------------------------------------------------------------------------------------

    def _make(self, number: int) -> MessageView:
        item = self._items[number]
        view: MessageView
        if item.role == "user":
            view = _question(item.text)
            self._connect(view)
        else:
            view = self._make_answer()
            self._fill(view, item)
        view.foot.show_alternatives(*item.alternatives)
        if self._query:
            view.column.show_found(self._query)
        item.view = view
        return view

    def _fill(self, view: AnswerView, item: _Item) -> None:
        view.setParent(self._page)
        view.show_range(0, 0)  # nothing is built before it is known what is seen
        view.column.lay_out(self._width)
        view.add_text(item.text)
        view.close_text()
        view.show_thought_time(item.thought_s)
        message = item.message
        if message is not None and self._finish is not None:
            self._finish(view, message)
        else:
            view.show_status(item.status)
            view.show_mark(item.mark)
        trace = item.trace or (self._traces.get(message.id) if message is not None else None)
        if trace is not None and self._are_tokens_shown:
            view.trace_tokens(trace)

    def _make_answer(self) -> AnswerView:
        from app.ui.message import AnswerView  # after the first paint: Markdown is not needed before

        view = AnswerView()
        view.restart_requested.connect(self.restart_requested)
        self._connect(view)
        return view

    def _connect(self, view: MessageView) -> None:
        view.link_clicked.connect(self.link_clicked)
        view.height_changed.connect(self.on_height_changed)
        view.asked.connect(lambda action: self.on_asked(view, action))

    def _add(self, item: _Item) -> None:
        self._items.append(item)
        self._heights.append(0)
        self._stack.setCurrentWidget(self._area)

    def _drop(self, item: _Item) -> None:
        """Take a view down; what it says is remembered."""
        view, item.view = item.view, None
        if view is None:
            return
        if item.role == "assistant" and item.message is None:
            item.text, item.status = view.text, view.foot.words
            item.mark, item.thought_s, item.trace = view.mark, view.thought_s, view.trace  # type: ignore[attr-defined]
        view.hide()
        view.setParent(None)
        view.deleteLater()

    def _guess(self, text: str) -> int:
        columns = max(20, (self._width or TEXT_WIDTH_PX) // 7)
        return (len(text) // columns + text.count("\n") + 1) * 20 + _FOOT_PX

    def on_asked(self, view: MessageView, action: str) -> None:
        """Say which message something is wanted of."""
        number = next((n for n, item in enumerate(self._items) if item.view is view), -1)
        if number >= 0:
            self.asked.emit(number, action)

    # --- geometry -------------------------------------------------------------------------------------

    def on_resized(self) -> None:
        """Fit everything to the width."""
        width = min(TEXT_WIDTH_PX, self._page.width() - 2 * GRID)
        if width != self._width and width > 0:
            self._width = width
            for number, item in enumerate(self._items):
                if item.view is None:
                    self._heights.set(number, self._guess(item.text))
        self._place()

    def on_height_changed(self) -> None:
        """Put what is below where it belongs."""
        if not self._is_placing:
            self._place()

    def _place(self) -> None:
        """Build what is near the screen, measure it, and put it where it belongs; keep what is read where it is."""
        if self._is_placing or self._width <= 0 or not self._items:
            return
        self._is_placing = True
        try:
            self._place_all(self._page.height())
        finally:
            self._is_placing = False
        self._note_anchor()
        self._place_button()

    def _place_all(self, page: int) -> None:
        bar = self._area.verticalScrollBar()
        for _ in range(_TURNS):
            before, y = self._heights.total, self._wanted_y(page)
            self._build_near(y, page)
            if self._heights.total == before and y == self._wanted_y(page):
                break
        y = self._wanted_y(page)
        self._drop_far(y, page)
        self._area.show_extent(self._heights.total + 2 * GRID, y)
        left = (self._page.width() - self._width) // 2
        for number, item in self._built():
            if item.view is not None:
                item.view.setGeometry(left, self._heights.top(number) - bar.value(), self._width, self._heights[number])
                item.view.show()

    def _built(self) -> list[tuple[int, _Item]]:
        return [(number, item) for number, item in enumerate(self._items) if item.view is not None]

    def _wanted_y(self, page: int) -> int:
        """How far down the screen begins: at the end, or where what was at its top is now."""
        end = max(0, self._heights.total + 2 * GRID - page)
        if self._is_following:
            return end
        if self._anchor is None:
            return min(end, self._area.verticalScrollBar().value())
        item, anchor, offset = self._anchor
        number = self._items.index(item)
        inside = item.view.place_of(anchor) if item.view is not None else anchor[1]
        return max(0, min(end, self._heights.top(number) + inside - offset))

    def _note_anchor(self) -> None:
        """Remember what is at the top of the screen."""
        y = self._area.verticalScrollBar().value()
        number = self._heights.at(y)
        item = self._items[number]
        top = self._heights.top(number)
        inside = item.view.anchor_at(y - top) if item.view is not None else (0, y - top)
        place = item.view.place_of(inside) if item.view is not None else y - top
        self._anchor = item, inside, top + place - y

    def _build_near(self, y: int, page: int) -> None:
        first = self._heights.at(y - _REACH * page)
        last = self._heights.at(y + (1 + _REACH) * page)
        for number in range(first, last + 1):
            item = self._items[number]
            view = item.view or self._make(number)
            if view.parent() is not self._page:
                view.setParent(self._page)
            top = self._heights.top(number)
            view.show_range(y - top - _REACH * page, y - top + (1 + _REACH) * page)
            self._heights.set(number, view.lay_out(self._width))

    def _drop_far(self, y: int, page: int) -> None:
        first = self._heights.at(y - _KEPT * page)
        last = self._heights.at(y + (1 + _KEPT) * page)
        for number, item in enumerate(self._items):
            if item.view is None or first <= number <= last or item.view is self._growing:
                continue
            if not item.view.isAncestorOf(self.focusWidget() or self) and not item.view.column.selection.text:
                self._drop(item)

    # --- following ------------------------------------------------------------------------------------

    @property
    def is_following(self) -> bool:
        """Whether the view stays at the end while text arrives."""
        return self._is_following

    def go_to_end(self) -> None:
        """Scroll to the end and follow it from now on."""
        self._is_following = True
        self._place()
        self._place_button()

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

    def on_scrolled(self, value: int) -> None:
        """Follow the end only while the person is there; build what comes near."""
        if self._is_placing or not self._items:
            return
        bar = self._area.verticalScrollBar()
        if bar.isSliderDown() or self._area.is_scrolling:
            self._is_following = value >= bar.maximum() - _NEAR_END_PX
        else:
            self._is_following = self._is_following and value >= bar.maximum()
        self._note_anchor()
        self._place()

    def _place_button(self) -> None:
        self._to_end.setVisible(not self._is_following and bool(self._items))
        size = self._to_end.sizeHint()
        area = self._page.geometry()
        self._to_end.setGeometry(
            area.right() - size.width() - GRID, area.bottom() - size.height() - GRID, size.width(), size.height()
        )
        self._to_end.raise_()

    # --- finding --------------------------------------------------------------------------------------

    def texts(self) -> list[str]:
        """The text of every message."""
        return [item.view.text if item.view is not None else item.text for item in self._items]

    def show_found(self, query: str) -> None:
        """Mark every place where a text stands; "" takes the marks away."""
        self._query = query
        for view in self.views:
            view.column.show_found(query)

    def go_to_message(self, number: int, hit: int = -1) -> None:
        """Scroll to a message, or to the ``hit``-th place in it where what is searched for stands."""
        self._is_following = False
        item = self._items[number]
        if item.view is None:
            self._make(number)
            self._heights.set(number, self._view_of(item).lay_out(self._width))
        view = self._view_of(item)
        view.setParent(self._page)
        into = view.column.place_found(hit) + view.column.y() if hit >= 0 else 0
        self._heights.set(number, view.lay_out(self._width))
        self._anchor = item, view.anchor_at(into), self._page.height() // 3 if hit >= 0 else GRID
        self._place()

    @staticmethod
    def _view_of(item: _Item) -> MessageView:
        if item.view is None:
            raise LookupError("the message has no view")
        return item.view

    def focus_message(self, step: int) -> None:
        """Move the keyboard from message to message, up (-1) or down (1), beginning at the one in the middle."""
        if not self._items:
            return
        here = next((n for n, item in enumerate(self._items) if item.view is not None and item.view.hasFocus()), None)
        if here is None:
            spot = self._area.verticalScrollBar().value() + self._page.height() // 2
            here = self._heights.at(spot) - step
        number = min(max(here + step, 0), len(self._items) - 1)
        item = self._items[number]
        top = self._heights.top(number) - self._area.verticalScrollBar().value()
        if item.view is None or top < 0 or top > self._page.height() - 4 * GRID:
            self.go_to_message(number)
        self._view_of(item).setFocus()

    def y_of(self, number: int) -> int:
        """Where a message is on the screen."""
        view = self._items[number].view
        return view.mapTo(self, QPoint(0, 0)).y() if view is not None else -1


def _question(text: str) -> QuestionView:
    from app.ui.message import QuestionView  # after the first paint, like answers

    return QuestionView(text)
