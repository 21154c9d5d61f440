"""The events from the engine."""

from __future__ import annotations

import msgspec

from app.costs import CostsAt
from app.lessons import Lessons
from app.memory_types import MemoryTypes
from app.protocol.values import (
    Engagement,
    ErrorInfo,
    LoadStage,
    ModelInfo,
    NoticeInfo,
    Paging,
    Plan,
    SpecType,
    Step,
    StopReason,
)
from app.token_details import TokenDetail, TokenLogprob


class _Event(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """Base of the events."""


class Hello(_Event, frozen=True, tag="hello"):
    """First line of a worker: it is alive and these are its versions."""

    pid: int
    app: str
    llama_cpp_python: str
    llama_cpp_commit: str
    system_info: str


class LoadProgress(_Event, frozen=True, tag="load_progress"):
    """How far a load has come; ``fraction`` is 0 to 1 within the stage."""

    id: int
    stage: LoadStage
    fraction: float


class Loaded(_Event, frozen=True, tag="loaded"):
    """Both models are ready. ``drafters`` can be engaged; ``not_engageable`` says why others cannot.

    ``draft_device`` is "" without a draft file. Up to ``n_rows_alike`` rows at once have the logits of one at a time.
    """

    id: int
    target: ModelInfo
    draft: ModelInfo | None
    n_ctx: int
    n_threads: int
    device: str
    drafters: tuple[SpecType, ...]
    not_engageable: dict[SpecType, str]
    load_s: float
    memory: MemoryTypes = MemoryTypes()
    notices: tuple[NoticeInfo, ...] = ()
    draft_device: str = ""
    n_rows_alike: int = 1


class Unloaded(_Event, frozen=True, tag="unloaded"):
    """The models are freed."""

    id: int


class Started(_Event, frozen=True, tag="started"):
    """The prompt is tokenised; prefill begins. ``cached_tokens`` of ``prompt_tokens`` need no evaluation.

    ``prompt_end`` is the end of what the template made, in which it may have begun a thought for the model. ``n_rows``
    is how many rows every pass has with a fixed shape, whoever asked for it; 0 is as many as it needs.
    """

    id: int
    prompt_tokens: int
    cached_tokens: int
    engagement: Engagement
    notices: tuple[NoticeInfo, ...] = ()
    prompt_end: str = ""
    n_rows: int = 0


class Prefill(_Event, frozen=True, tag="prefill", omit_defaults=True):
    """How many of the prompt tokens to evaluate are done (target only).

    In mid-answer the context was full: without its ``left_out`` oldest messages the conversation is evaluated again.
    """

    id: int
    done: int
    total: int
    left_out: int = 0


class Chunk(_Event, frozen=True, tag="chunk", omit_defaults=True):
    """One step of an answer: its text (may be empty while a character or stop string is undecided)."""

    id: int
    text: str
    token_ids: tuple[int, ...]
    drafted: tuple[bool, ...]
    step: Step
    plan: Plan | None = None
    details: tuple[TokenDetail, ...] = ()
    logprobs: tuple[TokenLogprob, ...] = ()


class Done(_Event, frozen=True, tag="done"):
    """The answer is complete. ``text`` is what was still held back; ``lessons`` is for the next load of the pair.

    ``paging`` is that of the decoding. The times are those of the prompt, not of what a slide evaluates again.
    """

    id: int
    stop_reason: StopReason
    text: str
    prefill_s: float
    draft_prefill_s: float
    notices: tuple[NoticeInfo, ...] = ()
    lessons: Lessons | None = None
    paging: Paging | None = None


class Failed(_Event, frozen=True, tag="failed"):
    """The command with this ``id`` could not be carried out; the engine lives on."""

    id: int
    error: ErrorInfo


class Tokenised(_Event, frozen=True, tag="tokenised"):
    """Answer to :class:`Tokenise`."""

    id: int
    token_ids: tuple[int, ...]


class Rendered(_Event, frozen=True, tag="rendered"):
    """Answer to :class:`Render`; ``n_tokens`` 0: more than would be counted for any answer.

    ``has_reasoning_switch``: the template can be asked for thoughts or for none; ``has_reasoning_effort``: for longer
    or shorter ones; ``template`` is the one that was used, "" for none.
    """

    id: int
    prompt: str
    notices: tuple[NoticeInfo, ...] = ()
    n_tokens: int = 0
    has_reasoning_switch: bool = False
    has_reasoning_effort: bool = False
    template: str = ""


class CostsMeasured(_Event, frozen=True, tag="costs_measured"):
    """Answer to :class:`MeasureCosts`, by position."""

    id: int
    costs: tuple[CostsAt, ...]


Last = Loaded | Unloaded | Done | Tokenised | Rendered | CostsMeasured
"""What ends the events of a command; :class:`Failed` does, too."""

Event = Hello | LoadProgress | Started | Prefill | Chunk | Failed | Last
