"""The values that commands and events carry."""

from __future__ import annotations

from typing import Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]
SpecType = Literal["none", "ngram", "draft-simple", "draft-mtp", "tree"]
SPEC_TYPE_ALIASES: dict[str, SpecType] = dict.fromkeys(
    ("ngram-mod", "ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-cache"), "ngram"
)
"""Names that llama.cpp and GenieX have for drafters that look into the text so far; ours is one for all."""

ReasoningEffort = Literal["low", "medium", "high"]
StopReason = Literal["eos", "stop", "length", "cancelled", "failed"]
LoadStage = Literal["target", "draft", "warmup"]

DraftTokens = int | Literal["auto", "rolling"]
"""Draft length: fixed, chosen by the controller so that it pays, or by the rolling rule of the literature."""

MAX_DRAFT_TOKENS = 31
"""Longest draft of any drafter (the n-gram one's)."""

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is not one of ours."""


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A plain value inside a message."""


class ToolCall(Value, frozen=True):
    """A function that the model called; ``arguments`` is a JSON object as text."""

    name: str
    arguments: str
    id: str = ""


class Tool(Value, frozen=True):
    """A function that the model may call; ``parameters`` is the JSON schema of its arguments as text."""

    name: str
    description: str = ""
    parameters: str = "{}"


class ChatMessage(Value, frozen=True, omit_defaults=True):
    """One message of a conversation, as a chat template sees it.

    ``tool_calls`` are an assistant's; a message of the role ``tool`` holds what the call ``tool_call_id`` returned.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


class Templating(Value, frozen=True):
    """What a chat template is told beside the messages, and what of its work is not left to the model.

    ``template`` is a Jinja chat template in place of the model's own; ``reasoning`` asks one that has a switch for
    thoughts, or for none, and ``reasoning_effort`` one that knows it for longer or shorter ones. With ``goes_on`` the
    last message, the assistant's, is the beginning of the answer.
    """

    tools: tuple[Tool, ...] = ()
    template: str | None = None
    reasoning: bool | None = None
    reasoning_effort: ReasoningEffort | None = None
    goes_on: bool = False


class Sampling(Value, frozen=True):
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


LIKELIEST = Sampling(seed=0, temperature=0.0)
"""Nothing is drawn: always the most likely token."""


class Speculation(Value, frozen=True, omit_defaults=True):
    """How the next answer is drafted. ``types`` are tried in order; empty or ``none`` is off.

    ``draft_tokens`` is the draft length limit k; drafts shorter than ``draft_min`` are not used; a model drafter stops
    when its token's probability falls below ``p_min``; ``exact``: none so long that it tips near ties, if that can be.
    ``fixed_shape``: every pass that verifies has as many rows as the longest draft needs. ``lenient``: a draft token is
    kept, too, if typical of the target (:mod:`app.engine.leniency`); this changes the answer. 0 is off.
    """

    types: tuple[SpecType, ...] = ()
    draft_tokens: DraftTokens = 4
    draft_min: int = 0
    p_min: float = 0.0
    exact: bool = True
    fixed_shape: bool = False
    lenient: float = 0.0


LOSSY = "lossy"
"""What a way to draft that may change the answer is called, wherever it shows."""


TREES_TRIED = "token_trees"
"""Code of the notice that says what came of trying token trees."""


def spec_name(speculation: Speculation) -> str:
    """Name of the drafters in the order they are tried, comma-separated, ``lossy`` last if that is so; or ``none``."""
    kinds = [kind for kind in speculation.types if kind != "none"]
    return ",".join([*kinds, LOSSY] if kinds and speculation.lenient else kinds) or "none"


def is_lossy_name(spec_type: str) -> bool:
    """Tell by the name of a way to draft whether it may change the answer."""
    return LOSSY in spec_type.split(",")


class ErrorInfo(Value, frozen=True):
    """An exception of :mod:`app.errors` on its way between processes."""

    code: str
    message: str
    hint: str = ""


class NoticeInfo(Value, frozen=True):
    """Something a person should know though the work goes on: a fallback, a limit."""

    code: str
    message: str
    hint: str = ""


class ModelInfo(Value, frozen=True):
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


class Engagement(Value, frozen=True):
    """Whether speculation is engaged, with what and how long, or why not.

    ``reason`` is a sentence for a person; never empty when ``engaged`` is false. ``n_exact`` is the longest draft that
    cannot tip a near tie, where that is what bounds the length; else 0.
    """

    engaged: bool
    drafter: str = ""
    draft_tokens: DraftTokens = 0
    reason: str = ""
    n_exact: int = 0


class Step(Value, frozen=True, omit_defaults=True):
    """The facts of one target pass.

    ``limit`` is the draft length limit, ``proposed`` the draft tokens sent to the target, ``judged`` those it
    ruled on (up to and including the first rejected), ``accepted`` those kept and emitted, ``emitted`` all tokens of
    this step, ``n_ctx`` the confirmed context position after it, ``drafter`` who drafted ("" if nobody did).
    The first step's token comes from the last prefill row: its ``verify_s`` is 0. ``rows`` is how many rows the pass
    had where that is not ``proposed`` + 1; ``depth`` that of a token tree, 0 for a chain. ``slid`` is how many tokens
    left the full context right before it: what stayed was evaluated again, and its token comes from that.
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
    rows: int = 0
    depth: int = 0
    slid: int = 0

    @property
    def n_rows(self) -> int:
        """Rows of the target's pass; the first step's is a prefill, of which one row is used."""
        return self.rows or self.proposed + 1


class Paging(Value, frozen=True):
    """How the engine's process had its models in memory while it decoded an answer; ``None`` where nobody tells.

    Of the page faults since the first step, ``n_faults``, ``n_major_faults`` waited for the disk;
    ``resident_bytes`` is what the process had in memory at the end.
    """

    n_major_faults: int | None = None
    n_faults: int | None = None
    resident_bytes: int | None = None


class Plan(Value, frozen=True):
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
