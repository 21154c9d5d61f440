"""A card of the model manager: between what is asked of host and hub and what a person chooses on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, QUrl
from PySide6.QtGui import QDesktopServices

from app.errors import HubAccessError, SlipstreamError
from app.host.look import Look
from app.models.pairs import SPEC_TYPES
from app.protocol import SpecType
from app.ui.latest import Latest
from app.ui.model_words import access_words, look_words
from app.ui.pair_bar import HEADS, NGRAM
from app.ui.said import fault_words, said
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.host.hub_door import HubDoor
    from app.host.judging import Judging
    from app.host.offers import Offers
    from app.host.pulling import Pull, Pulls
    from app.host.ways import Drafter
    from app.ui.choices import Choices
    from app.ui.pair_card import PairCard

SETTLE_MS = 150
"""How long a choice stands before it is looked up: the arrow keys pass many."""


class CardControl(QObject):
    """Judges what is chosen, gets it, takes a token for it; loading is left to ``load``."""

    def __init__(
        self,
        card: PairCard,
        judging: Judging,
        pulls: Pulls,
        door: HubDoor,
        choices: Choices,
        load: Callable[[str, str, SpecType], None],
    ) -> None:
        super().__init__(card)
        self.card, self._judging, self._pulls, self._door = card, judging, pulls, door
        self._choices, self.load = choices, load
        self._judge: Callable[[], Coroutine[Any, Any, Offers]] | None = None
        self._repos: tuple[str, ...] = ()
        self._note, self._can_look = "", False
        self._look: Look[Drafter] | None = None
        self._work, self._weighing, self._looking, self._giving = Latest(), Latest(), Latest(), Latest()
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self.judge)
        card.retry_requested.connect(self.judge)
        card.offer_picked.connect(self.on_offer_picked)
        card.get_requested.connect(self.on_get)
        card.load_requested.connect(self.on_load)
        card.elsewhere_requested.connect(self.on_elsewhere)
        card.token.token_given.connect(self.on_token)
        card.token.page_requested.connect(self.on_page)
        card.token.forget_requested.connect(self.on_forget)

    async def close(self) -> None:
        """End what is being looked up."""
        self._settle.stop()
        for work in (self._work, self._weighing, self._looking, self._giving):
            await work.close()

    # --- judging --------------------------------------------------------------------------------------

    def look_at(
        self,
        judge: Callable[[], Coroutine[Any, Any, Offers]] | None,
        *,
        note: str = "",
        repos: tuple[str, ...] = (),
        can_look: bool = False,
    ) -> None:
        """Judge something soon; ``None``: there is nothing to judge, the card says so already."""
        for work in (self._work, self._weighing, self._looking):
            work.cancel()
        self._judge, self._note, self._repos, self._can_look = judge, note, repos, can_look
        if judge is None:
            self._settle.stop()
        else:
            self._settle.start()

    def judge(self) -> None:
        """Judge it now."""
        if self._judge is not None:
            self.card.fault.hide()
            self.card.retry.hide()
            self._work.run(self._show(self._judge))

    async def _show(self, judge: Callable[[], Coroutine[Any, Any, Offers]]) -> None:
        try:
            offers = await judge()
        except HubAccessError as fault:
            self.card.show_fault("")
            words = access_words(fault)
            self.card.token.ask(next((repo for repo in self._repos if repo in words), ""), words)
            self.show_pull()
            return
        except SlipstreamError as fault:
            self.card.show_fault(fault_words(fault))
            self.show_pull()
            return
        said = self.card.token.answer.text() if not self.card.token.isHidden() else ""
        self.card.show_offers(offers, self._note or offers.note, can_look=self._can_look)
        if offers.gated and said:
            self.card.token.ask(offers.gated[0], tr("{gated} is open to you.").format(gated=offers.gated[0]))
            self.card.token.show_answer(said)
        self.show_pull()
        self.on_offer_picked()

    def on_offer_picked(self) -> None:
        """Weigh the chosen way exactly, where that can be done."""
        self.show_pull()
        offers, offer = self.card.offers, self.card.offer
        if offers is not None and offer is not None and offer.judgement.memory is not None:
            self._weighing.run(self._weigh(offers))

    async def _weigh(self, offers: Offers) -> None:
        offer = self.card.offer
        if offer is None or (offer.judgement.memory is not None and offer.judgement.memory.is_exact):
            return
        try:
            exact = await self._judging.weigh(offers, offer, self._choices.pair())
        except SlipstreamError as fault:
            self.card.say(
                tr("It could not be weighed: {message} {hint}").format(
                    message=said(fault.message), hint=said(fault.hint)
                )
            )
            return
        if self.card.offer is offer and exact is not offer:
            self.card.replace_offer(exact)
            self.show_pull()

    # --- looking elsewhere ----------------------------------------------------------------------------

    def on_elsewhere(self) -> None:
        """Look in the catalog and on the hub for what could draft; or stop looking."""
        offers = self.card.offers
        if self._looking.is_running and self._look is not None:
            self._look.stop()
        elif offers is not None and (offers.target is not None or offers.item is not None):
            self._look = Look()
            self.card.show_looking(tr("Looking in the catalog and on the hub…"))
            self._looking.run(self._look_for(offers, self._look))

    async def _look_for(self, offers: Offers, look: Look[Drafter]) -> None:
        words = ""
        try:
            await self._judging.look(offers, look)
        except SlipstreamError as fault:
            words = fault_words(fault)
        except asyncio.CancelledError:
            look.stop()  # its thread asks for nothing more
            raise
        try:
            more = await self._judging.found(offers, look, self._choices.pair())
        except SlipstreamError as fault:
            more, words = (), fault_words(fault)
        if self.card.offers is not None and self.card.offers.title == offers.title:
            self.card.add_offers(more, words or look_words(more, is_whole=look.is_whole, is_stopped=look.is_stopped))

    # --- getting --------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The title of the download that would bring what is chosen, "" if nothing has to come."""
        offers = self.card.offers
        if offers is None:
            return ""
        what = offers.what_to_pull(self.card.offer) or offers.pair
        return what.title if what is not None else ""

    def on_get(self) -> None:
        """Get what is chosen."""
        offers = self.card.offers
        what = offers.what_to_pull(self.card.offer) if offers is not None else None
        if what is not None:
            self._pulls.get(what)
            self.card.show_downloads.setFocus()

    def show_pull(self, pull: Pull | None = None) -> None:
        """Show how far the download of what is chosen is."""
        title = self.title
        if pull is None:
            pull = self._pulls.find(title) if title else None
        if pull is None or pull.title == title:
            self.card.show_pull(None if pull is not None and pull.phase == "removed" else pull)
            if pull is not None and pull.phase == "done" and self.card.offers is not None:
                self.judge_again(pull)

    def judge_again(self, pull: Pull) -> None:
        """Judge anew what has come, once: now it is here."""
        offers = self.card.offers
        if offers is not None and offers.files_to_pull(self.card.offer) and not self._work.is_running:
            self.card.show_pull(pull)
            self._work.run(self._show_if_here())

    async def _show_if_here(self) -> None:
        if self._judge is None:
            return
        try:
            offers = await self._judge()
        except SlipstreamError:  # what is shown stays as it is
            return
        if not offers.files_to_pull(offers.offers[0] if offers.offers else None):
            self.card.show_offers(offers, self._note or offers.note, can_look=self._can_look)
            self.card.say(tr("It is here, and every byte was checked."))
            self.card.load.setFocus()
            self.on_offer_picked()

    def on_load(self) -> None:
        """Load what is chosen, with the way to draft that is chosen."""
        offers, offer = self.card.offers, self.card.offer
        if offers is None or offers.target is None:
            return
        drafter, kind = NGRAM, SPEC_TYPES["draft model"]
        if offer is not None and offer.judgement.fits:
            is_own = offer.judgement.kind == "embedded heads"
            drafter, kind = HEADS if is_own else offer.draft or NGRAM, SPEC_TYPES[offer.judgement.kind]
        self.load(offers.target, drafter, kind)

    # --- tokens ---------------------------------------------------------------------------------------

    def on_page(self, repo: str) -> None:
        """Open the page of a repository, where its terms are accepted."""
        try:
            address = f"{self._door.hub().endpoint}/{repo}"
        except SlipstreamError as fault:
            self.card.token.show_answer(fault_words(fault))
            return
        QDesktopServices.openUrl(QUrl(address))

    def on_token(self, token: str, repo: str) -> None:
        """Try a token; if it is accepted, judge again."""
        self._giving.run(self._give(token, repo))

    async def _give(self, token: str, repo: str) -> None:
        try:
            said = await self._door.give_token(token, repo)
        except SlipstreamError as fault:
            self.card.token.show_answer(fault_words(fault))
            self.card.token.entry.setFocus()
            return
        self.card.token.show_answer(said)
        self._pulls.resume_refused()
        self.judge()

    def on_forget(self) -> None:
        """Forget the token."""

        async def forget() -> None:
            try:
                await self._door.forget_token()
            except SlipstreamError as fault:
                self.card.token.show_answer(fault_words(fault))
            else:
                self.card.token.show_answer(tr("The token is forgotten."))

        self._giving.run(forget())
