"""Where models lie on this machine: our folder, and those of other programs, which are only read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.engine.parts import whole_name
from app.models import hub_cache, llama_cache, ollama
from app.models.file_lock import FileLock
from app.models.found import Found, Source, gguf_files, is_lone
from app.models.neighbours import find_gpt4all, find_in_folders, find_jan, lm_studio_folders
from app.models.part_file import PARTS_FOLDER
from app.paths import person_dir

ONLY_OWN = "SLIPSTREAM_ONLY_OWN"
"""Set to 1 to leave the folders of other programs alone."""

Find = Callable[[Path], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Place:
    """One folder, whose it is, and how it is laid out."""

    source: Source
    folder: Path
    find: Find
    depth: int = 4

    def files(self) -> Iterator[Found]:
        """Yield what may be models."""
        return self.find(self.folder)


def own_place(folder: Path) -> Place:
    """Return our folder, or one laid out alike."""
    return Place("folder", folder, find_own)


def find_own(folder: Path) -> Iterator[Found]:
    """Yield the GGUF files of our folder; a repository's lie two folders deep.

    The first part of a split model comes last: while one is taken in, the others are not told of.
    """
    is_importing = None
    for path in gguf_files(folder):
        if is_lone(path):
            if is_importing is None:
                is_importing = any(
                    FileLock(lock).is_taken() for lock in (folder / PARTS_FOLDER).glob("importing-*.lock")
                )
            if is_importing:
                continue
        parts = path.relative_to(folder).parts
        origin = "/".join(parts[:2]) if len(parts) > 2 else ""
        yield Found(path, whole_name(path.stem), "folder", origin)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What tells where other programs keep things."""

    home: Path
    environ: Mapping[str, str]
    platform: str

    @classmethod
    def here(cls) -> Surroundings:
        """Return those of this process; without a home folder nothing is looked for in it."""
        return cls(person_dir() or Path(os.devnull), os.environ, sys.platform)

    def named(self, *variables: str) -> Path | None:
        """Return the folder that the first of these variables names."""
        value = next((self.environ[name] for name in variables if self.environ.get(name)), "")
        return Path(value).expanduser() if value else None

    def cache(self) -> Path:
        """Return the folder of caches of this platform."""
        match self.platform:
            case "win32":
                return self.named("LOCALAPPDATA") or self.home / "AppData" / "Local"
            case "darwin":
                return self.home / "Library" / "Caches"
            case _:
                return self.named("XDG_CACHE_HOME") or self.home / ".cache"

    def data(self, *, roams: bool = False) -> Path:
        """Return the folder of programs' data of this platform."""
        match self.platform:
            case "win32" if roams:
                return self.named("APPDATA") or self.home / "AppData" / "Roaming"
            case "win32":
                return self.named("LOCALAPPDATA") or self.home / "AppData" / "Local"
            case "darwin":
                return self.home / "Library" / "Application Support"
            case _:
                return self.named("XDG_DATA_HOME") or self.home / ".local" / "share"


def other_places(around: Surroundings | None = None) -> list[Place]:
    """Return the folders of other programs, whether or not they are there; none if nobody wants them looked at."""
    around = Surroundings.here() if around is None else around
    if around.environ.get(ONLY_OWN) == "1":
        return []
    jan = around.data(roams=True) / "Jan" / "data"
    older_jan = around.home / ".config" / "Jan" / "data"
    return [
        *(Place("hub cache", folder, hub_cache.find, 6) for folder in hub_folders(around)),
        *(Place("llama.cpp", folder, llama_cache.find, 6) for folder in _llama_folders(around)),
        *(
            Place("LM Studio", folder, lambda folder: find_in_folders(folder, "LM Studio"))
            for folder in lm_studio_folders(around.home)
        ),
        *(Place("Ollama", folder, ollama.find, 7) for folder in _ollama_folders(around)),
        *(
            Place("GenieX", folder, lambda folder: find_in_folders(folder, "GenieX"))
            for folder in _each(around.home / ".cache" / "geniex" / "models")
        ),
        *(
            Place("Jan", folder / kind, find_jan, 5)
            for folder in _each(jan, older_jan)
            for kind in (Path("llamacpp", "models"), Path("models"))
        ),
        Place("GPT4All", around.data() / "nomic.ai" / "GPT4All", find_gpt4all, 1),
    ]


def hub_folders(around: Surroundings) -> list[Path]:
    """Return the hub's cache, as huggingface-hub finds it."""
    named = around.named("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")
    if named is not None:
        return [named]
    home = around.named("HF_HOME")
    if home is None:
        home = (around.named("XDG_CACHE_HOME") or around.home / ".cache") / "huggingface"
    return [home / "hub"]


def shared_caches() -> list[Path]:
    """Return the caches with the hub's layout, in which a download may have been made already."""
    around = Surroundings.here()
    if around.environ.get(ONLY_OWN) == "1":
        return []
    return _each(*hub_folders(around), *_llama_folders(around))


def _llama_folders(around: Surroundings) -> list[Path]:
    return _each(*filter(None, (around.named("LLAMA_CACHE"), around.cache() / "llama.cpp")))


def _ollama_folders(around: Surroundings) -> list[Path]:
    named = around.named("OLLAMA_MODELS")
    of_service = Path("/usr/share/ollama/.ollama/models") if around.platform == "linux" else None
    return _each(*filter(None, (named, around.home / ".ollama" / "models", of_service)))


def _each(*folders: Path) -> list[Path]:
    return list(dict.fromkeys(folders))
