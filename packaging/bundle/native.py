"""Native libraries of a Linux bundle: what they need of the system, and copies of it for machines that have not.

The C library stays outside: a bundle runs on systems whose C library is at least as new as that of the building one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bundle.project import LIBRARIES, PACKAGES, PYTHON

C_LIBRARY = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|nsl|anl|mvec))\.so\.\d+")
EVERYWHERE = {"libgcc_s.so.1", "libstdc++.so.6", "libz.so.1"}
"""What every system with a package manager has. Graphics drivers need theirs, which may be newer than ours."""

OPTIONAL = re.compile(r"platformthemes/libqgtk3|/wayland-|libqwayland|libQt6(Wayland|WlShell)")
"""Parts of Qt that are loaded only where the desktop is one that has what they need: GTK, Wayland."""

KEPT_WHOLE = {"PySide6", "shiboken6", "numpy"}
LISTS = {"qt.txt": f"{PACKAGES}/PySide6", "llama.txt": f"{PACKAGES}/llama_cpp"}

_NEEDED = re.compile(r"\(NEEDED\)\s+Shared library: \[(.+)\]")
_FOUND = re.compile(r"^\s*(\S+) => (/\S.*) \(0x[0-9a-f]+\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SystemLibrary:
    """A library of the building machine, by its name for the loader."""

    name: str
    path: Path
    package: str
    version: str


def libraries(root: Path, below: str = "") -> list[Path]:
    """Return the native files of a bundle."""
    found = (path for path in (root / below).rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path for path in found if _is_elf(path))


def needed(path: Path) -> list[str]:
    """Return the names of the libraries that a native file asks for itself."""
    told = subprocess.run(["readelf", "-d", str(path)], check=True, capture_output=True, text=True)
    return _NEEDED.findall(told.stdout)


def missing(root: Path, below: str = "") -> set[str]:
    """Return the names that native files of a bundle ask for and that it lacks; the C library is left out."""
    files = [path for path in libraries(root, below) if not OPTIONAL.search(path.as_posix())]
    here = {path.name for path in libraries(root) if LIBRARIES not in path.relative_to(root).parts[:1]}
    names = {name for path in files for name in needed(path)}
    return {name for name in names - here if not C_LIBRARY.fullmatch(name)}


def add_system_libraries(root: Path) -> list[SystemLibrary]:
    """Copy what Qt and llama.cpp need of the system into ``lib``, with lists in the order of loading.

    What the interpreter needs goes beside it, and it is told to look there first: it must run before it can look.

    Raises:
        SystemExit: the building machine lacks one, or does not know which package it is of, or nothing would load it.
    """
    folder = root / LIBRARIES
    folder.mkdir()
    found: dict[str, Path] = {}
    for name, below in LISTS.items():
        closure = _closure(missing(root, below))
        found |= closure
        (folder / name).write_text("".join(f"{one}\n" for one in closure), encoding="ascii")
    for name, path in found.items():
        shutil.copy2(path.resolve(), folder / name)
    if others := missing_in_packages(root) - EVERYWHERE:
        raise SystemExit(f"packages need libraries that nothing loads for them: {', '.join(sorted(others))}")
    private = _closure(missing(root, PYTHON))
    for name, path in private.items():
        shutil.copy2(path.resolve(), root / PYTHON / "lib" / name)
    _point_to_own(root)
    return [_of_package(name, path) for name, path in sorted((found | private).items())]


def make_small(root: Path) -> None:
    """Strip what debuggers want, and keep llama.cpp's libraries once: its wheel has copies in the place of links.

    Libraries that a wheel brings in a folder of their own (``.libs``) have been moved about inside, and Qt's are as its
    makers have signed them off; they stay as they are.
    """
    for path in libraries(root):
        parts = path.relative_to(root).parts
        if parts[0] == PYTHON or not (parts[1].endswith(".libs") or parts[1] in KEPT_WHOLE):
            subprocess.run(["strip", "--strip-unneeded", str(path)], check=True)
    for path in (root / PACKAGES / "llama_cpp" / "lib").glob("*.so.*"):
        plain = path.with_name(path.name.partition(".so")[0] + ".so")
        if plain.is_file() and plain.read_bytes() == path.read_bytes():
            plain.unlink()
            plain.symlink_to(path.name)


def missing_in_packages(root: Path) -> set[str]:
    """Return what the other packages ask for."""
    folders = [path.name for path in (root / PACKAGES).iterdir() if path.is_dir()]
    listed = {Path(below).name for below in LISTS.values()}
    return {name for one in folders if one not in listed for name in missing(root, f"{PACKAGES}/{one}")}


def _point_to_own(root: Path) -> None:
    """Let the interpreter and its modules look for libraries in its own folder first."""
    home = root / PYTHON
    for path in libraries(root, PYTHON):
        depth = len(path.relative_to(home / "lib").parts) - 1 if path.is_relative_to(home / "lib") else -1
        up = "$ORIGIN/../lib" if depth < 0 else "/".join(["$ORIGIN", *[".."] * depth])
        subprocess.run(["patchelf", "--set-rpath", up, str(path)], check=True)


def _closure(names: Iterable[str]) -> dict[str, Path]:
    """Return these libraries and all that they need, each behind what it needs itself."""
    found: dict[str, Path] = {}

    def visit(name: str, parents: Sequence[str]) -> None:
        if name in found or name in parents or name in EVERYWHERE or C_LIBRARY.fullmatch(name):
            return
        path = _place(name)
        for other in needed(path):
            visit(other, (*parents, name))
        found[name] = path

    for name in sorted(names):
        visit(name, ())
    return found


def _place(name: str) -> Path:
    told = subprocess.run(
        ["ldconfig", "-p"], check=True, capture_output=True, text=True, env={"PATH": "/sbin:/usr/sbin"}
    )
    for line in told.stdout.splitlines():
        words = line.split()
        if words and words[0] == name and "=>" in words:
            return Path(words[-1])
    raise SystemExit(f"this machine has no {name}; the README says what a build needs")


def _of_package(name: str, path: Path) -> SystemLibrary:
    """Ask dpkg whose file it is."""
    for candidate in (path, path.resolve(), Path(str(path).removeprefix("/usr")), Path("/usr" + str(path.resolve()))):
        told = subprocess.run(["dpkg-query", "-S", str(candidate)], check=False, capture_output=True, text=True)
        if told.returncode == 0:
            package = told.stdout.split(": ")[0].split(",")[0]
            about = subprocess.run(
                ["dpkg-query", "-W", "-f", "${Version}", package], check=True, capture_output=True, text=True
            )
            return SystemLibrary(name, path, package.split(":")[0], about.stdout)
    raise SystemExit(f"no package owns {path}; its licence cannot be found")


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"
