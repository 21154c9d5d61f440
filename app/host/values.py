"""What goes into the host and what it says about itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from app.host.computing import is_processor
from app.host.leaving import Leaving
from app.metrics.values import Run
from app.protocol import (
    ChatMessage,
    Chunk,
    Done,
    Load,
    Loaded,
    MemoryTypes,
    Prefill,
    Sampling,
    Speculation,
    Started,
    Templating,
)

HostPhase = Literal["stopped", "starting", "idle", "loading", "answering", "died"]
AnswerEvent = Started | Prefill | Chunk | Done


@dataclass(frozen=True, slots=True)
class PairChoice:
    """A target and perhaps a draft model, by name as the library resolves it or by path, and how to load them.

    0 threads: choose for me; ``n_ctx`` 0: as the model was trained; the draft's own numbers 0: those of the target.
    ``compute`` says where it runs (``app.host.computing``); the draft's, if it is "", the same.
    ``n_device_layers`` puts only so many of the target's last layers there, -1 all of them. With ``trees`` the target's
    memory has room for token trees.
    """

    target: str
    draft: str | None = None
    n_ctx: int = 4096
    n_threads: int = 0
    memory: MemoryTypes = field(default_factory=MemoryTypes)
    draft_memory: MemoryTypes = field(default_factory=MemoryTypes)
    draft_n_ctx: int = 0
    draft_n_threads: int = 0
    compute: str = "cpu"
    draft_compute: str = ""
    n_device_layers: int = -1
    trees: bool = False

    @property
    def is_on_processor(self) -> bool:
        """Whether both models run on the processor alone."""
        return is_processor(self.compute) and is_processor(self.draft_compute)

    def on_processor(self) -> PairChoice:
        """Return the same pair on the processor alone."""
        return replace(self, compute="cpu", draft_compute="")

    def command(self, command_id: int, target: Path, draft: Path | None) -> Load:
        """Return the command that loads these files this way."""
        return Load(
            id=command_id,
            target=str(target),
            draft=str(draft) if draft else None,
            n_ctx=self.n_ctx,
            n_threads=self.n_threads,
            memory=self.memory,
            draft_memory=self.draft_memory,
            draft_n_ctx=self.draft_n_ctx,
            draft_n_threads=self.draft_n_threads,
            trees=self.trees,
        )


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What to answer (messages, or a raw prompt as text or token ids) and how.

    ``sampling`` ``None``: the defaults with a fresh seed.
    ``reuse_memory`` off: evaluate the prompt from nothing, so that answers can be compared (see ``Generate``).
    ``slide``: where the context is too short, leave out the oldest turns, with a notice. ``pair`` is loaded first if it
    is not, in the same turn; ``on_recorded`` is called with the run on the host's loop before the answer's stream ends.
    ``leaving`` tells, from any thread, that nobody waits for the answer any more; closing its stream tells it, too.
    """

    messages: tuple[ChatMessage, ...] = ()
    prompt: str | tuple[int, ...] | None = None
    label: str = ""
    speculation: Speculation = field(default_factory=Speculation)
    sampling: Sampling | None = None
    max_tokens: int = 1024
    stop: tuple[str, ...] = ()
    reuse_memory: bool = True
    token_details: bool = False
    slide: bool = False
    templating: Templating = field(default_factory=Templating)
    n_top_logprobs: int = -1
    pair: PairChoice | None = None
    on_recorded: Callable[[Run], None] | None = None
    leaving: Leaving | None = None


@dataclass(frozen=True, slots=True)
class HostState:
    """What the host is doing, with what.

    ``loaded`` is what can answer now. ``pair`` is what is loaded, is being loaded, or will be after a restart.
    ``detail`` is a sentence for a person: what is loading, why the last load failed, how the engine died.
    """

    phase: HostPhase = "stopped"
    loaded: Loaded | None = None
    pair: PairChoice | None = None
    detail: str = ""
