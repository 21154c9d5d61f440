"""Measures where a model answers fastest here: short answers on each place by turns, on an engine of its own.

Not by belief: a GPU that shares the processor's memory is often slower than the processor, and by how much depends on
driver, model and heat.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable, Sequence

import msgspec

from app.errors import EngineError, SlipstreamError
from app.host.host import Host
from app.host.survey import Survey
from app.host.values import ChatRequest, PairChoice
from app.metrics.recorder import SessionLog
from app.protocol import ChatMessage, Sampling

LIMIT_S = 40.0
"""No answer begins after that; the last one takes a few seconds more."""

ANSWER_LIMIT_S = 15.0
"""A place that takes longer for its few tokens hangs, or is no choice: three a second would do."""

N_ROUNDS, N_TOKENS, N_WARM_UP = 3, 40, 4
N_CTX = 1024

LEAST_GAIN = 1.03
"""A device that is no faster than this times the processor is not worth its driver and its battery."""

_ASK = (ChatMessage("user", "Explain in plain words how a bicycle stays upright, and what the rider does for it."),)
_GREEDY = Sampling(seed=1, temperature=0.0)

Say = Callable[[str], None]


class PlaceSpeed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How fast a place is: medians of so many answers, tokens a second; or why it was not measured."""

    place: str
    decode_tps: float = 0.0
    prefill_tps: float = 0.0
    n_answers: int = 0
    fault: str = ""


class DeviceTrial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table, fastest first, and the place to choose ("" if none could be measured)."""

    target: str
    speeds: tuple[PlaceSpeed, ...]
    choice: str


def places(known: Survey) -> tuple[str, ...]:
    """Return where models can run: the processor, each device by name, NPU with GPU if both are here, all lent ones."""
    names = [report.device.name for report in known.devices if report.device.kind != "cpu"]
    kinds = {report.device.kind for report in known.devices}
    both = ["hybrid"] if "npu" in kinds and kinds & {"gpu", "igpu"} else []
    return ("cpu", *names, *both, *together(known))


def together(known: Survey) -> tuple[str, ...]:
    """Return the devices that servers lend as one place, if there are several: they share a model's layers."""
    lent = [report.device.name for report in known.devices if report.device.backend == "RPC"]
    return (",".join(lent),) if len(lent) > 1 else ()


def choose(speeds: Sequence[PlaceSpeed]) -> str:
    """Return the fastest place; the processor, if that is nearly as fast."""
    able = [speed for speed in speeds if speed.n_answers]
    if not able:
        return ""
    best = max(able, key=lambda speed: speed.decode_tps)
    processor = next((speed for speed in able if speed.place == "cpu"), best)
    return processor.place if processor.decode_tps * LEAST_GAIN >= best.decode_tps else best.place


async def measure_devices(
    where: Sequence[str],
    say: Say,
    *,
    target: str = "starter",
    host: Host | None = None,
    limit_s: float = LIMIT_S,
    answer_limit_s: float = ANSWER_LIMIT_S,
) -> DeviceTrial:
    """Measure a model on each place, by turns, the other way round every other time: what drifts falls on all alike.

    Args:
        where: the places.
        say: is told what is being measured.
        target: the model.
        host: one to measure with; its own if not given, so that what is loaded in another stays.
        limit_s: when to begin no other answer; each place is measured at least once.
        answer_limit_s: how long a place may take to answer, once the model is loaded there.
    """
    owner = host or Host(session=SessionLog())
    until_s = time.monotonic() + limit_s
    runs: dict[str, list[tuple[float, float]]] = {place: [] for place in where}
    faults: dict[str, str] = {}
    try:
        for round_ in range(N_ROUNDS):
            for place in list(where)[:: -1 if round_ % 2 else 1]:
                if place in faults or (runs[place] and time.monotonic() > until_s):
                    continue
                say(f"Measuring {place}, {round_ + 1} of {N_ROUNDS}…")
                pair = PairChoice(target, n_ctx=N_CTX, compute=place)
                try:
                    runs[place].append(await _measure(owner, pair, answer_limit_s))
                except SlipstreamError as fault:
                    faults[place] = fault.message
    finally:
        if host is None:
            await owner.close()
    speeds = [_speed(place, runs[place], faults.get(place, "")) for place in where]
    return DeviceTrial(target, tuple(sorted(speeds, key=lambda speed: -speed.decode_tps)), choose(speeds))


def _speed(place: str, runs: list[tuple[float, float]], fault: str) -> PlaceSpeed:
    if not runs or fault:  # one that failed once is no choice, however fast it was before
        return PlaceSpeed(place, fault=fault or "There was no time for it.")
    decode, prefill = (statistics.median(values) for values in zip(*runs, strict=True))
    return PlaceSpeed(place, round(decode, 2), round(prefill, 2), len(runs))


async def _measure(owner: Host, pair: PairChoice, limit_s: float) -> tuple[float, float]:
    """Return decode and prefill speed of one answer after a short one that warms up.

    Raises:
        SlipstreamError: the model does not load there, or does not answer in time.
    """
    await owner.load(pair)
    try:
        async with asyncio.timeout(limit_s):
            for n_tokens in (N_WARM_UP, N_TOKENS):
                request = ChatRequest(_ASK, sampling=_GREEDY, max_tokens=n_tokens, reuse_memory=False)
                async for _event in owner.answer(request):
                    pass
    except TimeoutError:
        await owner.close()  # it may hang for ever; the next place gets another engine
        raise EngineError(f"It did not answer within {limit_s:g} seconds.", "Leave it out.") from None
    run = owner.session.runs[-1]
    return run.decode_tps or 0.0, run.prefill_tps or 0.0
