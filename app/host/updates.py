"""Is there a newer version? Asked only where a person wants it asked; the answer is believed only with a signature.

A bundle names the address where versions are announced, and the public key (Ed25519) of who builds it, in its
``bundle.json``. An announcement is one JSON document, ``{"signed": …, "signature": …}``, both in base64: the signature
is that of the bytes of ``signed``, which are an :class:`Announcement`. Nothing is fetched besides it, nothing is
installed, and nothing on the disk is touched but the note of when it was asked last.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import msgspec

from app.errors import NetworkError, SlipstreamError, UpdateError
from app.models.hub_faults import is_of_network
from app.models.hub_http import quiet_client
from app.paths import BUNDLE_MARKER, bundle_dir, cache_dir

LIMIT_BYTES = 64 << 10
TIMEOUT_S = 10.0
DAY_S = 86_400.0
HERE = ("127.0.0.1", "localhost", "::1")

_REFUSED = "It was not believed, and nothing was done."


class Feed(msgspec.Struct, frozen=True):
    """Where newer versions are announced, and the key that announcements are signed with (base64 in JSON)."""

    feed: str
    key: bytes


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """The newest version, the page where it can be had, and a sentence about it."""

    version: str
    page: str
    notes: str = ""


class _Envelope(msgspec.Struct, frozen=True):
    signed: bytes
    signature: bytes


class _Note(msgspec.Struct):
    """When it was asked last, in seconds since 1970."""

    asked_s: float = 0.0


class _Reply(Protocol):
    @property
    def status_code(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...


def feed(bundle: Path | None = None) -> Feed | None:
    """Return where this bundle's newer versions are announced; None if nowhere, or if this is no bundle."""
    folder = bundle or bundle_dir()
    if folder is None:
        return None
    try:
        return msgspec.json.decode((folder / BUNDLE_MARKER).read_bytes(), type=Feed)
    except (OSError, msgspec.MsgspecError):
        return None


def ask(where: Feed) -> Announcement:
    """Fetch the announcement and check it; waits for the network.

    Raises:
        NetworkError: there is no connection, or offline mode is on.
        UpdateError: what came cannot be believed.
    """
    return verified(_fetch(where.feed), where.key)


def verified(raw: bytes, key: bytes) -> Announcement:
    """Check an announcement's signature, and only then read it.

    Raises:
        UpdateError: it is not signed with that key, or is no announcement.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        envelope = msgspec.json.decode(raw, type=_Envelope)
        Ed25519PublicKey.from_public_bytes(key).verify(envelope.signature, envelope.signed)
        found = msgspec.json.decode(envelope.signed, type=Announcement)
        number(found.version)
    except msgspec.MsgspecError as fault:
        raise UpdateError("What came is no announcement of a version.", _REFUSED) from fault
    except InvalidSignature as fault:
        raise UpdateError("The announcement of a new version has a wrong signature.", _REFUSED) from fault
    except ValueError as fault:
        raise UpdateError(f"The announcement of a new version cannot be checked: {fault}.", _REFUSED) from fault
    if urlsplit(found.page).scheme != "https":
        raise UpdateError("The announcement of a new version leads to no safe page.", _REFUSED)
    return found


def is_newer(found: Announcement, current: str) -> bool:
    """Tell whether it is newer than a version; an older one, sent again, never is."""
    try:
        return number(found.version) > number(current)
    except ValueError:
        return False


def number(version: str) -> tuple[int, ...]:
    """Return a version as numbers that can be compared.

    Raises:
        ValueError: it is not numbers with dots between.
    """
    parts = version.split(".")
    if not 1 <= len(parts) <= 4 or not all(part.isascii() and part.isdigit() and len(part) <= 6 for part in parts):
        raise ValueError(f"{version[:40]!r} is no version")
    return (*map(int, parts), *[0] * (4 - len(parts)))


def is_due(now_s: float | None = None) -> bool:
    """Tell whether a day has passed since it was asked last; a clock that was put back counts as one."""
    asked_s, now_s = _note().asked_s, time.time() if now_s is None else now_s
    return not 0 <= now_s - asked_s < DAY_S


def note_asked(now_s: float | None = None) -> None:
    """Remember that it was asked; a cache that cannot be written only means that it is asked again."""
    try:
        _note_path().write_bytes(msgspec.json.encode(_Note(time.time() if now_s is None else now_s)))
    except OSError:
        return


def _note() -> _Note:
    try:
        return msgspec.json.decode(_note_path().read_bytes(), type=_Note)
    except (OSError, msgspec.MsgspecError):
        return _Note()


def _note_path() -> Path:
    return cache_dir() / "updates.json"


def _fetch(url: str) -> bytes:
    """Fetch a small file over a connection that nobody can listen to, without being sent elsewhere."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in HERE):
        raise UpdateError("The address of announcements is not a safe one.", _REFUSED)
    quiet_client()
    from huggingface_hub import get_session
    from huggingface_hub.errors import OfflineModeIsEnabled

    try:
        with get_session().stream(
            "GET", url, headers={"User-Agent": "slipstream"}, follow_redirects=False, timeout=TIMEOUT_S
        ) as reply:
            _check_status(reply)
            return _short(reply.iter_bytes(LIMIT_BYTES))
    except SlipstreamError:
        raise
    except OfflineModeIsEnabled as fault:
        raise NetworkError("Offline mode is on, so nobody is asked.", "Unset HF_HUB_OFFLINE to ask.") from fault
    except Exception as fault:
        if not is_of_network(fault):
            raise
        raise NetworkError("The announcements of new versions cannot be reached.", "Try again later.") from fault


def _short(blocks: Iterable[bytes]) -> bytes:
    found = b""
    for block in blocks:
        found += block
        if len(found) > LIMIT_BYTES:
            raise UpdateError("What came is too long for an announcement of a version.", _REFUSED)
    return found


def _check_status(reply: _Reply) -> None:
    if reply.status_code != 200:
        raise UpdateError(f"The announcements of new versions answered with {reply.status_code}.", "Try again later.")
