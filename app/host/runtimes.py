"""Runtimes: the built-in llama.cpp, and packs, each a folder with another build of it that knows more devices.

A pack is a folder that stays where it is, or an archive that is unpacked into the data folder. Before one is used it
passes the guard in a throw-away process (:func:`app.engine.discovery.guard`); which files did so is kept as a hash, and
files that have changed pass it again. A pack that fails is not used: the built-in runtime is, with the reason.
"""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import re
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.engine.discovery import GUARD_LIMIT_S, guard
from app.engine.runtime_files import backend_libraries, code_files, has_llama, npu_architectures
from app.engine.surroundings import Surroundings
from app.errors import EngineError, LoadError, SettingsError, SlipstreamError, UsageError
from app.host.unpacking import stem, unpack
from app.metrics.atomic import replacing
from app.paths import cache_dir, config_dir, data_dir

BUILT_IN = "built-in"

_SERVER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}:\d{1,5}")

NEW = ".new-"
LEFT_AFTER_S = 3600.0
"""Nobody unpacks for so long: what is older was left by a program that ended."""

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
        """Add a folder, a zip or a tar.gz, if it passes the guard.

        Raises:
            UsageError: there is no runtime in it.
            SlipstreamError: it does not pass, and why.
        """
        if not source.is_file() and not source.is_dir():
            raise UsageError(f"{source} is not there.", "Name a folder with llama.cpp's libraries, or a zip of one.")
        if source.is_file():
            return self._add_packed(source)
        folder = source.resolve()
        return self._put_down(self._guarded(self._free_name(folder.name), folder))

    def _add_packed(self, source: Path) -> Pack:
        """Unpack beside its place, and put it there once it has passed: the end of the program leaves no half pack."""
        home = data_dir() / "runtimes"
        home.mkdir(parents=True, exist_ok=True)
        _sweep(home)
        new = Path(tempfile.mkdtemp(prefix=NEW, dir=home))
        try:
            folder = unpack(source, new / "pack")
            name = self._free_name(stem(source))
            pack = self._guarded(name, folder)
            (new / "pack").replace(home / name)
            inside = home / name / folder.relative_to(new / "pack")
            return self._put_down(msgspec.structs.replace(pack, folder=str(inside), is_ours=True))
        except OSError as fault:
            raise LoadError(
                f"{source.name} cannot be kept in {home}: {fault.strerror}", "Check that folder."
            ) from fault
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def _put_down(self, pack: Pack) -> Pack:
        shelf = self.shelf()
        try:
            self._save(msgspec.structs.replace(shelf, packs=(*shelf.packs, pack)))
        except BaseException:
            self._delete(pack)
            raise
        return pack

    @staticmethod
    def _delete(pack: Pack) -> None:
        if pack.is_ours:
            shutil.rmtree(data_dir() / "runtimes" / pack.name, ignore_errors=True)

    def _guarded(self, name: str, folder: Path) -> Pack:
        if not has_llama(folder):
            raise UsageError(f"{name} holds no llama library.", "Choose a folder or zip with llama.cpp's libraries.")
        guard(self._surroundings(folder, {}), self._limit_s)
        return Pack(name, str(folder), files_hash(folder), files_stamp(folder))

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
        self._delete(pack)

    def set_servers(self, servers: tuple[str, ...]) -> None:
        """Name the servers whose devices may be borrowed.

        Raises:
            UsageError: one is no address.
        """
        for server in servers:
            check_address(server)
        self._save(msgspec.structs.replace(self.shelf(), servers=tuple(dict.fromkeys(servers))))

    def add_server(self, server: str) -> None:
        """Borrow a server's devices, too.

        Raises:
            UsageError: that is no address.
        """
        self.set_servers((*self.shelf().servers, server))

    def remove_server(self, server: str) -> None:
        """Borrow a server's devices no more."""
        self.set_servers(tuple(other for other in self.shelf().servers if other != server))

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


def check_address(server: str) -> None:
    """Refuse what is no host and port: llama.cpp ends the process that is given such a one.

    Raises:
        UsageError: it is none.
    """
    if not _SERVER.fullmatch(server) or not 0 < int(server.rpartition(":")[2]) < 65536:
        raise UsageError(f"{server[:80]!r} is no address.", "Give a host and a port, as in 127.0.0.1:50052.")


def is_this_computer(server: str) -> bool:
    """Whether an address is one of this computer that no other reaches."""
    host = server.rpartition(":")[0]
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _sweep(home: Path) -> None:
    """Delete what the end of a program has left half unpacked."""
    for left in home.glob(f"{NEW}*"):
        with suppress(OSError):
            if left.stat().st_mtime < time.time() - LEFT_AFTER_S:
                shutil.rmtree(left, ignore_errors=True)


def files_stamp(folder: Path) -> str:
    """Return what changes when a file with code does: names, sizes, times."""
    facts = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in code_files(folder)]
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def files_hash(folder: Path) -> str:
    """Return one hash over the names and contents of a folder's files with code."""
    whole = hashlib.sha256()
    for path in code_files(folder):
        with path.open("rb") as file:
            whole.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()
