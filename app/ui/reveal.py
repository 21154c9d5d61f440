"""Shows a file in the file manager of the system, selected where that is possible.

Linux: ``org.freedesktop.FileManager1`` on the session bus, else the folder. Windows: Explorer. macOS: Finder.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.host.background import beside

_SERVICE, _PATH = "org.freedesktop.FileManager1", "/org/freedesktop/FileManager1"
_ANSWER_MS = 3000


async def reveal(path: Path) -> bool:
    """Show a file; tell whether something was there to show it with. Of a link the link is shown."""
    path = path.absolute()
    if sys.platform == "win32":
        # One string: Explorer reads its command line itself, and wants the quotes after the comma.
        subprocess.Popen(f'explorer /select,"{path}"')
        return True
    if sys.platform == "darwin":
        subprocess.Popen(["open", "-R", str(path)])
        return True
    return await beside(partial(_by_bus, path), "file manager") or show_folder(path.parent)


def show_folder(folder: Path) -> bool:
    """Open a folder; tell whether something was there to open it with."""
    return bool(QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))))


def _by_bus(path: Path) -> bool:
    from PySide6.QtDBus import QDBusConnection, QDBusMessage

    bus = QDBusConnection.sessionBus()
    if not bus.isConnected():
        return False
    call = QDBusMessage.createMethodCall(_SERVICE, _PATH, _SERVICE, "ShowItems")
    call.setArguments([[QUrl.fromLocalFile(str(path)).toString(QUrl.ComponentFormattingOption.FullyEncoded)], ""])
    return bus.call(call, timeout=_ANSWER_MS).type() == QDBusMessage.MessageType.ReplyMessage
