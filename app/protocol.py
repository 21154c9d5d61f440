"""The one vocabulary: every command to the engine and every event from it.

The engine yields these events, the worker writes them, the window draws them, the recorder counts them. One message
is one line of JSON (:func:`encode`, :func:`decode_event`); one verification step is one :class:`Chunk` and one write.

A generation, in order::

    Generate ──▶ Started ─▶ Prefill* ─▶ Chunk* ─▶ Done          (or Failed at any point)

Times are seconds; ``t_s`` counts on the engine's monotonic clock, from when the engine received the request.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.costs import CostsAt
from app.lessons import Lessons
from app.memory_types import MemoryTypes as MemoryTypes
from app.placement import Backends, Placement
from app.token_details import TokenDetail

Role = Literal["system", "user", "assistant"]
SpecType = Literal["none", "ngram", "draft-simple", "draft-mtp", "tree"]
StopReason = Literal["eos", "stop", "length", "cancelled", "failed"]
LoadStage = Literal["target", "draft", "warmup"]

DraftTokens = int | Literal["auto", "rolling"]
"""Draft length: fixed, chosen by the controller so that it pays, or by the rolling rule of the literature."""

MAX_DRAFT_TOKENS = 31
"""Longest draft of any drafter (the n-gram one's)."""

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is not one of ours."""


class _Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A plain value inside a message."""


class ChatMessage(_Value, frozen=True):
    """One message of a conversation, as a chat template sees it."""

    role: Role
    content: str


class Sampling(_Value, frozen=True):
    """Sampling settings; the chain is applied in this order, temperature last.

    ``temperature`` 0 means the most likely token (after penalties). ``top_k`` 0, ``top_p`` 1, ``min_p`` 0
    and ``repeat_penalty`` 1 switch their member off. ``seed`` keys the noise of the draw. ``grammar`` (GBNF, start
    ``root``) is what the answer keeps to; "" is none.
    """

    seed: int
    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    penalty_last_n: int = 64
    grammar: str = ""


class Speculation(_Value, frozen=True):
    """How the next answer is drafted. ``types`` are tried in order; empty or ``none`` is off.

    ``draft_tokens`` is the draft length limit k; drafts shorter than ``draft_min`` are not used; a model drafter stops
    when its token's probability falls below ``p_min``; ``exact``: none so long that it tips near ties, if that can be.
    """

    types: tuple[SpecType, ...] = ()
    draft_tokens: DraftTokens = 4
    draft_min: int = 0
    p_min: float = 0.0
    exact: bool = True


class ErrorInfo(_Value, frozen=True):
    """An exception of :mod:`app.errors` on its way between processes."""

    code: str
    message: str
    hint: str = ""


class NoticeInfo(_Value, frozen=True):
    """Something a person should know though the work goes on: a fallback, a limit."""

    code: str
    message: str
    hint: str = ""


class ModelInfo(_Value, frozen=True):
    """Facts about a loaded model file, as llama.cpp tells them."""

    path: str
    name: str
    n_bytes: int
    architecture: str
    quantisation: str
    n_params: int
    n_ctx_train: int
    n_vocab: int
    n_layers: int
    has_chat_template: bool


class Engagement(_Value, frozen=True):
    """Whether speculation is engaged, with what and how long, or why not.

    ``reason`` is a sentence for a person; never empty when ``engaged`` is false.
    """

    engaged: bool
    drafter: str = ""
    draft_tokens: DraftTokens = 0
    reason: str = ""


class Step(_Value, frozen=True):
    """The facts of one target pass.

    ``limit`` is the draft length limit, ``proposed`` the draft tokens sent to the target, ``judged`` those it
    ruled on (up to and including the first rejected), ``accepted`` those kept and emitted, ``emitted`` all tokens of
    this step, ``n_ctx`` the confirmed context position after it, ``drafter`` who drafted ("" if nobody did).
    The first step's token comes from the last prefill row: its ``verify_s`` is 0.
    """

    t_s: float
    emitted: int
    limit: int
    proposed: int
    judged: int
    accepted: int
    draft_s: float
    verify_s: float
    n_ctx: int
    drafter: str


class Plan(_Value, frozen=True):
    """What the controller chose for a step, and why.

    ``drafter`` is "" and ``limit`` 0 while it pauses; ``reason`` is a phrase for a person; ``alpha`` the
    share of judged draft tokens that it expects to be kept; ``debt_s`` what speculation has cost this
    answer so far against plain decoding (negative: saved).
    """

    drafter: str
    limit: int
    alpha: float
    reason: str
    debt_s: float


# --- commands ---------------------------------------------------------------------------------------


class _Command(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """Base of the commands; ``id`` is chosen by the client and comes back in every event about it."""

    id: int


class Load(_Command, frozen=True, tag="load"):
    """Load a target and, if given, a draft model. A target already loaded the same way is kept.

    ``draft_n_ctx`` and ``draft_n_threads`` are the draft model's own, 0 those of the target; a shorter context holds
    the text's recent part. MTP heads take the threads only, and lie where the target does. A pair that is loaded anew
    begins with ``lessons``. Of ``backends`` those that are not loaded yet are; none is ever let go.
    """

    target: str
    draft: str | None = None
    n_ctx: int = 4096
    n_threads: int = 0
    draft_max: int = MAX_DRAFT_TOKENS
    memory: MemoryTypes = MemoryTypes()
    draft_memory: MemoryTypes = MemoryTypes()
    draft_n_ctx: int = 0
    draft_n_threads: int = 0
    lessons: Lessons | None = None
    placement: Placement = Placement()
    draft_placement: Placement = Placement()
    backends: Backends = Backends()


class Generate(_Command, frozen=True, tag="generate"):
    """Answer a conversation, or continue a raw prompt (exactly one of the two is given).

    With ``reuse_memory`` off the prompt is evaluated from an empty memory. Kernels round by how many tokens they
    evaluate at once, so only then are two answers to a prompt computed alike whatever was asked before.
    With ``slide`` a conversation that is longer than the context loses its oldest turns, with a notice; with
    ``token_details`` each chunk tells of its tokens, which costs a pass over the vocabulary a token.
    """

    sampling: Sampling
    messages: tuple[ChatMessage, ...] = ()
    prompt: str | None = None
    speculation: Speculation = Speculation()
    max_tokens: int = 1024
    stop: tuple[str, ...] = ()
    reuse_memory: bool = True
    slide: bool = False
    token_details: bool = False


class Cancel(_Command, frozen=True, tag="cancel"):
    """Stop the load or generation with this ``id``; jumps the queue. Its Done/Failed still comes."""


class Tokenise(_Command, frozen=True, tag="tokenise"):
    """Count and list the tokens of a text; answered during a generation."""

    text: str


class Render(_Command, frozen=True, tag="render"):
    """Render messages with the model's own chat template; answered during a generation."""

    messages: tuple[ChatMessage, ...]


class Unload(_Command, frozen=True, tag="unload"):
    """Free the models; answered by :class:`Unloaded`."""


class MeasureCosts(_Command, frozen=True, tag="measure_costs"):
    """Time target passes over each of ``n_rows``, and the drafters, at context positions. Empties the memories."""

    n_rows: tuple[int, ...]
    positions: tuple[int, ...] = (0,)
    repeat: int = 3


Command = Load | Generate | Cancel | Tokenise | Render | Unload | MeasureCosts


# --- events -----------------------------------------------------------------------------------------


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
    """The prompt is tokenised; prefill begins. ``cached_tokens`` of ``prompt_tokens`` need no evaluation."""

    id: int
    prompt_tokens: int
    cached_tokens: int
    engagement: Engagement
    notices: tuple[NoticeInfo, ...] = ()


class Prefill(_Event, frozen=True, tag="prefill"):
    """How many of the prompt tokens to evaluate are done (target only)."""

    id: int
    done: int
    total: int


class Chunk(_Event, frozen=True, tag="chunk", omit_defaults=True):
    """One step of an answer: its text (may be empty while a character or stop string is undecided)."""

    id: int
    text: str
    token_ids: tuple[int, ...]
    drafted: tuple[bool, ...]
    step: Step
    plan: Plan | None = None
    details: tuple[TokenDetail, ...] = ()


class Done(_Event, frozen=True, tag="done"):
    """The answer is complete. ``text`` is what was still held back; ``lessons`` is for the next load of the pair."""

    id: int
    stop_reason: StopReason
    text: str
    prefill_s: float
    draft_prefill_s: float
    notices: tuple[NoticeInfo, ...] = ()
    lessons: Lessons | None = None


class Failed(_Event, frozen=True, tag="failed"):
    """The command with this ``id`` could not be carried out; the engine lives on."""

    id: int
    error: ErrorInfo


class Tokenised(_Event, frozen=True, tag="tokenised"):
    """Answer to :class:`Tokenise`."""

    id: int
    token_ids: tuple[int, ...]


class Rendered(_Event, frozen=True, tag="rendered"):
    """Answer to :class:`Render`."""

    id: int
    prompt: str
    notices: tuple[NoticeInfo, ...] = ()


class CostsMeasured(_Event, frozen=True, tag="costs_measured"):
    """Answer to :class:`MeasureCosts`, by position."""

    id: int
    costs: tuple[CostsAt, ...]


Last = Loaded | Unloaded | Done | Tokenised | Rendered | CostsMeasured
"""What ends the events of a command; :class:`Failed` does, too."""

Event = Hello | LoadProgress | Started | Prefill | Chunk | Failed | Last

_encoder = msgspec.json.Encoder()
_commands = msgspec.json.Decoder(Command)
_events = msgspec.json.Decoder(Event)


def encode(message: Command | Event) -> bytes:
    """Return the message as one line of JSON, newline included."""
    return _encoder.encode(message) + b"\n"


def decode_command(line: bytes) -> Command:
    """Read one command.

    Raises:
        msgspec.MsgspecError: the line is not a command.
    """
    return _commands.decode(line)


def decode_event(line: bytes) -> Event:
    """Read one event.

    Raises:
        msgspec.MsgspecError: the line is not an event.
    """
    return _events.decode(line)
