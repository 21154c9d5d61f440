"""The two kinds of message in the transcript.

A question is shown as it was typed. An answer is Markdown that may still be growing: segments become widgets,
finished ones once and for good. Text that arrives is kept until :meth:`AnswerView.flush`, which the transcript
calls once a frame, however many pieces came in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.chat.segments import Segment, SegmentStream
from app.ui.code_block import CodeView
from app.ui.prose import ProseView
from app.ui.theme import GRID, IconButton, colours, follow, icon, named, number_font, text_font

if TYPE_CHECKING:
    from app.metrics.token_trace import TokenTrace
    from app.ui.token_colours import TokenColours

_COPIED_MS = 1500
_BUBBLE_SHARE = 0.85
_NO_BREAK_HYPHEN = "\u2011"


def _caption(words: str) -> QLabel:
    label = QLabel(words)
    label.setFont(text_font(-0.5, bold=True))
    return label


class QuestionView(QWidget):
    """What the person wrote, in a bubble on the right."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._prose = ProseView()
        self._prose.set_plain(text)
        self._prose.setAccessibleName("Your message")
        self._bubble = named(QFrame(), "question")
        inner = QVBoxLayout(self._bubble)
        inner.setContentsMargins(GRID + 6, GRID, GRID + 6, GRID)
        inner.addWidget(self._prose)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, GRID, 0, 0)
        row.addStretch()
        row.addWidget(self._bubble)
        self._ideal_px = self._ideal_width()

    @property
    def text(self) -> str:
        """The message."""
        return self._prose.shown

    def resizeEvent(self, event: QEvent) -> None:
        """Keep the bubble as wide as its text, at most a share of the column."""
        self._bubble.setFixedWidth(min(self._ideal_px, round(self.width() * _BUBBLE_SHARE)))
        return super().resizeEvent(event)  # type: ignore[arg-type]

    def _ideal_width(self) -> int:
        document = self._prose.document().clone(self)
        document.setTextWidth(-1)
        return round(document.idealWidth()) + 2 * (GRID + 6) + GRID


class AnswerView(QWidget):
    """What the model answers: growing, finished, stopped or broken off; its figures below."""

    grew = Signal()
    link_clicked = Signal(QUrl)
    restart_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stream = SegmentStream()
        self._status_words = ""
        self._pending: list[str] = []
        self._text: list[str] = []
        self._n_shown = 0
        self._parts: list[ProseView | CodeView] = []
        self._open_code: CodeView | None = None
        self._colours: TokenColours | None = None
        self._column = QVBoxLayout()
        self._column.setSpacing(GRID)
        self._status = named(QLabel(wordWrap=True), "status")
        self._status.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._status.setFont(number_font(-0.5))
        self._status.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._copy = IconButton("copy", "Copy answer as Markdown")
        self._copy.clicked.connect(self.on_copy)
        self._copy.hide()
        self._copied = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._copied.timeout.connect(self.on_copied_shown)
        self._mark_icon = QLabel()
        self._mark = QLabel(wordWrap=True)
        self._restart = QPushButton("Start the engine again")
        self._restart.clicked.connect(self.restart_requested)
        self._build()
        follow(self._tint)

    def _build(self) -> None:
        foot = QHBoxLayout()
        foot.setSpacing(GRID // 2)
        foot.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignTop)
        foot.addWidget(self._status, 1)
        self._mark_row = named(QFrame(), "mark")
        mark = QHBoxLayout(self._mark_row)
        mark.setContentsMargins(GRID, GRID // 2, GRID // 2, GRID // 2)
        mark.setSpacing(GRID)
        mark.addWidget(self._mark_icon, 0, Qt.AlignmentFlag.AlignVCenter)
        mark.addWidget(self._mark, 1)
        mark.addWidget(self._restart)
        self._mark_row.hide()
        self._restart.hide()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, GRID, 0, 0)
        outer.setSpacing(GRID // 2)
        outer.addLayout(self._column)
        outer.addWidget(self._mark_row)
        self._foot_column = QVBoxLayout()
        self._foot_column.addLayout(foot)
        outer.addLayout(self._foot_column)

    # --- text -----------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The whole answer as Markdown, what is not shown yet included."""
        return "".join(self._text)

    @property
    def needs_flush(self) -> bool:
        """Whether something arrived, or stands unrendered, since the last :meth:`flush`."""
        last = self._parts[-1] if self._parts else None
        return bool(self._pending) or (isinstance(last, ProseView) and last.needs_render)

    def add_text(self, text: str) -> None:
        """Take the next piece of the answer; it shows with the next :meth:`flush`."""
        if text:
            self._pending.append(text)
            self._text.append(text)
            self.grew.emit()

    def flush(self) -> None:
        """Show what has arrived."""
        if self._pending:
            self._stream.feed("".join(self._pending))
            self._pending.clear()
        self._show_finished()
        tail = self._stream.tail
        if tail.kind == "code":
            self._code_part(tail).show_text(tail.text, is_finished=False)
        elif tail.text.strip():
            self._prose_part().show_tail(tail.text)
        if self._colours is not None:
            self._mark_tokens()

    def close_text(self) -> None:
        """Show everything in its final form; no more text will come."""
        if self._pending:
            self._stream.feed("".join(self._pending))
            self._pending.clear()
        self._stream.close()
        self._show_finished()
        if self._colours is not None:
            self._mark_tokens(is_final=True)
        self._copy.setVisible(bool(self.text.strip()))

    def _show_finished(self) -> None:
        for segment in self._stream.finished_from(self._n_shown):
            if segment.kind == "code":
                self._code_part(segment).show_text(segment.text, is_finished=True)
                self._open_code = None
            else:
                self._prose_part().append(segment.text)
        self._n_shown = self._stream.n_finished

    def _prose_part(self) -> ProseView:
        if self._parts and isinstance(last := self._parts[-1], ProseView):
            return last
        part = ProseView()
        part.setAccessibleName("Answer")
        part.anchorClicked.connect(self.link_clicked)
        self._add_part(part)
        return part

    def _code_part(self, segment: Segment) -> CodeView:
        if self._open_code is None:
            self._open_code = CodeView(segment.language)
            self._add_part(self._open_code)
        return self._open_code

    def _add_part(self, part: ProseView | CodeView) -> None:
        self._parts.append(part)
        self._column.addWidget(part)

    # --- tokens ---------------------------------------------------------------------------------------

    @property
    def token_colours(self) -> TokenColours | None:
        """What marks the tokens; None for an answer whose tokens are not known."""
        return self._colours

    def trace_tokens(self, trace: TokenTrace) -> None:
        """Mark the tokens of this answer from now on."""
        from app.ui.token_colours import TokenColours

        self._colours = TokenColours(trace, self)
        self._foot_column.insertWidget(0, self._colours.legend)
        self._mark_tokens()

    def _mark_tokens(self, *, is_final: bool = False) -> None:
        if self._colours is not None:
            self._colours.refresh(self.text, [part.edit for part in self._parts], is_final=is_final)

    # --- words around it ------------------------------------------------------------------------------

    def show_status(self, words: str) -> None:
        """Show one line below the text: what is going on, or the figures of the finished answer."""
        if words != self._status_words:
            self._status_words = words
            self._status.setText(words.replace("n-gram", f"n{_NO_BREAK_HYPHEN}gram"))
            self._status.setVisible(bool(words))

    @property
    def status(self) -> str:
        """The line below the text."""
        return self._status_words

    def show_mark(self, words: str, *, offer_restart: bool = False) -> None:
        """Mark the answer as broken off, with the reason; an empty text takes the mark away."""
        self._mark.setText(words)
        self._mark_row.setVisible(bool(words))
        self._restart.setVisible(offer_restart)

    @property
    def mark(self) -> str:
        """The mark, "" if there is none."""
        return str(self._mark.text())

    def withdraw_restart(self) -> None:
        """Take the restart button away: the engine is back, or another place offers it."""
        self._restart.hide()

    @property
    def offers_restart(self) -> bool:
        """Whether the restart button is there."""
        return not self._restart.isHidden()

    def on_copy(self) -> None:
        """Put the answer on the clipboard as Markdown, and say so for a moment."""
        QGuiApplication.clipboard().setText(self.text)
        self._copy.rename("Copied", "check")
        self._copied.start()

    def on_copied_shown(self) -> None:
        """Offer to copy again."""
        self._copy.rename("Copy answer as Markdown", "copy")

    def minimumSizeHint(self) -> QSize:
        """Allow the column to be narrow."""
        return QSize(120, super().minimumSizeHint().height())

    def _tint(self) -> None:
        self._mark_icon.setPixmap(icon("warning", colours().warning).pixmap(18, 18))
