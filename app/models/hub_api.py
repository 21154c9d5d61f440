"""The hub's answers to questions: read within bounds of bytes and time, and decoded into what we need of them.

A hub, or what stands in its place, may send without an end, or a byte now and then, or what takes a thousand times its
size once it is decoded. So a question has a time in all, an answer a length, and only the fields that are used are made
into values. What cannot be believed of them (names, hashes, sizes) does not leave this module.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec

from app.errors import HubError, UsageError
from app.models.deadline import within
from app.models.hub_faults import SIGN_IN_PAGE, Asked, in_words, not_a_hub, of_status
from app.models.hub_http import MAX_REDIRECTS, Access, opened, redirect_of
from app.models.remote import FoundModel, RemoteFile, Repository, check_repo, is_digest, is_repo, is_safe_path

MAX_API_BYTES = 16 << 20
"""Longer than the list of any repository: 50,000 files."""

_MAX_WORDS = 100
_COMMIT = re.compile(r"[0-9A-Za-z._-]{1,100}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

T = TypeVar("T")


class _Lfs(msgspec.Struct, frozen=True):
    sha256: str
    size: int


class _Sibling(msgspec.Struct, frozen=True):
    rfilename: str
    size: int | None = None
    blobId: str | None = None  # noqa: N815 - the hub's word
    lfs: _Lfs | None = None


class _Card(msgspec.Struct, frozen=True):
    license: msgspec.Raw = msgspec.Raw()
    license_name: msgspec.Raw = msgspec.Raw()


class _Model(msgspec.Struct, frozen=True):
    id: str
    sha: str | None = None
    gated: bool | str = False
    downloads: int | None = None
    likes: int | None = None
    lastModified: str | None = None  # noqa: N815 - the hub's word
    tags: msgspec.Raw = msgspec.Raw()
    cardData: msgspec.Raw = msgspec.Raw()  # noqa: N815 - the hub's word
    siblings: list[_Sibling] | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """One question: the path below the hub's address, and its parameters."""

    path: str
    parameters: Mapping[str, str | int | list[str]]


def search_query(words: str, limit: int) -> Query:
    """Ask for repositories with GGUF models, the most downloaded first."""
    wanted = ["downloads", "likes", "gated", "lastModified", "tags", "cardData"]
    how: dict[str, str | int | list[str]] = {"search": words, "filter": "gguf", "sort": "downloads", "limit": limit}
    return Query("/api/models", {**how, "expand": wanted})


def repository_query(repo: str, revision: str | None) -> Query:
    """Ask for what a repository holds, with sizes and hashes."""
    at = "" if revision is None else f"/revision/{quote(revision, safe='')}"
    return Query(f"/api/models/{repo}{at}", {"blobs": "true"})


def ask(access: Access, asked: Asked, query: Query, limit_s: float) -> bytes:
    """Return the hub's answer; what takes longer than ``limit_s`` in all is given up.

    Raises:
        PassingError: a fault that is worth another try.
        SlipstreamError: one that is not.
    """
    with in_words(asked):
        return within(limit_s, lambda: _body(access, asked, query, time.monotonic() + limit_s))


def _body(access: Access, asked: Asked, query: Query, until_s: float) -> bytes:
    url = f"{access.endpoint}{query.path}?{urlencode(query.parameters, doseq=True)}"
    for _ in range(MAX_REDIRECTS):
        with opened(url, access.headers(url), access.silence_s) as answer:
            target = redirect_of(answer, url)
            if target is None:
                if answer.status_code != 200:
                    raise of_status(answer.status_code, answer.headers, asked)
                if answer.headers.get("content-encoding", "identity") not in ("", "identity"):
                    raise HubError("Something on the way packs the hub's answers.", SIGN_IN_PAGE)
                return _bounded(answer.iter_raw(), asked, until_s)
        url = target
    raise not_a_hub(asked)


def understood(asked: Asked, body: bytes, read: Callable[[bytes], T]) -> T:
    """Read an answer.

    Raises:
        HubError: it is none of a hub.
    """
    try:
        return read(body)
    except (msgspec.MsgspecError, ValueError, RecursionError, UsageError) as fault:
        raise not_a_hub(asked) from fault


def _bounded(blocks: Iterator[bytes], asked: Asked, until_s: float) -> bytes:
    body = bytearray()
    for block in blocks:
        body += block
        if len(body) > MAX_API_BYTES:
            raise HubError(
                f"{asked.endpoint} sends an answer without an end: more than {MAX_API_BYTES >> 20} MB.", SIGN_IN_PAGE
            )
        if time.monotonic() > until_s:
            raise HubError("The hub's answer comes too slowly.", SIGN_IN_PAGE)
    return bytes(body)


# --- answers ------------------------------------------------------------------------------------------


def read_search(body: bytes, limit: int) -> list[FoundModel]:
    """Return the repositories of a list; one whose name is none is left out.

    Raises:
        ValueError: it is no list of repositories.
    """
    return [_found(one) for one in msgspec.json.decode(body, type=list[_Model])[:limit] if is_repo(one.id)]


def read_repository(body: bytes, asked: Asked, revision: str | None) -> Repository:
    """Return what a repository holds; files that could not be kept safely, or have no size, are left out.

    Raises:
        ValueError, UsageError: it is no repository.
    """
    info = msgspec.json.decode(body, type=_Model)
    commit = info.sha or revision or "main"
    if info.siblings is None or (info.sha is not None and not _COMMIT.fullmatch(commit)):
        raise ValueError(asked.repo)
    repo = check_repo(info.id)
    files: dict[str, RemoteFile] = {}
    for sibling in info.siblings:
        if (file := _file(repo, commit, sibling)) is not None:
            files.setdefault(file.path.casefold(), file)  # of two that are one on Windows the first
    return Repository(repo, commit, bool(info.gated), _licence(info), tuple(files.values()))


def _file(repo: str, commit: str, sibling: _Sibling) -> RemoteFile | None:
    size = sibling.lfs.size if sibling.lfs else sibling.size
    if size is None or not 0 <= size < 1 << 63 or not is_safe_path(sibling.rfilename):
        return None
    digest = (f"sha256:{sibling.lfs.sha256}" if sibling.lfs else f"git:{sibling.blobId}").lower()
    return RemoteFile(repo, commit, sibling.rfilename, size, digest if is_digest(digest) else "")


def _found(model: _Model) -> FoundModel:
    date = _DATE.match(model.lastModified or "")
    numbers = model.downloads or 0, model.likes or 0
    return FoundModel(model.id, bool(model.gated), _licence(model), *numbers, date[0] if date else "")


def _licence(model: _Model) -> str:
    """Return the licence that the publisher names; "other" has its name beside it."""
    card = _lenient(model.cardData, _Card) or _Card()
    named = [_lenient(card.license_name, str), _lenient(card.license, str)]
    tags = _lenient(model.tags, list[str]) or []
    named += [tag.removeprefix("license:") for tag in tags if tag.startswith("license:")]
    return next((word for word in named if word and word.isprintable() and len(word) <= _MAX_WORDS), "")


def _lenient(raw: msgspec.Raw, kind: type[T]) -> T | None:
    """Return what a part of an answer holds; None if that is something else."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
