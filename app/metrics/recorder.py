"""From the engine events of one generation to a run.

Everything is counted from what the engine says in its events; nothing is timed here. The clocks are only watched for
what would make the times worthless.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from app.errors import EngineDiedError, SlipstreamError
from app.metrics import stats
from app.metrics.clocks import Clocks, ClockWatch
from app.metrics.columns import StepColumns
from app.metrics.energy import EnergySpan
from app.metrics.power import PowerSource, SystemPower, power_change
from app.metrics.session_log import SessionLog, now_utc
from app.metrics.values import Run, RunStop, Surroundings
from app.protocol import Chunk, Done, Event, Failed, Paging, Plan, Sampling, Speculation, Started, spec_name

__all__ = ["Run", "RunRecorder", "SessionLog", "now_utc", "spec_name"]


class RunRecorder:
    """Counts the events of one generation.

    ``question`` is kept beside the figures; ``told`` is set to what else is worked out of each token, in words: that
    takes time, so it is a condition.
    """

    def __init__(
        self,
        *,
        label: str,
        speculation: Speculation,
        sampling: Sampling,
        question: str = "",
        clocks: Clocks | None = None,
        power: PowerSource | None = None,
    ) -> None:
        self._label = label
        self._speculation = speculation
        self._sampling = sampling
        self._question = question
        self.told: Sequence[str] = ()
        self._requested_at = now_utc()
        self._watch = ClockWatch(clocks)
        self._energy = EnergySpan()
        self._power = power or SystemPower()
        self._powered = self._power.read()
        self._id = uuid.uuid4().hex[:12]
        self._steps = StepColumns()
        self._started: Started | None = None
        self._done: Done | None = None
        self._plan: Plan | None = None
        self._error = ""

    @property
    def steps(self) -> StepColumns:
        """The steps so far; the recorder's own, to be read only."""
        return self._steps

    def on_event(self, event: Event) -> None:
        """Take the next event of this generation; those of other kinds are not counted."""
        match event:
            case Started():
                self._started = event
            case Chunk():
                self._steps.append(event.step)
                self._plan = event.plan or self._plan
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
        steps, started, done = self._steps, self._started, self._done
        name = spec_name(self._speculation)
        off = name == "none"
        prompt_tokens = started.prompt_tokens if started else 0
        cached_tokens = started.cached_tokens if started else 0
        prefill_s = done.prefill_s if done else None
        complete_prefill = bool(steps) and prefill_s is not None
        run = Run(
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
            proposed=sum(steps.proposed),
            judged=sum(steps.judged),
            accepted=sum(steps.accepted),
            acceptance=stats.acceptance(steps),
            alpha=stats.alpha(steps),
            alpha_by_position=stats.alpha_by_position(steps),
            tokens_per_step=stats.tokens_per_step(steps),
            stop_reason=self._stop_reason(fault),
            engaged=not off and started is not None and started.engagement.engaged,
            not_engaged="" if off else self._not_engaged(),
            error=fault.message if fault else self._error,
            question=self._question,
            sampler=sampler_words(self._sampling, self.told),
            steps=steps,
        )
        run = self._with_surroundings(run)
        return run if off else self._with_shape(run)

    def _with_surroundings(self, run: Run) -> Run:
        """Add how the machine was meanwhile, and what of it made the times worthless."""
        used, powered = self._energy.end(), self._power.read()
        paging = (self._done.paging if self._done else None) or Paging()
        return msgspec.structs.replace(
            run,
            excluded=self._watch.fault()
            or _backwards(self._steps)
            or _slid(self._steps)
            or power_change(self._powered, powered),
            energy_j=used.joules if used else None,
            energy_source=used.source if used else "",
            surroundings=Surroundings(
                on_battery=powered.on_battery,
                power_mode=powered.power_mode,
                n_major_faults=paging.n_major_faults,
                n_faults=paging.n_faults,
                resident_bytes=paging.resident_bytes,
            ),
        )

    def _with_shape(self, run: Run) -> Run:
        """Add how drafts were verified, and what passes it took."""
        n_rows, n_wasted = stats.rows(self._steps)
        started = self._started
        return msgspec.structs.replace(
            run,
            rows=n_rows,
            rows_wasted=n_wasted,
            tree_depth=stats.tree_depth(self._steps),
            lenient=self._speculation.lenient,
            fixed_shape=self._speculation.fixed_shape or (started is not None and started.n_rows > 0),
            draft_min=self._speculation.draft_min,
            p_min=self._speculation.p_min,
            n_exact=started.engagement.n_exact if started else 0,
        )

    def _not_engaged(self) -> str:
        """Say what of the drafting that was asked for did not take part, and why; "" if all did."""
        if self._started is None:
            return ""
        engagement, notices = self._started.engagement, self._done.notices if self._done else ()
        reasons = [engagement.reason, *(notice.message for notice in notices if notice.code == "drafter_failed")]
        if engagement.engaged and len(self._steps) > 1 and not any(self._steps.proposed):
            paused = self._plan is not None and self._plan.limit == 0 and self._plan.reason
            reasons.append(f"Nothing was drafted: {paused or 'no drafter had anything to propose'}.")
        return " ".join(reason for reason in reasons if reason)

    def _stop_reason(self, fault: SlipstreamError | None) -> RunStop:
        if isinstance(fault, EngineDiedError):
            return "engine_died"
        if fault is not None or self._error:
            return "failed"
        return self._done.stop_reason if self._done else "cancelled"


def sampler_words(sampling: Sampling, told: Sequence[str] = ()) -> str:
    """Say what the choice of a token goes through beside the temperature: it takes time on every token."""
    said = []
    if sampling.temperature > 0:
        filters = (("top-k", sampling.top_k, 0), ("top-p", sampling.top_p, 1), ("min-p", sampling.min_p, 0))
        said += [f"{name} {value:g}" for name, value, without in filters if value != without]
    penalties = (
        ("repeat penalty", sampling.repeat_penalty, 1),
        ("frequency penalty", sampling.frequency_penalty, 0),
        ("presence penalty", sampling.presence_penalty, 0),
    )
    penalised = [f"{name} {value:g}" for name, value, without in penalties if value != without]
    if penalised:
        said += [*penalised, f"over {sampling.penalty_last_n} tokens"]
    if sampling.grammar:
        said.append("grammar")
    said += told
    return ", ".join(said) or "no filter"


def _backwards(steps: StepColumns) -> str:
    """Say that the engine's own times run backwards, "" if they do not."""
    is_in_order = all(before <= after for before, after in pairwise(steps.t_s))
    return "" if is_in_order else "the engine's clock ran backwards"


def _slid(steps: StepColumns) -> str:
    """Say that what stayed of the conversation was evaluated again in mid-answer: that is no decoding; "" if not."""
    return "the context was full in mid-answer, and the oldest turns left it" if steps.slides else ""
