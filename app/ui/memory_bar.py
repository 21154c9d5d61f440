"""What a pair takes of this computer's memory: a bar to see at a glance, and a table to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.ui.model_words import memory_sentence, share_words
from app.ui.theme import GRID, colours, follow, named, number_font, text_font
from app.ui.tr import tr
from app.ui.wording import bytes_words

if TYPE_CHECKING:
    from app.models.memory import PairMemory, Room, Share

_HEIGHT_PX = 18
_SWATCH_PX = 10


class Part(NamedTuple):
    """One part of what is taken: its name, bytes, the colour's field of the scheme and a pattern to tell it apart."""

    name: str
    n_bytes: int
    colour: str
    pattern: Qt.BrushStyle


def parts_of(memory: PairMemory) -> list[Part]:
    """Return what a pair takes, part by part."""
    target, draft = memory.target, memory.draft
    solid, dense, cross = Qt.BrushStyle.SolidPattern, Qt.BrushStyle.Dense3Pattern, Qt.BrushStyle.BDiagPattern
    context = target.kv_bytes + target.state_bytes
    parts = [Part(tr("Target"), target.weights_bytes, "accent", solid)]
    if draft is not None:
        parts.append(Part(tr("Draft"), draft.weights_bytes, "plain", solid))
        context += draft.kv_bytes + draft.state_bytes
    working = target.compute_bytes + (draft.compute_bytes if draft is not None else 0)
    parts.append(Part(tr("Context (KV)"), context, "accent", dense))
    parts.append(Part(tr("Working memory"), working, "muted", cross))
    return parts


class MemoryBar(QWidget):
    """Draws what is taken by others, what a pair would take, and where this computer's memory ends."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: Sequence[Part] = ()
        self._room: Room | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        follow(self.update)

    def sizeHint(self) -> QSize:
        """One line."""
        return QSize(240, _HEIGHT_PX + 2)

    def show_parts(self, parts: Sequence[Part], room: Room) -> None:
        """Draw these parts on this machine."""
        need = sum(part.n_bytes for part in parts)
        verdict = tr("fits") if need <= room.usable_bytes else tr("does not fit into what is free")
        need_words, free, total = map(bytes_words, (need, room.free_bytes, room.total_bytes))
        said = tr("Memory: takes {need_words}, {free} of {total} are free; {verdict}").format(
            need_words=need_words, free=free, total=total, verdict=verdict
        )
        self._draw(parts, room, said)

    def show_share(self, share: Share) -> None:
        """Draw what a pair takes of one device's memory, all in one."""
        part = Part(share.room.device, share.n_bytes, "accent", Qt.BrushStyle.SolidPattern)
        self._draw([part], share.room, share_words(share))

    def _draw(self, parts: Sequence[Part], room: Room, said: str) -> None:
        self._parts, self._room = parts, room
        self.setAccessibleName(said)
        self.setToolTip(self.accessibleName())
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bar."""
        if self._room is None:
            return
        scheme, room = colours(), self._room
        used = max(0, room.total_bytes - room.free_bytes)
        whole = max(room.total_bytes, used + sum(part.n_bytes for part in self._parts))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(0.5, 1.5, self.width() - 1, _HEIGHT_PX - 1)
        painter.setPen(QPen(QColor(scheme.border)))
        painter.setBrush(QColor(scheme.base))
        painter.drawRoundedRect(frame, 4, 4)
        painter.setPen(Qt.PenStyle.NoPen)
        x = frame.left()
        others = Part("", used, "border", Qt.BrushStyle.SolidPattern)
        for part in (others, *self._parts):
            width = frame.width() * part.n_bytes / whole
            painter.fillRect(QRectF(x, frame.top() + 1, width, frame.height() - 2), _brush(part))
            x += width
        if whole > room.total_bytes:  # where the memory ends
            end = frame.left() + frame.width() * room.total_bytes / whole
            painter.setPen(QPen(QColor(scheme.danger), 2))
            painter.drawLine(round(end), 0, round(end), self.height())


def _brush(part: Part) -> QBrush:
    return QBrush(QColor(getattr(colours(), part.colour)), part.pattern)


class _Swatch(QWidget):
    """A piece of the bar beside its name."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(_SWATCH_PX, _SWATCH_PX)
        self.part: Part | None = None

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it."""
        if self.part is not None:
            painter = QPainter(self)
            painter.fillRect(self.rect(), QColor(colours().base))
            painter.fillRect(self.rect(), _brush(self.part))


class _DeviceRow(QWidget):
    """What one device takes: a line, and a bar if the device tells how much memory it has."""

    def __init__(self) -> None:
        super().__init__()
        self.words = QLabel(wordWrap=True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setFont(number_font())
        self.bar = MemoryBar()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.words)
        column.addWidget(self.bar)

    def show_share(self, share: Share) -> None:
        """Show what a device takes."""
        self.words.setText(share_words(share))
        self.bar.setVisible(share.room.is_known)
        self.bar.show_share(share)


class MemoryView(QWidget):
    """The bar, or one for each device that has a share; the table below it, and a sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.bar = MemoryBar()
        self.sentence = named(QLabel(wordWrap=True), "muted")
        self.sentence.setFont(text_font(-0.5))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[_Swatch, QLabel, QLabel]] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self.bar)
        column.addLayout(self._grid)
        self._devices = QVBoxLayout()
        self._devices.setSpacing(GRID // 2)
        self._device_rows: list[_DeviceRow] = []
        column.addLayout(self._devices)
        column.addWidget(self.sentence)

    @property
    def said(self) -> str:
        """What the bar, or the devices' bars, show, in words."""
        return " ".join(self.device_words) or self.bar.accessibleName()

    @property
    def device_words(self) -> list[str]:
        """What is said of each device that has a share."""
        return [row.words.text() for row in self._device_rows if not row.isHidden()]

    @property
    def table(self) -> list[tuple[str, str]]:
        """What the table says, row by row."""
        return [(name.text(), value.text()) for _, name, value in self._rows if not name.isHidden()]

    def show_memory(self, memory: PairMemory) -> None:
        """Show what a pair takes."""
        self._fill(parts_of(memory), memory.room, memory.shares)
        self.sentence.setText(memory_sentence(memory))

    def show_estimate(self, n_bytes: int, room: Room, words: str) -> None:
        """Show what only the catalog tells."""
        self._fill([Part(tr("Pair, about"), n_bytes, "accent", Qt.BrushStyle.SolidPattern)], room)
        self.sentence.setText(words)

    def _fill(self, parts: Sequence[Part], room: Room, shares: Sequence[Share] = ()) -> None:
        self.bar.show_parts(parts, room)
        self.bar.setVisible(not shares)
        self._show_shares(shares)
        total = sum(part.n_bytes for part in parts)
        lines: list[tuple[Part | None, str, int]] = [(part, part.name, part.n_bytes) for part in parts]
        lines += [(None, tr("Total"), total), *([] if shares else [(None, tr("Free now"), room.free_bytes)])]
        while len(self._rows) < len(lines):
            self._add_row()
        for index, row in enumerate(self._rows):
            is_used = index < len(lines)
            for widget in row:
                widget.setVisible(is_used)
            if is_used:
                self._show_row(row, lines[index])

    def _show_shares(self, shares: Sequence[Share]) -> None:
        while len(self._device_rows) < len(shares):
            self._device_rows.append(_DeviceRow())
            self._devices.addWidget(self._device_rows[-1])
        for index, row in enumerate(self._device_rows):
            row.setVisible(index < len(shares))
            if index < len(shares):
                row.show_share(shares[index])

    def _show_row(self, row: tuple[_Swatch, QLabel, QLabel], line: tuple[Part | None, str, int]) -> None:
        swatch, name, value = row
        part, words, n_bytes = line
        swatch.part = part
        swatch.update()
        name.setText(words)
        value.setText(bytes_words(n_bytes))
        value.setAccessibleName(f"{words}: {bytes_words(n_bytes)}")
        for label in (name, value):
            label.setFont(number_font(bold=words == "Total"))

    def _add_row(self) -> None:
        row = (_Swatch(), QLabel(), QLabel(alignment=Qt.AlignmentFlag.AlignRight))
        at = len(self._rows)
        self._grid.addWidget(row[0], at, 0, Qt.AlignmentFlag.AlignVCenter)
        self._grid.addWidget(row[1], at, 1)
        self._grid.addWidget(row[2], at, 2)
        self._rows.append(row)
