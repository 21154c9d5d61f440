"""Measuring ways to draft side by side: the same prompts and seeds, plain and speculative answers by turns."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from app.host.host import Host
from app.host.values import AnswerEvent, ChatRequest
from app.metrics.prompts import Prompt
from app.metrics.recorder import spec_name
from app.metrics.values import Run
from app.protocol import Chunk, Done, Sampling, Speculation

WARM_UP = "warm-up"
"""Name of answers that only warm up; too short to enter a verdict or a baseline."""

_WARM_UP_TOKENS = 8

OnEvent = Callable[[AnswerEvent], None]


@dataclass(frozen=True, slots=True)
class Trial:
    """One answer to be measured; answers of one round are held against each other."""

    prompt: Prompt
    speculation: Speculation
    round: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """One answer that was measured, and its tokens."""

    trial: Trial
    run: Run
    token_ids: tuple[int, ...]
    text: str


def is_off(speculation: Speculation) -> bool:
    """Whether nothing drafts."""
    return spec_name(speculation) == "none"


def interleave(prompts: Sequence[Prompt], ways: Sequence[Speculation], repeat: int) -> list[Trial]:
    """Order every prompt × way × repetition so that neighbours differ in both, where there are two to choose from."""
    return [trial for round_ in range(repeat) for trial in one_round(prompts, ways, round_)]


def one_round(prompts: Sequence[Prompt], ways: Sequence[Speculation], round_: int) -> list[Trial]:
    """Order the trials of a round.

    So slow drifts (heat, other programs) fall on all ways alike, and an answer does not find its own prompt, but for
    what all prompts begin with, in the cache. Every other round goes backwards, so that what an even drift takes from a
    way in one round it gives back in the next, and each pair of rounds begins with another way.
    """
    first = round_ // 2 % len(ways)
    turned = [*ways[first:], *ways[:first]][:: -1 if round_ % 2 else 1]
    return [
        Trial(prompt, turned[(i + shift) % len(ways)], round_)
        for shift in range(len(ways))
        for i, prompt in enumerate(prompts)
    ]


async def warm_up(
    host: Host, prompt: Prompt, ways: Sequence[Speculation], sampling: Sampling, on_event: OnEvent
) -> None:
    """Give one short answer each way, to be dropped."""
    for way in ways:
        await answer(host, request_of(prompt, way, sampling, _WARM_UP_TOKENS, label=WARM_UP), on_event)


async def measure(
    host: Host, trials: Sequence[Trial], sampling: Sampling, max_tokens: int, on_event: OnEvent
) -> AsyncGenerator[Measured, None]:
    """Yield the trials measured, in their order."""
    for trial in trials:
        request = request_of(trial.prompt, trial.speculation, sampling, max_tokens, label=trial.prompt.name)
        run, token_ids, text = await answer(host, request, on_event)
        yield Measured(trial, run, token_ids, text)


async def answer(host: Host, request: ChatRequest, on_event: OnEvent) -> tuple[Run, tuple[int, ...], str]:
    """Have a request answered to its end; return its run, tokens and text.

    Whoever cancels it may hear of the run later, by the request's own ``on_recorded``.

    Raises:
        SlipstreamError: the engine could not answer, or is gone.
    """
    parts: list[str] = []
    token_ids: list[int] = []
    runs: list[Run] = []  # the session's newest may be another program's

    def note(run: Run) -> None:
        runs.append(run)
        if request.on_recorded is not None:
            request.on_recorded(run)

    async with aclosing(host.answer(replace(request, on_recorded=note))) as events:
        async for event in events:
            on_event(event)
            if isinstance(event, Chunk | Done):
                parts.append(event.text)
            if isinstance(event, Chunk):
                token_ids += event.token_ids
    return runs[-1], tuple(token_ids), "".join(parts)


def request_of(prompt: Prompt, way: Speculation, sampling: Sampling, max_tokens: int, *, label: str) -> ChatRequest:
    """Ask a prompt one way, from an empty memory, so that answers can be compared."""
    return ChatRequest(
        messages=prompt.messages,
        label=label,
        speculation=way,
        sampling=sampling,
        max_tokens=max_tokens,
        reuse_memory=False,
    )
