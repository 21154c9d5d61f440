"""Two dialogs about sessions: how one is exported, and two side by side."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtGui import QImageReader, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.metrics.compare import figure_rows
from app.metrics.pictures import HEIGHT, WIDTH, Inks
from app.ui.compared_words import difference_words, figure_words, ratio_words, way_words
from app.ui.dialog_size import fit
from app.ui.theme import GRID, colours, named, number_font
from app.ui.tr import tr
from app.ui.wording import tip

if TYPE_CHECKING:
    from app.metrics.compare import SessionComparison

_PICTURE_PX = 430
_AROUND_PX = 64
"""What is beside two pictures: margins, the space between, and a bar to scroll with."""
_EXPORT_PX = (500, 270)

_FIGURES = {
    "answers": (tr("answers"), tr("Answers that came to their end under no mark: those that count.")),
    "decode speed, tok/s": (
        tr("decode speed, tok/s"),
        tr(
            "Decode speed: emitted tokens after the first chunk ÷ the time from the first chunk to the last, engine "
            "time; the median of the answers with its 95 % interval."
        ),
    ),
    "TTFT, s": (tr("first token, s"), tr("From the request to the first token emitted; the median of the answers.")),
    "acceptance": (tr("acceptance"), tr("Draft tokens kept ÷ draft tokens sent to the target.")),
    "alpha": (
        tr("alpha, per token"),
        tr("Draft tokens kept ÷ those the target ruled on, up to the first rejected."),
    ),
    "tokens per step": (tr("tokens per step"), tr("Tokens emitted ÷ passes of the target.")),
    "verdict": (
        tr("verdict"),
        tr("From pairs of answers with and without speculation in that session, never from acceptance."),
    ),
}
"""What the rows of the table are called, and what they mean."""
_RATIO = tr("decode speed of B ÷ A")
_RATIO_MEANING = tr(
    "Decode speed of B ÷ that of A from answers to the same prompts at the same context length, at least six; the "
    "interval allows for two sessions of one machine that differ a little by themselves."
)


class ExportDialog(QDialog):
    """Asks whether prompts and paths go along, and shows how far the export has come."""

    folder_wanted = Signal()
    cancelled = Signal()

    def __init__(self, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Export session metrics"))
        self._private = QCheckBox(tr("Leave out prompts and paths"))
        self._private.setChecked(True)
        self._bar = QProgressBar(maximum=1000, textVisible=False)
        self._bar.setAccessibleName(tr("Progress of the export"))
        self._bar.hide()
        self._export, self._cancel = QPushButton(tr("Export into a folder…"), default=True), QPushButton(tr("Cancel"))
        about = QLabel(
            tr(
                "{words}\n\n"
                "metrics.json holds every step, so that each figure can be computed again; metrics.csv and "
                "steps.csv are for spreadsheets; report.html and report.md with its charts are for people."
            ).format(words=words),
            wordWrap=True,
        )
        note = named(QLabel(tr("Own prompts are numbered then. Answers are never exported."), wordWrap=True), "muted")
        self._export.clicked.connect(self.folder_wanted)
        self._cancel.clicked.connect(self.reject)
        self.rejected.connect(self.cancelled)
        buttons = QHBoxLayout()
        buttons.addStretch()
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._export)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        for part in (about, self._private, note, self._bar):
            column.addWidget(part)
        column.addStretch()
        column.addLayout(buttons)
        self.setMinimumSize(*_EXPORT_PX)  # wrapped text does not tell a dialog how high it gets

    @property
    def is_redacted(self) -> bool:
        """Whether prompts and paths are left out."""
        return bool(self._private.isChecked())

    def show_progress(self, share: float) -> None:
        """Show how far it has come; nothing can be chosen any more."""
        self._bar.show()
        self._bar.setValue(round(share * 1000))
        self._export.setEnabled(False)
        self._private.setEnabled(False)


class CompareDialog(QDialog):
    """Two sessions side by side: conditions that differ, figures, charts."""

    open_wanted = Signal(int)  # the side

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Compare sessions"))
        fit(self, 940, 680)
        self._names = (QLabel(wordWrap=True), QLabel(wordWrap=True))
        self._opens = (QPushButton(tr("Open another…")), QPushButton(tr("Open another…")))
        self._differences = named(QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText), "muted")
        self._table = QTableWidget(0, 3)
        self._pictures = (QVBoxLayout(), QVBoxLayout())
        self._connect()
        self._build()

    def _connect(self) -> None:
        self._table.setHorizontalHeaderLabels(["", "A", "B"])
        self._table.verticalHeader().hide()
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self._table.setAccessibleName(tr("Figures of both sessions"))
        self._table.setWordWrap(True)
        for side, button in enumerate(self._opens):
            button.setAccessibleName(tr("Open another session as {letter}").format(letter="AB"[side]))
            button.clicked.connect(lambda _checked=False, n=side: self.open_wanted.emit(n))

    def _build(self) -> None:
        page, grid = QWidget(), QGridLayout()
        for side in (0, 1):
            head = QHBoxLayout()
            head.addWidget(self._names[side], 1)
            head.addWidget(self._opens[side], 0, Qt.AlignmentFlag.AlignTop)
            grid.addLayout(head, 0, side)
            grid.addLayout(self._pictures[side], 3, side)
            grid.setColumnStretch(side, 1)
        grid.addWidget(self._differences, 1, 0, 1, 2)
        grid.addWidget(self._table, 2, 0, 1, 2)
        grid.setHorizontalSpacing(GRID * 2)
        grid.setRowStretch(4, 1)
        page.setLayout(grid)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setWidget(page)
        close = QPushButton(tr("Close"), default=True)
        close.clicked.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, GRID)
        column.addWidget(area)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignHCenter)

    def show_comparison(
        self, found: SessionComparison, about: tuple[str, str], drawings: tuple[dict[str, str], dict[str, str]]
    ) -> None:
        """Show both; ``about`` says what each holds, ``drawings`` are SVG documents by name."""
        for side, label in enumerate(self._names):
            label.setText(f"<b>{'AB'[side]}: {escape(found.names[side])}</b><br>{escape(about[side])}")
        said = list(map(difference_words, found.differences))
        self._differences.setText(
            tr("Different conditions. {differences}").format(differences="; ".join(said))
            if said
            else tr("Measured under like conditions.")
        )
        self._fill(found)
        for side, place in enumerate(self._pictures):
            while (item := place.takeAt(0)) is not None:
                if (old := item.widget()) is not None:
                    old.deleteLater()
            for name, drawing in drawings[side].items():
                place.addWidget(_picture(name, drawing, min(_PICTURE_PX, (self.width() - _AROUND_PX) // 2)))

    def texts(self) -> list[tuple[str, ...]]:
        """The table as shown."""
        cells = [[self._table.item(row, n) for n in range(3)] for row in range(self._table.rowCount())]
        return [tuple("" if cell is None else str(cell.text()) for cell in row) for row in cells]

    @property
    def differences(self) -> str:
        """What is said about the conditions."""
        return str(self._differences.text())

    def _fill(self, found: SessionComparison) -> None:
        rows: list[tuple[str, ...]] = []
        for way in found.ways:
            rows.append((way_words(way.way), "", ""))
            rows += [(name, figure_words(name, a), figure_words(name, b)) for name, a, b in figure_rows(way)]
            rows.append((_RATIO, ratio_words(way), ""))
        self._table.clearSpans()
        self._table.setRowCount(len(rows))
        for n, row in enumerate(rows):
            is_head = not any(row[1:])
            for column, text in enumerate(row):
                name, meaning = _FIGURES.get(row[0], (row[0], _RATIO_MEANING if row[0] == _RATIO else ""))
                item = QTableWidgetItem(text if column else name)
                item.setToolTip(tip(meaning))
                item.setFont(number_font(bold=is_head))
                self._table.setItem(n, column, item)
            if is_head:
                self._table.setSpan(n, 0, 1, 3)
            elif not row[2]:
                self._table.setSpan(n, 1, 1, 2)
        self._table.resizeRowsToContents()
        height = sum(self._table.rowHeight(n) for n in range(len(rows))) + self._table.horizontalHeader().height() + 6
        self._table.setFixedHeight(height)


def inks() -> Inks:
    """Return the colours of the window for charts that are drawn for it."""
    scheme = colours()
    return Inks(scheme.base, scheme.text, scheme.muted, scheme.border, scheme.accent, scheme.plain)


def picture_of(drawing: str, width_px: int, scale: float) -> QPixmap:
    """Draw an SVG document so wide, sharp on a screen of this scale."""
    from PySide6.QtCore import QBuffer, QIODevice

    buffer = QBuffer()
    buffer.setData(QByteArray(drawing.encode()))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(b"svg"))
    wide = round(width_px * scale)
    reader.setScaledSize(QSize(wide, round(wide * HEIGHT / WIDTH)))
    pixmap = QPixmap.fromImage(reader.read())
    pixmap.setDevicePixelRatio(scale)
    return pixmap


def _picture(name: str, drawing: str, width_px: int) -> QLabel:
    label = QLabel()
    label.setPixmap(picture_of(drawing, width_px, label.devicePixelRatioF()))
    label.setAccessibleName(tr("Chart: {name}").format(name=name))
    return label
