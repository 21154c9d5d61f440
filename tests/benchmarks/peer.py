"""Our engine against llama.cpp's own ``llama-speculative-simple``: decode speed at the same fixed draft length.

Both answer the same prompt text greedily, with the same files, threads, context and draft length, by turns in one run.
Neither loading nor prefill counts: ours is what the engine's own clock says after the first token, the binary's what
it prints ("decoded N tokens in S seconds"). Answers whose texts differ (llama.cpp rounds by the number of rows, and
a near tie falls otherwise) cannot be compared by their speed, so there they are left out and counted; their steps can,
since all are of one draft length. Our engine process is new in every turn, as the binary is.

The second half is our time between llama.cpp's functions, in one process with them: whatever a step takes that is not
inside one of them (drawing tokens, text, writing the event). The bar is a share of the 40 ms that a step of one token
takes at 25 tok/s. A step with a draft is held against the same 40 ms, though it gives more tokens and lasts longer;
the share of what its own tokens take at 25 tok/s stands beside it. Only a machine that does nothing else tells.

Where AMX is compiled in, our engine leaves llama.cpp's extra buffers out, and so must the binary (``--no-repack``).

    python -m tests.benchmarks.peer --binary PATH TARGET DRAFT [--lengths 1,2,3,5,8] [--prompts SET_OR_FILE]
        [--first N] [--tokens N] [--threads N] [--turns N] [--json]
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import llama_cpp.llama_cpp as lc

import tests.fixtures.bare  # noqa: F401 - sets how long OpenMP's threads poll, for the binary as well
from app.engine.cancel import CancelFlag
from app.engine.client import UNWATCHED_S, EngineClient
from app.engine.gathering import Gathering
from app.engine.llama.backend import extra_buffers_are_safe
from app.engine.session import Session
from app.engine.template import Renderer
from app.engine.threads import default_threads
from app.metrics.prompts import Prompt, load_prompts
from app.metrics.stats import decode_tps
from app.models.library import Library
from app.protocol import Chunk, Generate, Load, Loaded, MemoryTypes, Render, Rendered, Sampling, Speculation, encode
from tests.benchmarks.figures import Figure, arguments, report

N_CTX = 2048
N_BATCH = 512
GREEDY = Sampling(seed=1, temperature=0.0)
STEP_S = 1 / 25
DECODED = re.compile(r"decoded\s+(\d+) tokens in\s+([\d.]+) seconds")
KEPT = re.compile(r"n_drafted = (\d+)\s+.*n_accept  = (\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Case:
    """What both are given."""

    binary: Path
    target: Path
    draft: Path
    n_threads: int
    n_tokens: int

    def load(self, command_id: int = 0) -> Load:
        """Return the command that loads the pair, with the element types that the binary gives its memories."""
        types = MemoryTypes(type_k="f16", type_v="f16")
        return Load(
            command_id,
            str(self.target),
            draft=str(self.draft),
            n_ctx=N_CTX,
            n_threads=self.n_threads,
            memory=types,
            draft_memory=types,
        )

    def generate(self, command_id: int, prompt: str, length: int) -> Generate:
        """Return the command that answers; length 0 is plain decoding."""
        way = Speculation(types=("draft-simple",), draft_tokens=length, exact=False) if length else Speculation()
        return Generate(
            command_id, GREEDY, prompt=prompt, speculation=way, max_tokens=self.n_tokens, reuse_memory=False
        )


@dataclass(frozen=True, slots=True)
class Timed:
    """One answer: its text, its decode speed and time, and how many draft tokens were kept and made."""

    text: str
    tps: float
    n_kept: int
    n_drafted: int
    decode_s: float

    def drafted_token_s(self) -> float:
        """Return the decode time for each drafted token: at one draft length that of a step, whatever the text."""
        return self.decode_s / max(1, self.n_drafted)


async def ours(client: EngineClient, case: Case, prompt: str, length: int) -> Timed:
    """Answer with our engine."""
    events = [event async for event in client.send(case.generate(client.next_id(), prompt, length))]
    steps = [event.step for event in events if isinstance(event, Chunk)]
    text = "".join(getattr(event, "text", "") for event in events)
    kept, drafted = sum(step.accepted for step in steps), sum(step.proposed for step in steps)
    return Timed(text, decode_tps(steps) or 0.0, kept, drafted, steps[-1].t_s - steps[0].t_s)


def theirs(case: Case, prompt: str, length: int) -> Timed:
    """Answer with the binary.

    It goes on until it has more than ``-n`` tokens, so it is asked for one less; what it writes is the prompt and the
    answer, between empty lines.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prompt.txt"
        path.write_bytes(prompt.encode())
        done = subprocess.run(command(case, path, length), capture_output=True, check=False)
    said = done.stderr.decode("utf-8", "replace")
    decoded, kept = DECODED.search(said), KEPT.search(said)
    if done.returncode or decoded is None or kept is None:
        raise SystemExit(f"the binary ended with {done.returncode}:\n{said[-2000:]}")
    text = done.stdout.decode("utf-8", "replace").removeprefix("\n\n")
    _echo, found, answer = text.partition(prompt)
    if not found:
        raise SystemExit("the binary wrote the prompt differently, so its answer cannot be told from it")
    decode_s = float(decoded[2])
    return Timed(answer, int(decoded[1]) / decode_s, int(kept[2]), int(kept[1]), decode_s)


def command(case: Case, prompt: Path, length: int) -> list[str]:
    """Return the command line that asks the binary for the same."""
    threads = str(case.n_threads)
    line = [str(case.binary), "-m", str(case.target), "-md", str(case.draft), "--spec-type", "draft-simple"]
    line += ["--spec-draft-n-max", str(length), "--spec-draft-n-min", "0", "--spec-draft-p-min", "0"]
    line += ["-t", threads, "-tb", threads, "-td", threads, "-tbd", threads]
    line += ["-c", str(N_CTX), "-b", str(N_BATCH), "-ub", str(N_BATCH), "-ngl", "0", "-ngld", "0", "-fit", "off"]
    line += ["--temp", "0", "-n", str(case.n_tokens - 1), "-bf", str(prompt), "--no-escape", "--log-colors", "off"]
    return line if extra_buffers_are_safe() else [*line, "--no-repack"]


def same(ours_text: str, theirs_text: str) -> bool:
    """Compare as far as both go: the binary may write a few tokens more, and spells out control tokens."""
    a, b = ours_text.strip(), theirs_text.strip()
    n = min(len(a), len(b))
    return a[:n] == b[:n] and n > 0.9 * len(a)


# --- decode speed -----------------------------------------------------------------------------------


@dataclass(slots=True)
class Pairs:
    """The answers of both at one draft length."""

    ours: list[Timed] = field(default_factory=list)
    theirs: list[Timed] = field(default_factory=list)

    def figures(self, length: int) -> Iterator[Figure]:
        """Compare them."""
        pairs = list(zip(self.ours, self.theirs, strict=True))
        equal = [(a, b) for a, b in pairs if same(a.text, b.text)]
        yield Figure(f"length {length} same text", (len(equal) / len(pairs),), "share", "1")
        ratios = tuple(b.drafted_token_s() / a.drafted_token_s() for a, b in pairs)
        yield Figure(f"length {length} steps a second, ours to theirs", ratios, "ratio", ">= 0.97")
        if not equal:
            return
        yield Figure(f"length {length} ours to theirs", tuple(a.tps / b.tps for a, b in equal), "ratio", ">= 0.97")
        yield Figure(f"length {length} ours", tuple(a.tps for a, _ in equal), "tok/s")
        yield Figure(f"length {length} theirs", tuple(b.tps for _, b in equal), "tok/s")
        for name, side in (("ours", [a for a, _ in equal]), ("theirs", [b for _, b in equal])):
            share = sum(one.n_kept for one in side) / max(1, sum(one.n_drafted for one in side))
            yield Figure(f"length {length} {name} accepted", (share,), "share")


async def one_round(case: Case, prompts: Sequence[Prompt], pairs: dict[int, Pairs], turn: int) -> None:
    """Let a new engine process and the binary answer every prompt at every length, first one, then the other."""
    client = EngineClient(gathering=Gathering(UNWATCHED_S))
    await client.start()
    try:
        if not any([isinstance(event, Loaded) async for event in client.send(case.load(client.next_id()))]):
            raise SystemExit("not loaded")
        for at, prompt in enumerate(prompts):
            rendered = [event async for event in client.send(Render(client.next_id(), prompt.messages))]
            text = next(event.prompt for event in rendered if isinstance(event, Rendered))
            for number, (length, found) in enumerate(pairs.items()):
                if (turn + at + number) % 2:
                    found.theirs.append(theirs(case, text, length))
                found.ours.append(await ours(client, case, text, length))
                if len(found.theirs) < len(found.ours):
                    found.theirs.append(theirs(case, text, length))
    finally:
        await client.close()


def measure_speed(case: Case, prompts: Sequence[Prompt], lengths: Sequence[int], n_turns: int) -> Iterator[Figure]:
    """Compare decode speeds at every length, and take the median over them."""
    pairs = {length: Pairs() for length in lengths}
    for turn in range(n_turns):
        asyncio.run(one_round(case, prompts, pairs, turn))
    medians = []
    for length, found in pairs.items():
        for figure in found.figures(length):
            if figure.name.endswith("ours to theirs"):
                medians.append(statistics.median(figure.values))
            yield figure
    if medians:
        yield Figure("median over lengths", (statistics.median(medians),), "ratio", ">= 1.00")


# --- loop overhead ----------------------------------------------------------------------------------


@contextmanager
def timed_calls() -> Iterator[Callable[[], float]]:
    """Measure the time inside llama.cpp's functions; the yielded function returns its sum so far.

    What the measuring itself takes, half a microsecond a call, counts as ours.
    """
    spent_s, now = 0.0, time.perf_counter

    def timed(native):
        def call(*values):
            nonlocal spent_s
            began_s = now()
            result = native(*values)
            spent_s += now() - began_s
            return result

        return call

    known = {name: native for name, native in vars(lc).items() if name.startswith("llama_")}
    natives = {name: native for name, native in known.items() if isinstance(native, ctypes._CFuncPtr)}
    for name, native in natives.items():
        setattr(lc, name, timed(native))
    try:
        yield lambda: spent_s
    finally:
        for name, native in natives.items():
            setattr(lc, name, native)


def between_calls(session: Session, command: Generate, sink: int) -> list[tuple[float, int]]:
    """Answer and hand every event on as the worker does; return each step's time outside llama.cpp, and its tokens."""
    overheads: list[tuple[float, int]] = []
    with timed_calls() as native_s:
        ended_s = earlier_s = 0.0
        for event in session.generate(command, received_s=time.perf_counter(), cancel=CancelFlag()):
            os.write(sink, encode(event))
            if isinstance(event, Chunk):
                now_s, spent_s = time.perf_counter(), native_s()
                if event.step.verify_s:
                    overheads.append((now_s - ended_s - (spent_s - earlier_s), event.step.emitted))
                ended_s, earlier_s = now_s, spent_s
    return overheads


def measure_overhead(case: Case, prompts: Sequence[Prompt], lengths: Sequence[int]) -> Iterator[Figure]:
    """Measure what a step takes outside llama.cpp, plain and at every length."""
    found: dict[int, list[tuple[float, int]]] = defaultdict(list)
    session = Session(Renderer())
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        for _event in session.load(case.load(), CancelFlag()):
            pass
        for length in (0, *lengths):
            for prompt in prompts:
                text, _notices = session.render(prompt.messages)
                found[length] += between_calls(session, case.generate(1, text, length), sink)
    finally:
        os.close(sink)
        session.close()
    for length, steps in found.items():
        name = f"length {length}" if length else "plain"
        seconds = [took_s for took_s, _n_emitted in steps]
        yield Figure(f"{name} outside llama.cpp", tuple(1e6 * s for s in seconds), "µs")
        mean_s, n_emitted = statistics.mean(seconds), statistics.mean(n for _took_s, n in steps)
        yield Figure(f"{name} its mean, of 40 ms", (100 * mean_s / STEP_S,), "%", "<= 2")
        yield Figure(f"{name} its mean, of its tokens' time", (100 * mean_s / STEP_S / n_emitted,), "%")


def lengths_of(words: str) -> list[int]:
    """Read a list of draft lengths."""
    return [int(word) for word in words.split(",")]


def case_of(chosen: Namespace) -> Case:
    """Resolve names of models."""
    library = Library()
    return Case(
        binary=chosen.binary,
        target=library.resolve(chosen.target).path,
        draft=library.resolve(chosen.draft).path,
        n_threads=chosen.threads or default_threads(),
        n_tokens=chosen.tokens,
    )


def main() -> None:
    """Measure and print."""
    parser = arguments("Our engine against llama.cpp's own speculative decoding.", n_turns=6)
    parser.add_argument("target", help="a library name or a path")
    parser.add_argument("draft", help="a library name or a path")
    parser.add_argument("--binary", type=Path, required=True, help="llama-speculative-simple, of the same llama.cpp")
    parser.add_argument("--lengths", type=lengths_of, default=[1, 2, 3, 5, 8], help="(default: 1,2,3,5,8)")
    parser.add_argument("--prompts", default="code", help="a prompt set or a file (default: %(default)s)")
    parser.add_argument("--first", type=int, default=4, help="how many of its prompts (default: %(default)s)")
    parser.add_argument("--tokens", type=int, default=128, help="of each answer (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=0, help="0 takes the physical cores (default: %(default)s)")
    chosen = parser.parse_args()
    case, prompts = case_of(chosen), load_prompts(chosen.prompts)[: chosen.first]
    figures: list[Figure] = []
    for measured in (
        measure_overhead(case, prompts, chosen.lengths),
        measure_speed(case, prompts, chosen.lengths, chosen.turns),
    ):
        new = list(measured)
        figures += new
        if not chosen.json:
            report(new, as_json=False)
            sys.stdout.flush()
    if chosen.json:
        report(figures, as_json=True)


if __name__ == "__main__":
    main()
