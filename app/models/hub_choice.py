"""Which files of a repository ``org/name[:quant]`` means, by the rules of llama.cpp's ``-hf``.

A tag is looked for anywhere in the path, followed by a dot or a dash; without one Q4_K_M is preferred, then Q8_0,
then the first model there is. Of a split model the first part stands for all. Image projectors, importance matrices and
draft heads are no models. Source: ``common/download.cpp``, ``find_best_model``, ``find_best_sibling``,
``get_split_files``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from app.errors import HubNotFoundError
from app.models.remote import RemoteFile, check_repo

Sidecar = Literal["mtp-", "eagle3-", "dflash-", "dspark-", "mmproj"]

_NO_MODELS = ("mmproj", "imatrix", "mtp-", "eagle3-", "dflash-", "dspark-")
_DEFAULT_TAGS = ("Q4_K_M", "Q8_0")
_SPLIT = re.compile(r"^(.+)-([0-9]{5})-of-([0-9]{5})$", re.IGNORECASE)
_TAG = re.compile(r"[-.]([A-Z0-9_]+)$", re.IGNORECASE)
_QUANTISATION = re.compile(
    r"(?:UD-)?(?:I?Q\d+(?:_[A-Z0-9]+)*|TQ\d_\d|BF16|F16|F32|MXFP4(?:_MOE)?|NVFP4)", re.IGNORECASE
)
_HOSTS = ("huggingface.co/", "hf.co/", "www.huggingface.co/")
_N_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person asked for: a repository, perhaps a tag in it, or one file, perhaps at a revision."""

    repo: str
    tag: str = ""
    path: str = ""
    revision: str | None = None

    @property
    def title(self) -> str:
        """Write it as it would be asked for again."""
        return f"{self.repo}:{self.tag}" if self.tag else self.repo


def read_name(text: str, endpoint: str = "") -> Wanted:
    """Read ``org/name``, ``org/name:tag``, ``hf.co/org/name:tag`` or the address of a repository or a file of it.

    Raises:
        UsageError: it is none of these.
    """
    words = text.strip().removeprefix("https://").removeprefix("http://")
    own_host = endpoint.split("://", 1)[-1].rstrip("/") + "/"
    for host in (*_HOSTS, own_host):
        if len(host) > 1 and words.lower().startswith(host.lower()):
            words = words[len(host) :]
            break
    words = words.split("?", 1)[0].split("#", 1)[0].strip("/")
    parts = [unquote(part) for part in words.split("/")]  # refs%2Fpr%2F1 is one part, and a revision
    if len(parts) > 4 and parts[2] in ("blob", "resolve", "raw"):
        revision = None if parts[3] == "main" else parts[3]
        return Wanted(check_repo("/".join(parts[:2])), path="/".join(parts[4:]), revision=revision)
    if len(parts) > 3 and parts[2] == "tree":
        return Wanted(check_repo("/".join(parts[:2])), revision=None if parts[3] == "main" else parts[3])
    repo, *tags = words.split(":")
    return Wanted(check_repo(repo), tag=tags[-1] if tags else "")


def choose(files: Sequence[RemoteFile], wanted: Wanted) -> tuple[RemoteFile, ...]:
    """Return the files that are meant: one, or all parts of a split model in order.

    Raises:
        HubNotFoundError: nothing there fits, with what there is; or a part is missing.
    """
    if wanted.path:
        first = next((file for file in files if file.path == wanted.path), None)
    else:
        first = _best_model(files, wanted.tag)
    if first is None:
        raise HubNotFoundError(_nothing_fits(files, wanted), _what_there_is(files))
    return _all_parts(files, first)


def sidecar(files: Iterable[RemoteFile], model: RemoteFile, keyword: Sidecar, tag: str = "") -> RemoteFile | None:
    """Return the companion of a model whose name holds ``keyword``: the nearest folder, the tag, the nearest bits.

    llama.cpp looks in the model's folder and those above it. Where it would find none, a folder beside the model is
    looked into too: some publishers keep their heads in ``MTP/``.
    """
    wanted_bits = _bits(tag.upper() if tag else _tag(model.path))
    folders = model.path.split("/")[:-1]

    def rank(file: RemoteFile) -> tuple[int, bool, int]:
        is_exact = bool(tag) and f"-{tag.upper()}." in file.path.upper()
        return -file.path.count("/"), not is_exact, abs(_bits(_tag(file.path)) - wanted_bits)

    found = [file for file in files if file.path.endswith(".gguf") and keyword in file.path]
    above = [file for file in found if _is_above(file.path.split("/")[:-1], folders)]
    beside = [file for file in found if "/" in file.path and _is_above(file.path.split("/")[:-2], folders)]
    return min(above or beside, key=rank, default=None)  # the first of equals, as llama.cpp takes it


def models_of(files: Sequence[RemoteFile]) -> list[tuple[RemoteFile, ...]]:
    """Return every model of a repository, the parts of a split one together; what lacks a part is left out."""
    parts: dict[tuple[str, int], list[RemoteFile]] = {}  # a hub may list tens of thousands
    for file in files:
        parts.setdefault((_prefix(file.path), _part(file.path)[1]), []).append(file)
    found = []
    for file in files:
        if _is_model(file.path) and _part(file.path)[0] == 1:
            with suppress(HubNotFoundError):
                found.append(_all_parts(parts[_prefix(file.path), _part(file.path)[1]], file))
    return found


def tags_of(files: Iterable[RemoteFile]) -> list[str]:
    """Return the quantisations that a repository has models in, each once, in the order of its files."""
    found = (_QUANTISATION.findall(_stem(file.path)) for file in files if _is_model(file.path))
    return list(dict.fromkeys(tags[-1].upper() for tags in found if tags))


def _best_model(files: Iterable[RemoteFile], tag: str) -> RemoteFile | None:
    models = [file for file in files if _is_model(file.path) and _part(file.path)[0] == 1]
    for wanted in (tag,) if tag else _DEFAULT_TAGS:
        pattern = re.compile(re.escape(wanted) + "[.-]", re.IGNORECASE)
        for file in models:
            if pattern.search(file.path):
                return file
    return None if tag else next(iter(models), None)


def _all_parts(files: Iterable[RemoteFile], first: RemoteFile) -> tuple[RemoteFile, ...]:
    _, n = _part(first.path)
    if n <= 1:
        return (first,)
    prefix = _prefix(first.path)
    parts = {_part(file.path)[0]: file for file in files if _part(file.path)[1] == n and _prefix(file.path) == prefix}
    missing = next((index for index in range(1, n + 1) if index not in parts), None)
    if missing is not None:
        raise HubNotFoundError(
            f"{first.repo} lacks part {missing} of {n} of {prefix}.", "Take another quantisation or repository."
        )
    return tuple(parts[index] for index in range(1, n + 1))


def _is_model(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name.endswith(".gguf") and not any(word in name for word in _NO_MODELS)


def _is_above(folders: list[str], below: list[str]) -> bool:
    return below[: len(folders)] == folders


def _stem(path: str) -> str:
    return path.removesuffix(".gguf")


def _part(path: str) -> tuple[int, int]:
    match = _SPLIT.match(_stem(path))
    return (int(match[2]), int(match[3])) if match else (1, 1)


def _prefix(path: str) -> str:
    match = _SPLIT.match(_stem(path))
    return match[1] if match else _stem(path)


def _tag(path: str) -> str:
    match = _TAG.search(_prefix(path)) if path.endswith(".gguf") else None
    return match[1].upper() if match else ""


def _bits(tag: str) -> int:
    digits = re.search(r"\d+", tag)
    return int(digits[0]) if digits else 0


def _nothing_fits(files: Sequence[RemoteFile], wanted: Wanted) -> str:
    if wanted.path:
        return f"{wanted.repo} has no file {wanted.path}."
    if wanted.tag and any(_is_model(file.path) for file in files):
        return f"{wanted.repo} has no model in {wanted.tag}."
    return f"{wanted.repo} has no GGUF model."


def _what_there_is(files: Sequence[RemoteFile]) -> str:
    tags = tags_of(files)
    if tags:
        more = ", …" if len(tags) > _N_SHOWN else ""
        return f"It has: {', '.join(tags[:_N_SHOWN])}{more}."
    names = [file.path for file in files if file.path.endswith(".gguf")][:_N_SHOWN]
    if names:
        return f"Its GGUF files: {', '.join(names)}."
    return "Look for a repository of the same model whose name ends in -GGUF: search."
