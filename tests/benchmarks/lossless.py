"""Speculation never changes the text, on a real pair: drafters x lengths x samplings x prompts, token for token.

    python -m tests.benchmarks.lossless TARGET [--draft DRAFT] [--prompts 8] [--tokens 256] [--record FILE]
        [--drafters draft-simple ngram,draft-mtp tree] [--lengths 0,3,auto]

Without a draft file a target drafts with n-grams and with heads of its own. TARGET is a library name, a path, or a tiny
model made for the occasion: ``tiny:llama``, ``tiny:embedded``, ``tiny:sidecar``, ``tiny:assistant``, ``tiny:chain``,
``tiny:one-head``. Drafters that are not named are all that the pair has (but trees), each alone and after n-grams.

A whole matrix takes hours; with ``--record`` each answer is written down as it ends, and the same command goes on where
it was broken off. Where a text differs from plain decoding, the margin of the two tokens' logits tells whether a near
tie fell otherwise; one that is no near tie (:data:`NEAR`) makes the command fail.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

import tests.fixtures.bare  # noqa: F401 - sets how long OpenMP's threads poll, before llama.cpp is loaded
from app.cli.options import draft_length
from app.engine.cancel import CancelFlag
from app.engine.noise import gumbel
from app.engine.session import Session
from app.engine.template import Renderer
from app.errors import UsageError
from app.models.library import Library
from app.protocol import ChatMessage, Chunk, DraftTokens, Generate, Load, Loaded, Sampling, Speculation, Started
from tests.benchmarks.figures import Figure, arguments, report
from tests.engine.test_lossless import PROMPTS, SAMPLINGS
from tests.engine.test_mtp import write
from tests.fixtures import tiny, tiny_mtp

N_CTX = 2048
LENGTHS: tuple[DraftTokens, ...] = (0, 1, 2, 3, 4, 5, 6, 7, 8, "auto")
NEAR = 0.05
"""Logits that lie closer than this are a near tie."""

MADE = "tiny:"
"""Before the name of a tiny model that is made here."""

Key = tuple[int, int, str, str]
Way = tuple[str, str, Speculation]


class Record:
    """The answers so far, in memory and in a file that is only ever added to."""

    def __init__(self, path: Path | None, about: str) -> None:
        self._path, self._about = path, about
        self.ids: dict[Key, list[int]] = {}
        self.n_kept: Counter[str] = Counter()
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                known = json.loads(line)
                if known["about"] == about:
                    self._take(tuple(known["key"]), known["ids"], known["kept"])

    def _take(self, key: Key, ids: list[int], n_kept: int) -> None:
        self.ids[key] = ids
        self.n_kept[key[2]] += n_kept

    def add(self, key: Key, ids: list[int], n_kept: int) -> None:
        """Take in an answer."""
        self._take(key, ids, n_kept)
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps({"about": self._about, "key": key, "ids": ids, "kept": n_kept}) + "\n")


def answer(session: Session, prompt: str, sampling: Sampling, way: Speculation, n_tokens: int) -> tuple[list[int], int]:
    """Return the tokens of an answer, and how many drafted ones were kept."""
    command = Generate(
        id=1,
        sampling=sampling,
        messages=(ChatMessage("user", prompt),),
        speculation=way,
        max_tokens=n_tokens,
        reuse_memory=False,  # a prompt that is partly at hand is evaluated in other portions: other kernels
    )
    events = list(session.generate(command, received_s=0.0, cancel=CancelFlag()))
    started = next(event for event in events if isinstance(event, Started))
    if way.draft_tokens and way.types and started.engagement.drafter != ",".join(way.types):
        raise SystemExit(f"{','.join(way.types)} did not draft: {started.engagement.reason}")
    chunks = [event for event in events if isinstance(event, Chunk)]
    return [t for chunk in chunks for t in chunk.token_ids], sum(chunk.step.accepted for chunk in chunks)


def ways(drafters: Sequence[str], lengths: Sequence[DraftTokens], *, exact: bool) -> Iterator[Way]:
    """Plain, then every drafter with every length; with length 0 only one, since then none is asked."""
    yield "plain", "0", Speculation()
    for drafter, length in itertools.product(drafters, lengths):
        if length == 0 and drafter != drafters[0]:
            continue
        yield drafter, str(length), Speculation(types=tuple(drafter.split(",")), draft_tokens=length, exact=exact)


def fill(session: Session, record: Record, kinds: Sequence[Way], n_prompts: int, n_tokens: int) -> None:
    """Answer whatever the record lacks."""
    for p, s, (drafter, length, way) in itertools.product(range(n_prompts), range(len(SAMPLINGS)), kinds):
        key = (p, s, drafter, length)
        if key not in record.ids:
            record.add(key, *answer(session, PROMPTS[p], SAMPLINGS[s], way, n_tokens))
            sys.stderr.write(f"{len(record.ids)} answers\r")


def margin(session: Session, prompt: str, sampling: Sampling, plain: list[int], other: list[int]) -> tuple[int, float]:
    """Return where two texts part, and how far apart the two tokens are there: logits, with their noise."""
    at = next((i for i, (a, b) in enumerate(zip(plain, other, strict=False)) if a != b), None)
    if at is None:
        return min(len(plain), len(other)), float("inf")
    target = session._pair.target
    text, _notices = session.render((ChatMessage("user", prompt),))
    bos = target.model.text_of(target.model.bos)
    ids = [*target.model.tokenise(text, add_special=not (bos and text.startswith(bos))), *plain[:at]]
    target.context.rewind(0)
    target.held.tokens.clear()
    for start in range(0, len(ids), 64):
        target.context.decode(ids[start : start + 64], 1)
    row = target.context.row(0)[[plain[at], other[at]]].astype(np.float64)
    target.context.rewind(0)
    if sampling.temperature > 0:
        row += sampling.temperature * gumbel(sampling.seed, len(ids), np.array([plain[at], other[at]], dtype=np.int32))
    return at, abs(float(row[0] - row[1]))


def compared(session: Session, record: Record) -> Iterator[Figure]:
    """Hold every answer against plain decoding of the same prompt and sampling."""
    n_runs: Counter[str] = Counter()
    n_equal: Counter[str] = Counter()
    n_far = 0
    for (p, s, drafter, length), ids in record.ids.items():
        if drafter == "plain":
            continue
        plain = record.ids[(p, s, "plain", "0")]
        n_runs[drafter] += 1
        n_equal[drafter] += ids == plain
        if ids != plain:
            at, apart = margin(session, PROMPTS[p], SAMPLINGS[s], plain, ids)
            n_far += apart > NEAR
            name = f"prompt {p}, T={SAMPLINGS[s].temperature:g}, {drafter}, length {length}"
            yield Figure(f"{name}: differs at {at}, margin of logits", (apart,), "")
    for drafter, n in n_runs.items():
        yield Figure(f"{drafter}: answers", (n,), "")
        yield Figure(f"{drafter}: equal to plain", (n_equal[drafter] / n,), "share")
        yield Figure(f"{drafter}: drafted tokens kept", (record.n_kept[drafter],), "")
    yield Figure("texts that differ where no near tie is", (n_far,), "", "<= 0")


def drafters_of(loaded: Loaded) -> list[str]:
    """Return what a pair can draft with: each drafter alone, and those with a model after n-grams; no trees."""
    models = [name for name in loaded.drafters if name not in ("ngram", "tree")]
    return [*(name for name in loaded.drafters if name != "tree"), *(f"ngram,{name}" for name in models)]


def files(target: str, draft: str | None, folder: Path) -> tuple[str, str | None]:
    """Return the paths of a pair; one that is to be made is written into ``folder``."""
    if not target.startswith(MADE):
        library = Library()
        return str(library.resolve(target).path), draft and str(library.resolve(draft).path)
    match target.removeprefix(MADE):
        case "llama":
            made = tiny.llama_pair(folder)
        case "one-head":
            made = tiny_mtp.hy_v3_chain(folder / "one-head.gguf", agrees=(0.75,)), None
        case "embedded" | "sidecar" | "assistant" | "chain" as kind:
            made = write(kind, folder)
        case other:
            raise UsageError(f"No tiny model is called {other}.", "See the head of this file.")
    return str(made[0]), made[1] and str(made[1])


def load(session: Session, target: str, draft: str | None, wanted: Sequence[str]) -> Loaded:
    """Load a pair with what the drafters need; end if one of them cannot be had."""
    trees = any("tree" in drafter for drafter in wanted)
    command = Load(id=0, target=target, draft=draft, n_ctx=N_CTX, trees=trees)
    *_progress, loaded = session.load(command, CancelFlag())
    if not isinstance(loaded, Loaded):
        raise SystemExit(f"not loaded: {loaded}")
    names = {name for drafter in wanted for name in drafter.split(",")}
    if missing := names - set(loaded.drafters):
        raise SystemExit(f"{', '.join(sorted(missing))} cannot be engaged: {loaded.not_engageable}")
    return loaded


def main() -> None:
    """Measure and print."""
    parser = arguments("Speculation never changes the text, on a real pair.", n_turns=1)
    parser.add_argument("target")
    parser.add_argument("--draft")
    parser.add_argument("--drafters", nargs="+", default=[], help="default: all but trees")
    parser.add_argument("--lengths", default=",".join(map(str, LENGTHS)))
    parser.add_argument("--prompts", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--any-rounding", action="store_true", help="drafts that round otherwise, too")
    parser.add_argument("--record", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, closing(Session(Renderer())) as session:
        target, draft = files(chosen.target, chosen.draft, Path(folder))
        loaded = load(session, target, draft, chosen.drafters)
        found = measure(session, record_of(chosen, target, draft), chosen, chosen.drafters or drafters_of(loaded))
    report(found, as_json=chosen.json)
    if found[-1].values[0]:
        raise SystemExit(1)


def record_of(chosen: argparse.Namespace, target: str, draft: str | None) -> Record:
    """Return the record of these files and settings."""
    names = " ".join(Path(path).name for path in (target, draft) if path)
    return Record(chosen.record, f"{names} {chosen.tokens} {chosen.any_rounding}")


def measure(session: Session, record: Record, chosen: argparse.Namespace, drafters: Sequence[str]) -> list[Figure]:
    """Answer what the record lacks, and compare."""
    lengths = list(map(draft_length, chosen.lengths.split(",")))
    fill(session, record, list(ways(drafters, lengths, exact=not chosen.any_rounding)), chosen.prompts, chosen.tokens)
    return list(compared(session, record))


if __name__ == "__main__":
    main()
