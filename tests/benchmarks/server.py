"""What the server adds to an answer: time a step, time to the first byte, and speed against the same engine without it.

Answers are greedy, of a fixed length, on one loaded model, by turns: asked of the host itself as ``infer`` asks it,
and through HTTP as a stream. A step's overhead is the difference in wall-clock time of whole answers by their steps;
the first byte is held against the engine's own time to the first token of that very answer.

    python -m tests.benchmarks.server [MODEL] [--tokens N] [--turns N] [--json]
"""

from __future__ import annotations

import asyncio
import http.client
import json
import time
from contextlib import aclosing
from dataclasses import dataclass

from app.host import ChatRequest, Host, PairChoice
from app.models.library import Library
from app.protocol import ChatMessage, Chunk, Sampling
from app.server.options import Defaults, ServerOptions
from app.server.serving import Server
from tests.benchmarks.figures import Figure, arguments, end_by_targets, ratios, report

PROMPT = "Tell a long story about a train that rides in the wake of another. Begin: Once upon a time"


@dataclass(frozen=True, slots=True)
class Timed:
    """One answer: wall-clock time, tokens and steps, and how much later its first byte came than the first token."""

    wall_s: float
    n_tokens: int
    n_steps: int
    late_s: float = 0.0

    @property
    def tps(self) -> float:
        return self.n_tokens / self.wall_s


async def direct(host: Host, pair: PairChoice, n_tokens: int) -> Timed:
    """Ask the host itself."""
    request = ChatRequest(
        (ChatMessage("user", PROMPT),), sampling=Sampling(seed=1, temperature=0.0), max_tokens=n_tokens, pair=pair
    )
    began_s = time.perf_counter()
    n = steps = 0
    async with aclosing(host.answer(request)) as events:
        async for event in events:
            if isinstance(event, Chunk):
                n, steps = n + len(event.token_ids), steps + 1
    return Timed(time.perf_counter() - began_s, n, steps)


def through_http(port: int, n_tokens: int) -> Timed:
    """Ask the server, on a connection that is open already."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.connect()
    body = {
        "messages": [{"role": "user", "content": PROMPT}],
        "temperature": 0,
        "seed": 1,
        "max_tokens": n_tokens,
        "stream": True,
    }
    began_s = time.perf_counter()
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    first_s, last, n_steps = 0.0, b"", 0
    while line := response.readline():
        if not line.startswith(b"data: {"):
            continue
        last = line
        n_steps += 1
        if not first_s and b'"content":"' in line and b'"role"' not in line:
            first_s = time.perf_counter() - began_s
    wall_s = time.perf_counter() - began_s
    connection.close()
    timings = json.loads(last.removeprefix(b"data: "))["timings"]
    return Timed(wall_s, timings["predicted_n"], n_steps, first_s - timings["ttft_ms"] / 1e3)


async def measure(model: str, n_tokens: int, n_turns: int) -> list[Figure]:
    """Ask by turns, first the one and then the other way first."""
    library, pair = Library(), PairChoice(model)
    host = Host(library=library)
    server = Server(host, library, ServerOptions(lambda: Defaults(pair), port=0))
    try:
        await server.start()
        port = int(server.url.rpartition(":")[2])
        ways = {
            "direct": lambda: direct(host, pair, n_tokens),
            "http": lambda: asyncio.to_thread(through_http, port, n_tokens),
        }
        found: dict[str, list[Timed]] = {name: [] for name in ways}
        for name in ways:
            await ways[name]()  # warm
        for turn in range(n_turns):
            for name in sorted(ways, reverse=bool(turn % 2)):
                found[name].append(await ways[name]())
    finally:
        await server.stop()
        await host.close()
    pairs = list(zip(found["direct"], found["http"], strict=True))
    return [
        Figure(
            "overhead of a step",
            tuple(1e3 * (http.wall_s - one.wall_s) / one.n_steps for one, http in pairs),
            "ms",
            "<= 0.3",
        ),
        Figure("first byte after the first token", tuple(1e3 * one.late_s for one in found["http"]), "ms", "<= 5"),
        Figure(
            "speed through HTTP / without",
            ratios([one.tps for one in found["http"]], [one.tps for one in found["direct"]]),
            "",
            ">= 0.98",
        ),
        Figure("speed through HTTP", tuple(one.tps for one in found["http"]), "tok/s"),
    ]


def main() -> None:
    """Measure and report."""
    parser = arguments(__doc__.splitlines()[0], n_turns=12)
    parser.add_argument("model", nargs="?", default="starter")
    parser.add_argument("--tokens", type=int, default=256, help="length of an answer (default: %(default)s)")
    chosen = parser.parse_args()
    figures = asyncio.run(measure(chosen.model, chosen.tokens, chosen.turns))
    report(figures, as_json=chosen.json)
    end_by_targets(figures)


if __name__ == "__main__":
    main()
