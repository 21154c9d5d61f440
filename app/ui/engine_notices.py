"""What the engine says beside an answer: a fallback, a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.ui.said import said

if TYPE_CHECKING:
    from app.protocol import NoticeInfo
    from app.ui.notice import NoticeBar

SAID_ONCE = frozenset({"draft_cut", "fixed_shape", "reasoning_unknown", "reasoning_effort_unknown"})


class EngineNotices:
    """Says all of it at once; once is enough of what every answer would say again."""

    def __init__(self, notice: NoticeBar) -> None:
        self._notice = notice
        self._told: set[str] = set()

    def tell(self, notices: tuple[NoticeInfo, ...]) -> None:
        """Say what is new."""
        new = [one for one in notices if one.code not in SAID_ONCE or one.message not in self._told]
        self._told |= {one.message for one in notices}
        if new:
            words = " ".join(f"{said(one.message)} {said(one.hint)}".strip() for one in new)
            self._notice.say("warning", words)
