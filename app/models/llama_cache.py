"""The cache of llama.cpp, read in place.

Today ``-hf`` keeps its files as the hub's own client does (:mod:`app.models.hub_cache`), in ``LLAMA_CACHE`` or in the
hub's cache. Before, and still for files by address and from Docker, they lie flat:

    org_name_file.gguf                   with file.gguf.json (older) or file.gguf.etag beside it
    manifest=org=name=tag.json           names the file: {"ggufFile": {"rfilename": …}}

Source: ``common/hf-cache.cpp``, ``common/download.cpp`` and ``common/common.cpp`` of llama.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import msgspec

from app.engine.parts import whole_name
from app.models import hub_cache
from app.models.found import Found, entries_of, gguf_files, read_note

_MANIFEST, _ENDING = "manifest=", ".json"


class _File(msgspec.Struct, frozen=True):
    rfilename: str = ""


class _Manifest(msgspec.Struct, frozen=True):
    ggufFile: _File | None = None  # noqa: N815 - the hub's own name


class _Beside(msgspec.Struct, frozen=True):
    url: str = ""


def find(folder: Path) -> Iterator[Found]:
    """Yield the GGUF files of a cache, in either layout."""
    yield from hub_cache.find(folder, "llama.cpp")
    known = dict(_from_manifests(folder))
    for path in gguf_files(folder, depth=0):
        name, repo = known.get(path.name) or _from_address(path) or (path.stem, "")
        yield Found(path, whole_name(name), "llama.cpp", repo)


def _from_manifests(folder: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each flat file name that a manifest tells of, with the file's own name and its repository."""
    for entry in entries_of(folder):
        if not (entry.name.startswith(_MANIFEST) and entry.name.endswith(_ENDING)):
            continue
        parts = entry.name.removeprefix(_MANIFEST).removesuffix(_ENDING).split("=")
        manifest = read_note(Path(entry.path), _Manifest)
        if len(parts) < 3 or manifest is None or manifest.ggufFile is None:
            continue
        repo, file_name = "/".join(parts[:2]), manifest.ggufFile.rfilename
        yield f"{repo}/{file_name}".replace("/", "_"), (PurePosixPath(file_name).stem, repo)


def _from_address(path: Path) -> tuple[str, str] | None:
    """Return name and repository of a file whose address was kept beside it."""
    beside = read_note(path.with_name(path.name + _ENDING), _Beside)
    if beside is None:
        return None
    try:
        parts = unquote(urlsplit(beside.url).path).strip("/").split("/")
    except ValueError:
        return None
    if len(parts) < 5 or parts[2] != "resolve" or not parts[-1].lower().endswith(".gguf"):
        return None
    return PurePosixPath(parts[-1]).stem, "/".join(parts[:2])
