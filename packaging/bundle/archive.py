"""One file of a bundle, the same for the same content: sorted, without owners, with one time for all."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import tarfile
import time
from datetime import UTC, datetime
from pathlib import Path

from bundle.project import SBOM


def made_s() -> int:
    """Return the time that a build bears: SOURCE_DATE_EPOCH, else now."""
    return int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))


def made_date() -> str:
    """Return the same as a date."""
    return datetime.fromtimestamp(made_s(), UTC).date().isoformat()


def pack(root: Path, archive: Path) -> None:
    """Write a folder into a .tar.gz, with the folder's name at its top."""

    def plain(item: tarfile.TarInfo) -> tarfile.TarInfo:
        item.uid = item.gid = 0
        item.uname = item.gname = ""
        item.mtime = made_s()
        item.mode = 0o755 if item.isdir() or item.mode & 0o100 else 0o644
        return item

    with (
        archive.open("wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=made_s()) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        tar.add(root, root.name, recursive=False, filter=plain)
        for path in sorted(root.rglob("*")):
            tar.add(path, f"{root.name}/{path.relative_to(root).as_posix()}", recursive=False, filter=plain)


def write_hashes(files: list[Path], place: Path) -> None:
    """Write the SHA-256 of files as ``sha256sum --check`` reads them."""
    lines = []
    for path in files:
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    place.write_text("".join(lines), encoding="utf-8")


def bom_beside(root: Path) -> Path:
    """Copy a bundle's bill of materials beside it, under a name that tells whose it is; return the copy's path."""
    return Path(shutil.copyfile(root / SBOM, root.with_name(f"{root.name}.cdx.json")))


def n_bytes(root: Path) -> int:
    """Return the bytes of all files of a folder."""
    return sum(path.lstat().st_size for path in root.rglob("*") if not path.is_dir())
