"""What a tokenizer is, read from a header as llama.cpp reads it, and whether two of them speak of the same tokens.

The rules are those by which llama.cpp accepts a draft model (``common_speculative_are_compatible`` in
``common/speculative.cpp``); the defaults are those of ``llama_vocab::impl::load`` in ``src/llama-vocab.cpp``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from app.engine.byte_cursor import ByteOrder, ByteSource
from app.engine.gguf import Array, GgufHeader
from app.errors import ModelFileError

VOCAB_SIZE_TOLERANCE = 128
"""Most by which two vocabularies may differ in size (llama.cpp, ``SPEC_VOCAB_MAX_SIZE_DIFFERENCE``)."""

FIRST_COMPARED_TOKEN = 5
"""Token texts are compared from this id on: the first few are often renamed (``SPEC_VOCAB_CHECK_START_TOKEN_ID``)."""

MAX_TEXTS_BYTES = 64 << 20
"""More than any vocabulary: the longest known takes 6 MB."""

NONE = -1
"""No such token (``LLAMA_TOKEN_NULL``)."""

_KINDS = {"llama": 1, "gpt2": 2, "hybriddna": 2, "whitespace": 2, "gemma4": 2, "bert": 3, "t5": 4, "rwkv": 5} | {
    "plamo2": 6,
    "no_vocab": 0,
    "none": 0,
}
_KIND_NAMES = ("none", "SentencePiece", "BPE", "WordPiece", "Unigram", "RWKV", "PLaMo-2")
_BOS_EOS = {
    "llama": (1, 2),
    "gpt2": (11, 11),
    "hybriddna": (11, 11),
    "whitespace": (11, 11),
    "bert": (101, NONE),
    "t5": (NONE, 1),
    "plamo2": (1, 2),
}
_PRE_ADDS_BOS = frozenset(
    ("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2")
) | {
    "jina-v5-nano",
    "tekken",
    "chameleon",
}
_PRE_WITHOUT_BOS = frozenset(("chatglm-bpe", "glm4", "glm5"))
_PRE_GEMMA4 = frozenset(("gemma4", "granite-embed-multi-311m"))


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """What decides, beside the texts, whether tokens of one model mean the same to another.

    ``kind`` is llama.cpp's number of the tokenizer type; ``bos`` and ``eos`` are -1 where there is none.
    """

    kind: int
    n_tokens: int
    bos: int
    eos: int
    adds_bos: bool
    adds_eos: bool

    @property
    def kind_name(self) -> str:
        """Name of the tokenizer type."""
        return _KIND_NAMES[self.kind] if 0 <= self.kind < len(_KIND_NAMES) else f"type {self.kind}"


def tokenizer_of(header: GgufHeader) -> Tokenizer | None:
    """Return what a header says, with llama.cpp's defaults; None for a tokenizer that llama.cpp does not know."""
    model, pre = header.text("tokenizer.ggml.model") or "", header.text("tokenizer.ggml.pre") or ""
    if model not in _KINDS:
        return None
    pre = "gemma4" if model == "gemma4" else pre
    kind, n_tokens = _KINDS[model], header.n_vocab or 0
    bos, eos = _BOS_EOS.get(model, (NONE, NONE))
    if kind == 2 and pre in _PRE_WITHOUT_BOS:
        bos = NONE
    adds_bos = kind in (1, 3) or (kind == 2 and pre in _PRE_ADDS_BOS)
    told_bos, told_eos = header.flag("tokenizer.ggml.add_bos_token"), header.flag("tokenizer.ggml.add_eos_token")
    adds_eos = kind == 4 if told_eos is None else told_eos
    adds_bos = adds_bos if told_bos is None else told_bos
    return Tokenizer(
        kind,
        n_tokens,
        _special(header, "bos", bos, n_tokens),
        _special(header, "eos", eos, n_tokens),
        adds_bos or (kind == 2 and pre in _PRE_GEMMA4),
        adds_eos,
    )


def _special(header: GgufHeader, name: str, default: int, n_tokens: int) -> int:
    told = header.integer(f"tokenizer.ggml.{name}_token_id")
    if told is not None and 0 <= told < n_tokens:
        return told
    return default if default < n_tokens else NONE


def why_not(target: Tokenizer, draft: Tokenizer) -> list[str]:
    """Return every rule but that of the texts by which draft tokens do not mean the same to the target; [] if none."""
    reasons = []
    if target.kind != draft.kind:
        kinds = f"{target.kind_name} in the target and {draft.kind_name} in the draft"
        reasons.append(f"The tokenizers are of different types: {kinds}.")
    rules = (
        ("a begin", target.adds_bos, draft.adds_bos, target.bos, draft.bos),
        ("an end", target.adds_eos, draft.adds_eos, target.eos, draft.eos),
    )
    for what, ours_added, theirs_added, ours, theirs in rules:
        if ours_added != theirs_added:
            who = "target" if ours_added else "draft"
            reasons.append(f"Only the {who}'s tokenizer adds {what}-of-text token.")
        elif ours_added and ours != theirs:
            reasons.append(f"The {what.split()[1]}-of-text tokens differ: {ours} in the target, {theirs} in the draft.")
    difference = abs(target.n_tokens - draft.n_tokens)
    if difference > VOCAB_SIZE_TOLERANCE:
        reasons.append(
            f"The vocabularies differ by {difference} tokens ({target.n_tokens} and {draft.n_tokens});"
            f" at most {VOCAB_SIZE_TOLERANCE} are allowed."
        )
    return reasons


# --- texts ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TokenTexts:
    """The texts of a vocabulary as the file has them: of each its length (8 bytes), then its bytes."""

    raw: bytes
    n: int
    order: ByteOrder

    def __iter__(self) -> Iterator[bytes]:
        at, raw, order = 0, self.raw, self.order
        for _ in range(self.n):
            start = at + 8
            at = start + int.from_bytes(raw[at:start], order)
            yield raw[start:at]

    @property
    def fingerprint(self) -> str:
        """The same for vocabularies with the same texts, the first few apart."""
        return hashlib.sha256(self._compared()).hexdigest()[:16]

    def _compared(self) -> memoryview:
        at = 0
        for _ in range(min(FIRST_COMPARED_TOKEN, self.n)):
            at += 8 + int.from_bytes(self.raw[at : at + 8], self.order)
        return memoryview(self.raw)[at:]

    def starts_like(self, other: TokenTexts) -> bool:
        """Tell whether the bytes of one are the beginning of the other's; says nothing if not."""
        ours, theirs = self._compared(), other._compared()
        n = min(len(ours), len(theirs))
        return self.order == other.order and ours[:n] == theirs[:n]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first token whose texts differ."""

    token: int
    target: str
    draft: str

    def __str__(self) -> str:
        return f"Token {self.token} is {self.target!r} in the target and {self.draft!r} in the draft."


def read_texts(source: ByteSource, header: GgufHeader) -> TokenTexts:
    """Read the texts of a vocabulary, in one piece.

    Raises:
        ModelFileError: there are none, or they take more than any vocabulary does.
    """
    tokens = header.metadata.get("tokenizer.ggml.tokens")
    if not isinstance(tokens, Array) or tokens.element != "text":
        raise ModelFileError(f"{header.file_name} holds no vocabulary.", "Choose a GGUF made by llama.cpp.")
    if tokens.n_bytes > MAX_TEXTS_BYTES:
        raise ModelFileError(f"{header.file_name} claims a vocabulary of {tokens.n_bytes >> 20} MiB.", "Is it a model?")
    return TokenTexts(source.read(tokens.offset, tokens.n_bytes), tokens.n, header.byte_order)


def first_difference(target: TokenTexts, draft: TokenTexts) -> Difference | None:
    """Return the first token, from the fifth on, whose texts differ; None if there is none in the shorter one."""
    if target.starts_like(draft):
        return None
    for token, (ours, theirs) in enumerate(zip(target, draft, strict=False)):
        if ours != theirs and token >= FIRST_COMPARED_TOKEN:
            pair = _as_llama_cpp_has_it(ours, token), _as_llama_cpp_has_it(theirs, token)
            if pair[0] != pair[1]:
                return Difference(token, *(text.decode(errors="replace") for text in pair))
    return None


def _as_llama_cpp_has_it(text: bytes, token: int) -> bytes:
    """Return a text as it is compared there: C strings, which end at a zero byte; an empty one has a name."""
    return (text or f"[EMPTY_{token}]".encode()).split(b"\0")[0]
