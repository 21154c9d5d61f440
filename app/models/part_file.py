"""The bytes of a file that have arrived so far; one process at a time adds to them.

Parts lie in one hidden folder inside the models folder (the same disk, so that the last step is a rename), each named
by the hash of what it will be: a part can only ever be continued with bytes of the same file.

The end of the program loses nothing that was written; the end of the machine may leave garbage at the end of the part.
So a note beside it says how many bytes are on the disk for sure and in which run of the machine that was, and after
another start of the machine the part is cut back to them.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from io import FileIO
from pathlib import Path

import msgspec

from app.errors import DownloadError
from app.models.file_lock import FileLock
from app.models.remote import RemoteFile, check_digest

PARTS_FOLDER = ".downloads"

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_CLOCK_DRIFT_S = 30.0
"""The start of the machine is reckoned from its clock, which is put right now and then."""


class Synced(msgspec.Struct, frozen=True):
    """So many bytes are on the disk for sure; ``boot`` names the run of the machine."""

    boot: str
    n_bytes: int


class PartFile:
    """One part and its lock; not for two threads at once.

    Raises:
        DownloadError: the file has no hash that a part could be named by.
    """

    def __init__(self, models_folder: Path, file: RemoteFile) -> None:
        check_digest(file)
        stem = file.digest.replace(":", "-")
        self.path = models_folder / PARTS_FOLDER / f"{stem}.part"
        self._lock = FileLock(self.path.with_suffix(".lock"))
        self._synced_path = self.path.with_suffix(".synced")
        self._what = file.path

    @property
    def n_bytes(self) -> int:
        """How many bytes are there."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            DownloadError: somebody else has it, or the folder cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            is_ours = self._lock.acquire()
        except OSError as fault:
            raise DownloadError(
                f"{self.path.parent} cannot be written: {fault.strerror or fault}.", "Check that folder's permissions."
            ) from fault
        if not is_ours:
            raise DownloadError(
                f"{self._what} is being downloaded by another window or command.",
                "Wait for it to finish, or end it there and start again here.",
            )

    def release(self) -> None:
        """Give the lock back; the bytes stay."""
        self._lock.release()

    def is_taken(self) -> bool:
        """Tell whether somebody is adding to it, in this process or another."""
        return self._lock.is_taken()

    def open(self) -> FileIO:
        """Open the part for appending, unbuffered: what has been written survives the end of this process.

        Raises:
            OSError: it cannot be opened.
        """
        part = FileIO(self.path, "ab")
        try:
            synced = self._read_synced()
            if synced is not None and not _is_this_boot(synced.boot) and self.n_bytes > synced.n_bytes:
                part.truncate(synced.n_bytes)
            if synced is None or not _is_this_boot(synced.boot):
                self.note_synced(min(self.n_bytes, synced.n_bytes if synced else 0))
        except BaseException:
            part.close()
            raise
        return part

    def note_synced(self, n_bytes: int) -> None:
        """Put down that the first ``n_bytes`` are on the disk.

        Raises:
            OSError: the note cannot be written.
        """
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".new.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(Synced(_this_boot(), n_bytes)))
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._synced_path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise

    def move(self, place: Path) -> None:
        """Put the whole part into its place.

        Raises:
            OSError: it cannot be put there.
        """
        self.path.replace(place)
        with suppress(OSError):
            self._synced_path.unlink()

    def discard(self) -> None:
        """Delete the bytes."""
        self.path.unlink(missing_ok=True)
        self._synced_path.unlink(missing_ok=True)

    def _read_synced(self) -> Synced | None:
        try:
            return msgspec.json.decode(self._synced_path.read_bytes(), type=Synced)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None


def _this_boot() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        import psutil

        return f"{psutil.boot_time():.0f}"


def _is_this_boot(boot: str) -> bool:
    now = _this_boot()
    if boot.isdecimal() and now.isdecimal():
        return abs(int(boot) - int(now)) <= _CLOCK_DRIFT_S
    return boot == now
