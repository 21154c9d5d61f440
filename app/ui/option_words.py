"""The words of the model options: draft lengths, contexts, memories, and what the switches mean with a model."""

from __future__ import annotations

from collections.abc import Iterator

from app.memory_types import FlashAttention
from app.protocol import DraftTokens
from app.ui.tr import tr

DRAFT_LENGTHS: tuple[DraftTokens, ...] = ("auto", "rolling", *range(1, 9), 12, 16)
CONTEXTS = (2048, 4096, 8192, 16384, 32768, 65536, 131072)
LENIENT_SHARES = (0.0, 0.3, 0.1, 0.03)
"""From which probability on a draft token is kept at the latest; 0 is off. 0.3 is what its authors take."""

MEMORIES = (("f16", "bf16"), ("q8_0", "q8_0"), ("q4_0", "q4_0"))
"""Types of K and V that are offered; others come from the settings file."""

SAME_MEMORY = ("", "")

FLASH: dict[FlashAttention, str] = {"auto": tr("Left to llama.cpp"), "on": tr("On"), "off": tr("Off")}


def length_words(draft_tokens: DraftTokens) -> str:
    """A draft length as it is offered."""
    if draft_tokens == "auto":
        return tr("What pays, chosen as it goes")
    if draft_tokens == "rolling":
        return tr("3 to 8, by how many were kept")
    return tr("%n token(s)", None, draft_tokens)


def memory_words(type_k: str, type_v: str) -> str:
    """How exactly a conversation is kept in memory, by the types of K and V."""
    match type_k, type_v:
        case "f16", "bf16":
            return tr("16 bits, the most exact")
        case "q8_0", "q8_0":
            return tr("8 bits, half the size")
        case "q4_0", "q4_0":
            return tr("4 bits, a quarter; answers can suffer")
        case _:
            return tr("K {type_k}, V {type_v}").format(type_k=type_k, type_v=type_v)


def draft_contexts(n_ctx: int, current: int) -> Iterator[tuple[int, str]]:
    """Yield the context lengths that a draft model can have beside a target with ``n_ctx``, 0 if that is not known."""
    yield 0, tr("As the model's")
    for n in sorted({n for n in (1024, *CONTEXTS) if not n_ctx or n < n_ctx} | {current} - {0}):
        yield n, tr("{n:,} tokens").format(n=n)


def draft_memory_words(type_k: str, type_v: str) -> str:
    """The same of what drafts; none is as the target's."""
    return memory_words(type_k, type_v) if type_k or type_v else tr("As the model's")


def exact_words(n_rows_alike: int) -> str:
    """Say what the restriction means with the model that is loaded."""
    why = tr(
        "A longer draft is as right, but is computed with other rounding: it can tip a near tie between two words."
    )
    match n_rows_alike:
        case 0:
            return why
        case 1:
            return tr("{why} With this model, on this device, no draft is so short, so this changes nothing.").format(
                why=why
            )
        case n:
            return tr("{why} With this model, on this device: drafts of up to {n} tokens.").format(why=why, n=n - 1)


def lenient_words(share: float) -> str:
    """How lenient acceptance is, as it is offered."""
    return tr("Lossy: what is {share:.3g} % likely").format(share=100 * share) if share else tr("Off")


def trees_tip(tree_words: str) -> str:
    """Say what token trees are, and what came of trying them with the model that is loaded."""
    why = tr(
        "All branches are checked at once; the answer stays the same. For a draft model or one MTP head, and targets "
        "with attention layers only; elsewhere a chain is drafted, and the reason is said."
    )
    if not tree_words:
        return why
    return tr("{why} With this model, on this device: {tree_words}").format(why=why, tree_words=tree_words)


def contexts(n_ctx_train: int, current: int) -> Iterator[tuple[int, str]]:
    """Yield the context lengths that the model can have, and the present one."""
    offered = {n for n in CONTEXTS if not n_ctx_train or n < n_ctx_train} | {n_ctx_train, current}
    for n in sorted(offered - {0}):
        yield n, tr("{n:,} tokens").format(n=n)
    yield (
        0,
        tr("As long as the model can: {n_ctx_train:,} tokens").format(n_ctx_train=n_ctx_train)
        if n_ctx_train
        else tr("As long as the model can"),
    )
