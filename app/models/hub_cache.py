"""The cache of huggingface-hub, read in place: what its other users have got is here already.

    models--org--name/refs/main                          the commit that was got last
    models--org--name/snapshots/<commit>/file.gguf   →   ../../blobs/<sha256>       (where links are possible)

llama.cpp's ``-hf`` keeps its files in the same layout. Nothing in it is ever changed by us.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from app.engine.parts import whole_name
from app.errors import UsageError
from app.models.found import Found, Source, entries_of, gguf_files, read_small, real_path
from app.models.remote import RemoteFile, check_repo

_PREFIX = "models--"
_SNAPSHOT_DEPTH = 4


def find(folder: Path, source: Source = "hub cache") -> Iterator[Found]:
    """Yield the GGUF files of a cache; of several snapshots of a repository the current one first."""
    for repo, place in _repositories(folder):
        for snapshot in _snapshots(place):
            for path in gguf_files(snapshot, _SNAPSHOT_DEPTH):
                yield Found(path, whole_name(path.stem), source, repo)


def find_file(folders: Sequence[Path], file: RemoteFile) -> Path | None:
    """Return where a cache has this very file, as far as names and sizes tell; its hash is still to be compared."""
    digest = file.digest.partition(":")[2]
    for folder in folders:
        place = folder / (_PREFIX + file.repo.replace("/", "--"))
        for snapshot in _snapshots(place):
            path = snapshot.joinpath(*file.path.split("/"))
            real = real_path(path)
            is_it = real.name == digest or not path.is_symlink()
            if is_it and _size(path) == file.n_bytes and real.is_relative_to(real_path(place)):
                return path
    return None


def _repositories(folder: Path) -> Iterator[tuple[str, Path]]:
    for entry in sorted(entries_of(folder), key=lambda entry: entry.name.lower()):
        if not entry.name.startswith(_PREFIX):
            continue
        repo = entry.name.removeprefix(_PREFIX).replace("--", "/")
        try:
            check_repo(repo)
        except UsageError:
            continue
        yield repo, Path(entry.path)


def _snapshots(place: Path) -> list[Path]:
    """Return the snapshots of a repository, the one that ``main`` names first, then the newest."""
    main = (read_small(place / "refs" / "main") or b"").strip().decode("ascii", "replace")
    found = []
    for entry in entries_of(place / "snapshots"):
        try:
            if entry.is_dir():
                found.append((entry.name != main, -entry.stat().st_mtime_ns, Path(entry.path)))
        except OSError:  # a link in a circle
            continue
    return [path for *_, path in sorted(found)]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else -1
    except OSError:
        return -1
