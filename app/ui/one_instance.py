"""One window per person and data folder: a second start brings the first one to the front and leaves.

A lock file decides, because it is quick and survives crashes (Qt checks whether its owner still lives); a local socket
carries the one word, and the names of model files that the second start was given.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLockFile, QObject, Signal

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

RAISE = b"raise\n"

_WAIT_MS = 1000
_START_S, _PAUSE_S = 5.0, 0.05
"""How long the one instance may take from its claim until it listens, and how often it is looked for meanwhile."""


_LONGEST_PATH = 100
"""Bytes of a socket's path; systems allow 104 and more, with what Qt appends while it binds."""


def _socket_names(folder: Path) -> list[str]:
    """Name the socket after the data folder, so that two people, or two portable copies, do not meet.

    It lies in that folder where it can, so that what a crash leaves behind is replaced by the next start or goes with
    the folder; where it cannot (a long path, a file system without sockets, Windows), where Qt puts it.
    """
    import hashlib  # after the first paint, like QtNetwork below

    whole = folder.resolve()
    name = "slipstream-" + hashlib.sha256(str(whole).encode()).hexdigest()[:16]
    path = str(whole / "window.socket")
    return [path, name] if sys.platform != "win32" and len(os.fsencode(path)) <= _LONGEST_PATH else [name]


class OneInstance(QObject):
    """The claim of one process on a data folder."""

    raise_requested = Signal()
    files_given = Signal(list)  # paths of model files that a later start was given

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self._lock = QLockFile(str(folder / "window.lock"))
        self._lock.setStaleLockTime(0)
        self._server: QLocalServer | None = None
        self._callers: list[QLocalSocket] = []

    def claim(self) -> bool:
        """Become the one instance; false if another process is."""
        return bool(self._lock.tryLock(0)) or self._lock.error() == QLockFile.LockError.PermissionError

    def give_way(self, files: Sequence[Path] = ()) -> bool:
        """Call the one instance, and wait for that while it starts; false if this process is the one to show a window.

        That it is, too, if the other does not answer: a window more is better than none.
        """
        end_s = time.monotonic() + _START_S
        while not self.claim():
            if self.call(files):
                return True
            if time.monotonic() > end_s:
                return False
            time.sleep(_PAUSE_S)
        return False

    def listen(self) -> None:
        """Hear about later starts."""
        from PySide6.QtNetwork import QLocalServer

        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self.on_connection)
        for name in _socket_names(self._folder):
            QLocalServer.removeServer(name)
            if self._server.listen(name):
                return

    def call(self, files: Sequence[Path] = ()) -> bool:
        """Ask the one instance to come to the front, and to take files; false if it does not answer."""
        from PySide6.QtNetwork import QLocalSocket

        for name in _socket_names(self._folder):
            socket = QLocalSocket()
            socket.connectToServer(name)
            if socket.waitForConnected(_WAIT_MS):
                socket.write(RAISE + b"".join(os.fsencode(path) + b"\0" for path in files))
                sent = bool(socket.waitForBytesWritten(_WAIT_MS))
                socket.disconnectFromServer()
                return sent
        return False

    def release(self) -> None:
        """Let another process become the one instance."""
        for socket in self._callers:
            socket.disconnected.disconnect(self.on_caller_left)
            socket.deleteLater()
        self._callers.clear()
        if self._server is not None:
            self._server.close()
            self._server = None
        self._lock.unlock()

    def on_connection(self) -> None:
        """Take a later start's word."""
        while self._server is not None and (socket := self._server.nextPendingConnection()) is not None:
            self._callers.append(socket)
            socket.disconnected.connect(self.on_caller_left)
            self.raise_requested.emit()
        self.on_caller_left()  # some were quicker

    def on_caller_left(self) -> None:
        """Take the files that later starts were given, once they have named them all."""
        for socket in [one for one in self._callers if one.state() == one.LocalSocketState.UnconnectedState]:
            self._callers.remove(socket)
            said = bytes(socket.readAll().data()).removeprefix(RAISE)
            socket.deleteLater()
            if files := [Path(os.fsdecode(name)) for name in said.split(b"\0") if name]:
                self.files_given.emit(files)
