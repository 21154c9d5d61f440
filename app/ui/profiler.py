"""The pair profiler in the window: between its dialog on one side, host, settings and conversations on the other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from app.errors import SlipstreamError, StoreError
from app.host import Host
from app.host.profiling import ProfilePlan, Profiler, drafts_to_try
from app.metrics.profile import Candidate, Profile, write_profile, write_training
from app.metrics.prompts import MIXED, Prompt, load_prompts
from app.metrics.redaction import redacted_profile
from app.models.library import Library
from app.protocol import ChatMessage
from app.ui.profile_dialog import ProfileDialog
from app.ui.said import fault_words, said
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.chat.store import ChatStore
    from app.host import AnswerEvent
    from app.ui.answering import Answering
    from app.ui.baseline_control import BaselineControl
    from app.ui.choices import Choices
    from app.ui.engine_control import EngineControl
    from app.ui.main_window import MainWindow

logger = logging.getLogger(__name__)

PROFILING = tr("Drafters are being measured. Cancel that, or wait.")
OWN = "own"
"""Source of the person's own questions."""

MOST_OWN = 8
_SEED = 1


class ProfilerControl(QObject):
    """Opens the dialog, runs the profile, adopts what it recommends, exports it."""

    def __init__(
        self, window: MainWindow, host: Host, library: Library, choices: Choices, engine: EngineControl
    ) -> None:
        super().__init__(window)
        self._window, self._host, self._library = window, host, library
        self._choices, self._engine = choices, engine
        self._answering: Answering | None = None
        self._busy: Callable[[], str] = lambda: ""
        self._own: tuple[Prompt, ...] = ()
        self._store: ChatStore | None = None
        self._task: asyncio.Task[None] | None = None
        self._profiler: Profiler | None = None
        self._result: Profile | None = None
        self.dialog: ProfileDialog | None = None
        window.panel.foot.profile_requested.connect(self.open)

    def use(self, answering: Answering, store: ChatStore) -> None:
        """Take the prompts from these conversations, and wait for their answers."""
        self._answering, self._store = answering, store

    def take_turns(self, baselines: BaselineControl) -> None:
        """Never measure while a baseline is recorded, nor the other way round: each would load the other's models."""
        self._busy = baselines.refusal
        baselines.respect(lambda: PROFILING if self.is_running else "")

    @property
    def is_running(self) -> bool:
        """Whether answers are being measured."""
        return self._task is not None and not self._task.done()

    def open(self) -> None:
        """Show the dialog, or say why it would be of no use now."""
        if self.dialog is not None:
            return
        if self._host.state.loaded is None:
            self._engine.explain_refusal()
            return
        if self._answering is not None and self._answering.is_busy:
            self._window.notice.say("info", tr("An answer is being written."), tr("Stop it first (Esc)."), expires_s=6)
            return
        if why := self._busy():
            self._window.notice.say("info", why, expires_s=8)
            return
        self._own = own_prompts(self._store) if self._store is not None else ()
        dialog = self.dialog = ProfileDialog(self._window)
        sources = [(tr("Your own questions ({n_own})").format(n_own=len(self._own)), OWN)] if self._own else []
        dialog.offer_prompts([*sources, (tr("Built in: one of each kind"), MIXED), (tr("A file…"), "")])
        dialog.start_requested.connect(self.start)
        dialog.cancel_requested.connect(self.cancel)
        dialog.adopt_requested.connect(self.adopt)
        dialog.export_requested.connect(self.export)
        dialog.training_requested.connect(self.export_training)
        dialog.file_requested.connect(self.choose_file)
        dialog.finished.connect(self.on_finished)
        dialog.open()

    def on_finished(self) -> None:
        """Let go of the dialog."""
        if self.dialog is not None:
            self.dialog.deleteLater()
        self.dialog = self._profiler = self._result = None

    async def close(self) -> None:
        """Cancel what is running and take the dialog away."""
        if self._task is not None and self.is_running:
            await asyncio.sleep(0)  # see cancel()
            if self._profiler is not None:
                self._profiler.is_last = True
            self._task.cancel()
            await asyncio.wait([self._task])
        if self.dialog is not None:
            self.dialog.done(0)

    # --- running --------------------------------------------------------------------------------------

    def start(self) -> None:
        """Measure as the dialog says."""
        if self.dialog is None or self.is_running:
            return
        try:
            prompts = self._own if self.dialog.source == OWN else load_prompts(self.dialog.source)
        except SlipstreamError as fault:
            self.dialog.show_running(None, fault_words(fault))
            return
        self.dialog.show_advice(())
        self.dialog.show_rows(())
        self.dialog.show_running(0.0, tr("Preparing…"))
        self._task = asyncio.get_running_loop().create_task(self._run(prompts, self.dialog))

    def cancel(self) -> None:
        """Stop measuring; what was measured stays."""
        if self._task is not None and not self._task.done():
            asyncio.get_running_loop().call_soon(self._stop)  # before its first step it would say nothing
            if self.dialog is not None:
                self.dialog.words.setText(tr("Stopping…"))

    def _stop(self) -> None:
        """Cancel once: somebody in a hurry does not stop what was loaded from being loaded again."""
        if self._task is not None and not self._task.cancelling():
            self._task.cancel()

    async def _run(self, prompts: tuple[Prompt, ...], dialog: ProfileDialog) -> None:
        words = tr("Done.")
        try:
            plan = await self._plan(prompts, dialog)
            profiler = self._profiler = Profiler(self._host, plan, _ignore)
            async with aclosing(profiler.run()) as steps:
                async for step in steps:
                    dialog.show_running(step.fraction, said(step.words))
                    dialog.show_rows(step.rows)
        except asyncio.CancelledError:
            words = tr("Cancelled. What was measured so far:")
        except SlipstreamError as fault:
            words = tr("It broke off: {message} {hint}").format(message=said(fault.message), hint=said(fault.hint))
        except Exception as fault:
            logger.exception("a profile failed")
            words = tr("Something unexpected went wrong ({kind}). The details are in the log.").format(
                kind=type(fault).__name__
            )
        self._show_result(dialog, words)

    async def _plan(self, prompts: tuple[Prompt, ...], dialog: ProfileDialog) -> ProfilePlan:
        pair = self._choices.pair()
        entries = await asyncio.to_thread(self._library.entries)
        target = await asyncio.to_thread(self._library.resolve, pair.target)
        drafts = drafts_to_try(entries, target)
        if pair.draft is not None and pair.draft not in drafts:
            drafts = (*drafts, pair.draft)
        return ProfilePlan(
            pair=pair,
            prompts=prompts,
            sampling=self._choices.sampling(_SEED),
            drafts=drafts,
            max_tokens=dialog.max_tokens.value(),
            rounds=dialog.rounds.value(),
        )

    def _show_result(self, dialog: ProfileDialog, words: str) -> None:
        result = self._result = self._profiler.result() if self._profiler is not None else None
        if dialog is not self.dialog:
            return
        rows = result.rows if result is not None else ()
        best = next((n for n, row in enumerate(rows) if result and row.candidate == result.recommended), None)
        dialog.show_running(None, words)
        dialog.show_rows(rows, best=best)
        dialog.show_advice([said(one) for one in result.advice] if result is not None and result.trials else ())

    # --- with the result ------------------------------------------------------------------------------

    def adopt(self, number: int) -> None:
        """Draft that way from the next answer on, and close the dialog."""
        if self._result is None or not 0 <= number < len(self._result.rows) or self.dialog is None:
            return
        chosen = self._result.rows[number].candidate
        self.dialog.accept()
        self.use_candidate(chosen)

    def use_candidate(self, chosen: Candidate) -> None:
        """Make it the person's choice."""
        self._choices.change(draft_tokens=chosen.draft_tokens, speculation=True)
        self._engine.adopt(chosen.draft, (chosen.spec_type,))
        self._window.notice.say(
            "info", tr("From the next answer on: {words}.").format(words=said(chosen.words)), expires_s=8
        )

    def choose_file(self) -> None:
        """Ask for a file of prompts."""
        dialog = QFileDialog(self.dialog, tr("Prompts"))
        dialog.setNameFilters([tr("Prompts, one JSON object a line (*.jsonl)"), tr("All files (*)")])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.on_file_chosen)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def on_file_chosen(self, path: str) -> None:
        """Check a file and offer it."""
        if self.dialog is None:
            return
        try:
            n = len(load_prompts(path))
        except SlipstreamError as fault:
            self.dialog.show_running(None, fault_words(fault))
        else:
            self.dialog.add_file(f"{Path(path).name} ({n})", path)

    def export(self) -> None:
        """Ask where to, then write the result."""
        self._save(
            tr("Export result"),
            "profile.json",
            [tr("JSON, every step (*.json)"), tr("Table (*.csv)")],
            self.write_result,
        )

    def export_training(self) -> None:
        """Ask where to, then write prompts and answers."""
        self._save(tr("Export training data"), "training.jsonl", [tr("JSON lines (*.jsonl)")], self.write_training)

    def _save(self, title: str, name: str, filters: list[str], then: Callable[[str], None]) -> None:
        dialog = QFileDialog(self.dialog, title, name)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(filters)
        dialog.setDefaultSuffix(Path(name).suffix[1:])
        dialog.fileSelected.connect(then)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def write_result(self, path: str) -> None:
        """Write the result without prompts and paths; the ending of the name says how."""
        if self._result is not None:
            result = redacted_profile(self._result)
            self._write(path, lambda: write_profile(result, Path(path)))

    def write_training(self, path: str) -> None:
        """Write prompts with the target's own answers."""
        if self._profiler is not None:
            lines = tuple(self._profiler.training.values())
            self._write(path, lambda: write_training(lines, Path(path)))

    def _write(self, path: str, write: Callable[[], object]) -> None:
        words = tr("Written to {path}.").format(path=path)
        try:
            write()
        except SlipstreamError as fault:
            words = fault_words(fault)
        if self.dialog is not None:
            self.dialog.words.setText(words)


def own_prompts(store: ChatStore, most: int = MOST_OWN) -> tuple[Prompt, ...]:
    """Return the first questions of the newest conversations, each once: they need no conversation before them."""
    found: dict[str, Prompt] = {}
    try:
        for head in store.heads(limit=4 * most):
            messages = store.load(head.id).messages
            first = next((message for message in messages if message.role == "user"), None)
            text = first.text.strip() if first is not None else ""
            if text and text not in found:
                found[text] = Prompt(f"own-{len(found) + 1}", (ChatMessage("user", text),), OWN)
            if len(found) == most:
                break
    except StoreError as fault:
        logger.info("own prompts could not be read: %s", fault.message)
    return tuple(found.values())


def _ignore(_event: AnswerEvent) -> None:
    """Show nothing of single answers."""
