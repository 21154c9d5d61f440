"""Does memory stay flat? A day of tokens in fast motion on a scripted model; with ``--real`` the starter, for minutes.

In fast motion the real session answers, with a model that is a function in place of llama.cpp: conversations that grow
until the context is nearly full, drafted by every drafter in turn, some answers cut off; each event is encoded, decoded
and recorded as on its way to the window. A session log keeps every run with its steps by design, so a new one is begun
now and then as a new start of the program would, and what a run costs is a figure of its own.

Resident memory is compared at like moments: the last quarter of them with the first quarter after the warm-up.

    python -m tests.benchmarks.memory [--json] [--tokens N] [--real MINUTES] [--model PATH]
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import random
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from app.engine.auto_length import Evidence
from app.engine.cancel import CancelFlag
from app.engine.client import EngineClient
from app.engine.costs import Costs, DrafterCost
from app.engine.drafters.mtp import HeadsMemory
from app.engine.loading import LoadedHeads, LoadedModel, LoadedPair
from app.engine.session import Session
from app.engine.template import Renderer
from app.metrics.baseline import BaselineStore
from app.metrics.recorder import RunRecorder, SessionLog
from app.metrics.values import Run
from app.models.library import Library
from app.placement import Placement
from app.protocol import (
    ChatMessage,
    Chunk,
    Event,
    Generate,
    Hello,
    Load,
    Loaded,
    MemoryTypes,
    ModelInfo,
    Sampling,
    Speculation,
    decode_event,
    encode,
)
from tests.benchmarks.figures import Figure, arguments, report
from tests.engine.scripted import ScriptedHeads, ScriptedMemory

FLAT = "0.98 .. 1.02"
WARM_UP = 0.2
"""Share of the samples that is left out."""

ALPHABET = "abcdefghijklmnopqrstuvwxyz .,;:?!-012345"
N_CTX = 2048
N_SESSION_TOKENS = 25_000
"""Tokens after which a new session log is begun, and memory is looked at."""

WAYS = (
    Speculation(),
    Speculation(("ngram",), 8),
    Speculation(("draft-simple",), 4),
    Speculation(("draft-mtp",), 3),
    Speculation(("ngram", "draft-simple"), "auto"),
    Speculation(("ngram", "draft-mtp", "draft-simple"), "auto"),
    Speculation(("draft-simple",), "rolling"),
)

# --- figures ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Samples:
    """Resident memory of a process at like moments, and what had passed until each (tokens, or hours)."""

    name: str
    process: psutil.Process = field(default_factory=psutil.Process)
    mib: list[float] = field(default_factory=list)
    at: list[float] = field(default_factory=list)

    def take(self, at: float) -> None:
        """Look at the process."""
        self.mib.append(self.process.memory_info().rss / 2**20)
        self.at.append(at)

    def figures(self, per: str) -> list[Figure]:
        """Return start and end, the last quarter as a share of the first, and the slope, all after the warm-up."""
        first = int(len(self.mib) * WARM_UP)
        mib, at = self.mib[first:], self.at[first:]
        quarter = max(1, len(mib) // 4)
        start, end = mib[:quarter], mib[-quarter:]
        slope = statistics.linear_regression(at, mib).slope if len(mib) > 1 else 0.0
        return [
            Figure(f"{self.name}_end_to_start", tuple(m / statistics.median(start) for m in end), "ratio", FLAT),
            Figure(f"{self.name}_start", tuple(start), "MiB"),
            Figure(f"{self.name}_end", tuple(end), "MiB"),
            Figure(f"{self.name}_slope", (slope,), f"MiB/{per}"),
        ]


# --- in fast motion ---------------------------------------------------------------------------------


class ScriptedModel:
    """A vocabulary of one character a token."""

    n_vocab = len(ALPHABET)
    bos = ALPHABET.index(" ")
    n_params = 1
    placement = Placement()

    def tokenise(self, text: str, *, add_special: bool = False) -> list[int]:
        """Return the tokens of a text; there are no special ones."""
        return [ALPHABET.index(character) for character in text]

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """Return a token's bytes, the same for all."""
        return ALPHABET[token].encode()

    def is_end(self, token: int) -> bool:
        """Say no: every token is text."""
        return token < 0

    def close(self) -> None:
        """Free nothing."""


class ScriptedContext(ScriptedMemory):
    """A scripted memory with what a session asks of a context besides."""

    has_state = False
    memory_types = MemoryTypes()

    def mark(self) -> None:
        """Keep no checkpoint."""

    def cancelled_by(self, _cancel: CancelFlag) -> nullcontext[None]:
        """Decode to the end: it takes no time."""
        return nullcontext()

    def close(self) -> None:
        """Free nothing."""


class ScriptedHeadsContext(ScriptedHeads):
    """Scripted heads, as a session holds them."""

    def cancelled_by(self, _cancel: CancelFlag) -> nullcontext[None]:
        """Decode to the end."""
        return nullcontext()

    def close(self) -> None:
        """Free nothing."""


def scripted_pair(path: Path) -> LoadedPair:
    """Return a target whose text repeats itself at times, a draft model and heads that agree with it often."""
    how = {"n_vocab": len(ALPHABET), "n_ctx": N_CTX, "n_batch": 512, "n_tail": 4}
    info = ModelInfo(str(path), "scripted", 1, "scripted", "F32", 1, N_CTX, len(ALPHABET), 1, False)
    target = ScriptedContext(**how)
    heads = ScriptedHeadsContext(target, blur=0.3)
    costs = Costs(
        {n: 1e-4 * (1 + 0.1 * n) for n in range(1, 33)},
        {name: DrafterCost(1e-5, 1e-6) for name in ("draft-simple", "draft-mtp")},
    )
    return LoadedPair(
        target=LoadedModel(ScriptedModel(), target, info),
        n_threads=1,
        draft=LoadedModel(ScriptedModel(), ScriptedContext(**how, blur=0.3), info),
        heads=LoadedHeads(heads, HeadsMemory(heads, target)),
        not_engageable={"tree": "not here"},
        evidence=Evidence(costs),
    )


class FastMotion:
    """A session with a scripted pair, and somebody who never stops asking."""

    def __init__(self, folder: Path) -> None:
        path = folder / "scripted.gguf"
        path.write_bytes(b"scripted")
        self.pair = scripted_pair(path)
        self.session = Session(Renderer())
        self.session._pair = self.pair
        self.store = BaselineStore(folder)
        self.loaded = Session._loaded(1, self.pair, 0.0)
        self.random = random.Random(1)
        self.ids = itertools.count(2)
        self.text = ""

    def new_log(self) -> SessionLog:
        """Begin a session log, as the program does when it starts."""
        log = SessionLog(self.store)
        log.set_loaded(Hello(os.getpid(), "", "", "", ""), self.loaded)
        return log

    def answer(self) -> Run:
        """Ask on; return what the recorder made of the answer."""
        n_max = self.random.choice((64, 256, 512))
        if len(self.text) + n_max + 64 > N_CTX:
            self.text = ""
        self.text += "".join(self.random.choices(ALPHABET, k=self.random.randint(5, 50)))
        way = self.random.choice(WAYS)
        sampling = Sampling(self.random.getrandbits(32), temperature=self.random.choice((0.0, 0.8)))
        number = next(self.ids)
        command = Generate(number, sampling, prompt=self.text, speculation=way, max_tokens=n_max, stop=("zz",))
        recorder = RunRecorder(label="fast motion", speculation=way, sampling=sampling)
        for event in self.events(command):
            recorder.on_event(event)
            if isinstance(event, Chunk):
                self.text += event.text
        for part in (self.pair.target, self.pair.draft):
            part.context.batches.clear()  # the script's own notes
        return recorder.finish()

    def events(self, command: Generate) -> Iterator[Event]:
        """Yield an answer's events as they come out of the other end of the pipe; cut one off in sixteen."""
        n_chunks = self.random.randint(1, 60) if self.random.random() < 1 / 16 else -1
        cancel = CancelFlag()
        for event in self.session.generate(command, received_s=time.perf_counter(), cancel=cancel):
            yield decode_event(encode(event))
            n_chunks -= isinstance(event, Chunk)
            if n_chunks == 0:
                cancel.set()


def cost_of_a_run(motion: FastMotion, n_runs: int) -> list[Figure]:
    """Return the bytes that a session log keeps of a run, and of each of its steps."""
    runs = [motion.answer() for _ in range(2)]
    log = motion.new_log()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    runs = [log.add(motion.answer()) for _ in range(n_runs)]
    n_steps = sum(len(run.steps) for run in runs)
    n_tokens = sum(run.tokens for run in runs)
    del runs
    motion.session._pair.target.forget()
    motion.session._pair.draft.forget()
    gc.collect()
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return [
        Figure("session_log_run", (kept / n_runs / 1024,), "KiB"),
        Figure("session_log_step", (kept / n_steps,), "bytes"),
        Figure("session_log_token", (kept / n_tokens,), "bytes"),
    ]


def measure_fast_motion(n_tokens: int, n_session_tokens: int = N_SESSION_TOKENS, n_runs: int = 40) -> list[Figure]:
    """Answer until so many tokens have come; take the cost of a run from so many."""
    with tempfile.TemporaryDirectory() as folder:
        motion = FastMotion(Path(folder))
        samples, n_done, n_answers = Samples("fast_motion_rss"), 0, 0
        while n_done < n_tokens:
            log, n_session = motion.new_log(), 0
            while n_session < n_session_tokens:
                n_session += log.add(motion.answer()).tokens
                n_answers += 1
            log.to_metrics()
            n_done += n_session
            samples.take(n_done / 1e6)
        figures = [*samples.figures("Mtok"), *cost_of_a_run(motion, n_runs)]
        motion.session.close()
    return [
        *figures,
        Figure("fast_motion_tokens", (float(n_done),), "tokens"),
        Figure("fast_motion_answers", (float(n_answers),), "number"),
    ]


# --- the starter ------------------------------------------------------------------------------------

QUESTIONS = (
    "Write a Python function that reverses a list, and explain it.",
    "Tell me a story about a lighthouse.",
    "Repeat what you said, with a different ending.",
    "List ten animals and say where each of them lives.",
    "Now summarise our conversation.",
)


async def measure_real(path: Path, minutes: float) -> list[Figure]:
    """Converse with a real engine process for so long; look at both processes after every answer."""
    client = EngineClient()
    hello = await client.start()
    try:
        engine = Samples("engine_rss", psutil.Process(hello.pid))
        here = Samples("client_rss")
        load = Load(client.next_id(), str(path), draft=str(path), n_ctx=N_CTX)
        loaded = next(e for e in [e async for e in client.send(load)] if isinstance(e, Loaded))
        ways = [w for w in WAYS if set(w.types) <= set(loaded.drafters)]
        with tempfile.TemporaryDirectory() as folder:
            n_tokens = await converse(client, ways, (engine, here), minutes, SessionLog(BaselineStore(Path(folder))))
    finally:
        await client.close()
    return [*engine.figures("h"), *here.figures("h"), Figure("real_tokens", (float(n_tokens),), "tokens")]


async def converse(
    client: EngineClient, ways: Sequence[Speculation], both: Sequence[Samples], minutes: float, log: SessionLog
) -> int:
    """Ask until the time is over, from the beginning whenever the context is nearly full; return the tokens."""
    messages: tuple[ChatMessage, ...] = ()
    n_tokens, began_s = 0, time.perf_counter()
    for turn in itertools.count():
        passed_s = time.perf_counter() - began_s
        if turn and passed_s > 60 * minutes:
            return n_tokens
        messages = (*messages, ChatMessage("user", QUESTIONS[turn % len(QUESTIONS)]))
        way, sampling = ways[turn % len(ways)], Sampling(turn, temperature=0.8 * (turn % 3 > 0))
        recorder = RunRecorder(label="real", speculation=way, sampling=sampling)
        command = Generate(client.next_id(), sampling, messages=messages, speculation=way, max_tokens=160)
        text = ""
        async for event in client.send(command):
            recorder.on_event(event)
            text += getattr(event, "text", "")
        run = recorder.finish()
        n_tokens += run.tokens
        messages = (*messages, ChatMessage("assistant", text))
        if run.prompt_tokens + run.tokens + 300 > N_CTX:
            messages = ()
            log = SessionLog(log.baselines)  # a long session's log grows by design, see ``session_log_run``
        log.add(run)
        for samples in both:
            samples.take((time.perf_counter() - began_s) / 3600)
    return n_tokens


def main() -> None:
    """Measure and print."""
    parser = arguments("Resident memory over many tokens.", n_turns=1)
    parser.add_argument(
        "--tokens", type=int, default=2_000_000, help="in fast motion; 0 is none (default: %(default)s)"
    )
    parser.add_argument("--real", type=float, default=0.0, metavar="MINUTES", help="converse with a real engine, too")
    parser.add_argument("--model", default="starter", help="of --real: a library name or a path (default: %(default)s)")
    chosen = parser.parse_args()
    figures: list[Figure] = []
    if chosen.tokens:
        figures += measure_fast_motion(chosen.tokens)
    if chosen.real:
        figures += asyncio.run(measure_real(Library().resolve(chosen.model).path, chosen.real))
    report(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
