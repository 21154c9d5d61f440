"""A real engine process that writes a given text at a given rate, three tokens a step: a fast model without its cost.

    python tests/benchmarks/paced_worker.py FILE RATE

It is :func:`app.engine.worker.serve` with everything but llama.cpp: commands, events, pipes and threads are the
program's own.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from app.engine import worker
from app.engine.cancel import CancelFlag
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

ARGV = (sys.executable, str(Path(__file__).resolve()))
CHARS_PER_TOKEN = 4
TOKENS_PER_STEP = 3
HELLO = Hello(pid=os.getpid(), app="0.0.0", llama_cpp_python="0.3.36", llama_cpp_commit="0c1e570", system_info="paced")


class PacedSession:
    """Writes the text, over and over, until as many tokens are said as were asked for."""

    def __init__(self, text: str, rate_tps: float) -> None:
        self._text, self._rate_tps = text, rate_tps

    def load(self, command: Load, cancel: CancelFlag) -> Iterator[LoadProgress | Loaded]:
        yield LoadProgress(command.id, "target", 1.0)
        name = Path(command.target).stem
        info = ModelInfo(command.target, name, 1, "llama", "Q4_1", 1, command.n_ctx, 320, 2, has_chat_template=True)
        yield Loaded(command.id, info, None, command.n_ctx, 1, "CPU", ("ngram",), {}, 0.1)

    def generate(
        self, command: Generate, *, received_s: float, cancel: CancelFlag
    ) -> Iterator[Started | Prefill | Chunk | Done]:
        yield Started(command.id, 4, 0, Engagement(engaged=True, drafter="ngram", draft_tokens=TOKENS_PER_STEP))
        yield Prefill(command.id, 4, 4)
        began_s, size = time.perf_counter(), len(self._text)
        text = self._text + self._text[: CHARS_PER_TOKEN * TOKENS_PER_STEP]
        for n in range(0, command.max_tokens, TOKENS_PER_STEP):
            if cancel():
                yield Done(command.id, "cancelled", "", 0.1, 0.0)
                return
            time.sleep(max(0.0, began_s + n / self._rate_tps - time.perf_counter()))
            at, k = n * CHARS_PER_TOKEN % size, TOKENS_PER_STEP
            step = Step(time.perf_counter() - received_s, k, k, k, k, k - 1, 0.0005, 0.005, 5 + n, "ngram")
            piece = text[at : at + CHARS_PER_TOKEN * k]
            yield Chunk(command.id, piece, tuple(range(n, n + k)), (True,) * (k - 1) + (False,), step)
        yield Done(command.id, "length", "", 0.1, 0.0)

    def tokenise(self, text: str) -> tuple[int, ...]:
        return tuple(range(len(text) // CHARS_PER_TOKEN))

    def preview(self, command: Render) -> Rendered:
        return Rendered(command.id, "\n".join(message.content for message in command.messages))

    def unload(self) -> None:
        """Nothing is loaded."""


def main() -> None:
    """Serve."""
    pipe, events_fd = worker.claim_pipes()
    worker.prepare_process()
    text, rate_tps = Path(sys.argv[1]).read_text(encoding="utf-8"), float(sys.argv[2])
    worker.serve(pipe, events_fd, lambda: (HELLO, PacedSession(text, rate_tps)))


if __name__ == "__main__":
    main()
