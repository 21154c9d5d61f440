"""Collects log warnings during a test and tells which were not announced, or announced and missing."""

from __future__ import annotations

import logging
import re
from types import TracebackType
from typing import Self


class ExpectedLogs(logging.Handler):
    """Handler on the root logger for the time of one test."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._lines: list[str] = []
        self._patterns: list[re.Pattern[str]] = []

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record of WARNING or above as a line."""
        self._lines.append(f"{record.levelname} {record.name}: {record.getMessage()}")

    def expect(self, pattern: str) -> None:
        """Announce lines ``LEVEL logger: message`` that match; at least one has to come, before or after this call."""
        self._patterns.append(re.compile(pattern))

    def faults(self) -> list[str]:
        """Return a sentence for each fault."""
        lines = tuple(self._lines)
        unannounced = [line for line in lines if not any(pattern.search(line) for pattern in self._patterns)]
        missing = [p.pattern for p in self._patterns if not any(p.search(line) for line in lines)]
        return [f"unexpected log: {line}" for line in unannounced] + [f"missing log: {text}" for text in missing]
