"""The conversation as it reads, following its end until the person scrolls away.

Only messages near the screen have widgets, however many there are. Of the others the height is known, or guessed until
they are first seen; what stands on the screen stays where it is when a guess is put right. Growing answers are flushed
once a frame, by one timer that rests when nothing grows.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, QUrl, Signal
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from app.ui.find_bar import FindBar
from app.ui.message_list import TEXT_WIDTH_PX as TEXT_WIDTH_PX
from app.ui.message_list import Item, MessageList
from app.ui.pace import Pace
from app.ui.scroll_view import ScrollView
from app.ui.theme import GRID, IconButton
from app.ui.tr import tr
from app.ui.welcome import Welcome

if TYPE_CHECKING:
    from app.chat.conversation import Message
    from app.metrics.token_trace import TokenTrace
    from app.ui.message import AnswerView, QuestionView
    from app.ui.message_view import MessageView

FRAME_MS, SLOWEST_FRAME_MS = 40, 240
"""Looks cost processor time that the engine could use: 25 a second are smooth, four can still be read along."""

_SLACK = 8
"""A frame comes so much of its time early where text comes by then: each time that the window wakes costs the engine
a core, and the next text comes about when the next frame is due."""

_NEAR_END_PX = 24
FinishAnswer = Callable[["AnswerView", "Message"], None]


class Transcript(QWidget):
    """Questions and answers of one conversation, or the welcome of an empty one."""

    example_chosen = Signal(str)
    link_clicked = Signal(QUrl)
    restart_requested = Signal()
    asked = Signal(int, str)  # number of the message, a MessageAction

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._growing: AnswerView | None = None
        self._traces: dict[int, TokenTrace] = {}
        self._are_tokens_shown = True
        self.trace_of: Callable[[int], TokenTrace | None] = lambda _message_id: None
        self._query = ""
        self._finish: FinishAnswer | None = None
        self.welcome = Welcome()
        self.welcome.example_chosen.connect(self.example_chosen)
        self._area = ScrollView()
        self._page = self._area.viewport()
        self._list = MessageList(self._area, self._make)
        self._list.placed.connect(self._place_button)
        self.find_bar = FindBar(self)
        self.find_bar.closed.connect(self._area.setFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.find_bar)
        self._stack = QStackedLayout()
        column.addLayout(self._stack, 1)
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(self._area)
        self._to_end = IconButton("down", tr("Go to the newest message (Ctrl+End)"), self._area)
        self._to_end.setAutoRaise(False)
        self._to_end.clicked.connect(self.go_to_end)
        self._to_end.hide()
        self.pace = Pace(FRAME_MS, SLOWEST_FRAME_MS)
        self.frame_ms = FRAME_MS
        self._next_s = 0.0
        self._frame = QTimer(self, singleShot=True)
        self._frame.timeout.connect(self.on_frame)
        self._area.verticalScrollBar().valueChanged.connect(self.on_scrolled)

    # --- content --------------------------------------------------------------------------------------

    @property
    def views(self) -> Sequence[MessageView]:
        """What is built, oldest first."""
        return [item.view for item in self._list.items if item.view is not None]

    @property
    def n_messages(self) -> int:
        """How many messages there are, built or not."""
        return len(self._list.items)

    @property
    def last_answer(self) -> AnswerView | None:
        """The newest answer that is built, if there is one."""
        return next((view for view in reversed(list(self._answers()))), None)

    def _answers(self) -> Iterator[AnswerView]:
        for item in self._list.items:
            if item.role == "assistant" and item.view is not None:
                yield item.view  # type: ignore[misc]  # the view of an answer

    def show_messages(self, messages: Sequence[Message], finish: FinishAnswer) -> None:
        """Show a whole conversation from its end; ``finish`` writes the words around a stored answer."""
        self.clear()
        self._finish = finish
        for message in messages:
            if message.role != "system":
                self._list.add(Item(message.role, message.text, message, thought_s=message.reasoning_s))
        self._stack.setCurrentWidget(self._area if self._list.items else self.welcome)
        self.go_to_end()

    def clear(self) -> None:
        """Show the welcome of an empty conversation."""
        self._frame.stop()
        self._growing = None
        self._query = ""
        self._list.clear()
        if not self.find_bar.isHidden():
            self.find_bar.leave()
        self._stack.setCurrentWidget(self.welcome)

    def add_question(self, text: str) -> QuestionView:
        """Show a question and go to it."""
        view = _question(text)
        self._connect(view)
        self._add(Item("user", text, view=view))
        self.go_to_end()
        return view

    def begin_answer(self) -> AnswerView:
        """Show an empty answer that will grow."""
        view = self._make_answer()
        view.grew.connect(self.on_grew)
        self._growing = self._list.kept = view
        self._add(Item("assistant", "", view=view))
        self._list.place()
        return view

    def end_answer(self, view: AnswerView) -> None:
        """Show a grown answer in its final form."""
        view.close_text()
        if self._growing is view:
            self._growing = self._list.kept = None
        self._list.place()
        self.find_bar.count_again()

    def remove(self, view: MessageView) -> None:
        """Take a message away."""
        number = self._list.number_of(view)
        if number >= 0:
            self._list.remove(self._list.items[number])
        if self._list.kept is view:
            self._list.kept = None
        if not self._list.items:
            self._stack.setCurrentWidget(self.welcome)
        self._list.place()

    def cut(self, number: int) -> None:
        """Take away the messages from the ``number``-th on: another branch begins there."""
        self._list.cut(number)
        self._stack.setCurrentWidget(self._area if self._list.items else self.welcome)
        self._list.place()
        self.find_bar.count_again()

    def show_alternatives(self, number: int, chosen: int, n_all: int) -> None:
        """Say of a message which of how many alternatives it is, counted from 1."""
        item = self._list.items[number]
        item.alternatives = (chosen, n_all)
        if item.view is not None:
            item.view.foot.show_alternatives(chosen, n_all)

    def keep_tokens(self, message_id: int, trace: TokenTrace | None) -> None:
        """Remember the tokens of an answer as long as the program runs, for when its conversation is opened again."""
        if trace is not None and message_id:
            self._traces[message_id] = trace
        else:
            self._traces.pop(message_id, None)

    def show_tokens(self, *, is_on: bool) -> None:
        """Show or hide the marks of tokens in all answers that have them."""
        self._are_tokens_shown = is_on
        for item in self._list.items:
            view = item.view
            if item.role != "assistant" or view is None:
                continue
            answer: AnswerView = view  # type: ignore[assignment]  # the view of an answer
            if answer.token_colours is not None:
                answer.show_tokens(is_on=is_on)
            elif is_on and (trace := self._known_trace(item)) is not None:
                answer.trace_tokens(trace)

    def _known_trace(self, item: Item) -> TokenTrace | None:
        if item.trace is not None or item.message is None:
            return item.trace
        return self._traces.get(item.message.id) or self.trace_of(item.message.id)

    def withdraw_restart(self) -> None:
        """Take all restart buttons away."""
        for view in self._answers():
            view.withdraw_restart()

    # --- views ----------------------------------------------------------------------------------------

    def _make(self, item: Item) -> MessageView:
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
        return view

    def _fill(self, view: AnswerView, item: Item) -> None:
        view.setParent(self._page)
        view.show_range(0, 0)  # nothing is built before it is known what is seen
        view.column.lay_out(self._list.width)
        view.add_text(item.text)
        view.close_text()
        view.show_thought_time(item.thought_s)
        message = item.message
        if message is not None and self._finish is not None:
            self._finish(view, message)
        else:
            view.show_status(item.status)
            view.show_mark(item.mark)
            view.offer_going_on(is_offered=item.can_go_on)
        if self._are_tokens_shown and (trace := self._known_trace(item)) is not None:
            view.trace_tokens(trace)

    def _make_answer(self) -> AnswerView:
        from app.ui.message import AnswerView  # after the first paint: Markdown is not needed before

        view = AnswerView()
        view.restart_requested.connect(self.restart_requested)
        self._connect(view)
        return view

    def _connect(self, view: MessageView) -> None:
        view.link_clicked.connect(self.link_clicked)
        view.asked.connect(lambda action: self.on_asked(view, action))

    def _add(self, item: Item) -> None:
        self._list.add(item)
        self._stack.setCurrentWidget(self._area)

    def on_asked(self, view: MessageView, action: str) -> None:
        """Say which message something is wanted of."""
        if (number := self._list.number_of(view)) >= 0:
            self.asked.emit(number, action)

    def rebuild(self) -> None:
        """Measure and draw everything anew, as after the size of the font has changed."""
        self._list.rebuild()

    # --- following ------------------------------------------------------------------------------------

    @property
    def is_following(self) -> bool:
        """Whether the view stays at the end while text arrives."""
        return self._list.is_following

    def go_to_end(self) -> None:
        """Scroll to the end and follow it from now on."""
        self._list.is_following = True
        self._list.place()
        self._place_button()

    def on_grew(self) -> None:
        """Flush with the next frame: at once, if the last one is long enough ago."""
        if not self._frame.isActive():
            wait_ms = round(1000 * (self._next_s - monotonic()))
            self._frame.start(wait_ms if wait_ms > self.frame_ms // _SLACK else 0)

    def on_frame(self) -> None:
        """Show what has arrived since the last frame."""
        if self._growing is not None:
            with self.pace.metered():
                self._growing.flush()
            self.frame_ms = self.pace.next_ms()
            self._next_s = monotonic() + self.frame_ms / 1000
            if self._growing.needs_flush:
                self._frame.start(self.frame_ms)

    def on_scrolled(self, value: int) -> None:
        """Follow the end only while the person is there."""
        self._list.note_scrolled(value, _NEAR_END_PX)

    def _place_button(self) -> None:
        self._to_end.setVisible(not self._list.is_following and bool(self._list.items))
        size = self._to_end.sizeHint()
        area = self._page.geometry()
        self._to_end.setGeometry(
            area.right() - size.width() - GRID, area.bottom() - size.height() - GRID, size.width(), size.height()
        )
        self._to_end.raise_()

    # --- finding --------------------------------------------------------------------------------------

    def texts(self) -> list[str]:
        """The text of every message."""
        return [item.view.text if item.view is not None else item.text for item in self._list.items]

    def read_seen(self, number: int) -> Generator[None, None, tuple[str, ...]]:
        """Return what is seen of each block of a message, in small letters; pause now and then."""
        return self._list.read_seen(number)

    def shows(self, number: int, words: str) -> bool:
        """Whether a text is seen in a message."""
        return any(words.lower() in part for part in self._seen(number))

    def _seen(self, number: int) -> tuple[str, ...]:
        reading = self.read_seen(number)
        while True:
            try:
                next(reading)
            except StopIteration as end:
                return tuple(end.value)

    def show_found(self, query: str) -> None:
        """Mark every place where a text stands; "" takes the marks away."""
        self._query = query
        for view in self.views:
            view.column.show_found(query)

    def go_to_message(self, number: int, hit: int = -1) -> None:
        """Scroll to a message, or to the ``hit``-th place in it where what is searched for stands."""
        self._list.go_to(number, self._place_of(number, hit) if hit >= 0 and self._query else None)

    def _place_of(self, number: int, hit: int) -> tuple[int, int] | None:
        for block, part in enumerate(self._seen(number)):
            here = part.count(self._query.lower())
            if hit < here:
                return block, hit
            hit -= here
        return None

    def focus_message(self, step: int) -> None:
        """Move the keyboard from message to message, up (-1) or down (1)."""
        self._list.focus(step)


def _question(text: str) -> QuestionView:
    from app.ui.message import QuestionView  # after the first paint, like answers

    return QuestionView(text)
