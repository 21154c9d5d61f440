"""A session: all runs since the start or *New session*, what they are held against, and the verdicts on them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from app import __version__
from app.memory_types import layout
from app.metrics import stats
from app.metrics.baseline import Baseline, BaselineStore, differences, fingerprint, live
from app.metrics.export import Comparison, Metrics
from app.metrics.machine import machine
from app.metrics.pairing import Verdicts, can_be_halves, shared
from app.metrics.power import Power, PowerSource, SystemPower
from app.metrics.values import (
    AppInfo,
    Conditions,
    ModelFacts,
    Run,
    RunConditions,
    SessionInfo,
    Surroundings,
)
from app.metrics.verdict import usable
from app.protocol import Hello, Loaded, ModelInfo


def now_utc() -> str:
    """The wall-clock time now, ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class SessionLog:
    """All runs since the session began, the baseline they are held against, and the verdicts.

    A step takes some 40 bytes, so that a day fits into one session.
    Lives on one thread. ``Metrics`` values that it hands out never change and may go to any thread.
    """

    def __init__(self, baselines: BaselineStore | None = None, power: PowerSource | None = None) -> None:
        self.baselines = baselines or BaselineStore()
        self.power = power or SystemPower()
        self._id, self._name, self._started_at = _new_id(), "", now_utc()
        self._runs: list[Run] = []
        self._places: dict[str, int] = {}
        self._hello: Hello | None = None
        self._loaded: Loaded | None = None
        self._draft: ModelInfo | None = None
        self._fingerprint = self._draft_fingerprint = ""
        self._baseline: Baseline | None = None
        self._is_chosen = False
        self._taken_up: list[Baseline] = []  # what verdicts may rest on, the last one first of all
        self._arrived: dict[str, int] = {}  # by id, the first first: before which run; earlier pairs know nothing of it
        self._followed: tuple[object, ...] = ()
        self._verdicts = Verdicts()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run so far, oldest first; speed-ups and verdicts are in :meth:`to_metrics`."""
        return tuple(self._runs)

    @property
    def baseline(self) -> Baseline | None:
        """The recorded baseline for what is loaded, or the one that was chosen.

        Setting it chooses one; ``None`` forgets the one there is. Verdicts stay with the baselines of their own
        conditions, whatever is chosen or loaded afterwards.
        """
        return self._baseline

    @baseline.setter
    def baseline(self, baseline: Baseline | None) -> None:
        gone = baseline or self._baseline
        self._taken_up = [one for one in self._taken_up if gone is None or one.id != gone.id]
        self._taken_up += [baseline] if baseline is not None else []
        if baseline is not None:
            self._arrived.setdefault(baseline.id, len(self._runs))
        self._baseline, self._is_chosen = baseline, baseline is not None
        self._verdicts.forget_made()
        self._changed()

    def forget(self, baseline: Baseline) -> None:
        """Hold nothing against a baseline any more, whether or not it is the one that is shown."""
        self._taken_up = [one for one in self._taken_up if one.id != baseline.id]
        if self._baseline is not None and self._baseline.id == baseline.id:
            self._baseline, self._is_chosen = None, False
        self._verdicts.forget_made()
        self._changed()

    def rename(self, renamed: Baseline) -> None:
        """Call a baseline by its new name from now on."""
        known = [one for one in (*self._taken_up, self._baseline) if one is not None and one.id == renamed.id]
        if not known:
            return
        again = msgspec.structs.replace(known[0], name=renamed.name)
        self._taken_up = [again if one.id == again.id else one for one in self._taken_up]
        if self._baseline is not None and self._baseline.id == again.id:
            self._baseline = again
        self._changed()

    def take_up(self, recorded: Sequence[Baseline]) -> None:
        """Hold answers against what was just recorded, one baseline a context bucket; the first is the one to show."""
        for baseline in reversed(recorded):
            self.baseline = baseline
        self._is_chosen = False

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` after every change; return what ends that."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback) if callback in self._callbacks else None

    def set_loaded(self, hello: Hello, loaded: Loaded) -> None:
        """Note what is loaded from now on, and find its recorded baseline."""
        before, self._fingerprint = self._fingerprint, fingerprint(Path(loaded.target.path))
        self._draft_fingerprint = fingerprint(Path(loaded.draft.path)) if loaded.draft is not None else ""
        if self._loaded is None or self._loaded.target != loaded.target or self._fingerprint != before:
            self._draft = None
        self._draft = loaded.draft or self._draft
        self._hello, self._loaded = hello, loaded
        ways = [self._conditions(loaded, sampled=sampled, power=self.power.read()) for sampled in (True, False)]
        shown, self._baseline = self._baseline, self._look_up(*ways)
        self._is_chosen &= self._baseline is shown
        self._followed = ()
        self._changed()

    def add(self, run: Run) -> Run:
        """Add a run with the conditions it was measured under; return it with them."""
        if self._loaded:
            run = msgspec.structs.replace(run, conditions=self.conditions(run))
            self._follow(run)
        self._places[run.id] = len(self._runs)
        self._runs.append(run)
        self._verdicts.add(run)
        self._changed()
        return run

    def begin_anew(self, name: str = "") -> None:
        """Begin a session without runs; what is loaded stays, and so does a recorded baseline."""
        self._id, self._name, self._started_at = _new_id(), name, now_utc()
        self._runs, self._places, self._verdicts = [], {}, Verdicts()
        self._arrived = dict.fromkeys((one.id for one in self._by_arrival()), 0)
        self._changed()

    def mark(self, run_ids: Iterable[str], *, excluded: str = "", notes: tuple[str, ...] = ()) -> None:
        """Say of runs why they do not count, or what else went on; an earlier reason stays."""
        for place in (self._places[identity] for identity in run_ids if identity in self._places):
            run = self._runs[place]
            self._runs[place] = msgspec.structs.replace(
                run, excluded=run.excluded or excluded, notes=tuple(dict.fromkeys((*run.notes, *notes)))
            )
        self._verdicts = Verdicts(self._runs)
        self._changed()

    def conditions(self, run: Run) -> RunConditions | None:
        """The conditions of a run of what is loaded now; ``None`` when nothing is."""
        if self._loaded is None:
            return None
        told = run.surroundings or Surroundings()
        return self._conditions(
            self._loaded,
            sampled=run.temperature > 0,
            bucket=stats.context_bucket(run.steps),
            power=Power(told.on_battery, told.power_mode),
            sampler=run.sampler,
        )

    def conditions_now(self) -> RunConditions | None:
        """The conditions of what is loaded, greedy and at the start of the context; ``None`` when nothing is."""
        return None if self._loaded is None else self._conditions(self._loaded, sampled=False, power=self.power.read())

    def live_baselines(self) -> tuple[Baseline, ...]:
        """The live baseline of each context bucket under the conditions of the newest plain answer, smallest first."""
        plain = [run for _, run in self._verdicts.plain]
        if not plain or plain[-1].conditions is None:
            return ()
        now = plain[-1].conditions
        buckets = sorted({run.conditions.context_bucket for run in plain if run.conditions is not None})
        found = (live(plain, msgspec.structs.replace(now, context_bucket=bucket)) for bucket in buckets)
        return tuple(baseline for baseline in found if baseline is not None)

    def live_baseline(self, run: Run) -> Baseline | None:
        """The session's own plain answers under conditions like those of ``run``; see :func:`live`."""
        now = run.conditions or self.conditions(run)
        return live([run for _, run in self._verdicts.plain], now) if now else None

    def current_baseline(self) -> Baseline | None:
        """The baseline that the newest answer is held against: under like conditions, recorded before live.

        Where there is none at its context length, that of another length under otherwise like conditions.
        """
        newest = next((run for run in reversed(self._runs) if usable(run) and run.conditions is not None), None)
        if newest is None or newest.conditions is None:
            return self._baseline
        if (here := self.baseline_of(newest)) is not None:
            return here
        recorded = self._recorded_for(newest.conditions)
        shown = [one for one in recorded.values() if self._baseline and one.id == self._baseline.id]
        elsewhere = [*shown, *recorded.values()]
        return elsewhere[0] if elsewhere else self._live_elsewhere(newest.conditions)

    def baseline_of(self, run: Run) -> Baseline | None:
        """The baseline under the very conditions of an answer, recorded before live; ``None`` if there is none."""
        if run.conditions is None:
            return None
        recorded = self._recorded_for(run.conditions)
        return recorded.get(run.conditions.context_bucket) or self.live_baseline(run)

    def comparisons(self) -> tuple[Comparison, ...]:
        """The verdict on each kind and length of speculation that was measured, oldest first."""
        return self._verdicts.all(self._stored())

    def comparison_of(self, run: Run) -> Comparison | None:
        """The comparison that this speculative run belongs to; ``None`` when it enters none."""
        return self._verdicts.of(run, self._stored())

    def to_metrics(self, *, with_paths: bool = False) -> Metrics:
        """Everything so far as one value that can be exported; target and draft are those loaded last."""
        hello, loaded = self._hello, self._loaded
        comparisons, baseline = self.comparisons(), self.current_baseline()
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
            baseline=baseline,
            baselines=tuple(one for one in self._rested_on(comparisons) if baseline is None or one.id != baseline.id),
            comparisons=comparisons,
            runs=tuple(self._judged(run) for run in self._runs),
        )

    def _conditions(
        self, loaded: Loaded, *, sampled: bool, power: Power, bucket: int = 0, sampler: str = ""
    ) -> RunConditions:
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
            draft_fingerprint=self._draft_fingerprint,
            mtp_heads=has_target_heads(loaded),
            on_battery=power.on_battery,
            power_mode=power.power_mode,
            sampler=sampler,
        )

    def _follow(self, run: Run) -> None:
        """Take up what was recorded under the conditions of an answer, where they are not those of the one before."""
        conditions = run.conditions
        if conditions is None or (like := shared(conditions)) == self._followed:
            return
        self._followed = like
        found = self._look_up(conditions)
        if not self._is_chosen:
            self._baseline = found or self._baseline  # one that fits no more is refused in words

    def _look_up(self, *wanted: Conditions) -> Baseline | None:
        """Take up the recorded baselines under any of these conditions; return the one to show, the chosen one first.

        Those that were taken up before come before those that are found now.
        """
        known = {one.id for one in self._taken_up}
        found = {one.id: one for one in reversed(self.baselines.fitting(*wanted)) if one.id not in known}
        self._taken_up[:0] = found.values()
        for identity in found:
            self._arrived.setdefault(identity, len(self._runs))
        if found:
            self._verdicts.forget_made()
        fitting = [one for one in self._taken_up if any(not differences(one, now, bucket=False) for now in wanted)]
        if self._baseline is not None and any(one.id == self._baseline.id for one in fitting):
            return self._baseline
        return fitting[-1] if fitting else None

    def _recorded_for(self, conditions: Conditions) -> dict[int, Baseline]:
        """Return the recorded baseline of each context bucket under otherwise like conditions."""
        alike = (one for one in self._taken_up if not differences(one, conditions, bucket=False))
        return {one.context_bucket: one for one in alike}

    def _by_arrival(self) -> list[Baseline]:
        """Return what was taken up in the order in which it first came, whatever was chosen since."""
        order = {identity: n for n, identity in enumerate(self._arrived)}
        return sorted(self._taken_up, key=lambda one: order[one.id])

    def _rested_on(self, comparisons: Iterable[Comparison]) -> list[Baseline]:
        """Return the recorded baselines whose answers are halves of pairs."""
        halves = {plain for comparison in comparisons for _, plain in comparison.pairs} - set(self._places)
        return [one for one in self._taken_up if any(sample.run_id in halves for sample in one.samples)]

    def _live_elsewhere(self, conditions: RunConditions) -> Baseline | None:
        """The live baseline of the newest plain answer under like conditions, at its own context length."""
        for _, run in reversed(self._verdicts.plain):
            if run.conditions and can_be_halves(run.conditions, conditions):
                return self.live_baseline(run)
        return None

    def _stored(self) -> list[tuple[int, Baseline]]:
        return [(self._arrived[one.id], one) for one in self._by_arrival()]

    def _judged(self, run: Run) -> Run:
        comparison = self.comparison_of(run)
        if comparison is None:
            return run
        return msgspec.structs.replace(run, speedup=comparison.speedup, verdict=comparison.verdict)

    def _changed(self) -> None:
        for callback in tuple(self._callbacks):
            callback()


def devices_of(loaded: Loaded) -> str:
    """Name what the models run on, in words: the draft's device where it is another."""
    if loaded.draft_device in ("", loaded.device):
        return loaded.device
    return f"{loaded.device}, draft on {loaded.draft_device}"


def has_target_heads(loaded: Loaded) -> bool:
    """Whether heads inside the target file can draft; a draft file with heads takes their place, a draft model not."""
    return "draft-mtp" in loaded.drafters and (loaded.draft is None or "draft-simple" in loaded.drafters)


def _facts(model: ModelInfo, with_path: bool) -> ModelFacts:
    path = Path(model.path)
    shown = str(path) if with_path else ""
    return ModelFacts(model.name, path.name, model.n_bytes, model.architecture, model.quantisation, shown)


def _new_id() -> str:
    return uuid.uuid4().hex[:12]
