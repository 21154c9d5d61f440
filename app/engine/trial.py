"""Lets a throw-away process load a file dry, before the engine touches it.

llama.cpp answers some headers with ``abort()``. In the engine that would end the answer to whoever asks next, and the
model that is loaded would have to be loaded again; here it ends nothing, and the file gets the blame by name.
"""

from __future__ import annotations

import logging
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from app.engine import leash
from app.engine.death import describe_status, telling_line
from app.engine.hearing import Heard, hear
from app.errors import ModelFileError, from_code
from app.protocol import ErrorInfo

TIMEOUT_S = 60.0
"""A trial takes half a second, most of it the start of the process; some seconds beside other work."""

HINT = "The file is damaged or made wrongly: download it again, or choose another file of this model."

logger = logging.getLogger(__name__)


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file to try."""

    path: str


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the process says if it lives: nothing against the file, or why llama.cpp refuses it."""

    error: ErrorInfo | None = None


class Trial:
    """One file in one process."""

    def __init__(self, path: Path, command: Sequence[str] | None = None, timeout_s: float = TIMEOUT_S) -> None:
        """Prepare it.

        Args:
            path: the file.
            command: the command line of the process that tries it; ours by default.
            timeout_s: how long it may take.
        """
        self._path, self._timeout_s = path, timeout_s
        self._command = list(command or leash.command("trial"))
        self._lock = threading.Lock()
        self._child: leash.Child | None = None
        self._is_stopped = False

    def run(self) -> None:
        """Try the file; blocks. A process that cannot be started, or was stopped, says nothing against it.

        Raises:
            SlipstreamError: llama.cpp refuses the file, or its process ended or never came back.
        """
        with self._lock:
            if self._is_stopped:
                return
            try:
                child = self._child = leash.spawn(self._command, stderr=subprocess.PIPE)
            except OSError as fault:
                logger.info("%s is loaded untried: %s", self._path.name, fault)
                return
        heard = hear(child, msgspec.json.encode(Question(str(self._path))) + b"\n", self._timeout_s)
        if not self._is_stopped:
            self._judge(heard)

    def stop(self) -> None:
        """End it now: nobody waits for the verdict any more."""
        with self._lock:
            self._is_stopped = True
            if self._child is not None:
                self._child.kill()

    def _judge(self, heard: Heard) -> None:
        name = self._path.name
        if heard.is_late:
            raise ModelFileError(f"{name} keeps llama.cpp busy for ever when it is read.", HINT)
        try:
            said = msgspec.json.decode(heard.output, type=Verdict)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            line = telling_line(heard.lines)
            words = f"{name} cannot be loaded; the process that tried it has ended: {describe_status(heard.status)}."
            raise ModelFileError(f"{words} Its last words: {line}" if line else words, HINT) from None
        if said.error is not None:
            raise from_code(said.error.code, said.error.message, said.error.hint)
