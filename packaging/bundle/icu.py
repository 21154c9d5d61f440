"""ICU's data on Linux: keep what Qt asks ICU for. It is one library with one table in it, a tenth of a bundle.

The table is ICU's *common data* (``udata.h``, ``ucmndata.h``): a header, the number of items, for each the offsets of
its name and of its contents from there, the names, and the contents at multiples of 16, in the order of the names.
"""

from __future__ import annotations

import re
import struct
import subprocess
import tempfile
from pathlib import Path

from bundle.pruning import Rule, stays, unused

MAGIC = b"\xda\x27"
ALIGNED = 16

SOURCE = """\
    .section .note.GNU-stack,"",@progbits
    .section .rodata
    .global {symbol}
    .type {symbol}, @object
    .size {symbol}, {n_bytes}
    .balign 16
{symbol}:
    .incbin "{place}"
"""


def items(table: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Take a table apart: its header, and its items by name, without the version's prefix that all names have.

    Raises:
        ValueError: it is no such table.
    """
    n_header, magic = struct.unpack_from("<H2s", table)
    if magic != MAGIC:
        raise ValueError("this is no table of ICU's data")
    (n_items,) = struct.unpack_from("<I", table, n_header)
    places = [struct.unpack_from("<II", table, n_header + 4 + 8 * one) for one in range(n_items)]
    ends = [begin for _, begin in places[1:]] + [len(table) - n_header]
    found = {}
    for (name_at, begin), end in zip(places, ends, strict=True):
        name = table[n_header + name_at : table.index(b"\0", n_header + name_at)].decode("ascii")
        found[name] = table[n_header + begin : n_header + end]
    return table[:n_header], found


def table_of(header: bytes, kept: dict[str, bytes]) -> bytes:
    """Put a table together again."""
    names, name_places, at = b"", [], 4 + 8 * len(kept)
    for name in kept:
        name_places.append(at + len(names))
        names += name.encode("ascii") + b"\0"
    contents, at = [_filled(names, at)], at + len(_filled(names, at))
    entries = struct.pack("<I", len(kept))
    for place, content in zip(name_places, kept.values(), strict=True):
        entries += struct.pack("<II", place, at)
        contents.append(_filled(content, at))
        at += len(contents[-1])
    return header + entries + b"".join(contents)


def make_small(library: Path, chosen: list[Rule]) -> int:
    """Leave out of ICU's data library what the rules say, whose patterns are of the items' names; return bytes freed.

    Raises:
        SystemExit: this is no such library, or a rule matches nothing.
    """
    told = subprocess.run(["nm", "-D", "--defined-only", str(library)], check=True, capture_output=True, text=True)
    symbol = re.search(r"\bicudt\d+_dat\b", told.stdout)
    if symbol is None:
        raise SystemExit(f"{library.name} holds no data of ICU")
    with tempfile.TemporaryDirectory() as scratch:
        place, source, made = (Path(scratch, name) for name in ("table", "table.s", "made"))
        dump = ["objcopy", "--dump-section", f".rodata={place}", str(library), str(made)]
        subprocess.run(dump, check=True)
        table = place.read_bytes()
        header, found = items(table)
        plain = {name: name.partition("/")[2] for name in found}
        if superfluous := unused(plain.values(), chosen):
            raise SystemExit("rules for ICU in packaging/prune.txt that match nothing: " + ", ".join(superfluous))
        small = table_of(header, {name: found[name] for name in found if stays(plain[name], chosen)})
        place.write_bytes(small)
        source.write_text(SOURCE.format(symbol=symbol[0], n_bytes=len(small), place=place), encoding="ascii")
        flags = ["-shared", "-nostdlib", "-Wl,-Bsymbolic", f"-Wl,-soname,{library.name}", "-Wl,-s"]
        subprocess.run(["cc", *flags, "-o", str(library), str(source)], check=True)
    return len(table) - len(small)


def _filled(content: bytes, at: int) -> bytes:
    """Return it with zeros behind, so that what follows is at a multiple of 16; ``at``: where it begins."""
    return content + bytes(-(at + len(content)) % ALIGNED)
