"""Window state that nobody keeps: for pictures and measurements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import QSettings


@contextmanager
def passing_state() -> Iterator[QSettings]:
    """Yield settings in a folder of their own, which goes with them.

    Never in ``os.devnull``: Qt writes a new file and renames it to the name it was given, so for the administrator the
    device would become a file, and everything else on the machine that writes to nowhere would write to the disk.
    """
    with TemporaryDirectory() as folder:
        state = QSettings(str(Path(folder) / "window.ini"), QSettings.Format.IniFormat)
        yield state
        state.sync()  # what is left to write would be written later, and the folder made again for it
