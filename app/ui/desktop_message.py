"""A message of the desktop on Linux: by the desktop portal (``org.freedesktop.portal.Notification``), or notify-send.

The older ``org.freedesktop.Notifications`` wants an unsigned number, which Qt's bus cannot send from Python.
"""

from __future__ import annotations

import html
import logging
import shutil
import subprocess
import sys
from functools import partial

from app.host.background import beside

logger = logging.getLogger(__name__)

_SERVICE, _PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
_INTERFACE = "org.freedesktop.portal.Notification"
_ANSWER_MS, _SEND_S = 3000, 5.0


async def by_bus(words: str, title: str) -> None:
    """Show a message, if there is something that shows messages; else nothing."""
    if sys.platform == "linux" and not await beside(partial(_send, words, title), "desktop message"):
        logger.info("this desktop shows no messages")


def _send(words: str, title: str) -> bool:
    from PySide6.QtDBus import QDBusConnection, QDBusMessage

    bus = QDBusConnection.sessionBus()
    if bus.isConnected():
        call = QDBusMessage.createMethodCall(_SERVICE, _PATH, _INTERFACE, "AddNotification")
        call.setArguments(["answer-ended", {"title": words, "body": title}])
        if bus.call(call, timeout=_ANSWER_MS).type() == QDBusMessage.MessageType.ReplyMessage:
            return True
    program = shutil.which("notify-send")
    if program is None:
        return False
    argv = [program, "--app-name=Slipstream", "--", words, html.escape(title)]
    try:
        return subprocess.run(argv, timeout=_SEND_S, check=False, stdin=subprocess.DEVNULL).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
