"""The dialog of the prompt: the text that the model is given, its size, and the template that makes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.ui.dialog_size import fit, without_default
from app.ui.said import said
from app.ui.theme import GRID, code_font, named, number_font, text_font
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.protocol import Rendered

_PAUSE_MS = 600
MOST_SHOWN, MOST_IN_LINES = 400_000, 40_000
"""Characters of a prompt that are shown: from its beginning and its end; the second where its lines are endless."""

ENDLESS_LINE = 5_000
"""Laying out a line takes time with the square of its length."""


def size_words(n_tokens: int, n_ctx: int) -> str:
    """Say how long a prompt is."""
    if not n_tokens:
        return tr("Far more tokens than the context of {n_ctx:,} holds.").format(n_ctx=n_ctx)
    if n_ctx and n_tokens >= n_ctx:
        return tr("{n_tokens:,} tokens: more than the context of {n_ctx:,} holds.").format(
            n_tokens=n_tokens, n_ctx=n_ctx
        )
    return tr("{n_tokens:,} of {n_ctx:,} tokens").format(n_tokens=n_tokens, n_ctx=n_ctx)


def shortened(prompt: str) -> str:
    """Leave out the middle of a prompt that is too long to be shown."""
    longest = max(map(len, prompt.split("\n")))
    most = MOST_IN_LINES if longest > ENDLESS_LINE else MOST_SHOWN
    if len(prompt) <= most:
        return prompt
    half = most // 2
    left_out = tr("\n\n[… {n_prompt:,} characters are not shown …]\n\n").format(n_prompt=len(prompt) - 2 * half)
    return prompt[:half] + left_out + prompt[-half:]


class PromptDialog(QDialog):
    """Shows the prompt and the template; says what is typed, read or reset."""

    template_changed = Signal(str)
    reset_requested = Signal()
    file_chosen = Signal(Path)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Prompt and template"))
        fit(self, 760, 720)
        self._own = ""
        self.size_line = QLabel(tr("Being rendered…"))
        self.size_line.setFont(number_font())
        self.prompt = QPlainTextEdit(readOnly=True)
        self.prompt.setAccessibleName(tr("Prompt"))
        self.notices = named(QLabel(wordWrap=True), "error")
        self.about = named(QLabel(wordWrap=True), "muted")
        self.template = QPlainTextEdit()
        self.template.setAccessibleName(tr("Chat template"))
        self.template.setTabChangesFocus(True)
        self.copy_own = QPushButton(tr("Start from the model's &own"))
        self.load = QPushButton(tr("Read from a &file…"))
        self.reset = QPushButton(tr("&Reset"))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        for text in (self.prompt, self.template):
            text.setFont(code_font(-0.5))
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.flush)
        self.template.textChanged.connect(self._pause.start)
        self.copy_own.clicked.connect(self.on_copy_own)
        self.load.clicked.connect(self.on_load)
        self.reset.clicked.connect(self.reset_requested)
        self.buttons.rejected.connect(self.reject)
        self._build()
        without_default(self)
        self.notices.hide()

    def _build(self) -> None:
        upper, lower = QWidget(), QWidget()
        column = QVBoxLayout(upper)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(_heading(tr("The conversation as the model gets it")))
        column.addWidget(self.size_line)
        column.addWidget(self.prompt, 1)
        column.addWidget(self.notices)
        column = QVBoxLayout(lower)
        column.setContentsMargins(0, GRID, 0, 0)
        column.addWidget(_heading(tr("Chat template (Jinja)")))
        column.addWidget(self.about)
        column.addWidget(self.template, 1)
        row = QHBoxLayout()
        for button in (self.copy_own, self.load, self.reset):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.buttons)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(upper)
        splitter.addWidget(lower)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 2)
        whole = QVBoxLayout(self)
        whole.addWidget(splitter, 1)
        whole.addLayout(row)

    # --- showing --------------------------------------------------------------------------------------

    def show_model(self, name: str) -> None:
        """Say whose template it is."""
        self._model = name

    def show_template(self, text: str, *, is_own: bool) -> None:
        """Show the template that was set, or that none is."""
        self._pause.stop()
        with QSignalBlocker(self.template):
            self.template.setPlainText(text)
        self._say_whose(is_set=is_own)

    def _say_whose(self, *, is_set: bool) -> None:
        self.reset.setEnabled(is_set)
        words = (
            tr("This template is used for the model “{model}” in place of its own. Reset goes back to its own.")
            if is_set
            else tr(
                "The model “{model}” uses its own template. What is written here takes its place in the next answer."
            )
        )
        self.about.setText(words.format(model=self._model))

    def offer_own(self, template: str, *, is_override: bool) -> None:
        """Know the model's own template, for those who want to change it."""
        if not is_override:
            self._own = template
            self.template.setPlaceholderText(template[:20_000])
        self.copy_own.setEnabled(bool(self._own) and not is_override)

    def show_prompt(self, rendered: Rendered, n_ctx: int) -> None:
        """Show a prompt, how long it is, and what is to be said of it."""
        at = self.prompt.verticalScrollBar().value()
        self.prompt.setPlainText(shortened(rendered.prompt))
        self.prompt.verticalScrollBar().setValue(at)
        words = size_words(rendered.n_tokens, n_ctx)
        self.size_line.setText(words)
        self.size_line.setAccessibleName(words)
        self._tell("\n".join(f"{said(notice.message)} {said(notice.hint)}".strip() for notice in rendered.notices))

    def show_refusal(self, words: str) -> None:
        """Say why there is no prompt, or no template."""
        self.size_line.setText("")
        self._tell(words)

    def _tell(self, words: str) -> None:
        self.notices.setText(words)
        self.notices.setVisible(bool(words))

    # --- what the person does -------------------------------------------------------------------------

    def flush(self) -> None:
        """Tell what is typed."""
        self._pause.stop()
        text = self.template.toPlainText()
        self._say_whose(is_set=bool(text.strip()))
        self.template_changed.emit(text)

    def on_copy_own(self) -> None:
        """Begin with the model's own template."""
        self.template.setPlainText(self._own)
        self.template.setFocus()

    def on_load(self) -> None:
        """Ask for a file with a template."""
        dialog = QFileDialog(self, tr("Read a chat template"))
        dialog.setNameFilters([tr("Templates (*.jinja *.jinja2 *.j2 *.txt)"), tr("All files (*)")])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda name: self.file_chosen.emit(Path(name)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def done(self, result: int) -> None:
        """Take what is typed and not told yet, then close."""
        if self._pause.isActive():
            self.flush()
        super().done(result)


def _heading(words: str) -> QLabel:
    label = QLabel(words)
    label.setFont(text_font(bold=True))
    return label
