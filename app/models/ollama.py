"""The models of Ollama, read in place: weights by hash, with manifests that say what they are called.

manifests/registry.ollama.ai/library/llama3.2/1b     {"layers": [{"mediaType", "digest", "size"}, …]}
blobs/sha256-<hash>                                  the bytes of a layer
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from app.models.found import Found, entries_of, folders_below, read_note

_MODEL = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")
_HOST, _NAMESPACE = "registry.ollama.ai", "library"
_DEPTH = 6


class _Layer(msgspec.Struct, frozen=True):
    mediaType: str = ""  # noqa: N815 - as in the manifest
    digest: str = ""


class _Manifest(msgspec.Struct, frozen=True):
    layers: tuple[_Layer, ...] = ()


def find(folder: Path) -> Iterator[Found]:
    """Yield the model files that manifests name."""
    top = folder / "manifests"
    notes = sorted(Path(entry.path) for here, _ in folders_below(top, _DEPTH) for entry in entries_of(here))
    for note in notes:
        manifest = read_note(note, _Manifest)
        digest = _model_of(manifest) if manifest is not None else None
        if digest is not None:
            yield Found(_blob(folder, digest), _name(note.relative_to(top).parts), "Ollama")


def _model_of(manifest: _Manifest) -> str | None:
    """Return the hash of the model's bytes; what is not a hash could lead anywhere, and is not followed."""
    for layer in manifest.layers:
        match = _DIGEST.fullmatch(layer.digest)
        if layer.mediaType == _MODEL and match is not None:
            return match[1]
    return None


def _blob(folder: Path, digest: str) -> Path:
    older = folder / "blobs" / f"sha256:{digest}"
    return older if older.exists() else folder / "blobs" / f"sha256-{digest}"


def _name(parts: tuple[str, ...]) -> str:
    """Return what Ollama's own list calls it: the usual host and namespace are left out."""
    if parts[0] == _HOST:
        parts = parts[1:]
        if len(parts) > 2 and parts[0] == _NAMESPACE:
            parts = parts[1:]
    return "/".join(parts[:-1]) + f":{parts[-1]}" if len(parts) > 1 else parts[0]
