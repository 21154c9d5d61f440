"""Recording a baseline: named prompts answered by turns without and with speculation, over some rounds.

A baseline is plain decoding with no drafter loaded. With n-gram drafting the two kinds of answer alternate, so that
heat and other programs' load fall on both alike; with a draft model they alternate in blocks, since the target has to
be alone for the plain ones. What each load begins with is a warm-up, and is dropped. A recording that is broken off
marks its answers: they count nowhere.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import msgspec

from app.errors import BusyError
from app.host import AnswerEvent, Host, PairChoice
from app.host.trials import WARM_UP, Trial, answer, is_off, one_round, request_of
from app.metrics.baseline import MIN_RUNS, Baseline, record
from app.metrics.prompts import Prompt, load_prompts
from app.metrics.recorder import spec_name
from app.metrics.surroundings import Source, Watch
from app.metrics.values import Run
from app.metrics.verdict import usable
from app.protocol import ChatMessage, Sampling, Speculation
from app.ui.tr import tr
from app.ui.wording import drafter_name

SETS = ("chat", "code", "prose")
PER_SET = 2
N_BUILT_IN = len(SETS) * PER_SET
MAX_TOKENS = 64
MOST_OWN = 12
MOST_ROUNDS = 20

INTERRUPTED = "the recording was interrupted"
DROPPED = "a warm-up"

_WARM_UP_TOKENS = 8
_PLAIN = Speculation()

OnEvent = Callable[[AnswerEvent, Speculation], None]


@dataclass(frozen=True, slots=True)
class RecordingPlan:
    """What to record on: prompts under the name of their set, so many times each; ``name`` "" is the set's."""

    prompts: tuple[Prompt, ...]
    prompt_set: str
    n_rounds: int = 1
    name: str = ""
    max_tokens: int = MAX_TOKENS


@dataclass(frozen=True, slots=True)
class RecordProgress:
    """How far a recording has come, in words."""

    fraction: float
    words: str


@dataclass(frozen=True, slots=True)
class _Block:
    """Trials that need the same pair loaded."""

    pair: PairChoice
    trials: tuple[Trial, ...]


def built_in_prompts() -> tuple[Prompt, ...]:
    """Return some prompts of each kind."""
    return tuple(prompt for name in SETS for prompt in load_prompts(name)[:PER_SET])


def built_in_plan() -> RecordingPlan:
    """Record on some prompts of each kind, once."""
    return RecordingPlan(built_in_prompts(), ", ".join(SETS))


def rounds_for(n_pairs: int) -> int:
    """Return how often the built-in prompts have to be answered for so many pairs, as far as one recording goes."""
    return min(MOST_ROUNDS, math.ceil(n_pairs / N_BUILT_IN))


def own_prompts(conversation: Sequence[ChatMessage]) -> tuple[Prompt, ...]:
    """Return the newest questions of a conversation, each with what was said before it."""
    asked = [i for i, message in enumerate(conversation) if message.role == "user" and message.content.strip()]
    return tuple(
        Prompt(tr("question {n}").format(n=n), tuple(conversation[: i + 1]), "own")
        for n, i in enumerate(asked[-MOST_OWN:], start=1)
    )


class Recording:
    """One recording through the host, step by step.

    Attributes:
        is_last: whether the program ends: then nothing is loaded again afterwards.
        is_whole: whether all answers are there, whether or not they make a baseline.
        completion: what to record for a baseline where the answers make none.
    """

    def __init__(
        self, host: Host, sampling: Sampling, way: Speculation, on_event: OnEvent, source: Source | None = None
    ) -> None:
        self._host, self._sampling, self._way, self._on_event = host, sampling, way, on_event
        self._source = source
        self._seen: list[str] = []
        self._is_cut = False
        self.is_last = self.is_whole = False
        self.baselines: tuple[Baseline, ...] = ()
        self.completion: RecordingPlan | None = None

    async def run(self, pair: PairChoice, plan: RecordingPlan | None = None) -> AsyncGenerator[RecordProgress, None]:
        """Measure; yield before every answer. Afterwards, also after a cancel, ``pair`` is loaded.

        Raises:
            SlipstreamError: the engine failed, or the answers do not make a baseline.
        """
        plan = plan or built_in_plan()
        blocks = self._blocks(pair, plan)
        total, done = sum(len(block.trials) for block in blocks), 0
        plain: list[Run] = []
        try:
            yield RecordProgress(0.0, tr("Preparing to record…"))
            watch = await asyncio.to_thread(Watch, self._source)
            for block in blocks:
                await self._host.load(block.pair)
                await self._warm_up(block)
                for trial in block.trials:
                    self._check_loaded(block.pair)
                    words = tr("Recording answer {done} of {total}: {trial_words}").format(
                        done=done + 1, total=total, trial_words=_trial_words(trial)
                    )
                    yield RecordProgress(done / total, words)
                    run = await self._ask(trial, plan.max_tokens)
                    plain += [run] if is_off(trial.speculation) else []
                    done += 1
            self.is_whole = True
            self.completion = completion(plan, plain)
            self.baselines = await self._summed_up(plain, plan, watch)
        finally:
            if not self.is_whole:
                self._is_cut = True
                self._host.session.mark(self._seen, excluded=INTERRUPTED)
            is_ours = self._host.state.pair in (None, *(block.pair for block in blocks))
            if is_ours and not self.is_last and self._host.state.pair != pair and self._host.state.phase != "died":
                await self._host.load(pair)

    def _check_loaded(self, wanted: PairChoice) -> None:
        """Raise if somebody has loaded something else, whose answers are of no use here."""
        if self._host.state.pair != wanted:
            raise BusyError(
                tr("Another model was loaded meanwhile."), tr("Record again, and leave the models as they are.")
            )

    async def _summed_up(self, plain: Sequence[Run], plan: RecordingPlan, watch: Watch) -> tuple[Baseline, ...]:
        notes = await asyncio.to_thread(watch.notes)
        found = record(plain, prompt_set=plan.prompt_set, name=plan.name)
        return tuple(msgspec.structs.replace(one, notes=notes) for one in found)

    def _blocks(self, pair: PairChoice, plan: RecordingPlan) -> list[_Block]:
        alone = replace(pair, draft=None)
        ways = (_PLAIN, self._way) if spec_name(self._way) != "none" else (_PLAIN,)
        if pair.draft is None or len(ways) == 1:
            rounds = (trial for n in range(plan.n_rounds) for trial in one_round(plan.prompts, ways, n))
            return [_Block(alone, tuple(rounds))]
        blocks: list[_Block] = []
        for n in range(plan.n_rounds):
            for way in ways[:: -1 if n % 2 else 1]:
                trials = tuple(Trial(prompt, way, n) for prompt in plan.prompts)
                loaded = alone if is_off(way) else pair
                if blocks and blocks[-1].pair == loaded:  # one round ends as the next begins: no load between them
                    trials = (*blocks.pop().trials, *trials)
                blocks.append(_Block(loaded, trials))
        return blocks

    async def _warm_up(self, block: _Block) -> None:
        for way in dict.fromkeys(trial.speculation for trial in block.trials):
            prompt = block.trials[0].prompt
            request = request_of(prompt, way, self._sampling, _WARM_UP_TOKENS, label=WARM_UP)
            await answer(self._host, replace(request, on_recorded=self._drop), self._listener(way))

    def _drop(self, run: Run) -> None:
        self._host.session.mark([run.id], excluded=DROPPED)

    def _note(self, run: Run) -> None:
        """Remember an answer: of one that is cancelled the run may come when the recording is over."""
        self._seen.append(run.id)
        if self._is_cut:
            self._host.session.mark([run.id], excluded=INTERRUPTED)

    async def _ask(self, trial: Trial, max_tokens: int) -> Run:
        way = trial.speculation
        request = request_of(trial.prompt, way, self._sampling, max_tokens, label=trial.prompt.name)
        watch = await asyncio.to_thread(Watch, self._source)
        run, _, _ = await answer(self._host, replace(request, on_recorded=self._note), self._listener(way))
        if notes := await asyncio.to_thread(watch.notes):
            self._host.session.mark([run.id], notes=notes)
        return run

    def _listener(self, way: Speculation) -> Callable[[AnswerEvent], None]:
        return lambda event: self._on_event(event, way)


def _trial_words(trial: Trial) -> str:
    way = trial.speculation
    kind = (
        tr("plain") if is_off(way) else tr("with {drafter_name}").format(drafter_name=drafter_name(",".join(way.types)))
    )
    again = ", " + tr("round {round}").format(round=trial.round + 1) if trial.round else ""
    return f"{trial.prompt.name}, {kind}{again}"


def completion(plan: RecordingPlan, plain: Iterable[Run]) -> RecordingPlan | None:
    """Return what of a plan to record, and how often, for a baseline at the context length of its last prompt.

    Questions of one conversation are of different lengths, as it grows, and the next answer is as far on as the last.
    """
    lengths = {run.prompt: run.conditions.context_bucket for run in plain if usable(run) and run.conditions}
    last = next((lengths[prompt.name] for prompt in reversed(plan.prompts) if prompt.name in lengths), None)
    prompts = tuple(prompt for prompt in plan.prompts if last is not None and lengths.get(prompt.name) == last)
    return replace(plan, prompts=prompts, n_rounds=math.ceil(MIN_RUNS / len(prompts))) if prompts else None


def n_answers(plan: RecordingPlan, ways: Iterable[Speculation]) -> int:
    """Return how many answers a recording takes, warm-ups left out."""
    return len(plan.prompts) * plan.n_rounds * len(set(ways))
