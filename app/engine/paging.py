"""Whether the memory holds the models while they decode: page faults of this process, and what it has resident.

llama.cpp maps model files: weights that the system had to drop are read from the disk again, in the midst of a pass.
Linux and macOS count the faults that waited for the disk; Windows counts all faults together.
"""

from __future__ import annotations

import contextlib
import sys

import psutil

from app.protocol import Paging


class FaultWatch:
    """Counts the page faults from its making on."""

    def __init__(self) -> None:
        self._first = _faults()

    def paging(self) -> Paging:
        """Return what has been counted, and what is in memory now."""
        with contextlib.suppress(psutil.Error):
            n_major, n_all = (
                None if None in (now, before) else int(now or 0) - int(before or 0)
                for now, before in zip(_faults(), self._first, strict=True)
            )
            return Paging(n_major, n_all, int(psutil.Process().memory_info().rss))
        return Paging()


def _faults() -> tuple[int | None, int | None]:
    """Return the page faults so far: those that waited for the disk, and all."""
    if sys.platform == "win32":
        return None, int(psutil.Process().memory_info().num_page_faults)
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_majflt, used.ru_majflt + used.ru_minflt
