"""The list of conversations, as searched for: what is found first at once, the rest page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.chat.conversation import now
from app.ui.told import Told
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.chat.conversation import ConversationHead
    from app.chat.search import HeadsPage
    from app.ui.chats import Chats
    from app.ui.main_window import MainWindow

PAGE = 50
MOST_FOUND = 500
"""Who has so many before them searches for something narrower."""
_REST_AFTER_MS = 60
_FAILED = tr("Reading your conversations failed.")


class Listing(QObject):
    """Between the database and the list on the left."""

    def __init__(self, window: MainWindow, chats: Chats) -> None:
        super().__init__(chats)
        self._window, self._chats, self._store = window, chats, chats.store
        self._page: HeadsPage | None = None
        self._query = ""  # of the page: the field may hold another one already
        self._found: list[ConversationHead] = []
        self.rest = QTimer(self, singleShot=True, interval=_REST_AFTER_MS)
        self.rest.timeout.connect(self.on_rest)

    def refresh(self) -> list[int]:
        """List the conversations anew; return the ids of those that are found at once."""
        self.rest.stop()
        sidebar, current = self._window.sidebar, self._chats.current
        with Told(self._window.notice, _FAILED):
            self._query = sidebar.query
            self._page = self._store.heads_page(self._query, PAGE if self._query else MOST_FOUND)
            self._found = list(self._page.heads)
            sidebar.show_folders(self._store.folders.all())
            sidebar.show_heads(self._found, current.id if current is not None else None, now())
            self._see_to_the_rest()
            return [head.id for head in self._found]
        return []

    def _see_to_the_rest(self) -> None:
        if self._page is not None and self._page.next_id is not None and len(self._found) < MOST_FOUND:
            self.rest.start()

    def on_rest(self) -> None:
        """Find some more."""
        with Told(self._window.notice, _FAILED):
            self._page = self._store.heads_page(self._query, PAGE, self._page)
            self._found += self._page.heads
            self._found.sort(key=lambda head: (head.updated_at, head.id), reverse=True)  # one heading for each period
            self._window.sidebar.show_more_heads(self._found, now())
            self._see_to_the_rest()

    def close(self) -> None:
        """Find no more."""
        self.rest.stop()
