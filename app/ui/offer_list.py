"""The ways to draft for a model, best first, those that do not fit last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, QSize, Signal
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem

from app.ui.model_words import FIT_WORDS, drafter_words, kind_words
from app.ui.tr import tr
from app.ui.tree_rows import RIGHT, choose, set_up
from app.ui.wording import bytes_words, tip

if TYPE_CHECKING:
    from app.host.offers import Offer

_LEAST_ROWS, _MOST_ROWS = 3, 6
_COLUMNS = (tr("Drafted by"), tr("Fit"), tr("Where"), tr("Memory"))


class OfferList(QTreeWidget):
    """A list of offers; one is current."""

    picked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        set_up(self, tr("Ways to draft, the best first"), _COLUMNS)
        self.setRootIsDecorated(False)
        self.currentItemChanged.connect(lambda: self.picked.emit(self.index))

    @property
    def index(self) -> int:
        """Which offer is current, -1 if none."""
        item = self.currentItem()
        return -1 if item is None else self.indexOfTopLevelItem(item)

    def show_offers(self, offers: Sequence[Offer], current: int) -> None:
        """List offers; ``current`` is chosen without a signal."""
        with QSignalBlocker(self):
            self.clear()
            for offer in offers:
                row = QTreeWidgetItem(_cells(offer))
                row.setToolTip(0, tip(f"{drafter_words(offer)}: {kind_words(offer.judgement)}"))
                row.setTextAlignment(len(_COLUMNS) - 1, RIGHT)
                self.addTopLevelItem(row)
            choose(self, self.topLevelItem(current))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """As tall as the rows, within reason."""
        n = min(_MOST_ROWS, max(_LEAST_ROWS, self.topLevelItemCount()))
        row = self.sizeHintForRow(0) if self.topLevelItemCount() else self.fontMetrics().height() + 6
        return QSize(320, self.header().sizeHint().height() + n * row + 2 * self.frameWidth() + 4)

    def minimumSizeHint(self) -> QSize:
        """The same: it never shrinks below what it holds."""
        return QSize(160, self.sizeHint().height())


def _cells(offer: Offer) -> list[str]:
    judgement = offer.judgement
    where = offer.where if judgement.draft is not None or judgement.kind == "embedded heads" else tr("needs no file")
    memory = bytes_words(judgement.memory.n_bytes) if judgement.memory is not None else ""
    return [drafter_words(offer), FIT_WORDS[judgement.fit], where, memory]
