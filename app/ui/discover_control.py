"""Discover: between the list and its card on one side, catalog and hub on the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.errors import HubAccessError, SlipstreamError
from app.models.remote import FoundModel
from app.ui.card_control import CardControl
from app.ui.latest import Latest
from app.ui.model_words import access_words, short_title
from app.ui.said import fault_words, said
from app.ui.tr import tr
from app.ui.wording import bytes_words

if TYPE_CHECKING:
    from app.host.judging import Card, Judging
    from app.models.memory import Room
    from app.ui.choices import Choices
    from app.ui.discover import Chosen, DiscoverTab

LISTING = tr("Open the row (→ or Enter) to see its files.")
JUDGING = tr("Reading the headers on the hub, some megabytes…")


class DiscoverControl(QObject):
    """Lists what there is, and lets the card judge what is chosen."""

    def __init__(self, tab: DiscoverTab, judging: Judging, card: CardControl, choices: Choices) -> None:
        super().__init__(tab)
        self._tab, self._judging, self._card, self._choices = tab, judging, card, choices
        self._room: Room | None = None
        self._listing, self._searching, self._refreshing = Latest(), Latest(), Latest()
        tab.chosen.connect(self.on_chosen)
        tab.search_requested.connect(self.on_search)
        tab.listing_requested.connect(self.on_listing)
        tab.stop_requested.connect(self.on_stop)

    async def close(self) -> None:
        """End what is being looked up."""
        for work in (self._listing, self._searching, self._refreshing):
            await work.close()
        await self._card.close()

    def refresh(self) -> None:
        """List the curated pairs anew."""
        self._refreshing.run(self._refresh())

    async def _refresh(self) -> None:
        try:
            cards, self._room = await self._judging.catalog()
        except SlipstreamError as fault:
            self._tab.say(fault_words(fault))
            return
        self._tab.show_catalog(cards, self._room)

    # --- choosing -------------------------------------------------------------------------------------

    def on_chosen(self, chosen: Chosen | None) -> None:
        """Show what is chosen, and have it judged."""
        card = self._tab.card
        if chosen is None:
            card.show_nothing()
            self._card.look_at(None)
        elif chosen.kind == "pair" and chosen.card is not None:
            self._show_pair(chosen.card)
        elif chosen.kind == "model" and chosen.model is not None and chosen.listing is not None:
            model, listing = chosen.model, chosen.listing
            facts = tr("{bytes_words} · licence: {licence}").format(
                bytes_words=bytes_words(model.item.n_bytes), licence=listing.licence or tr("not named")
            )
            card.show_pending(short_title(model.item.title), facts, JUDGING)
            judge = partial(self._judging.remote, model, listing, self._choices.pair())
            self._card.look_at(judge, repos=(listing.repo,), can_look=True)
        elif chosen.found is not None:
            found = chosen.found
            access = tr("terms to accept") if found.is_gated else tr("open")
            about = [tr("licence: {licence}").format(licence=found.licence or tr("not named")), access]
            about += (
                [
                    tr("{n_downloads:,} downloads").format(n_downloads=found.n_downloads),
                    tr("updated {updated}").format(updated=found.updated),
                ]
                if found.updated
                else []
            )
            card.show_pending(found.repo, " · ".join(about), LISTING)
            self._card.look_at(None)

    def _show_pair(self, one: Card) -> None:
        pair = one.ranked.pair
        about = [
            pair.target.quantisation,
            tr("drafted by {drafter_words}").format(drafter_words=pair.drafter_words),
            tr("licence: {licence}").format(licence=pair.target.licence),
        ]
        sizes = [file.n_bytes for model in (pair.target, pair.draft) if model is not None for file in model.files]
        if None not in sizes:
            about.append(tr("{bytes_words} to get").format(bytes_words=bytes_words(sum(n or 0 for n in sizes))))
        facts = " · ".join(about)
        self._tab.card.show_pending(
            pair.title, facts, tr("Looking at its files…") if one.is_here else JUDGING, pair.note
        )
        if self._room is not None:
            self._tab.card.show_estimate(one.ranked, self._room)
        repos = tuple(model.repo for model in (pair.target, pair.draft) if model is not None)
        self._card.look_at(partial(self._judging.curated, pair, self._choices.pair()), note=pair.note, repos=repos)

    # --- the hub --------------------------------------------------------------------------------------

    def on_search(self, words: str) -> None:
        """Search the hub, or open the repository that is named."""
        self._tab.say(tr("Asking the hub…"))
        self._tab.show_asking(is_asking=True)
        self._searching.run(self._search(words))

    def on_stop(self) -> None:
        """Stop what the hub is asked for; what is listed stays."""
        self._searching.cancel()
        self._listing.cancel()
        self._tab.show_asking(is_asking=False)
        self._tab.say(tr("Stopped."))

    async def _search(self, words: str) -> None:
        try:
            if "/" in words:
                listing = await self._judging.listing(words)
                found = FoundModel(listing.repo, listing.is_gated, listing.licence, 0, 0, "")
                self._tab.show_found(listing.repo, [found])
                self._tab.show_listing(found, listing)
            else:
                self._tab.show_found(words, await self._judging.search(words))
            self._tab.tree.setFocus()
        except SlipstreamError as fault:
            self._say(fault, words if "/" in words else "")
        self._tab.show_asking(is_asking=False)

    def on_listing(self, found: FoundModel) -> None:
        """Read what a repository holds."""
        self._tab.say(tr("Asking the hub for the files of {repo}…").format(repo=found.repo))
        self._tab.show_asking(is_asking=True)
        self._listing.run(self._list(found))

    async def _list(self, found: FoundModel) -> None:
        try:
            listing = await self._judging.listing(found.repo)
        except SlipstreamError as fault:
            self._tab.show_asking(is_asking=False)
            self._say(fault, found.repo)
            return
        self._tab.show_asking(is_asking=False)
        more = (
            tr("{n_more:,} more of its models are not listed.").format(n_more=listing.n_more) if listing.n_more else ""
        )
        self._tab.say(more)
        self._tab.show_listing(found, listing)

    def _say(self, fault: SlipstreamError, repo: str) -> None:
        self._tab.say(
            tr("{message} {hint} The matched pairs above need no hub to be looked at.").format(
                message=said(fault.message), hint=said(fault.hint)
            )
        )
        if isinstance(fault, HubAccessError):
            self._tab.card.show_pending(repo or tr("The hub"), "", "")
            self._tab.card.token.ask(repo.partition(":")[0], access_words(fault))
            self._card.look_at(None)
