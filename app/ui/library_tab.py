"""Library: what is on this computer, what drafts for it, and what to do with a file."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.models.library import BrokenFile, Contents, LibraryEntry
from app.models.removal import owner_words
from app.ui.model_words import source_words
from app.ui.pair_card import PairCard
from app.ui.said import said
from app.ui.theme import GRID, named, number_font
from app.ui.tr import tr
from app.ui.tree_rows import RIGHT, VALUE, choose, heading, rows_of, set_up
from app.ui.wording import bytes_words, tip

if TYPE_CHECKING:
    from app.host.judging import Shown

NOTHING = tr("Choose a model on the left to see what can draft for it, and what both take.")


class _Files(QTreeWidget):
    """The list: Enter loads, Del deletes."""

    delete_pressed = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete on Del."""
        if event.key() == Qt.Key.Key_Delete:
            self.delete_pressed.emit()
        else:
            super().keyPressEvent(event)


class LibraryTab(QWidget):
    """Files on the left; on the right what can draft for the chosen model."""

    chosen = Signal(object)  # a LibraryEntry, a BrokenFile or None
    load_requested = Signal()
    draft_requested = Signal()
    reveal_requested = Signal()
    delete_requested = Signal()
    folder_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.tree = _Files()
        self.card = PairCard(NOTHING)
        self.use_as_draft = QPushButton(tr("&Use as drafter"))
        self.reveal = QPushButton(tr("Show in &folder"))
        self.delete = QPushButton(tr("D&elete…"))
        self.folder = QPushButton(tr("Open models folder"))
        self.disk = named(QLabel(wordWrap=True), "muted")
        self.disk.setTextFormat(Qt.TextFormat.PlainText)
        self._sections = tuple(
            map(heading, (tr("Models"), tr("Only for drafting"), tr("Broken: cannot be loaded"), tr("Not for chat")))
        )
        self._drafters: frozenset[str] = frozenset()
        self._contents: Contents | None = None
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self._connect()
        self._set_up_tree()
        self._build()
        self._enable()

    def _connect(self) -> None:
        self.tree.currentItemChanged.connect(self.on_current)
        self.tree.itemActivated.connect(lambda: self.load_requested.emit())
        self.tree.delete_pressed.connect(self.on_delete)
        self.use_as_draft.clicked.connect(self.draft_requested)
        self.reveal.clicked.connect(self.reveal_requested)
        self.delete.clicked.connect(self.delete_requested)
        self.folder.clicked.connect(self.folder_requested)
        self.use_as_draft.setToolTip(tr("Let this model draft for the one that answers now."))

    def _set_up_tree(self) -> None:
        tree = self.tree
        set_up(tree, tr("Models on this computer"), [tr("Name"), tr("Size"), tr("Type"), tr("From")])
        tree.addTopLevelItems(list(self._sections))
        for section in self._sections:
            section.setFirstColumnSpanned(True)
            section.setExpanded(True)
            section.setHidden(True)

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        for button in (self.use_as_draft, self.reveal, self.delete):
            row.addWidget(button)
        row.addStretch(1)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.tree, 1)
        column.addLayout(row)
        split = self.split
        split.setChildrenCollapsible(False)
        split.addWidget(left)
        split.addWidget(self.card)
        split.setSizes([480, 480])
        self.disk.setFont(number_font(-0.5))
        foot = QHBoxLayout()
        foot.addWidget(self.disk, 1)
        foot.addWidget(self.folder)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(GRID, GRID, GRID, GRID)
        outer.setSpacing(GRID)
        outer.addWidget(split, 1)
        outer.addLayout(foot)

    # --- what is shown --------------------------------------------------------------------------------

    def show_library(self, shown: Shown, loaded: frozenset[str]) -> None:
        """List what is there; ``loaded`` are the names of what is in use. What was chosen stays chosen."""
        contents, before = shown.contents, self.current
        is_same, self._contents = contents == self._contents, contents
        self._drafters = frozenset(entry.name for entry in contents.drafters)
        with QSignalBlocker(self.tree):
            for section, rows in zip(
                self._sections,
                (
                    [_entry_row(entry, is_loaded=entry.name in loaded) for entry in contents.models],
                    [_entry_row(entry, is_loaded=entry.name in loaded) for entry in contents.drafters],
                    [_broken_row(file, tr("broken")) for file in contents.broken],
                    [_broken_row(file, tr("not for chat")) for file in contents.others],
                ),
                strict=True,
            ):
                section.takeChildren()
                section.addChildren(rows)
                section.setHidden(not rows)
                section.setExpanded(True)
        n = sum(map(len, (contents.models, contents.drafters, contents.broken, contents.others)))
        self.disk.setText(
            tr("%n file(s), {all} in all; {free} free on the disk of {folder}", None, n).format(
                all=bytes_words(shown.n_bytes),
                free=bytes_words(shown.n_free_bytes),
                folder=shown.folder,
            )
        )
        self._choose(before, quietly=is_same)
        self._enable()

    def _choose(self, before: LibraryEntry | BrokenFile | None, *, quietly: bool) -> None:
        """Choose what was chosen; where nothing has changed, what is shown of it stays as it is."""
        rows = [row for section in self._sections for row in rows_of(section)]
        path = before.path if before is not None else None
        row = next((row for row in rows if row.data(0, VALUE).path == path), None)
        with QSignalBlocker(self.tree) if quietly and row is not None else nullcontext():
            choose(self.tree, row or next(iter(rows), None))

    # --- what is chosen -------------------------------------------------------------------------------

    @property
    def current(self) -> LibraryEntry | BrokenFile | None:
        """What is chosen, None for a heading."""
        item = self.tree.currentItem()
        return item.data(0, VALUE) if item is not None else None

    @property
    def is_drafter(self) -> bool:
        """Whether what is chosen can only draft."""
        chosen = self.current
        return isinstance(chosen, LibraryEntry) and chosen.name in self._drafters

    def on_current(self) -> None:
        """Report another choice."""
        self._enable()
        self.chosen.emit(self.current)

    def on_delete(self) -> None:
        """Delete on Del, where the button would."""
        if self.delete.isEnabled():
            self.delete_requested.emit()

    def _enable(self) -> None:
        chosen = self.current
        self.use_as_draft.setEnabled(isinstance(chosen, LibraryEntry))
        self.reveal.setEnabled(chosen is not None)
        self.delete.setEnabled(chosen is not None and chosen.source == "folder")
        words = tr("Move it to the trash (Del)")
        if chosen is not None and chosen.source == "starter":
            words = tr("The starter comes with the program.")
        elif chosen is not None and chosen.source != "folder":
            words = tr("It belongs to {owner_words}: delete it there.").format(owner_words=owner_words(chosen.source))
        self.delete.setToolTip(words)
        self.delete.setAccessibleDescription(words)


def _entry_row(entry: LibraryEntry, *, is_loaded: bool) -> QTreeWidgetItem:
    source = tr("{source_words}, loaded").format(source_words=source_words(entry)) if is_loaded else source_words(entry)
    row = QTreeWidgetItem([entry.name, bytes_words(entry.n_bytes), entry.quantisation, source])
    row.setTextAlignment(1, RIGHT)
    row.setToolTip(0, tip(f"{entry.path}\n{entry.architecture}, {entry.quantisation}"))
    row.setData(0, VALUE, entry)
    return row


def _broken_row(file: BrokenFile, what: str) -> QTreeWidgetItem:
    row = QTreeWidgetItem([file.path.name, "", what, source_words(file)])
    row.setToolTip(0, tip(f"{file.path}\n{said(file.reason)}"))
    row.setData(0, VALUE, file)
    return row
