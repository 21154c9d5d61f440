"""The messages of a conversation one below the other: who has a widget, who is where, and what stays put."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.ui.heights import Heights, Place
from app.ui.scroll_view import ScrollView
from app.ui.theme import GRID

if TYPE_CHECKING:
    from app.chat.conversation import Message
    from app.metrics.token_trace import TokenTrace
    from app.ui.message_view import MessageView

TEXT_WIDTH_PX = 760

_REACH = 0.5
"""So many screens above and below the one that is seen are built."""
_KEPT = 2.0
"""So many screens away they are taken down again."""
_FOOT_PX = 44
_TURNS = 6


@dataclass(slots=True, eq=False)
class Item:
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
    can_go_on: bool = False
    seen: tuple[str, tuple[str, ...]] | None = None  # its text, and what is seen of that


class MessageList(QObject):
    """Places messages in a view that scrolls.

    Attributes:
        items: the messages, oldest first.
        is_following: whether the end stays in sight.
        make: builds the view of an item.
        kept: a view that stays, however far away.
    """

    placed = Signal()

    def __init__(self, area: ScrollView, make: Callable[[Item], MessageView]) -> None:
        super().__init__(area)
        self.items: list[Item] = []
        self.is_following = True
        self.kept: MessageView | None = None
        self.width = 0
        self._make = make
        self._area, self._page = area, area.viewport()
        self._heights = Heights()
        self._is_placing = False
        self._anchor: tuple[Item, Place, int] | None = None
        area.resized.connect(self.on_resized)

    # --- messages -------------------------------------------------------------------------------------

    def add(self, item: Item) -> None:
        """Put one below; its height is guessed until it is seen."""
        self.items.append(item)
        self._heights.append(self._guess(item.text))
        self.connect_view(item)

    def connect_view(self, item: Item) -> None:
        """Hear of the height of an item's view."""
        if item.view is not None:
            item.view.setParent(self._page)
            item.view.height_changed.connect(self.on_height_changed)

    def remove(self, item: Item) -> None:
        """Take one away."""
        number = self.items.index(item)
        heights = [self._heights[n] for n in range(number + 1, len(self.items))]
        self.items.pop(number)
        self._heights.cut(number)
        for height in heights:
            self._heights.append(height)
        self.drop(item)
        self._anchor = None

    def clear(self) -> None:
        """Take all away."""
        for item in self.items:
            self.drop(item)
        self.items = []
        self._heights.cut(0)
        self._anchor, self.kept, self.is_following = None, None, True

    def number_of(self, view: MessageView) -> int:
        """The number of the message that a view shows, -1 if none."""
        return next((n for n, item in enumerate(self.items) if item.view is view), -1)

    def view_of(self, number: int) -> MessageView:
        """The view of a message, built now if need be."""
        item = self.items[number]
        if item.view is None:
            item.view = self._make(item)
            self.connect_view(item)
            item.view.show_range(0, 0)  # nothing is built before it is known what of it is seen
            self._heights.set(number, item.view.lay_out(self.width))
        return item.view

    def drop(self, item: Item) -> None:
        """Take a view down; what it says is remembered."""
        view, item.view = item.view, None
        if view is None:
            return
        if item.role == "assistant" and item.message is None:
            item.text, item.status = view.text, view.foot.words
            item.mark, item.thought_s, item.trace = view.mark, view.thought_s, view.trace  # type: ignore[attr-defined]
            item.can_go_on = view.can_go_on  # type: ignore[attr-defined]
        view.hide()
        view.setParent(None)
        view.deleteLater()

    def rebuild(self) -> None:
        """Build all views anew, but for one that is kept; what is at the top of the screen stays there."""
        here = self._anchor[0] if self._anchor is not None else None
        for number, item in enumerate(self.items):
            if item.view is None or item.view is not self.kept:
                self.drop(item)
                self._heights.set(number, self._guess(item.text))
        self._anchor = (here, Place(0, 0), GRID) if here is not None else None
        self.place()

    def _guess(self, text: str) -> int:
        columns = max(20, (self.width or TEXT_WIDTH_PX) // 7)
        return (len(text) // columns + text.count("\n") + 1) * 20 + _FOOT_PX

    # --- geometry -------------------------------------------------------------------------------------

    def on_resized(self) -> None:
        """Fit everything to the width."""
        width = min(TEXT_WIDTH_PX, self._page.width() - 2 * GRID)
        if width != self.width and width > 0:
            self.width = width
            for number, item in enumerate(self.items):
                if item.view is None:
                    self._heights.set(number, self._guess(item.text))
        self.place()

    def on_height_changed(self) -> None:
        """Put what is below where it belongs."""
        if not self._is_placing:
            self.place()

    def place(self) -> None:
        """Build what is near the screen, measure it, and put it where it belongs; keep what is read where it is."""
        if self._is_placing or self.width <= 0 or not self.items:
            return
        self._is_placing = True
        try:
            self._place_all(self._page.height())
        finally:
            self._is_placing = False
        self._note_anchor()
        self.placed.emit()

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
        left = (self._page.width() - self.width) // 2
        for number, item in self._built():
            if item.view is not None:
                item.view.setGeometry(left, self._heights.top(number) - bar.value(), self.width, self._heights[number])
                item.view.show()

    def _built(self) -> list[tuple[int, Item]]:
        return [(number, item) for number, item in enumerate(self.items) if item.view is not None]

    def _wanted_y(self, page: int) -> int:
        """How far down the screen begins: at the end, or where what was at its top is now."""
        end = max(0, self._heights.total + 2 * GRID - page)
        if self.is_following:
            return end
        if self._anchor is None:
            return min(end, self._area.verticalScrollBar().value())
        item, anchor, offset = self._anchor
        number = self.items.index(item)
        inside = item.view.place_of(anchor) if item.view is not None else anchor.into_px
        return max(0, min(end, self._heights.top(number) + inside - offset))

    def _note_anchor(self) -> None:
        """Remember what is at the top of the screen."""
        y = self._area.verticalScrollBar().value()
        number = self._heights.at(y)
        item = self.items[number]
        top = self._heights.top(number)
        inside = item.view.anchor_at(y - top) if item.view is not None else Place(0, y - top)
        place = item.view.place_of(inside) if item.view is not None else y - top
        self._anchor = item, inside, top + place - y

    def _build_near(self, y: int, page: int) -> None:
        first = self._heights.at(y - _REACH * page)
        last = self._heights.at(y + (1 + _REACH) * page)
        for number in range(first, last + 1):
            view = self.view_of(number)
            top = self._heights.top(number)
            view.show_range(y - top - _REACH * page, y - top + (1 + _REACH) * page)
            self._heights.set(number, view.lay_out(self.width))

    def _drop_far(self, y: int, page: int) -> None:
        first = self._heights.at(y - _KEPT * page)
        last = self._heights.at(y + (1 + _KEPT) * page)
        for number, item in enumerate(self.items):
            if item.view is None or first <= number <= last or item.view is self.kept:
                continue
            focus: QWidget | None = self._area.window().focusWidget()
            is_used = focus is not None and (focus is item.view or item.view.isAncestorOf(focus))
            if not is_used and not item.view.column.selection.is_anything:
                self.drop(item)

    def cut(self, number: int) -> None:
        """Take away the messages from the ``number``-th on."""
        for item in self.items[number:]:
            self.drop(item)
        del self.items[number:]
        self._heights.cut(number)
        self._anchor = None

    # --- going places ---------------------------------------------------------------------------------

    def note_scrolled(self, value: int, near_px: int) -> None:
        """Follow the end only while the person is there; build what comes near."""
        if self._is_placing or not self.items:
            return
        bar = self._area.verticalScrollBar()
        if bar.isSliderDown() or self._area.is_scrolling:
            self.is_following = value >= bar.maximum() - near_px
        else:
            self.is_following = self.is_following and value >= bar.maximum()
        self._note_anchor()
        self.place()

    def read_seen(self, number: int) -> Generator[None, None, tuple[str, ...]]:
        """Return what is seen of each block of a message, in small letters; pause now and then."""
        from app.ui.seen import seen_in  # nobody searches before the first paint

        item = self.items[number]
        text = item.view.text if item.view is not None else item.text
        if item.seen is None or item.seen[0] != text:
            blocks = tuple(item.view.column.blocks) if item.view is not None else None
            item.seen = text, (yield from seen_in(text, item.role, blocks))
        return item.seen[1]

    def go_to(self, number: int, place: tuple[int, int] | None = None) -> None:
        """Scroll to a message, or to a place in it where what is searched for stands: a block, and which in it."""
        self.is_following = False
        self._is_placing = True  # or it would be taken down again, being far from what is seen still
        try:
            view = self.view_of(number)
            into = view.column.place_found(*place) + view.column.y() if place is not None else 0
            self._heights.set(number, view.lay_out(self.width))
        finally:
            self._is_placing = False
        self._anchor = self.items[number], view.anchor_at(into), self._page.height() // 3 if place is not None else GRID
        self.place()

    def focus(self, step: int) -> None:
        """Move the keyboard from message to message, up (-1) or down (1), beginning at the one in the middle."""
        if not self.items:
            return
        here = next((n for n, item in enumerate(self.items) if item.view is not None and item.view.hasFocus()), None)
        value = self._area.verticalScrollBar().value()
        if here is None:
            here = self._heights.at(value + self._page.height() // 2) - step
        number = min(max(here + step, 0), len(self.items) - 1)
        top = self._heights.top(number) - value
        if self.items[number].view is None or top < 0 or top > self._page.height() - 4 * GRID:
            self.go_to(number)
        self.view_of(number).setFocus()
