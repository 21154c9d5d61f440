"""Whether a disk has room for all that is on its way to it."""

from __future__ import annotations

import shutil
from pathlib import Path

from app.engine.byte_cursor import size_in_words
from app.errors import DiskFullError, DownloadError

SPARE_BYTES = 512 << 20
"""What downloads leave free: a system without any room does strange things."""


def check_room(folder: Path, needed_bytes: int, queued_bytes: int, spare_bytes: int = SPARE_BYTES) -> None:
    """Compare what is still to come, of this item and of all others in the queue, with what is free.

    Raises:
        DiskFullError: it does not fit.
        DownloadError: the disk does not say.
    """
    try:
        free_bytes = shutil.disk_usage(folder).free
    except OSError as fault:
        raise DownloadError(f"{folder} is not there: {fault.strerror}.", "Is the disk it is on connected?") from fault
    lacking = needed_bytes + queued_bytes + spare_bytes - free_bytes
    if needed_bytes == 0 or lacking <= 0:
        return
    also = f", and {size_in_words(queued_bytes)} more are on their way there" if queued_bytes else ""
    raise DiskFullError(
        f"It needs {size_in_words(needed_bytes)}; the disk of {folder} has {size_in_words(free_bytes)} free{also}.",
        f"Make room for {size_in_words(lacking)} more, or take a smaller quantisation.",
    )
