"""The charts as a picture: to the clipboard, to a PNG or an SVG file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from app.errors import ExportError
from app.ui.theme import colours
from app.ui.tr import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintDevice

KINDS = tr("PNG picture (*.png);;SVG drawing (*.svg)")

_SCALE = 2.0
"""Pixels of a PNG for one of the screen at least: it ends up in documents."""


def copy_picture(charts: QWidget) -> None:
    """Put a picture of the charts on the clipboard."""
    QGuiApplication.clipboard().setPixmap(_pixmap(charts))


def save_picture(charts: QWidget, path: Path) -> Path:
    """Write a picture of the charts, an SVG if the name says so, else a PNG; return where.

    Raises:
        ExportError: the file cannot be written.
    """
    if path.suffix.lower() not in (".svg", ".png"):
        path = path.with_name(f"{path.name}.png")
    written = _write_svg(charts, path) if path.suffix.lower() == ".svg" else _pixmap(charts).save(str(path), "PNG")
    if not written:
        raise ExportError(
            tr("Cannot write {path}.").format(path=path), tr("Is the disk full, or the folder read-only?")
        )
    return path


def _pixmap(charts: QWidget) -> QPixmap:
    scale = max(_SCALE, charts.devicePixelRatioF())
    pixmap = QPixmap(charts.size() * scale)
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(QColor(colours().window))
    _render(charts, pixmap)
    return pixmap


def _write_svg(charts: QWidget, path: Path) -> bool:
    from PySide6.QtSvg import QSvgGenerator  # not before somebody wants one

    try:
        path.touch()
    except OSError:
        return False
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(charts.size())
    generator.setViewBox(QRect(QPoint(0, 0), charts.size()))
    generator.setTitle(tr("Slipstream: decode speed and acceptance"))
    _render(charts, generator)
    return path.stat().st_size > 0


def _render(charts: QWidget, device: QPaintDevice) -> None:
    painter = QPainter(device)
    painter.fillRect(charts.rect(), QColor(colours().window))
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    charts.render(painter, QPoint(0, 0))
    painter.end()
