"""What a process of ours is started with before anything native is loaded: the runtime's folder and switches.

A runtime is a folder with llama.cpp's libraries. llama-cpp-python reads where it is when it is imported, backends read
their switches when they are loaded, so both are set first of all, in the process that will load them.
"""

from __future__ import annotations

import os
import sys

import msgspec

LIBRARY_FOLDERS = ("LLAMA_CPP_LIB_PATH", "MTMD_CPP_LIB")
"""What llama-cpp-python reads, for llama.cpp and for its reader of images."""


class Surroundings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the native libraries are ("": where llama-cpp-python has them), and environment variables for them."""

    runtime: str = ""
    switches: dict[str, str] = {}

    def arguments(self) -> list[str]:
        """Return what goes behind the name of the process on its command line."""
        return [] if self == Surroundings() else [msgspec.json.encode(self).decode()]

    def enter(self) -> None:
        """Make them this process's own."""
        os.environ.update(self.switches)
        if self.runtime:
            os.environ.update(dict.fromkeys(LIBRARY_FOLDERS, self.runtime))


def enter_given() -> None:
    """Enter what the command line of this process says, if it says anything."""
    if len(sys.argv) > 2:
        msgspec.json.decode(sys.argv[2], type=Surroundings).enter()
