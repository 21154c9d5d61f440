"""Releases of llama.cpp: which of its builds suit this machine, what their files are, and their bytes.

Where they are is in ``resources/runtimes.json``; ``SLIPSTREAM_RUNTIMES`` names another such file, for a mirror. A tag
is asked for its commit before anything is fetched, since only that of the pinned binding can be used, and the release
for the size and the sha256 of its file, with which the bytes are compared.
"""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from app.errors import (
    DownloadError,
    HubAccessError,
    HubError,
    HubNotFoundError,
    LoadError,
    NetworkError,
    RateLimitError,
    SettingsError,
    SlipstreamError,
    UsageError,
)
from app.models.hub_faults import PassingError
from app.models.hub_http import Access, Reply, ShortLimits, fetch_short, open_range
from app.models.patience import Patience
from app.models.remote import RemoteFile, is_safe_path
from app.paths import resource

_LIMITS = ShortLimits(4 << 20, 30.0)
"""A release tells of some thirty files, in about 100 kB."""

N_TRIES = 3
_T = TypeVar("_T")
REPO = "ggml-org/llama.cpp"
BY_HAND = "Or get a runtime another way, and add its folder, zip or tar.gz: python -m app runtime --add PATH"

_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")
_MACHINES = {"amd64": "x64", "x86_64": "x64", "aarch64": "arm64"}


class Build(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of a release's files: for which system and machine it is, and what it can compute on.

    ``sha256``, where somebody has put it down, is of the file of :attr:`Source.tag`: the release must tell the same.
    """

    name: str
    system: str
    machine: str
    file: str
    about: str
    sha256: str = ""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where releases are; the addresses have the places ``{tag}`` and ``{file}``."""

    commit: str
    tag: str
    ref_url: str
    release_url: str
    file_url: str
    builds: tuple[Build, ...]


class _Object(msgspec.Struct, frozen=True):
    sha: str


class _Ref(msgspec.Struct, frozen=True):
    object: _Object


class _Asset(msgspec.Struct, frozen=True):
    name: str
    size: int
    digest: str | None = None


class _Release(msgspec.Struct, frozen=True):
    assets: tuple[_Asset, ...]


def source() -> Source:
    """Return where releases are.

    Raises:
        SettingsError: the file that ``SLIPSTREAM_RUNTIMES`` names cannot be read.
    """
    chosen = os.environ.get("SLIPSTREAM_RUNTIMES")
    path = Path(chosen) if chosen else resource("runtimes.json")
    try:
        known = msgspec.json.decode(path.read_bytes(), type=Source)
        for words in (known.ref_url, known.release_url, known.file_url, *(build.file for build in known.builds)):
            words.format(tag="", file="")
    except (OSError, msgspec.MsgspecError, RecursionError, LookupError, ValueError) as fault:
        raise SettingsError(f"{path} does not say where runtimes are: {fault}", "Check SLIPSTREAM_RUNTIMES.") from fault
    return known


def builds_here(known: Source, system: str = "", machine: str = "") -> tuple[Build, ...]:
    """Return the builds for a system and machine, the most able first; for this one if not given."""
    system, machine = system or platform.system(), (machine or platform.machine()).lower()
    machine = _MACHINES.get(machine, machine)
    return tuple(build for build in known.builds if (build.system, build.machine) == (system, machine))


def build_named(known: Source, name: str) -> Build:
    """Return a build by its name, or the first for this machine if none is given.

    Raises:
        UsageError: there is none.
    """
    here = builds_here(known)
    if not name and here:
        return here[0]
    for build in known.builds:
        if build.name == name:
            return build
    names = ", ".join(build.name for build in here or known.builds)
    what = f"There is no build {name}." if name else "llama.cpp publishes no build for this machine."
    raise UsageError(what, f"There are: {names}.")


class Releases:
    """The server of the releases; all calls block, in any thread."""

    def __init__(self, known: Source | None = None, patience: Patience | None = None) -> None:
        """Prepare; ``known`` says where it is, ``patience`` how long to wait for it."""
        self.known = known or source()
        self.patience = patience or Patience()
        parts = urlsplit(self.known.file_url)
        self._host = parts.hostname or "the server"
        endpoint = f"{parts.scheme}://{parts.netloc}"
        address = self.known.file_url.replace("{tag}", "{commit}").replace("{file}", "{path}")
        self._access = Access(endpoint, None, self.patience.silence_s, address)

    def find(self, build: Build, tag: str = "") -> RemoteFile:
        """Return the file of a build, with its size and hash, once its tag is known to be of the pinned commit.

        Args:
            build: which one.
            tag: of which release; of the one that fits if not given.

        Raises:
            UsageError: that is no tag.
            LoadError: the tag is another commit's.
            SlipstreamError: the server does not say, or has no such file.
        """
        tag = tag or self.known.tag
        if not _TAG.fullmatch(tag):
            raise UsageError(f"{tag!r} is no tag of a release.", f"One looks like {self.known.tag}.")
        commit = self._ask(self.known.ref_url.format(tag=tag), f"the release {tag}", _Ref).object.sha
        if commit != self.known.commit:
            raise LoadError(
                f"The release {tag} is of commit {commit[:7]}; this program needs {self.known.commit[:7]}.",
                f"Take {self.known.tag}.",
            )
        name = build.file.format(tag=tag)
        release = self._ask(self.known.release_url.format(tag=tag), f"the release {tag}", _Release)
        asset = next((asset for asset in release.assets if asset.name == name), None)
        if asset is None or not is_safe_path(name) or asset.size <= 0:
            raise HubNotFoundError(f"The release {tag} has no file {name}.", BY_HAND)
        if asset.digest is None or not _SHA256.fullmatch(asset.digest):
            raise DownloadError(
                f"{self._host} names no sha256 of {name}, so it could not be checked and is not fetched.", BY_HAND
            )
        if build.sha256 and tag == self.known.tag and asset.digest != f"sha256:{build.sha256.lower()}":
            raise DownloadError(
                f"{name} of {self._host} is another file than the one that is known: its sha256 differs.", BY_HAND
            )
        return RemoteFile(REPO, tag, name, asset.size, asset.digest)

    @contextmanager
    def open(self, file: RemoteFile, first: int) -> Iterator[Reply]:
        """Open the bytes of a file from an offset on.

        Raises:
            PassingError: a fault that is worth another try.
            SlipstreamError: one that is not.
        """
        with self._own_words(file.path), open_range(self._access, file, first) as reply:
            yield reply

    def _ask(self, url: str, what: str, kind: type[_T]) -> _T:
        asked = self._access.asked(RemoteFile(REPO, "", "", 0, ""))
        for number in range(1, self.patience.n_tries + 1):
            try:
                with self._own_words(what):
                    return msgspec.json.decode(fetch_short(url, asked, self.patience.silence_s, _LIMITS), type=kind)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
                raise HubError(f"{self._host} does not tell of {what} as it used to.", BY_HAND) from fault
            except PassingError as passing:
                if number >= min(N_TRIES, self.patience.n_tries):
                    raise passing.fault from None
                time.sleep(self.patience.delay_s(number, passing.asked_s))
        raise HubError(f"{self._host} did not answer.", BY_HAND)

    @contextmanager
    def _own_words(self, what: str) -> Iterator[None]:
        """Say in words about releases what went wrong: those of the hub would send a person to the wrong place."""
        try:
            yield
        except PassingError as passing:
            raise PassingError(self._reworded(passing.fault, what), passing.asked_s) from None
        except (HubError, DownloadError) as fault:
            raise self._reworded(fault, what) from None

    def _reworded(self, fault: SlipstreamError, what: str) -> SlipstreamError:
        match fault:
            case RateLimitError() | HubAccessError():
                return RateLimitError(f"{self._host} wants no more requests for now.", f"Wait an hour. {BY_HAND}")
            case NetworkError() if "Offline" in fault.message:
                return NetworkError("Offline mode is on, so nothing is fetched.", f"{fault.hint} {BY_HAND}")
            case NetworkError():
                return NetworkError(f"{self._host} cannot be reached, or the connection broke.", BY_HAND)
            case HubNotFoundError():
                return HubNotFoundError(f"{self._host} does not have {what}.", BY_HAND)
            case DownloadError():
                return DownloadError(f"{what} is not as long on {self._host} as the release says.", BY_HAND)
            case _:
                return HubError(f"{self._host} does not give {what}.", f"Try again later. {BY_HAND}")
