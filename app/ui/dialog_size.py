"""How large a dialog opens: as large as it likes, where the screen has room for that."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

FRAME = QSize(16, 48)
"""What the system's frame and title may take."""


def fit(dialog: QWidget, width: int, height: int) -> None:
    """Give a dialog this size, or what its screen has room for."""
    room = (dialog.parentWidget() or dialog).screen().availableGeometry().size() - FRAME
    dialog.resize(QSize(width, height).boundedTo(room))
