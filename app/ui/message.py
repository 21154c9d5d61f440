"""The two kinds of message in the transcript.

A question is shown as it was typed. An answer is Markdown that may still be growing: it is cut into blocks, finished
ones are rendered once. Text that arrives is kept until :meth:`AnswerView.flush`, which the transcript calls once a
frame, however many pieces came in between. Both say how tall they are, and have widgets for what is near the
screen only.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import (
    QFontMetricsF,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from app.chat.reasoning import split_reasoning
from app.ui.blocks import BlockStream, plain_blocks
from app.ui.code_block import CodeView
from app.ui.message_view import MessageView
from app.ui.prose import ProseView
from app.ui.theme import GRID, colours, follow, icon, named, text_font
from app.ui.thought import thought_words
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.metrics.token_trace import TokenTrace
    from app.ui.message_foot import MessageAction
    from app.ui.token_colours import TokenColours

_BUBBLE_SHARE = 0.85
_MOMENT_S = 0.02
_SLICE_CHARS = 4_096
_PAD_PX = GRID + 6


class QuestionView(MessageView):
    """What the person wrote, in a bubble on the right."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(tr("Your message"), ("copy", "edit"), parent)
        self._text = text
        self._bubble = named(QFrame(self), "question")
        self._bubble.lower()
        self._ideal_px = self._ideal_width()
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.foot)
        self.foot.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.foot.status.hide()
        self._below_column.addLayout(row)
        self.column.show_blocks(plain_blocks(text))

    @property
    def shown(self) -> str:
        """What of it can be read on the screen."""
        return "".join(part.edit.toPlainText() for part in self.column.parts)

    def _area(self, width: int) -> tuple[int, int, int]:
        bubble = min(self._ideal_px, round(width * _BUBBLE_SHARE))
        return width - bubble + _PAD_PX, 2 * GRID, bubble - 2 * _PAD_PX

    def _bottom_px(self) -> int:
        return GRID + GRID // 2

    def lay_out(self, width: int) -> int:
        """Keep the bubble as wide as its text, at most a share of the message."""
        height = super().lay_out(width)
        self._place_bubble()
        return height

    def _on_height(self) -> None:
        super()._on_height()
        self._place_bubble()

    def _place_bubble(self) -> None:
        text = self.column.geometry()
        self._bubble.setGeometry(text.adjusted(-_PAD_PX, -GRID, _PAD_PX, GRID))

    def _ideal_width(self) -> int:
        metrics = QFontMetricsF(text_font(1.0))
        longest = max((line[:400] for line in self._text[:20_000].split("\n")), key=len, default="")
        widest = max(metrics.horizontalAdvance(line[:400]) for line in (longest, *self._text[:2000].split("\n")[:40]))
        return int(widest) + 2 * _PAD_PX + GRID


class AnswerView(MessageView):
    """What the model answers: growing, finished, stopped or broken off; its figures below."""

    grew = Signal()
    restart_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Answer"), ("copy", "edit", "regenerate", "go_on"), parent)
        self.can_go_on = False
        self._stream = BlockStream()
        self._n_resets = 0
        self._pending: list[str] = []
        self._said: list[str] = []
        self._rest = QTimer(self, singleShot=True, interval=0)
        self._rest.timeout.connect(self.close_text)
        self._thinking_since_s: float | None = None
        self.thought_s: float | None = None
        self.trace: TokenTrace | None = None
        self._colours: TokenColours | None = None
        self._mark_icon = QLabel()
        self._mark = QLabel(wordWrap=True)
        self._restart = QPushButton(tr("Start the engine again"))
        self._restart.clicked.connect(self.restart_requested)
        self._build()
        follow(self._tint)

    def _build(self) -> None:
        self._mark_row = named(QFrame(), "mark")
        mark = QHBoxLayout(self._mark_row)
        mark.setContentsMargins(GRID, GRID // 2, GRID // 2, GRID // 2)
        mark.setSpacing(GRID)
        mark.addWidget(self._mark_icon, 0, Qt.AlignmentFlag.AlignVCenter)
        mark.addWidget(self._mark, 1)
        mark.addWidget(self._restart)
        self._mark_row.hide()
        self._restart.hide()
        self._below_column.addWidget(self._mark_row)
        self._below_column.addWidget(self.foot)
        self.foot.show_actions()

    # --- text -----------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The whole answer as Markdown, what is not shown yet included."""
        if len(self._said) > 1:
            self._said = ["".join(self._said)]
        return self._said[0] if self._said else ""

    @property
    def words(self) -> str:
        """The answer without what was thought before it."""
        return split_reasoning(self.text)[1]

    @property
    def _parts(self) -> list[ProseView | CodeView]:
        return self.column.parts

    @property
    def needs_flush(self) -> bool:
        """Whether something arrived, or stands unrendered, since the last :meth:`flush`."""
        if self._pending:
            return True
        last = self.column.part(len(self.column.blocks) - 1)
        return isinstance(last, ProseView) and last.needs_render

    def add_text(self, text: str) -> None:
        """Take the next piece of the answer; it shows with the next :meth:`flush`."""
        if text:
            self._pending.append(text)
            self._said.append(text)
            self.grew.emit()

    def flush(self) -> None:
        """Show what has arrived, or as much of it as a moment allows."""
        if self._pending:
            text, began_s, at = "".join(self._pending), monotonic(), 0
            while at < len(text) and (monotonic() - began_s < _MOMENT_S or not at):
                self._stream.feed(text[at : at + _SLICE_CHARS])
                at += _SLICE_CHARS
            self._pending = [text[at:]] if at < len(text) else []
        self._show()

    def close_text(self) -> None:
        """Show everything in its final form, soon if it is megabytes; no more text will come."""
        self.flush()
        if self._pending:
            self._rest.start()
            return
        self._stream.close()
        self._show()
        if self._colours is not None:
            self._mark_tokens(is_final=True)
            self._colours.remark()  # what was rendered once more has lost its marks, though it reads the same
        self._show_actions()
        self._on_height()

    def _show_actions(self) -> None:
        actions: list[MessageAction] = ["copy", "edit", "regenerate"] if self.text.strip() else ["regenerate"]
        self.foot.show_actions(*actions, *(("go_on",) if self.can_go_on else ()))

    def offer_going_on(self, *, is_offered: bool) -> None:
        """Offer to let the answer go on, once it is complete in this form."""
        self.can_go_on = is_offered
        self._show_actions()

    def _show(self) -> None:
        blocks, first = self._stream.blocks, self._stream.take_changes()
        if self._stream.n_resets != self._n_resets:
            self._n_resets, first = self._stream.n_resets, 0
            self.column.reset()
        self._time_thought()
        self.column.show_blocks(blocks, first)
        if self._colours is not None:
            self._mark_tokens()

    def _time_thought(self) -> None:
        last = next((block for block in reversed(self._stream.blocks) if block.kind == "thought"), None)
        if last is None:
            return
        if last.is_open and self._thinking_since_s is None:
            self._thinking_since_s = monotonic()
        elif not last.is_open and self._thinking_since_s is not None:
            self.thought_s = (self.thought_s or 0.0) + monotonic() - self._thinking_since_s
            self._thinking_since_s = None
        self.column.say_thought(thought_words(self.thought_s, is_thinking=last.is_open))

    def show_thought_time(self, seconds: float | None) -> None:
        """Say how long a stored answer's thoughts took."""
        self.thought_s = seconds
        self.column.say_thought(thought_words(seconds, is_thinking=False))

    # --- tokens ---------------------------------------------------------------------------------------

    @property
    def token_colours(self) -> TokenColours | None:
        """What marks the tokens; None for an answer whose tokens are not known."""
        return self._colours

    def trace_tokens(self, trace: TokenTrace) -> None:
        """Mark the tokens of this answer from now on; all of it is built then, and its thoughts are unfolded."""
        from app.ui.token_colours import TokenColours

        self.trace = trace
        self.column.unfold_all()
        self.column.show_sources(is_on=True)  # the marks lie over what the model wrote
        self.show_range(float("-inf"), float("inf"))
        self._colours = TokenColours(trace, self)
        self._below_column.insertWidget(self._below_column.count() - 1, self._colours.legend)
        self._mark_tokens()

    def show_tokens(self, *, is_on: bool) -> None:
        """Put the marks of the tokens on or take them off, if they are known."""
        if self._colours is not None:
            self.column.show_sources(is_on=is_on)
            self._colours.show(is_on=is_on)

    def show_range(self, top: float, bottom: float) -> None:
        """Have widgets for what lies between; for everything, while tokens are marked."""
        if self.trace is not None:
            top, bottom = float("-inf"), float("inf")
        super().show_range(top, bottom)

    def _mark_tokens(self, *, is_final: bool = False) -> None:
        if self._colours is not None:
            self._colours.refresh(self.text, [part.edit for part in self.column.parts], is_final=is_final)

    # --- words around it ------------------------------------------------------------------------------

    def show_status(self, words: str) -> None:
        """Show one line below the text: what is going on, or the figures of the finished answer."""
        if self.foot.say(words):
            self._on_height()

    @property
    def status(self) -> str:
        """The line below the text."""
        return self.foot.words

    def show_mark(self, words: str, *, offer_restart: bool = False) -> None:
        """Mark the answer as broken off, with the reason; an empty text takes the mark away."""
        self._mark.setText(words)
        self._mark_row.setVisible(bool(words))
        self._restart.setVisible(offer_restart)
        self._on_height()

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

    def _tint(self) -> None:
        self._mark_icon.setPixmap(icon("warning", colours().warning).pixmap(18, 18))
