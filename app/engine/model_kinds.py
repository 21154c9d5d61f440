"""Files that are sound and no language models: what they are, and what to do with them.

Speculation drafts text, and this program shows text: halves of multimodal models, embedding models, speech, diffusion
and image generators are recognised by their headers, before anything is loaded.

Sources: ``src/llama-arch.cpp``, ``llama_model_is_diffusion`` and ``tools/mtmd/clip.cpp`` of the pinned llama.cpp; names
of image generators as their converters write them.
"""

from __future__ import annotations

from pathlib import Path

from app.engine.gguf import GgufHeader
from app.errors import ModelFileError

_MAIN_FILE = "Choose the model's main file."
_CHAT_MODEL = "Choose a chat model."

_TYPES = {
    "adapter": "an adapter (LoRA)",
    "imatrix": "an importance matrix",
    "vocab": "a vocabulary",
}


def _each(words: str, what: str) -> dict[str, str]:
    return dict.fromkeys(words.split(), what)


_ARCHITECTURES = {
    **_each(
        "bert modern-bert nomic-bert nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert gemma-embedding "
        "llama-embed t5encoder",
        "an embedding model, which turns text into numbers",
    ),
    **_each("t5", "a model that rewrites one text as another"),
    **_each("dream llada llada-moe rnd1", "a diffusion model, which writes all of a text at once"),
    **_each("wavtokenizer-dec qwen3tts", "a part of a speech model"),
    **_each("whisper", "a speech recogniser"),
    **_each("eagle3 dflash", "a drafter of a kind that this version does not use"),
    **_each(
        "flux sd1 sdxl sd3 aura hidream cosmos hyvid wan ltxv lumina2 qwen_image z_image",
        "an image or video generator",
    ),
}

MULTIMODAL = frozenset(
    ("qwen2vl", "qwen3vl", "qwen3vlmoe", "cogvlm", "hunyuan_vl", "paddleocr", "deepseek2-ocr", "chameleon")
)
"""Language models that were trained to see, too."""

_POOLS, _RANKS = (1, 2, 3), 4
"""``enum llama_pooling_type``: a file that names one gives one row for a text; rank gives one number."""


def what_else(header: GgufHeader) -> str:
    """Return what a file is that does not answer in text, as “an embedding model”; "" for a language model."""
    if header.kind == "mmproj":
        return _half(header)
    if header.kind != "model":
        return _TYPES.get(header.kind, f"of type “{header.kind}”")
    if known := _ARCHITECTURES.get(header.architecture):
        return known
    pooling = header.of_architecture("pooling_type")
    if pooling == _RANKS:
        return "a reranking model, which gives a text a mark"
    return "an embedding model, which turns text into numbers" if pooling in _POOLS else ""


def _half(header: GgufHeader) -> str:
    sees, hears = (header.flag(f"clip.has_{what}_encoder") for what in ("vision", "audio"))
    senses = " and ".join(name for name, has in (("image", sees), ("sound", hears)) if has) or "image"
    return f"the {senses} half of a multimodal model"


def hint_of(header: GgufHeader) -> str:
    """Return what to choose instead of a file that does not answer in text."""
    return _MAIN_FILE if header.kind != "model" else _CHAT_MODEL


def check_writes_text(header: GgufHeader) -> None:
    """Refuse a file that does not answer in text.

    Raises:
        ModelFileError: says what it is.
    """
    if what := what_else(header):
        raise ModelFileError(f"{header.file_name} is {what}, not a language model.", hint_of(header))


def is_multimodal(header: GgufHeader, path: Path) -> bool:
    """Tell whether a model also understands images or sound: by its architecture, or by the other half beside it."""
    return header.architecture in MULTIMODAL or any(path.parent.glob("*mmproj*.gguf"))
