"""Keeping conversations in order: pins, folders, copies, titles of their own; and going to what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.chat.titles import title_of
from app.ui.told import Told
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.answering import Answering
    from app.ui.chats import Chats
    from app.ui.main_window import MainWindow

NEW_FOLDER = tr("New folder")
UNDO_S = 12.0
_FIRST_EXCHANGE = 2
_ON_ANOTHER_BRANCH = tr("That message is on another branch: look for it again when the answer has ended.")


class Keeping(QObject):
    """Does what the list of conversations asks for."""

    def __init__(self, window: MainWindow, chats: Chats, answering: Answering) -> None:
        super().__init__(window)
        self._window, self._chats, self._store = window, chats, chats.store
        sidebar = window.sidebar
        sidebar.pin_requested.connect(self.pin)
        sidebar.duplicate_requested.connect(self.duplicate)
        sidebar.move_requested.connect(lambda conversation_id, folder_id: self.move([conversation_id], folder_id))
        sidebar.folder_requested.connect(self.new_folder)
        sidebar.folder_toggled.connect(self.show_folder)
        sidebar.folder_renamed.connect(self.rename_folder)
        sidebar.folder_delete_requested.connect(self.delete_folder)
        sidebar.hit_chosen.connect(self.go_to_hit)
        answering.ended.connect(self.on_answer_ended)

    def pin(self, conversation_id: int, is_pinned: bool) -> None:
        """Keep a conversation on top, or not any more."""
        with Told(self._window.notice, tr("That was not saved.")):
            self._store.pin(conversation_id, is_pinned=is_pinned)
        self._chats.refresh()

    def duplicate(self, conversation_id: int) -> None:
        """Repeat a conversation with all its branches, and open the copy."""
        with Told(self._window.notice, tr("The conversation was not duplicated.")):
            made = self._store.duplicate(conversation_id)
            self._chats.refresh()
            self._chats.open(made.id)

    def move(self, conversation_ids: list[int], folder_id: int) -> None:
        """Put conversations into a folder; 0 takes them out of any."""
        with Told(self._window.notice, tr("The conversation was not moved.")):
            self._store.move(conversation_ids, folder_id or None)
        self._chats.refresh()

    def new_folder(self, conversation_id: int) -> None:
        """Make a folder with a conversation in it, and let it be named."""
        with Told(self._window.notice, tr("The folder was not made.")):
            folder = self._store.folders.create(NEW_FOLDER)
            self._store.move([conversation_id], folder.id)
            self._chats.refresh()
            self._window.sidebar.edit_folder(folder.id)

    def show_folder(self, folder_id: int, is_open: bool) -> None:
        """Open or close a folder."""
        with Told(self._window.notice, tr("That was not saved.")):
            self._store.folders.show(folder_id, is_open=is_open)
        self._chats.refresh()

    def rename_folder(self, folder_id: int, name: str) -> None:
        """Give a folder another name."""
        with Told(self._window.notice, tr("The name was not saved.")):
            self._store.folders.rename(folder_id, name)
        self._chats.refresh()

    def delete_folder(self, folder_id: int) -> None:
        """Delete a folder; its conversations stay, and the folder can be had back."""
        with Told(self._window.notice, tr("The folder was not deleted.")):
            name = next((folder.name for folder in self._store.folders.all() if folder.id == folder_id), "")
            inside = list(self._store.folders.delete(folder_id))
            self._window.notice.say(
                "info",
                tr("The folder “{name}” was deleted. Its conversations stay.").format(name=name),
                action=(tr("Undo"), lambda: self._restore(name, inside)),
                expires_s=UNDO_S,
            )
        self._chats.refresh()

    def _restore(self, name: str, inside: list[int]) -> None:
        with Told(self._window.notice, tr("The folder could not be brought back.")):
            folder = self._store.folders.create(name)
            self._store.move(inside, folder.id)
        self._chats.refresh()

    def go_to_hit(self, conversation_id: int, message_id: int) -> None:
        """Open a conversation on the branch of a message that was found, and go there."""
        words = self._window.sidebar.query
        with Told(self._window.notice, tr("The message could not be opened.")):
            is_open = self._is_open(conversation_id)
            is_answering = self._is_answering_in(conversation_id)
            if not (is_open and is_answering) and not self._chats.can_branch():
                return
            if not is_answering:
                self._store.branches.switch(message_id)
            if not is_open:
                self._chats.open(conversation_id)
                if not self._is_open(conversation_id):
                    return  # why has been said
            elif not is_answering:
                self._chats.reload()
            number = next((n for n, m in enumerate(self._chats.shown) if m.id == message_id), None)
            if number is None:
                self._window.notice.say("info", _ON_ANOTHER_BRANCH, expires_s=8)
            else:
                term = words.strip('"').split(" ")[0].strip('"*')
                self._window.transcript.show_found(term)
                is_seen = bool(term) and self._window.transcript.shows(number, term)
                self._window.transcript.go_to_message(number, 0 if is_seen else -1)

    def _is_open(self, conversation_id: int) -> bool:
        return self._chats.current is not None and self._chats.current.id == conversation_id

    def _is_answering_in(self, conversation_id: int) -> bool:
        """Whether an answer grows in it: its branch is not to be left then."""
        growing = self._chats.growing
        if growing is None:
            return False
        current = self._chats.current
        is_here = growing.view is not None and current is not None and current.id == conversation_id
        return is_here or growing.conversation_id == conversation_id

    def on_answer_ended(self) -> None:
        """Title a conversation from its first exchange, unless a person has."""
        current = self._chats.current
        if current is None or not current.id or len(self._chats.shown) != _FIRST_EXCHANGE:
            return
        with Told(self._window.notice, tr("The title was not saved.")):
            title = title_of(current.messages)
            if self._store.suggest_title(current.id, title):
                self._window.show_title(title)
                self._chats.refresh()
