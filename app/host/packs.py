"""Runtimes as they are kept on the list: packs, each a folder with another build of llama.cpp than the built-in one."""

from __future__ import annotations

import msgspec

BUILT_IN = "built-in"


class Pack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One pack; ``sha256`` is of the files that passed the guard, "" if none did yet; ``fault`` why they do no more."""

    name: str
    folder: str
    sha256: str
    stamp: str
    is_ours: bool = False
    fault: str = ""


class Shelf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file: packs, which one is in use, servers that lend devices, and switches for backends."""

    packs: tuple[Pack, ...] = ()
    active: str = BUILT_IN
    servers: tuple[str, ...] = ()
    switches: dict[str, str] = {}
