"""How large a dialog opens: as large as it likes, where the screen has room for that."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPushButton, QWidget

from app.ui.font_size import font_scale

FRAME = QSize(16, 48)
"""What the system's frame and title may take."""


def without_default(dialog: QWidget) -> None:
    """Let Enter in a field press no button: a change counts at once, and Esc closes."""
    for button in dialog.findChildren(QPushButton):
        button.setAutoDefault(False)
        button.setDefault(False)


def fit(dialog: QWidget, width: int, height: int) -> None:
    """Give a dialog this size, more where texts are larger than the system's, at most what its screen has room for."""
    scale = font_scale()
    room = (dialog.parentWidget() or dialog).screen().availableGeometry().size() - FRAME
    dialog.resize((QSize(width, height) * scale).boundedTo(room))
