"""What can be done with a message that was said: say it otherwise, answer it again, go to an alternative.

Nothing is written over: what was said before stays as an alternative, with all that followed it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.chat.conversation import can_go_on
from app.ui.composing import Editing
from app.ui.remote_words import ASK_AGAIN, NO_GOING_ON
from app.ui.sending import EDIT_NOT_SAVED
from app.ui.told import Told
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.chat.conversation import Message
    from app.ui.answering import Answering
    from app.ui.chats import Chats
    from app.ui.main_window import MainWindow

BUSY = tr("An answer is being written.")
COMPLETE = tr("The newest answer is complete.")


MOST_EDITED_CHARS = 1_000_000
"""Longer ones would hold the window up for seconds."""
TOO_LONG = tr("This message is too long to be changed here.")


class Branching(QObject):
    """Does what the rows below the messages ask for."""

    def __init__(self, window: MainWindow, chats: Chats, answering: Answering) -> None:
        super().__init__(window)
        self._window, self._chats, self._answering = window, chats, answering
        window.transcript.asked.connect(self.on_asked)
        window.composer.edited.connect(self.on_edited)

    def on_asked(self, number: int, action: str) -> None:
        """Do it, if it can be done now."""
        if self._answering.is_busy:
            self._window.notice.say("info", BUSY, tr("Stop it first (Esc), or wait for its end."), expires_s=6)
            return
        message = self._message(number)
        if message is None:
            self._window.notice.say(
                "warning", tr("This message is not saved yet."), tr("Try again in a moment."), expires_s=6
            )
        elif action == "edit" and len(message.text) > MOST_EDITED_CHARS:
            self._window.notice.say("info", TOO_LONG, tr("Copy it, and change it in a text editor."), expires_s=8)
        elif action == "edit":
            self._edit(number, message, message.text)
        elif action == "regenerate":
            self.answer_again(number)
        elif action == "go_on":
            self.go_on(number)
        elif action in ("earlier", "later"):
            self.switch(number, -1 if action == "earlier" else 1)

    def _message(self, number: int) -> Message | None:
        shown = self._chats.shown
        return shown[number] if number < len(shown) and shown[number].id else None

    def answer_again(self, number: int) -> None:
        """Let the model answer once more; the answer that is there stays as an alternative."""
        message = self._message(number)
        if message is None or not self._answering.is_ready() or not self._chats.can_branch():
            return
        self._chats.cut(number)
        self._answering.begin(self._chats.begin_answer(message.id))

    def go_on(self, number: int) -> None:
        """Let an answer that stopped go on where it did; where something follows it, as an alternative."""
        message = self._message(number)
        if message is None or not can_go_on(message):
            return
        if self._answering.is_remote:
            self._window.notice.say("info", NO_GOING_ON, ASK_AGAIN, expires_s=8)
            return
        if not self._answering.is_ready() or not self._chats.can_branch():
            return
        with Told(self._window.notice, tr("The answer cannot go on.")):
            self._answering.begin(self._chats.go_on(number))

    def go_on_with_last(self) -> None:
        """Let the newest answer go on, if it stopped before its end."""
        shown = self._chats.shown
        if shown and can_go_on(shown[-1]):
            self.on_asked(len(shown) - 1, "go_on")
        else:
            self._window.notice.say("info", COMPLETE, tr("Ask something, or answer again."), expires_s=6)

    def switch(self, number: int, step: int) -> None:
        """Go to the alternative before or after, and to what followed it."""
        message, current = self._message(number), self._chats.current
        if message is None or current is None:
            return
        others = current.alternatives.get(message.id, ())
        at = others.index(message.id) + step if message.id in others else -1
        if not 0 <= at < len(others) or not self._chats.can_branch():
            return
        with Told(self._window.notice, tr("The alternative could not be opened.")):
            self._chats.store.branches.switch(others[at])
            self._chats.reload()
            self._window.transcript.go_to_message(number)

    def on_edited(self, number: int, text: str) -> None:
        """Take what a message is to say instead; a question is answered anew."""
        message = self._message(number)
        composer = self._window.composer
        if message is None:  # what was written is a draft like any other
            composer.editor.setPlainText("\n\n".join(part for part in (composer.draft, text) if part))
            return
        if self._answering.is_busy:
            self._edit(number, message, text)
            self._window.notice.say("info", BUSY, tr("Stop it first (Esc), or wait for its end."), expires_s=6)
            return
        if not self._chats.can_branch():
            self._edit(number, message, text)
            return
        if message.role == "user" and self._chats.sending.can_edit_aside(message):
            put_back = partial(self._edit, number, message, text)
            self._answering.begin_behind(self._chats.sending.edit(message, text, put_back))
            return
        is_kept = False
        with Told(self._window.notice, EDIT_NOT_SAVED):
            self._chats.unsent.take_edit(message.id, text, keep_following=message.role == "assistant")
            is_kept = True
            self._chats.reload()
            if message.role == "assistant":
                self._window.transcript.go_to_message(number)
            elif self._answering.is_ready():
                self._answering.begin(self._chats.begin_answer())
        if not is_kept:
            self._edit(number, message, text)

    def _edit(self, number: int, message: Message, text: str) -> None:
        """Let a message be changed from what it is to say so far."""
        editing = Editing(number, message.id, message.text)
        self._window.composer.begin_edit(editing, text, is_answer=message.role == "assistant")
