"""What a model hub has, as values: files, repositories, search results, and what is pulled as one thing."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePosixPath

import msgspec

from app.errors import DownloadError, UsageError

_LONGEST_NAME = 96
_LONGEST_PATH = 400
_LONGEST_PART_BYTES = 200
"""File systems take 255 bytes; what is kept beside a file has some letters more in its name."""
_WINDOWS_NAMES = {"con", "prn", "aux", "nul", "conin$", "conout$"}
_WINDOWS_NAMES |= {f"{kind}{n}" for kind in ("com", "lpt") for n in "0123456789\u00b9\u00b2\u00b3"}
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|git:[0-9a-f]{40}")
_UNFIT = frozenset('<>:"|?*\\')


class RemoteFile(msgspec.Struct, frozen=True):
    """One file of a repository at one commit.

    ``digest`` is ``sha256:…`` of the bytes, or ``git:…`` (git's own hash of a small file that is not in LFS).
    """

    repo: str
    commit: str
    path: str
    n_bytes: int
    digest: str

    @property
    def name(self) -> str:
        """Name without the folders."""
        return self.path.rsplit("/", 1)[-1]


class Repository(msgspec.Struct, frozen=True):
    """A repository at one commit; ``licence`` is the publisher's word for it, "" if there is none."""

    repo: str
    commit: str
    is_gated: bool
    licence: str
    files: tuple[RemoteFile, ...]


class FoundModel(msgspec.Struct, frozen=True):
    """One result of a search; ``updated`` is a date as ``2026-11-30``, "" if unknown."""

    repo: str
    is_gated: bool
    licence: str
    n_downloads: int
    n_likes: int
    updated: str


class Item(msgspec.Struct, frozen=True):
    """What is pulled as one thing with one progress: a model, all parts of a split one, or a pair."""

    title: str
    files: tuple[RemoteFile, ...]

    @property
    def n_bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.n_bytes for file in self.files)


def pair(target: Item, draft: Item) -> Item:
    """Make one item of a target and its drafter; a file that both have is pulled once."""
    return Item(f"{target.title} + {draft.title}", tuple(dict.fromkeys((*target.files, *draft.files))))


def make_hash(file: RemoteFile) -> hashlib._Hash:
    """Return the running hash whose end is the digest of the file.

    Raises:
        DownloadError: the hub named no hash that we know.
    """
    check_digest(file)
    if file.digest.startswith("sha256:"):
        return hashlib.sha256()
    return hashlib.sha1(b"blob %d\0" % file.n_bytes, usedforsecurity=False)  # git hashes a header and the bytes


def is_digest(text: str) -> bool:
    """Tell whether something is a hash that we know; parts are named by it, so nothing else may pass."""
    return _DIGEST.fullmatch(text) is not None


def check_digest(file: RemoteFile) -> None:
    """Refuse a file that could not be checked.

    Raises:
        DownloadError: the hub named no hash that we know.
    """
    if not is_digest(file.digest):
        raise DownloadError(
            f"The hub names no hash of {file.path}, so it could not be checked.", "Take another file or repository."
        )


def is_sound(item: Item) -> bool:
    """Tell whether an item, as a note on the disk has it, could have been made by us."""
    return all(is_safe_path(file.path) and is_digest(file.digest) and is_repo(file.repo) for file in item.files)


def check_repo(repo: str) -> str:
    """Return the name if it is one of a repository: an organisation and a name.

    Raises:
        UsageError: it is not.
    """
    if not is_repo(repo):
        raise UsageError(f"{repo[:120]!r} is not the name of a repository.", "Write org/name or org/name:Q4_K_M.")
    return repo


def is_repo(text: str) -> bool:
    """Tell whether words are the name of a repository."""
    parts = text.split("/")
    return len(parts) == 2 and all(_is_plain(part) for part in parts)


def _is_plain(part: str) -> bool:
    is_short = 0 < len(part) <= _LONGEST_NAME
    letters = part.replace("-", "").replace("_", "").replace(".", "")
    return is_short and letters.isascii() and letters.isalnum() and not part.startswith(".") and not part.endswith(".")


def is_safe_path(path: str) -> bool:
    """Tell whether a file of that path may be written below a folder of ours, on every system."""
    parts = path.split("/")
    return (
        0 < len(path) <= _LONGEST_PATH
        and PurePosixPath(path).as_posix() == path
        and all(_is_safe_part(part) for part in parts)
    )


def _is_safe_part(part: str) -> bool:
    is_name = part.isprintable() and not part.startswith(".") and not part.endswith((".", " ")) and part != ""
    return (
        is_name
        and not _UNFIT & set(part)
        and part.split(".")[0].rstrip().lower() not in _WINDOWS_NAMES
        and len(part.encode()) <= _LONGEST_PART_BYTES
    )
