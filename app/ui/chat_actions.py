"""What can be done with conversations and messages, for the window's list of actions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence

from app.ui.actions import Group, WindowAction
from app.ui.local_keys import LOCAL_KEYS
from app.ui.message_foot import KEYS, MENU_WORDS
from app.ui.sidebar import EXPORTS
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.chats import Chats
    from app.ui.main_window import MainWindow
    from app.ui.message_foot import MessageAction

_NEWEST: tuple[tuple[MessageAction, str, str], ...] = (
    ("edit", tr("Edit the last message"), "Ctrl+E"),
    ("regenerate", tr("Answer again"), "Ctrl+R"),
    ("copy", tr("Copy the last message"), "Ctrl+Shift+C"),
    ("earlier", tr("Earlier alternative"), "Alt+Left"),
    ("later", tr("Later alternative"), "Alt+Right"),
)


class ChatActions(QObject):
    """Says what can be done with conversations and messages, and finds the one that is meant."""

    def __init__(self, window: MainWindow, chats: Chats) -> None:
        super().__init__(window)
        self._window, self._chats = window, chats
        window.action_list.add(*self._of_all(), *self._of_one(), *self._exports(), *self._of_messages())
        note = window.action_list.note_keys
        note(tr("Message"), [(QKeySequence(key).toString(), MENU_WORDS[action]) for key, action in KEYS.items()])
        for where, keys in LOCAL_KEYS:
            note(where, keys)

    def _of_all(self) -> tuple[WindowAction, ...]:
        window = self._window
        group: Group = "conversation"
        find, write = window.transcript.find_bar.open, window.composer.take_focus
        return (
            WindowAction("chat.new", tr("New conversation"), self._chats.new, group, ("Ctrl+N",)),
            WindowAction("chat.find", tr("Find in this conversation"), find, group, ("Ctrl+F",)),
            WindowAction("chat.search", tr("Search all conversations"), self.search, group, ("Ctrl+Shift+F",)),
            WindowAction(
                "chat.list",
                tr("Go to the list of conversations"),
                self.go_to_list,
                group,
                ("Ctrl+Shift+L",),
                in_menu=False,
            ),
            WindowAction("chat.write", tr("Write a message"), write, group, ("Ctrl+L",), in_menu=False),
            WindowAction("chat.attach", tr("Attach files…"), window.composer.choose_files, group, in_menu=False),
            WindowAction(
                "chat.escape",
                tr("Stop the answer, or leave what is open"),
                self.escape,
                group,
                ("Esc",),
                in_menu=False,
            ),
        )

    def _of_one(self) -> tuple[WindowAction, ...]:
        sidebar, offered = self._window.sidebar, self._has_current
        group: Group = "conversation"
        duplicate, delete = sidebar.duplicate_requested.emit, sidebar.delete_requested.emit
        rows = (
            ("rename", tr("Rename conversation"), self.rename, ("F2",)),
            ("pin", tr("Pin or unpin conversation"), self.pin, ("Ctrl+Shift+D",)),
            ("duplicate", tr("Duplicate conversation"), partial(self._ask, duplicate), ()),
            (
                "delete",
                tr("Delete conversation"),
                partial(self._ask, delete),
                ("Ctrl+Shift+Backspace",),
            ),
        )
        return tuple(
            WindowAction(f"chat.{name}", words, run, group, keys, is_offered=offered, in_menu=False)
            for name, words, run, keys in rows
        )

    def _exports(self) -> tuple[WindowAction, ...]:
        return tuple(
            WindowAction(
                f"chat.export.{kind}",
                tr("Export conversation as {name}…").format(name=name),
                partial(self._export, kind),
                "conversation",
                submenu=tr("Export conversation as"),
                choice=f"{name}…",
                also=tr("save"),
                is_offered=self._has_current,
            )
            for kind, name in EXPORTS.items()
        )

    def _of_messages(self) -> tuple[WindowAction, ...]:
        transcript, ask = self._window.transcript, self.ask_message
        group: Group = "message"
        return (
            *(
                WindowAction(f"message.{action}", words, partial(ask, action), group, (keys,), in_menu=False)
                for action, words, keys in _NEWEST
            ),
            WindowAction(
                "message.before",
                tr("Go to the message before"),
                partial(transcript.focus_message, -1),
                group,
                ("Alt+Up",),
                in_menu=False,
            ),
            WindowAction(
                "message.next",
                tr("Go to the next message"),
                partial(transcript.focus_message, 1),
                group,
                ("Alt+Down",),
                in_menu=False,
            ),
            WindowAction(
                "message.end", tr("Go to the newest message"), transcript.go_to_end, group, ("Ctrl+End",), in_menu=False
            ),
        )

    # --- which one ------------------------------------------------------------------------------------

    @property
    def _current_id(self) -> int:
        current = self._chats.current
        return current.id if current is not None else 0

    def _has_current(self) -> bool:
        return bool(self._current_id)

    def _export(self, kind: str) -> None:
        self._window.sidebar.export_requested.emit(self._current_id, kind)

    def _ask(self, emit: Callable[[int], object]) -> None:
        emit(self._current_id)

    # --- doing ----------------------------------------------------------------------------------------

    def search(self) -> None:
        """Show the conversations and search them."""
        self._window.sidebar.show()
        self._window.sidebar.start_search()

    def go_to_list(self) -> None:
        """Show the conversations and put the keyboard there."""
        self._window.sidebar.show()
        self._window.sidebar.take_focus()

    def rename(self) -> None:
        """Let the conversation be named that the keyboard is at, or else the open one."""
        self._window.sidebar.show()
        self._window.sidebar.edit_title(self._current_id)

    def pin(self) -> None:
        """Keep the open conversation on top, or not any more."""
        sidebar = self._window.sidebar
        sidebar.pin_requested.emit(self._current_id, not sidebar.is_pinned(self._current_id))

    def ask_message(self, action: MessageAction) -> None:
        """Do something with the message that has the keyboard, or else with the newest that offers it."""
        newest_first = reversed(self._window.transcript.views)
        for view in sorted(newest_first, key=lambda view: not view.hasFocus()):
            if action in view.foot.offered():
                view.on_asked(action)
                return

    def escape(self) -> None:
        """Close the search if that is where the keyboard is; else leave the editing, or stop the answer."""
        bar = self._window.transcript.find_bar
        if bar.field.hasFocus():
            bar.leave()
        else:
            self._window.composer.on_escape()
