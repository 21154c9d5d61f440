"""Runtimes that a bundle brings along in its folder ``runtimes``: on the list, and used once somebody chooses one.

The folder may be moved, and an upgrade exchanges what is in it: they are looked for anew each time, and one that was
chosen is known again by its name.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.engine.runtime_files import has_llama
from app.host.packs import BUILT_IN, Pack, Shelf

FOLDER = "runtimes"


def folders(bundle: Path | None) -> list[Path]:
    """Return the folders of the runtimes that a bundle brings; none without a bundle."""
    if bundle is None:
        return []
    try:
        return sorted(folder for folder in (bundle / FOLDER).iterdir() if has_llama(folder))
    except OSError:
        return []


def with_brought(shelf: Shelf, bundle: Path | None) -> Shelf:
    """Return the list with the runtimes that a bundle brings, where they are now."""
    packs = list(shelf.packs)
    for folder in folders(bundle):
        if any(pack.folder == str(folder) for pack in packs):
            continue
        moved = [n for n, pack in enumerate(packs) if pack.name == folder.name and not has_llama(Path(pack.folder))]
        if moved:
            packs[moved[0]] = Pack(folder.name, str(folder), "", "")
        else:
            taken = {BUILT_IN, *(pack.name for pack in packs)}
            packs.append(Pack(_free(folder.name, taken), str(folder), "", ""))
    return msgspec.structs.replace(shelf, packs=tuple(packs))


def _free(wanted: str, taken: set[str]) -> str:
    """Return a name that no other has."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name
