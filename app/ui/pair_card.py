"""One target with its drafter, before anything is loaded or pulled: does it fit, what does it take, get it.

It shows values and reports wishes; what they mean is :class:`app.ui.models_control.ModelsControl`'s business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.ui.memory_bar import MemoryView
from app.ui.model_words import fit_sentence, get_words, percent, pull_words, reason_lines, short_title
from app.ui.offer_list import OfferList
from app.ui.theme import GRID, colours, follow, icon, named, text_font
from app.ui.token_panel import TokenPanel
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.host.offers import Offer, Offers
    from app.host.pulling import Pull
    from app.models.memory import Room
    from app.models.recommendation import Ranked

_SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
_PRIMARY = """
QPushButton { background: %(accent)s; color: %(on_accent)s; border: 2px solid %(accent)s; border-radius: 6px;
              padding: 4px 16px; }
QPushButton:focus { border-color: %(text)s; }
QPushButton:disabled { background: %(raised)s; color: %(muted)s; border-color: %(raised)s; }
"""
LOOK = tr("Loo&k for drafters in the catalog and on the hub")
STOP_LOOKING = tr("Stop loo&king")
LOOK_AGAIN = tr("Loo&k again for drafters on the hub")
_ICONS = {"fits": "check", "fits with warnings": "warning", "does not fit": "close"}


class PairCard(QWidget):
    """The card. ``offers`` is what it is about, ``offer`` the way to draft that is chosen."""

    get_requested = Signal()
    load_requested = Signal()
    offer_picked = Signal()
    elsewhere_requested = Signal()
    retry_requested = Signal()
    downloads_requested = Signal()

    def __init__(self, nothing: str) -> None:
        super().__init__()
        self.offers: Offers | None = None
        self._index = 0
        self._fit = ""
        self.title = QLabel(wordWrap=True)
        self.title.setFont(text_font(3.0, bold=True))
        self.facts = named(QLabel(wordWrap=True), "muted")
        self.note = named(QLabel(wordWrap=True), "muted")
        self.list = OfferList()
        self.elsewhere = QPushButton(LOOK)
        self._fit_icon, self.fit = QLabel(), QLabel(wordWrap=True)
        self.fit.setFont(text_font(1.0, bold=True))
        self.reasons = QLabel(wordWrap=True)
        self.memory = MemoryView()
        self.token = TokenPanel()
        self.fault = QLabel(wordWrap=True)
        self.retry = QPushButton(tr("T&ry again"))
        self.progress = QProgressBar(textVisible=False)
        self.progress.setAccessibleName(tr("Download"))
        self.state = named(QLabel(wordWrap=True), "muted")
        self.get = QPushButton(tr("Get pair"))
        self.load = QPushButton(tr("&Load"))
        self.show_downloads = QPushButton(tr("Show d&ownloads"))
        self._nothing = nothing
        self._connect()
        self._build()
        follow(self._tint)
        self.show_nothing()

    def _connect(self) -> None:
        self.list.picked.connect(self.on_picked)
        self.elsewhere.clicked.connect(self.elsewhere_requested)
        self.retry.clicked.connect(self.retry_requested)
        self.get.clicked.connect(self.get_requested)
        self.load.clicked.connect(self.load_requested)
        self.show_downloads.clicked.connect(self.downloads_requested)
        for label in (self.reasons, self.fault):
            label.setTextInteractionFlags(_SELECTABLE)
        for label in (self.title, self.facts, self.note, self.reasons, self.fault, self.state, self.fit):
            label.setTextFormat(Qt.TextFormat.PlainText)

    def _build(self) -> None:
        fit = QHBoxLayout()
        fit.setSpacing(GRID // 2)
        fit.addWidget(self._fit_icon, 0, Qt.AlignmentFlag.AlignTop)
        fit.addWidget(self.fit, 1)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(GRID, GRID // 2, GRID, GRID)
        column.setSpacing(GRID)
        above: tuple[QWidget, ...] = (self.title, self.facts, self.note, self.list, self.elsewhere)
        below: tuple[QWidget, ...] = (self.reasons, self.memory, self.token, self.fault)
        for part in above:
            column.addWidget(part)
        column.addLayout(fit)
        for part in below:
            column.addWidget(part)
        column.addWidget(self.retry, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        scroll.setAccessibleName(tr("The pair in detail"))
        scroll.setWidget(inside)
        for part in (scroll.viewport(), inside):
            part.setAutoFillBackground(False)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.foot = QHBoxLayout()
        self.foot.setSpacing(GRID)
        self.foot.addStretch(1)
        for button in (self.show_downloads, self.get, self.load):
            self.foot.addWidget(button)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(GRID)
        outer.addWidget(scroll, 1)
        self.state.setContentsMargins(GRID, 0, GRID, 0)  # in line with what is above
        outer.addWidget(self.progress)
        outer.addWidget(self.state)
        outer.addLayout(self.foot)

    # --- what it is about -----------------------------------------------------------------------------

    @property
    def offer(self) -> Offer | None:
        """The way to draft that is chosen."""
        if self.offers is None or not 0 <= self._index < len(self.offers.offers):
            return None
        return self.offers.offers[self._index]

    def show_nothing(self) -> None:
        """Say what to do first."""
        self._clear()
        self.title.setText("")
        self.facts.setText(self._nothing)

    def show_pending(self, title: str, facts: str, words: str, note: str = "") -> None:
        """Say what is chosen, and that it is being looked at."""
        self._clear()
        self.title.setText(title)
        self._set(self.facts, facts)
        self._set(self.note, note)
        self._set(self.state, words)

    def show_estimate(self, ranked: Ranked, room: Room) -> None:
        """Show what the catalog itself knows of a pair; it needs no network."""
        n_bytes, known = ranked.pair.memory_bytes, tr("as the catalog says, with a context of 4,096 tokens.")
        self.memory.show_estimate(
            n_bytes, room, tr("About {n_bytes:.1f} GB, {known}").format(n_bytes=n_bytes / 1e9, known=known)
        )
        self.memory.show()
        self._show_fit(_ESTIMATES[ranked.standing], "does not fit" if "large" in ranked.standing else "fits")

    def show_offers(self, offers: Offers, note: str = "", *, can_look: bool = False) -> None:
        """Show a target and every way to draft for it; the best is chosen."""
        self._clear()
        self.offers = offers
        self.title.setText(short_title(offers.title))
        self._set(
            self.facts,
            " · ".join((*offers.facts, tr("licence: {licence}").format(licence=offers.licence or tr("not named")))),
        )
        self._set(self.note, note)
        is_curated = offers.pair is not None
        self.list.setVisible(not is_curated)
        self.elsewhere.setVisible(can_look)
        self.elsewhere.setText(LOOK)
        self.list.show_offers(offers.offers, 0)
        self._show_offer()

    def replace_offer(self, offer: Offer) -> None:
        """Show the chosen offer more exactly."""
        if self.offers is None or self.offer is None:
            return
        known = list(self.offers.offers)
        known[self._index] = offer
        self.offers = replace(self.offers, offers=tuple(known))
        self.list.show_offers(known, self._index)
        self._show_offer()

    def show_looking(self, words: str) -> None:
        """Say that drafters are being looked for; the button stops that."""
        self.elsewhere.setText(STOP_LOOKING)
        self._set(self.state, words)

    def add_offers(self, more: Sequence[Offer], words: str) -> None:
        """Add drafters that are elsewhere, each where it stands: best first, and at the end what does not fit."""
        self.elsewhere.setText(LOOK_AGAIN)
        self._set(self.state, words)
        if self.offers is None or not more:
            return
        chosen = self.offer
        new = {offer.item for offer in more}
        known = [
            offer for offer in self.offers.offers if offer.item is None or offer.item not in new or offer is chosen
        ]
        more = [offer for offer in more if chosen is None or offer.item != chosen.item]
        known = sorted([*known, *more], key=lambda offer: offer.rank)
        self.offers = replace(self.offers, offers=tuple(known))
        self._index = next((i for i, offer in enumerate(known) if offer is chosen), 0)
        self.list.show_offers(known, self._index)

    def on_picked(self, index: int) -> None:
        """Take another way to draft."""
        if index >= 0 and index != self._index:
            self._index = index
            self._show_offer()
            self.offer_picked.emit()

    def show_fault(self, words: str, *, can_retry: bool = True) -> None:
        """Say what went wrong, below what is known."""
        self._set(self.state, "")
        self._set(self.fault, words)
        self.retry.setVisible(can_retry)

    def show_pull(self, pull: Pull | None) -> None:
        """Show how far the download of this pair is; None: there is none."""
        is_running = pull is not None and pull.is_running
        self.progress.setVisible(is_running)
        self.show_downloads.setVisible(pull is not None)
        if pull is not None:
            self.progress.setValue(percent(pull))
            self.progress.setAccessibleName(tr("Download, {percent} %").format(percent=percent(pull)))
            self._set(self.state, pull_words(pull))
        can_get = self.offers is not None and self.offers.what_to_pull(self.offer) is not None
        self.get.setVisible(can_get and not is_running and (pull is None or pull.phase != "done"))

    def say(self, words: str) -> None:
        """Say what is going on, in a line above the buttons."""
        self._set(self.state, words)

    # --- inside ---------------------------------------------------------------------------------------

    def _clear(self) -> None:
        self.offers, self._index, self._fit = None, 0, ""
        hidden = (self.note, self.list, self.elsewhere, self._fit_icon, self.fit, self.reasons, self.memory)
        for part in (*hidden, self.token, self.fault, self.retry, self.progress, self.state):
            part.hide()
        for button in (self.get, self.load, self.show_downloads):
            button.hide()

    def _show_offer(self) -> None:
        offers, offer = self.offers, self.offer
        if offers is None or offer is None:
            return
        judgement = offer.judgement
        self._show_fit(fit_sentence(judgement), judgement.fit)
        self._set(self.reasons, reason_lines(judgement))
        self.memory.setVisible(judgement.memory is not None)
        if judgement.memory is not None:
            self.memory.show_memory(judgement.memory)
        can_get = offers.what_to_pull(offer) is not None
        self.get.setText(get_words(offers, offer))
        self.get.setVisible(can_get)
        self.load.setVisible(not can_get and offers.target is not None)
        self.load.setText(tr("&Load pair") if offer.judgement.fits and offer.draft is not None else tr("&Load"))
        self.load.setAccessibleName(tr("Load this model and chat with it"))
        self.get.setAccessibleName(self.get.text())
        for button in (self.get, self.load):  # whoever cannot see the card hears it where the decision is
            button.setAccessibleDescription(f"{self.fit.text()} {self.reasons.text()} {self.memory.said}")

    def _show_fit(self, words: str, fit: str) -> None:
        self._fit = fit
        self._set(self.fit, words)
        self._fit_icon.show()
        self._tint()

    def _tint(self) -> None:
        scheme = colours()
        for button in (self.get, self.load):
            button.setStyleSheet(_PRIMARY % scheme._asdict())
        if self._fit:
            colour = {"fits": scheme.accent, "fits with warnings": scheme.warning}.get(self._fit, scheme.danger)
            self._fit_icon.setPixmap(icon(_ICONS[self._fit], colour).pixmap(18, 18))

    @staticmethod
    def _set(label: QLabel, words: str) -> None:
        label.setText(words)
        label.setVisible(bool(words))


_ESTIMATES = {
    "fits now": tr("It should fit into this computer's memory."),
    "fits when other programs are closed": tr("It should fit when other programs are closed."),
    "too large for this machine": tr("It is too large for this computer's memory."),
}
