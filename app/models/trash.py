"""Moving a file to the trash of the desktop, where there is one on that disk.

Linux: the trash of freedesktop.org (specification 1.0) in the home folder, for files on the same disk. Windows: the
recycle bin, through the shell. macOS: the folder ``.Trash``.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from app.paths import person_dir

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    class _Operation(ctypes.Structure):
        """``SHFILEOPSTRUCTW``."""

        _fields_ = (
            ("hwnd", wintypes.HWND),
            ("wFunc", wintypes.UINT),
            ("pFrom", wintypes.LPCWSTR),
            ("pTo", wintypes.LPCWSTR),
            ("fFlags", wintypes.WORD),
            ("fAnyOperationsAborted", wintypes.BOOL),
            ("hNameMappings", ctypes.c_void_p),
            ("lpszProgressTitle", wintypes.LPCWSTR),
        )

    _DELETE = 3
    _FLAGS = (
        0x0040 | 0x0010 | 0x0004 | 0x0400 | 0x4000
    )  # undo, no question, silent, no error window, warn of a real end

    def move_to_trash(path: Path) -> bool:
        """Move a file to the trash; tell whether there was one.

        Raises:
            OSError: it could not be moved.
        """
        operation = _Operation(wFunc=_DELETE, pFrom=f"{path.resolve()}\0", fFlags=_FLAGS)
        status = ctypes.windll.shell32.SHFileOperationW(ctypes.byref(operation))
        if status:
            raise OSError(status, "the recycle bin did not take it", str(path))
        return not operation.fAnyOperationsAborted

else:

    def move_to_trash(path: Path) -> bool:
        """Move a file to the trash; tell whether there was one.

        Raises:
            OSError: it could not be moved.
        """
        return _to_mac(path) if sys.platform == "darwin" else _to_desktop(path)


def _to_mac(path: Path) -> bool:
    trash = Path.home() / ".Trash"
    if not trash.is_dir() or not _is_same_disk(path, trash):
        return False
    path.rename(_free_name(trash, path.name))
    return True


def _to_desktop(path: Path) -> bool:
    trash = Path(os.environ.get("XDG_DATA_HOME") or (person_dir() or Path(os.devnull)) / ".local/share") / "Trash"
    if not trash.parent.is_dir() or not _is_same_disk(path, trash.parent):
        return False
    files, about = trash / "files", trash / "info"
    for folder in (trash, files, about):
        folder.mkdir(mode=0o700, exist_ok=True)
    when = datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S")
    text = f"[Trash Info]\nPath={quote(os.fsencode(path.absolute()))}\nDeletionDate={when}\n"
    target, note = _reserve(files, about, path.name, text)
    try:
        path.rename(target)
    except OSError:
        with suppress(OSError):
            note.unlink()
        raise
    return True


def _reserve(files: Path, about: Path, name: str, text: str) -> tuple[Path, Path]:
    """Write the note under a name that is free; two processes cannot both make it."""
    while True:
        target = _free_name(files, name)
        note = about / f"{target.name}.trashinfo"
        try:
            with note.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            name = f"{target.stem} 2{target.suffix}"
            continue
        return target, note


def _free_name(folder: Path, name: str) -> Path:
    target, number = folder / name, 1
    while target.exists():
        number += 1
        target = folder / f"{Path(name).stem} {number}{Path(name).suffix}"
    return target


def _is_same_disk(path: Path, folder: Path) -> bool:
    return path.stat().st_dev == folder.stat().st_dev
