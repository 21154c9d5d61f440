"""The list of conversations: search, new, rename, delete, by mouse and by keyboard.

It shows what it is given and reports what the person wants; deleting is undone through a notice elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPersistentModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.ui.theme import GRID, IconButton, named
from app.ui.tr import tr

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex
    from PySide6.QtWidgets import QMenu

    from app.chat.conversation import ConversationHead, Folder
    from app.ui.conversation_list import ConversationView, Row

EXPORTS = {"md": tr("Markdown"), "html": "HTML", "txt": tr("text"), "json": tr("JSON, with all branches")}
"""Kinds of export, and what they are called."""

_SEARCH_PAUSE_MS = 150


def _nothing_came() -> None:
    """There is nothing to show."""


class Sidebar(QWidget):
    """Conversations, newest first, by day."""

    conversation_chosen = Signal(int)
    new_requested = Signal()
    search_changed = Signal(str)
    renamed = Signal(int, str)
    delete_requested = Signal(int)
    export_requested = Signal(int, str)
    hit_chosen = Signal(int, int)  # conversation, message
    pin_requested = Signal(int, bool)
    duplicate_requested = Signal(int)
    move_requested = Signal(int, int)  # conversation, folder (0: none)
    folder_requested = Signal(int)  # a new one, with this conversation
    folder_toggled = Signal(int, bool)
    folder_renamed = Signal(int, str)
    folder_delete_requested = Signal(int)
    more_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view: ConversationView | None = None
        self._folders: tuple[Folder, ...] = ()
        self._put_off: Callable[[], None] = _nothing_came
        self._search = QLineEdit(placeholderText=tr("Search all (Ctrl+Shift+F)"))
        self._search.setAccessibleName(tr("Search conversations"))
        self._new = IconButton("plus", tr("New conversation (Ctrl+N)"))
        self._new.clicked.connect(self.new_requested)
        self._nothing = named(QLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignHCenter), "nothing")
        self._pause = QTimer(self, singleShot=True, interval=_SEARCH_PAUSE_MS)
        self._pause.timeout.connect(self.on_search_paused)
        self._search.textChanged.connect(lambda _text: self._pause.start())
        self._more = QPushButton(flat=True)
        self._more.clicked.connect(self.more_requested)
        self._more.hide()
        self._build()

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GRID // 2)
        head.addWidget(self._search, 1)
        head.addWidget(self._new)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(GRID, GRID, GRID // 2, GRID)
        self._column.setSpacing(GRID)
        self._column.addLayout(head)
        self._column.addWidget(self._nothing)
        self._column.addStretch()
        self._column.addWidget(self._more)

    def _list(self) -> ConversationView:
        """Make the list when there is something to list: its classes are not loaded before the first paint."""
        if self._view is None:
            from app.ui.conversation_list import ConversationView

            self._view = view = ConversationView()
            # Queued: whoever hears it lists anew, which must not happen while the view still holds its editor.
            view.rows.renamed.connect(self.renamed, Qt.ConnectionType.QueuedConnection)
            view.rows.folder_renamed.connect(self.folder_renamed, Qt.ConnectionType.QueuedConnection)
            view.itemDelegate().closeEditor.connect(self.on_named, Qt.ConnectionType.QueuedConnection)
            view.clicked.connect(self.on_chosen)
            view.activated.connect(self.on_chosen)
            view.delete_pressed.connect(self.on_delete)
            view.customContextMenuRequested.connect(self.on_context_menu)
            view.verticalScrollBar().valueChanged.connect(self.on_scrolled)
            stretch = self._column.count() - 2  # the button for more is below it
            self._column.insertWidget(stretch, view, 1)
            self._column.takeAt(stretch + 1)
            self._search.setClearButtonEnabled(True)  # its icon, too, can wait
        return self._view

    # --- content --------------------------------------------------------------------------------------

    def show_folders(self, folders: Sequence[Folder]) -> None:
        """Group what is listed from now on into these folders."""
        self._folders = tuple(folders)

    def edit_folder(self, folder_id: int) -> None:
        """Let a folder be named in its place."""
        index = self._list().rows.index_of_folder(folder_id)
        if index.isValid():
            self._list().setCurrentIndex(index)
            self._list().edit(index)

    def show_heads(self, heads: Sequence[ConversationHead], current_id: int | None, now: datetime) -> None:
        """Show these conversations, and which one is open; while a name is being typed, after it."""
        if self._list().is_naming:
            self._put_off = partial(self.show_heads, heads, current_id, now)
            return
        self._put_off = _nothing_came
        self._list().rows.show_heads(heads, now, () if self.query else self._folders)
        self.show_current(current_id)
        empty = tr("Nothing found.") if self.query else tr("No conversations yet. Write a message to start one.")
        self._nothing.setText(empty)
        self._nothing.setVisible(not heads)

    def show_more_heads(self, heads: Sequence[ConversationHead], now: datetime) -> None:
        """Show these conversations, of which some are shown already; while a name is being typed, none."""
        view = self._list()
        if not view.is_naming:
            top = QPersistentModelIndex(view.indexAt(QPoint(1, 1)))
            is_at_top = view.verticalScrollBar().value() == 0
            view.rows.show_heads(heads, now, () if self.query else self._folders)
            self._nothing.setVisible(not heads)
            if not is_at_top and top.isValid():  # what is read stays in its place
                view.scrollTo(view.rows.index(top.row()), view.ScrollHint.PositionAtTop)

    def offer_more(self, n_listed: int) -> None:
        """Say that there are more than these many, and offer to list them; 0: there are no more."""
        self._more.setVisible(bool(n_listed))
        self._more.setText(tr("Show more\n({n:,} listed)").format(n=n_listed))

    def show_current(self, current_id: int | None) -> None:
        """Mark the conversation that is open."""
        view = self._list()
        index = view.rows.index_of(current_id)
        if not index.isValid():
            view.clearSelection()
        view.setCurrentIndex(index)

    @property
    def query(self) -> str:
        """What is searched for."""
        return str(self._search.text()).strip()

    def titles(self) -> list[str]:
        """The titles as listed."""
        return [row.head.title for row in self._list().rows.rows if row.head is not None]

    def start_search(self) -> None:
        """Put the cursor in the search field."""
        self._search.setFocus()
        self._search.selectAll()

    def take_focus(self) -> None:
        """Put the keyboard into the list."""
        self._list().setFocus(Qt.FocusReason.ShortcutFocusReason)

    def edit_title(self, conversation_id: int) -> None:
        """Let a conversation be named in its place; the marked row instead, if the keyboard is in the list."""
        view = self._list()
        index = view.currentIndex() if view.hasFocus() else view.rows.index_of(conversation_id)
        if index.isValid():
            view.setCurrentIndex(index)
            view.edit(index)

    def is_pinned(self, conversation_id: int) -> bool:
        """Whether a conversation is kept on top."""
        row = self._row(self._list().rows.index_of(conversation_id))
        return row is not None and row.head is not None and row.head.is_pinned

    # --- what the person does -------------------------------------------------------------------------

    def on_named(self) -> None:
        """Show what came while a name was typed."""
        self._put_off()

    def on_scrolled(self, value: int) -> None:
        """Ask for more at the end of the list."""
        if not self._more.isHidden() and value >= self._list().verticalScrollBar().maximum() > 0:
            self.more_requested.emit()

    def on_search_paused(self) -> None:
        """Search once typing pauses."""
        self.search_changed.emit(self.query)

    def on_chosen(self, index: QModelIndex) -> None:
        """Open a conversation, at the message that was found if one was; open or close a folder."""
        row = self._row(index)
        if row is not None and row.folder is not None:
            self.folder_toggled.emit(row.folder.id, not row.folder.is_open)
        elif row is not None and row.head is not None:
            if row.head.message_id is not None and self.query:
                self.hit_chosen.emit(row.head.id, row.head.message_id)
            else:
                self.conversation_chosen.emit(row.head.id)

    def on_delete(self) -> None:
        """Delete the marked conversation, or the folder around its conversations."""
        row = self._row(self._list().currentIndex())
        if row is not None and row.folder is not None:
            self.folder_delete_requested.emit(row.folder.id)
        elif row is not None and row.head is not None:
            self.delete_requested.emit(row.head.id)

    def on_context_menu(self, at: QPoint) -> None:
        """Offer what can be done with one conversation."""
        index = self._list().indexAt(at)
        row = self._row(index)
        if row is None or (row.head is None and row.folder is None):
            return
        menu = self.menu_for(index, row.head.id) if row.head is not None else self._folder_menu(index, row)
        menu.popup(self._list().viewport().mapToGlobal(at))

    def menu_for(self, index: QModelIndex, conversation_id: int) -> QMenu:
        """Make the menu of one conversation."""
        from PySide6.QtGui import QAction, QKeySequence
        from PySide6.QtWidgets import QMenu

        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        rename = QAction(tr("Rename"), menu, shortcut=QKeySequence(Qt.Key.Key_F2))
        rename.triggered.connect(lambda: self._list().edit(index))
        delete = QAction(tr("Delete"), menu, shortcut=QKeySequence(Qt.Key.Key_Delete))
        delete.triggered.connect(lambda: self.delete_requested.emit(conversation_id))
        exports = {kind: QAction(tr("Export as {name}…").format(name=name), menu) for kind, name in EXPORTS.items()}
        for kind, action in exports.items():
            action.triggered.connect(lambda _on=False, kind=kind: self.export_requested.emit(conversation_id, kind))
        menu.addAction(rename)
        self._add_keeping(menu, index, conversation_id)
        menu.addAction(delete)
        menu.addSeparator()
        menu.addActions(list(exports.values()))
        return menu

    def _add_keeping(self, menu: QMenu, index: QModelIndex, conversation_id: int) -> None:
        row = self._row(index)
        head = row.head if row is not None else None
        is_pinned = head is not None and head.is_pinned
        menu.addAction(
            tr("Unpin") if is_pinned else tr("Pin"), lambda: self.pin_requested.emit(conversation_id, not is_pinned)
        )
        menu.addAction(tr("Duplicate"), lambda: self.duplicate_requested.emit(conversation_id))
        places = menu.addMenu(tr("Move to folder"))
        for folder in self._folders:
            if head is None or folder.id != head.folder_id:
                entry = places.addAction(folder.name)
                entry.triggered.connect(partial(self.move_requested.emit, conversation_id, folder.id))
        if head is not None and head.folder_id is not None:
            places.addAction(tr("Out of its folder"), lambda: self.move_requested.emit(conversation_id, 0))
        places.addAction(tr("New folder…"), lambda: self.folder_requested.emit(conversation_id))

    def _folder_menu(self, index: QModelIndex, row: Row) -> QMenu:
        from PySide6.QtWidgets import QMenu

        menu, folder_id = QMenu(self), row.folder.id if row.folder is not None else 0
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("Rename"), lambda: self._list().edit(index))
        menu.addAction(tr("Delete folder, keep conversations"), lambda: self.folder_delete_requested.emit(folder_id))
        return menu

    def _row(self, index: QModelIndex) -> Row | None:
        return self._list().rows.rows[index.row()] if index.isValid() else None
