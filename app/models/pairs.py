"""Which drafter fits which target, and in words why or why not, from their headers alone.

The rules are those that decide at load: llama.cpp's own, and what the engine refuses before llama.cpp would abort
(:mod:`app.engine.loading`, :mod:`app.engine.heads`, :mod:`app.engine.vocabulary`). So the answer before a download is
the answer after it (``tests/models/test_pairs.py`` compares them).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from app.engine import architectures, vocabulary
from app.engine.anatomy import anatomy_of
from app.engine.byte_cursor import ByteSource, FileSource
from app.engine.gguf import GgufHeader, check_length, parse_header
from app.engine.heads import are_heads, can_chain, has_embedded_heads, is_assistant, n_nextn_layers, why_not_for
from app.engine.model_kinds import what_else
from app.engine.parts import joined, read_whole
from app.engine.vocabulary import TokenTexts, first_difference, read_texts, tokenizer_of
from app.errors import ModelFileError
from app.models.cautions import cautions
from app.models.memory import PairMemory, Share
from app.protocol import SpecType

Fit = Literal["fits", "fits with warnings", "does not fit"]
Kind = Literal["embedded heads", "heads in a file", "assistant", "draft model", "n-gram"]

SPEC_TYPES: dict[Kind, SpecType] = {
    "embedded heads": "draft-mtp",
    "heads in a file": "draft-mtp",
    "assistant": "draft-mtp",
    "draft model": "draft-simple",
    "n-gram": "ngram",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model file as far as pairs need to know it; ``texts`` are the vocabulary's, None where there is none."""

    name: str
    header: GgufHeader
    texts: TokenTexts | None
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a way of drafting fits a target.

    ``reasons`` say why not, or what was compared; ``warnings`` what to expect though it fits.
    """

    target: str
    draft: str | None
    kind: Kind
    fits: bool
    reasons: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    memory: PairMemory | None = None

    @property
    def fit(self) -> Fit:
        """The answer in a word or three."""
        if not self.fits:
            return "does not fit"
        return "fits with warnings" if self.warnings else "fits"


def candidate_of_file(path: Path, name: str = "", n_bytes: int = 0, *, target: GgufHeader | None = None) -> Candidate:
    """Read what pairs need of a file on this machine.

    Args:
        path: the file, or the first part of a split model.
        name: what to call it.
        n_bytes: of all parts, where that is known.
        target: of what it may draft for: where its tokenizer rules that out, the vocabulary is not read.

    Raises:
        ModelError: it is not there, or is not a sound and complete GGUF.
    """
    header = read_whole(path)
    if not needs_texts(header, target):
        return Candidate(name or path.stem, header, None, n_bytes or header.n_file_bytes)
    try:
        with path.open("rb") as file:
            texts = _texts(FileSource(path.name, path.stat().st_size, file), header)
    except OSError as fault:
        raise ModelFileError(f"{path} cannot be read: {fault.strerror}.", "Is the disk still there?") from fault
    return Candidate(name or path.stem, header, texts, n_bytes or header.n_file_bytes)


def candidate_of_sources(sources: Sequence[ByteSource], name: str = "") -> Candidate:
    """Read what pairs need of a model that is elsewhere; the vocabulary is read twice, so a source should keep it.

    Args:
        sources: the file, or all parts in their order.
        name: what to call it.

    Raises:
        ModelFileError: it is not a sound GGUF.
    """
    first, *others = (parse_header(source) for source in sources)
    for part in (first, *others):
        check_length(part)
    header = joined(first, others)
    return Candidate(name or first.file_name, header, _texts(sources[0], header), header.n_file_bytes)


def needs_texts(header: GgufHeader, target: GgufHeader | None) -> bool:
    """Tell whether a vocabulary has to be read to judge a file, as drafter for a target if one is given."""
    tokenizer = tokenizer_of(header)
    if tokenizer is None or tokenizer.kind == 0:
        return False
    ours = tokenizer_of(target) if target is not None else None
    return ours is None or not vocabulary.why_not(ours, tokenizer)


def _texts(source: ByteSource, header: GgufHeader) -> TokenTexts | None:
    tokenizer = tokenizer_of(header)
    return None if tokenizer is None or tokenizer.kind == 0 else read_texts(source, header)


# --- judging ----------------------------------------------------------------------------------------


def judge(target: Candidate, draft: Candidate | None, device: str = "cpu") -> Judgement:
    """Tell whether a draft file fits a target; without one, whether its own heads can draft, or else n-grams."""
    if draft is not None:
        return _judge_file(target, draft, device)
    return judge_own_heads(target, device) if has_embedded_heads(target.header) else judge_ngram(target, device)


def judge_ngram(target: Candidate, device: str = "cpu") -> Judgement:
    """Tell whether drafts from the text itself can be verified by a target; no second model is needed."""
    reasons = [*why_no_target(target.header), *_why_no_rewind(target.header)]
    said = reasons or ["N-gram drafts come from the text itself and need no second model."]
    warnings = cautions(target.header, None, device) if not reasons else ()
    return Judgement(target.name, None, "n-gram", not reasons, tuple(said), warnings)


def judge_own_heads(target: Candidate, device: str = "cpu") -> Judgement:
    """Tell whether the heads inside a target can draft for it."""
    header = target.header
    reasons = [*why_no_target(header), *_why_no_rewind(header)]
    if not has_embedded_heads(header):
        reasons.append("The target has no MTP heads that llama.cpp can run.")
    reasons += _why_not_so_many(header)
    said = reasons or [_plural(n_nextn_layers(header), "MTP head") + " in the target itself."]
    warnings = cautions(header, None, device) if not reasons else ()
    return Judgement(target.name, None, "embedded heads", not reasons, tuple(said), warnings)


def _judge_file(target: Candidate, draft: Candidate, device: str) -> Judgement:
    ours, theirs = target.header, draft.header
    kind: Kind = "assistant" if is_assistant(theirs) else "heads in a file" if are_heads(theirs) else "draft model"
    reasons = [*why_no_target(ours), *_why_no_rewind(ours), *_why_no_model(theirs, "draft")]
    if kind == "draft model":
        reasons += _why_no_draft_model(theirs)
    else:
        reasons += _why_no_heads(ours, theirs)
    reasons += _why_other_words(target, draft)
    if reasons:
        return Judgement(target.name, draft.name, kind, fits=False, reasons=tuple(reasons))
    return Judgement(
        target.name, draft.name, kind, True, tuple(_what_agrees(target, draft, kind)), cautions(ours, theirs, device)
    )


def with_memory(judgement: Judgement, memory: PairMemory) -> Judgement:
    """Add what the pair takes, and what follows from that."""
    never = [share for share in memory.by_device if not share.can_ever_fit]
    if never:
        reasons = tuple(_too_much(share, memory) for share in never)
        return replace(judgement, fits=False, reasons=(*judgement.reasons, *reasons), memory=memory)
    warnings = judgement.warnings
    shorter = f"a context of {memory.n_ctx_max} fits" if memory.n_ctx_max else "close other programs first"
    for share in memory.by_device:
        need, free = share.n_bytes / 1e9, share.room.free_bytes / 1e9
        if not share.room.is_known:
            warnings += (
                f"{share.room.device} does not tell how much memory it has; it would take {need:.1f} GB there.",
            )
        elif not share.fits:
            where = _where(share, memory)
            warnings += (f"It takes {need:.1f} GB{where} and {free:.1f} GB are free now: {shorter}.",)
    return replace(judgement, warnings=warnings, memory=memory)


def _too_much(share: Share, memory: PairMemory) -> str:
    need, total = share.n_bytes / 1e9, share.room.total_bytes / 1e9
    if share.room == memory.room:
        return f"It takes {need:.1f} GB with a context of {memory.n_ctx}; this machine has {total:.1f} GB."
    return f"It takes {need:.1f} GB on {share.room.device} with a context of {memory.n_ctx}; that has {total:.1f} GB."


def _where(share: Share, memory: PairMemory) -> str:
    return "" if share.room == memory.room else f" on {share.room.device}"


# --- rules ------------------------------------------------------------------------------------------


def why_no_target(header: GgufHeader) -> list[str]:
    """Return why a file cannot be a target at all; [] if it can."""
    reasons = _why_no_model(header, "target")
    if are_heads(header):
        reasons.append("The target file holds nothing but MTP heads: it only drafts for another model.")
    return reasons


def _why_no_model(header: GgufHeader, which: str) -> list[str]:
    """Return why llama.cpp would not load a file, or not to continue a text with it."""
    architecture = header.architecture
    reasons = []
    if what := what_else(header):
        reasons.append(f"The {which} file is {what}, not a language model: speculation drafts text only.")
    elif architecture not in architectures.KNOWN:
        reasons.append(f"llama.cpp does not know the {which}'s architecture “{architecture}” in this version.")
    if not header.tensors and header.split[1] == 1:
        reasons.append(f"The {which} file holds no weights.")
    if header.byte_order != sys.byteorder:
        reasons.append(f"The {which} file is {header.byte_order}-endian; this machine is {sys.byteorder}-endian.")
    if tokenizer_of(header) is None:
        said = header.text("tokenizer.ggml.model") or ""
        reasons.append(f"llama.cpp does not know the {which}'s tokenizer “{said}”.")
    return reasons


def _why_no_rewind(target: GgufHeader) -> list[str]:
    architecture = target.architecture
    if architectures.has_state(architecture) and architecture not in architectures.REWINDS_STATES:
        return [f"The target keeps a running state that llama.cpp cannot rewind for {architecture}."]
    return []


def _why_no_draft_model(draft: GgufHeader) -> list[str]:
    if architectures.has_state(draft.architecture):
        return ["The draft model keeps a running state (recurrent layers), which cannot be rewound token by token."]
    return []


def _why_not_so_many(heads: GgufHeader) -> list[str]:
    n = n_nextn_layers(heads)
    if n > 1 and not can_chain(heads.architecture):
        return [f"The file has {n} MTP heads; llama.cpp runs one of architecture {heads.architecture}."]
    return []


def _why_no_heads(target: GgufHeader, heads: GgufHeader) -> list[str]:
    reason = why_not_for(target, heads)
    reasons = [] if reason is None else [reason]
    row, made = anatomy_of(heads).n_embd_in, anatomy_of(target).n_embd
    if row != made:
        reasons.append(f"The heads take rows of {row} numbers; the target makes rows of {made}.")
    return reasons + _why_not_so_many(heads)


def _why_other_words(target: Candidate, draft: Candidate) -> list[str]:
    ours, theirs = tokenizer_of(target.header), tokenizer_of(draft.header)
    if ours is None or theirs is None:
        return []  # said already
    reasons = vocabulary.why_not(ours, theirs)
    if target.texts is not None and draft.texts is not None:
        difference = first_difference(target.texts, draft.texts)
        reasons += [str(difference)] if difference is not None else []
    return reasons


# --- words ------------------------------------------------------------------------------------------


def _what_agrees(target: Candidate, draft: Candidate, kind: Kind) -> Sequence[str]:
    ours, theirs = tokenizer_of(target.header), tokenizer_of(draft.header)
    said = []
    if ours is not None and theirs is not None:
        sizes = f"{ours.n_tokens}" if ours.n_tokens == theirs.n_tokens else f"{ours.n_tokens} and {theirs.n_tokens}"
        said.append(
            f"Both use a {ours.kind_name} tokenizer with {sizes} tokens, whose texts are the same"
            f" from token {vocabulary.FIRST_COMPARED_TOKEN} on."
        )
    if kind != "draft model":
        anatomy = anatomy_of(draft.header)
        said.append(f"The heads take the target's rows of {anatomy.n_embd_in} numbers.")
    if kind == "assistant":
        said.append("The assistant reads the target's memory, whose layers have the shape that it expects.")
    return said


def _plural(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
