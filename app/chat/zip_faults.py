"""What Python's ``zipfile`` raises for an archive that is none, is locked, or is broken somewhere."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib

BROKEN = (
    zipfile.BadZipFile,
    KeyError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
)
"""Of these only the first is its own; it lets the others through."""
