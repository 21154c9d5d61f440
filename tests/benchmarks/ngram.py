"""Our n-gram drafter against the lookup rules of llama.cpp's ``ngram-simple`` and ``ngram-mod``.

The texts are a model's greedy answers to the prompts; a drafter does not change a text, so each text is decoded once
and then replayed: at every step the drafter drafts, what agrees with the text is accepted, and one more token comes.
Counted are tokens per step and tokens that were drafted in vain. Every drafter is shown at the setting that is best
for it on a machine where each drafted token costs a given share of a plain pass, and at llama.cpp's defaults.

    python -m tests.benchmarks.ngram [--model NAME] [--sets edit,quotes,history] [--edits N] [--tokens N] [--json]

The set ``history`` needs no model's answers: it is what people did, edits of this repository's own files.
The answers are kept in the system's folder for temporary files, so that only the first run decodes.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from app.engine.auto_length import AutoLength, Evidence
from app.engine.costs import Costs
from app.engine.draft_length import Ask
from app.engine.drafters.ngram import NgramDrafter
from app.metrics.prompts import Prompt, load_prompts
from app.models.library import Library
from app.protocol import MAX_DRAFT_TOKENS, Generate, Sampling, Step
from tests.benchmarks.figures import Figure, arguments, report

COSTS = (0.02, 0.2, 0.5)
"""What a drafted token costs, in plain passes: about a GPU, a CPU with F16 weights, a CPU with 4-bit weights."""

LENGTHS = (2, 4, 8, 16, 31)
"""Draft lengths that are tried for every drafter; llama.cpp's own may be longer, see :data:`DEFAULTS`."""


@dataclass(frozen=True, slots=True)
class Text:
    """A prompt and the answer to it, in tokens."""

    name: str
    prompt: tuple[int, ...]
    answer: tuple[int, ...]


class Lookup(Protocol):
    """What is replayed: a drafter at a setting."""

    def draft(self, tokens: list[int]) -> list[int]:
        """Return what could follow."""

    def settled(self, tokens: list[int], n_accepted: int) -> None:
        """Take note of the text after a step."""


# --- the drafters -----------------------------------------------------------------------------------


class Ours:
    """Our drafter, never asked for more than ``limit`` tokens."""

    def __init__(self, limit: int) -> None:
        self._limit, self._drafter, self._began = limit, NgramDrafter(), False

    def draft(self, tokens: list[int]) -> list[int]:
        if not self._began:
            self._drafter.begin(tokens[:-1])
            self._began = True
        return self._drafter.draft(tokens, Ask(self._limit))

    def settled(self, tokens: list[int], n_accepted: int) -> None:
        self._drafter.accept(tokens)


class OursAuto(Ours):
    """Our drafter under the controller, which knows the costs and learns how far each kind of draft holds."""

    def __init__(self, cost: float, evidence: Evidence) -> None:
        super().__init__(MAX_DRAFT_TOKENS)
        evidence.begin_answer()
        self._cost, self._length = cost, AutoLength(evidence, MAX_DRAFT_TOKENS, n_left=256)
        self._length.begin(1.0)
        self._n_used, self._kind = 0, ""
        self._unused: list[int] = []

    def draft(self, tokens: list[int]) -> list[int]:
        self._limit = self._length.ask("ngram", 0).limit
        draft = super().draft(tokens) if self._limit else []
        self._n_used = self._length.trim("ngram", self._drafter.kind, len(draft)) if draft else 0
        self._kind = self._drafter.kind if self._n_used else ""
        self._unused = [] if self._n_used else draft[:1]
        return draft[: self._n_used]

    def settled(self, tokens: list[int], n_accepted: int) -> None:
        super().settled(tokens, n_accepted)
        step = Step(
            t_s=0.0,
            emitted=n_accepted + 1,
            limit=self._limit,
            proposed=self._n_used,
            judged=min(n_accepted + 1, self._n_used),
            accepted=n_accepted,
            draft_s=0.0,
            verify_s=1 + self._cost * self._n_used,
            n_ctx=len(tokens) - 1,
            drafter="ngram" if self._n_used else "",
        )
        self._length.observe(step, self._kind, 0)
        if self._unused:
            self._length.overhears("ngram", self._drafter.kind, 1, int(self._unused[0] == tokens[-1]))


@dataclass(slots=True)
class Simple:
    """``ngram-simple`` (``common_ngram_simple_draft``): the latest place where the last ``n`` tokens stood; copy ``m``.

    The tokens that follow must be at least ``n``, and the text longer than ``n + m + 1``. The first token of the text
    is never found.
    """

    n: int
    m: int
    places: dict[tuple[int, ...], int] = field(default_factory=dict)
    n_known: int = 1

    def draft(self, tokens: list[int]) -> list[int]:
        n, length = self.n, len(tokens) - 1  # llama.cpp keeps the last token apart
        for start in range(self.n_known, length - n):
            self.places[tuple(tokens[start : start + n])] = start
        self.n_known = max(self.n_known, length - n)
        start = self.places.get(tuple(tokens[-n:]))
        if length <= n + self.m + 1 or start is None:
            return []
        copied = tokens[start + n : -1][: self.m]
        return copied if len(copied) >= n else []

    def settled(self, tokens: list[int], n_accepted: int) -> None:
        """Learn nothing."""


@dataclass(slots=True)
class Mod:
    """``ngram-mod``: a table from ``n`` tokens to the one that followed last, walked token by token.

    New runs go in once more than 32 tokens have come; five poor drafts in a row empty it. The hash's collisions are
    left out (4 million entries, some hundred used), to its favour.
    """

    n: int
    n_max: int
    n_min: int
    follows: dict[tuple[int, ...], int] = field(default_factory=dict)
    n_known: int = -1
    n_drafted: int = 0
    n_low: int = 0

    def _learn(self, tokens: list[int], start: int, end: int) -> None:
        for at in range(start, end):
            self.follows[tuple(tokens[at : at + self.n])] = tokens[at + self.n]

    def draft(self, tokens: list[int]) -> list[int]:
        n, length = self.n, len(tokens) - 1
        self.n_drafted = 0
        if length < n:
            return []
        if self.n_known < 0:
            self._learn(tokens, 0, length - n)
            self.n_known = length - n
        if self.n_known + 32 < length:
            self._learn(tokens, self.n_known, length - n)
            self.n_known = length - n
        draft = list(tokens[-n:])
        for i in range(self.n_max):
            token = self.follows.get(tuple(draft[i : i + n]))
            if token is None:
                if i < self.n_min:
                    return []
                break
            draft.append(token)
        self.n_drafted = len(draft) - n
        return draft[n:]

    def settled(self, tokens: list[int], n_accepted: int) -> None:
        if not self.n_drafted:
            return
        self.n_low = self.n_low + 1 if n_accepted / self.n_drafted < 0.25 else 0
        if self.n_low >= 5:
            self.follows.clear()
            self.n_low = self.n_known = 0


Settings = dict[str, Callable[[], Lookup]]


def settings(cost: float) -> dict[str, Settings]:
    """Return every drafter at every setting that is tried, by name; our controller is told the cost."""
    runs = (2, 3, 4, 6, 8, 12, 16, 24)
    evidence = Evidence(Costs({n: 1 + cost * (n - 1) for n in range(1, MAX_DRAFT_TOKENS + 2)}))
    return {
        "ours": {f"k={k}": lambda k=k: Ours(k) for k in LENGTHS},
        "ours auto": {"": lambda: OursAuto(cost, evidence)},
        "ngram-simple": {f"n={n} m={m}": lambda n=n, m=m: Simple(n, m) for n, m in itertools.product(runs, LENGTHS)},
        "ngram-mod": {
            f"n={n} max={m} min={least}": lambda n=n, m=m, least=least: Mod(n, m, least)
            for n, m, least in itertools.product(runs, LENGTHS, (0, 2, 4, 8))
            if least <= m
        },
    }


DEFAULTS: Settings = {
    "ngram-simple n=12 m=48": lambda: Simple(12, 48),
    "ngram-mod n=24 max=64 min=48": lambda: Mod(24, 64, 48),
}

# --- replaying --------------------------------------------------------------------------------------


@dataclass(slots=True)
class Count:
    """What a replay came to, and how long the drafter itself took."""

    n_tokens: int = 0
    n_steps: int = 0
    n_drafted: int = 0
    n_accepted: int = 0
    draft_s: float = 0.0

    def speedup(self, cost: float) -> float:
        """Return how many times faster than plain decoding, where a drafted token costs that many plain passes."""
        return self.n_tokens / (self.n_steps + cost * self.n_drafted)

    def shown(self) -> str:
        """Return the figures in words."""
        wasted = (self.n_drafted - self.n_accepted) / self.n_tokens
        return f"{self.n_tokens / self.n_steps:5.2f} tokens/step, {wasted:5.2f} drafted in vain per token"


def replay(text: Text, lookup: Lookup, count: Count) -> None:
    """Add what a drafter would have done on a text; the first token comes from the prompt."""
    tokens = [*text.prompt, *text.answer[:1]]
    n_all = len(text.prompt) + len(text.answer)
    expected = [*text.prompt, *text.answer]
    while len(tokens) < n_all:
        began_s = time.perf_counter()
        draft = lookup.draft(tokens)[: n_all - len(tokens) - 1]
        took_s = time.perf_counter() - began_s
        n_accepted = sum(
            1
            for _ in itertools.takewhile(
                lambda pair: pair[0] == pair[1], zip(draft, expected[len(tokens) :], strict=False)
            )
        )
        tokens += expected[len(tokens) : len(tokens) + n_accepted + 1]
        began_s = time.perf_counter()
        lookup.settled(tokens, n_accepted)
        count.draft_s += took_s + time.perf_counter() - began_s
        count.n_steps += 1
        count.n_tokens += n_accepted + 1
        count.n_drafted += len(draft)
        count.n_accepted += n_accepted


def replay_all(texts: Sequence[Text], make: Callable[[], Lookup]) -> Count:
    """Replay every text with a fresh drafter."""
    count = Count()
    for text in texts:
        replay(text, make(), count)
    return count


# --- the texts --------------------------------------------------------------------------------------


def recorded(model: Path, prompts: Sequence[Prompt], n_tokens: int) -> Iterator[Text]:
    """Return the model's greedy answers, from the cache as far as they are there."""
    folder = Path(tempfile.gettempdir()) / "slipstream-ngram"
    folder.mkdir(exist_ok=True)
    session = None
    try:
        for prompt in prompts:
            key = json.dumps([model.name, model.stat().st_size, repr(prompt.messages), n_tokens])
            path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"
            if not path.exists():
                session = session or load(model)
                path.write_text(json.dumps(decode(session, prompt, n_tokens)))
            asked, answered = json.loads(path.read_text())
            yield Text(prompt.name, tuple(asked), tuple(answered))
    finally:
        if session is not None:
            session.close()


def load(model: Path):
    """Load a model into a session of this process."""
    import tests.fixtures.bare  # noqa: F401 - sets how long OpenMP's threads poll, before llama.cpp is loaded
    from app.engine.cancel import CancelFlag
    from app.engine.session import Session
    from app.engine.template import Renderer
    from app.protocol import Load

    session = Session(Renderer())
    for _event in session.load(Load(id=0, target=str(model), n_ctx=4096), CancelFlag()):
        pass
    return session


def decode(session, prompt: Prompt, n_tokens: int) -> tuple[list[int], list[int]]:
    """Return the tokens of a prompt and of the greedy answer."""
    from app.engine.cancel import CancelFlag
    from app.protocol import Chunk

    text, _notices = session.render(prompt.messages)
    command = Generate(id=1, sampling=Sampling(seed=1, temperature=0.0), prompt=text, max_tokens=n_tokens)
    chunks = session.generate(command, received_s=time.perf_counter(), cancel=CancelFlag())
    answered = [token for event in chunks if isinstance(event, Chunk) for token in event.token_ids]
    return list(session.tokenise(text)), answered


def history(model: Path, n_texts: int, n_chars: int = 6000) -> Iterator[Text]:
    """Return edits of this repository's own Python files: the file before is the prompt, the one after the answer."""
    from app.engine.llama import Model

    def git(*words: str) -> str:
        root = Path(__file__).parent
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout

    vocabulary, n_found = Model(str(model)), 0
    try:
        for line in git("log", "--no-merges", "--format=%H %s").splitlines():
            commit, _, subject = line.partition(" ")
            for row in git("show", "--diff-filter=M", "--numstat", "--format=", commit, "--", ":/*.py").splitlines():
                n_added, n_removed, path = row.split("\t")
                after = git("show", f"{commit}:{path}")
                if len(after) > n_chars or int(n_added) + int(n_removed) > 30:
                    continue
                before = git("show", f"{commit}^:{path}")
                asked = vocabulary.tokenise(f"{subject}. Print the whole file.\n\n```python\n{before}```\n\n")
                yield Text(path, tuple(asked), tuple(vocabulary.tokenise(f"```python\n{after}```")))
                n_found += 1
                if n_found == n_texts:
                    return
    finally:
        vocabulary.close()


# --- comparing --------------------------------------------------------------------------------------


def best(texts: Sequence[Text], tried: Settings, cost: float) -> tuple[str, Count]:
    """Return the setting with the highest speed-up at a cost, and what it came to."""
    counts = {name: replay_all(texts, make) for name, make in tried.items()}
    return max(counts.items(), key=lambda item: item[1].speedup(cost))


def compare(label: str, texts: Sequence[Text]) -> Iterator[tuple[str, Count, float]]:
    """Yield a line for every drafter: its name and setting, its count, and the cost at which it was chosen."""
    for cost in COSTS:
        for name, tried in settings(cost).items():
            setting, count = best(texts, tried, cost)
            yield f"{label} cost={cost:g} {name} {setting}", count, cost
        for name, make in DEFAULTS.items():
            yield f"{label} cost={cost:g} default {name}", replay_all(texts, make), cost


def main() -> None:
    """Replay and print."""
    parser = arguments("Our n-gram drafter against llama.cpp's lookup rules.", n_turns=1)
    parser.add_argument("--model", default="starter", help="a library name or a path (default: %(default)s)")
    parser.add_argument("--sets", default="edit,quotes,history", help="prompt sets or files (default: %(default)s)")
    parser.add_argument("--edits", type=int, default=12, help="how many edits of the history (default: %(default)s)")
    parser.add_argument("--tokens", type=int, default=256, help="longest answer (default: %(default)s)")
    chosen = parser.parse_args()
    model = Library().resolve(chosen.model).path
    figures: list[Figure] = []
    for name in chosen.sets.split(","):
        if name == "history":
            texts = list(history(model, chosen.edits))
        else:
            texts = list(recorded(model, load_prompts(name), chosen.tokens))
        for line, count, cost in compare(Path(name).stem, texts):
            figures.append(Figure(line, (count.speedup(cost),), "x"))
            if not chosen.json:
                per_step_us = 1e6 * count.draft_s / count.n_steps
                print(
                    f"{line:58} {count.speedup(cost):5.2f} x  {count.shown()}  {per_step_us:5.0f} µs/step", flush=True
                )
    if chosen.json:
        report(figures, as_json=True)


if __name__ == "__main__":
    main()
