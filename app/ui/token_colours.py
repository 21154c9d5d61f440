"""Tokens made visible in an answer: drafted and kept, corrected, plain; by ground, underline and, on hover, words.

The marks lie over the text and are no part of it: rendering, copying and searching know nothing of them. They are put
on again when a part has changed, which takes at most a tenth of the time while an answer grows. Nothing of this exists
for an answer whose tokens were not asked for.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QColor, QHelpEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QTextEdit, QToolTip, QWidget

from app.metrics.token_trace import Token, TokenKind, TokenTrace, align, runs
from app.ui.theme import colours, follow, named, number_font
from app.ui.tr import tr
from app.ui.wording import drafter_name

Edit = QTextEdit | QPlainTextEdit

REFRESH_EVERY_S = 0.05
COST_SHARE = 10
"""Marking may take one part in so many of the time."""


class Mark(NamedTuple):
    """How tokens of a kind are marked; both grounds leave text and code at 4.5 : 1."""

    ground: str
    line: str
    style: QTextCharFormat.UnderlineStyle


MARKS: dict[bool, dict[TokenKind, Mark]] = {
    False: {
        "accepted": Mark("#dcf0fa", "#00629b", QTextCharFormat.UnderlineStyle.SingleUnderline),
        "corrected": Mark("#ffeedb", "#b34700", QTextCharFormat.UnderlineStyle.WaveUnderline),
    },
    True: {
        "accepted": Mark("#0b3344", "#56b4e9", QTextCharFormat.UnderlineStyle.SingleUnderline),
        "corrected": Mark("#45290a", "#f0a35e", QTextCharFormat.UnderlineStyle.WaveUnderline),
    },
}
"""By whether the scheme is dark. Blue and orange stay apart in all kinds of colour blindness; plain has no mark."""

_NAMES: dict[TokenKind, str] = {
    "accepted": tr("drafted and kept"),
    "corrected": tr("corrected"),
    "plain": tr("plain, not drafted"),
}


@dataclass(slots=True)
class _Part:
    """What is marked in one piece of an answer, so that it is not done twice."""

    edit: Edit
    shown: str = ""
    start: int = -1
    end: int = 0
    n_tokens: int = 0
    places: array[int] = field(default_factory=lambda: array("q"))


class TokenColours(QObject):
    """Marks the tokens of one answer."""

    def __init__(self, trace: TokenTrace, parent: QWidget) -> None:
        super().__init__(parent)
        self.trace = trace
        self._is_on = True
        self._text = ""
        self._parts: list[_Part] = []
        self._done_at_s = 0.0
        self._cost_s = 0.0
        self.legend = named(QLabel(wordWrap=True), "muted")
        self.legend.setFont(number_font(-0.5))
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.remark)
        follow(self._later.start)

    def refresh(self, text: str, edits: Sequence[Edit], *, is_final: bool = False) -> None:
        """Mark what is shown of ``text`` in the parts of an answer, unless that was done a moment ago."""
        self._text = text
        self._take_parts(edits)
        pause_s = max(REFRESH_EVERY_S, COST_SHARE * self._cost_s)
        if not self._is_on or (not is_final and monotonic() - self._done_at_s < pause_s):
            return
        started_s = monotonic()
        at = 0
        for part in self._parts:
            at = self._mark(part, at)
        self._show_legend()
        self._done_at_s = monotonic()
        self._cost_s = self._done_at_s - started_s

    def show(self, *, is_on: bool) -> None:
        """Put the marks on or take them off."""
        if is_on == self._is_on:
            return
        self._is_on = is_on
        self.legend.setVisible(is_on)
        if is_on:
            self.refresh(self._text, [part.edit for part in self._parts], is_final=True)
            return
        for part in self._parts:
            part.edit.setExtraSelections([])
            part.start = -1

    def remark(self) -> None:
        """Mark again in the colours of now; the parts have been rendered again before."""
        for part in self._parts:
            part.start = -1
        self.refresh(self._text, [part.edit for part in self._parts], is_final=True)

    def _take_parts(self, edits: Sequence[Edit]) -> None:
        for edit in edits[len(self._parts) :]:
            self._parts.append(_Part(edit))
            edit.viewport().installEventFilter(self)

    # --- marking --------------------------------------------------------------------------------------

    def _mark(self, part: _Part, start: int) -> int:
        """Mark a part whose characters follow ``start`` in the text; return where the next one's do."""
        shown = part.edit.document().toPlainText()
        n_tokens = len(self.trace.tokens)
        if (shown, start) == (part.shown, part.start) and (n_tokens == part.n_tokens or part is not self._parts[-1]):
            return part.end
        part.places, part.end = align(self._text, shown, start)
        part.shown, part.start, part.n_tokens = shown, start, n_tokens
        units = _units_before(shown)
        marks = MARKS[colours().is_dark]
        selections = []
        for begin, end, kind in runs(self.trace, part.places):
            if (mark := marks.get(kind)) is not None:
                selections.append(_selection(part.edit, units[begin], units[end], mark))
        part.edit.setExtraSelections(selections)
        return part.end

    def _show_legend(self) -> None:
        marks, counts = MARKS[colours().is_dark], self.trace.counts()
        words = []
        for kind, name in _NAMES.items():
            mark = marks.get(kind)
            sample = f"{name} {counts[kind]}"
            if mark is not None:  # rich text knows no waves: dashes stand for them
                line = "underline" if kind == "accepted" else "underline; font-style: italic"
                sample = f'<span style="background:{mark.ground}; text-decoration:{line}">&nbsp;{sample}&nbsp;</span>'
            words.append(sample)
        said = ", ".join(f"{_NAMES[kind]} {counts[kind]}" for kind in _NAMES)
        self.legend.setText(tr("Tokens: {counts}").format(counts=", ".join(words)))
        self.legend.setAccessibleName(tr("Tokens: {counts}").format(counts=said))

    # --- hovering -------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Say what is known of the token under the pointer."""
        if self._is_on and event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            part = next((part for part in self._parts if part.edit.viewport() is watched), None)
            token = self.token_at(part.edit, event.pos()) if part is not None else None
            if token is not None:
                QToolTip.showText(event.globalPos(), token_words(token), part.edit if part else None)
                return True
        return super().eventFilter(watched, event)

    def token_at(self, edit: Edit, point: QPoint) -> Token | None:
        """Return the token that is shown at a point of a part; None where none is."""
        part = next((part for part in self._parts if part.edit is edit), None)
        if part is None or not part.places:
            return None
        cursor = edit.cursorForPosition(point)
        unit = cursor.position()
        if unit and point.x() < edit.cursorRect(cursor).x():
            unit -= 1
        units = _units_before(part.shown)
        place = part.places[min(bisect_right(units, unit) - 1, len(part.places) - 1)]
        number = self.trace.at(place) if place >= 0 else None
        return self.trace.tokens[number] if number is not None else None


def token_words(token: Token) -> str:
    """Describe a token in lines: what it is, by whom, where, how likely."""
    lines = [tr("Token {names}").format(names=_NAMES[token.kind])]
    if token.kind == "accepted":
        lines.append(
            tr("by {drafter_name}, position {position} of {n_proposed}").format(
                drafter_name=drafter_name(token.drafter), position=token.position, n_proposed=token.n_proposed
            )
        )
    elif token.kind == "corrected":
        lines.append(
            tr("{drafter_name} had guessed otherwise at position {position}").format(
                drafter_name=drafter_name(token.drafter), position=token.position
            )
        )
    elif token.n_proposed:
        lines.append(
            tr("the target's own after a draft of {n_proposed} that it kept whole").format(n_proposed=token.n_proposed)
        )
    lines.append(
        tr("step {step}, probability {probability:.2f}").format(step=token.step, probability=token.probability)
    )
    return "\n".join(lines)


def _units_before(shown: str) -> Sequence[int]:
    """For each character of a text, and its end, its position in the document, which counts UTF-16 units."""
    if shown.isascii() or max(shown) <= "\uffff":
        return range(len(shown) + 1)
    units = array("q", [0])
    for letter in shown:
        units.append(units[-1] + 1 + (letter > "\uffff"))
    return units


def _selection(edit: Edit, begin: int, end: int, mark: Mark) -> QTextEdit.ExtraSelection:
    selection = QTextEdit.ExtraSelection()
    cursor = QTextCursor(edit.document())
    cursor.setPosition(begin)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    shape = QTextCharFormat()
    shape.setBackground(QColor(mark.ground))
    shape.setUnderlineStyle(mark.style)
    shape.setUnderlineColor(QColor(mark.line))
    selection.cursor = cursor
    selection.format = shape
    return selection
