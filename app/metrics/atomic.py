"""Writing a file so that a crash at any moment leaves the old one or the new one, never half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from app.errors import ExportError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a new file beside ``path`` that takes its place when the block ends well, and vanishes otherwise.

    Raises:
        ExportError: the folder or the file cannot be written.
    """
    part: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        part = Path(name)
        with os.fdopen(handle, "wb", buffering=1024 * 1024) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.chmod(0o644)  # mkstemp makes it private; what is exported is meant to be handed on
        part.replace(path)
        part = None
    except OSError as fault:
        raise ExportError(
            f"Cannot write {path}: {fault.strerror or fault}", "Is the disk full, or the folder read-only?"
        ) from fault
    finally:
        if part is not None:
            part.unlink(missing_ok=True)
