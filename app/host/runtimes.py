"""Runtimes: the built-in llama.cpp, and packs, each a folder with another build of it that knows more devices.

A pack is a folder that stays where it is, or an archive that is unpacked into the data folder. Before one is used it
passes the guard in a throw-away process (:func:`app.engine.discovery.guard`); which files did so is kept as a hash, and
files that have changed pass it again. A pack that fails is not used: the built-in runtime is, with the reason.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.engine.discovery import GUARD_LIMIT_S, guard
from app.engine.runtime_files import backend_libraries, code_files, has_llama, npu_architectures
from app.engine.surroundings import Surroundings
from app.errors import EngineError, LoadError, SettingsError, SlipstreamError, UsageError
from app.host import brought
from app.host.addresses import check_address, check_number
from app.host.one_writer import one_writer
from app.host.packs import BUILT_IN, Pack, Shelf
from app.host.unpacking import stem, unpack
from app.metrics.atomic import replacing
from app.paths import bundle_dir, cache_dir, config_dir, data_dir
from app.settings import set_aside

NEW = ".new-"
LEFT_AFTER_S = 3600.0
"""Nobody unpacks for so long: what is older was left by a program that ended."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class InUse:
    """What an engine is to be started with, and why that is not the pack that was chosen ("" if it is)."""

    name: str
    surroundings: Surroundings
    why_not: str = ""


class Runtimes:
    """The packs and the choice among them, in one file; every verb that looks at a pack may take a second."""

    def __init__(self, path: Path | None = None, *, limit_s: float = GUARD_LIMIT_S, bundle: Path | None = None) -> None:
        """Open the list.

        Args:
            path: the file; in the configuration folder if not given.
            limit_s: how long a pack may take to load.
            bundle: the folder whose runtimes are on the list, too; that of the bundle that this is, if not given.
        """
        self._path, self._limit_s, self._bundle = path, limit_s, bundle or bundle_dir()

    def shelf(self) -> Shelf:
        """Return what is kept; an unreadable file is none, and the built-in runtime is used."""
        return self._read()[0]

    def _read(self) -> tuple[Shelf, str]:
        """Return what is kept or came with the program, and why what is kept cannot be read ("" if it can)."""
        kept, fault = self._read_file()
        return brought.with_brought(kept, self._bundle), fault

    def _read_file(self) -> tuple[Shelf, str]:
        try:
            return msgspec.json.decode(self._file().read_bytes(), type=Shelf), ""
        except FileNotFoundError:
            return Shelf(), ""
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
            logger.info("the list of runtimes cannot be read: %s", fault)
            return Shelf(), str(fault)

    def _change(self, change: Callable[[Shelf], Shelf]) -> None:
        """Change what is kept *now*: other programs may have changed it since it was looked at.

        Raises:
            SettingsError: it cannot be written.
        """
        path = self._file()
        with one_writer(path):
            shelf, fault = self._read()
            if fault:
                logger.warning("the list of runtimes cannot be read; it is kept as %s", set_aside(path, fault))
            self._save(change(shelf))

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
        return self._put_down(self._guarded(folder.name, folder))

    def _add_packed(self, source: Path) -> Pack:
        """Unpack beside its place, and put it there once it has passed: the end of the program leaves no half pack."""
        home = data_dir() / "runtimes"
        try:
            home.mkdir(parents=True, exist_ok=True)
            _sweep(home)
            new = Path(tempfile.mkdtemp(prefix=NEW, dir=home))
            try:
                folder = unpack(source, new / "pack")
                pack = self._guarded(stem(source).lstrip("."), folder)
                return self._put_down(msgspec.structs.replace(pack, is_ours=True), new / "pack")
            finally:
                shutil.rmtree(new, ignore_errors=True)
        except OSError as fault:
            raise LoadError(
                f"{source.name} cannot be kept in {home}: {fault.strerror}", "Check that folder."
            ) from fault

    def _put_down(self, pack: Pack, unpacked: Path | None = None) -> Pack:
        """Put a pack on the list under a name that nobody has, and what was unpacked for it in its place."""
        put: list[Pack] = []

        def with_it(shelf: Shelf) -> Shelf:
            named = msgspec.structs.replace(pack, name=_free_name(pack.name, shelf))
            if unpacked is not None:
                place = data_dir() / "runtimes" / named.name
                inside = place / Path(pack.folder).relative_to(unpacked)
                unpacked.replace(place)
                named = msgspec.structs.replace(named, folder=str(inside))
            put.append(named)
            return msgspec.structs.replace(shelf, packs=(*shelf.packs, named))

        try:
            self._change(with_it)
        except BaseException:
            for named in put:
                self._delete(named)
            raise
        return put[0]

    @staticmethod
    def _delete(pack: Pack) -> None:
        if pack.is_ours:
            shutil.rmtree(data_dir() / "runtimes" / pack.name, ignore_errors=True)

    def _guarded(self, name: str, folder: Path) -> Pack:
        if not has_llama(folder):
            raise UsageError(f"{name} holds no llama library.", "Choose a folder or zip with llama.cpp's libraries.")
        if not _can_be_written(str(folder)):
            raise UsageError("The folder's name is no valid text.", "Give the folder another name.")
        guard(self._surroundings(folder, {}), self._limit_s)
        try:
            return Pack(name, str(folder), files_hash(folder), files_stamp(folder))
        except OSError as fault:
            raise LoadError(
                f"{name} cannot be read: {fault.strerror}", "Check its files and their permissions."
            ) from fault

    def use(self, name: str) -> None:
        """Choose a pack, or the built-in runtime, for the engines that are started from now on.

        Raises:
            UsageError: there is no such pack.
            LoadError: it does not pass the guard.
        """
        if name != BUILT_IN:
            checked = self._checked(self._pack(self.shelf(), name))
            self._note(checked)
            if checked.fault:
                raise LoadError(f"{name} is not used: {checked.fault}", "Choose another runtime.")

        def chosen(shelf: Shelf) -> Shelf:
            return msgspec.structs.replace(shelf, active=name if name == BUILT_IN else self._pack(shelf, name).name)

        self._change(chosen)

    def remove(self, name: str) -> None:
        """Take a pack off the list; what was unpacked for it is deleted, a folder of the person's own is not.

        Raises:
            UsageError: there is no such pack, or it came with the program.
        """
        if Path(self._pack(self.shelf(), name).folder) in brought.folders(self._bundle):
            raise UsageError(f"{name} came with Slipstream and goes with it.", "Use another runtime instead.")
        gone: list[Pack] = []

        def without(shelf: Shelf) -> Shelf:
            gone.append(self._pack(shelf, name))
            left = tuple(other for other in shelf.packs if other.name != name)
            active = BUILT_IN if shelf.active == name else shelf.active
            return msgspec.structs.replace(shelf, packs=left, active=active)

        self._change(without)
        self._delete(gone[0])

    def set_servers(self, servers: tuple[str, ...]) -> None:
        """Name the servers whose devices may be borrowed.

        Raises:
            UsageError: one is no address, or there are too many.
        """
        for server in servers:
            check_address(server)
        self._change(lambda shelf: _lending(shelf, servers))

    def add_server(self, server: str) -> None:
        """Borrow a server's devices, too.

        Raises:
            UsageError: that is no address, or there are too many.
        """
        check_address(server)
        self._change(lambda shelf: _lending(shelf, (*shelf.servers, server)))

    def remove_server(self, server: str) -> None:
        """Borrow a server's devices no more."""
        self._change(lambda shelf: _lending(shelf, tuple(other for other in shelf.servers if other != server)))

    def set_switches(self, switches: dict[str, str]) -> None:
        """Set environment variables for the native libraries, "" to set one no more."""

        def switched(shelf: Shelf) -> Shelf:
            kept = {name: value for name, value in (shelf.switches | switches).items() if value}
            return msgspec.structs.replace(shelf, switches=kept)

        self._change(switched)

    def in_use(self) -> InUse:
        """Return what an engine is started with; a pack whose files have changed is looked at again first."""
        shelf, unreadable = self._read()
        if unreadable:
            return InUse(BUILT_IN, Surroundings(), f"The list of runtimes cannot be read ({unreadable}).")
        pack = next((pack for pack in shelf.packs if pack.name == shelf.active), None)
        if pack is None:
            why = "" if shelf.active == BUILT_IN else f"The runtime {shelf.active} is not on the list any more."
            return InUse(BUILT_IN, Surroundings(switches=shelf.switches), why)
        checked = self._checked(pack)
        if checked != pack:
            try:
                self._note(checked)
            except SlipstreamError as fault:  # it is looked at again the next time
                logger.info("what became of %s cannot be kept: %s", pack.name, fault)
        if checked.fault:
            why = f"The runtime {pack.name} is not used, the built-in one is: {checked.fault}"
            return InUse(BUILT_IN, Surroundings(switches=shelf.switches), why)
        return InUse(pack.name, self._surroundings(Path(pack.folder), shelf.switches))

    def fail(self, name: str, reason: str) -> None:
        """Note that a pack which passed the guard did not work; it is not used until it is chosen again."""
        pack = next((pack for pack in self.shelf().packs if pack.name == name), None)
        if pack is not None:
            self._note(msgspec.structs.replace(pack, fault=reason))

    def _note(self, pack: Pack) -> None:
        """Keep what was found out of a pack, if it is still there."""

        def known(other: Pack) -> Pack:
            return pack if (other.name, other.folder) == (pack.name, pack.folder) else other

        self._change(lambda shelf: msgspec.structs.replace(shelf, packs=tuple(map(known, shelf.packs))))

    def _checked(self, pack: Pack) -> Pack:
        """Return the pack with a fault, or none, as it is now; only changed files, or a fault, need the guard."""
        folder = Path(pack.folder)
        if not has_llama(folder):
            return msgspec.structs.replace(pack, fault="Its folder holds no llama library any more.")
        try:
            stamp = files_stamp(folder)
            if stamp == pack.stamp and not pack.fault:
                return pack
            guard(self._surroundings(folder, {}), self._limit_s)
            return msgspec.structs.replace(pack, sha256=files_hash(folder), stamp=stamp, fault="")
        except SlipstreamError as fault:
            return msgspec.structs.replace(pack, fault=fault.message)
        except OSError as fault:
            return msgspec.structs.replace(pack, fault=f"Its files cannot be read: {fault.strerror}.")

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


def _free_name(wanted: str, shelf: Shelf) -> str:
    taken = {BUILT_IN, *(pack.name for pack in shelf.packs)}
    wanted = wanted or "runtime"
    name, number = wanted, 1
    while name in taken or (data_dir() / "runtimes" / name).exists():
        number += 1
        name = f"{wanted}-{number}"
    return name


def _can_be_written(text: str) -> bool:
    """Whether a path is text: on Linux it may be any bytes, which no file of settings can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _lending(shelf: Shelf, servers: tuple[str, ...]) -> Shelf:
    servers = tuple(dict.fromkeys(servers))
    check_number(servers)
    return msgspec.structs.replace(shelf, servers=servers)


def _sweep(home: Path) -> None:
    """Delete what the end of a program has left half unpacked."""
    for left in home.glob(f"{NEW}*"):
        with suppress(OSError):
            if left.stat().st_mtime < time.time() - LEFT_AFTER_S:
                shutil.rmtree(left, ignore_errors=True)


def files_stamp(folder: Path) -> str:
    """Return what changes when a file with code does: names, sizes, times.

    Raises:
        OSError: one goes away meanwhile.
    """
    facts = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in code_files(folder)]
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def files_hash(folder: Path) -> str:
    """Return one hash over the names and contents of a folder's files with code."""
    whole = hashlib.sha256()
    for path in code_files(folder):
        with path.open("rb") as file:
            whole.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()
