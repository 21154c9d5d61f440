"""Choosing the file of a model."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QFileDialog, QWidget

from app.ui.tr import tr


def choose_model_file(parent: QWidget, title: str, then: Callable[[str], None]) -> None:
    """Ask for a GGUF file, and hand its path on if one is chosen."""
    dialog = QFileDialog(parent, title)
    dialog.setNameFilters([tr("Models (*.gguf)"), tr("All files (*)")])
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.fileSelected.connect(then)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
