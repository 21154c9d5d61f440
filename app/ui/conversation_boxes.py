"""What the values of a conversation's settings are entered in.

Each box shows a value and tells, by ``picked``, the one that the person has chosen; each can be reached and read
without a mouse and without eyes.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFileDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.chat.chat_settings import Constraint, ConstraintKind
from app.named_files import read_named
from app.ui.long_words import put_text
from app.ui.model_options import Choice
from app.ui.said import said
from app.ui.theme import GRID, code_font
from app.ui.tr import tr

_PAUSE_MS = 400
_LEAST_PX = 26
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_WRITTEN = {written: meant for meant, written in _ESCAPES.items()}
_MOST_FILE_BYTES = 4 * 1024 * 1024
FORMATS: tuple[tuple[ConstraintKind, str], ...] = (
    ("none", tr("No format")),
    ("json", tr("JSON, any")),
    ("json_schema", tr("JSON that fits a schema")),
    ("gbnf", tr("A grammar (GBNF)")),
)


def stop_lines(stop: object) -> str:
    """Write stop strings one a line."""
    texts = stop if isinstance(stop, tuple) else ()
    return "\n".join(re.sub(r"[\\\n\r\t]", lambda found: _ESCAPES[found[0]], text) for text in texts)


def stop_of(lines: str) -> tuple[str, ...]:
    """Read stop strings back; empty lines are none."""
    return tuple(re.sub(r"\\[\\nrt]", lambda found: _WRITTEN[found[0]], line) for line in lines.split("\n") if line)


class NumberBox(QDoubleSpinBox):
    """A number, whole or with up to three decimals; the wheel moves it only while the keyboard is here."""

    picked = Signal(object)

    def __init__(self, low: float, high: float, step: float, *, is_whole: bool = False) -> None:
        super().__init__()
        self._is_whole = is_whole
        self.setDecimals(0 if is_whole else 3)
        self.setRange(low, high)
        self.setSingleStep(step)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedWidth(144)
        self.setMinimumHeight(_LEAST_PX)
        self.valueChanged.connect(lambda value: self.picked.emit(self._meant(value)))

    def _meant(self, value: float) -> float | int:
        return round(value) if self._is_whole else round(value, 3)

    def show_value(self, value: object) -> None:
        """Show a number."""
        if isinstance(value, int | float):
            with QSignalBlocker(self):
                self.setValue(value)

    def textFromValue(self, value: float) -> str:
        """Write it without zeros at its end."""
        text = super().textFromValue(value)
        point = self.locale().decimalPoint()
        return text.rstrip("0").removesuffix(point) if point in text else text

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page unless somebody works here."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class TextBox(QPlainTextEdit):
    """A text of several lines; Tab leaves it. What is typed counts after a pause, or when the keyboard goes away."""

    picked = Signal(object)

    def __init__(
        self,
        height_px: int,
        *,
        write: Callable[[object], str] = str,
        read: Callable[[str], object] = str,
        is_code: bool = False,
    ) -> None:
        super().__init__()
        self._write, self._read = write, read
        self._shown = ""
        self.setTabChangesFocus(True)
        self.setMinimumHeight(height_px)
        if is_code:
            self.setFont(code_font())
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.flush)
        self.textChanged.connect(self._pause.start)

    def show_value(self, value: object) -> None:
        """Show a text, unless it is what stands there."""
        text = self._write(value)
        if self._pause.isActive() or self._read(self.toPlainText()) == value:
            return
        with QSignalBlocker(self):
            put_text(self, text)
        self._shown = text

    def put(self, value: object) -> None:
        """Show a text in place of what stands there, whatever was typed."""
        self._pause.stop()
        self.show_value(value)

    def flush(self) -> None:
        """Tell what stands there now."""
        self._pause.stop()
        if (text := self.toPlainText()) != self._shown:
            self._shown = text
            self.picked.emit(self._read(text))


class ChoiceBox(Choice):
    """One of a few values."""

    def __init__(self, name: str, why: str, values: tuple[tuple[object, str], ...]) -> None:
        super().__init__(name, why)
        self._offered = values
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def offer(self, values: tuple[tuple[object, str], ...]) -> None:
        """Offer other values from the next :meth:`show_value` on."""
        self._offered = values

    def show_value(self, value: object) -> None:
        """Show a value; one that is not offered is offered, too."""
        known = any(offered == value and type(offered) is type(value) for offered, _ in self._offered)
        self.fill(self._offered if known else (*self._offered, (value, str(value))), value)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page unless somebody works here."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class SeedBox(QWidget):
    """A new seed for each answer (``None``), or always the same."""

    picked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.kind = ChoiceBox(tr("Seed"), "", ((False, tr("New for each answer")), (True, tr("Always the same"))))
        self.number = NumberBox(0, (1 << 32) - 1, 1, is_whole=True)
        self.number.setAccessibleName(tr("Seed number"))
        self.setFocusProxy(self.kind)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.kind)
        row.addWidget(self.number, 1)
        row.addStretch(1)
        self.kind.picked.connect(self.on_kind)
        self.number.picked.connect(self.picked)
        self.show_value(None)

    def show_value(self, value: object) -> None:
        """Show a seed."""
        self.kind.show_value(value is not None)
        self.number.setVisible(value is not None)
        self.number.show_value(value)

    def on_kind(self, is_fixed: object) -> None:
        """Begin with some seed, or have a new one each time."""
        self.picked.emit(secrets.randbits(31) if is_fixed else None)


class FormatBox(QWidget):
    """The format that answers keep to; a schema or a grammar is typed, pasted or read from a file."""

    picked = Signal(object)
    refused = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.kind = ChoiceBox(tr("Format"), "", FORMATS)
        self.text = TextBox(180, is_code=True)
        self.text.setAccessibleName(tr("Schema or grammar"))
        self.load = QPushButton(tr("Read from a &file…"))
        self.setFocusProxy(self.kind)
        row = QHBoxLayout()
        row.addWidget(self.kind)
        row.addWidget(self.load)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addLayout(row)
        column.addWidget(self.text, 1)
        self.kind.picked.connect(lambda kind: self._pick(kind))
        self.text.picked.connect(lambda _text: self._pick(self._kind))
        self.load.clicked.connect(self.on_load)
        self._kind: ConstraintKind = "none"
        self.show_value(Constraint())

    def show_value(self, value: object) -> None:
        """Show a format; without one, what was typed before stays for when it is wanted again."""
        if not isinstance(value, Constraint):
            return
        self._kind = value.kind
        self.kind.show_value(value.kind)
        has_text = value.kind in ("json_schema", "gbnf")
        self.text.setVisible(has_text)
        self.load.setVisible(has_text)
        if has_text:
            self.text.show_value(value.text)

    def flush(self) -> None:
        """Tell what is typed now."""
        self.text.flush()

    def _pick(self, kind: ConstraintKind) -> None:
        has_text = kind in ("json_schema", "gbnf")
        self.picked.emit(Constraint(kind=kind, text=self.text.toPlainText() if has_text else ""))

    def on_load(self) -> None:
        """Ask for a file with a schema or a grammar."""
        dialog = QFileDialog(self.window(), tr("Read a schema or a grammar"))
        dialog.setNameFilters([tr("Schemas and grammars (*.json *.gbnf *.txt)"), tr("All files (*)")])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda name: self.read(Path(name)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def read(self, path: Path) -> None:
        """Take the text of a file."""
        try:
            put_text(self.text, read_text(path))
        except (OSError, UnicodeDecodeError, ValueError) as fault:
            self.refused.emit(unread_words(path, fault))
        else:
            self.text.flush()


def read_text(path: Path) -> str:
    """Read a text file of a few megabytes at most.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is not UTF-8.
        ValueError: it is larger than any schema, grammar or template is.
    """
    data = read_named(path, _MOST_FILE_BYTES)
    if len(data) > _MOST_FILE_BYTES:
        raise ValueError(f"it is larger than {_MOST_FILE_BYTES // 1024**2} MB")
    return data.decode("utf-8-sig")


def unread_words(path: Path, fault: Exception) -> str:
    """Say why :func:`read_text` did not read a file."""
    reason = fault.strerror if isinstance(fault, OSError) else str(fault)
    return tr("{name} cannot be read: {fault}").format(name=path.name, fault=said(reason or ""))
