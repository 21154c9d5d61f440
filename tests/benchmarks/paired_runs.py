"""Record pairs of answers, speculation off and n-gram drafts, in the order in which they are measured.

What the pairs' ratios scatter by is the noise that the verdicts' tests are held against (``tests/metrics/traces``).

    python -m tests.benchmarks.paired_runs --out FILE [--turns N]
"""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from pathlib import Path

from app.cli.hosting import host, load
from app.engine.client import UNWATCHED_S
from app.host import PairChoice
from app.host.trials import interleave, is_off, measure, warm_up
from app.metrics.prompts import load_prompts
from app.protocol import Sampling, Speculation
from tests.benchmarks.figures import arguments

WAYS = (Speculation(), Speculation(types=("ngram",), draft_tokens=4))
GREEDY = Sampling(seed=1, temperature=0.0)
MAX_TOKENS = 40
PER_SET = 3


async def record(n_turns: int) -> list[dict[str, object]]:
    """Measure; return the pairs."""
    prompts = [prompt for name in ("edit", "code", "chat", "prose") for prompt in load_prompts(name)[:PER_SET]]
    halves: dict[tuple[int, str], dict[bool, float]] = {}
    async with host(UNWATCHED_S) as owner:
        await load(owner, PairChoice("starter", n_ctx=2048))
        await warm_up(owner, prompts[0], WAYS, GREEDY, lambda _event: None)
        trials = interleave(prompts, WAYS, n_turns)
        async with aclosing(measure(owner, trials, GREEDY, MAX_TOKENS, lambda _event: None)) as results:
            async for one in results:
                if one.run.decode_tps is not None:
                    half = halves.setdefault((one.trial.round, one.run.prompt), {})
                    half[is_off(one.trial.speculation)] = one.run.decode_tps
    pairs = [(prompt, half) for (_round, prompt), half in halves.items() if len(half) == len(WAYS)]
    return [{"prompt": prompt, "plain_tps": half[True], "drafted_tps": half[False]} for prompt, half in pairs]


def main() -> None:
    """Write the recording."""
    parser = arguments(__doc__.splitlines()[0], n_turns=14)
    parser.add_argument("--out", type=Path, required=True, help="file for the recording")
    asked = parser.parse_args()
    pairs = asyncio.run(record(asked.turns))
    lines = ",\n".join(map(json.dumps, pairs))
    about = f"{len(pairs)} pairs on the starter, {MAX_TOKENS} tokens each at temperature 0"
    asked.out.write_text(f'{{"about": {json.dumps(about)}, "pairs": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{about}: {asked.out}")


if __name__ == "__main__":
    main()
