"""Runtimes: the built-in llama.cpp, and packs, each a folder with another build of it that knows more devices.

A pack is a folder that stays where it is, or a zip that is unpacked into the data folder. Before one is used it passes
the guard in a throw-away process (:func:`app.engine.discovery.guard`); which files did so is kept as a hash, and files
that have changed pass it again. A pack that fails is not used: the built-in runtime is, with the reason.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.engine.discovery import GUARD_LIMIT_S, guard
from app.engine.runtime_files import backend_libraries, has_llama, npu_architectures
from app.engine.surroundings import Surroundings
from app.errors import EngineError, LoadError, SettingsError, SlipstreamError, UsageError
from app.host.unpacking import unpack
from app.metrics.atomic import replacing
from app.paths import cache_dir, config_dir, data_dir

BUILT_IN = "built-in"

logger = logging.getLogger(__name__)


class Pack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One pack; ``sha256`` is of the files that passed the guard, ``fault`` why they do not any more."""

    name: str
    folder: str
    sha256: str
    stamp: str
    is_ours: bool = False
    fault: str = ""


class Shelf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file: packs, which one is in use, servers that lend devices, and switches for backends."""

    packs: tuple[Pack, ...] = ()
    active: str = BUILT_IN
    servers: tuple[str, ...] = ()
    switches: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class InUse:
    """What an engine is to be started with, and why that is not the pack that was chosen ("" if it is)."""

    name: str
    surroundings: Surroundings
    why_not: str = ""


class Runtimes:
    """The packs and the choice among them, in one file; every verb that looks at a pack may take a second."""

    def __init__(self, path: Path | None = None, *, limit_s: float = GUARD_LIMIT_S) -> None:
        """Open the list.

        Args:
            path: the file; in the configuration folder if not given.
            limit_s: how long a pack may take to load.
        """
        self._path, self._limit_s = path, limit_s

    def shelf(self) -> Shelf:
        """Return what is kept; an unreadable file is none, and the built-in runtime is used."""
        try:
            return msgspec.json.decode(self._file().read_bytes(), type=Shelf)
        except FileNotFoundError:
            return Shelf()
        except (OSError, msgspec.MsgspecError, RecursionError) as fault:
            logger.info("the list of runtimes cannot be read: %s", fault)
            return Shelf()

    def add(self, source: Path) -> Pack:
        """Add a folder or a zip, if it passes the guard.

        Raises:
            UsageError: there is no runtime in it.
            SlipstreamError: it does not pass, and why.
        """
        is_zip = source.is_file()
        if not is_zip and not source.is_dir():
            raise UsageError(f"{source} is not there.", "Name a folder with llama.cpp's libraries, or a zip of one.")
        name = self._free_name(source.stem if is_zip else source.resolve().name)
        ours = data_dir() / "runtimes" / name
        folder = unpack(source, ours) if is_zip else source.resolve()
        try:
            pack = self._guarded(name, folder, is_zip)
            shelf = self.shelf()
            self._save(msgspec.structs.replace(shelf, packs=(*shelf.packs, pack)))
        except BaseException:
            if is_zip:
                shutil.rmtree(ours, ignore_errors=True)
            raise
        return pack

    def _guarded(self, name: str, folder: Path, is_ours: bool) -> Pack:
        if not has_llama(folder):
            raise UsageError(f"{name} holds no llama library.", "Choose a folder or zip with llama.cpp's libraries.")
        guard(self._surroundings(folder, {}), self._limit_s)
        return Pack(name, str(folder), files_hash(folder), files_stamp(folder), is_ours)

    def use(self, name: str) -> None:
        """Choose a pack, or the built-in runtime, for the engines that are started from now on.

        Raises:
            UsageError: there is no such pack.
            LoadError: it does not pass the guard.
        """
        shelf = self.shelf()
        if name != BUILT_IN:
            checked = self._checked(self._pack(shelf, name))
            shelf = self._with_pack(shelf, checked)
            if checked.fault:
                self._save(shelf)
                raise LoadError(f"{name} is not used: {checked.fault}", "Choose another runtime.")
        self._save(msgspec.structs.replace(shelf, active=name))

    def remove(self, name: str) -> None:
        """Take a pack off the list; what was unpacked for it is deleted, a folder of the person's own is not.

        Raises:
            UsageError: there is no such pack.
        """
        shelf = self.shelf()
        pack = self._pack(shelf, name)
        left = tuple(other for other in shelf.packs if other.name != name)
        active = BUILT_IN if shelf.active == name else shelf.active
        self._save(msgspec.structs.replace(shelf, packs=left, active=active))
        if pack.is_ours:
            shutil.rmtree(data_dir() / "runtimes" / name, ignore_errors=True)

    def set_servers(self, servers: tuple[str, ...]) -> None:
        """Name the servers whose devices may be borrowed."""
        self._save(msgspec.structs.replace(self.shelf(), servers=servers))

    def set_switches(self, switches: dict[str, str]) -> None:
        """Set environment variables for the native libraries, "" to set one no more."""
        shelf = self.shelf()
        kept = {name: value for name, value in (shelf.switches | switches).items() if value}
        self._save(msgspec.structs.replace(shelf, switches=kept))

    def in_use(self) -> InUse:
        """Return what an engine is started with; a pack whose files have changed is looked at again first."""
        shelf = self.shelf()
        pack = next((pack for pack in shelf.packs if pack.name == shelf.active), None)
        if pack is None:
            why = "" if shelf.active == BUILT_IN else f"The runtime {shelf.active} is not on the list any more."
            return InUse(BUILT_IN, Surroundings(switches=shelf.switches), why)
        checked = self._checked(pack)
        if checked != pack:
            self._save(self._with_pack(shelf, checked))
        if checked.fault:
            why = f"The runtime {pack.name} is not used, the built-in one is: {checked.fault}"
            return InUse(BUILT_IN, Surroundings(switches=shelf.switches), why)
        return InUse(pack.name, self._surroundings(Path(pack.folder), shelf.switches))

    def fail(self, name: str, reason: str) -> None:
        """Note that a pack which passed the guard did not work; it is not used until it is chosen again."""
        shelf = self.shelf()
        pack = next((pack for pack in shelf.packs if pack.name == name), None)
        if pack is not None:
            self._save(self._with_pack(shelf, msgspec.structs.replace(pack, fault=reason)))

    def _checked(self, pack: Pack) -> Pack:
        """Return the pack with a fault, or none, as it is now; only changed files, or a fault, need the guard."""
        folder = Path(pack.folder)
        if not has_llama(folder):
            return msgspec.structs.replace(pack, fault="Its folder holds no llama library any more.")
        stamp = files_stamp(folder)
        if stamp == pack.stamp and not pack.fault:
            return pack
        try:
            guard(self._surroundings(folder, {}), self._limit_s)
        except SlipstreamError as fault:
            return msgspec.structs.replace(pack, fault=fault.message)
        return msgspec.structs.replace(pack, sha256=files_hash(folder), stamp=stamp, fault="")

    @staticmethod
    def _surroundings(folder: Path, chosen: dict[str, str]) -> Surroundings:
        """Return what a process needs for a pack: where compiled kernels are kept, and Hexagon's code looked for."""
        switches: dict[str, str] = {}
        if "opencl" in backend_libraries(folder):
            switches["GGML_OPENCL_KERNEL_CACHE_DIR"] = str(cache_dir() / "opencl")
        if npu_architectures(folder):
            switches["ADSP_LIBRARY_PATH"] = str(folder)
        return Surroundings(str(folder), switches | chosen)

    @staticmethod
    def _pack(shelf: Shelf, name: str) -> Pack:
        for pack in shelf.packs:
            if pack.name == name:
                return pack
        names = ", ".join((BUILT_IN, *(pack.name for pack in shelf.packs)))
        raise UsageError(f"There is no runtime {name}.", f"There are: {names}.")

    @staticmethod
    def _with_pack(shelf: Shelf, pack: Pack) -> Shelf:
        packs = tuple(pack if other.name == pack.name else other for other in shelf.packs)
        return msgspec.structs.replace(shelf, packs=packs)

    def _free_name(self, wanted: str) -> str:
        taken = {BUILT_IN, *(pack.name for pack in self.shelf().packs)}
        name, number = wanted or "runtime", 1
        while name in taken or (data_dir() / "runtimes" / name).exists():
            number += 1
            name = f"{wanted}-{number}"
        return name

    def _file(self) -> Path:
        return self._path or config_dir() / "runtimes.json"

    def _save(self, shelf: Shelf) -> None:
        try:
            with replacing(self._file()) as file:
                file.write(msgspec.json.format(msgspec.json.encode(shelf), indent=2))
        except EngineError:
            raise
        except SlipstreamError as fault:
            raise SettingsError(fault.message, fault.hint) from fault


def files_stamp(folder: Path) -> str:
    """Return what changes when a file of the folder does: names, sizes, times."""
    facts = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in sorted(folder.iterdir()) if p.is_file()]
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def files_hash(folder: Path) -> str:
    """Return one hash over the names and contents of a folder's files."""
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file():
            with path.open("rb") as file:
                whole.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()
