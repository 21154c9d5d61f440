"""From engine events to runs, and from runs to a session that can be judged and exported.

Everything is counted from what the engine says in its events; nothing is timed here.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from app import __version__
from app.errors import EngineDiedError, SlipstreamError
from app.metrics import stats
from app.metrics.baseline import Baseline, BaselineStore, differences, fingerprint, live
from app.metrics.export import Comparison, Metrics
from app.metrics.machine import machine
from app.metrics.values import AppInfo, Conditions, ModelFacts, Run, RunConditions, RunStop, is_plain
from app.metrics.verdict import Pair, Sample, judge, pair_up, sample_of, usable
from app.protocol import Chunk, Done, Event, Failed, Hello, Loaded, ModelInfo, Sampling, Speculation, Started, Step

__all__ = ["Run", "RunRecorder", "SessionLog", "now_utc", "spec_name"]


def now_utc() -> str:
    """The wall-clock time now, ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def spec_name(speculation: Speculation) -> str:
    """Name of the drafters in the order they are tried, comma-separated; ``none`` if there are none."""
    return ",".join(kind for kind in speculation.types if kind != "none") or "none"


class RunRecorder:
    """Counts the events of one generation."""

    def __init__(self, *, label: str, speculation: Speculation, sampling: Sampling, requested_at: str = "") -> None:
        self._label = label
        self._speculation = speculation
        self._sampling = sampling
        self._requested_at = requested_at or now_utc()
        self._id = uuid.uuid4().hex[:12]
        self._steps: list[Step] = []
        self._started: Started | None = None
        self._done: Done | None = None
        self._error = ""

    @property
    def steps(self) -> list[Step]:
        """The steps so far; the recorder's own list, to be read only."""
        return self._steps

    def on_event(self, event: Event) -> None:
        """Take the next event of this generation; those of other kinds are not counted."""
        match event:
            case Started():
                self._started = event
            case Chunk():
                self._steps.append(event.step)
            case Done():
                self._done = event
            case Failed():
                self._error = event.error.message
            case _:
                pass

    def finish(self, fault: SlipstreamError | None = None) -> Run:
        """Return the run; ``fault`` is what ended it instead of a :class:`Done`.

        With neither the stream was closed from this side: cancelled.
        """
        steps, started, done = tuple(self._steps), self._started, self._done
        name = spec_name(self._speculation)
        off = name == "none"
        prompt_tokens = started.prompt_tokens if started else 0
        cached_tokens = started.cached_tokens if started else 0
        prefill_s = done.prefill_s if done else None
        complete_prefill = bool(steps) and prefill_s is not None
        return Run(
            id=self._id,
            prompt=self._label,
            requested_at=self._requested_at,
            spec_type=name,
            draft_tokens=0 if off else self._speculation.draft_tokens,
            temperature=self._sampling.temperature,
            seed=self._sampling.seed,
            prompt_tokens=prompt_tokens,
            cached_tokens=cached_tokens,
            tokens=stats.tokens(steps),
            ttft_s=steps[0].t_s if steps else None,
            answer_s=steps[-1].t_s if steps else None,
            prefill_s=prefill_s,
            draft_prefill_s=done.draft_prefill_s if done else None,
            prefill_tps=stats.prefill_tps(prompt_tokens - cached_tokens, prefill_s or 0.0)
            if complete_prefill
            else None,
            decode_tps=stats.decode_tps(steps),
            proposed=sum(step.proposed for step in steps),
            judged=sum(step.judged for step in steps),
            accepted=sum(step.accepted for step in steps),
            acceptance=stats.acceptance(steps),
            alpha=stats.alpha(steps),
            alpha_by_position=stats.alpha_by_position(steps),
            tokens_per_step=stats.tokens_per_step(steps),
            stop_reason=self._stop_reason(fault),
            engaged=not off and started is not None and started.engagement.engaged,
            not_engaged=started.engagement.reason if started and not started.engagement.engaged and not off else "",
            error=fault.message if fault else self._error,
            steps=steps,
        )

    def _stop_reason(self, fault: SlipstreamError | None) -> RunStop:
        if isinstance(fault, EngineDiedError):
            return "engine_died"
        if fault is not None or self._error:
            return "failed"
        return self._done.stop_reason if self._done else "cancelled"


class SessionLog:
    """All runs since the start, the baseline they are held against, and the verdicts.

    Lives on one thread. ``Metrics`` values that it hands out never change and may go to any thread.
    """

    def __init__(self, baselines: BaselineStore | None = None) -> None:
        self.baselines = baselines or BaselineStore()
        self._runs: list[Run] = []
        self._hello: Hello | None = None
        self._loaded: Loaded | None = None
        self._draft: ModelInfo | None = None
        self._fingerprint = ""
        self._baseline: Baseline | None = None
        self._comparisons: dict[str, Comparison] | None = None
        self._callbacks: list[Callable[[], None]] = []

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run so far, oldest first; speed-ups and verdicts are in :meth:`to_metrics`."""
        return tuple(self._runs)

    @property
    def baseline(self) -> Baseline | None:
        """The recorded baseline for what is loaded, or the one that was chosen."""
        return self._baseline

    @baseline.setter
    def baseline(self, baseline: Baseline | None) -> None:
        self._baseline = baseline
        self._changed()

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` after every change; return what ends that."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback) if callback in self._callbacks else None

    def set_loaded(self, hello: Hello, loaded: Loaded) -> None:
        """Note what is loaded from now on, and find its recorded baseline."""
        if self._loaded is None or self._loaded.target != loaded.target:
            self._fingerprint = fingerprint(Path(loaded.target.path))
            self._draft = None
        self._draft = loaded.draft or self._draft
        self._hello, self._loaded = hello, loaded
        self._baseline = self._find_baseline(loaded)
        self._changed()

    def add(self, run: Run) -> Run:
        """Add a run with the conditions it was measured under; return it with them."""
        if self._loaded:
            run = msgspec.structs.replace(run, conditions=self.conditions(run))
        self._runs.append(run)
        self._changed()
        return run

    def conditions(self, run: Run) -> RunConditions | None:
        """The conditions of a run of what is loaded now; ``None`` when nothing is."""
        if self._loaded is None:
            return None
        return self._conditions(self._loaded, sampled=run.temperature > 0, bucket=stats.context_bucket(run.steps))

    def live_baseline(self, run: Run) -> Baseline | None:
        """The session's own plain answers under conditions like those of ``run``."""
        now = run.conditions or self.conditions(run)
        return live(self._runs, now) if now else None

    def comparisons(self) -> tuple[Comparison, ...]:
        """The verdict on each kind and length of speculation that was measured, oldest first."""
        return tuple(dict.fromkeys(self._verdicts().values()))

    def comparison_of(self, run: Run) -> Comparison | None:
        """The comparison that this speculative run belongs to; ``None`` when it enters none."""
        return self._verdicts().get(run.id)

    def to_metrics(self) -> Metrics:
        """Everything so far as one value that can be exported; target and draft are those loaded last."""
        hello, loaded = self._hello, self._loaded
        return Metrics(
            app=AppInfo(
                hello.app if hello else __version__,
                hello.llama_cpp_python if hello else "",
                hello.llama_cpp_commit if hello else "",
            ),
            machine=machine(loaded.device if loaded else ""),
            target=_facts(loaded.target) if loaded else None,
            draft=_facts(self._draft) if self._draft else None,
            baseline=self._baseline or self._latest_live(),
            comparisons=self.comparisons(),
            runs=tuple(self._judged(run) for run in self._runs),
        )

    def _conditions(self, loaded: Loaded, *, sampled: bool, bucket: int = 0) -> RunConditions:
        return RunConditions(
            target_file=Path(loaded.target.path).name,
            target_bytes=loaded.target.n_bytes,
            target_fingerprint=self._fingerprint,
            quantisation=loaded.target.quantisation,
            device=loaded.device,
            n_threads=loaded.n_threads,
            context_bucket=bucket,
            sampled=sampled,
            llama_cpp_commit=self._hello.llama_cpp_commit if self._hello else "",
            draft_file=Path(loaded.draft.path).name if loaded.draft else None,
            n_ctx=loaded.n_ctx,
        )

    def _find_baseline(self, loaded: Loaded) -> Baseline | None:
        kept = self._baseline
        if kept and not differences(kept, self._conditions(loaded, sampled=kept.sampled), bucket=False):
            return kept
        for sampled in (True, False):
            if found := self.baselines.find(self._conditions(loaded, sampled=sampled), bucket=False):
                return found
        return None

    def _latest_live(self) -> Baseline | None:
        plain = [run for run in self._runs if is_plain(run) and usable(run) and run.conditions is not None]
        return self.live_baseline(plain[-1]) if plain else None

    def _verdicts(self) -> dict[str, Comparison]:
        if self._comparisons is None:
            groups: dict[tuple[object, ...], list[Run]] = {}
            for run in self._runs:
                if usable(run) and not is_plain(run) and run.conditions is not None:
                    key = (run.spec_type, run.draft_tokens, run.temperature, run.conditions.draft_file)
                    groups.setdefault((*key, _like(run.conditions)), []).append(run)
            compared = [(group, self._compare(group)) for group in groups.values()]
            self._comparisons = {run.id: comparison for group, comparison in compared for run in group}
        return self._comparisons

    def _compare(self, group: list[Run]) -> Comparison:
        first, conditions = group[0], group[0].conditions
        if conditions is None:
            raise ValueError(f"run {first.id} has no conditions")
        pairs = self._pairs({run.id for run in group}, conditions)
        verdict = judge([pair.log_ratio for pair in pairs])
        return Comparison(
            spec_type=first.spec_type,
            draft_tokens=first.draft_tokens,
            temperature=first.temperature,
            target_file=conditions.target_file,
            draft_file=conditions.draft_file,
            n_pairs=verdict.n_pairs,
            speedup=verdict.speedup,
            verdict=verdict.word,
            pairs_needed=verdict.pairs_needed,
            sentence=verdict.sentence,
            pairs=tuple((pair.speculative.run_id, pair.plain.run_id) for pair in pairs),
        )

    def _pairs(self, speculative: set[str], conditions: Conditions) -> list[Pair]:
        here = {run.id for run in self._runs}
        arrivals: list[tuple[Sample, bool]] = []
        if self._baseline and not differences(self._baseline, conditions, bucket=False):
            arrivals += [(s, False) for s in self._baseline.as_samples() if s.run_id not in here]
        for run in self._runs:
            if run.id in speculative:
                arrivals.append((sample_of(run), True))
            elif is_plain(run) and usable(run) and run.conditions and _like(run.conditions) == _like(conditions):
                arrivals.append((sample_of(run), False))
        return pair_up(arrivals)

    def _judged(self, run: Run) -> Run:
        comparison = self.comparison_of(run)
        if comparison is None:
            return run
        return msgspec.structs.replace(run, speedup=comparison.speedup, verdict=comparison.verdict)

    def _changed(self) -> None:
        self._comparisons = None
        for callback in tuple(self._callbacks):
            callback()


def _like(conditions: Conditions) -> tuple[object, ...]:
    """What two runs must share to be compared, but for the context bucket, by which pairs are made."""
    fields = (name for name in Conditions.__struct_fields__ if name != "context_bucket")
    return tuple(getattr(conditions, name) for name in fields)


def _facts(model: ModelInfo) -> ModelFacts:
    return ModelFacts(model.name, Path(model.path).name, model.n_bytes, model.architecture, model.quantisation)
