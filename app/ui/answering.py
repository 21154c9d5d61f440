"""One answer at a time: from the composer through the host into the transcript and the database.

The turn is a task. What ends it early is one of three things: the person (*stop*), the engine (it failed, or died), or
the end of the program; in each the text so far is kept and says how it ended.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, assert_never

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.conversation import AnswerStats, MessageState
from app.chat.going_on import joined
from app.chat.sampling import sampling_for
from app.chat.store import SAVE_EVERY_S
from app.engine.client import UNWATCHED_S, WATCHED_S
from app.engine.gathering import Gathering
from app.engine.thinking import begun_mark
from app.errors import EngineDiedError, SlipstreamError, UsageError
from app.host import AnswerEvent, ChatRequest, Host
from app.host.answer_stats import stats_of
from app.host.remote_servers import ServerKeys
from app.host.remote_wire import ServerModel, read_address
from app.protocol import ChatMessage, Chunk, Done, Prefill, Started, Templating, is_lossy_name
from app.ui.engine_notices import EngineNotices
from app.ui.remote_answer import RemoteAnswers
from app.ui.said import said
from app.ui.tr import tr
from app.ui.wording import answer_words, prefill_words, waiting_words

if TYPE_CHECKING:
    from app.chat.chat_settings import Constraint
    from app.ui.chats import Chats
    from app.ui.choices import Choices
    from app.ui.engine_control import EngineControl
    from app.ui.growing import GrowingAnswer
    from app.ui.main_window import MainWindow

logger = logging.getLogger(__name__)

WAITING = tr("Waiting for the engine…")
WRITING = tr("Answering…")
DIED_MARK = tr("The engine stopped while it was writing this. What it had written is kept.")
OPEN_SETTINGS = tr("Conversation settings")
STUCK = tr("The engine does not react to the stop.")

STOP_PATIENCE_S = 4.0
"""How long a stop may take before the restart is offered; a stop comes through within a layer, on a CPU."""


class Answering(QObject):
    """Asks and stops."""

    begun = Signal()  # something is asked, whoever answers
    began = Signal(bool)  # whether anything is asked to draft
    stepped = Signal(object)  # a tuple of Steps, in order
    ended = Signal()
    settings_wanted = Signal()  # what the conversation sets for itself cannot be kept

    def __init__(self, window: MainWindow, host: Host, chats: Chats, engine: EngineControl, choices: Choices) -> None:
        super().__init__(window)
        self._window, self._host, self._chats = window, host, chats
        self._engine, self._choices = engine, choices
        self.keys = ServerKeys()
        self.servers = RemoteAnswers(self.keys)
        self._reported: AnswerStats | None = None
        self._task: asyncio.Task[None] | None = None
        self._started: Started | None = None
        self._growing: GrowingAnswer | None = None
        self._asked: ChatRequest | None = None
        self._is_broken_off = False
        self._notices = EngineNotices(window.notice)
        self._burst: list[Chunk] = []
        self._begun = ""
        self._burst_over = QTimer(self, singleShot=True, interval=0)
        self._burst_over.timeout.connect(self.on_burst_over)
        self.refusal: Callable[[], str] = lambda: ""
        self.gathering = Gathering(WATCHED_S)
        self._save = QTimer(self, singleShot=True, interval=round(SAVE_EVERY_S * 1000))
        self._save.timeout.connect(self.on_save_due)
        self.patience = QTimer(self, singleShot=True, interval=round(STOP_PATIENCE_S * 1000))
        self.patience.timeout.connect(self.on_patience_end)
        window.composer.sent.connect(self.ask)
        window.composer.stopped.connect(self.stop)
        window.transcript.example_chosen.connect(window.composer.send_beside)

    @property
    def is_remote(self) -> bool:
        """Whether a server answers."""
        return self._choices.remote is not None

    @property
    def is_broken_off(self) -> bool:
        """Whether the last answer was stopped, or failed."""
        return self._is_broken_off

    @property
    def is_busy(self) -> bool:
        """Whether an answer is on its way."""
        return self._task is not None and not self._task.done()

    def ask(self, text: str) -> None:
        """Send a question; while it cannot be answered it stays in the composer, with the reason said."""
        if self.is_busy:
            return
        if not self.is_ready():
            self._window.composer.set_text(text)
            return
        files = self._window.composer.take_files()
        self._window.composer.set_text("")
        self._window.notice.on_close()
        writing = self._chats.sending.send(text, files)
        if writing is None:
            self.begin(self._chats.begin_answer())
            return
        self.begin_behind(writing)

    def begin_behind(self, writing: asyncio.Task[bool]) -> None:
        """Answer once a question is saved; a stop before that leaves it without an answer."""
        self._window.composer.show_answering(is_answering=True)
        self._is_broken_off, self._started = False, None
        self._task = asyncio.get_running_loop().create_task(self._begin_behind(writing))

    async def _begin_behind(self, writing: asyncio.Task[bool]) -> None:
        try:
            try:
                await asyncio.wait([writing])
            except asyncio.CancelledError:
                self._is_broken_off = True
                await asyncio.wait([writing])
            if not self._is_broken_off and writing.result() and self.is_ready():
                self.begin(self._chats.begin_answer())
        finally:
            if self._task is asyncio.current_task():  # no answer has begun
                self._task = None
                self._window.composer.show_answering(is_answering=False)
                self._window.composer.unqueue()

    def is_ready(self) -> bool:
        """Whether something can be answered now; if not, that is explained."""
        if why := self.refusal():
            self._window.notice.say("info", why, expires_s=8)
            return False
        if not self._engine.can_answer:
            self._engine.explain_refusal()
            return False
        try:
            sampling_for(self._chats.settings, self._choices.settings, 0)
        except UsageError as fault:
            action = (OPEN_SETTINGS, self.settings_wanted.emit)
            self._window.notice.say("error", fault.message, fault.hint, action=action)
            return False
        return True

    def begin(self, growing: GrowingAnswer) -> None:
        """Let an answer to the open conversation grow."""
        request = self._asked = self._request(growing)  # now: before the task's first step another chat may be open
        remote, constraint = self._choices.remote, self._chats.settings.constraint
        self._growing = growing
        self._is_broken_off = False
        self._window.composer.show_answering(is_answering=True)
        self._started = None  # not that of the last answer: a stop in this very tick means this one
        self._task = asyncio.get_running_loop().create_task(self._answer(growing, request, remote, constraint))
        self.begun.emit()

    def stop(self) -> None:
        """Stop the answer that is on its way; what it has said stays."""
        if self._task is None or self._task.done() or (self._is_broken_off and self._chats.sending.is_busy):
            return
        self._is_broken_off = True
        if self.servers.is_running:
            self.servers.stop()
        elif self._started is None:
            asyncio.get_running_loop().call_soon(self._task.cancel)  # not before its first step: see close()
        else:
            self._cancelling = asyncio.get_running_loop().create_task(self._host.cancel(self._asked))
            if not self.patience.isActive():
                self.patience.start()

    def on_patience_end(self) -> None:
        """Say that the engine hangs, and offer what helps."""
        if self.is_busy:
            self._engine.say_stuck(STUCK)

    async def close(self) -> None:
        """Stop, and wait until what was said is saved."""
        await asyncio.sleep(0)  # a task that is cancelled before its first step runs no ``finally``
        if (task := self._task) is not None and not task.done():
            task.cancel()
            await asyncio.wait([task])

    # --- the turn -------------------------------------------------------------------------------------

    async def _answer(
        self, growing: GrowingAnswer, request: ChatRequest, remote: ServerModel | None, constraint: Constraint | None
    ) -> None:
        """Stream one answer."""
        self._engine.note_answering(is_answering=True)
        self._reported = None
        state: MessageState = "complete"
        try:
            if remote is not None:
                await self._have_server_answer(remote, request, constraint, growing)
            else:
                await self._have_engine_answer(request, growing)
        except asyncio.CancelledError:
            state = "interrupted"
        except EngineDiedError as fault:
            state = "interrupted"
            self._say_died(growing, fault)
        except SlipstreamError as fault:
            state = "interrupted"
            self._say_failed(growing, fault.message, fault.hint)
        except Exception as fault:
            state = "interrupted"
            logger.exception("a turn failed")
            self._window.fault_happened.emit(fault)
            kind = type(fault).__name__
            words = tr("Something unexpected went wrong ({kind}: {fault}).").format(kind=kind, fault=fault)
            self._say_failed(growing, words, tr("The details are in the log."))
        finally:
            self._finish(growing, state)

    async def _have_engine_answer(self, request: ChatRequest, growing: GrowingAnswer) -> None:
        growing.show_status(self._engine.status_words())
        self._load_if_context_differs()
        await self._engine.settled()
        loaded = self._host.state.loaded
        self._window.transcript.pace.leave_cores(loaded.n_threads if loaded is not None else 0)
        growing.show_status(WAITING)
        self.began.emit(bool(request.speculation.types))
        await self._listen(request, growing)

    async def _listen(self, request: ChatRequest, growing: GrowingAnswer) -> None:
        """Take all that is said; whoever is told of an end finds it taken."""
        try:
            async with aclosing(self._host.answer(request)) as events:
                async for event in events:
                    self._take(event, growing)
        finally:
            self.on_burst_over()

    async def _have_server_answer(
        self, remote: ServerModel, request: ChatRequest, constraint: Constraint | None, growing: GrowingAnswer
    ) -> None:
        """Have a server answer. The panel hears nothing of it, and no run is recorded: nothing was measured."""
        self._reported = AnswerStats(server=read_address(remote.url).words)  # also where it breaks off
        growing.model = remote.model
        self._window.transcript.pace.leave_cores(0)
        self._reported, notices = await self.servers.answer(
            remote, request, constraint, growing, lambda text: self._take_text(text, growing)
        )
        for notice in notices:
            self._window.notice.say("warning", notice)

    def _load_if_context_differs(self) -> None:
        """Load again with the context length that this conversation wants, if another is loaded."""
        pair = self._host.state.pair
        if pair is not None and pair.n_ctx != self._choices.pair().n_ctx and not self._engine.is_loading:
            self._engine.load()

    def _request(self, growing: GrowingAnswer) -> ChatRequest:
        """Return what is asked; the same seed as before lets an answer go on as it would have."""
        chosen, own = self._choices.settings, self._chats.settings
        messages = self._chats.history(self._choices.system_prompt)
        if growing.before is not None:
            messages = (*messages, ChatMessage("assistant", growing.text))
        before = growing.before.stats if growing.before is not None else None
        seed = secrets.randbits(31) if before is None or before.seed is None else before.seed
        return ChatRequest(
            messages=messages,
            speculation=self._choices.speculation(),
            sampling=sampling_for(own, chosen, seed),
            max_tokens=self._choices.max_tokens,
            stop=own.stop or (),
            token_details=chosen.token_colours,
            slide=chosen.slide,
            templating=Templating(
                template=self._choices.template,
                reasoning=own.reasoning,
                reasoning_effort=own.reasoning_effort,
                goes_on=growing.before is not None,
            ),
            on_recorded=growing.note_run,
        )

    def _take(self, event: AnswerEvent, growing: GrowingAnswer) -> None:
        match event:
            case Started():
                self._started = event
                pair = self._host.state.pair
                growing.model = self._window.pair_bar.label_of(pair.target) if pair is not None else ""
                self._begun = "" if growing.before is not None else begun_mark(event.prompt_end)
                self._engine.note_engagement(event.engagement)
                growing.is_lossy = is_lossy_name(event.engagement.drafter)
                growing.show_status(prefill_words(event, 0))
                self._notices.tell(event.notices)
            case Prefill():
                self.on_burst_over()  # in mid-answer, what was written comes first
                growing.show_status(waiting_words(event, self._started))
            case Chunk():
                self._burst.append(event)
                if len(self._burst) == 1:
                    self._burst_over.start()
            case Done():
                self.on_burst_over()
                growing.add_text(event.text)
                self._notices.tell(event.notices)
            case _ as never:
                assert_never(never)

    def _take_text(self, text: str, growing: GrowingAnswer) -> None:
        """Take what a server says."""
        growing.show_status(WRITING)
        growing.add_text(text)
        self._save_soon()

    def on_burst_over(self) -> None:
        """Take what came at one go as one piece: the window has its say once for all of it, not for every token."""
        self._burst_over.stop()
        burst, self._burst = self._burst, []
        if not burst or self._growing is None:
            return
        growing = self._growing
        growing.show_status(WRITING)
        growing.add_text(self._begun)  # what the template began for the model is part of what it says
        self._begun = ""
        if any(chunk.details for chunk in burst):
            for chunk in burst:
                if chunk.details:
                    growing.note_tokens(chunk)
                growing.add_text(chunk.text)
        else:
            growing.add_text("".join(chunk.text for chunk in burst))
        self.stepped.emit(tuple(chunk.step for chunk in burst))
        plan = next((chunk.plan for chunk in reversed(burst) if chunk.plan is not None), None)
        if plan is not None:
            self._engine.note_plan(plan)
        frame_s = self._window.transcript.frame_ms / 1000
        self.gathering.seconds = min(UNWATCHED_S, max(WATCHED_S, frame_s))  # an end is not to wait for calm motion
        self._save_soon()

    def _save_soon(self) -> None:
        if not self._save.isActive():
            self._save.start()

    def on_save_due(self) -> None:
        """Write down what has been said so far."""
        self.on_burst_over()
        if self._growing is not None:
            self._chats.save_growing(self._growing)

    def _say_died(self, growing: GrowingAnswer, fault: EngineDiedError) -> None:
        """Offer the restart once: at the half answer if there is one on the screen, else in a notice."""
        logger.info("the engine died in an answer: %s", fault.message)
        is_coming_back = self._engine.is_loading  # somebody asked for the restart that ended this answer
        if growing.view is not None and growing.text.strip():
            growing.view.show_mark(f"{DIED_MARK} {said(fault.message)}", offer_restart=not is_coming_back)
        elif not is_coming_back:
            self._engine.say_died(fault)

    def _say_failed(self, growing: GrowingAnswer, message: str, hint: str) -> None:
        self._window.notice.say("error", message, hint)
        if growing.view is not None and growing.text.strip():
            growing.view.show_mark(tr("The answer broke off: {message}").format(message=said(message)))

    def _stats(self, growing: GrowingAnswer) -> AnswerStats | None:
        """What is known of the answer that has ended: measured here, or reported by the server that gave it."""
        run = growing.run  # not the session's newest: another program may have asked meanwhile, or a session begun
        if self._reported is not None or run is None:
            return self._reported
        return stats_of(run, self._started.engagement if self._started else None)

    def _finish(self, growing: GrowingAnswer, state: MessageState) -> None:
        self.gathering.seconds = WATCHED_S  # who else is answered by this engine looks as often as before
        self._save.stop()
        self.patience.stop()
        self._is_broken_off = self._is_broken_off or state != "complete"
        self._engine.withdraw_stuck()
        stats = self._stats(growing)
        whole = stats if growing.before is None else joined(growing.before.stats, stats)
        growing.show_status(answer_words(whole, growing.model))
        view = growing.view
        self._chats.end_answer(growing, state, stats)
        if view is not None and not growing.text.strip():
            self._window.transcript.remove(view)
        self._growing = self._task = None  # whoever hears that it has ended finds it ended
        self._window.composer.show_answering(is_answering=False)
        self._engine.note_answering(is_answering=False)
        self.ended.emit()
        if self._is_broken_off:
            self._window.composer.unqueue()
        elif not self.is_busy:
            self._window.composer.send_next()
