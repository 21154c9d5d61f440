"""How full the model's context is: a bar, a count, and what will be left out when it does not fit."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.ui.theme import GRID, colours, follow, named, number_font
from app.ui.tr import tr

_BAR_PX = (64, 6)


@dataclass(frozen=True, slots=True)
class ContextUse:
    """Tokens of the message being written, of all that goes before it, and what the context and an answer take.

    ``n_cut`` is how many messages, the oldest, will be left out; ``fits`` is whether the next message can be sent.
    """

    n_typed: int
    n_before: int
    n_ctx: int
    n_answer: int
    n_cut: int = 0
    fits: bool = True

    @property
    def share(self) -> float:
        """How full the context is before the answer."""
        return min(1.0, (self.n_typed + self.n_before) / self.n_ctx)


def gauge_words(use: ContextUse, *, is_sliding: bool) -> str:
    """Say how full the context is, and what that means for the next message."""
    used = use.n_typed + use.n_before
    words = tr("{used:,} of {n_ctx:,} tokens").format(used=used, n_ctx=use.n_ctx)
    if used > use.n_ctx:  # what is older was not counted
        words = tr("more than {n_ctx:,} tokens").format(n_ctx=use.n_ctx)
    if use.n_typed:
        words = tr("{n_typed:,} tokens typed, {words}").format(n_typed=use.n_typed, words=words)
    left = use.n_ctx - used
    if not use.fits:
        if use.n_typed >= use.n_ctx:
            return tr("{words}: this message alone does not fit. Shorten it, or choose a longer context.").format(
                words=words
            )
        if not is_sliding:
            return tr(
                "{words}: it does not fit. Choose a longer context, let old messages be left out, or start anew."
            ).format(words=words)
    if use.n_cut:
        oldest = tr("the oldest message") if use.n_cut == 1 else tr("the oldest %n message(s)", None, use.n_cut)
        return tr("{words}: {oldest} will be left out.").format(words=words, oldest=oldest)
    if left < use.n_answer:
        return tr("{words}: an answer can have {left:,} more.").format(words=words, left=max(0, left))
    return words


class _Bar(QWidget):
    share = 0.0
    is_full = False

    def sizeHint(self) -> QSize:
        return QSize(*_BAR_PX)

    def paintEvent(self, _event: QPaintEvent) -> None:
        scheme, painter = colours(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(0, (self.height() - _BAR_PX[1]) / 2, _BAR_PX[0], _BAR_PX[1])
        painter.setPen(QColor(scheme.edge))
        painter.setBrush(QColor(scheme.base))
        painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(scheme.warning if self.is_full else scheme.accent))
        area.setWidth(area.width() * self.share)
        painter.drawRoundedRect(area, 3, 3)


class ContextGauge(QWidget):
    """The bar and the words; hidden while nothing is known."""

    def __init__(self) -> None:
        super().__init__()
        self._bar = _Bar()
        self._bar.setFixedSize(*_BAR_PX)
        self._label = named(QLabel(wordWrap=True), "status")
        self._label.setFont(number_font(-1.0))
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID, 0, GRID, 0)
        row.setSpacing(GRID)
        row.addWidget(self._bar, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._label, 1)
        follow(self._bar.update)
        self.hide()

    def show_use(self, use: ContextUse | None, *, is_sliding: bool = False) -> None:
        """Show how full the context is; nothing while that is not known."""
        self.setVisible(use is not None)
        if use is None:
            return
        self._bar.share, self._bar.is_full = use.share, bool(use.n_cut) or not use.fits
        self._bar.update()
        words = gauge_words(use, is_sliding=is_sliding)
        self._label.setText(words)
        self._label.setAccessibleName(tr("Context: {words}").format(words=words))

    @property
    def words(self) -> str:
        """What it says."""
        return "" if self.isHidden() else str(self._label.text())
