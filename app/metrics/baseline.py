"""Baselines: decode speed with no drafter loaded or fed, and the conditions under which it was measured.

A session has one of its own of answers with speculation off and the draft model in memory, and says so of it.

A baseline is compared only with answers under like conditions; everything else is refused with the reason in
words (:func:`differences`). Its answers are of one context bucket, whatever the speeds of the neighbours: an interval
of several says nothing of any. Recorded ones lie in the data folder, one JSON file each.
"""

from __future__ import annotations

import hashlib
import logging
import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from app.errors import ExportError, UsageError
from app.metrics.atomic import replacing
from app.metrics.columns import StepColumns
from app.metrics.stats import context_bucket, decode_tps, median_interval
from app.metrics.values import Conditions, Interval, Run, RunConditions, has_draft_of, is_plain
from app.metrics.verdict import Sample, usable
from app.paths import data_dir
from app.protocol import Step

MIN_RUNS = 6
"""Fewer runs cannot carry a 95 % interval of a median."""

_EDGE_BYTES = 1024 * 1024

logger = logging.getLogger(__name__)


class BaselineSample(msgspec.Struct, frozen=True):
    """One answer of a baseline; ``steps``, of which its speed follows, are missing in what older versions recorded."""

    run_id: str
    prompt: str
    decode_tps: float
    steps: Sequence[Step] = ()


class Baseline(Conditions, frozen=True, kw_only=True):
    """A decode speed with its interval, the answers it comes from, and its conditions (the inherited fields).

    ``kind`` is ``recorded`` on a named prompt set, or ``live`` from the answers of a session that were given with
    speculation off: these are runs of the session, whose steps are with them. ``draft_file`` is the draft model that
    was in memory meanwhile with nothing fed to it, ``None`` where there was none, as the definition has it;
    ``mtp_heads`` says the same of heads inside the target file. ``notes`` say what else went on meanwhile.
    """

    id: str
    name: str
    kind: Literal["recorded", "live"]
    prompt_set: str
    recorded_at: str
    decode_tps: Interval
    n_runs: int
    samples: tuple[BaselineSample, ...]
    notes: tuple[str, ...] = ()
    draft_file: str | None = None
    mtp_heads: bool = False

    def as_samples(self) -> tuple[Sample, ...]:
        """Its answers as halves of pairs."""
        return tuple(Sample(s.run_id, s.prompt, s.decode_tps, self.context_bucket) for s in self.samples)


def fingerprint(path: Path) -> str:
    """Name a model file by its size and its first and last MiB, so that a copy is the same and a retrained one is not.

    A file that cannot be read has the fingerprint "", which is like nothing, itself included.
    """
    try:
        n_bytes = path.stat().st_size
        digest = hashlib.sha256(str(n_bytes).encode())
        with path.open("rb") as file:
            digest.update(file.read(_EDGE_BYTES))
            file.seek(max(0, n_bytes - _EDGE_BYTES))
            digest.update(file.read(_EDGE_BYTES))
    except OSError:
        return ""
    return digest.hexdigest()[:32]


def differences(recorded: Conditions, now: Conditions, *, bucket: bool = True) -> list[str]:
    """Say in words what keeps two measurements from being compared; empty when they are alike."""
    reasons = []
    if recorded.target_fingerprint != now.target_fingerprint or not now.target_fingerprint:
        reasons.append(_other_target(recorded, now))
    elif recorded.quantisation != now.quantisation:
        reasons.append(f"its quantisation is {recorded.quantisation}, not {now.quantisation}")
    if recorded.device != now.device:
        reasons.append(f"it ran on {recorded.device}, not on {now.device}")
    if recorded.n_threads != now.n_threads:
        reasons.append(f"it ran with {recorded.n_threads} threads, not with {now.n_threads}")
    if recorded.memory != now.memory:
        reasons.append(f"its conversation memory was {recorded.memory}, not {now.memory}")
    if recorded.llama_cpp_commit != now.llama_cpp_commit:
        reasons.append(f"it ran on llama.cpp {recorded.llama_cpp_commit}, not on {now.llama_cpp_commit}")
    if recorded.app_version != now.app_version:
        reasons.append(f"it ran with {_version(recorded.app_version)}, not with {_version(now.app_version)}")
    if recorded.sampled != now.sampled:
        reasons.append("one is sampled, the other greedy (temperature 0)")
    elif recorded.sampler and now.sampler and recorded.sampler != now.sampler:
        reasons.append(f"its sampler was {recorded.sampler}, not {now.sampler}")
    if bucket and recorded.context_bucket != now.context_bucket:
        reasons.append(
            f"its answers end within {recorded.context_bucket:,} tokens of context, not within {now.context_bucket:,}"
        )
    return reasons + _power_differences(recorded, now)


def _other_target(recorded: Conditions, now: Conditions) -> str:
    """Say in which way two are not of the same target file."""
    if recorded.target_file != now.target_file:
        return f"it is of another target file ({recorded.target_file}, not {now.target_file})"
    if not (recorded.target_fingerprint and now.target_fingerprint):
        return f"the contents of {now.target_file} could not be read, so it may be another file"
    return f"it is of another file of the name {now.target_file}, with other contents"


def _power_differences(recorded: Conditions, now: Conditions) -> list[str]:
    """Say how the machine was powered otherwise; what is not known of one of them is no difference."""
    reasons = []
    if None not in (recorded.on_battery, now.on_battery) and recorded.on_battery != now.on_battery:
        on_battery, on_mains = "it ran on battery, not on mains power", "it ran on mains power, not on battery"
        reasons.append(on_battery if recorded.on_battery else on_mains)
    if recorded.power_mode and now.power_mode and recorded.power_mode != now.power_mode:
        reasons.append(f"the power mode was {recorded.power_mode}, not {now.power_mode}")
    return reasons


def are_powered_alike(a: Run, b: Run) -> bool:
    """Whether two answers were given on the same supply and in the same power mode, as far as that is known."""
    return a.conditions is None or b.conditions is None or not _power_differences(a.conditions, b.conditions)


def staleness(baseline: Baseline, now: Conditions) -> list[str]:
    """Say what has changed since a baseline was recorded; context length and temperature may be any."""
    alike = msgspec.structs.replace(now, sampled=baseline.sampled, context_bucket=baseline.context_bucket)
    return differences(baseline, alike)


def _version(version: str) -> str:
    return f"Slipstream {version}" if version else "an older Slipstream"


def record(runs: Iterable[Run], *, prompt_set: str, name: str = "") -> tuple[Baseline, ...]:
    """Make the baselines of runs on a named prompt set: one for each context bucket with enough runs, largest first.

    Runs that did not complete, are marked, or are too short to say anything, are left out.

    Raises:
        UsageError: a run had a drafter loaded or fed, conditions differ, or no bucket has :data:`MIN_RUNS` runs.
    """
    groups: dict[int, list[Run]] = {}
    first: RunConditions | None = None
    for run in runs:
        if not usable(run) or run.conditions is None:
            continue
        if not is_plain(run) or run.conditions.draft_file is not None:
            raise UsageError(
                f"Run {run.id} had a drafter loaded or fed; that is no baseline.",
                "Load the target alone, with speculation off, and record again.",
            )
        first = first or run.conditions
        if reasons := differences(run.conditions, first, bucket=False):
            raise UsageError(
                f"The runs cannot be averaged: {'; '.join(reasons)}.", "Record under one set of conditions."
            )
        groups.setdefault(run.conditions.context_bucket, []).append(run)
    enough = sorted((g for g in groups.values() if len(g) >= MIN_RUNS), key=len, reverse=True)
    if not enough:
        raise UsageError(
            f"A baseline needs {MIN_RUNS} complete answers of like context length; {_counted(groups)}.",
            "Record more prompts, or more repetitions, with longer answers.",
        )
    return tuple(_summarise(group, "recorded", prompt_set, name or prompt_set) for group in enough)


def _counted(groups: Mapping[int, Sequence[Run]]) -> str:
    """Say how many answers there are of each context length."""
    n = sum(map(len, groups.values()))
    if n < MIN_RUNS:
        return f"there are {n}"
    return f"by tokens of context there are {'; '.join(f'{of:,}: {len(groups[of])}' for of in sorted(groups))}"


def live(runs: Sequence[Run], now: Conditions) -> Baseline | None:
    """Make the live baseline: the session's answers with no drafter loaded or fed under conditions like ``now``.

    Where there are none, one of its own, of those with speculation off that had the draft model of ``now`` in memory.
    """
    plain = [(run, run.conditions) for run in runs if is_plain(run) and usable(run) and run.conditions is not None]
    kinds = {on: not differences(on, now) for on in {on for _, on in plain}}  # of many answers there are but a few
    alike = [(run, on) for run, on in plain if kinds[on]]
    group = [run for run, on in alike if on.draft_file is None]
    if group or not isinstance(now, RunConditions):
        return _summarise(group, "live", "", "this session") if group else None
    beside = [run for run, on in alike if has_draft_of(on, now)]
    if not beside:
        return None
    found = _summarise(beside, "live", "", "this session, draft model in memory")
    return msgspec.structs.replace(found, draft_file=now.draft_file)


def _summarise(group: Sequence[Run], kind: Literal["recorded", "live"], prompt_set: str, name: str) -> Baseline:
    recorded = kind == "recorded"
    samples = tuple(
        BaselineSample(run.id, run.prompt, run.decode_tps, StepColumns(run.steps) if recorded else ())
        for run in group
        if run.decode_tps is not None
    )
    band, conditions = median_interval([sample.decode_tps for sample in samples]), group[0].conditions
    if band is None or conditions is None:
        raise ValueError("a baseline is made of usable runs")
    return Baseline(
        id=uuid.uuid4().hex[:12] if recorded else kind,
        name=name,
        kind=kind,
        prompt_set=prompt_set,
        recorded_at=datetime.now(UTC).isoformat(timespec="milliseconds") if recorded else group[-1].requested_at,
        decode_tps=band,
        n_runs=len(samples),
        samples=samples,
        mtp_heads=conditions.mtp_heads,
        **{field: getattr(conditions, field) for field in Conditions.__struct_fields__},
    )


def _checked(baseline: Baseline, path: Path) -> Baseline:
    """Return a baseline from a file if it can be one: all else would be held against it, or kept and deleted by its id.

    Raises:
        ValueError: it cannot.
    """
    band = baseline.decode_tps
    speeds = (band.low, band.median, band.high, *(sample.decode_tps for sample in baseline.samples))
    if baseline.kind != "recorded" or baseline.draft_file is not None:
        raise ValueError("it is none that could be recorded")
    if baseline.id != path.stem:
        raise ValueError(f"it is of another name, {baseline.id[:40]!r}")
    if not baseline.samples:
        raise ValueError("it holds no answers")
    if not all(0 < speed < math.inf for speed in speeds):
        raise ValueError("it holds a speed that cannot be")
    if any(sample.steps and decode_tps(sample.steps) != sample.decode_tps for sample in baseline.samples):
        raise ValueError("it holds a speed that does not follow from its steps")
    if any(sample.steps and context_bucket(sample.steps) != baseline.context_bucket for sample in baseline.samples):
        raise ValueError("it is of another context length than its steps")
    return with_columns(baseline)


def with_columns(baseline: Baseline) -> Baseline:
    """Return a baseline from a file with its steps as columns, which take a tenth of the memory."""
    samples = (msgspec.structs.replace(sample, steps=StepColumns(sample.steps)) for sample in baseline.samples)
    return msgspec.structs.replace(baseline, samples=tuple(samples))


class BaselineStore:
    """The recorded baselines of this person, one file each."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or data_dir() / "baselines"

    def save(self, baseline: Baseline) -> None:
        """Keep a baseline, replacing the one with its id.

        Raises:
            ExportError: the file cannot be written.
        """
        with replacing(self._path(baseline.id)) as file:
            file.write(msgspec.json.encode(baseline, enc_hook=list) + b"\n")  # a sample's columns, as steps

    def all(self) -> list[Baseline]:
        """List the baselines, newest first; one that cannot be read is logged, left where it is, and skipped."""
        found = []
        for path in self._folder.glob("*.json"):
            try:
                found.append(_checked(msgspec.json.decode(path.read_bytes(), type=Baseline), path))
            except (OSError, msgspec.MsgspecError, RecursionError, ValueError) as fault:
                logger.info("baseline %s is not readable: %s", path.name, fault)
        return sorted(found, key=lambda baseline: baseline.recorded_at, reverse=True)

    def fitting(self, *wanted: Conditions) -> tuple[Baseline, ...]:
        """Return the baselines under any of these conditions, at whatever context length.

        Of each context bucket and temperature the newest; smaller buckets first, the conditions in their order.
        """
        kept = self.all()
        found: dict[tuple[int, int], Baseline] = {}
        for i, now in enumerate(wanted):
            for baseline in kept:
                if not differences(baseline, now, bucket=False):
                    found.setdefault((i, baseline.context_bucket), baseline)
        return tuple(found[key] for key in sorted(found))

    def refusals(self, now: Conditions) -> list[tuple[str, list[str]]]:
        """For each baseline of the same file name that does not fit, its name and the reasons why."""
        pairs = [(b.name, differences(b, now, bucket=False)) for b in self.all() if b.target_file == now.target_file]
        return [(name, reasons) for name, reasons in pairs if reasons]

    def rename(self, baseline: Baseline, name: str) -> Baseline:
        """Give a baseline another name.

        Raises:
            ExportError: the file cannot be written, or is gone: it does not come back with another name.
        """
        if not self._path(baseline.id).exists():
            raise ExportError(f"The baseline {baseline.name} is gone.", "It was deleted meanwhile.")
        renamed = msgspec.structs.replace(baseline, name=name)
        self.save(renamed)
        return renamed

    def delete(self, baseline: Baseline) -> None:
        """Forget a baseline; one that is gone already is no error.

        Raises:
            ExportError: the file cannot be removed.
        """
        try:
            self._path(baseline.id).unlink(missing_ok=True)
        except OSError as fault:
            raise ExportError(f"Cannot delete the baseline {baseline.name}: {fault.strerror}") from fault

    def _path(self, identity: str) -> Path:
        return self._folder / f"{identity}.json"
