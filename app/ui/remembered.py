"""What a file of window state remembers of sizes and splits; a damaged file costs them, not the window."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSettings


def state_in(geometry: QSettings, name: str) -> QByteArray:
    """Return what was kept under a name for Qt to restore; what is no such thing restores nothing."""
    value = geometry.value(name)
    return value if isinstance(value, QByteArray) else QByteArray()
