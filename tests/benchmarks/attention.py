"""What the memory's element types cost and whether they round alike: one row of a decode against several, and prefill.

ggml's flash attention on the CPU has three paths: split over the cache for exactly one row from 512 positions on
(F16 K and V of one type), tiled from 64 rows on (the same types), and one row at a time otherwise. They round
differently, so where one row takes another path than several, a verified token's logits are not those of plain
decoding. This prints, for each layout, the time of a pass by row count and of prefill, and the largest difference
between the logits of the last of several rows and of the same token alone.

    python -m tests.benchmarks.attention [--json] [--model NAME|PATH] [--threads N] [--at N] [--turns N] [--layouts …]
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from app.engine.llama import Context, Model, Shape
from app.engine.threads import default_threads
from app.models.library import Library
from app.protocol import MemoryTypes
from tests.benchmarks.figures import Figure, arguments, report

ROWS = (1, 2, 5, 8, 16, 31)
LAYOUTS = ("f16/f16", "f16/f32", "f16/bf16", "f32/f32", "q8_0/q8_0", "f16/f16/off")
_TEXT = "The keeper counted {} ships and {} gulls. def add(a, b):\n    return a + b + {}\n"


def shape(layout: str, n_ctx: int, n_threads: int) -> Shape:
    """Return the shape that ``K/V`` or ``K/V/off`` names."""
    type_k, type_v, *off = layout.split("/")
    return Shape(n_ctx, n_threads, 32, memory=MemoryTypes(type_k, type_v, flash_attention=not off))


def prefill_s(context: Context, tokens: Sequence[int]) -> float:
    """Return how long the prompt takes."""
    context.rewind(0)
    started_s = time.perf_counter()
    for at in range(0, len(tokens), 128):
        context.decode(tokens[at : at + 128], 1)
    return time.perf_counter() - started_s


def pass_s(context: Context, tokens: Sequence[int]) -> float:
    """Return how long one pass over the tokens takes; leave the memory as it was."""
    n_past = context.n_past
    started_s = time.perf_counter()
    context.decode(tokens, len(tokens))
    took_s = time.perf_counter() - started_s
    context.rewind(n_past)
    return took_s


def difference(context: Context, tokens: Sequence[int]) -> float:
    """Return the largest difference between logits of tokens evaluated together and one by one."""
    n_past = context.n_past
    context.decode(tokens, len(tokens))
    together = [context.row(i).copy() for i in range(len(tokens))]
    context.rewind(n_past)
    worst = 0.0
    for token, row in zip(tokens, together, strict=True):
        context.decode([token], 1)
        worst = max(worst, float(np.abs(context.row(0) - row).max()))
    context.rewind(n_past)
    return worst


def measure(model: Model, layouts: Sequence[str], n_at: int, n_threads: int, n_turns: int) -> list[Figure]:
    """Measure each layout, taking turns."""
    text = "".join(_TEXT.format(i, i * 7 % 31, i * i) for i in range(400))
    tokens = model.tokenise(text)[: n_at + 32]
    contexts = {layout: Context(model, shape(layout, n_at + 64, n_threads)) for layout in layouts}
    prefills: dict[str, list[float]] = {layout: [] for layout in layouts}
    passes: dict[tuple[str, int], list[float]] = {}
    for _turn in range(n_turns):
        for layout, context in contexts.items():
            prefills[layout].append(prefill_s(context, tokens[:n_at]))
            for n in ROWS:
                passes.setdefault((layout, n), []).append(pass_s(context, tokens[n_at : n_at + n]))
    figures = []
    for layout, context in contexts.items():
        figures.append(Figure(f"{layout} prefill of {n_at}", tuple(prefills[layout]), "s"))
        figures += [Figure(f"{layout} pass of {n} rows", tuple(1e3 * s for s in passes[layout, n]), "ms") for n in ROWS]
        figures.append(Figure(f"{layout} difference", (difference(context, tokens[n_at : n_at + 8]),), "logits"))
        context.close()
    return figures


def main() -> None:
    """Measure and print."""
    parser = arguments("What the memory's layout costs, and whether it rounds alike.", n_turns=3)
    parser.add_argument("--model", default="starter")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--at", type=int, default=1024, help="positions that are filled (default: %(default)s)")
    parser.add_argument("--layouts", default=",".join(LAYOUTS))
    chosen = parser.parse_args()
    model = Model(str(Library().resolve(chosen.model).path))
    try:
        layouts = chosen.layouts.split(",")
        figures = measure(model, layouts, chosen.at, chosen.threads or default_threads(), chosen.turns)
    finally:
        model.close()
    report(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
