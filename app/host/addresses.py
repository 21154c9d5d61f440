"""Addresses of llama.cpp's RPC servers: what llama.cpp can make something of, and what only this computer reaches."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from app.errors import UsageError

MOST_SERVERS = 16
"""``GGML_RPC_MAX_SERVERS`` of llama.cpp; each is asked in a process of its own when one of them does not answer."""

_SERVER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}:[0-9]{1,5}")


def check_number(servers: Sequence[str]) -> None:
    """Refuse more servers than llama.cpp is made for.

    Raises:
        UsageError: there are too many.
    """
    if len(servers) > MOST_SERVERS:
        raise UsageError(
            f"{len(servers)} servers are too many: {MOST_SERVERS} can lend their devices.", "Take some out first."
        )


def check_address(server: str) -> None:
    """Refuse what is no host and port: llama.cpp ends the process that is given such a one.

    Raises:
        UsageError: it is none.
    """
    if server.count(":") > 1:
        raise UsageError(
            f"{server[:80]!r} looks like an address of IPv6, which llama.cpp's RPC does not reach.",
            "Give a name or an IPv4 address and a port, as in 192.168.1.20:50052.",
        )
    if not _SERVER.fullmatch(server) or not 0 < int(server.rpartition(":")[2]) < 65536:
        raise UsageError(f"{server[:80]!r} is no address.", "Give a host and a port, as in 127.0.0.1:50052.")


def is_this_computer(server: str) -> bool:
    """Whether an address is one of this computer that no other reaches."""
    host = server.rpartition(":")[0]
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
