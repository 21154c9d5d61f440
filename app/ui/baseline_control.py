"""Records baselines and keeps the list of them; between the host's log and panel and dialog."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import structs
from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from app.errors import ExportError, SlipstreamError
from app.host import AnswerEvent, Host, PairChoice
from app.metrics.baseline import staleness
from app.metrics.surroundings import SystemSource
from app.protocol import Chunk, Speculation, Started
from app.ui.baselines import BaselineDialog
from app.ui.recording import Recording, RecordingPlan, built_in_plan, n_answers, own_prompts, rounds_for
from app.ui.said import said, said_each
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.metrics.baseline import Baseline
    from app.metrics.surroundings import Source
    from app.ui.answering import Answering
    from app.ui.chats import Chats
    from app.ui.choices import Choices
    from app.ui.engine_control import EngineControl
    from app.ui.main_window import MainWindow

logger = logging.getLogger(__name__)

_RECORD_SEED = 1
RECORDING = tr("A baseline is being recorded. Cancel it, or wait.")


class BaselineControl(QObject):
    """One recording at a time; tells of its answers as :class:`Answering` tells of others."""

    began = Signal(bool)  # whether anything is asked to draft
    stepped = Signal(object)  # a tuple of Steps
    ended = Signal()
    changed = Signal()  # whether one is being recorded

    def __init__(
        self, window: MainWindow, host: Host, engine: EngineControl, answering: Answering, choices: Choices
    ) -> None:
        super().__init__(window)
        self._window, self._host, self._engine = window, host, engine
        self._answering, self._choices = answering, choices
        self._chats: Chats | None = None
        self._plan = built_in_plan()
        self._completion: RecordingPlan | None = None
        self._of: tuple[PairChoice, Speculation] | None = None  # what the last recording is of; None: of what was
        self._source: Source = SystemSource()
        self._recording: asyncio.Task[None] | None = None
        self._running: Recording | None = None
        self._others: Callable[[], str] = lambda: ""
        self._tasks: set[asyncio.Task[None]] = set()
        answering.refusal = self.refusal
        window.panel.record_requested.connect(lambda: self.record())
        window.panel.record_own_requested.connect(lambda: self.show(on_own=True))
        window.panel.record_more_requested.connect(self.record_more)
        window.panel.foot.again_requested.connect(self.complete)
        window.panel.foot.session_requested.connect(self.let_go)
        choices.watch(lambda _before, _after: None if self._of == self._chosen() else self.let_go())
        window.panel.foot.baselines_requested.connect(lambda: self.show())
        window.panel.cancel_requested.connect(self.cancel)
        window.composer.stopped.connect(self.cancel)  # Esc stops whatever answers

    @property
    def is_recording(self) -> bool:
        """Whether one is being recorded."""
        return self._recording is not None and not self._recording.done()

    def refusal(self) -> str:
        """Why no question can be asked now, "" if one can."""
        return RECORDING if self.is_recording else self._others()

    def respect(self, refusal: Callable[[], str]) -> None:
        """Wait for something else that measures; ``refusal`` says what, while it does."""
        self._others = refusal

    async def close(self) -> None:
        """Stop a recording; its answers are marked, and nothing is loaded again for nobody."""
        if self._running is not None:
            self._running.is_last = True
        if self._recording is not None:
            self._recording.cancel()  # also while what was loaded is loaded again
        if self._tasks:
            await asyncio.wait(self._tasks)

    # --- recording ------------------------------------------------------------------------------------

    def record(self, plan: RecordingPlan | None = None) -> None:
        """Record on these prompts, or those of last time, unless something else runs."""
        if self._begin(plan or self._plan):
            self._plan = plan or self._plan

    def _begin(self, plan: RecordingPlan) -> bool:
        if why := self._others():
            self._window.notice.say("info", why, expires_s=8)
            return False
        if self.is_recording or self._answering.is_busy or self._host.state.loaded is None:
            return False
        self._recording = self._spawn(self._record(plan))
        return True

    def record_more(self, n_pairs: int) -> None:
        """Record so many pairs of answers, or some more, on the built-in prompts."""
        self._begin(replace(built_in_plan(), n_rounds=rounds_for(n_pairs)))

    def complete(self) -> None:
        """Record what the last recording lacked for a baseline."""
        if self._completion is not None:
            self._begin(self._completion)

    def let_go(self) -> None:
        """Offer no completion of a recording any more: it was of another pair, conversation or session."""
        self._of = None
        if self._completion is not None:
            self._completion = None
            self._window.panel.show_recording(None, "")

    def _chosen(self) -> tuple[PairChoice, Speculation]:
        way = structs.replace(self._choices.drafting(), lenient=0.0)  # lossy answers count nowhere
        return self._choices.pair(), way

    def cancel(self) -> None:
        """Stop recording; what was loaded is loaded again, which somebody who is in a hurry does not stop."""
        is_whole = self._running is not None and self._running.is_whole
        if self._recording is not None and not self._recording.cancelling() and not is_whole:
            self._recording.cancel()

    async def _record(self, plan: RecordingPlan) -> None:
        pair, way = self._of = self._chosen()
        self._completion = None
        sampling = self._choices.sampling(_RECORD_SEED)
        recording = self._running = Recording(self._host, sampling, way, self._on_event, self._source)
        words = ""
        self._window.panel.show_recording(0.0, tr("Preparing to record…"))
        self.changed.emit()
        try:
            async with aclosing(recording.run(pair, plan)) as steps:
                async for progress in steps:
                    self._window.panel.show_recording(progress.fraction, progress.words)
            words = self._keep(recording.baselines)
        except asyncio.CancelledError:
            words = tr("The recording was cancelled. Its answers count nowhere.")
            if recording.is_whole:  # the program ends while what was loaded is loaded again
                words = self._keep(recording.baselines)
        except SlipstreamError as fault:
            logger.info("recording failed: %s", fault.message)
            words = self._broken_off(recording).format(message=said(fault.message), hint=said(fault.hint))
        except Exception as fault:  # a fault of ours: it is told, and the panel does not stay at its progress bar
            logger.exception("recording failed")
            hint = "" if recording.is_whole else tr("Its answers count nowhere.")
            words = self._broken_off(recording).format(message=f"{type(fault).__name__}: {fault}", hint=hint).rstrip()
        finally:
            self._recording = self._running = None
            is_short = recording.is_whole and not recording.baselines and self._of is not None
            self._completion = recording.completion if is_short else None
            n_again = n_answers(self._completion, (Speculation(), way)) if self._completion is not None else 0
            self._window.panel.show_recording(None, words, n_again)
            self._engine.note_engagement(None)
            self.ended.emit()

    def _broken_off(self, recording: Recording) -> str:
        """Keep what a recording has measured all the same; return words for the fault, with places for it."""
        if recording.baselines:
            self._keep(recording.baselines)
            return tr("Recorded, and in use. Afterwards something failed: {message} {hint}")
        if recording.is_whole:
            return tr("Recorded, without a baseline; the answers count for the verdict. {message} {hint}")
        return tr("The recording failed. {message} {hint}")

    def _keep(self, baselines: tuple[Baseline, ...]) -> str:
        """Use what was recorded and save it; return what else went on meanwhile, in words."""
        session = self._host.session
        session.take_up(baselines)
        try:
            for baseline in baselines:
                session.baselines.save(baseline)
        except ExportError as fault:  # the minutes that it took are not lost with it
            return tr("Recorded, and in use until the program ends. {message} {hint}").format(
                message=said(fault.message), hint=said(fault.hint)
            )
        notes = baselines[0].notes if baselines else ()
        return tr("Recorded. Meanwhile {notes}.").format(notes=said_each(notes)) if notes else ""

    def _on_event(self, event: AnswerEvent, way: Speculation) -> None:
        if isinstance(event, Started):
            self.began.emit(bool(way.types))
            self._engine.note_engagement(event.engagement if way.types else None)
        elif isinstance(event, Chunk):
            self.stepped.emit((event.step,))
            if event.plan is not None:
                self._engine.note_plan(event.plan)

    # --- the list -------------------------------------------------------------------------------------

    def use(self, chats: Chats) -> None:
        """Offer the questions of these conversations to record on."""
        self._chats = chats
        chats.shown_other.connect(self.let_go)

    def show(self, *, on_own: bool = False) -> None:
        """Open the list of baselines, ready to record on the person's own questions if that is asked for."""
        asked = self._chats.history() if self._chats is not None else ()
        dialog = BaselineDialog(own_prompts(asked), self._window)
        if on_own:
            dialog.choose_own()
        dialog.record_requested.connect(self.record)
        dialog.chosen.connect(lambda baseline: self._do(dialog, lambda: self._use(baseline)))
        dialog.renamed.connect(lambda baseline, name: self._do(dialog, lambda: self._rename(baseline, name)))
        dialog.deleted.connect(lambda baseline: self._do(dialog, lambda: self._forget(baseline)))
        dialog.finished.connect(dialog.deleteLater)
        self.ended.connect(dialog.refresh_wanted)
        dialog.refresh_wanted.connect(lambda: self._spawn(self._fill(dialog)))
        dialog.open()
        self._spawn(self._fill(dialog))

    async def _fill(self, dialog: BaselineDialog) -> None:
        if not isValid(dialog):  # closed in the meantime
            return
        dialog.n_looks += 1
        number, session = dialog.n_looks, self._host.session
        can_record = self._host.state.loaded is not None and not self._answering.is_busy and not self.is_recording
        dialog.enable_recording(can_record=can_record, why_not="" if can_record else tr("Something else is running."))
        found = await asyncio.to_thread(session.baselines.all)
        now = session.conditions_now()
        reasons = [staleness(one, now) if now else [tr("no model is loaded")] for one in found]
        used = session.baseline.id if session.baseline else ""
        if isValid(dialog) and dialog.isVisible() and number == dialog.n_looks:
            dialog.show_baselines(found, reasons, used)

    def _do(self, dialog: BaselineDialog, change: Any) -> None:  # noqa: ANN401 - whatever it returns is not needed
        try:
            change()
        except SlipstreamError as fault:
            self._window.notice.say("error", fault.message, fault.hint)
        self._spawn(self._fill(dialog))

    def _use(self, baseline: Baseline) -> None:
        self._host.session.baseline = baseline

    def _forget(self, baseline: Baseline) -> None:
        session = self._host.session
        session.baselines.delete(baseline)
        session.forget(baseline)

    def _rename(self, baseline: Baseline, name: str) -> None:
        session = self._host.session
        session.rename(session.baselines.rename(baseline, name))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
