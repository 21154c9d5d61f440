"""What questions and answers have in common: blocks, a foot, a height for a width, and what the keyboard does."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from app.chat.visible import visible
from app.ui.column import BlockColumn
from app.ui.heights import Place
from app.ui.links import address_words
from app.ui.message_foot import KEYS, MessageAction, MessageFoot, message_menu
from app.ui.theme import GRID, colours
from app.ui.tr import tr

_MOST_LINK_CHARS = 60


def _link_words(words: str, url: QUrl) -> str:
    """Return what stands in a menu for a link: its words and where it leads, each in one short line."""
    parts = (" ".join(visible(words).split()), address_words(url))
    short = [part if len(part) <= _MOST_LINK_CHARS else f"{part[:_MOST_LINK_CHARS]}…" for part in parts if part]
    return "  ·  ".join(dict.fromkeys(short)).replace("&", "&&")


class MessageView(QWidget):
    """What questions and answers have in common: a column of blocks with a foot, and a height for a width."""

    height_changed = Signal()
    asked = Signal(str)  # a MessageAction
    link_clicked = Signal(QUrl)

    def __init__(self, name: str, actions: tuple[MessageAction, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self._is_placed = False
        self._range: tuple[float, float] | None = None
        self.column = BlockColumn(name, self)
        self.column.height_changed.connect(self._on_height)
        self.column.link_clicked.connect(self.link_clicked)
        self.column.menu_requested.connect(self.pop_up)
        self.foot = MessageFoot(actions)
        self.foot.asked.connect(self.on_asked)
        self._below = QWidget(self)
        self._below_column = QVBoxLayout(self._below)
        self._below_column.setContentsMargins(0, 0, 0, 0)
        self._below_column.setSpacing(GRID // 2)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName(name)
        self.setAccessibleDescription(
            tr("C copies, P copies plain text, E edits, R answers again, O goes on, L: links, arrows: alternatives")
        )

    @property
    def text(self) -> str:
        """The whole message as it was written."""
        return self._text

    @property
    def words(self) -> str:
        """What is copied of it: without thoughts."""
        return self.text

    def _area(self, width: int) -> tuple[int, int, int]:
        """Left, top and width of the column in a message so wide."""
        return 0, GRID, width

    def lay_out(self, width: int) -> int:
        """Be so wide; return the height that this takes."""
        left, top, inner = self._area(width)
        self._is_placed = True
        height = self.column.lay_out(inner)
        self.column.move(left, top)
        below = self._below_height(width)
        y = top + height + self._bottom_px()
        self._below.setGeometry(0, y, width, below)
        return y + below

    def _bottom_px(self) -> int:
        return GRID // 2

    def _below_height(self, width: int) -> int:
        layout = self._below_column
        layout.invalidate()
        return layout.heightForWidth(width) if layout.hasHeightForWidth() else layout.sizeHint().height()

    def show_range(self, top: float, bottom: float) -> None:
        """Have widgets for what lies between, in this message's own pixels."""
        self.column.show_range(top - self.column.y(), bottom - self.column.y())

    def anchor_at(self, y: int) -> Place:
        """Name a place in the message."""
        return self.column.anchor_at(y - self.column.y())

    def place_of(self, anchor: Place) -> int:
        """Where a place that was named is now."""
        return self.column.place_of(anchor) + self.column.y()

    def on_asked(self, action: str) -> None:
        """Copy here; everything else is for others to do."""
        if action == "copy":
            QGuiApplication.clipboard().setText(self.words)
            self.foot.say_copied()
        elif action == "copy_plain":
            QGuiApplication.clipboard().setText(self.column.selection.whole())
        else:
            self.asked.emit(action)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Do by a letter or an arrow what the buttons below do, while the message has the keyboard."""
        action = KEYS.get(Qt.Key(event.key())) if not event.modifiers() else None
        if event.key() == Qt.Key.Key_L and not event.modifiers():
            self.pop_up_links()
        elif action is not None and action in self.foot.offered():
            self.on_asked(action)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the message."""
        self.pop_up(event.globalPos())
        event.accept()

    def pop_up(self, spot: QPoint) -> None:
        """Show the menu of this message."""
        self.make_menu().popup(spot)

    def pop_up_links(self) -> None:
        """Show the links of this message, to be gone through by the arrow keys; nothing where there are none."""
        menu = self.link_menu(self)
        if menu.actions():
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.mapToGlobal(QPoint(GRID, GRID)))
        else:
            menu.deleteLater()

    def link_menu(self, parent: QWidget) -> QMenu:
        """Make the menu of the links of this message; each is asked about before it opens, as by a click."""
        menu = QMenu(tr("Links"), parent)
        for words, address in self.column.links():
            url = QUrl(address)
            entry = QAction(_link_words(words, url), menu)
            entry.triggered.connect(lambda _checked=False, u=url: self.link_clicked.emit(u))
            menu.addAction(entry)
        return menu

    def make_menu(self) -> QMenu:
        """Make the menu of this message: what is selected first, if anything is."""
        menu = message_menu(self, self.foot.offered(), self.on_asked)
        before = menu.addSeparator() if not menu.actions() else menu.actions()[0]
        selection = self.column.selection
        entries = [(tr("Select all of this message"), selection.select_all)]
        if selection.is_anything:
            entries.insert(0, (tr("Copy what is selected"), selection.copy))
        for words, do in entries:
            entry = QAction(words, menu)
            entry.triggered.connect(do)
            menu.insertAction(before, entry)
        links = self.link_menu(menu)
        if links.actions():
            menu.addMenu(links)
        return menu

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show that the keyboard is here."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show that it is not any more."""
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a bar beside the message that has the keyboard."""
        super().paintEvent(event)
        if self.hasFocus():
            QPainter(self).fillRect(0, GRID, 2, self.height() - GRID, QColor(colours().accent))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the parts to the width."""
        super().resizeEvent(event)
        self.lay_out(self.width())

    def _on_height(self) -> None:
        """Tell who places this message; without anybody it places itself."""
        if self._is_placed:
            self.height_changed.emit()
            left, top, _ = self._area(self.width())
            self.column.move(left, top)
            y = top + self.column.content_height + self._bottom_px()
            self._below.setGeometry(0, y, self.width(), self._below_height(self.width()))

    def sizeHint(self) -> QSize:
        """As tall as the text."""
        return QSize(600, self.lay_out(self.width()))
