"""The bytes of a file that have arrived so far; one process at a time adds to them.

Parts lie in one hidden folder inside the models folder (the same disk, so that the last step is a rename), each named
by the hash of what it will be: a part can only ever be continued with bytes of the same file.
"""

from __future__ import annotations

from io import FileIO
from pathlib import Path

from app.errors import DownloadError
from app.models.file_lock import FileLock
from app.models.remote import RemoteFile

PARTS_FOLDER = ".downloads"


class PartFile:
    """One part and its lock; not for two threads at once."""

    def __init__(self, models_folder: Path, file: RemoteFile) -> None:
        stem = file.digest.replace(":", "-")
        self.path = models_folder / PARTS_FOLDER / f"{stem}.part"
        self._lock = FileLock(self.path.with_suffix(".lock"))
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
        """Open the part for appending, unbuffered: what has been written survives the end of this process."""
        return FileIO(self.path, "ab")

    def discard(self) -> None:
        """Delete the bytes."""
        self.path.unlink(missing_ok=True)
