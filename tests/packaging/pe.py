"""The libraries that a native file of Windows asks for, read from its import table."""

from __future__ import annotations

import struct
from pathlib import Path

_PE32_PLUS = 0x20B
_ARM64 = 0xAA64


def imports(path: Path) -> list[str]:
    """Return the names of the libraries in the import table.

    Raises:
        ValueError: it is not a native file for 64-bit ARM.
    """
    data = path.read_bytes()
    (head,) = struct.unpack_from("<I", data, 0x3C)
    machine, n_sections = struct.unpack_from("<HH", data, head + 4)
    (n_optional,) = struct.unpack_from("<H", data, head + 20)
    optional = head + 24
    (magic,) = struct.unpack_from("<H", data, optional)
    if data[:2] != b"MZ" or magic != _PE32_PLUS or machine != _ARM64:
        raise ValueError(f"{path.name} is not for 64-bit ARM (machine {machine:#x})")
    (table,) = struct.unpack_from("<I", data, optional + 112 + 8)
    sections = [struct.unpack_from("<IIII", data, optional + n_optional + 40 * n + 8) for n in range(n_sections)]

    def at(address: int) -> int:
        """Return where in the file an address is."""
        return next(raw + address - start for size, start, _n, raw in sections if start <= address < start + size)

    names, place = [], at(table) if table else 0
    while place and (name := struct.unpack_from("<I", data, place + 12)[0]):
        start = at(name)
        names.append(data[start : data.index(b"\0", start)].decode("ascii"))
        place += 20
    return names
