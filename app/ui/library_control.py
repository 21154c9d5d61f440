"""Library: between the list of files on one side, disk and engine on the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.errors import SlipstreamError, UsageError
from app.host.background import beside
from app.models.library import STARTER, BrokenFile, LibraryEntry
from app.ui.card_control import CardControl
from app.ui.latest import Latest
from app.ui.pair_bar import NGRAM
from app.ui.question import Question
from app.ui.reveal import reveal, show_folder
from app.ui.said import said
from app.ui.tr import tr
from app.ui.wording import bytes_words

if TYPE_CHECKING:
    from pathlib import Path

    from app.host import Host
    from app.host.judging import Judging
    from app.ui.choices import Choices
    from app.ui.engine_control import EngineControl
    from app.ui.library_tab import LibraryTab
    from app.ui.notice import NoticeBar

ONLY_DRAFTS = tr(
    "This file only drafts for another model. Use as drafter lets it draft for the model that answers now."
)


class LibraryControl(QObject):
    """Lists the files, loads, reveals and deletes them."""

    def __init__(
        self,
        tab: LibraryTab,
        notice: NoticeBar,
        judging: Judging,
        card: CardControl,
        choices: Choices,
        engine: EngineControl,
    ) -> None:
        super().__init__(tab)
        self._tab, self._notice, self._judging, self._card = tab, notice, judging, card
        self._choices, self._engine = choices, engine
        self._folder: Path | None = None
        self._refreshing, self._deleting, self._revealing = Latest(), Latest(), Latest()
        self.question: Question | None = None
        self.on_changed: Callable[[], None] = lambda: None
        self.may_load: Callable[[], bool] = lambda: True
        tab.chosen.connect(self.on_chosen)
        tab.load_requested.connect(self.on_load)
        tab.draft_requested.connect(self.on_draft)
        tab.reveal_requested.connect(self.on_reveal)
        tab.delete_requested.connect(self.on_delete)
        tab.folder_requested.connect(self.on_folder)

    async def close(self) -> None:
        """End what is running."""
        if self.question is not None:
            self.question.close()
        for work in (self._refreshing, self._deleting, self._revealing):
            await work.close()
        await self._card.close()

    def refresh(self, host: Host) -> None:
        """List the files anew."""
        self._refreshing.run(self._refresh(host))

    async def _refresh(self, host: Host) -> None:
        shown = await self._judging.library()
        self._folder = shown.folder
        pair = host.state.pair if host.state.loaded is not None else None
        self._tab.show_library(shown, frozenset(filter(None, (pair.target, pair.draft))) if pair else frozenset())

    def on_chosen(self, chosen: LibraryEntry | BrokenFile | None) -> None:
        """Show what can draft for what is chosen, or why it cannot be loaded."""
        card = self._tab.card
        if chosen is None:
            card.show_nothing()
            self._card.look_at(None)
        elif isinstance(chosen, BrokenFile):
            card.show_pending(
                chosen.path.name,
                tr("It cannot be loaded: {reason} {hint}").format(reason=said(chosen.reason), hint=said(chosen.hint)),
                "",
            )
            self._card.look_at(None)
        else:
            facts = f"{chosen.quantisation} · {chosen.architecture} · {bytes_words(chosen.n_bytes)}"
            if self._tab.is_drafter:
                card.show_pending(chosen.name, facts, "", ONLY_DRAFTS)
                self._card.look_at(None)
            else:
                card.show_pending(chosen.name, facts, tr("Looking at what can draft for it…"))
                self._card.look_at(partial(self._judging.local, chosen.name, self._choices.pair()), can_look=True)

    # --- loading --------------------------------------------------------------------------------------

    def on_load(self) -> None:
        """Load the chosen model with the way to draft that its card shows, or with n-gram."""
        chosen, offers = self._tab.current, self._tab.card.offers
        if not isinstance(chosen, LibraryEntry):
            return
        if self._tab.is_drafter:
            self.on_draft()
        elif offers is not None and offers.target == chosen.name:
            self._card.on_load()
        else:
            self._card.load(chosen.name, NGRAM, "ngram")

    def on_draft(self) -> None:
        """Let the chosen file draft for the model that answers now."""
        chosen = self._tab.current
        if isinstance(chosen, LibraryEntry) and self.may_load():
            self._engine.pick_drafter(chosen.name)
            self._notice.say(
                "info",
                tr("{name} drafts for {target} now.").format(name=chosen.name, target=self._choices.settings.target),
                expires_s=8,
            )

    # --- files ----------------------------------------------------------------------------------------

    def on_reveal(self) -> None:
        """Show the folder of the chosen file."""
        chosen = self._tab.current
        if chosen is not None:
            self._revealing.run(self._reveal(chosen.path))

    async def _reveal(self, path: Path) -> None:
        if not await reveal(path):
            self._notice.say("info", tr("It is here: {path}").format(path=path))

    def on_folder(self) -> None:
        """Show the models folder."""
        if self._folder is not None and not show_folder(self._folder):
            self._notice.say("info", tr("It is here: {folder}").format(folder=self._folder))

    def on_delete(self) -> None:
        """Ask before the chosen file goes."""
        chosen = self._tab.current
        if chosen is None:
            return
        name = chosen.name if isinstance(chosen, LibraryEntry) else chosen.path.name
        size = f" ({bytes_words(chosen.n_bytes)})" if isinstance(chosen, LibraryEntry) else ""
        words = tr("It goes to the trash.")
        if self._is_in_use(name):
            if not self.may_load():
                return
            words += " " + tr("It is loaded now, so the starter takes its place.")
        self._ask(
            tr("Delete {name}{size}?").format(name=name, size=size),
            words,
            tr("Move to trash"),
            lambda: self._delete(name, chosen, for_good=False),
        )

    def _delete(self, name: str, chosen: LibraryEntry | BrokenFile, *, for_good: bool) -> None:
        self._deleting.run(self._remove(name, chosen, for_good=for_good))

    async def _remove(self, name: str, chosen: LibraryEntry | BrokenFile, *, for_good: bool) -> None:
        from app.models.removal import remove

        asked = chosen.name if isinstance(chosen, LibraryEntry) else str(chosen.path)
        if self._is_in_use(name):
            self._engine.pick_pair(STARTER, NGRAM)
            await self._engine.settled()
        try:
            removed = await beside(lambda: remove(asked, for_good=for_good), "deleting")
        except UsageError as fault:
            if for_good or "--for-good" not in fault.hint:
                self._notice.say("error", fault.message, fault.hint)
                return
            self._ask(
                tr("Delete {name} for good?").format(name=name),
                tr("Its disk has no trash, so it cannot be had back."),
                tr("Delete for good"),
                lambda: self._delete(name, chosen, for_good=True),
            )
        except SlipstreamError as fault:
            self._notice.say("error", fault.message, fault.hint)
        else:
            where = tr("is in the trash") if removed.in_trash else tr("is deleted")
            self._notice.say("info", f"{name} {where}.", expires_s=8)
            self.on_changed()

    def _is_in_use(self, name: str) -> bool:
        settings = self._choices.settings
        return name in (settings.target, settings.draft)

    def _ask(self, question: str, words: str, answer: str, then: Callable[[], None]) -> None:
        self.question = Question(self._tab, question, words, answer)
        self.question.ask(then, self._on_answered)

    def _on_answered(self) -> None:
        self.question = None
