"""The folders of LM Studio, Jan, GPT4All and GenieX, read in place; all keep plain GGUF files in folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from app.engine.parts import whole_name
from app.models.found import Found, Source, entries_of, folders_below, gguf_files, read_note, read_small

_JAN_PATH = re.compile(r"""^model_path:[ \t]*["']?([^"'\r\n]+?)["']?[ \t]*$""", re.MULTILINE)
_JAN_DEPTH = 4


class _StudioSettings(msgspec.Struct, frozen=True):
    downloadsFolder: str = ""  # noqa: N815 - as in the file


def find_in_folders(folder: Path, source: Source) -> Iterator[Found]:
    """Yield GGUF files that lie as ``publisher/repository/file.gguf``."""
    for path in gguf_files(folder):
        parts = path.relative_to(folder).parts
        yield Found(path, whole_name(path.stem), source, "/".join(parts[:2]) if len(parts) > 2 else "")


def find_gpt4all(folder: Path) -> Iterator[Found]:
    """Yield the GGUF files of GPT4All; those that it is still getting are called ``incomplete-…``."""
    for path in gguf_files(folder, depth=1):
        if not path.name.startswith("incomplete-"):
            yield Found(path, whole_name(path.stem), "GPT4All")


def find_jan(folder: Path) -> Iterator[Found]:
    """Yield the models of Jan: folders named as the model, with ``model.yml`` that says where the file is."""
    for here, _ in sorted(folders_below(folder, _JAN_DEPTH)):
        names = {entry.name for entry in entries_of(here)}
        if here == folder or not ("model.yml" in names or any(name.lower().endswith(".gguf") for name in names)):
            continue
        name = here.relative_to(folder).as_posix() if here.is_relative_to(folder) else here.name
        paths = list(gguf_files(here, depth=0)) or _jan_link(here / "model.yml")
        for path in paths:
            is_alone = len(paths) == 1 or path.stem == "model"
            yield Found(path, name if is_alone else f"{name}/{whole_name(path.stem)}", "Jan")


def _jan_link(note: Path) -> list[Path]:
    """Return the file elsewhere that a model was made of; only whole paths are followed."""
    match = _JAN_PATH.search((read_small(note) or b"").decode("utf-8", "replace"))
    if match is None:
        return []
    path = Path(match[1])
    return [path] if path.is_absolute() and ".." not in path.parts and path.suffix.lower() == ".gguf" else []


def lm_studio_folders(home: Path) -> list[Path]:
    """Return where LM Studio keeps its models: in the folder of its settings, or in its home, or in an older one."""
    pointer = (read_small(home / ".lmstudio-home-pointer") or b"").decode("utf-8", "replace").strip()
    homes = [Path(pointer)] if pointer and Path(pointer).is_absolute() else []
    homes += [home / ".lmstudio", home / ".cache" / "lm-studio"]
    folders = []
    for place in homes:
        settings = read_note(place / "settings.json", _StudioSettings)
        if settings is not None and Path(settings.downloadsFolder).is_absolute():
            folders.append(Path(settings.downloadsFolder))
        folders.append(place / "models")
    return list(dict.fromkeys(folders))
