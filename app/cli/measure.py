"""Trials for a terminal: what the engine has to say about an answer goes to stderr."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from app.cli.terminal import note_notices
from app.host import AnswerEvent, Host, trials
from app.host.trials import WARM_UP, Measured, Trial, interleave, is_off
from app.metrics.prompts import Prompt
from app.protocol import Done, Sampling, Speculation, Started

__all__ = ["WARM_UP", "Measured", "Trial", "identical_to_plain", "interleave", "is_off", "measure", "warm_up"]


_said: set[str] = set()


def tell_notices(event: AnswerEvent) -> None:
    """Say what a person should know about an answer; what a hundred answers have in common, once."""
    if isinstance(event, Started | Done):
        note_notices(tuple(notice for notice in event.notices if notice.message not in _said))
        _said.update(notice.message for notice in event.notices)


async def warm_up(host: Host, prompt: Prompt, ways: Sequence[Speculation], sampling: Sampling) -> None:
    """Give one short answer each way, to be dropped."""
    await trials.warm_up(host, prompt, ways, sampling, tell_notices)


async def measure(
    host: Host, wanted: Sequence[Trial], sampling: Sampling, max_tokens: int
) -> AsyncGenerator[Measured, None]:
    """Yield the trials measured, in their order."""
    async with aclosing(trials.measure(host, wanted, sampling, max_tokens, tell_notices)) as results:
        async for one in results:
            yield one


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
