"""The host: one engine, one loaded pair, one answer at a time, every answer recorded.

::

    window, command line, server ──▶ Host ──▶ Engine (a process)
                                      │  └───▶ Library (names to files)
                                      └──────▶ RunRecorder ─▶ SessionLog

Loads and answers take turns under one lock, first come, first served. A task of a caller may be cancelled at any
``await`` of these verbs: the engine is told, the answer so far is recorded, and the next request finds all in order.
All verbs belong to one event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from app.costs import CostsAt
from app.engine.client import Engine
from app.engine.death import HINT
from app.errors import EngineDiedError, EngineError, SlipstreamError
from app.host.board import Board
from app.host.files import PairFiles
from app.host.jobs import Job, Jobs
from app.host.lesson_book import LessonBook
from app.host.patience import Patience
from app.host.placing import Placed, Placing, in_thread
from app.host.runtime_engine import RuntimeEngine
from app.host.turn import Turn, last_event, watch_stop
from app.host.values import AnswerEvent, ChatRequest, HostState, PairChoice
from app.metrics.recorder import SessionLog
from app.models.library import Library, LibraryEntry
from app.protocol import (
    LIKELIEST,
    ChatMessage,
    CostsMeasured,
    Hello,
    Loaded,
    LoadProgress,
    MeasureCosts,
    Render,
    Rendered,
    Sampling,
    Templating,
    Tokenise,
    Tokenised,
    Unload,
    Unloaded,
)

logger = logging.getLogger(__name__)
Progress = Callable[[LoadProgress], None]


class Host:
    """Owns the engine and what is loaded in it."""

    def __init__(
        self,
        *,
        make_engine: Callable[[], Engine] = RuntimeEngine,
        library: Library | None = None,
        session: SessionLog | None = None,
        placing: Placing | None = None,
        make_patience: Callable[[bool], Patience] = Patience,
    ) -> None:
        self._make_engine = make_engine
        self._files = PairFiles(library or Library())
        self._session = session or SessionLog()
        self._placing = placing or Placing()
        self._book = LessonBook()
        self._board = Board()
        self._make_patience = make_patience
        self._patience = make_patience(False)
        self.subscribe = self._board.subscribe
        self._turns = asyncio.Lock()
        self._engine: Engine | None = None
        self._hello: Hello | None = None
        self._jobs = Jobs()
        self._is_to_come_back = False
        self._pair_to_come_back: PairChoice | None = None
        self._going_back: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def state(self) -> HostState:
        """What the host is doing."""
        return self._board.state

    @property
    def session(self) -> SessionLog:
        """Every answer of this session, also those that were cancelled or failed."""
        return self._session

    # --- engine and models ----------------------------------------------------------------------------

    async def start(self) -> None:
        """Start the engine, unless it runs.

        Raises:
            EngineDiedError: it does not start.
        """
        async with self._turns:
            await self._ensure_engine()

    async def load(self, pair: PairChoice, on_progress: Progress | None = None) -> Loaded:
        """Load a pair, starting the engine if need be; the pair that is loaded already costs nothing.

        If it fails or is cancelled, what was loaded before is loaded again in the background.

        Raises:
            ModelError: a name or a file is off.
            EngineError: the engine cannot load it, or died of it.
        """
        if self._going_back is not None:
            self._going_back.cancel()
        with self._jobs.begun() as job:
            async with self._turns:
                return await self._have_loaded(job, pair, on_progress)

    async def _have_loaded(self, job: Job, pair: PairChoice, on_progress: Progress | None = None) -> Loaded:
        """Load a pair unless it is loaded; if that fails, go back to what was loaded before."""
        state, before = self._board.state, self._board.state.pair
        if before == pair and self._is_alive() and await self._files.are_same() and state.loaded:
            return state.loaded
        try:
            return await self._load(job, pair, on_progress)
        except BaseException:
            if before is not None and before != pair and self._board.state.loaded is None and self._is_alive():
                self._going_back = self._spawn(self._go_back(before))
            raise

    async def restart(self, pair: PairChoice | None = None) -> Loaded | None:
        """End the engine, whatever it is doing, start a new one and load the same pair, or that one, into it.

        Raises:
            SlipstreamError: the engine does not start, or the pair does not load any more.
        """
        self._is_to_come_back, self._pair_to_come_back = True, pair
        await self._drop_engine()
        with self._jobs.begun() as job:
            async with self._turns:
                await self._come_back(job)
                return self._board.state.loaded

    async def close(self) -> None:
        """Stop everything and end the engine; as often as you like."""
        await asyncio.sleep(0)  # a task that is cancelled before its first step would tell nobody
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            for job in self._jobs:  # a load that is still looking for its files starts no engine any more
                job.is_cancelled = True
            await self._drop_engine()

    # --- answers ----------------------------------------------------------------------------------------

    async def answer(self, request: ChatRequest) -> AsyncGenerator[AnswerEvent, None]:
        """Answer, after the requests that came before; yield the events. Closing the iterator cancels it.

        Nothing in here awaits once the iterator is being closed: not every loop finalises generators.

        Raises:
            SlipstreamError: it could not be answered, or not to its end.
        """
        turn = Turn(request)
        self._jobs.append(turn.job)
        self._spawn(self._take_turn(turn))
        try:
            async for event in turn.events():
                yield event
        finally:
            turn.job.is_wanted = False
            self._stop(turn.job)

    async def cancel(self, request: ChatRequest | None = None) -> None:
        """Stop the answer to that very request, or the load or answer that is running now, or else comes next.

        Returns when it has stopped.
        """
        if (job := self._jobs.next(request)) is not None:
            job.is_cancelled = True
            self._stop(job)
            await job.over.wait()

    async def tokenise(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a text, also while an answer is running.

        Raises:
            EngineError: no model is loaded, or the engine died.
        """
        engine = self._require_loaded()
        return (await last_event(engine, Tokenise(engine.next_id(), text), Tokenised)).token_ids

    async def render(self, messages: Sequence[ChatMessage], templating: Templating) -> Rendered:
        """Return the prompt that the loaded model's template makes, also while an answer is running.

        Raises:
            EngineError: no model is loaded, or the engine died.
        """
        engine = self._require_loaded()
        return await last_event(engine, Render(engine.next_id(), tuple(messages), templating), Rendered)

    async def unload(self) -> None:
        """Free the models, in turn with the answers; what was loaded stays the pair of the next load.

        Raises:
            SlipstreamError: the engine died.
        """
        async with self._turns:
            if self._is_alive() and self._board.state.loaded is not None:
                await last_event(engine := self._require_loaded(), Unload(engine.next_id()), Unloaded)
                self._board.become(replace(self._board.state, loaded=None))

    async def measure_costs(
        self, n_rows: Sequence[int], positions: Sequence[int], repeat: int = 3, sampling: Sampling = LIKELIEST
    ) -> tuple[CostsAt, ...]:
        """Time target passes over so many rows, and the drafters as answers use them, at context positions, in turn.

        Raises:
            SlipstreamError: no model is loaded, it has no room for that, or the engine died.
        """
        with self._jobs.begun() as job:
            async with self._turns:
                engine = self._require_loaded()
                command = MeasureCosts(engine.next_id(), tuple(n_rows), tuple(positions), repeat, sampling)
                job.running = engine, command.id
                return (await last_event(engine, command, CostsMeasured)).costs

    def _stop(self, job: Job) -> None:
        job.stop()
        watch_stop(job, self._patience, self._spawn)

    # --- inside: engine and models ------------------------------------------------------------------------

    def _is_alive(self) -> bool:
        return self._engine is not None and self._engine.alive

    async def _ensure_engine(self, placed: Placed | None = None) -> Engine:
        if self._engine is not None and self._engine.alive and not self._placing.needs_new_engine(placed):
            return self._engine
        await self._drop_engine()
        self._board.enter("starting", "Starting the engine…")
        engine = self._engine = self._make_engine()
        self._patience = self._make_patience(False)  # what was said of another engine is not said of this one
        try:
            self._hello = await engine.start()
        except BaseException as fault:
            await self._drop_engine()
            if isinstance(fault, EngineDiedError):
                self._board.enter("died", fault.message)
            raise
        self._spawn(self._watch(engine))
        self._board.enter("idle")
        return engine

    async def _drop_engine(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()
        if self._engine is None:
            self._placing.note_end()
            self._board.enter("stopped")

    async def _come_back(self, job: Job) -> None:
        """Start and load again after a restart: whoever has the first turn does it, not only who asked for it."""
        if self._is_to_come_back:
            self._is_to_come_back = False
            pair = self._pair_to_come_back or self._board.state.pair
            try:
                await (self._ensure_engine() if pair is None else self._load(job, pair, None))
            except SlipstreamError:
                self._is_to_come_back = not job.is_wanted  # who left broke it off for itself alone
                raise

    async def _watch(self, engine: Engine) -> None:
        self._note_death(engine, await engine.lost())

    def _note_death(self, engine: Engine, fault: EngineDiedError) -> None:
        if engine is self._engine:
            self._board.enter("died", self._told(fault).message)

    def _told(self, fault: EngineDiedError) -> EngineDiedError:
        return self._placing.note_death(self._patience.explained(fault))

    async def _load(self, job: Job, pair: PairChoice, on_progress: Progress | None) -> Loaded:
        target, draft, placed = await self._find_files(pair)
        job.check_wanted()
        engine = await self._ensure_engine(placed)
        job.check_wanted()
        names, before = target.name + (f" with {draft.name}" if draft else ""), self._board.state.pair
        self._board.become(HostState("loading", None, pair, f"Loading {names}…"))
        command = pair.command(engine.next_id(), target.path, draft.path if draft else None)
        command = self._book.with_lessons(self._placing.command(placed, command))
        self._patience, job.running = self._make_patience(False), (engine, command.id)
        try:
            loaded = await last_event(engine, command, Loaded, on_progress)
        except EngineDiedError as fault:
            told = self._told(fault)
            died = EngineDiedError(f"{names} was not loaded. {told.message}", told.hint)
            self._board.become(HostState("died", None, before, died.message))
            raise died from fault
        except BaseException as fault:
            detail = fault.message if isinstance(fault, SlipstreamError) else ""
            self._board.become(HostState("idle", None, before, detail))
            raise
        finally:
            job.running = None
        if self._hello is not None:
            self._session.set_loaded(self._hello, loaded)
        self._patience = self._make_patience(pair.is_on_processor)
        self._board.become(HostState("idle", loaded, pair))
        return loaded

    async def _find_files(self, pair: PairChoice) -> tuple[LibraryEntry, LibraryEntry | None, Placed]:
        """Find and try the files and devices of a pair; what is loaded stays so, whatever comes of it."""
        with self._board.looking() as say:
            files = await self._files.find(pair, lambda name: say(f"Looking at {name} for the first time…"))
            return *files, await in_thread(self._placing.place, pair, say)

    async def _go_back(self, pair: PairChoice) -> None:
        """Load again what was loaded before a load that failed, unless somebody else's load came since."""
        with self._jobs.begun() as job:
            async with self._turns:
                if self._board.state.loaded is not None:
                    return
                failed = self._board.state.detail
                try:
                    await self._load(job, pair, None)
                except SlipstreamError as fault:
                    logger.info("%s could not be loaded again: %s", pair.target, fault)
                    return
                self._board.enter("idle", failed)

    # --- inside: answers ----------------------------------------------------------------------------------

    def _require_loaded(self) -> Engine:
        if self._board.state.phase == "died":
            raise EngineDiedError(self._board.state.detail, HINT)
        if self._engine is None or self._board.state.loaded is None:
            raise EngineError("No model is loaded.", "Choose a model first.")
        return self._engine

    async def _take_turn(self, turn: Turn) -> None:
        try:
            async with self._turns:
                if turn.job.is_to_be:
                    await self._come_back(turn.job)
                    if turn.request.pair is not None:
                        await self._have_loaded(turn.job, turn.request.pair)
                if turn.job.is_cancelled:  # perhaps of a load, in its last moment
                    turn.record(self._session.add(turn.cancel_unsent()))
                elif turn.job.is_wanted:
                    await self._fetch_answer(turn)
        except SlipstreamError as fault:
            turn.end(fault)
        except asyncio.CancelledError:
            turn.end(EngineDiedError("The engine was stopped.", HINT))
            raise
        except Exception as fault:
            logger.exception("an answer failed")
            turn.end(EngineError(f"The answer failed ({type(fault).__name__}: {fault})."))
        else:
            turn.end(None)
        finally:
            self._jobs.end(turn.job)

    async def _fetch_answer(self, turn: Turn) -> None:
        """Pass the answer's events to its reader, and to the record whatever happens."""
        engine = self._require_loaded()
        recorder, command = turn.recorder(self._session.power), turn.command(engine.next_id())
        self._board.enter("answering")
        fault: SlipstreamError | None = None
        turn.job.running = engine, command.id
        try:
            if turn.job.is_wanted:  # who leaves says so before it looks at what runs; here it is the other way round
                await turn.fetch(engine.send(command), recorder.on_event, self._patience.note, self._book.note)
        except SlipstreamError as error:
            fault = self._told(error) if isinstance(error, EngineDiedError) else error
            raise fault from None
        finally:
            turn.job.running = None
            turn.record(self._session.add(recorder.finish(fault)))
            if isinstance(fault, EngineDiedError):
                self._note_death(engine, fault)
            elif self._board.state.phase == "answering":
                self._board.enter("idle")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
