"""Icons from the one SVG source: PNG files for Linux, one ICO file for Windows."""

from __future__ import annotations

import struct
from pathlib import Path

from bundle.project import ROOT

SOURCE = ROOT / "resources" / "icons" / "app.svg"
PNG_SIZES_PX = (16, 24, 32, 48, 64, 128, 256, 512)
ICO_SIZES_PX = (16, 20, 24, 32, 40, 48, 64, 256)


def png(size_px: int) -> bytes:
    """Draw the icon as a square PNG."""
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(size_px, size_px, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(SOURCE)).render(painter)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(data.data())


def ico(sizes_px: tuple[int, ...] = ICO_SIZES_PX) -> bytes:
    """Draw the icon in several sizes into one ICO file, each as PNG, as Windows reads it since Vista."""
    pictures = [png(size) for size in sizes_px]
    head, at = struct.pack("<HHH", 0, 1, len(pictures)), 6 + 16 * len(pictures)
    for size, picture in zip(sizes_px, pictures, strict=True):
        side = 0 if size == 256 else size
        head += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(picture), at)
        at += len(picture)
    return head + b"".join(pictures)


def write_hicolor(share: Path, name: str) -> None:
    """Write the icon for a desktop's theme: the source and its sizes."""
    for size in PNG_SIZES_PX:
        place = share / "icons" / "hicolor" / f"{size}x{size}" / "apps" / f"{name}.png"
        place.parent.mkdir(parents=True)
        place.write_bytes(png(size))
    place = share / "icons" / "hicolor" / "scalable" / "apps" / f"{name}.svg"
    place.parent.mkdir(parents=True)
    place.write_bytes(SOURCE.read_bytes())
