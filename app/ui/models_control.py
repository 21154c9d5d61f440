"""The model manager's program: its window when it is asked for, its downloads also while it is closed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.errors import SlipstreamError
from app.host.background import beside
from app.host.hub_door import HubDoor
from app.host.pulling import Pull, Pulls
from app.ui.latest import Latest
from app.ui.model_words import percent, short_title
from app.ui.pair_bar import HEADS, NGRAM
from app.ui.said import fault_words, said
from app.ui.tr import tr
from app.ui.wording import bytes_words

if TYPE_CHECKING:
    from app.host import Host, HostState
    from app.host.judging import Judging
    from app.models.library import Library
    from app.protocol import SpecType
    from app.ui.card_control import CardControl
    from app.ui.choices import Choices
    from app.ui.discover_control import DiscoverControl
    from app.ui.downloads import DownloadRow
    from app.ui.engine_control import EngineControl
    from app.ui.library_control import LibraryControl
    from app.ui.main_window import MainWindow
    from app.ui.model_manager import ModelManager

ASKED_FROM_BYTES = 50_000_000
"""From here on somebody is asked before what has arrived is deleted."""

LOOK_AFTER_MS = 1500
"""When unfinished downloads of earlier runs are looked for: not while the window and its model start."""


class ModelsControl(QObject):
    """Opens the manager, and owns what is downloaded.

    Attributes:
        door, pulls, judging: the host's side, also for the first-run screen.
        manager: the window, while it is open.
        is_shown_elsewhere: whether a download's state is on the screen, so that no notice is needed.
    """

    def __init__(
        self, window: MainWindow, host: Host, library: Library, choices: Choices, engine: EngineControl
    ) -> None:
        super().__init__(window)
        self._window, self._host, self._choices, self._engine = window, host, choices, engine
        self._entries = library
        self.door = HubDoor()
        self.pulls = Pulls(self.door)
        self._judging: Judging | None = None
        self.manager: ModelManager | None = None
        self._discover: DiscoverControl | None = None
        self._library: LibraryControl | None = None
        self._cards: list[CardControl] = []
        self._relisting, self._loading, self._looking = Latest(), Latest(), Latest()
        self._removing: dict[str, Latest] = {}  # one each: a second removal does not end the first
        self._unsubscribe = self.pulls.subscribe(self.on_pull)
        self._shown_loaded: object = None
        self._unsubscribe_host: Callable[[], None] = host.subscribe(self.on_host_state)
        self.is_shown_elsewhere: Callable[[Pull], bool] = lambda _pull: False
        self._look = QTimer(self, singleShot=True, interval=LOOK_AFTER_MS)
        self._look.timeout.connect(self.on_look)

    @property
    def judging(self) -> Judging:
        """What answers questions about models; what it needs takes a tenth of a second to import."""
        if self._judging is None:
            from app.host.judging import Judging

            self._judging = Judging(self.door, self._entries)
        return self._judging

    def start(self) -> None:
        """Look soon for what an earlier run of the program has not finished."""
        self._look.start()

    async def close(self) -> None:
        """Close the window and pause what is being downloaded."""
        self._look.stop()
        self._unsubscribe()
        self._unsubscribe_host()
        for work in (self._relisting, self._loading, self._looking, *self._removing.values()):
            await work.close()
        for control in (self._discover, self._library):
            if control is not None:
                await control.close()
        if self.manager is not None:
            self.manager.close()
        await self.pulls.close()

    # --- the window -----------------------------------------------------------------------------------

    def open(self, tab: int = 0) -> None:
        """Show the manager, or bring it to the front."""
        if self.manager is None:
            self.manager = self._make()
        self.manager.show()
        self.manager.raise_()
        self.manager.activateWindow()
        self.manager.go_to(tab)
        self.refresh()
        self._looking.run(self.pulls.look())

    def _make(self) -> ModelManager:
        from app.ui.card_control import CardControl
        from app.ui.discover_control import DiscoverControl
        from app.ui.library_control import LibraryControl
        from app.ui.model_manager import DOWNLOADS, ModelManager

        manager = ModelManager(self._window)
        self._cards = [
            CardControl(card, self.judging, self.pulls, self.door, self._choices, self.load)
            for card in (manager.discover.card, manager.library.card)
        ]
        self._discover = DiscoverControl(manager.discover, self.judging, self._cards[0], self._choices)
        self._library = LibraryControl(
            manager.library, manager.notice, self.judging, self._cards[1], self._choices, self._engine
        )
        self._library.on_changed = self.on_files_changed
        self._library.may_load = self.may_load
        for card in self._cards:
            card.card.downloads_requested.connect(lambda: manager.go_to(DOWNLOADS))
        manager.tab_changed.connect(lambda _tab: self.refresh())
        manager.downloads.row_added.connect(self._attend)
        for pull in self.pulls.pulls:
            manager.downloads.show_pull(pull)
        manager.note_running(manager.downloads.n_running)
        return manager

    def _attend(self, row: DownloadRow) -> None:
        row.pause_requested.connect(self.pulls.pause)
        row.resume_requested.connect(self.pulls.resume)
        row.remove_requested.connect(self.on_remove)
        row.load_requested.connect(self.on_load_pull)
        row.token.token_given.connect(lambda token, repo: self._loading.run(self._give(row, token, repo)))
        row.token.page_requested.connect(self._cards[0].on_page)
        row.token.forget_requested.connect(self._cards[0].on_forget)

    def refresh(self) -> None:
        """Show anew what the open tab shows."""
        if self.manager is not None and self.manager.isVisible():
            if self._discover is not None and self.manager.tabs.currentIndex() == 0:
                self._discover.refresh()
            self._refresh_library()

    def _refresh_library(self) -> None:
        if self._library is not None and self.manager is not None and self.manager.isVisible():
            self._library.refresh(self._host)

    def on_host_state(self, state: HostState) -> None:
        """Mark what is loaded."""
        now = state.pair if state.loaded is not None else None
        if now != self._shown_loaded:
            self._shown_loaded = now
            self._refresh_library()

    def on_files_changed(self) -> None:
        """List anew what is on this computer, here and in the pickers."""
        self._relisting.run(self._engine.relist())
        self.refresh()

    # --- downloads ------------------------------------------------------------------------------------

    def on_pull(self, pull: Pull) -> None:
        """Show a download's new state wherever it is shown."""
        if self.manager is not None:
            self.manager.downloads.show_pull(pull)
            self.manager.note_running(self.manager.downloads.n_running)
            for card in self._cards:
                card.show_pull(pull)
        if pull.phase == "done":
            self.on_files_changed()
        is_seen = (self.manager is not None and self.manager.isVisible()) or self.is_shown_elsewhere(pull)
        if pull.phase in ("done", "failed") and not is_seen:
            self._tell(pull)

    def _tell(self, pull: Pull) -> None:
        from app.ui.model_manager import DOWNLOADS

        if pull.phase == "done":
            action = (tr("Load it"), lambda: self.on_load_pull(pull.title))
            self._window.notice.say(
                "info", tr("{title} is here, and every byte was checked.").format(title=pull.title), action=action
            )
        else:
            show = (tr("Show downloads"), lambda: self.open(DOWNLOADS))
            self._window.notice.say("warning", f"{pull.title}: {said(pull.detail)}", pull.hint, action=show)

    def on_look(self) -> None:
        """Tell of downloads that are not finished."""
        self._looking.run(self._tell_of_unfinished())

    async def _tell_of_unfinished(self) -> None:
        from app.ui.model_manager import DOWNLOADS

        await beside(_import_manager, "imports")  # so that the window opens at once
        await self.pulls.look()
        waiting = [pull for pull in self.pulls.pulls if pull.phase == "paused" and not self.is_shown_elsewhere(pull)]
        if waiting and not self._window.notice.words:
            first = waiting[0]
            n_more = len(waiting) - 1
            words = tr("A download is not finished: {title}, {percent} %.")
            if n_more:
                words = tr("Downloads are not finished: {title}, {percent} %, and %n more.", None, n_more)
            words = words.format(title=short_title(first.title), percent=percent(first))
            self._window.notice.say("info", words, action=(tr("Show downloads"), lambda: self.open(DOWNLOADS)))

    def on_remove(self, title: str) -> None:
        """Cancel a download and drop what has arrived, or take a finished one from the list."""
        pull = self.pulls.find(title)
        if pull is None or pull.phase == "done" or pull.n_bytes < ASKED_FROM_BYTES or self.manager is None:
            self._begin_removal(title)
            return
        from app.ui.question import Question

        words = tr("{bytes_words} that have arrived are deleted. Pause keeps them.").format(
            bytes_words=bytes_words(pull.n_bytes)
        )
        question = Question(
            self.manager,
            tr("Cancel {short_title}?").format(short_title=short_title(title)),
            words,
            tr("Cancel and remove"),
        )
        question.ask(partial(self._begin_removal, title), lambda: None)

    def _begin_removal(self, title: str) -> None:
        self._removing.setdefault(title, Latest()).run(self._remove(title))

    async def _remove(self, title: str) -> None:
        try:
            await self.pulls.remove(title)
        except SlipstreamError as fault:
            if self.manager is not None:
                self.manager.notice.say("error", fault.message, fault.hint)

    async def _give(self, row: DownloadRow, token: str, repo: str) -> None:
        try:
            row.token.show_answer(await self.door.give_token(token, repo))
        except SlipstreamError as fault:
            row.token.show_answer(fault_words(fault))
            row.token.entry.setFocus()
            return
        self.pulls.resume_refused()

    # --- loading --------------------------------------------------------------------------------------

    def may_load(self) -> bool:
        """Tell whether another model may be loaded now; if not, say why."""
        if self._host.state.phase != "answering":
            return True
        notice = self.manager.notice if self.manager is not None else self._window.notice
        notice.say("info", tr("An answer is being written."), tr("Wait for it, or stop it in the conversation (Esc)."))
        return False

    def load(self, target: str, drafter: str, kind: SpecType = "draft-simple") -> None:
        """Load a pair and go back to the conversation."""
        if not self.may_load():
            return
        self._engine.pick_pair(target, drafter, kind)
        if self.manager is not None:
            self.manager.hide()
        self._window.activateWindow()
        self._window.composer.take_focus()

    def on_load_pull(self, title: str) -> None:
        """Load what a download has brought."""
        self._loading.run(self._load_pull(title))

    async def _load_pull(self, title: str) -> None:
        from app.models.catalog import STARTER, Catalog

        pull = self.pulls.find(title)
        names = await self.judging.names_of(pull.paths) if pull is not None else []
        if not names:
            self._window.notice.say(
                "warning", tr("The files of {title} are not here any more.").format(title=title), tr("Get them again.")
            )
            return
        (target, only_drafts), *rest = names
        if only_drafts:
            self._engine.pick_drafter(target)
            return
        curated = next((pair for pair in Catalog.load().pairs if pair.title == title), None)
        drafter = rest[0][0] if rest else NGRAM
        if curated is not None and curated.draft is None:
            drafter = HEADS
        elif curated is not None and curated.draft is not None and curated.draft.repo == STARTER:
            drafter = STARTER
        self.load(target, drafter, curated.spec_type if curated is not None else "draft-simple")


def _import_manager() -> None:
    import app.host.judging
    import app.ui.discover_control
    import app.ui.library_control
    import app.ui.model_manager  # noqa: F401 - what the window needs when it is asked for
