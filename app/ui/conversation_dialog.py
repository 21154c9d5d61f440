"""What a conversation sets for itself, in a dialog: pages of fields, presets above them, resets below.

It shows and asks; what that means is :class:`app.ui.conversation_control.ConversationControl`'s business. A change
counts at once, from the next answer on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.chat.chat_settings import ConversationSettings, Preset, changed_fields
from app.ui.conversation_boxes import ChoiceBox, FormatBox
from app.ui.conversation_fields import PAGES, WORDS, Field, contexts, default_of, default_words
from app.ui.dialog_size import fit, without_default
from app.ui.theme import GRID, named
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.settings import Settings

AS_PROGRAM = tr("The program's settings")
OWN = tr("Settings of its own")


class ConversationDialog(QDialog):
    """The settings of one conversation."""

    changed = Signal(str, object)  # name of a field, value or None
    reset_requested = Signal()
    preset_chosen = Signal(int)  # 0: the program's settings
    preset_action = Signal(str)  # save, rename, delete, import, export
    prompt_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Conversation settings"))
        fit(self, 640, 680)
        self.fields = {name: Field(name) for name in WORDS}
        self.presets = QComboBox()
        self.presets.setAccessibleName(tr("Preset"))
        self.more = QPushButton(tr("Presets"))
        self.actions_menu = QMenu(self.more)
        self.more.setMenu(self.actions_menu)
        self.tabs = QTabWidget()
        self.said = QLabel(wordWrap=True)
        self.said.hide()
        self.reset_all = QPushButton(tr("&Reset all"))
        self.prompt = QPushButton(tr("Show the &prompt…"))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._preset: int | None = None
        self._connect()
        self._build()
        without_default(self)

    def _connect(self) -> None:
        for field in self.fields.values():
            field.changed.connect(self.changed)
        if isinstance(box := self.fields["constraint"].box, FormatBox):
            box.refused.connect(self.say)
        self.presets.activated.connect(lambda index: self.preset_chosen.emit(self.presets.itemData(index) or 0))
        for name, words in (
            ("save", tr("Save these settings as a preset…")),
            ("rename", tr("Rename the preset…")),
            ("delete", tr("Delete the preset…")),
            ("import", tr("Import presets…")),
            ("export", tr("Export all presets…")),
        ):
            action = QAction(words, self.actions_menu)
            action.setData(name)
            action.triggered.connect(lambda _checked=False, n=name: self.preset_action.emit(n))
            self.actions_menu.addAction(action)
        self.reset_all.clicked.connect(self.reset_requested)
        self.prompt.clicked.connect(self.prompt_requested)
        self.buttons.rejected.connect(self.reject)

    def _build(self) -> None:
        above = QHBoxLayout()
        label = QLabel(tr("Pr&eset"))
        label.setBuddy(self.presets)
        above.addWidget(label)
        above.addWidget(self.presets, 1)
        above.addWidget(self.more)
        for page in PAGES:
            self.tabs.addTab(self._page(page), page)
        below = QHBoxLayout()
        below.addWidget(self.reset_all)
        below.addWidget(self.prompt)
        below.addStretch(1)
        below.addWidget(self.buttons)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addLayout(above)
        column.addWidget(self.tabs, 1)
        column.addWidget(self.said)
        column.addLayout(below)

    def _page(self, page: str) -> QScrollArea:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, GRID)
        column.setSpacing(GRID)
        is_filled = False
        for name, field in self.fields.items():
            if WORDS[name].page == page:
                grows = name in ("system_prompt", "constraint")
                column.addWidget(field, 1 if grows else 0)
                is_filled = is_filled or grows
        if not is_filled:
            column.addStretch(1)
        area = named(QScrollArea(), "settings")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(inner)
        return area

    # --- showing --------------------------------------------------------------------------------------

    def show_settings(self, own: ConversationSettings, settings: Settings, *, n_ctx_train: int) -> None:
        """Show what the conversation sets, and what holds where it sets nothing.

        Args:
            own: what it sets.
            settings: the program's.
            n_ctx_train: the longest context of the model that is loaded, 0 if none is.
        """
        present = [n for n in (own.n_ctx, settings.n_ctx) if n is not None]
        if isinstance(box := self.fields["n_ctx"].box, ChoiceBox):
            box.offer(contexts(n_ctx_train, *present))
        for name, field in self.fields.items():
            field.show_value(getattr(own, name), default_of(name, settings), default_words(name, settings))
        changed = [name for name in changed_fields(own) if name in WORDS]
        for index, page in enumerate(PAGES):
            n = sum(WORDS[name].page == page for name in changed)
            self.tabs.setTabText(index, f"{page} ({n})" if n else page)
        self.reset_all.setEnabled(bool(changed))

    def show_presets(self, presets: Sequence[Preset], chosen: int | None) -> None:
        """Offer presets; ``chosen`` is the one whose settings these are, 0 the program's, ``None`` neither."""
        self._preset = chosen
        with QSignalBlocker(self.presets):
            self.presets.clear()
            self.presets.addItem(AS_PROGRAM, 0)
            for preset in presets:
                self.presets.addItem(preset.name, preset.id)
            if chosen is None:
                self.presets.addItem(OWN, None)
            index = self.presets.findData(chosen) if chosen is not None else self.presets.count() - 1
            self.presets.setCurrentIndex(index)
        for action in self.actions_menu.actions():
            if action.data() in ("rename", "delete"):
                action.setEnabled(bool(chosen))
            elif action.data() == "export":
                action.setEnabled(bool(presets))

    @property
    def preset(self) -> int | None:
        """The preset whose settings are shown; 0 are the program's, ``None`` are neither."""
        return self._preset

    def show_fault(self, name: str, words: str) -> None:
        """Say what is wrong with a field; "" if nothing is."""
        self.fields[name].show_fault(words)

    def show_known(self, name: str, words: str) -> None:
        """Say what is known of a setting with this model, behind its help."""
        self.fields[name].help.setText(" ".join(part for part in (WORDS[name].help, words) if part))

    def go_to(self, name: str) -> None:
        """Put the keyboard into a field."""
        self.tabs.setCurrentIndex(PAGES.index(WORDS[name].page))
        self.fields[name].box.setFocus()

    def say(self, words: str) -> None:
        """Say how an action with presets or files ended; "" for nothing."""
        self.said.setText(words)
        self.said.setVisible(bool(words))

    def done(self, result: int) -> None:
        """Take what is typed and not told yet, then close."""
        for field in self.fields.values():
            field.flush()
        super().done(result)
