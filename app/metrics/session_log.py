"""A session: all runs since the start or *New session*, what they are held against, and the verdicts on them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from app import __version__
from app.memory_types import layout
from app.metrics import stats
from app.metrics.baseline import Baseline, BaselineStore, differences, fingerprint, live
from app.metrics.export import Comparison, Metrics
from app.metrics.machine import machine
from app.metrics.values import AppInfo, Conditions, ModelFacts, Run, RunConditions, SessionInfo, is_plain
from app.metrics.verdict import Pair, Sample, judge, pair_up, sample_of, usable
from app.protocol import Hello, Loaded, ModelInfo


def now_utc() -> str:
    """The wall-clock time now, ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class SessionLog:
    """All runs since the session began, the baseline they are held against, and the verdicts.

    A step takes some 40 bytes, so that a day fits into one session.
    Lives on one thread. ``Metrics`` values that it hands out never change and may go to any thread.
    """

    def __init__(self, baselines: BaselineStore | None = None) -> None:
        self.baselines = baselines or BaselineStore()
        self._id, self._name, self._started_at = _new_id(), "", now_utc()
        self._runs: list[Run] = []
        self._places: dict[str, int] = {}
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
        self._places[run.id] = len(self._runs)
        self._runs.append(run)
        self._changed()
        return run

    def begin_anew(self, name: str = "") -> None:
        """Begin a session without runs; what is loaded stays, and so does a recorded baseline."""
        self._id, self._name, self._started_at = _new_id(), name, now_utc()
        self._runs, self._places = [], {}
        self._changed()

    def mark(self, run_ids: Iterable[str], *, excluded: str = "", notes: tuple[str, ...] = ()) -> None:
        """Say of runs why they do not count, or what else went on; an earlier reason stays."""
        for place in (self._places[identity] for identity in run_ids if identity in self._places):
            run = self._runs[place]
            self._runs[place] = msgspec.structs.replace(
                run, excluded=run.excluded or excluded, notes=tuple(dict.fromkeys((*run.notes, *notes)))
            )
        self._changed()

    def conditions(self, run: Run) -> RunConditions | None:
        """The conditions of a run of what is loaded now; ``None`` when nothing is."""
        if self._loaded is None:
            return None
        return self._conditions(self._loaded, sampled=run.temperature > 0, bucket=stats.context_bucket(run.steps))

    def conditions_now(self) -> RunConditions | None:
        """The conditions of what is loaded, greedy and at the start of the context; ``None`` when nothing is."""
        return None if self._loaded is None else self._conditions(self._loaded, sampled=False)

    def live_baselines(self) -> tuple[Baseline, ...]:
        """The live baseline of each context bucket under the conditions of the newest plain answer, smallest first."""
        plain = [run for run in self._runs if is_plain(run) and usable(run) and run.conditions is not None]
        if not plain or plain[-1].conditions is None:
            return ()
        now = plain[-1].conditions
        buckets = sorted({run.conditions.context_bucket for run in plain if run.conditions is not None})
        found = (live(plain, msgspec.structs.replace(now, context_bucket=bucket)) for bucket in buckets)
        return tuple(baseline for baseline in found if baseline is not None)

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

    def to_metrics(self, *, with_paths: bool = False) -> Metrics:
        """Everything so far as one value that can be exported; target and draft are those loaded last."""
        hello, loaded = self._hello, self._loaded
        return Metrics(
            app=AppInfo(
                hello.app if hello else __version__,
                hello.llama_cpp_python if hello else "",
                hello.llama_cpp_commit if hello else "",
            ),
            machine=machine(devices_of(loaded) if loaded else ""),
            target=_facts(loaded.target, with_paths) if loaded else None,
            draft=_facts(self._draft, with_paths) if self._draft else None,
            session=SessionInfo(id=self._id, name=self._name, started_at=self._started_at),
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
            app_version=self._hello.app if self._hello else __version__,
            memory=layout(loaded.memory.type_k, loaded.memory.type_v, loaded.memory.flash_attention),
            draft_file=Path(loaded.draft.path).name if loaded.draft else None,
            n_ctx=loaded.n_ctx,
            draft_device=loaded.draft_device,
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
                    way = (run.spec_type, run.draft_tokens, run.n_exact, run.fixed_shape, run.temperature)
                    drafter = (run.conditions.draft_file, run.conditions.draft_device)
                    groups.setdefault((*way, *drafter, _like(run.conditions)), []).append(run)
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
            n_exact=first.n_exact,
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


def devices_of(loaded: Loaded) -> str:
    """Name what the models run on, in words: the draft's device where it is another."""
    if loaded.draft_device in ("", loaded.device):
        return loaded.device
    return f"{loaded.device}, draft on {loaded.draft_device}"


def _facts(model: ModelInfo, with_path: bool) -> ModelFacts:
    path = Path(model.path)
    shown = str(path) if with_path else ""
    return ModelFacts(model.name, path.name, model.n_bytes, model.architecture, model.quantisation, shown)


def _new_id() -> str:
    return uuid.uuid4().hex[:12]
