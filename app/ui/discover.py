"""Discover: matched pairs that this computer can run first, and whatever the hub has below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSplitter,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.models.recommendation import standing_of
from app.ui.model_words import machine_words, standing_words
from app.ui.pair_card import PairCard
from app.ui.theme import GRID, named, text_font
from app.ui.tr import tr
from app.ui.tree_rows import RIGHT, VALUE, choose, heading, rows_of, set_up
from app.ui.wording import bytes_words, tip

if TYPE_CHECKING:
    from app.host.judging import Card
    from app.host.offers import Listing, Model
    from app.models.memory import Room
    from app.models.remote import FoundModel

CONTEXT_FACTOR = 1.1
"""What a model takes besides its file, before its header is known: a short context, and what evaluates it."""

SEARCH, STOP = tr("Search the &hub"), tr("Stop t&he search")

NOTHING = tr("Choose a pair on the left to see whether it fits this computer, and what it takes.")


class Chosen(NamedTuple):
    """What is chosen on the left: a curated pair, a repository of the hub, or one model of it."""

    kind: Literal["pair", "repository", "model"]
    card: Card | None = None
    found: FoundModel | None = None
    listing: Listing | None = None
    model: Model | None = None


class DiscoverTab(QWidget):
    """The list on the left, the card on the right."""

    chosen = Signal(object)  # a Chosen, or None
    search_requested = Signal(str)
    listing_requested = Signal(object)  # the FoundModel whose files are wanted
    stop_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.entry = QLineEdit(
            placeholderText=tr("Filter the pairs; Enter searches the hub (words, org/name or address)")
        )
        self.entry.setAccessibleName(tr("Search for models"))
        self.entry.setClearButtonEnabled(True)
        for button in self.entry.findChildren(QToolButton):
            button.setAccessibleName(tr("Clear the search"))
        self.search = QPushButton(SEARCH)
        self._is_asking = False
        self.machine = named(QLabel(), "muted")
        self.tree = QTreeWidget()
        self.words = named(QLabel(wordWrap=True), "muted")
        for label in (self.machine, self.words):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.card = PairCard(NOTHING)
        self._room: Room | None = None
        self._pairs = heading(tr("Matched pairs, for this computer"))
        self._hub = heading(tr("On the hub"))
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self._connect()
        self._set_up_tree()
        self._build()

    def _connect(self) -> None:
        self.entry.textChanged.connect(self.on_filter)
        self.entry.returnPressed.connect(self.on_search)
        self.search.clicked.connect(self.on_button)
        self.tree.currentItemChanged.connect(lambda: self.chosen.emit(self.current))
        self.tree.itemExpanded.connect(self.on_expanded)
        self.tree.itemActivated.connect(self.on_activated)

    def _set_up_tree(self) -> None:
        tree = self.tree
        set_up(tree, tr("Pairs and repositories"), [tr("Name"), tr("Size"), tr("For this computer")])
        tree.addTopLevelItems([self._pairs, self._hub])
        self._pairs.setExpanded(True)
        self._hub.setExpanded(True)
        self._hub.setHidden(True)

    def _build(self) -> None:
        first = QHBoxLayout()
        first.setSpacing(GRID)
        first.addWidget(self.entry, 1)
        first.addWidget(self.search)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self.tree, 1)
        column.addWidget(self.words)
        self.words.hide()
        split = self.split
        split.setChildrenCollapsible(False)
        split.addWidget(left)
        split.addWidget(self.card)
        split.setSizes([480, 480])
        self.machine.setFont(text_font(-0.5))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(GRID, GRID, GRID, GRID)
        outer.setSpacing(GRID)
        outer.addLayout(first)
        outer.addWidget(self.machine)
        outer.addWidget(split, 1)

    # --- what is shown --------------------------------------------------------------------------------

    def show_catalog(self, cards: Sequence[Card], room: Room) -> None:
        """List the curated pairs; what was chosen stays chosen."""
        self._room = room
        self.machine.setText(machine_words(room))
        before = self.current
        with QSignalBlocker(self.tree):
            self._pairs.takeChildren()
            for card in cards:
                self._pairs.addChild(_pair_row(card))
            self.on_filter(self.entry.text())
            at = next((i for i, card in enumerate(cards) if _is_same(card, before)), None)
            if at is not None:
                choose(self.tree, self._pairs.child(at))
        if before is None:
            choose(self.tree, self._pairs.child(0))

    def show_found(self, words: str, found: Sequence[FoundModel]) -> None:
        """List what the hub has; rows open to their files."""
        self._hub.takeChildren()
        self._hub.setText(0, tr("On the hub: “{words}”").format(words=words))
        for one in found:
            gate = tr("terms to accept") if one.is_gated else one.licence
            row = QTreeWidgetItem([one.repo, "", gate])
            row.setData(0, VALUE, Chosen("repository", found=one))
            row.setToolTip(
                0,
                tip(
                    tr("{repo}\n{n_downloads:,} downloads, licence {licence}").format(
                        repo=one.repo, n_downloads=one.n_downloads, licence=one.licence or tr("not named")
                    )
                ),
            )
            row.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
            self._hub.addChild(row)
        self._hub.setHidden(False)
        self._hub.setExpanded(True)
        n = len(found)
        self.say(
            ""
            if n
            else tr("The hub has nothing with GGUF models called “{words}”. Try fewer words.").format(words=words)
        )
        if n:
            choose(self.tree, self._hub.child(0))
            self.tree.scrollToItem(self._hub)

    def show_listing(self, found: FoundModel, listing: Listing) -> None:
        """List the models of a repository below its row, and choose the one that llama.cpp would take."""
        row = self._row_of(found)
        if row is None:
            return
        with QSignalBlocker(self.tree):
            row.takeChildren()
            for model in listing.models:
                child = QTreeWidgetItem([model.tag, bytes_words(model.item.n_bytes), self._standing(model)])
                child.setToolTip(0, tip(model.item.title))
                child.setTextAlignment(1, RIGHT)
                child.setData(0, VALUE, Chosen("model", found=found, listing=listing, model=model))
                row.addChild(child)
            row.setExpanded(True)
        if listing.models and self.tree.currentItem() is row:
            choose(self.tree, row.child(listing.preferred))

    def _standing(self, model: Model) -> str:
        """Tell about how a file stands with this computer: its size and something for the context."""
        if self._room is None:
            return ""
        standing = standing_of(int(model.item.n_bytes * CONTEXT_FACTOR), self._room)
        return standing_words(standing, is_here=False, is_recommended=False)

    def say(self, words: str) -> None:
        """Say something below the list."""
        self.words.setText(words)
        self.words.setVisible(bool(words))

    # --- what is chosen -------------------------------------------------------------------------------

    @property
    def current(self) -> Chosen | None:
        """What is chosen, None for a heading."""
        item = self.tree.currentItem()
        return item.data(0, VALUE) if item is not None else None

    def on_filter(self, text: str) -> None:
        """Show the pairs whose title has all the words."""
        words = text.lower().split()
        n = 0
        for row in rows_of(self._pairs):
            is_meant = all(word in row.text(0).lower() for word in words)
            row.setHidden(not is_meant)
            n += is_meant
        self._pairs.setHidden(not n)
        if self._hub.isHidden():  # else the words are about what the hub has
            self.say("" if n else tr("No matched pair is called so. Enter searches the hub."))

    def on_search(self) -> None:
        """Search the hub for what is written."""
        if words := self.entry.text().strip():
            self.search_requested.emit(words)
        else:
            self.say(tr("Write what to look for first, such as: qwen3 8b"))
            self.entry.setFocus()

    def on_button(self) -> None:
        """Search, or stop what the hub is asked for."""
        if self._is_asking:
            self.stop_requested.emit()
        else:
            self.on_search()

    def show_asking(self, *, is_asking: bool) -> None:
        """Let the button stop the question while the hub is asked, and search again afterwards."""
        self._is_asking = is_asking
        self.search.setText(STOP if is_asking else SEARCH)

    def on_expanded(self, row: QTreeWidgetItem) -> None:
        """Ask for the files of a repository when its row is opened."""
        chosen: Chosen | None = row.data(0, VALUE)
        if chosen is not None and chosen.found is not None and row.childCount() == 0:
            self.listing_requested.emit(chosen.found)

    def on_activated(self, row: QTreeWidgetItem) -> None:
        """Open a repository; of anything else go to what can be done with it."""
        chosen: Chosen | None = row.data(0, VALUE)
        if chosen is None or chosen.kind == "repository":
            row.setExpanded(True)
        elif not self.card.get.isHidden():
            self.card.get.setFocus()
        elif not self.card.load.isHidden():
            self.card.load.setFocus()

    def _row_of(self, found: FoundModel) -> QTreeWidgetItem | None:
        return next((row for row in rows_of(self._hub) if row.data(0, VALUE).found.repo == found.repo), None)


def _pair_row(card: Card) -> QTreeWidgetItem:
    pair = card.ranked.pair
    sizes = [file.n_bytes for model in (pair.target, pair.draft) if model is not None for file in model.files]
    size = (
        bytes_words(sum(n or 0 for n in sizes))
        if None not in sizes
        else tr("~{memory_bytes:.0f} GB").format(memory_bytes=pair.memory_bytes / 1e9)
    )
    standing = standing_words(card.ranked.standing, is_here=card.is_here, is_recommended=card.ranked.is_recommended)
    row = QTreeWidgetItem([pair.title, size, standing])
    row.setTextAlignment(1, RIGHT)
    row.setToolTip(0, tip(f"{pair.title}\n{pair.note}" if pair.note else pair.title))
    row.setData(0, VALUE, Chosen("pair", card=card))
    if card.ranked.is_recommended:
        for column in range(3):
            row.setFont(column, text_font(bold=True))
    return row


def _is_same(card: Card, before: Chosen | None) -> bool:
    return before is not None and before.card is not None and before.card.ranked.pair.id == card.ranked.pair.id
