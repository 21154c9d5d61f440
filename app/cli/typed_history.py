"""What was typed into conversations, for the arrow keys of the next one: a file of its person alone."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit.history import History

logger = logging.getLogger(__name__)

N_KEPT = 1000
MAX_CHARS = 20_000
"""A paste that is longer is not kept: nobody looks for it with the arrow keys."""
_MAX_FILE_BYTES = 8 * 1024 * 1024


class TypedHistory(History):
    """Lines of JSON, one an entry, the newest last. A file that cannot be read or written costs the history only."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        """Return the entries, the newest first."""
        entries = self._read()
        if len(entries) > N_KEPT:
            entries = entries[-N_KEPT:]
            self._write("w", entries)
        return reversed(entries)

    def store_string(self, string: str) -> None:
        """Add an entry."""
        if len(string) <= MAX_CHARS:
            self._write("a", [string])

    def _read(self) -> list[str]:
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, self._path.stat().st_size - _MAX_FILE_BYTES))
                lines = file.read(_MAX_FILE_BYTES).splitlines()
        except OSError as fault:
            logger.info("the history of what was typed is not read: %s", fault)
            return []
        return [entry for line in lines if isinstance(entry := _entry(line), str)]

    def _write(self, mode: str, entries: Iterable[str]) -> None:
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if mode == "w" else os.O_APPEND)
        try:
            handle = os.open(self._path, flags, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write("".join(json.dumps(entry) + "\n" for entry in entries))
        except OSError as fault:
            logger.info("the history of what was typed is not written: %s", fault)


def _entry(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
