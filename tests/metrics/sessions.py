"""Sessions to measure on, made of the events that an engine sends."""

from __future__ import annotations

from pathlib import Path

from app.metrics.baseline import BaselineStore
from app.metrics.power import Power
from app.metrics.recorder import RunRecorder, SessionLog
from app.metrics.values import Run
from app.protocol import (
    Chunk,
    Done,
    Engagement,
    Hello,
    Loaded,
    ModelInfo,
    Sampling,
    Speculation,
    Started,
    Step,
    StopReason,
)

HELLO = Hello(pid=1, app="0.1.0", llama_cpp_python="0.3.36", llama_cpp_commit="abc1234", system_info="")
OFF = Speculation()
NGRAM = Speculation(types=("ngram",), draft_tokens=4)
GREEDY = Sampling(seed=7, temperature=0.0)


def loaded(target: Path, draft: Path | None = None, **changes: object) -> Loaded:
    def model(path: Path) -> ModelInfo:
        size = path.stat().st_size if path.exists() else 0
        return ModelInfo(str(path), path.stem, size, "llama", "Q4_1", 1000, 2048, 100, 2, True)

    fields = {"device": "CPU", "n_threads": 2, "n_ctx": 4096, **changes}
    return Loaded(
        id=1,
        target=model(target),
        draft=model(draft) if draft else None,
        drafters=("ngram",),
        not_engageable={},
        load_s=0.5,
        **fields,
    )


def plain_steps(n: int, tps: float, *, n_ctx: int = 20, first_s: float = 0.1) -> list[Step]:
    """One token a step at an even pace."""
    return [Step(first_s + i / tps, 1, 0, 0, 0, 0, 0.0, 0.0 if i == 0 else 1 / tps, n_ctx + i, "") for i in range(n)]


def events(
    steps: list[Step],
    *,
    engaged: bool = False,
    reason: str | None = None,
    stop: StopReason = "length",
    n_exact: int = 0,
):
    reason = ("" if engaged else "Speculation is off.") if reason is None else reason
    engagement = Engagement(engaged, "ngram" if engaged else "", 4 if engaged else 0, reason, n_exact=n_exact)
    yield Started(1, 20, 5, engagement)
    for step in steps:
        yield Chunk(1, "x", tuple(range(step.emitted)), (False,) * step.emitted, step)
    yield Done(1, stop, "", 0.09, 0.0)


class Powered:
    """A machine that is powered as the test says: one after the other, then as the last."""

    def __init__(self, *told: Power) -> None:
        self.told = list(told)

    def read(self) -> Power:
        return self.told.pop(0) if len(self.told) > 1 else self.told[0]


def run_of(
    steps: list[Step],
    *,
    speculation: Speculation = OFF,
    label: str = "",
    sampling: Sampling = GREEDY,
    power: Power = Power(),  # noqa: B008 - it is frozen
    **how: object,
) -> Run:
    recorder = RunRecorder(label=label, speculation=speculation, sampling=sampling, power=Powered(power))
    for event in events(steps, engaged=speculation != OFF, **how):
        recorder.on_event(event)
    return recorder.finish()


def session(folder: Path, draft: Path | None = None, power: Power = Power()) -> SessionLog:  # noqa: B008 - frozen
    target = folder / "target.gguf"
    if not target.exists():
        target.write_bytes(b"GGUF" + bytes(5000))
    log = SessionLog(BaselineStore(folder / "baselines"), Powered(power))
    log.set_loaded(HELLO, loaded(target, draft))
    return log
