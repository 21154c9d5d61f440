"""The list of conversations, as searched for: what is found first at once, the rest page by page.

Of very many the newest are listed; the rest follow when somebody scrolls to their end or asks for more. At midnight
the list is made anew: what was *Today* is *Yesterday* then.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
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
"""So many are listed without being asked for."""
_REST_AFTER_MS = 60
_LOOK_AT_DAY_MS = 30_000
_FAILED = tr("Reading your conversations failed.")


class Listing(QObject):
    """Between the database and the list on the left.

    Attributes:
        clock: tells the time.
    """

    def __init__(self, window: MainWindow, chats: Chats) -> None:
        super().__init__(chats)
        self._window, self._chats, self._store = window, chats, chats.store
        self._page: HeadsPage | None = None
        self._query = ""  # of the page: the field may hold another one already
        self._found: list[ConversationHead] = []
        self._n_wanted = MOST_FOUND
        self.clock: Callable[[], datetime] = now
        self._at = self.clock()  # of the headings
        self.rest = QTimer(self, singleShot=True, interval=_REST_AFTER_MS)
        self.rest.timeout.connect(self.on_rest)
        self.day = QTimer(self, interval=_LOOK_AT_DAY_MS)
        self.day.timeout.connect(self.on_look_at_day)
        window.sidebar.more_requested.connect(self.on_more)

    def refresh(self) -> list[int]:
        """List the conversations anew; return the ids of those that are found at once."""
        self.rest.stop()
        self.day.start()
        sidebar, current = self._window.sidebar, self._chats.current
        with Told(self._window.notice, _FAILED):
            if sidebar.query != self._query:
                self._n_wanted = MOST_FOUND
            self._query, self._at = sidebar.query, self.clock()
            self._page = self._store.heads_page(self._query, PAGE if self._query else self._n_wanted)
            self._found = list(self._page.heads)
            sidebar.show_folders(self._store.folders.all())
            sidebar.show_heads(self._found, current.id if current is not None else None, self._at)
            self._see_to_the_rest()
            return [head.id for head in self._found]
        return []

    def _see_to_the_rest(self) -> None:
        has_more = self._page is not None and self._page.next_id is not None
        is_wanted = len(self._found) < self._n_wanted
        if has_more and is_wanted:
            self.rest.start()
        self._window.sidebar.offer_more(len(self._found) if has_more and not is_wanted else 0)

    def on_rest(self) -> None:
        """Find some more."""
        with Told(self._window.notice, _FAILED):
            self._page = self._store.heads_page(self._query, PAGE if self._query else MOST_FOUND, self._page)
            self._found += self._page.heads
            self._found.sort(key=lambda head: (head.updated_at, head.id), reverse=True)  # one heading for each period
            self._window.sidebar.show_more_heads(self._found, self._at)
            self._see_to_the_rest()

    def on_more(self) -> None:
        """List more than come without being asked for."""
        if self._page is not None and self._page.next_id is not None and not self.rest.isActive():
            self._n_wanted = len(self._found) + MOST_FOUND
            self.on_rest()

    def on_look_at_day(self) -> None:
        """List anew if it is another day: midnight has passed, or the clock was set."""
        if self.clock().astimezone().date() != self._at.astimezone().date():
            self.refresh()

    def close(self) -> None:
        """Find no more."""
        self.rest.stop()
        self.day.stop()
        self._window.sidebar.more_requested.disconnect(self.on_more)
