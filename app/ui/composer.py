"""Where a person writes: Enter sends, Shift+Enter breaks the line, Esc stops the answer.

While an answer runs, Enter puts the message in line; it is sent when the answer has ended well. A message of before can
be written anew here: sending it makes an alternative, Esc leaves it as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.chat.conversation import Attachment
from app.chat.drafts import OpenEdit
from app.errors import NotTextError
from app.ui.attaching import AttachmentBar, read_text_file
from app.ui.composer_lines import ComposerLine
from app.ui.composer_settings import SettingsButton
from app.ui.composing import Editing, MessageQueue, Waiting, joined
from app.ui.context_gauge import ContextGauge
from app.ui.long_words import put_text
from app.ui.message_editor import MessageEditor
from app.ui.theme import GRID, IconButton, colours, follow, icon, named
from app.ui.tr import tr

_DRAFT_EVERY_MS = 800
_BUTTON_PX = 34


class Composer(QFrame):
    """The message being written, with one button: *Send*, or *Stop* while an answer runs."""

    sent = Signal(str)
    stopped = Signal()
    draft_changed = Signal(str)
    draft_files_changed = Signal(tuple)
    edit_changed = Signal(int, str)  # id of the message and what it says so far; 0 when it is left
    edited = Signal(int, str)  # number of the message, what it is to say
    changed = Signal()  # text or files
    refused = Signal(str, str)  # why a file does not go with the message, and what to do

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_answering = False
        self._editing: Editing | None = None
        self._before_edit = ""
        self._held: Waiting | None = None
        self._have_files_changed = False
        self.may_send: Callable[[], bool] = lambda: True
        self.take_paths: Callable[[list[Path]], None] = self.attach
        self.editor = MessageEditor()
        self.files = AttachmentBar()
        self.gauge = ContextGauge()
        self.settings = SettingsButton()
        self.queue_line = ComposerLine(tr("Write it on"))
        self._queue = MessageQueue(self.queue_line)
        self.edit_line = ComposerLine(tr("Leave it as it is (Esc)"))
        self._attach = IconButton("attach", tr("Attach files"))
        self._attach.clicked.connect(self.choose_files)
        self._button = named(QPushButton(), "send")
        self._button.setFixedSize(_BUTTON_PX, _BUTTON_PX)
        self._button.clicked.connect(self.on_button)
        self._draft = QTimer(self, singleShot=True, interval=_DRAFT_EVERY_MS)
        self._draft.timeout.connect(self.on_draft_paused)
        self._build()
        self._connect()
        follow(self._refresh)

    def _build(self) -> None:
        self._frame = named(QFrame(), "composer")
        column = QVBoxLayout(self._frame)
        column.setContentsMargins(GRID + 2, GRID // 2, GRID // 2 + 1, GRID // 2)
        column.setSpacing(GRID // 2)
        for line in (self.queue_line, self.edit_line, self.files):
            column.addWidget(line)
        row = QHBoxLayout()
        row.setSpacing(GRID // 2)
        row.addWidget(self.editor, 1)
        row.addWidget(self._attach, 0, Qt.AlignmentFlag.AlignBottom)
        row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignBottom)
        column.addLayout(row)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(2)
        outer.addWidget(self._frame)
        below = QHBoxLayout()
        below.setContentsMargins(GRID // 2, 0, 0, 0)
        below.setSpacing(0)
        below.addWidget(self.settings)
        below.addWidget(self.gauge, 1)
        outer.addLayout(below)

    def _connect(self) -> None:
        self.editor.submitted.connect(self.on_submit)
        self.editor.stop_pressed.connect(self.on_escape)
        self.editor.focus_changed.connect(self.on_focus_changed)
        self.editor.textChanged.connect(self.on_text_changed)
        self.editor.files_given.connect(lambda paths: self.take_paths(paths))
        self.editor.long_text_given.connect(lambda text: self.files.add(Attachment(name=tr("Pasted text"), text=text)))
        self.files.changed.connect(self.on_files_changed)
        self.queue_line.withdrawn.connect(self.unqueue)
        self.edit_line.withdrawn.connect(self.end_edit)

    @property
    def text(self) -> str:
        """What is written so far."""
        return str(self.editor.toPlainText())

    @property
    def _typed(self) -> str:
        """What is written so far, or was when something else began to be sent from here."""
        return self.text if self._held is None else self._held.text

    @property
    def draft(self) -> str:
        """What is written and not sent, also while a message of before is being changed."""
        return self._typed if self._editing is None else self._before_edit

    @property
    def edit(self) -> OpenEdit | None:
        """The message that is being changed, and what it says so far."""
        return None if self._editing is None else OpenEdit(self._editing.message_id, self._typed)

    @property
    def waiting_text(self) -> str:
        """The draft, with what waits in line before it."""
        return "\n\n".join(part for part in (*self.queued, self.draft) if part)

    @property
    def waiting_files(self) -> tuple[Attachment, ...]:
        """The files of the draft, with those that wait in line before them."""
        return (*self._queue.files, *(self.files.files if self._held is None else self._held.files))

    @property
    def everything(self) -> str:
        """All words that are not sent, also those that a message of before is to have."""
        return joined(self.waiting_text, self._rewritten)

    @property
    def _rewritten(self) -> str:
        return self.text if self._editing is not None and self.text != self._editing.was else ""

    def set_text(self, text: str) -> None:
        """Put a text in place of what is there; it does not count as a change of the draft."""
        blocked = self.editor.blockSignals(True)
        put_text(self.editor, text)
        self.editor.blockSignals(blocked)
        self.editor.moveCursor(self.editor.textCursor().MoveOperation.End)
        self.editor.fit()
        self._draft.stop()
        if self._have_files_changed:
            self._draft.start()
        self._refresh()
        self.changed.emit()

    def let_enter_send(self, *, is_on: bool) -> None:
        """Let Enter send and Shift+Enter break the line, or Ctrl+Enter send and Enter break it."""
        self.editor.let_enter_send(is_on=is_on)
        self._refresh()

    def show_answering(self, *, is_answering: bool) -> None:
        """Turn the button into *Stop*, or back into *Send*."""
        self._is_answering = is_answering
        self._refresh()

    def take_focus(self) -> None:
        """Put the cursor here."""
        self.editor.setFocus()

    def show_draft(self, text: str, files: tuple[Attachment, ...]) -> None:
        """Put what is not sent of another conversation in place of what is there."""
        self._editing = None
        self.edit_line.say("")
        self.files.set_files(files)
        self.set_text(text)
        self._draft.stop()
        self._have_files_changed = False

    def flush_draft(self) -> None:
        """Report what waits for a pause in typing, now."""
        if self._draft.isActive():
            self._draft.stop()
            self.on_draft_paused()

    # --- files ----------------------------------------------------------------------------------------

    def attach(self, paths: list[Path]) -> None:
        """Let these files go with the message; say why one does not."""
        for path in paths:
            try:
                self.files.add(read_text_file(path))
            except NotTextError as fault:
                self.refused.emit(fault.message, fault.hint)

    def take_files(self) -> tuple[Attachment, ...]:
        """Return the files and have none any more."""
        files = self.files.files
        self.files.set_files(())
        return files

    def choose_files(self) -> None:
        """Ask which files are to go with the message."""
        dialog = QFileDialog(self.window(), tr("Attach files"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda names: self.take_paths([Path(name) for name in names]))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def on_files_changed(self) -> None:
        """Note that there is more or less to send."""
        self._have_files_changed = True
        self.on_text_changed()

    # --- sending --------------------------------------------------------------------------------------

    def on_submit(self) -> None:
        """Send, put in line while an answer runs, or take what was edited."""
        text = self.text.strip()
        if not (text or self.files.files) or not (self.is_editing or self.may_send()):
            return
        if self._editing is not None:
            if text:
                number, self._editing = self._editing.number, None
                self.edit_line.hide()
                self.set_text(self._before_edit)
                self.edited.emit(number, text)
                if self._editing is None:  # it could be done, and is not open again
                    self.edit_changed.emit(0, "")
        elif self._is_answering:
            self._queue.put(Waiting(text, self.take_files()))
            self.set_text("")
            self._draft.start()  # what waits is kept with the draft until it is sent
        else:
            self._draft.stop()
            self.sent.emit(text)

    def send_beside(self, text: str) -> None:
        """Send something else than what is written, which stays."""
        if not self.may_send():
            return
        with self._holding() as held:
            self.files.set_files(())
            self.set_text("")
            self.sent.emit(text)
        if held.text.strip() or held.files:  # else where it cannot be sent, it stands here now
            self.files.set_files(held.files)
            self.set_text(held.text)
            self._draft.start()

    def send_next(self) -> bool:
        """Send what is first in line, if anything is; where that is refused, all that is in line is a draft again."""
        if not self._queue:
            return False
        first = self._queue.take()
        with self._holding() as held:
            self.files.set_files(first.files)
            self.sent.emit(first.text)
        is_sent = self._is_answering
        self.files.set_files(held.files)
        self.set_text(held.text)
        if not is_sent:
            self._queue.put_back(first)
            self.unqueue()
        self._draft.start()
        return is_sent

    @contextmanager
    def _holding(self) -> Iterator[Waiting]:
        """Count what is written as not sent while something else is: it is kept in the database all that time."""
        self._held = Waiting(self.text, self.files.files)
        try:
            yield self._held
        finally:
            self._held = None

    def unqueue(self) -> None:
        """Put what is in line back into the field."""
        if not self._queue:
            return
        files, draft = self._queue.files, joined(*self._queue.texts, self.draft)
        self._queue.clear()
        for file in files:
            self.files.add(file)
        if self._editing is not None:  # what a message of before is to say is not to be mixed with it
            self._before_edit = draft
            self._draft.start()
            return
        put_text(self.editor, draft)
        self.editor.moveCursor(self.editor.textCursor().MoveOperation.End)

    @property
    def queued(self) -> tuple[str, ...]:
        """What is in line."""
        return self._queue.texts

    # --- editing --------------------------------------------------------------------------------------

    def begin_edit(self, editing: Editing, text: str, *, is_answer: bool) -> None:
        """Let a message of before be written anew; what another was to say by now becomes part of the draft.

        Args:
            editing: which.
            text: what it says so far.
            is_answer: whether the model wrote it.
        """
        if self._editing is not None and self._editing.message_id == editing.message_id:
            self.take_focus()
            return
        self.flush_draft()
        self._before_edit = joined(self.draft, self._rewritten)
        self._editing = editing
        what = (
            tr("the answer; the old one stays as an alternative")
            if is_answer
            else tr("your message; it is answered anew")
        )
        self.edit_line.say(tr("You are changing {what}.").format(what=what))
        self.set_text(text)
        self._draft.start()
        self.take_focus()

    def end_edit(self) -> None:
        """Leave the message as it was."""
        if self._editing is not None:
            self._editing = None
            self.edit_line.say("")
            self.set_text(self._before_edit)
            self.edit_changed.emit(0, "")

    def turn_edit_into_draft(self) -> None:
        """Keep what is written where the message that it was for is not there any more."""
        text = joined(self.draft, self._rewritten)
        self._editing = None
        self.edit_line.say("")
        self.set_text(text)

    @property
    def is_editing(self) -> bool:
        """Whether a message of before is being written anew."""
        return self._editing is not None

    # --- what the person does -------------------------------------------------------------------------

    def on_escape(self) -> None:
        """Leave the editing, or stop the answer."""
        if self._editing is not None:
            self.end_edit()
        else:
            self.stopped.emit()

    def on_button(self) -> None:
        """Send or stop."""
        if self._is_answering:
            self.stopped.emit()
        else:
            self.on_submit()
        self.take_focus()

    def on_text_changed(self) -> None:
        """Report the draft soon, also where typing never pauses."""
        if not self._draft.isActive():
            self._draft.start()
        self._refresh()
        self.changed.emit()

    def on_draft_paused(self) -> None:
        """Report the draft, with what waits before it, or what is being changed."""
        self.draft_changed.emit(self.waiting_text)
        if self._editing is not None:
            self.edit_changed.emit(self._editing.message_id, self.text)
        if self._have_files_changed:
            self._have_files_changed = False
            self.draft_files_changed.emit(self.waiting_files)

    def on_focus_changed(self) -> None:
        """Show by the frame that typing goes here."""
        self._frame.setProperty("active", self.editor.hasFocus())
        self._frame.style().unpolish(self._frame)
        self._frame.style().polish(self._frame)

    def _refresh(self) -> None:
        name, words = (
            ("stop", tr("Stop (Esc)"))
            if self._is_answering
            else ("send", tr("Send ({send_key})").format(send_key=self.editor.send_key))
        )
        can = self._is_answering or bool(self.text.strip() or self.files.files)
        scheme = colours()
        self._button.setEnabled(can)
        self._button.setIcon(icon(name, scheme.on_accent if can else scheme.muted))
        self._button.setToolTip(words)
        self._button.setAccessibleName(words.partition(" (")[0])
