"""The engine and the pair: between the host on one side, pair bar and words of state on the other."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.errors import EngineDiedError, SlipstreamError
from app.host import Host, HostState, PairChoice
from app.host.background import beside
from app.models.library import Contents, Library
from app.protocol import TREES_TRIED, Engagement, LoadProgress, Plan, SpecType
from app.ui.model_file import choose_model_file
from app.ui.pair_bar import ModelOption, option_of
from app.ui.remote_words import NOT_MEASURED, picked_server, picker_name, ready_words, server_options
from app.ui.said import said
from app.ui.tr import tr
from app.ui.wording import (
    ANSWERING,
    NO_MODEL,
    debt_words,
    device_words,
    engagement_words,
    expected_words,
    load_words,
    phase_words,
    plan_words,
)

if TYPE_CHECKING:
    from app.host.remote_wire import ServerModel
    from app.ui.choices import Choices
    from app.ui.main_window import MainWindow

logger = logging.getLogger(__name__)

RESTART = tr("Start the engine again")
USE_PROCESSOR = tr("Use the CPU")
KEPT = tr("Nothing that was written is lost.")

LOAD_PATIENCE_S = 60.0
"""How long a load may stand still before the restart is offered; it says how far it is many times a second."""

LIST_PATIENCE_S = 2.0
"""How long the list of models is waited for before the first load begins without it."""

PLAN_INTERVAL_S = 1.0


class EngineControl(QObject):
    """Loads what the person picks, says what state it is in, offers what helps."""

    loaded_changed = Signal()

    def __init__(self, window: MainWindow, host: Host, library: Library, choices: Choices) -> None:
        super().__init__(window)
        self._window, self._host, self._library, self._choices = window, host, library, choices
        self._options: list[ModelOption] = []
        self._drafts: list[ModelOption] = []
        self._task: asyncio.Task[None] | None = None
        self._progress, self._has_failed = "", False
        self._is_empty = True
        self._engagement: Engagement | None = None
        self._plan: Plan | None = None
        self._plan_said_s = 0.0
        self._is_answering = False
        self._kinds_before: tuple[SpecType, ...] | None = None
        self._stuck = ""
        self.patience = QTimer(self, singleShot=True, interval=round(LOAD_PATIENCE_S * 1000))
        self.patience.timeout.connect(self.on_patience_end)
        self._unsubscribe = host.subscribe(self.on_state)
        bar = window.pair_bar
        bar.target_picked.connect(self.pick_target)
        bar.drafter_picked.connect(self.pick_drafter)
        bar.open_target_requested.connect(lambda: choose_model_file(window, tr("Open a model"), self.pick_target))
        bar.open_draft_requested.connect(lambda: choose_model_file(window, tr("Open a draft model"), self.pick_drafter))
        bar.speculation_toggled.connect(self.on_speculation_toggled)
        window.transcript.restart_requested.connect(self.restart)
        self.offer(Contents())

    # --- loading --------------------------------------------------------------------------------------

    @property
    def is_loading(self) -> bool:
        """Whether a pair is on its way."""
        return self._task is not None and not self._task.done()

    @property
    def can_answer(self) -> bool:
        """Whether a question would be answered, now or after the load that is running."""
        state = self._host.state
        return (
            self._choices.remote is not None or self.is_loading or state.loaded is not None or state.phase == "loading"
        )

    def start(self) -> None:
        """List the models and load the chosen pair."""
        self._run(self._start())

    async def settled(self) -> None:
        """Wait until no load is running."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """Stop what is running."""
        self._unsubscribe()
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    def load(self) -> None:
        """Load the chosen pair, in place of a load that is running; while a server answers, it waits for its choice."""
        if self._choices.remote is None:
            self._run(self._load())

    def restart(self) -> None:
        """Start the engine again with the same pair."""
        self._window.transcript.withdraw_restart()
        self._window.notice.on_close()
        self._run(self._load(is_restart=True))

    def use_processor(self) -> None:
        """Start the engine again with the same pair, on the processor alone."""
        self._choices.change(compute="cpu", draft_compute="")
        self.restart()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
        self._task = asyncio.get_running_loop().create_task(work)

    async def _start(self) -> None:
        with suppress(TimeoutError):  # a drive that hangs does not keep the model waiting; the watch tells later
            self.offer(await asyncio.wait_for(beside(self._library.contents, "library"), LIST_PATIENCE_S))
        if self._choices.remote is None:
            await self._load()

    async def _load(self, *, is_restart: bool = False) -> None:
        self._engagement, self._has_failed = None, False
        pair = self._choices.pair()
        self.patience.start()
        try:
            refusal = await self._load_or_without_draft(pair, is_restart=is_restart)
        except EngineDiedError as fault:
            self.say_died(fault)
            self._go_back_to(self._host.state)  # what it died of is not what a restart begins with
        except SlipstreamError as fault:
            logger.info("load failed: %s", fault.message)
            self._has_failed = True
            self._go_back_to(self._host.state)
            action = None if self._choices.pair().is_on_processor else (USE_PROCESSOR, self.use_processor)
            self._window.notice.say("error", fault.message, fault.hint, action=action)
        else:
            self._take_in_loaded()
            if refusal is not None:
                self._window.notice.say(
                    "error", refusal.message, tr("{hint} The chat goes on without it.").format(hint=said(refusal.hint))
                )
        finally:
            self.patience.stop()
            self.withdraw_stuck()
            self._progress = ""
            self.refresh()
            self.loaded_changed.emit()

    async def _load_or_without_draft(self, pair: PairChoice, *, is_restart: bool) -> SlipstreamError | None:
        """Load a pair, or where nothing was loaded before, at least its target; return why then without the draft.

        Raises:
            SlipstreamError: nothing could be loaded, or something else is and stays so.
        """
        try:
            await (self._host.restart(pair) if is_restart else self._host.load(pair, self.on_progress))
        except EngineDiedError:
            raise
        except SlipstreamError as fault:
            if pair.draft is None or self._host.state.pair is not None:
                raise
            await self._host.load(replace(pair, draft=None), self.on_progress)
            return fault
        return None

    def _take_in_loaded(self) -> None:
        loaded = self._host.state.loaded
        if loaded is None:
            return
        self._choices.note_loaded(loaded)
        self.show_pickers()
        for notice in loaded.notices:
            self._window.notice.say("info" if notice.code == TREES_TRIED else "warning", notice.message, notice.hint)

    def _go_back_to(self, state: HostState) -> None:
        """After a load that failed, choose again what is (or will be again) loaded."""
        if state.pair is None or state.pair == self._choices.pair():
            return
        kinds = self._choices.kinds if self._kinds_before is None else self._kinds_before
        if state.pair.draft is None and "draft-simple" in kinds:
            kinds = ()
        self._choices.change(
            target=state.pair.target,
            draft=state.pair.draft,
            spec_types=kinds,
            **self._choices.how_loaded(state.pair),
        )
        self.show_pickers()

    def show_pickers(self) -> None:
        """Offer what can be picked, with what is picked."""
        loaded = self._host.state.loaded
        has_heads = (
            loaded is not None
            and "draft-mtp" in loaded.drafters
            and (loaded.draft is None or "draft-simple" in loaded.drafters)
        )
        remote = self._choices.remote
        options = [*self._options, *server_options(self._choices.servers, remote)]
        self._window.pair_bar.show_targets(
            options, self._choices.settings.target if remote is None else picker_name(remote)
        )
        self._window.pair_bar.show_drafters(self._drafts, self._choices.drafter, has_heads=has_heads)

    def on_progress(self, progress: LoadProgress) -> None:
        """Say how far a load has come."""
        self._progress = load_words(progress)
        self.patience.start()
        self.refresh()

    def on_patience_end(self) -> None:
        """Say that a load stands still, and offer what helps; it may wait for an answer before it."""
        if self._host.state.phase in ("loading", "starting"):
            self.say_stuck(tr("Loading has not moved for a minute: the disk is very slow, or the engine hangs."))
        else:
            self.patience.start()

    # --- choosing -------------------------------------------------------------------------------------

    def pick_target(self, name: str) -> None:
        """Chat with another model, of this computer or of a server."""
        if (remote := picked_server(name)) is not None:
            self.pick_server(remote)
            return
        self._remember_kinds()
        self._choices.change(target=name, server_url="", server_model="")
        self.show_pickers()
        self.load()

    def pick_server(self, remote: ServerModel) -> None:
        """Chat with a server's model; what is loaded here stays, for whoever comes back to it."""
        if self._choices.remote is None and self.is_loading and self._task is not None:
            self._task.cancel()
        self._choices.change(server_url=remote.url, server_model=remote.model)
        self._engagement = None
        self.show_pickers()
        self.refresh()
        self.loaded_changed.emit()

    def pick_drafter(self, name: str) -> None:
        """Let somebody else draft; the target is kept, and so is the switch."""
        self._remember_kinds()
        self._choices.choose_drafter(name)
        self.show_pickers()
        self._engagement = None
        if self._host.state.pair != self._choices.pair():
            self.load()
        else:
            self.refresh()

    def pick_pair(self, target: str, drafter: str, kind: SpecType = "draft-simple") -> None:
        """Chat with another model and let that one draft for it; the switch is kept."""
        self._remember_kinds()
        self._choices.change(target=target, server_url="", server_model="")
        self._choices.choose_drafter(drafter, kind)
        self.show_pickers()
        self.load()

    async def relist(self) -> None:
        """Offer what is on this computer now, as after a download."""
        self.offer(await beside(self._library.contents, "library"))

    def adopt(self, draft: str | None, kinds: tuple[SpecType, ...]) -> None:
        """Let exactly these draft, with this file or none: what was measured is what is used."""
        self._remember_kinds()
        self._choices.change(draft=draft, spec_types=kinds)
        self.show_pickers()
        self._engagement = None
        if self._host.state.pair != self._choices.pair():
            self.load()
        else:
            self.refresh()

    def _remember_kinds(self) -> None:
        """Remember who drafted before this choice, in case that its load fails."""
        if not self.is_loading:
            self._kinds_before = self._choices.kinds

    def on_speculation_toggled(self, is_on: bool) -> None:
        """Switch drafting on or off, from the next answer on."""
        self._choices.change(speculation=is_on)
        self._engagement = None
        self.refresh()

    def note_engagement(self, engagement: Engagement | None) -> None:
        """Take in what the engine says about the answer that is running."""
        self._engagement, self._plan = engagement, None
        self.refresh()

    def note_plan(self, plan: Plan) -> None:
        """Say what the controller does, but not so often that it cannot be read."""
        now_s = time.monotonic()
        if self._engagement is None or now_s - self._plan_said_s < PLAN_INTERVAL_S:
            return
        self._plan, self._plan_said_s = plan, now_s
        self.refresh()

    def note_answering(self, *, is_answering: bool) -> None:
        """While an answer runs, leave it to that to say that the engine died: one button is enough."""
        self._is_answering = is_answering
        self.refresh()

    def offer(self, contents: Contents) -> None:
        """Offer these models to chat with, and to draft with also those that can only draft."""
        self._options = [option_of(entry) for entry in contents.models]
        self._drafts = [*self._options, *(option_of(entry) for entry in contents.drafters)]
        self.show_pickers()
        self.refresh()

    # --- saying ---------------------------------------------------------------------------------------

    def on_state(self, state: HostState) -> None:
        """Say what the host is doing."""
        self.refresh()
        if (state.loaded is None) != self._is_empty:
            self._is_empty = state.loaded is None
            self.loaded_changed.emit()
        is_elsewhere = not self._choices.pair().is_on_processor  # there the notice offers something else
        if state.phase == "died" and not self.is_loading and (is_elsewhere or not self._is_answering):
            self.say_died(EngineDiedError(state.detail))

    def say_died(self, fault: EngineDiedError) -> None:
        """Say that the engine is gone, and offer to start it again; after a device that failed, on the processor."""
        action = (RESTART, self.restart)
        if not self._choices.pair().is_on_processor:
            action = (USE_PROCESSOR, self.use_processor)
        report = (tr("Report…"), lambda: self._window.action_list.run("program.report"))
        self._window.notice.say("error", fault.message, KEPT, action=action, more=report)

    def say_stuck(self, words: str) -> None:
        """Say that the engine hangs, and offer to start it again."""
        self._window.notice.say("warning", words, KEPT, action=(RESTART, self.restart))
        self._stuck = self._window.notice.words

    def withdraw_stuck(self) -> None:
        """It does not hang any more: take back what was said, if it is still there."""
        if self._stuck and self._window.notice.words == self._stuck:
            self._window.notice.on_close()
        self._stuck = ""

    def refresh(self) -> None:
        """Say everything anew: status line, pair bar, welcome."""
        loaded = self._host.state.loaded
        chosen = self._choices.settings
        words = expected_words(loaded, self._choices.speculation(), is_on=chosen.speculation)
        if self._engagement is not None and chosen.speculation and self._choices.kinds:
            words = engagement_words(self._engagement)
            if self._plan is not None:
                words = plan_words(self._engagement, self._plan)
        bar, is_here = self._window.pair_bar, self._choices.remote is None
        words = words if is_here else NOT_MEASURED
        bar.show_speculation(is_on=chosen.speculation, words=words)
        saved = debt_words(self._plan) if self._is_answering and is_here else ""
        self._window.panel.show_state(f"{words}; {saved}" if saved else words)
        bar.show_device(device_words(loaded) if is_here else "")
        is_free = self._host.state.phase != "answering" and not (self._is_answering and not is_here)
        bar.enable_pickers(can_pick=is_free, can_draft=is_here)
        status = self.status_words()
        self._window.show_status(status)
        self._window.transcript.welcome.show_state(status)

    def status_words(self) -> str:
        """What the program is doing, in one line."""
        if (remote := self._choices.remote) is not None:
            return ANSWERING if self._is_answering else ready_words(remote)
        label = self._window.pair_bar.label_of(self._choices.settings.target)
        return phase_words(self._host.state, self._progress, label, has_failed=self._has_failed)

    def explain_refusal(self) -> None:
        """Say why a question cannot be answered now; the question stays in the composer."""
        state = self._host.state
        if state.phase == "died" or (state.phase == "stopped" and state.pair is not None):
            self.say_died(EngineDiedError(state.detail or tr("The engine is not running.")))
        else:
            self._window.notice.say("error", NO_MODEL)
