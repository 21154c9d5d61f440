"""The values that measurements are kept in and exported as (schema ``slipstream.metrics/1``).

Schema 1 only ever gains fields: a reader of an older one finds every name where it was. All times are
seconds of the engine's monotonic clock, counted from the moment the engine received the run's request; only
``requested_at`` and ``recorded_at`` are wall-clock (ISO 8601, UTC).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from app.protocol import DraftTokens, Step, is_lossy_name

RunStop = Literal["eos", "stop", "length", "cancelled", "failed", "engine_died"]
VerdictWord = Literal["pays", "costs", "cannot tell"]

COMPLETE: frozenset[RunStop] = frozenset({"eos", "stop", "length"})
"""How an answer ends that may enter baselines and verdicts."""


class Interval(msgspec.Struct, frozen=True):
    """A figure with its 95 % interval."""

    median: float
    low: float
    high: float


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """What must be alike for two decode speeds to be compared.

    ``target_fingerprint`` names the file's content (:func:`app.metrics.baseline.fingerprint`), so a copy or a
    renamed file is the same target. ``context_bucket`` is the upper bound, in tokens, of the class that the
    answer's mean context position falls in. ``sampled`` is false at temperature 0, where no noise is drawn.
    ``app_version`` is "" in what older versions measured. ``memory`` names the types of the target's KV cache (K/V)
    and, where that was chosen, whether its attention is fused: /on, /off. ``on_battery`` and ``power_mode`` are how the
    machine was powered, ``sampler`` what the choice of a token goes through beside the temperature; ``None`` and "",
    where that is not known, are like everything.
    """

    target_file: str
    target_bytes: int
    target_fingerprint: str
    quantisation: str
    device: str
    n_threads: int
    context_bucket: int
    sampled: bool
    llama_cpp_commit: str
    app_version: str = ""
    memory: str = "f16/bf16"
    on_battery: bool | None = None
    power_mode: str = ""
    sampler: str = ""


class RunConditions(Conditions, frozen=True, kw_only=True):
    """The conditions of one answer: those of :class:`Conditions` and what was loaded to draft with.

    ``draft_fingerprint`` names the draft file's content, "" without one and in what older versions measured.
    ``mtp_heads``: whether heads inside the target file were ready to draft, as they are unless a file with others was
    chosen or they failed to start.
    """

    draft_file: str | None = None
    n_ctx: int = 0
    draft_device: str = ""
    draft_fingerprint: str = ""
    mtp_heads: bool = False


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """How the machine was at the end of an answer; ``None`` and "" where the system does not tell.

    ``on_battery`` and ``power_mode`` say what powered it. Of the engine's process, while it decoded: ``n_major_faults``
    page faults waited for the disk, ``n_faults`` are all of them, ``resident_bytes`` is what it had in memory then.
    """

    on_battery: bool | None = None
    power_mode: str = ""
    n_major_faults: int | None = None
    n_faults: int | None = None
    resident_bytes: int | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One answer: what was asked of it, its raw steps, and the figures that follow from them.

    ``tokens`` counts emitted tokens, an end-of-generation token included. ``engaged`` and ``not_engaged`` say
    whether the speculation that was asked for took part, and why not all of it. ``verdict`` is ``None`` where none
    can be given at all: speculation off or not engaged, or the answer not completed. ``excluded`` says why a run counts
    in no verdict and no baseline though it came to its end, "" if it counts; ``notes`` are what else went on in the
    meantime. ``energy_j`` is what it took from the request to the end, ``energy_source`` of what, where a meter tells.
    ``question`` is what was asked, where that is kept. ``spec_type`` ends in ``,lossy`` where acceptance was
    ``lenient``: the text may not be what the target alone would have said. With ``fixed_shape`` all passes had as many
    rows as the longest draft needs. Drafts were kept to ``n_exact`` tokens so that no rounding could change a word; 0:
    none had to be. ``rows`` were computed to verify, of which ``rows_wasted`` gave no token;
    ``tree_depth`` is the mean depth of token trees, whose nodes are what was ``proposed``. Drafts shorter than
    ``draft_min`` were not used, and they ended where the drafter was less sure than ``p_min``. ``sampler`` says what
    the choice of a token went through beside the temperature. ``surroundings`` are how the machine was meanwhile,
    ``None`` in what older versions measured.
    """

    id: str
    prompt: str
    requested_at: str
    spec_type: str
    draft_tokens: DraftTokens
    temperature: float
    seed: int
    prompt_tokens: int
    cached_tokens: int
    tokens: int
    ttft_s: float | None
    answer_s: float | None
    prefill_s: float | None
    draft_prefill_s: float | None
    prefill_tps: float | None
    decode_tps: float | None
    proposed: int
    judged: int
    accepted: int
    acceptance: float | None
    alpha: float | None
    alpha_by_position: tuple[float, ...]
    tokens_per_step: float | None
    stop_reason: RunStop
    speedup: Interval | None = None
    verdict: VerdictWord | None = None
    engaged: bool = False
    not_engaged: str = ""
    error: str = ""
    conditions: RunConditions | None = None
    excluded: str = ""
    notes: tuple[str, ...] = ()
    energy_j: float | None = None
    energy_source: str = ""
    question: str = ""
    rows: int = 0
    rows_wasted: int = 0
    tree_depth: float | None = None
    lenient: float = 0.0
    fixed_shape: bool = False
    n_exact: int = 0
    draft_min: int = 0
    p_min: float = 0.0
    sampler: str = ""
    surroundings: Surroundings | None = None
    steps: Sequence[Step] = ()


class Answer(Run, frozen=True, kw_only=True):
    """``infer --json``: a run with what was said."""

    text: str
    token_ids: tuple[int, ...]


class AppInfo(msgspec.Struct, frozen=True):
    """Versions of the program and of the engine that measured."""

    version: str
    llama_cpp_python: str
    llama_cpp_commit: str


class MachineInfo(msgspec.Struct, frozen=True):
    """The machine that measured; nothing that names its owner."""

    os: str
    cpu: str
    cores: int
    memory_bytes: int
    device: str


class ModelFacts(msgspec.Struct, frozen=True):
    """A model file; ``file`` is its name without the folder. ``path`` is "" unless the person chose to tell it."""

    name: str
    file: str
    bytes: int
    architecture: str
    quantisation: str
    path: str = ""


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Which session it is; when it was exported, and whether prompts and paths were left out of that."""

    id: str
    name: str
    started_at: str
    exported_at: str = ""
    redacted: bool = False


def is_plain(run: Run) -> bool:
    """Whether nothing was asked to draft for this answer."""
    return run.spec_type == "none"


def is_beside_draft(run: Run) -> bool:
    """Whether speculation was off with a draft model in memory, to which nothing was fed."""
    return is_plain(run) and run.conditions is not None and run.conditions.draft_file is not None


def has_draft_of(one: RunConditions, other: RunConditions) -> bool:
    """Whether the same draft file was in memory in the same place; one that could not be read is like none."""
    names = ("draft_file", "draft_fingerprint", "draft_device")
    return bool(one.draft_fingerprint) and all(getattr(one, name) == getattr(other, name) for name in names)


BESIDE_DRAFT = "answers of this session with speculation off, draft model in memory"
"""What is no baseline by its definition, but as like a drafted answer as one without drafting can be."""


def beside_words(n_beside: int, n_pairs: int) -> str:
    """Say of how many pairs the plain half is such an answer; "" if none is."""
    if not n_beside:
        return ""
    return f"against {BESIDE_DRAFT}" + ("" if n_beside == n_pairs else f" ({n_beside} of {n_pairs} pairs)")


def is_lossy(run: Run) -> bool:
    """Whether the answer may not be what the target alone would have said."""
    return is_lossy_name(run.spec_type)


def is_complete(run: Run) -> bool:
    """Whether the answer came to its own end and has a decode speed."""
    return run.stop_reason in COMPLETE and run.decode_tps is not None


def is_sound(run: Run) -> bool:
    """Whether the answer came to its own end, and nothing made its times worthless meanwhile."""
    return is_complete(run) and not run.excluded
