"""The commands to the engine."""

from __future__ import annotations

import msgspec

from app.lessons import Lessons
from app.memory_types import MemoryTypes
from app.placement import Backends, Placement
from app.protocol.values import LIKELIEST, MAX_DRAFT_TOKENS, ChatMessage, Sampling, Speculation, Templating


class _Command(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """Base of the commands; ``id`` is chosen by the client and comes back in every event about it."""

    id: int


class Load(_Command, frozen=True, tag="load"):
    """Load a target and, if given, a draft model. A target already loaded the same way is kept.

    ``draft_n_ctx`` and ``draft_n_threads`` are the draft model's own, 0 those of the target; a shorter context holds
    the text's recent part. MTP heads take the threads only, and lie where the target does. A pair that is loaded anew
    begins with ``lessons``, and while it has taught little, a model's drafts where the length is ``auto`` have at most
    ``draft_start`` tokens (0: as many as ever). With ``trees`` the target's memory has room for token trees.
    Of ``backends`` those that are not loaded yet are; none is ever let go.
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
    draft_start: int = 0
    placement: Placement = Placement()
    draft_placement: Placement = Placement()
    backends: Backends = Backends()
    trees: bool = False


class Generate(_Command, frozen=True, tag="generate"):
    """Answer a conversation, or continue a raw prompt, text or token ids (exactly one of the two is given).

    With ``reuse_memory`` off the prompt is evaluated from an empty memory. Kernels round by how many tokens they
    evaluate at once, so only then are two answers to a prompt computed alike whatever was asked before.
    With ``slide`` a conversation that is longer than the context loses its oldest turns, with a notice, also in the
    middle of an answer; with ``token_details`` each chunk tells of its tokens, which costs a pass over the vocabulary a
    token; so does ``n_top_logprobs`` from 0 on: each token's log-probability, and of that many that were likelier or
    nearly as likely.
    """

    sampling: Sampling
    messages: tuple[ChatMessage, ...] = ()
    prompt: str | tuple[int, ...] | None = None
    speculation: Speculation = Speculation()
    max_tokens: int = 1024
    stop: tuple[str, ...] = ()
    reuse_memory: bool = True
    slide: bool = False
    token_details: bool = False
    templating: Templating = Templating()
    n_top_logprobs: int = -1


class Cancel(_Command, frozen=True, tag="cancel"):
    """Stop the load or generation with this ``id``; jumps the queue. Its Done/Failed still comes."""


class Tokenise(_Command, frozen=True, tag="tokenise"):
    """Count and list the tokens of a text; answered during a generation."""

    text: str


class Render(_Command, frozen=True, tag="render"):
    """Render messages with the model's own chat template; answered during a generation."""

    messages: tuple[ChatMessage, ...]
    templating: Templating = Templating()


class Unload(_Command, frozen=True, tag="unload"):
    """Free the models; answered by :class:`Unloaded`."""


class MeasureCosts(_Command, frozen=True, tag="measure_costs"):
    """Time target passes over each of ``n_rows``, and the drafters, at context positions. Empties the memories.

    Drafters draft as in an answer with this ``sampling``: with a large vocabulary and no top-k the draw is a part of
    what a drafted token costs (151,936 tokens: 2.7 ms, with top-k 0.06 ms).
    """

    n_rows: tuple[int, ...]
    positions: tuple[int, ...] = (0,)
    repeat: int = 3
    sampling: Sampling = LIKELIEST


Command = Load | Generate | Cancel | Tokenise | Render | Unload | MeasureCosts
