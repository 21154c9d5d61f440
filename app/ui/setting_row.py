"""One setting: its words, a control, plain help below, and a button that takes it back to its default."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLabel, QLineEdit, QSpinBox, QWidget

from app.ui.font_size import font_bus, font_scale
from app.ui.setting_fields import Field
from app.ui.theme import GRID, IconButton, named, text_font
from app.ui.tr import tr

_CONTROL_PX, _MOST_WIDER = 220, 1.5


class SettingRow(QWidget):
    """Shows a value and reports another one that was chosen."""

    chosen = Signal(str, object)  # the setting, its new value

    def __init__(self, field: Field, default: object) -> None:
        super().__init__()
        self.field, self._default = field, default
        self._value: object = default
        self.control = self._make()
        self.control.setAccessibleName(field.words)
        self.control.setAccessibleDescription(field.help)
        self.reset = IconButton("restart", tr("Take “{words}” back to its default").format(words=field.words))
        self.reset.clicked.connect(lambda: self.chosen.emit(field.name, default))
        policy = self.reset.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(policy)
        self.help = named(QLabel(field.help, wordWrap=True), "muted")
        self.help.setFont(text_font(-0.5))
        self.fault = named(QLabel(wordWrap=True), "fault")
        self.fault.hide()
        self._build()

    def _make(self) -> QCheckBox | QComboBox | QSpinBox | QLineEdit:
        field = self.field
        if field.kind == "switch":
            box = QCheckBox(field.words)
            box.clicked.connect(lambda is_on: self.chosen.emit(field.name, bool(is_on)))
            return box
        if field.kind == "choice":
            combo = QComboBox()
            for value, words in field.choices:
                combo.addItem(words, value)
            combo.activated.connect(lambda at: self.chosen.emit(field.name, combo.itemData(at)))
            return combo
        if field.kind == "number":
            spin = QSpinBox()
            spin.setRange(*field.limits)
            spin.setSuffix(f" {field.unit}")
            spin.valueChanged.connect(lambda number: self.chosen.emit(field.name, number))
            return spin
        line = QLineEdit()
        line.setPlaceholderText(field.hint)
        line.editingFinished.connect(self.on_text)
        return line

    def _build(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(GRID)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 1)
        if self.field.kind == "switch":
            grid.addWidget(self.control, 0, 0, 1, 2)
        else:
            label = QLabel(self.field.words)
            label.setBuddy(self.control)
            grid.addWidget(label, 0, 0)
            self._fit_control()
            font_bus().changed.connect(self._fit_control)
            grid.addWidget(self.control, 0, 1)
        grid.addWidget(self.reset, 0, 2, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.help, 1, 0, 1, 2)
        grid.addWidget(self.fault, 2, 0, 1, 2)

    def _fit_control(self) -> None:
        """Let all controls of a page be as wide, unless one has more to show."""
        width = _CONTROL_PX if self.field.kind != "text" else 2 * _CONTROL_PX - 6 * GRID
        self.control.setFixedWidth(max(round(width * min(font_scale(), _MOST_WIDER)), self.control.sizeHint().width()))

    def show_value(self, value: object) -> None:
        """Show what is chosen now; the button is there if that is not the default."""
        self._value = value
        self.reset.setVisible(value != self._default)
        control, blocker = self.control, QSignalBlocker(self.control)
        if isinstance(control, QCheckBox):
            control.setChecked(bool(value))
        elif isinstance(control, QComboBox):
            control.setCurrentIndex(control.findData(value))
        elif isinstance(control, QSpinBox):
            control.setValue(int(str(value)))
        elif control.text() != value:
            control.setText(str(value))
        blocker.unblock()
        self.show_fault("")

    def show_fault(self, words: str) -> None:
        """Say why what was typed cannot be taken."""
        self.fault.setText(words)
        self.fault.setVisible(bool(words))
        self.control.setAccessibleDescription(f"{words} {self.field.help}".strip())

    def on_text(self) -> None:
        """Report a text once it is whole, if it is another one."""
        if isinstance(self.control, QLineEdit):
            text = self.control.text().strip()
            if text != self._value:
                self.chosen.emit(self.field.name, text)
