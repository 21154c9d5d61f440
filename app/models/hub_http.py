"""Ranges of bytes of a file on the hub, with the redirects followed by hand.

The hub sends a request for a large file on to a storage of another name. The token goes to the hub's own address
(scheme, host and port) and nowhere else, whatever a redirect says. The connection is that of the hub's client, with its
proxies and offline switch.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote, urljoin, urlsplit

from app import __version__
from app.errors import HubError, NetworkError
from app.models.deadline import within
from app.models.hub_faults import SIGN_IN_PAGE, Asked, PassingError, changed, in_words, of_link, of_status
from app.models.hub_place import refuse_offline
from app.models.hub_token import Token
from app.models.remote import RemoteFile

CONNECT_S = 10.0
USER_AGENT = f"slipstream/{__version__}"
OPEN_FACTOR = 1.5
"""How long the beginning of an answer may take in all, against how long a silence may be."""

MAX_REDIRECTS = 8
BLOCK_BYTES = 256 << 10
SHORT_BYTES = 4 << 20

_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})$")
_DEFAULT_PORTS = {"http": 80, "https": 443}


HUB_FILE_URL = "{endpoint}/{repo}/resolve/{commit}/{path}"


@dataclass(frozen=True, slots=True)
class Access:
    """Where the hub is, who asks, how long a silent connection is waited for, and how a file's address is written."""

    endpoint: str
    token: Token | None
    silence_s: float
    file_url: str = HUB_FILE_URL

    def asked(self, file: RemoteFile) -> Asked:
        """Return the facts for messages."""
        return Asked(self.endpoint, self.token, file.repo, file.path)

    def url(self, file: RemoteFile) -> str:
        """Return the file's address at its commit."""
        commit, path = quote(file.commit, safe=""), quote(file.path)
        return self.file_url.format(endpoint=self.endpoint, repo=file.repo, commit=commit, path=path)

    def is_hub(self, url: str) -> bool:
        """Tell whether an address is of the hub itself."""
        return _origin(url) == _origin(self.endpoint)

    def headers(self, url: str) -> dict[str, str]:
        """Return what goes along with a request; the token only to the hub itself."""
        headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity"}
        if self.token is not None and self.is_hub(url):
            headers["Authorization"] = f"Bearer {self.token.value}"
        return headers


@dataclass(frozen=True, slots=True)
class ShortLimits:
    """How much of an answer is read, and for how long."""

    most_bytes: int
    longest_s: float


@dataclass(frozen=True, slots=True)
class Reply:
    """An open answer: ``first`` is the offset of its first byte, which is 0 where the server knows no ranges.

    ``cut`` ends the connection from any thread; who waits for ``blocks`` gets an error at once.
    """

    first: int
    blocks: Iterator[bytes]
    cut: Callable[[], None]


class Answer(Protocol):
    """What we need of a response, of whichever HTTP library."""

    @property
    def status_code(self) -> int:
        """The status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, however their names are written."""

    @property
    def extensions(self) -> Mapping[str, object]:
        """What the connection tells of itself."""

    def iter_raw(self) -> Iterator[bytes]:
        """Yield the bytes as they come."""

    def close(self) -> None:
        """Give the connection back."""


@contextmanager
def open_range(access: Access, file: RemoteFile, first: int, last: int | None = None) -> Iterator[Reply]:
    """Ask for the bytes from ``first`` on, to ``last`` (inclusive) or the end.

    Raises:
        PassingError: a fault that is worth another try.
        SlipstreamError: one that is not.
    """
    url = access.url(file)
    with in_words(access.asked(file)):
        for _ in range(MAX_REDIRECTS):
            byte_range = f"bytes={first}-{'' if last is None else last}"
            with opened(url, {**access.headers(url), "Range": byte_range}, access.silence_s) as answer:
                target = redirect_of(answer, url)
                if target is None:
                    _check_status(access, file, url, answer)
                    blocks = _blocks(answer, access.silence_s)
                    yield Reply(_first_byte(file, first, answer), blocks, lambda: _cut(answer))
                    return
                _check_same(access, file, url, answer)
            url = target
        raise HubError("The hub sends us round in circles.", "Check HF_ENDPOINT, or try again later.")


def fetch_short(url: str, asked: Asked, silence_s: float, limits: ShortLimits) -> bytes:
    """Return a short answer whole, however long it claims to be and however slowly it comes; without a token.

    Raises:
        PassingError: a fault that is worth another try.
        SlipstreamError: one that is not, or the answer is no short one.
    """
    until_s = time.monotonic() + limits.longest_s
    with in_words(asked):
        for _ in range(MAX_REDIRECTS):
            with opened(url, {"User-Agent": USER_AGENT, "Accept-Encoding": "identity"}, silence_s) as answer:
                target = redirect_of(answer, url)
                if target is None:
                    if answer.status_code != 200:
                        raise of_status(answer.status_code, answer.headers, asked)
                    return _taken(answer, until_s, limits.most_bytes)
            url = target
    raise HubError("The hub sends us round in circles.", "Check HF_ENDPOINT, or try again later.")


def _taken(answer: Answer, until_s: float, most_bytes: int) -> bytes:
    taken = bytearray()
    for block in answer.iter_raw():
        taken += block
        if len(taken) > most_bytes:
            raise HubError("The answer has no end.", SIGN_IN_PAGE)
        if time.monotonic() > until_s:
            raise PassingError(NetworkError("The answer comes too slowly.", "Try again later."))
    return bytes(taken)


def quiet_client() -> None:
    """Import the hub's client and keep the addresses of its requests, which hold signatures, out of the log."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # read when it is imported
    import huggingface_hub

    for name in ("httpx", "httpx2", "httpcore", "httpcore2", huggingface_hub.__name__):
        logging.getLogger(name).setLevel(logging.ERROR)  # after the import, which may set another by HF_DEBUG


@contextmanager
def opened(url: str, headers: Mapping[str, str], silence_s: float) -> Iterator[Answer]:
    """Ask for an address, and do not follow where it sends us; what the hub's client raises comes through.

    Raises:
        NetworkError: offline is what was chosen.
    """
    refuse_offline()
    quiet_client()
    from huggingface_hub import get_session

    session = get_session()
    times = (CONNECT_S, silence_s, silence_s, CONNECT_S)

    def send() -> Answer:
        asking = session.build_request("GET", url, headers=dict(headers), timeout=times)
        return session.send(asking, stream=True, follow_redirects=False)

    try:
        answer = within(OPEN_FACTOR * silence_s, send, lambda late: late.close())
    except ValueError as fault:  # a host that no name of a host can be
        raise _no_address() from fault
    try:
        yield answer
    finally:
        answer.close()


def redirect_of(answer: Answer, url: str) -> str | None:
    """Return where an answer sends us on to, None if it is one.

    Raises:
        NetworkError: to an address that may be read on the way, or is none of the web.
    """
    location = answer.headers.get("location", "")
    if answer.status_code not in (301, 302, 303, 307, 308) or not location:
        return None
    try:
        target = urljoin(url, location)
        scheme = urlsplit(target).scheme
    except ValueError as fault:
        raise _no_address() from fault
    safe = ("https", "http") if urlsplit(url).scheme == "http" else ("https",)
    if scheme not in safe:
        raise NetworkError("The hub sends us to an unsafe address.", SIGN_IN_PAGE)
    return target


def _no_address() -> NetworkError:
    return NetworkError("The hub's address, or one that it sends us to, is none.", "Check HF_ENDPOINT, or try later.")


def _check_same(access: Access, file: RemoteFile, url: str, answer: Answer) -> None:
    """Compare the hash that the hub names beside its redirect with the one it named before."""
    named = answer.headers.get("x-linked-etag", "").strip('"').removeprefix("sha256:")
    is_sha256 = len(named) == 64 and file.digest.startswith("sha256:")
    if access.is_hub(url) and is_sha256 and f"sha256:{named}" != file.digest:
        raise changed(file.path)


def _check_status(access: Access, file: RemoteFile, url: str, answer: Answer) -> None:
    status = answer.status_code
    if status in (200, 206):
        encoding = answer.headers.get("content-encoding", "identity")
        if encoding not in ("", "identity"):
            raise HubError(f"Something on the way packs the bytes of {file.path} ({encoding}).", SIGN_IN_PAGE)
        return
    if access.is_hub(url):
        raise of_status(status, answer.headers, access.asked(file))
    raise of_link(status, answer.headers, file.path)


def _first_byte(file: RemoteFile, wanted: int, answer: Answer) -> int:
    """Return the offset that the answer begins at, once it is clear that it is of the file as we know it."""
    if answer.status_code == 200:
        length = answer.headers.get("content-length", "")
        if length in ("", str(file.n_bytes)):
            return 0
        if "text/html" in answer.headers.get("content-type", ""):
            raise NetworkError(f"A web page came in place of {file.path}.", SIGN_IN_PAGE)
        raise changed(file.path)
    found = _CONTENT_RANGE.match(answer.headers.get("content-range", ""))
    if found is None or int(found[1]) != wanted:
        raise PassingError(HubError("The server answered with other bytes than we asked for.", "Try again later."))
    if int(found[3]) != file.n_bytes:
        raise changed(file.path)
    return wanted


def _blocks(answer: Answer, silence_s: float) -> Iterator[bytes]:
    """Return the bytes; after the first block straight from the connection where the answer is plain HTTP/1.1.

    The client reads 64 KiB at a time through a parser, which costs more than the reading (0.35 s against 0.09 s for
    512 MiB). With a given length there is nothing to parse, and the parser keeps nothing back once it gave a block. The
    connection cannot be used again afterwards, so short answers go the usual way.
    """
    through = answer.iter_raw()
    first = next(through, b"")
    yield first
    length = answer.headers.get("content-length", "")
    read = getattr(answer.extensions.get("network_stream"), "read", None)
    is_plain = answer.extensions.get("http_version") == b"HTTP/1.1" and "transfer-encoding" not in answer.headers
    if read is None or not is_plain or not length.isdecimal() or int(length) <= SHORT_BYTES:
        yield from through
        return
    n_left = int(length) - len(first)
    while n_left > 0 and (block := read(min(n_left, BLOCK_BYTES), silence_s)):
        n_left -= len(block)
        yield block


def _cut(answer: Answer) -> None:
    """Shut the socket down under whoever reads from it; closing it would not wake them."""
    stream = answer.extensions.get("network_stream")
    ask = getattr(stream, "get_extra_info", None)
    sock = ask("socket") if ask is not None else None
    if isinstance(sock, socket.socket):
        with suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)  # not SSLSocket's own, which first forgets its state


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    try:
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:  # no port that there is
        port = -1
    return parts.scheme, (parts.hostname or "").lower(), port
