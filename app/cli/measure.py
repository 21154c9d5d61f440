"""Measuring ways to draft side by side: the same prompts and seeds, plain and speculative answers by turns."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from app.cli.hosting import ask
from app.host import ChatRequest, Host
from app.metrics.prompts import Prompt
from app.metrics.recorder import spec_name
from app.metrics.values import Run
from app.protocol import Sampling, Speculation

WARM_UP = "warm-up"
"""Name of answers that only warm up; too short to enter a verdict or a baseline."""

_WARM_UP_TOKENS = 8


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
    """Order every prompt × way × repetition so that neighbours differ in both, where there are two to choose from.

    So slow drifts (heat, other programs) fall on all ways alike, and an answer does not find its own prompt, but for
    what all prompts begin with, in the cache. Every other round goes backwards, so that what an even drift takes from a
    way in one round it gives back in the next, and each pair of rounds begins with another way.
    """
    trials = []
    for round_ in range(repeat):
        first = round_ // 2 % len(ways)
        turned = [*ways[first:], *ways[:first]][:: -1 if round_ % 2 else 1]
        for shift in range(len(ways)):
            for i, prompt in enumerate(prompts):
                trials.append(Trial(prompt, turned[(i + shift) % len(ways)], round_))
    return trials


async def warm_up(host: Host, prompt: Prompt, ways: Sequence[Speculation], sampling: Sampling) -> None:
    """Give one short answer each way, to be dropped."""
    for way in ways:
        await ask(host, _request(prompt, way, sampling, _WARM_UP_TOKENS, label=WARM_UP), _silent)


async def measure(
    host: Host, trials: Sequence[Trial], sampling: Sampling, max_tokens: int
) -> AsyncGenerator[Measured, None]:
    """Yield the trials measured, in their order."""
    for trial in trials:
        request = _request(trial.prompt, trial.speculation, sampling, max_tokens, label=trial.prompt.name)
        said = await ask(host, request, _silent)
        yield Measured(trial, said.run, said.token_ids, said.text)


def identical_to_plain(measured: Sequence[Measured]) -> dict[tuple[str, Speculation], bool]:
    """For each prompt and way: whether every repetition gave the tokens of the prompt's first plain answer."""
    plain: dict[str, tuple[int, ...]] = {}
    for one in measured:
        if is_off(one.trial.speculation):
            plain.setdefault(one.trial.prompt.name, one.token_ids)
    same: dict[tuple[str, Speculation], bool] = {}
    for one in measured:
        key = (one.trial.prompt.name, one.trial.speculation)
        same[key] = same.get(key, True) and one.token_ids == plain.get(one.trial.prompt.name)
    return same


def _request(prompt: Prompt, way: Speculation, sampling: Sampling, max_tokens: int, *, label: str) -> ChatRequest:
    return ChatRequest(
        messages=prompt.messages,
        label=label,
        speculation=way,
        sampling=sampling,
        max_tokens=max_tokens,
        reuse_memory=False,
    )


def _silent(_text: str) -> None:
    """Show nothing."""
