"""A real engine process around a scripted session: what a request's prompt (or a load's target) says is what it does.

Run as a program; it is :func:`app.engine.worker.serve` with everything but llama.cpp.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from app.engine import worker
from app.engine.cancel import CancelFlag
from app.errors import LoadError, ModelFileError, PromptTooLongError
from app.protocol import (
    Chunk,
    Done,
    Engagement,
    Generate,
    Hello,
    Load,
    Loaded,
    LoadProgress,
    ModelInfo,
    Prefill,
    Render,
    Rendered,
    Started,
    Step,
)

ARGV = [sys.executable, str(Path(__file__).resolve())]
HELLO = Hello(
    pid=os.getpid(), app="0.0.0", llama_cpp_python="0.3.36", llama_cpp_commit="0c1e570", system_info="scripted"
)


class ScriptedSession:
    """Does what it is told, word by word."""

    def __init__(self) -> None:
        self.target = ""

    def load(self, command: Load, cancel: CancelFlag) -> Iterator[LoadProgress | Loaded]:
        yield LoadProgress(command.id, "target", 0.0)
        match command.target:
            case "broken":
                raise ModelFileError("broken is not a model.", "Choose another.")
            case "slow":
                while not cancel():
                    yield LoadProgress(command.id, "target", 0.5)
                    time.sleep(0.01)
                raise LoadError("The load was cancelled.")
            case "abort":
                sys.stderr.write("ggml.c:1234: GGML_ASSERT(n_rows > 0) failed\n")
                sys.stderr.flush()
                os.abort()
        yield LoadProgress(command.id, "target", 1.0)
        self.target = command.target
        info = ModelInfo(command.target, command.target, 1, "llama", "Q4_1", 1, 4096, 320, 2, False)
        yield Loaded(command.id, info, None, command.n_ctx, 2, "CPU", ("ngram",), {}, 0.1)

    def generate(
        self, command: Generate, *, received_s: float, cancel: CancelFlag
    ) -> Iterator[Started | Prefill | Chunk | Done]:
        word, _, rest = (command.prompt or "count 3").partition(" ")
        yield Started(command.id, 4, 0, Engagement(engaged=False, reason="Off."))
        yield Prefill(command.id, 4, 4)
        for i in range(int(rest) if word == "count" else 10**9):
            if cancel():
                yield Done(command.id, "cancelled", "", 0.1, 0.0)
                return
            step = Step(time.perf_counter() - received_s, 1, 0, 0, 0, 0, 0.0, 0.01, 5 + i, "")
            yield Chunk(command.id, f"{i} ", (i,), (False,), step)
            if i == 2:
                self.misbehave(word)
            if word != "count":
                time.sleep(0.05 if word == "calmly" else 0.002)
        yield Done(command.id, "length", "", 0.1, 0.0)

    def misbehave(self, word: str) -> None:
        match word:
            case "raise":
                raise ValueError("the script says so")
            case "known":
                raise PromptTooLongError("Too long.", "Shorten it.")
            case "abort":
                sys.stderr.write("llama.cpp: GGML_ASSERT(false) failed\nsome line after it\n")
                sys.stderr.flush()
                os.abort()
            case "crash":
                faulthandler.disable()
                ctypes.string_at(0)
            case "leave" | "orphan":
                leave(has_child=word == "orphan")
            case "deaf":  # like a long native call: the reader thread still runs
                time.sleep(600)
            case "stopped":  # nothing of the process runs
                os.kill(os.getpid(), signal.SIGSTOP)
            case "shout":
                print("native code prints on standard output")
                os.write(1, b"and on its descriptor\n")
                subprocess.run([sys.executable, "-c", "print('a child of ours too')"], check=True)
            case "log":
                sys.stderr.write("".join(f"line {i} {'x' * 500}\n" for i in range(2000)))
            case "garble":
                worker_events.write(b'{"type":"chunk","id":1,"text":5}\n')

    def tokenise(self, text: str) -> tuple[int, ...]:
        if text == "raise":
            raise ValueError("no tokens for this")
        return tuple(text.encode())

    def preview(self, command: Render) -> Rendered:
        if command.messages[0].content == "slow":
            time.sleep(1.0)
        return Rendered(command.id, "|".join(message.content for message in command.messages))

    def rest(self, cancel: CancelFlag) -> None:
        while self.target == "restless" and not cancel():
            time.sleep(0.002)

    def unload(self) -> None:
        self.target = ""


def make_session() -> tuple[Hello, ScriptedSession]:
    if "slow-start" in sys.argv:
        time.sleep(600)
    if "no-start" in sys.argv:
        raise ImportError("libllama.so: cannot open shared object file")
    return HELLO, ScriptedSession()


def leave(*, has_child: bool) -> None:
    """End at once; perhaps with a child left behind, as of a library, which holds all pipes."""
    if has_child and os.fork() == 0:
        time.sleep(60)
    os._exit(3)


if __name__ == "__main__":
    pipe, events_fd = worker.claim_pipes()
    worker_events = os.fdopen(os.dup(events_fd), "wb", buffering=0)
    worker.prepare_process()
    worker.serve(pipe, events_fd, make_session)
