"""The options that say how models are loaded, the same for every command that loads a pair."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

from app.cli import options
from app.cli.completing import compute_units
from app.errors import UsageError
from app.host import PairChoice
from app.memory_types import ELEMENT_TYPES, FLASH_ATTENTION, is_quantised
from app.protocol import MemoryTypes

_TYPES = ", ".join(ELEMENT_TYPES)
_PLAIN = MemoryTypes()
USUAL_CONTEXT = 4096
_ASKED_OF_SERVERS = {"compute": "compute", "nctx": "nctx", "gpu_layers": "ngl"}
"""Options that our server and GenieX's have a field for."""


def _option(names: str, metavar: str, words: str, least: int | None = None, most: int | None = None) -> Any:  # noqa: ANN401 - as typer says
    """Make an option that ``--help`` lists with the others of its kind; of its names the first is ours."""
    how: dict[str, Any] = {"autocompletion": compute_units} if "compute" in names else {}
    first, *others = names.split()
    return typer.Option(
        first, *others, metavar=metavar, help=words, min=least, max=most, rich_help_panel=options.LOADING, **how
    )


DraftContext = Annotated[
    int,
    _option(
        "--draft-nctx",
        "N",
        "Context length of the draft model; 0 is the target's. A shorter one holds the recent part of the text.",
        0,
    ),
]
DraftThreads = Annotated[
    int, _option("--draft-threads", "N", "Threads of the draft model or MTP heads; 0 is the target's.", 0, 512)
]
TypeK = Annotated[str, _option("--cache-type-k", "TYPE", f"Elements of the K memory (KV cache): {_TYPES}.")]
TypeV = Annotated[str, _option("--cache-type-v", "TYPE", "Elements of the V memory, one of the same types.")]
DraftTypeK = Annotated[str, _option("--draft-cache-type-k", "TYPE", "Elements of the K memory of what drafts.")]
DraftTypeV = Annotated[str, _option("--draft-cache-type-v", "TYPE", "Elements of the V memory of what drafts.")]
FlashAttn = Annotated[
    str,
    _option(
        "--flash-attn",
        "on|off|auto",
        "Attention in one pass over the memory; auto leaves it to llama.cpp. Off, the last digits depend on how many "
        "tokens are checked at once, so a draft can tip a near tie; and V cannot be quantised.",
    ),
]
Compute = Annotated[
    str,
    _option(
        "--compute -c",
        "cpu|gpu|npu|hybrid|DEV,DEV",
        "Where the model runs: on the processor, the GPU, the NPU, on both of these, or on devices that the command "
        "devices lists, which share its layers.",
    ),
]
DraftCompute = Annotated[
    str, _option("--draft-compute", "cpu|gpu|…", "Where the draft model runs; without it, where the model does.")
]
Layers = Annotated[
    int,
    _option(
        "--gpu-layers --ngl -n",
        "N",
        "How many of the model's last layers go to --compute, the rest stay; -1 is all.",
        -1,
    ),
]


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How to load a pair."""

    nctx: options.Context = USUAL_CONTEXT
    threads: options.Threads = 0
    draft_nctx: DraftContext = 0
    draft_threads: DraftThreads = 0
    cache_type_k: TypeK = _PLAIN.type_k
    cache_type_v: TypeV = _PLAIN.type_v
    draft_cache_type_k: DraftTypeK = _PLAIN.type_k
    draft_cache_type_v: DraftTypeV = _PLAIN.type_v
    flash_attn: FlashAttn = "auto"
    compute: Compute = "cpu"
    draft_compute: DraftCompute = ""
    gpu_layers: Layers = -1

    def pair(self, target: str, draft: str | None) -> PairChoice:
        """What to load.

        Raises:
            UsageError: a word is not known, or they do not go together.
        """
        draft_memory = self._memory("draft-", self.draft_cache_type_k, self.draft_cache_type_v)
        return PairChoice(
            target,
            draft,
            n_ctx=self.nctx,
            n_threads=self.threads,
            memory=self._memory("", self.cache_type_k, self.cache_type_v),
            draft_memory=draft_memory,
            draft_n_ctx=self.draft_nctx,
            draft_n_threads=self.draft_threads,
            compute=self.compute,
            draft_compute=self.draft_compute,
            n_device_layers=self.gpu_layers,
        )

    @staticmethod
    def kept_from_servers() -> tuple[str, ...]:
        """Name what of it no server can be asked for."""
        return tuple(field.name for field in fields(LoadOptions) if field.name not in _ASKED_OF_SERVERS)

    def remote_fields(self, said: Collection[str]) -> dict[str, object]:
        """Return what of it a server is asked for: what is said."""
        return {theirs: getattr(self, ours) for ours, theirs in _ASKED_OF_SERVERS.items() if ours in said}

    def _memory(self, prefix: str, type_k: str, type_v: str) -> MemoryTypes:
        for letter, name in (("k", type_k), ("v", type_v)):
            if name not in ELEMENT_TYPES:
                raise UsageError(f"--{prefix}cache-type-{letter} {name} is not known.", f"Choose of {_TYPES}.")
        words: dict[str, bool | None] = dict(FLASH_ATTENTION.items())
        if self.flash_attn not in words:
            raise UsageError(f"--flash-attn {self.flash_attn} is not known.", "It is on, off or auto.")
        is_fused = words[self.flash_attn]
        if is_quantised(type_v) and is_fused is False:
            raise UsageError(
                f"--{prefix}cache-type-v {type_v} needs flash attention.", "Leave --flash-attn off out, or take f16."
            )
        return MemoryTypes(type_k, type_v, is_fused)
