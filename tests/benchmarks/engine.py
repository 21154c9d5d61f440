"""Our engine against bare llama.cpp calls: plain decoding, and the first token of a second turn.

Both do the same work on the same file with the same thread count, by turns in one run; the engine is the real worker
process behind the real client. The bare loop is the least that decoding needs (``tests/fixtures/bare.py``): decode one
token, take the highest logit.

Where a process's memory lies makes it some per cent faster or slower for as long as it lives, so decoding is compared
in several rounds with fresh processes on both sides; a round gives one ratio.

    python -m tests.benchmarks.engine [--json] [--model PATH] [--threads N] [--rounds N] [--turns N]
"""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from app.engine.client import UNWATCHED_S, WATCHED_S, EngineClient
from app.engine.gathering import Gathering
from app.engine.threads import default_threads
from app.metrics.stats import decode_tps
from app.models.library import Library
from app.protocol import ChatMessage, Chunk, Generate, Load, Loaded, Render, Rendered, Sampling, Started
from tests.benchmarks.figures import Figure, arguments, ratios, report
from tests.fixtures import bare

N_CTX = 4096
N_BATCH = 512
N_TOKENS = 128
N_ROUND_TURNS = 4
PROMPT = "The lighthouse keeper wrote in his diary every evening. On the first page it said that"
QUESTION = "Thank you. Now tell me in two sentences what you would do first if you had to begin again tomorrow."
GREEDY = Sampling(seed=1, temperature=0.0)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one generation of our engine gave."""

    started: Started
    token_ids: tuple[int, ...]
    ttft_s: float
    tps: float


async def answer(client: EngineClient, **request: object) -> Answer:
    """Generate greedily without speculation."""
    command = Generate(id=client.next_id(), sampling=GREEDY, **request)
    events = [event async for event in client.send(command)]
    chunks = [event for event in events if isinstance(event, Chunk)]
    started = next(event for event in events if isinstance(event, Started))
    ids = tuple(token for chunk in chunks for token in chunk.token_ids)
    return Answer(started, ids, chunks[0].step.t_s, decode_tps([chunk.step for chunk in chunks]) or 0.0)


def bare_decode(model: bare.Bare, n_tokens: int) -> tuple[tuple[int, ...], float]:
    """Decode greedily in bare calls; return the tokens and their speed after the first."""
    prompt = model.tokenise(PROMPT)
    model.forget(0)
    model.decode(prompt, 0)
    out = [highest(model)]
    began_s = time.perf_counter()
    for _ in range(n_tokens - 1):
        model.step(out[-1])
        out.append(highest(model))
    return tuple(out), (len(out) - 1) / (time.perf_counter() - began_s)


def highest(model: bare.Bare) -> int:
    """Return the most likely token without copying the row."""
    return int(model.view(-1).argmax())


def bare_prefill_s(model: bare.Bare, known: Sequence[int], new: Sequence[int]) -> float:
    """Return how long the evaluation of ``new`` tokens takes, up to the first token after them."""
    model.forget(len(known))
    began_s = time.perf_counter()
    model.decode(new, len(known))
    highest(model)
    return time.perf_counter() - began_s


@asynccontextmanager
async def our_engine(path: Path, n_threads: int, gather_s: float = UNWATCHED_S) -> AsyncIterator[EngineClient]:
    """Start an engine process and load the model."""
    client = EngineClient(gathering=Gathering(gather_s))
    await client.start()
    try:
        load = Load(client.next_id(), str(path), n_ctx=N_CTX, n_threads=n_threads)
        if not any([isinstance(event, Loaded) async for event in client.send(load)]):
            raise SystemExit("not loaded")
        yield client
    finally:
        await client.close()


def bare_process(path: Path, n_threads: int, type_v: int, pipe: Connection) -> None:
    """Answer each number of tokens with the tokens and their speed, until told 0."""
    with bare.loaded(path, n_ctx=N_CTX, n_threads=n_threads, n_batch=N_BATCH, type_v=type_v) as model:
        while n_tokens := pipe.recv():
            pipe.send(bare_decode(model, n_tokens))


async def decoding_round(path: Path, n_threads: int, gather_s: float, type_v: int = bare.F16) -> tuple[float, float]:
    """Return the plain decode speeds of a fresh engine process and of a fresh bare one, taking turns."""
    ours, theirs = [], []
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=bare_process, args=(path, n_threads, type_v, there))
    process.start()
    async with our_engine(path, n_threads, gather_s) as client:
        for turn in range(N_ROUND_TURNS + 1):
            answered = await answer(client, prompt=PROMPT, max_tokens=N_TOKENS)
            here.send(len(answered.token_ids))
            tokens, tps = here.recv()
            if tokens != answered.token_ids:
                raise SystemExit("the two loops wrote different texts, so their speeds cannot be compared")
            if turn > 0:  # the first is for the caches
                ours.append(answered.tps)
                theirs.append(tps)
    here.send(0)
    process.join()
    return statistics.harmonic_mean(ours), statistics.harmonic_mean(theirs)


async def measure_decoding(path: Path, n_threads: int, n_rounds: int) -> list[Figure]:
    """Compare plain decode speeds.

    As ``bench`` measures them, with llama.cpp's own element types and with ours; and with the text handed on as for a
    reader.
    """
    figures: list[Figure] = []
    for name, gather_s, type_v, target in (
        ("", UNWATCHED_S, bare.F16, ">= 0.98"),
        ("_same_memory", UNWATCHED_S, bare.BF16, ">= 0.98"),
        ("_watched_same_memory", WATCHED_S, bare.BF16, ""),
    ):
        rounds = [await decoding_round(path, n_threads, gather_s, type_v) for _ in range(n_rounds)]
        ours, theirs = zip(*rounds, strict=True)
        figures += [
            Figure(f"plain_decode{name}_ours_to_bare", ratios(ours, theirs), "ratio", target),
            Figure(f"plain_decode{name}", tuple(ours), "tok/s"),
            Figure(f"plain_decode{name}_bare", tuple(theirs), "tok/s"),
        ]
    return figures


def first_turn(model: bare.Bare, n_tokens: int) -> str:
    """Return a first message of about that many tokens."""
    sentences = (
        f"On day {day} the keeper counted {day * 7 % 53} ships and {day * 3 % 19} gulls." for day in range(1000)
    )
    text = "Read this diary and say in one sentence what it is about."
    for sentence in sentences:
        if len(model.tokenise(text)) >= n_tokens:
            break
        text = f"{text} {sentence}"
    return text


async def rendered(client: EngineClient, messages: tuple[ChatMessage, ...]) -> str:
    """Return the prompt that the model's own template makes of messages."""
    events = [event async for event in client.send(Render(client.next_id(), messages))]
    return next(event.prompt for event in events if isinstance(event, Rendered))


async def measure_second_turn(client: EngineClient, model: bare.Bare, n_turns: int) -> list[Figure]:
    """Compare the first token of a second turn with the bare evaluation of the new tokens alone."""
    first = (ChatMessage("user", first_turn(model, 1900)),)
    said = await answer(client, messages=first, max_tokens=64)
    text = b"".join(model.piece(token) for token in said.token_ids if not model.is_end(token)).decode()
    ours, theirs, n_new = [], [], 0
    for turn in range(n_turns + 1):
        second = (*first, ChatMessage("assistant", text), ChatMessage("user", f"({turn}) {QUESTION}"))
        tokens = model.tokenise(await rendered(client, second))
        answered = await answer(client, messages=second, max_tokens=2)
        n_known = answered.started.cached_tokens
        if answered.started.prompt_tokens != len(tokens):
            raise SystemExit("the prompt was tokenised differently")
        if turn == 0:
            model.forget(0)
            for start in range(0, n_known, N_BATCH):
                model.decode(tokens[start : min(start + N_BATCH, n_known)], start)
            n_first = n_known
        known, new = tokens[:n_first], tokens[n_known:]
        seconds = bare_prefill_s(model, known, tokens[n_first:][: len(new)])
        if turn > 0:
            ours.append(answered.ttft_s)
            theirs.append(seconds)
            n_new = len(new)
    return [
        Figure("second_turn_ttft_to_new_tokens", ratios(ours, theirs), "ratio", "<= 1.2"),
        Figure("second_turn_ttft", tuple(1e3 * s for s in ours), "ms"),
        Figure("second_turn_new_tokens_bare", tuple(1e3 * s for s in theirs), "ms"),
        Figure("second_turn_prompt", (float(len(tokens)),), "tokens"),
        Figure("second_turn_new", (float(n_new),), "tokens"),
    ]


async def measure(path: Path, n_threads: int, n_rounds: int, n_turns: int) -> list[Figure]:
    """Run both comparisons; none of a kind leaves it out."""
    figures: list[Figure] = []
    if n_rounds:
        figures += await measure_decoding(path, n_threads, n_rounds)
    if n_turns:
        with bare.loaded(path, n_ctx=N_CTX, n_threads=n_threads, n_batch=N_BATCH) as model:
            async with our_engine(path, n_threads) as client:
                figures += await measure_second_turn(client, model, n_turns)
    return figures


def main() -> None:
    """Measure and print."""
    parser = arguments("Our engine against bare llama.cpp calls.", n_turns=20)
    parser.add_argument("--model", default="starter", help="a library name or a path (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=0, help="0 takes the physical cores (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=12, help="rounds of decoding (default: %(default)s)")
    chosen = parser.parse_args()
    path = Library().resolve(chosen.model).path
    n_threads = chosen.threads or default_threads()
    report(asyncio.run(measure(path, n_threads, chosen.rounds, chosen.turns)), as_json=chosen.json)


if __name__ == "__main__":
    main()
