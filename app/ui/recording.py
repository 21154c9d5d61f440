"""Recording a baseline: the built-in prompts answered by turns without and with speculation.

A baseline is plain decoding with no drafter loaded. With n-gram drafting the two kinds of answer alternate, so that
heat and other programs' load fall on both alike; with a draft model the target is measured alone first.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from app.errors import EngineError
from app.host import AnswerEvent, ChatRequest, Host, PairChoice
from app.metrics.baseline import Baseline, record
from app.metrics.prompts import Prompt, load_prompts
from app.metrics.values import Run
from app.protocol import Sampling, Speculation
from app.ui.wording import drafter_name

SETS = ("chat", "code", "prose")
PER_SET = 2
MAX_TOKENS = 64

_WARM_UP_TOKENS = 8
_WARM_UP = "warm-up"
_PLAIN = Speculation()

OnEvent = Callable[[AnswerEvent, Speculation], None]


@dataclass(frozen=True, slots=True)
class RecordProgress:
    """How far a recording has come, in words."""

    fraction: float
    words: str


def built_in_prompts() -> tuple[Prompt, ...]:
    """Return some prompts of each kind."""
    return tuple(prompt for name in SETS for prompt in load_prompts(name)[:PER_SET])


class Recording:
    """One recording through the host, step by step."""

    def __init__(self, host: Host, sampling: Sampling, way: Speculation, on_event: OnEvent) -> None:
        self._host, self._sampling, self._way, self._on_event = host, sampling, way, on_event
        self._prompts = built_in_prompts()
        self.baseline: Baseline | None = None

    async def run(self, pair: PairChoice) -> AsyncGenerator[RecordProgress, None]:
        """Measure; yield before every answer. Afterwards, also after a cancel, ``pair`` is loaded.

        Raises:
            SlipstreamError: the engine failed, or the answers do not make a baseline.
        """
        alone = replace(pair, draft=None)
        trials = self._trials(is_alternating=pair.draft is None)
        plain: list[Run] = []
        try:
            yield RecordProgress(0.0, "Preparing to record…")
            await self._host.load(alone)
            await self._ask(replace(self._prompts[0], name=_WARM_UP), _PLAIN, _WARM_UP_TOKENS)
            for n, (prompt, way) in enumerate(trials):
                kind = "plain" if way == _PLAIN else f"with {drafter_name(','.join(way.types))}"
                yield RecordProgress(
                    n / len(trials), f"Recording answer {n + 1} of {len(trials)}: {prompt.name}, {kind}"
                )
                if way != _PLAIN:
                    await self._host.load(pair)
                run = await self._ask(prompt, way, MAX_TOKENS)
                if way == _PLAIN:
                    plain.append(run)
            self.baseline = record(plain, prompt_set=", ".join(SETS))[0]
        finally:
            if self._host.state.pair != pair and self._host.state.phase != "died":
                await self._host.load(pair)

    def _trials(self, *, is_alternating: bool) -> Sequence[tuple[Prompt, Speculation]]:
        ways = (_PLAIN, self._way) if self._way != _PLAIN else (_PLAIN,)
        if not is_alternating:
            return [(prompt, way) for way in ways for prompt in self._prompts]
        return [
            (prompt, ways[(n + turn) % len(ways)])
            for turn in range(len(ways))
            for n, prompt in enumerate(self._prompts)
        ]

    async def _ask(self, prompt: Prompt, way: Speculation, max_tokens: int) -> Run:
        request = ChatRequest(
            messages=prompt.messages,
            label=prompt.name,
            speculation=way,
            sampling=self._sampling,
            max_tokens=max_tokens,
            reuse_memory=False,
        )
        before = len(self._host.session.runs)
        async with aclosing(self._host.answer(request)) as events:
            async for event in events:
                self._on_event(event, way)
        runs = self._host.session.runs
        if len(runs) == before:
            raise EngineError("An answer was not recorded.", "Record again.")
        return runs[-1]
