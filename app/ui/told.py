"""Faults of the database, told in the window instead of ending what was going on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from app.errors import StoreError
from app.ui.said import said

if TYPE_CHECKING:
    from app.ui.notice import NoticeBar

logger = logging.getLogger(__name__)


class Told:
    """Turns a :class:`StoreError` inside a ``with`` block into a notice; the block is left at the fault."""

    def __init__(self, notice: NoticeBar, meaning: str) -> None:
        self._notice, self._meaning = notice, meaning

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, fault: BaseException | None, _trace: object) -> bool:
        if not isinstance(fault, StoreError):
            return False
        logger.info("%s %s", self._meaning, fault.message)
        if said(fault.message) not in self._notice.words:  # a failing save is tried again and again, but told once
            self._notice.say("error", f"{self._meaning} {said(fault.message)}", fault.hint)
        return True
