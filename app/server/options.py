"""How to serve, and what a request gets that says nothing."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field

from app.errors import UsageError
from app.host import PairChoice
from app.protocol import Sampling, Speculation

PORT = 18181
"""The port that people on Snapdragon know from GenieX."""

MIN_KEY_CHARS = 8


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client may take of the server: seconds, bytes and numbers.

    Attributes:
        header_s: from the first byte of a request to the end of its head.
        body_s: from there to the end of its body.
        idle_s: a kept connection without a request.
        send_s: a client that does not read what it asked for.
        n_body_bytes: one body.
        n_all_body_bytes: the bodies that are being received, together, until they are read.
        n_held_bytes: what requests that wait or are answered have sent, together; what is more gets a 429.
        n_connections: open at once.
        n_waiting: requests that wait for their turn; more get a 429.
        n_pulls: models that are downloaded at once.
        n_waiting_pulls: models that wait for that; who wants more gets a 429.
    """

    header_s: float = 10.0
    body_s: float = 30.0
    idle_s: float = 30.0
    send_s: float = 30.0
    n_header_bytes: int = 32 * 1024
    n_body_bytes: int = 8 * 1024 * 1024
    n_all_body_bytes: int = 64 * 1024 * 1024
    n_held_bytes: int = 128 * 1024 * 1024
    n_connections: int = 512
    n_waiting: int = 128
    n_pulls: int = 2
    n_waiting_pulls: int = 14


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a request gets that says nothing else: the pair, how it is drafted and sampled.

    ``max_tokens`` 0 is as many as the context has room for; ``template`` stands in place of the pair's own.
    """

    pair: PairChoice
    speculation: Speculation = field(default_factory=Speculation)
    sampling: Sampling = field(default_factory=lambda: Sampling(seed=0))
    max_tokens: int = 0
    template: str | None = None


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How to serve.

    Attributes:
        defaults: asked anew for each request, on the server's thread.
        address: what to bind to; another one than this machine's own needs a key.
        port: 0 takes a free one.
        key: what a client has to show, "" for nothing.
        allowed_hosts: names in the Host header besides this machine's own.
        cors_origins: web pages that may ask, as ``https://chat.example``.
        keep_alive_s: the models are freed after so long without a request; 0 keeps them.
        may_switch: a request may have another model, context or device loaded.
        may_pull: a request may have a model downloaded.
    """

    defaults: Callable[[], Defaults]
    address: str = "127.0.0.1"
    port: int = PORT
    key: str = ""
    allowed_hosts: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    keep_alive_s: float = 0.0
    may_switch: bool = True
    may_pull: bool = False
    limits: Limits = field(default_factory=Limits)

    def check(self) -> None:
        """Refuse what would leave the machine open.

        Raises:
            UsageError: an address that others can reach and no key, or a key that can be guessed.
        """
        if not 0 <= self.port < 65536:
            raise UsageError(f"The port is {self.port}.", "It lies between 1 and 65535; 0 takes a free one.")
        if not self.key and not self.is_local:
            raise UsageError(
                f"Other computers can reach {self.address}, so a key is needed.",
                "Give one with --key, or serve on 127.0.0.1.",
            )
        if self.key and len(self.key) < MIN_KEY_CHARS:
            raise UsageError(f"The key has {len(self.key)} characters.", f"It needs {MIN_KEY_CHARS} at least.")
        if self.key and not (self.key.isascii() and self.key.isprintable() and " " not in self.key):
            raise UsageError("The key has characters that no HTTP header can carry.", "Use letters, digits and - _ .")
        for origin in self.cors_origins:
            if not origin.startswith(("http://", "https://")) or origin.count("/") != 2:
                raise UsageError(f"{origin} is not the origin of a web page.", "Write it as https://chat.example.")

    @property
    def is_local(self) -> bool:
        """Tell whether only this machine can reach it."""
        return is_own_name(self.address)


def is_own_name(name: str) -> bool:
    """Tell whether a name or address means this machine and nothing else."""
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
