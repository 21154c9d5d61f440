"""The engine process: reads commands, carries them out, writes events.

::

    command pipe ─▶ reader thread ─┬▶ work queue ──▶ main thread: load, generate, unload ─┐
                     (cancel: flag)└▶ aside queue ─▶ aside thread: tokenise, render ───────┴▶ event pipe

The end of the command pipe means that nobody listens any more: the process exits at once, in the middle of a decode if
need be. A command that fails is answered with :class:`~app.protocol.Failed`; it never ends the process.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from typing import BinaryIO, NoReturn, Protocol

import msgspec

from app import __version__
from app.engine import leash
from app.engine.cancel import CancelFlag
from app.engine.ggml import bring_together
from app.engine.surroundings import enter_given
from app.engine.template import Renderer
from app.errors import EngineError, LoadError, SlipstreamError, UsageError
from app.protocol import (
    MAX_LINE_BYTES,
    Cancel,
    Chunk,
    Command,
    CostsMeasured,
    Done,
    ErrorInfo,
    Event,
    Failed,
    Generate,
    Hello,
    Load,
    Loaded,
    LoadProgress,
    MeasureCosts,
    Prefill,
    Render,
    Rendered,
    Started,
    Tokenise,
    Tokenised,
    Unload,
    Unloaded,
    decode_command,
    encode,
)

logger = logging.getLogger(__name__)

FIRST_TEXT_S = 0.001
"""How long the engine rests once an answer has begun. Its next pass takes every core, and the first text passes through
three threads on its way to a client: measured with the starter on 2 busy cores, by turns, the first byte came 4.3 ms
after the first token without this, 2.2 ms with it (medians, n = 30)."""


SETTLED_S = 1.0
"""How long nobody asks for anything before the session may use the time: behind an answer a window draws and saves."""


class EngineSession(Protocol):
    """What the worker serves: :class:`app.engine.session.Session`, or a scripted one in tests."""

    def load(self, command: Load, cancel: CancelFlag) -> Iterator[LoadProgress | Loaded]:
        """Load a pair; the last event is ``Loaded``."""

    def generate(
        self, command: Generate, *, received_s: float, cancel: CancelFlag
    ) -> Generator[Started | Prefill | Chunk | Done, None, None]:
        """Answer; the last event is ``Done``."""

    def measure_costs(self, command: MeasureCosts, cancel: CancelFlag) -> CostsMeasured:
        """Time passes of the loaded pair."""

    def tokenise(self, text: str) -> tuple[int, ...]:
        """Return the token ids of a text; called from another thread, also during a generation."""

    def preview(self, command: Render) -> Rendered:
        """Return the prompt of a conversation; called from another thread, also during a generation."""

    def rest(self, cancel: CancelFlag) -> None:
        """Use a pause, which the flag ends."""

    def unload(self) -> None:
        """Free the models."""


MakeSession = Callable[[], tuple[Hello, EngineSession]]


@dataclass(frozen=True, slots=True)
class _Job:
    command: Load | Generate | Unload | MeasureCosts
    received_s: float
    cancel: CancelFlag


@dataclass(slots=True)
class _Inbox:
    """Commands between the reader thread and the two that carry them out."""

    work: queue.SimpleQueue[_Job] = field(default_factory=queue.SimpleQueue)
    asides: queue.SimpleQueue[Tokenise | Render] = field(default_factory=queue.SimpleQueue)
    models: threading.Lock = field(default_factory=threading.Lock)  # held while models come, go, or are asked aside
    _flags: dict[int, CancelFlag] = field(default_factory=dict)
    _pause: CancelFlag = field(default_factory=CancelFlag)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, command: Command) -> None:
        """Queue a command; a cancel only raises the flag of the one that it means, if that is still there."""
        match command:
            case Cancel(id=command_id):
                with self._lock:
                    flag = self._flags.get(command_id)
                if flag is not None:
                    flag.set()
            case Tokenise() | Render():
                self.asides.put(command)
            case _:
                flag = CancelFlag()
                with self._lock:
                    self._flags[command.id] = flag
                    self.work.put(_Job(command, time.perf_counter(), flag))
                    self._pause.set()

    def next_job(self, session: EngineSession) -> _Job:
        """Wait for it; if it does not come soon, let the session use the time until it does."""
        with contextlib.suppress(queue.Empty):
            return self.work.get(timeout=SETTLED_S)
        with self._lock:
            self._pause = pause = CancelFlag()
            if not self.work.empty():
                pause.set()
        try:
            session.rest(pause)
        except Exception:
            logger.exception("what is done between answers failed")  # nobody asked for it, so nobody is told
        return self.work.get()

    def forget(self, command_id: int) -> None:
        """Drop the flag of a command that is over."""
        with self._lock:
            self._flags.pop(command_id, None)


@dataclass(frozen=True, slots=True)
class _Outbox:
    """The event pipe: one write an event, from whichever thread."""

    fd: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, event: Event) -> None:
        """Write one event; exit when nobody reads any more."""
        view = memoryview(encode(event))
        try:
            with self._lock:
                while view:  # one write, unless the pipe takes only a part
                    view = view[os.write(self.fd, view) :]
        except OSError:
            _leave("the event pipe is closed")


def _leave(why: str) -> NoReturn:
    logger.info("engine process ends: %s", why)
    os._exit(0)  # at once: native threads may be in the middle of a decode


def failure(command_id: int, fault: Exception) -> Failed:
    """Return the answer to a command that raised."""
    if isinstance(fault, SlipstreamError):
        return Failed(command_id, ErrorInfo(fault.code, fault.message, fault.hint))
    logger.error("command %d met an unexpected fault", command_id, exc_info=fault)
    text = f"The engine met an unexpected fault ({type(fault).__name__}: {fault})."
    return Failed(command_id, ErrorInfo(EngineError.code, text, "Try again; the log has the details."))


# --- reading ----------------------------------------------------------------------------------------


class _IdOnly(msgspec.Struct, frozen=True):
    id: int


def _lines(pipe: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines; a longer one than ours can be is skipped, half a line at the end is not a command."""
    skipping = False
    while line := pipe.readline(MAX_LINE_BYTES):
        whole = line.endswith(b"\n")
        if not skipping and whole:
            yield line
        elif not whole:
            logger.warning("skipping a line of more than %d bytes", MAX_LINE_BYTES)
        skipping = not whole


def _read(pipe: BinaryIO, inbox: _Inbox, outbox: _Outbox) -> None:
    try:
        for line in _lines(pipe):
            try:
                inbox.put(decode_command(line))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
                _answer_malformed(line, fault, outbox)
    except Exception:
        logger.exception("reading commands failed")
    _leave("the command pipe is closed")


def _answer_malformed(line: bytes, fault: Exception, outbox: _Outbox) -> None:
    logger.warning("not a command: %r: %s", line[:200], fault)
    try:
        command_id = msgspec.json.decode(line, type=_IdOnly).id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return
    error = UsageError(f"The engine does not understand a command: {fault}", "Are both sides of the same version?")
    outbox.send(failure(command_id, error))


# --- carrying out -----------------------------------------------------------------------------------


def _answer_asides(session: EngineSession, inbox: _Inbox, outbox: _Outbox) -> None:
    """Tokenise and render for ever; a thread of its own, since a template may take its two seconds."""
    while True:
        command = inbox.asides.get()
        try:
            with inbox.models:
                answer = _answer_aside(command, session)
            outbox.send(answer)
        except Exception as fault:
            outbox.send(failure(command.id, fault))


def _answer_aside(command: Tokenise | Render, session: EngineSession) -> Event:
    match command:
        case Tokenise():
            return Tokenised(command.id, session.tokenise(command.text))
        case Render():
            return session.preview(command)


def _carry_out(job: _Job, session: EngineSession, models: threading.Lock) -> Iterator[Event]:
    match job.command:
        case Load() if job.cancel():
            raise LoadError("The load was cancelled.")
        case Load():
            with models:
                yield from session.load(job.command, job.cancel)
            gc.collect()
            gc.freeze()  # what is there now stays: no collection in the middle of an answer looks through it again
        case Generate() if job.cancel():
            yield Done(job.command.id, "cancelled", "", 0.0, 0.0)
        case Generate():
            yield from session.generate(job.command, received_s=job.received_s, cancel=job.cancel)
        case MeasureCosts():
            yield session.measure_costs(job.command, job.cancel)
        case Unload():
            with models:
                session.unload()
            yield Unloaded(job.command.id)


def _send(events: Iterator[Event], outbox: _Outbox) -> None:
    """Send events as they come; behind the first text of an answer, leave the cores to those who hand it on."""
    is_first = True
    for event in events:
        outbox.send(event)
        if is_first and isinstance(event, Chunk):
            is_first = False
            time.sleep(FIRST_TEXT_S)


def serve(pipe: BinaryIO, events_fd: int, make_session: MakeSession) -> NoReturn:
    """Serve commands until the pipe ends; then the process is over.

    The session is made on this thread, which is the one that loads and generates; the reader is already there, so
    that a window that goes away during a slow start takes the engine with it.
    """
    inbox, outbox = _Inbox(), _Outbox(events_fd)
    threading.Thread(target=_read, args=(pipe, inbox, outbox), name="reader", daemon=True).start()
    hello, session = make_session()
    threading.Thread(target=_answer_asides, args=(session, inbox, outbox), name="aside", daemon=True).start()
    outbox.send(hello)
    while True:
        job = inbox.next_job(session)
        try:
            _send(_carry_out(job, session, inbox.models), outbox)
        except Exception as fault:
            outbox.send(failure(job.command.id, fault))
        inbox.forget(job.command.id)


# --- the process ------------------------------------------------------------------------------------


def claim_pipes() -> tuple[BinaryIO, int]:
    """Keep standard input and output for the protocol; leave harmless ones in their place.

    Native libraries print what they like, and on Windows loading a library can hang while a read of the process's
    standard input is pending. So this comes before anything native and before the reader.
    """
    commands, events = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import ctypes
        import msvcrt

        for fd in (commands, events):
            msvcrt.setmode(fd, os.O_BINARY)
        for name, fd in ((-10, 0), (-11, 1)):  # STD_INPUT_HANDLE, STD_OUTPUT_HANDLE
            ctypes.windll.kernel32.SetStdHandle(name, ctypes.c_void_p(msvcrt.get_osfhandle(fd)))
    return os.fdopen(commands, "rb"), events


def prepare_process() -> None:
    """Set up what every engine process needs before native code is loaded."""
    leash.tie()
    faulthandler.enable()
    # How long a thread of GNU OpenMP polls at a barrier before it sleeps; llama.cpp has hundreds of barriers a token.
    # The default polls for milliseconds, and beside other work the thread it waits for needs that very core: measured
    # with the starter on 2 cores, tokens/s idle / beside other work: default 105 / 0.3, this 102 / 14.
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")
    # ggml would fork a debugger on a failed assertion: slow, and a process that nobody knows of.
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")
    bring_together()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")


def _make_real_session() -> tuple[Hello, EngineSession]:
    renderer = Renderer()
    renderer.warm()
    from app.engine import llama
    from app.engine.session import Session

    llama.init_backend()
    hello = Hello(
        pid=os.getpid(),
        app=__version__,
        llama_cpp_python=metadata.version("llama-cpp-python"),
        llama_cpp_commit=llama.LLAMA_CPP_COMMIT,
        system_info=llama.system_info(),
    )
    return hello, Session(renderer)


def main() -> NoReturn:
    """Run the engine process."""
    pipe, events_fd = claim_pipes()
    enter_given()
    prepare_process()
    serve(pipe, events_fd, _make_real_session)
