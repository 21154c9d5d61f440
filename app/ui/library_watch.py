"""Brings what the watch of the folders tells from its thread to the window's."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal

from app.models.library import Contents, Library
from app.models.watch import INTERVAL_S, Watch


class LibraryWatch(QObject):
    """Tells what is on this computer: at the start and whenever that changes."""

    changed = Signal(object)  # Contents
    _told = Signal(object)  # from the thread

    def __init__(self, library: Library, parent: QObject, *, interval_s: float = INTERVAL_S) -> None:
        super().__init__(parent)
        self.contents = Contents()
        self._told.connect(self.on_told, Qt.ConnectionType.QueuedConnection)
        self._watch = Watch(library, self._told.emit, interval_s=interval_s)

    def start(self) -> None:
        """Begin."""
        self._watch.start()

    def look(self) -> None:
        """Look now: something is known to have changed."""
        self._watch.look()

    def on_told(self, contents: Contents) -> None:
        """Keep and report what is there."""
        self.contents = contents
        self.changed.emit(contents)

    def close(self) -> None:
        """End the thread."""
        self._watch.close()
