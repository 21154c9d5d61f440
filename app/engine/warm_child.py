"""One of our processes kept warm for many small questions: a line in, a line out, killed when one takes too long.

What it works on is somebody else's (a chat template, a formula), so it may never end, or die of it. One thread a child
does all the talking to it (and started it, see :mod:`app.engine.leash`), so that a caller only ever waits for an
answer, with a limit.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
from collections.abc import Callable

from app.engine import leash
from app.protocol import MAX_LINE_BYTES

START_LIMIT_S = 20.0

logger = logging.getLogger(__name__)


class NoAnswerError(Exception):
    """There is no answer: ``is_late`` where the child had to be ended, else it did not start or came to an end."""

    def __init__(self, *, is_late: bool = False, did_start: bool = True) -> None:
        super().__init__("late" if is_late else "gone" if did_start else "not started")
        self.is_late = is_late
        self.did_start = did_start


class WarmChild:
    """Starts the child when it is first needed, and again when it is gone. Not for two threads at once."""

    def __init__(self, word: leash.Word, memory_bytes: int) -> None:
        self._word: leash.Word = word
        self._memory_bytes = memory_bytes
        self._talk: _Talk | None = None
        self._is_over = False

    def start(self) -> None:
        """Start the child now, so that the first question need not wait for it; not after giving up."""
        if self._is_over:
            return
        self._talk = self._talk or _Talk(self._word, self._memory_bytes)

    def ask(self, question: bytes, limit_s: float) -> bytes:
        """Return the line that answers a line.

        It takes ``limit_s`` at most, and a cold start. A child that was killed while idle is not the question's fault:
        it is asked once more.

        Raises:
            NoAnswerError: there is none. The child is gone then; the next question starts another.
        """
        left_s = limit_s
        for _ in range(2):
            self.start()
            talk = self._talk
            if self._is_over:  # looked at after the start, as giving up looks for what to kill after saying so
                raise NoAnswerError
            if talk is None or not talk.ready.wait(START_LIMIT_S):
                self.drop()
                raise NoAnswerError(did_start=False)
            talk.ask(question)
            asked_s = time.monotonic()
            try:
                answer = talk.answers.get(timeout=left_s)
            except queue.Empty:
                self.drop()
                raise NoAnswerError(is_late=True) from None
            if answer is not None:
                return answer
            self.drop()
            left_s = max(0.1, left_s - (time.monotonic() - asked_s))
        raise NoAnswerError

    def drop(self) -> None:
        """Kill the child, if there is one."""
        self._end(at_once=True)

    def close(self) -> None:
        """Let the child leave."""
        self._end(at_once=False)

    def give_up(self) -> None:
        """Kill the child for good, from any thread: who waits for an answer gets none; :meth:`drop` is still due."""
        self._is_over = True
        if (talk := self._talk) is not None:
            talk.kill()

    def _end(self, *, at_once: bool) -> None:
        talk, self._talk = self._talk, None
        if talk is not None:
            talk.end(at_once=at_once)


class _Talk:
    """One child and the thread that talks to it; in place of an answer ``None`` says that it is no more."""

    def __init__(self, word: leash.Word, memory_bytes: int) -> None:
        self.ready = threading.Event()
        self.answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._word: leash.Word = word
        self._memory_bytes = memory_bytes
        self._questions: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._child: leash.Child | None = None
        self._unwanted = False
        self._thread = threading.Thread(target=self._run, name=word, daemon=True)
        self._thread.start()

    def ask(self, question: bytes) -> None:
        self._questions.put(question)

    def kill(self) -> None:
        """Kill the child, or let it not begin."""
        with self._lock:
            self._unwanted = True
            if self._child is not None:
                self._child.kill()

    def end(self, *, at_once: bool) -> None:
        """Let the child leave, or kill it; return when it is gone."""
        if at_once:
            self.kill()
        with self._lock:
            self._unwanted = True
        self._questions.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            child = leash.spawn(leash.command(self._word), memory_bytes=self._memory_bytes)
        except OSError:
            logger.exception("the %s process could not be started", self._word)
            self._leave()
            return
        with self._lock:
            self._child = child
            unwanted = self._unwanted
        try:
            if not unwanted:
                self._pass_on(child)
        except OSError as fault:
            logger.info("the %s process is gone: %s", self._word, fault)
            child.kill()
        finally:
            child.reap(timeout_s=1.0)
            self._leave()

    def _pass_on(self, child: leash.Child) -> None:
        """Carry questions there and answers back until either side has had enough."""
        stdin, stdout = child.process.stdin, child.process.stdout
        if stdin is None or stdout is None:
            return
        if not stdout.readline():  # the line that says: ready
            return
        self.ready.set()
        while (question := self._questions.get()) is not None:
            stdin.write(question)
            stdin.flush()
            line = stdout.readline(MAX_LINE_BYTES)
            if not line:
                return
            self.answers.put(line)

    def _leave(self) -> None:
        self.answers.put(None)
        self.ready.set()


# --- in the child -----------------------------------------------------------------------------------


def serve(answer: Callable[[bytes], tuple[bytes, bool]], limit_s: float) -> int:
    """Answer line by line until the input ends, or an answer says that it shall be the last one; return 0 or 1.

    Args:
        answer: makes the answer of a question, and says whether the process can be trusted to go on.
        limit_s: after this long for one question the system ends the process, if nobody else has (POSIX).
    """
    out = sys.stdout.buffer
    out.write(b"ready\n")
    out.flush()
    for line in sys.stdin.buffer:
        leash.end_after(limit_s)
        said, goes_on = answer(line)
        out.write(said + b"\n")
        out.flush()
        leash.end_after(0)
        if not goes_on:
            return 1
    return 0
