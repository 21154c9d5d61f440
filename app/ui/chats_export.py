"""A conversation into a file of a person's choice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from app.chat import export
from app.chat.export import kind_of
from app.errors import SlipstreamError
from app.ui.told import Told
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.chat.store import ChatStore
    from app.ui.main_window import MainWindow


class ChatsExport(QObject):
    """Asks where to, and writes."""

    def __init__(self, window: MainWindow, store: ChatStore) -> None:
        super().__init__(window)
        self._window, self._store = window, store
        window.sidebar.export_requested.connect(self.export)

    def export(self, conversation_id: int, kind: str) -> None:
        """Ask where to, then write a conversation in one of the kinds of :mod:`app.chat.export`."""
        with Told(self._window.notice, tr("The conversation could not be read.")):
            name = export.file_name(self._store.load(conversation_id).title, kind_of(kind))
            dialog = QFileDialog(self._window, tr("Export conversation"), name)
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix(kind)
            dialog.fileSelected.connect(lambda path: self.write_export(conversation_id, Path(path)))
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def write_export(self, conversation_id: int, path: Path) -> None:
        """Write a conversation to a file; the ending of its name says how."""
        try:
            export.write_whole(path, export.export(self._store, [conversation_id], kind_of(path.suffix)))
        except SlipstreamError as fault:
            self._window.notice.say("error", fault.message, fault.hint)
        else:
            self._window.notice.say("info", tr("Exported to {path}.").format(path=path), expires_s=8)
