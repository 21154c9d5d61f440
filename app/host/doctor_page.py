"""The page of ``doctor`` for a window: made in a process of its own, since looking for devices can end a process."""

from __future__ import annotations

import subprocess
from typing import Final

from app.engine import leash
from app.errors import EngineError

_REAP_S: Final = 2.0
_MAX_BYTES: Final = 1 << 20


class DoctorPage:
    """One making of the page; it may be stopped from another thread."""

    def __init__(self, argv: list[str] | None = None) -> None:
        self._argv = argv or leash.command("doctor")
        self._child: leash.Child | None = None
        self._is_stopped = False

    def make(self) -> str:
        """Return the page, without a folder, an account or an address in it; takes some seconds.

        Raises:
            EngineError: it cannot be made.
        """
        try:
            self._child = child = leash.spawn(self._argv, stderr=subprocess.DEVNULL)
        except OSError as fault:
            raise EngineError(f"The facts about this machine were not collected: {fault}.", "Try it again.") from fault
        if self._is_stopped:
            child.kill()
        assert child.process.stdout is not None  # noqa: S101 - spawn makes a pipe
        page = child.process.stdout.read(_MAX_BYTES).decode("utf-8", "replace").strip()
        status = child.reap(_REAP_S)
        if status or not page:
            raise EngineError(
                f"The facts about this machine were not collected: the process ended with {status}.", "Try it again."
            )
        return page

    def stop(self) -> None:
        """Stop making it."""
        self._is_stopped = True
        if self._child is not None:
            self._child.kill()
