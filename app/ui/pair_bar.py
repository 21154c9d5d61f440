"""Which model answers, who drafts for it, and whether drafting is on: said in words, changed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.ui.switch import Switch
from app.ui.theme import GRID, IconButton, named, number_font, text_font
from app.ui.tr import tr
from app.ui.wording import bytes_words

if TYPE_CHECKING:
    from app.models.library import LibraryEntry

NO_DRAFTER = "\0none"
NGRAM = "\0ngram"
HEADS = "\0heads"
OPEN_FILE = "\0open"
"""Choices that are no files: no file's name can hold a null character, so a model may be called ``none``."""

_MIN_CHARS = 10


class ModelOption(NamedTuple):
    """A model that can be picked: ``name`` is what the library resolves (or a path), ``detail`` a few facts."""

    name: str
    label: str
    detail: str = ""


def option_of(entry: LibraryEntry) -> ModelOption:
    """Return how a model is offered: whose it is stands beside a name that another program gave the file."""
    is_ours = entry.source in ("starter", "folder", "file")
    label = entry.name if is_ours or entry.name.startswith(f"{entry.source}/") else f"{entry.name} ({entry.source})"
    facts = f"{entry.architecture}, {entry.quantisation}, {bytes_words(entry.n_bytes)}"
    return ModelOption(entry.name, label, f"{facts}\n{entry.path}")


class _Picker(QComboBox):
    """A list of choices and an *Open…* at its end that is not a choice but an action."""

    picked = Signal(str)
    open_requested = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(_MIN_CHARS)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._current = ""
        self.activated.connect(self.on_activated)

    def fill(self, options: Sequence[ModelOption], current: str, *, can_open: bool) -> None:
        """Offer these; ``current`` is added if it is not among them."""
        blocker = QSignalBlocker(self)
        self.clear()
        if current and all(option.name != current for option in options):
            options = [*options, ModelOption(current, _short(current), current)]
        for option in options:
            self.addItem(option.label, option.name)
            self.setItemData(self.count() - 1, option.detail, Qt.ItemDataRole.ToolTipRole)
        if can_open:
            self.insertSeparator(self.count())
            self.addItem(tr("Open a GGUF file…"), OPEN_FILE)
        self._current = current
        self._go_back()
        blocker.unblock()

    def on_activated(self, index: int) -> None:
        """Report the choice; *Open…* leaves the old choice in place until a file is chosen."""
        name = str(self.itemData(index))
        if name == OPEN_FILE:
            self._go_back()
            self.open_requested.emit()
        elif name != self._current:
            self._current = name
            self._note_detail(index)
            self.picked.emit(name)

    def _go_back(self) -> None:
        index = max(0, self.findData(self._current))
        self.setCurrentIndex(index)
        self._note_detail(index)

    def _note_detail(self, index: int) -> None:
        detail = self.itemData(index, Qt.ItemDataRole.ToolTipRole)
        self.setToolTip(f"{self.accessibleName()}: {self.itemText(index)}" + (f"\n{detail}" if detail else ""))


def _short(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2].removesuffix(".gguf")


class _ElidedLabel(QLabel):
    """A line that shortens itself at the end and shows the whole on hover."""

    def __init__(self) -> None:
        super().__init__()
        self._words = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    @property
    def words(self) -> str:
        return self._words

    def show_words(self, words: str) -> None:
        self._words = words
        self.setToolTip(words)
        self.setAccessibleName(words)
        self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def minimumSizeHint(self) -> QSize:
        return QSize(40, super().minimumSizeHint().height())

    def _elide(self) -> None:
        self.setText(self.fontMetrics().elidedText(self._words, Qt.TextElideMode.ElideRight, self.width()))


class PairBar(QWidget):
    """Target picker, drafter picker, speculation switch and its state."""

    target_picked = Signal(str)
    drafter_picked = Signal(str)
    open_target_requested = Signal()
    open_draft_requested = Signal()
    speculation_toggled = Signal(bool)
    sidebar_toggled = Signal()
    panel_toggled = Signal()
    menu_requested = Signal()
    options_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._target = _Picker(tr("Model"))
        self._drafter = _Picker(tr("Drafter"))
        self._switch = Switch(tr("Speculation"))
        self._switch.setToolTip(tr("Use the drafter for the next answer (Ctrl+K). The model is not loaded again."))
        self._state = _ElidedLabel()
        self._device = named(QLabel(), "device")
        self.sidebar_button = IconButton("sidebar", tr("Conversations (Ctrl+B)"))
        self.panel_button = IconButton("panel", tr("Speed panel (Ctrl+J)"))
        self.options_button = IconButton("options", tr("Model options (Ctrl+Shift+M)"))
        self.menu_button = IconButton("more", tr("Menu (Alt+M)"))
        self._connect()
        self._build()

    def _connect(self) -> None:
        self._target.picked.connect(self.target_picked)
        self._target.open_requested.connect(self.open_target_requested)
        self._drafter.picked.connect(self.drafter_picked)
        self._drafter.open_requested.connect(self.open_draft_requested)
        self._switch.clicked.connect(self.speculation_toggled)
        self.sidebar_button.clicked.connect(self.sidebar_toggled)
        self.panel_button.clicked.connect(self.panel_toggled)
        self.options_button.clicked.connect(self.options_requested)
        self.menu_button.clicked.connect(self.menu_requested)

    def _build(self) -> None:
        first = QHBoxLayout()
        first.setSpacing(GRID // 2)
        first.addWidget(self.sidebar_button)
        first.addWidget(self._caption(tr("Model")))
        first.addWidget(self._target, 3)
        first.addSpacing(GRID // 2)
        first.addWidget(self._caption(tr("Drafter")))
        first.addWidget(self._drafter, 2)
        first.addWidget(self.options_button)
        first.addWidget(self.menu_button)
        first.addWidget(self.panel_button)
        second = QHBoxLayout()
        second.setSpacing(GRID)
        second.addWidget(self._switch)
        second.addWidget(self._state, 1)
        second.addWidget(self._device)
        self._state.setFont(number_font())
        self._device.setFont(number_font(-0.5))
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID // 2)
        column.setSpacing(GRID // 2)
        column.addLayout(first)
        column.addLayout(second)

    def _caption(self, words: str) -> QLabel:
        label = named(QLabel(words), "caption")
        label.setFont(text_font(-0.5))
        return label

    def show_targets(self, options: Sequence[ModelOption], current: str) -> None:
        """Offer these models to chat with."""
        self._target.fill(options, current, can_open=True)

    def label_of(self, name: str) -> str:
        """Return what a model is called here, by its name in the library or its path."""
        index = self._target.findData(name)
        return str(self._target.itemText(index)) if index >= 0 else _short(name)

    def show_drafters(self, models: Sequence[ModelOption], current: str, *, has_heads: bool = False) -> None:
        """Offer no drafter, n-gram, the model's own heads if it has some, and these models to draft with."""
        fixed = [
            ModelOption(NO_DRAFTER, tr("none"), tr("Every answer is plain decoding.")),
            ModelOption(
                NGRAM, tr("n-gram"), tr("Drafts from what the conversation has already said; needs no second model.")
            ),
        ]
        if has_heads or current == HEADS:
            fixed.append(
                ModelOption(
                    HEADS, tr("MTP heads"), tr("The model drafts for itself: it was trained with heads for it.")
                )
            )
        drafts = [ModelOption(m.name, tr("draft model: {label}").format(label=m.label), m.detail) for m in models]
        if current not in {NO_DRAFTER, NGRAM, HEADS, *(m.name for m in models)}:
            drafts.append(ModelOption(current, tr("draft model: {short}").format(short=_short(current)), current))
        self._drafter.fill([*fixed, *drafts], current, can_open=True)

    def show_speculation(self, *, is_on: bool, words: str) -> None:
        """Set the switch, and say what that means now."""
        blocker = QSignalBlocker(self._switch)
        self._switch.setChecked(is_on)
        blocker.unblock()
        self._state.show_words(words)

    @property
    def speculation_words(self) -> str:
        """The state of speculation as it is said."""
        return self._state.words

    def toggle_speculation(self) -> None:
        """Flip the switch, as the shortcut does."""
        self._switch.click()

    def show_device(self, words: str) -> None:
        """Name the device."""
        self._device.setText(words)
        self._device.setVisible(bool(words))

    def enable_pickers(self, *, can_pick: bool, can_draft: bool = True) -> None:
        """Lock the pickers while a model loads or answers; the switch stays free, unless a server answers."""
        self._target.setEnabled(can_pick)
        self._drafter.setEnabled(can_pick and can_draft)
        self._switch.setEnabled(can_draft)
